//! Names of tests: `subject_condition_outcome`, short enough for a report.
//!
//! Called by `tidy::check`. Absent: what tests assert.

use super::Finding;
use super::tree::Tree;
use super::words::words_in;

/// Letters of a test's name.
const LETTERS_MAX: usize = 60;

/// Finds test names that are too long or contain a banned word.
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
}
