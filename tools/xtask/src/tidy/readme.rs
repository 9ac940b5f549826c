//! The example in the README must compile: some crate includes the README as a doctest.

use super::Finding;
use super::tree::{File, Tree};

const README: &str = "README.md";

/// Whether Rust in the README is compiled by a crate.
pub(super) fn check(tree: &Tree) -> Vec<Finding> {
    let example =
        tree.text(README).and_then(|text| text.lines().position(|line| line.starts_with("```rust")));
    let Some(line) = example else { return Vec::new() };
    if tree.ending(".rs").any(includes_readme) {
        return Vec::new();
    }
    let message = "nobody compiles this: `#[cfg(doctest)] #[doc = include_str!(…)]` in the crate it is about";
    vec![Finding::at(README, line + 1, message)]
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

    const WITH_EXAMPLE: (&str, &str) = ("README.md", "# Name\n\n```rust\nlet x = 1;\n```\n");

    #[test]
    fn an_example_nobody_compiles_is_found() {
        let other =
            ("core/a/src/lib.rs", "#[cfg(doctest)]\n#[doc = include_str!(\"../README.md\")]\nstruct A;\n");
        let found = texts(&check(&Tree::of(&[WITH_EXAMPLE, other])));
        assert_eq!(found.len(), 1);
        assert!(found[0].starts_with("README.md:3: nobody compiles this"), "{found:?}");
    }

    #[test]
    fn an_example_compiled_as_a_doctest_is_fine() {
        let by = (
            "core/a/src/lib.rs",
            "#[cfg(doctest)]\n#[doc = include_str!(\"../../../README.md\")]\nstruct A;\n",
        );
        assert_eq!(check(&Tree::of(&[WITH_EXAMPLE, by])), []);
        assert_eq!(check(&Tree::of(&[("README.md", "# Name\n\n```sh\ncargo xtask play\n```\n")])), []);
    }
}
