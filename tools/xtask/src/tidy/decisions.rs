//! Entries of `docs/decisions/`: whole, short, and named in the index.
//!
//! Called by `tidy::check`. Absent: whether a decision is right.

use super::Finding;
use super::tree::{File, Tree};

const FOLDER: &str = "docs/decisions/";
const INDEX: &str = "docs/decisions/index.md";
const PARTS: [&str; 4] = ["**Context**", "**Decision**", "**Rejected**", "**Revisit**"];
/// Lines of an entry, its title included.
const LINES_MAX: usize = 12;

/// Entries that lack a part, are too long, or are not in the index.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let Some(index) = tree.text(INDEX) else { return Vec::new() };
    let pages = tree.ending(".md").filter(|file| file.path.starts_with(FOLDER) && file.path != INDEX);
    pages.flat_map(|page| of_page(page, index)).collect()
}

fn of_page(page: &File, index: &str) -> Vec<Finding> {
    let lines: Vec<&str> = page.text.lines().collect();
    let begins = |line: &&str| line.starts_with("### ");
    let starts: Vec<usize> = (0..lines.len()).filter(|at| begins(&lines[*at])).collect();
    let mut findings = Vec::new();
    for (nth, start) in starts.iter().enumerate() {
        let end = starts.get(nth + 1).copied().unwrap_or(lines.len());
        let entry: Vec<&str> =
            lines[*start..end].iter().copied().filter(|line| !line.trim().is_empty()).collect();
        let title = entry[0].trim_start_matches("### ");
        let mut find = |message: String| findings.push(Finding::at(&page.path, start + 1, message));
        for part in PARTS.iter().filter(|part| !entry.iter().any(|line| line.starts_with(**part))) {
            find(format!("`{title}` lacks {}", part.trim_matches('*')));
        }
        if entry.len() > LINES_MAX {
            find(format!("`{title}` has {} lines, at most {LINES_MAX}: say less", entry.len()));
        }
        if !index.lines().any(|line| line.strip_prefix("- ") == Some(title)) {
            find(format!("`{title}` is not in {INDEX}"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    const WHOLE: &str =
        "### One way\n**Context**: a\n**Decision**: b\n**Rejected**: c\n**Revisit**: when d.\n";

    fn found(index: &str, page: &str) -> Vec<String> {
        texts(&check(&Tree::of(&[(INDEX, index), ("docs/decisions/kit.md", page)])))
    }

    #[test]
    fn whole_entry_in_index_passes() {
        assert_eq!(found("- One way\n", WHOLE), [""; 0]);
    }

    #[test]
    fn entry_without_part_or_index_line_is_found() {
        let lacking = WHOLE.replace("**Rejected**: c\n", "");
        assert_eq!(found("- One way\n", &lacking), ["docs/decisions/kit.md:1: `One way` lacks Rejected"]);
        let unlisted = "docs/decisions/kit.md:1: `One way` is not in docs/decisions/index.md";
        assert_eq!(found("- Another way\n", WHOLE), [unlisted]);
    }

    #[test]
    fn long_entry_is_found() {
        let long = format!("{WHOLE}{}", "more\n".repeat(8));
        assert_eq!(
            found("- One way\n", &long),
            ["docs/decisions/kit.md:1: `One way` has 13 lines, at most 12: say less"]
        );
    }
}
