//! Which lines of a Rust file are code: tests, comments and blank lines left out.
//!
//! `parts` counts with it, and `cargo xtask lines`. Absent: limits.

use std::collections::BTreeSet;

use super::tree::{File, Tree};

/// Rust files of crates that are not tests alone.
pub(super) fn sources(tree: &Tree) -> Vec<&File> {
    let all: Vec<&File> = tree.ending(".rs").filter(|file| file.path.contains("/src/")).collect();
    let tests: BTreeSet<String> = all.iter().flat_map(|file| test_modules(file)).collect();
    let is_test = |file: &File| {
        let mut path = file.path.trim_end_matches(".rs");
        loop {
            if tests.contains(path) {
                return true;
            }
            match path.rsplit_once('/') {
                Some((folder, _)) => path = folder,
                None => return false,
            }
        }
    };
    all.into_iter().filter(|file| !is_test(file)).collect()
}

/// Paths, without ending, of modules that the file declares for tests.
fn test_modules(file: &File) -> Vec<String> {
    let path = file.path.trim_end_matches(".rs");
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let folder = if matches!(name, "lib" | "main" | "mod") { folder } else { path };
    let mut found = Vec::new();
    let mut lines = file.text.lines().peekable();
    while let Some(line) = lines.next() {
        if line == "#[cfg(test)]"
            && let Some(name) = lines.peek().and_then(|line| module(line)?.strip_suffix(';'))
        {
            found.push(format!("{folder}/{name}"));
        }
    }
    found
}

/// What follows `mod` in a declaration at the left margin.
fn module(line: &str) -> Option<&str> {
    let line = match line.strip_prefix("pub(") {
        Some(rest) => rest.split_once(") ")?.1,
        None => line.strip_prefix("pub ").unwrap_or(line),
    };
    line.strip_prefix("mod ")
}

/// Lines before the tests of a file, with their numbers.
pub(super) fn before_tests(file: &File) -> impl Iterator<Item = (usize, &str)> {
    let lines: Vec<&str> = file.text.lines().collect();
    let begins = |at: &usize| {
        lines[*at] == "#[cfg(test)]"
            && lines.get(at + 1).and_then(|line| module(line)).is_some_and(|rest| rest.contains('{'))
    };
    let end = (0..lines.len()).find(begins).unwrap_or(lines.len());
    file.lines().take(end)
}

/// Lines of code: neither blank nor comment, before the tests.
pub(super) fn code(file: &File) -> impl Iterator<Item = &str> {
    let mut is_comment = false;
    before_tests(file).map(|(_, line)| line.trim()).filter(move |line| {
        let was_comment = is_comment;
        is_comment = (is_comment || line.starts_with("/*")) && !line.ends_with("*/");
        !(was_comment || line.is_empty() || line.starts_with("//") || line.starts_with("/*"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn modules_declared_for_tests_are_no_sources() {
        let tree = Tree::of(&[
            ("core/a/src/lib.rs", "mod b;\n#[cfg(test)]\nmod vectors;\nmod kept;\n"),
            ("core/a/src/vectors.rs", "fn a() {}\n"),
            ("core/a/src/vectors/deep.rs", "fn a() {}\n"),
            ("core/a/src/kept.rs", ""),
            ("core/a/src/b.rs", "#[cfg(test)]\npub(crate) mod harness;\n"),
            ("core/a/src/b/harness.rs", ""),
            ("core/a/tests/t.rs", ""),
        ]);
        let paths: Vec<&str> = sources(&tree).iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["core/a/src/lib.rs", "core/a/src/kept.rs", "core/a/src/b.rs"]);
    }

    #[test]
    fn code_ends_at_tests_and_has_no_comments() {
        let text = "//! Doc.\n\nfn a() {}\n/* one\ntwo */\n    // why\n    b(); // c\n\
                    #[cfg(test)]\nmod x;\n#[cfg(test)]\npub(crate) mod tests {\nfn t() {}\n}\n";
        let tree = Tree::of(&[("core/a/src/lib.rs", text)]);
        let file = tree.files().next().expect("one file");
        let lines: Vec<&str> = code(file).collect();
        assert_eq!(lines, ["fn a() {}", "b(); // c", "#[cfg(test)]", "mod x;"]);
        assert_eq!(before_tests(file).count(), 9);
    }
}
