//! Checks of the project that no compiler makes. A repeated review comment becomes a check here.
//!
//! Step `tidy` calls them. Each is a function from files to findings; reading files and asking
//! cargo happens outside, so tests give each a made-up project. Absent: reports.

mod code;
mod comments;
mod decisions;
mod documents;
mod examples;
mod layers;
mod leftovers;
mod lines;
mod packages;
mod parts;
mod ratchet;
mod readme;
mod shape;
mod sizes;
mod spelling;
mod tables;
mod test_names;
mod tree;
mod vectors;
mod words;

use std::fmt;

pub(crate) use lines::table as lines_table;
pub(crate) use ratchet::{PATH as RATCHET_PATH, Ratchet};
pub(crate) use tree::Tree;

use crate::workspace::Workspace;

/// One broken rule and its place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Finding {
    path: String,
    /// Line number from 1; 0 for the whole file.
    line: usize,
    message: String,
}

impl Finding {
    fn of_file(path: &str, message: impl Into<String>) -> Finding {
        Finding::at(path, 0, message)
    }

    fn at(path: &str, line: usize, message: impl Into<String>) -> Finding {
        Finding { path: path.to_string(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            0 => write!(f, "{}: {}", self.path, self.message),
            line => write!(f, "{}:{line}: {}", self.path, self.message),
        }
    }
}

/// All findings, in the order of the files. `foreign` is the output of `cargo tree` for `core/` and
/// `games/`.
pub(crate) fn check(tree: &Tree, workspace: &Workspace, foreign: &str) -> Vec<Finding> {
    let mut findings = [
        layers::check(workspace),
        layers::check_foreign(foreign),
        decisions::check(tree),
        documents::check(tree),
        examples::check(tree),
        readme::check(tree, workspace),
        vectors::check(tree),
        shape::check(tree),
        sizes::check(tree),
        tables::check(tree),
        leftovers::check(tree),
        packages::check(workspace),
        packages::check_readmes(tree),
        comments::check(tree),
        spelling::check(tree),
        test_names::check(tree),
        words::check(tree),
        check_ratchet(tree),
    ]
    .concat();
    findings.sort();
    findings
}

/// Findings of checks whose counts may only fall.
pub(crate) fn counted(tree: &Tree) -> Vec<(&'static str, Vec<Finding>)> {
    vec![("fields", parts::check_fields(tree)), ("parts", parts::check(tree))]
}

fn check_ratchet(tree: &Tree) -> Vec<Finding> {
    match Ratchet::parse(tree.text(RATCHET_PATH).unwrap_or_default()) {
        Ok(recorded) => ratchet::check(&recorded, &counted(tree)),
        Err(error) => vec![Finding::of_file(RATCHET_PATH, error)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Findings as text, for comparison in tests.
    pub(super) fn texts(findings: &[Finding]) -> Vec<String> {
        findings.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn findings_of_all_checks_come_sorted_by_place() {
        let tree = Tree::of(&[("core/b/tests/it.rs", "mod x;\n"), ("README.md", "See `core/none.rs`.\n")]);
        let findings = check(&tree, &Workspace::default(), "rand v0.9.0\n");
        let places: Vec<_> = findings.iter().map(|finding| finding.path.as_str()).collect();
        assert_eq!(places, ["README.md", "core", "core/b/tests/it.rs"]);
    }
}
