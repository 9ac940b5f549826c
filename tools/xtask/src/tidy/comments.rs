//! Comments: module docs with `Absent:`, doc comments with enough words, lines within the columns.
//!
//! Called by `tidy::check`. Absent: what comments say.

use super::Finding;
use super::tree::{File, Tree};

/// Columns of a comment line.
const COLUMNS_MAX: usize = 100;
/// Words of a doc comment: fewer only repeat the name.
const WORDS_MIN: usize = 3;

/// Marks of comments by kind of file.
const MARKS: [(&str, &[&str]); 4] =
    [(".rs", &["//"]), (".js", &["//"]), (".css", &["/*", "*"]), (".toml", &["#"])];

/// Finds module docs without `Absent:`, doc comments of too few words, comment lines that are too
/// wide.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let of_tests = test_modules(tree);
    let sources = tree.ending(".rs").flat_map(|file| {
        short(file).into_iter().chain(borderless(file).filter(|_| !is_within(&file.path, &of_tests)))
    });
    sources.chain(tree.files().flat_map(wide)).collect()
}

/// Module doc of a part that does not say what the part must not know.
fn borderless(file: &File) -> Option<Finding> {
    let doc = file.lines().map(|(_, line)| line).take_while(|line| line.starts_with("//!"));
    let doc: Vec<&str> = doc.collect();
    let is_part = file.path.contains("/src/");
    // The doc of a published crate is its README.
    let is_readme = file.path.ends_with("/lib.rs") && file.text.contains("include_str!(\"../README.md\")");
    let message = "the module doc has no `Absent:`: say what this file must not know";
    let is_wrong = is_part && !is_readme && !doc.iter().any(|line| line.contains("Absent:"));
    is_wrong.then(|| Finding::at(&file.path, 1, message))
}

fn is_within(path: &str, modules: &[String]) -> bool {
    let rest = modules.iter().find_map(|module| path.strip_prefix(module.as_str()));
    rest.is_some_and(|rest| rest.starts_with(['.', '/']))
}

/// Modules compiled for tests alone, as paths without `.rs`: those below them are, too.
fn test_modules(tree: &Tree) -> Vec<String> {
    let mut modules = Vec::new();
    for file in tree.ending(".rs") {
        let path = file.path.trim_end_matches(".rs");
        let folder = ["/lib", "/main", "/mod"].iter().find_map(|name| path.strip_suffix(name));
        let mut is_test = false;
        for (_, line) in file.lines() {
            let name = line.rsplit_once("mod ").and_then(|(_, name)| name.strip_suffix(';'));
            match name {
                Some(name) if is_test => modules.push(format!("{}/{name}", folder.unwrap_or(path))),
                _ => {}
            }
            is_test = line == "#[cfg(test)]" || is_test && line.starts_with("#[");
        }
    }
    modules
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
    let kind = MARKS.iter().find(|(ending, _)| file.path.ends_with(ending));
    let marks = kind.map_or(&[][..], |(_, marks)| marks);
    let is_wide = move |line: &str| {
        marks.iter().any(|mark| line.trim_start().starts_with(mark)) && line.chars().count() > COLUMNS_MAX
    };
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
        texts(&check(&Tree::of(&[("core/a/tests/it.rs", text)])))
    }

    #[test]
    fn short_doc_comment_is_found_and_two_lines_read_whole() {
        let short = found(
            "struct A {\n    /// Who.\n    peer: u8,\n    /// Frames a second,\n    /// at most 240.\n    rate: u8,\n}",
        );
        assert_eq!(short.len(), 1, "{short:?}");
        assert!(short[0].starts_with("core/a/tests/it.rs:2: a doc comment of fewer"), "{short:?}");
        assert_eq!(found("/// Who.").len(), 1, "missed at the end of a file");
    }

    #[test]
    fn wide_comment_is_found_and_wide_code_is_not() {
        let wide = "x".repeat(COLUMNS_MAX);
        assert_eq!(found(&format!("// {wide}")).len(), 1);
        assert_eq!(found(&format!("let a = {wide:?};")), [""; 0]);
        let count = |path: &str, line: &str| check(&Tree::of(&[(path, &format!("{line} {wide}"))])).len();
        assert_eq!([count("Cargo.toml", "#"), count("a/page.css", "/*"), count("a/page.js", "//")], [1; 3]);
        assert_eq!([count("a/page.css", "#said"), count("README.md", "#")], [0; 2]);
    }

    #[test]
    fn part_without_border_is_found_and_tests_are_exempt() {
        let count = |path: &str, text: &str| check(&Tree::of(&[(path, text)])).len();
        assert_eq!(count("core/a/src/part.rs", "//! Owns it."), 1);
        assert_eq!(count("core/a/src/part.rs", "//! Owns it.\n//! Absent: sockets."), 0);
        assert_eq!(count("core/a/src/part.rs", "//! Owns it.\nfn a() {} // Absent: no."), 1);
        assert_eq!(count("core/a/src/lib.rs", "#![doc = include_str!(\"../README.md\")]"), 0);
        for path in ["tests/it.rs", "examples/a.rs"] {
            assert_eq!(count(&format!("core/a/{path}"), "//! Tests of it."), 0, "{path}");
        }
        let within = |path: &str, declared: &str| {
            let lib = ("core/a/src/lib.rs", "//! Owns it. Absent: no.");
            let parent = format!("//! Owns it. Absent: no.\n{declared}\nmod harness;\n");
            check(&Tree::of(&[lib, ("core/a/src/part.rs", &parent), (path, "//! Tests of it.")])).len()
        };
        for path in ["core/a/src/part/harness.rs", "core/a/src/part/harness/runs.rs"] {
            assert_eq!([within(path, "#[cfg(test)]"), within(path, "")], [0, 1], "{path}");
        }
        assert_eq!(within("core/a/src/part/harnessed.rs", "#[cfg(test)]"), 1);
    }
}
