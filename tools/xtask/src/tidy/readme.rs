//! The README: its example compiles, and its table has all crates.
//!
//! Called by `tidy::check`. Absent: other documents.

use super::Finding;
use super::tree::{File, Tree};
use crate::workspace::Workspace;

const README: &str = "README.md";

/// Finds Rust code in the README that no crate compiles, and crates it does not list.
pub(super) fn check(tree: &Tree, workspace: &Workspace) -> Vec<Finding> {
    let Some(text) = tree.text(README) else { return Vec::new() };
    let example = text.lines().position(|line| line.starts_with("```rust")).map(|index| index + 1);
    let is_compiled = tree.ending(".rs").any(includes_readme);
    let message = "this is not compiled: `#[cfg(doctest)] #[doc = include_str!(…)]` in the crate it is about";
    let uncompiled = example.filter(|_| !is_compiled).map(|line| Finding::at(README, line, message));
    let is_introduced = |name: &str| text.lines().any(|line| line.starts_with(&format!("| `{name}` |")));
    let missing = workspace.packages.iter().filter(|package| !is_introduced(&package.name));
    let missing = missing
        .map(|package| Finding::of_file(README, format!("the table of crates lacks `{}`", package.name)));
    uncompiled.into_iter().chain(missing).collect()
}

fn includes_readme(file: &File) -> bool {
    let depth = file.path.matches('/').count();
    let include = format!("include_str!(\"{}{README}\")", "../".repeat(depth));
    file.text.contains(&include) && file.text.contains("cfg(doctest)")
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::workspace::Package;

    const WITH_EXAMPLE: (&str, &str) = ("README.md", "# Name\n\n```rust\nlet x = 1;\n```\n");

    fn findings(files: &[(&str, &str)], crates: &[&str]) -> Vec<String> {
        let package = |name: &&str| Package { name: (*name).into(), ..Package::default() };
        let workspace = Workspace { packages: crates.iter().map(package).collect(), ..Workspace::default() };
        texts(&check(&Tree::of(files), &workspace))
    }

    #[test]
    fn example_that_is_not_compiled_is_found() {
        let other =
            ("core/a/src/lib.rs", "#[cfg(doctest)]\n#[doc = include_str!(\"../README.md\")]\nstruct A;\n");
        let found = findings(&[WITH_EXAMPLE, other], &[]);
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("README.md:3: this is not compiled"), "{found:?}");
    }

    #[test]
    fn example_compiled_as_doctest_is_accepted() {
        let by = (
            "core/a/src/lib.rs",
            "#[cfg(doctest)]\n#[doc = include_str!(\"../../../README.md\")]\nstruct A;\n",
        );
        assert_eq!(findings(&[WITH_EXAMPLE, by], &[]), [""; 0]);
        assert_eq!(findings(&[("README.md", "# Name\n\n```sh\ncargo xtask play\n```\n")], &[]), [""; 0]);
    }

    #[test]
    fn crate_missing_from_table_is_found() {
        let table = ("README.md", "| Crate | For |\n|---|---|\n| `a` | letters |\n");
        assert_eq!(findings(&[table], &["a", "b"]), ["README.md: the table of crates lacks `b`"]);
    }
}
