//! Names of tests: `subject_condition_outcome`, short enough for a report.
//!
//! Called by `tidy::check`. Absent: what tests assert.

use super::Finding;
use super::tree::Tree;
use super::words::words_in;

/// Letters of a test's name.
const LETTERS_MAX: usize = 60;

/// Words that a name does without.
const ARTICLES: [&str; 3] = ["a", "an", "the"];

/// Finds test names that are too long or contain a banned word or an article.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in tree.ending(".rs") {
        let mut is_test = false;
        for (number, line) in file.lines() {
            let line = line.trim();
            if line.starts_with("#[test]") || line.starts_with("#[tokio::test") {
                is_test = true;
            } else if is_test && let Some(name) = function_name(line) {
                is_test = false;
                if name.len() > LETTERS_MAX {
                    let message = format!("`{name}` has {} letters, at most {LETTERS_MAX}", name.len());
                    findings.push(Finding::at(&file.path, number, message));
                } else if let Some((word, instead)) = words_in(name).into_iter().next() {
                    findings.push(Finding::at(
                        &file.path,
                        number,
                        format!("`{word}` in `{name}`: {instead}"),
                    ));
                } else if let Some(article) = name.split('_').find(|word| ARTICLES.contains(word)) {
                    let message = format!("`{article}` in `{name}`: leave articles out");
                    findings.push(Finding::at(&file.path, number, message));
                }
            }
        }
    }
    findings
}

fn function_name(line: &str) -> Option<&str> {
    let line = line.strip_prefix("async ").unwrap_or(line);
    line.strip_prefix("fn ")?.split(['(', '<']).next()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(text: &str) -> usize {
        check(&Tree::of(&[("core/a/src/lib.rs", text)])).len()
    }

    #[test]
    fn long_name_and_banned_word_are_found_in_tests_alone() {
        let long = "a".repeat(LETTERS_MAX + 1);
        assert_eq!(count(&format!("#[test]\nfn {long}() {{}}")), 1);
        assert_eq!(count(&format!("fn {long}() {{}}")), 0);
        assert_eq!(count(&format!("#[test]\n#[should_panic]\nfn {}{}_waits() {{}}", "no", "body")), 1);
        assert_eq!(count("#[test]\nfn peer_waits_without_input() {}\nfn other() {}"), 0);
    }

    #[test]
    fn article_is_found_as_whole_word() {
        let article = ARTICLES[0];
        assert_eq!(count(&format!("#[test]\nfn {article}_peer_waits() {{}}")), 1);
        assert_eq!(count(&format!("#[tokio::test]\nasync fn peer_of_{article}_match() {{}}")), 1);
        assert_eq!(count("#[test]\nfn answer_of_another_thread_is_theirs() {}"), 0);
    }
}
