//! Tables of documents: every row has as many cells as its header.
//!
//! Called by `tidy::check`. Absent: what cells say.

use super::Finding;
use super::tree::{File, Tree};

/// Finds rows that lost or gained a cell.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    tree.ending(".md").flat_map(uneven).collect()
}

fn uneven(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut header: Option<usize> = None;
    let mut is_code = false;
    for (number, line) in file.lines() {
        if line.trim_start().starts_with("```") {
            is_code = !is_code;
        }
        let row = line.trim();
        if is_code || !(row.starts_with('|') && row.ends_with('|') && row.len() > 1) {
            header = None;
            continue;
        }
        let count = cells(row);
        match header {
            None => header = Some(count),
            Some(wanted) if count != wanted => {
                let message = format!("a row of {count} cells under a header of {wanted}");
                findings.push(Finding::at(&file.path, number, message));
            }
            Some(_) => {}
        }
    }
    findings
}

/// Cells of a row. Only `\|` keeps a bar inside its cell, in code too.
fn cells(row: &str) -> usize {
    let is_end = |(at, _): &(usize, &str)| !row[..*at].ends_with('\\');
    row.match_indices('|').filter(is_end).count() - 1
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn found(text: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[("docs/A.md", text)])))
    }

    #[test]
    fn row_with_other_number_of_cells_is_found() {
        let text = "| a | b |\n|---|---|\n| 1 | 2 |\n| 1 |\n| 1 | 2 | 3 |\n";
        assert_eq!(
            found(text),
            [
                "docs/A.md:4: a row of 1 cells under a header of 2",
                "docs/A.md:5: a row of 3 cells under a header of 2",
            ]
        );
        assert_eq!(found("| a | b |\n|---|\n").len(), 1, "missed in the line of dashes");
        assert_eq!(found("| a |\n|---|\n| `x | y` |\n").len(), 1, "a bar in code ends a cell as well");
    }

    #[test]
    fn tables_apart_escaped_bars_and_code_are_accepted() {
        assert_eq!(found("| a |\n|---|\n| 1 |\n\n| a | b |\n|---|---|\n"), [""; 0]);
        assert_eq!(found("| a | b |\n|---|---|\n| 1 \\| 2 | `x \\| y` |\n| | |\n"), [""; 0]);
        assert_eq!(found("| a |\n|---|\n```text\n| 1 | 2 |\n```\n"), [""; 0]);
    }
}
