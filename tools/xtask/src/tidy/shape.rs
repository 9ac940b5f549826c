//! Shape of files: module doc first, limited size, a name that is a concept, common lints.
//!
//! Called by `tidy::check`. Absent: what files contain.

use super::Finding;
use super::tree::{File, Tree};

/// Lines of code and tests together; good files have 150 to 400.
const LINES_MAX: usize = 800;
const BYTES_MAX: u64 = 1_000_000;
/// Names that say nothing and collect everything.
const NAMELESS: [&str; 6] = ["common", "helper", "helpers", "misc", "util", "utils"];

/// Finds files without the required shape.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let sources = tree.ending(".rs").flat_map(source);
    let manifests = tree.ending("Cargo.toml").filter_map(manifest);
    sources.chain(manifests).chain(tree.files().filter_map(weight)).collect()
}

fn source(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !file.text.starts_with("//!") {
        findings.push(Finding::at(&file.path, 1, "the first line is not `//!`: say what this file owns"));
    }
    let lines = file.text.lines().count();
    if lines > LINES_MAX {
        let message =
            format!("{lines} lines, at most {LINES_MAX}: find the second concept and give it a file");
        findings.push(Finding::of_file(&file.path, message));
    }
    let mut parts = file.path.trim_end_matches(".rs").rsplit('/');
    let name = parts.find(|part| *part != "mod").unwrap_or_default();
    // Below tests/ this is cargo's name for code shared by test programs.
    let is_shared_by_tests = name == "common" && file.path.contains("/tests/");
    if NAMELESS.contains(&name) && !is_shared_by_tests {
        findings.push(Finding::of_file(&file.path, format!("`{name}` names no concept")));
    }
    findings
}

/// The root states the lints once; a crate without `[lints]` has none. Other workspaces have roots
/// of their own.
fn manifest(file: &File) -> Option<Finding> {
    let is_member =
        ["apps/", "core/", "games/", "shell/", "tools/"].iter().any(|top| file.path.starts_with(top));
    let mut section = "";
    let takes_over = file.text.lines().map(str::trim).any(|line| {
        if line.starts_with('[') {
            section = line;
        }
        (section == "[lints]" && line.replace(' ', "") == "workspace=true")
            || line.replace(' ', "") == "lints.workspace=true"
    });
    let message = "does not take over the common lints: add `[lints]` with `workspace = true`";
    (is_member && !takes_over).then(|| Finding::of_file(&file.path, message))
}

fn weight(file: &File) -> Option<Finding> {
    let message = || format!("{} bytes, at most {BYTES_MAX}: generate it or fetch it instead", file.bytes);
    (file.bytes > BYTES_MAX).then(|| Finding::of_file(&file.path, message()))
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;

    fn check_one(path: &str, text: &str, expected: &[&str]) {
        let found = texts(&check(&Tree::of(&[(path, text)])));
        assert_eq!(found.len(), expected.len(), "{path}: {found:?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found:?} does not say {expected:?}");
        }
    }

    #[test]
    fn file_without_module_doc_is_found() {
        check_one("core/a/src/lib.rs", "//! Owns it.\n", &[]);
        check_one("core/a/src/lib.rs", "use std::fmt;\n//! Owns it.\n", &["lib.rs:1: the first line is not"]);
        check_one("core/a/tests/it.rs", "", &["the first line is not"]);
    }

    #[test]
    fn too_long_file_is_found() {
        let lines = |count: usize| format!("//! Long.\n{}", "x\n".repeat(count - 1));
        check_one("a.rs", &lines(800), &[]);
        check_one("a.rs", &lines(801), &["801 lines, at most 800"]);
        check_one("a.txt", &lines(801), &[]);
    }

    #[test]
    fn file_with_meaningless_name_is_found() {
        check_one("core/a/src/utils.rs", "//! X\n", &["`utils` names no concept"]);
        check_one("core/a/src/common/mod.rs", "//! X\n", &["`common` names no concept"]);
        check_one("core/a/tests/common/mod.rs", "//! X\n", &[]);
        check_one("core/a/src/frame.rs", "//! X\n", &[]);
    }

    #[test]
    fn large_file_is_found() {
        check_one("demo.bin", &"x".repeat(1_000_000), &[]);
        check_one("demo.bin", &"x".repeat(1_000_001), &["1000001 bytes"]);
    }

    #[test]
    fn member_without_common_lints_is_found() {
        check_one("core/a/Cargo.toml", "[package]\nname = \"a\"\n\n[lints]\nworkspace = true\n", &[]);
        check_one("core/a/Cargo.toml", "[package]\nlints.workspace = true\n", &[]);
        check_one(
            "core/a/Cargo.toml",
            "[package]\nname = \"a\"\n[other]\nworkspace = true\n",
            &["common lints"],
        );
        check_one("bench/Cargo.toml", "[package]\n", &[]);
    }
}
