//! Comments: doc comments with enough words, comment lines within the columns.
//!
//! Called by `tidy::check`. Absent: what comments say.

use super::Finding;
use super::tree::{File, Tree};

/// Columns of a comment line.
const COLUMNS_MAX: usize = 100;
/// Words of a doc comment: fewer only repeat the name.
const WORDS_MIN: usize = 3;

/// Finds doc comments of too few words and comment lines that are too wide.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".rs").flat_map(|file| short(file).into_iter().chain(wide(file))).collect()
}

fn short(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut words = 0;
    let mut first = 0;
    for (number, line) in file.lines().chain([(usize::MAX, "")]) {
        if let Some(text) = line.trim_start().strip_prefix("///") {
            if first == 0 {
                first = number;
            }
            words += text.split_whitespace().count();
        } else {
            if first > 0 && words < WORDS_MIN {
                let message =
                    "a doc comment of fewer than three words: say unit, range, when or who, or delete it";
                findings.push(Finding::at(&file.path, first, message));
            }
            (first, words) = (0, 0);
        }
    }
    findings
}

fn wide(file: &File) -> impl Iterator<Item = Finding> {
    let is_wide = |line: &str| line.trim_start().starts_with("//") && line.chars().count() > COLUMNS_MAX;
    let message = format!("a comment of more than {COLUMNS_MAX} columns");
    file.lines()
        .filter(move |(_, line)| is_wide(line))
        .map(move |(number, _)| Finding::at(&file.path, number, message.clone()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[("core/a/src/lib.rs", text)])))
    }

    #[test]
    fn short_doc_comment_is_found_and_two_lines_read_whole() {
        let short = found(
            "struct A {\n    /// Who.\n    peer: u8,\n    /// Frames a second,\n    /// at most 240.\n    rate: u8,\n}",
        );
        assert_eq!(short.len(), 1, "{short:?}");
        assert!(short[0].starts_with("core/a/src/lib.rs:2: a doc comment of fewer"), "{short:?}");
        assert_eq!(found("/// Who.").len(), 1, "missed at the end of a file");
    }

    #[test]
    fn wide_comment_is_found_and_wide_code_is_not() {
        let wide = "x".repeat(COLUMNS_MAX);
        assert_eq!(found(&format!("// {wide}")).len(), 1);
        assert_eq!(found(&format!("let a = {wide:?};")), [""; 0]);
    }
}
