//! The list of examples: every example of the tree is in it, with as many lines as it has.
//!
//! Called by `tidy::check`. Absent: whether commands work, what examples do.

use super::Finding;
use super::tree::Tree;

const LIST: &str = "examples/README.md";

/// Rows with another count than their file, and examples the list does not name.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(list) = tree.text(LIST) else { return Vec::new() };
    let counts = list.lines().enumerate().filter_map(|(index, line)| {
        let (path, told) = row(line)?;
        let counted = count(tree, path)?;
        let message = format!("`{path}` has {counted} lines: write that instead of {told}");
        (told != counted).then(|| Finding::at(LIST, index + 1, message))
    });
    let unlisted = tree.ending(".rs").filter_map(|file| {
        let (package, example) = file.path.split_once("/examples/")?;
        let name = match example.split_once('/') {
            Some((folder, _)) => format!("{package}/examples/{folder}/"),
            None => file.path.clone(),
        };
        let is_named = list.contains(&format!("`{name}`")) || list.contains(&format!("`{name}main.rs`"));
        (!is_named).then(|| Finding::of_file(LIST, format!("the example `{name}` is not listed")))
    });
    let mut findings: Vec<Finding> = counts.chain(unlisted).collect();
    findings.dedup();
    findings
}

/// Path and lines of a row of the table.
fn row(line: &str) -> Option<(&str, usize)> {
    let path = line.strip_prefix("| `")?.split('`').next()?;
    let lines = line.strip_suffix(" |")?.rsplit("| ").next()?;
    Some((path, lines.parse().ok()?))
}

/// Lines of an example, of all its files if it has a folder.
fn count(tree: &Tree, path: &str) -> Option<usize> {
    let lines = |text: &str| text.lines().count();
    match path.strip_suffix("main.rs") {
        Some(folder) => {
            let files = tree.ending(".rs").filter(|file| file.path.starts_with(folder));
            Some(files.map(|file| lines(&file.text)).sum())
        }
        None => tree.text(path).map(lines),
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    const ROWS: &str = "| `core/a/examples/one.rs` | shows | `run` | 2 |\n\
                        | `core/a/examples/two/main.rs` | shows | `run` | 3 |\n";

    fn found(list: &str, one: &str) -> Vec<String> {
        let (main, part) = ("core/a/examples/two/main.rs", "core/a/examples/two/part.rs");
        let files = [(LIST, list), ("core/a/examples/one.rs", one), (main, "a\nb\n"), (part, "c\n")];
        texts(&check(&Tree::of(&files)))
    }

    #[test]
    fn row_with_other_count_is_found() {
        assert_eq!(found(ROWS, "x\ny\n"), [""; 0]);
        let finding = "examples/README.md:1: `core/a/examples/one.rs` has 3 lines: write that instead of 2";
        assert_eq!(found(ROWS, "x\ny\nz\n"), [finding]);
    }

    #[test]
    fn example_without_row_is_found_once() {
        let list = "| `core/a/examples/one.rs` | shows | `run` | 1 |\n";
        let finding = "examples/README.md: the example `core/a/examples/two/` is not listed";
        assert_eq!(found(list, "x\n"), [finding]);
    }
}
