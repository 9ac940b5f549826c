//! Manifests of published crates: keys that a registry shows, no pinned dependencies; and a README
//! beside every manifest.
//!
//! Called by `tidy::check`. Absent: whether they build from a package (step `packages`).

use super::Finding;
use super::tree::Tree;
use crate::workspace::{Package, Workspace};

/// Folders whose crates are not published.
const OWN: [&str; 3] = ["apps", "games", "tools"];

/// Finds packages of all workspaces, also of those beside this one, without a README.
pub(super) fn check_readmes(tree: &Tree) -> Vec<Finding> {
    let packages = tree.ending("Cargo.toml").filter(|file| file.text.lines().any(|line| line == "[package]"));
    packages.filter_map(|file| without_readme(tree, &file.path)).collect()
}

fn without_readme(tree: &Tree, manifest: &str) -> Option<Finding> {
    let readme = format!("{}README.md", manifest.strip_suffix("Cargo.toml")?);
    let message = "no README.md: say in a few lines what the crate is for and how to run it";
    tree.text(&readme).is_none().then(|| Finding::of_file(manifest, message))
}

/// Finds published crates with missing keys or pins, and other crates without `publish = false`.
pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    workspace.packages.iter().flat_map(of_package).collect()
}

fn of_package(package: &Package) -> Vec<Finding> {
    let manifest = format!("{}/Cargo.toml", package.folder);
    let finding = |message: String| Finding::of_file(&manifest, message);
    if !package.is_published {
        return Vec::new();
    }
    if OWN.contains(&package.top()) {
        return vec![finding("no user depends on this crate: add `publish = false`".into())];
    }
    let lacks = package.lacks.iter().map(|key| finding(format!("published without `{key}`")));
    let pinned = package.dependencies.iter().filter(|edge| edge.is_pinned && !edge.dev);
    let pinned =
        pinned.map(|edge| finding(format!("`{}` is pinned, so users could have no other", edge.name)));
    lacks.chain(pinned).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::workspace::Dependency;

    fn found(package: Package) -> Vec<String> {
        texts(&check(&Workspace { packages: vec![package], ..Workspace::default() }))
    }

    #[test]
    fn published_package_without_readme_or_with_pin_is_found() {
        let edge = |name: &str, dev, is_pinned| Dependency { name: name.into(), dev, is_pinned };
        let package = Package {
            folder: "core/a".into(),
            is_published: true,
            lacks: vec!["readme"],
            dependencies: vec![edge("b", false, true), edge("c", true, true), edge("d", false, false)],
            ..Package::default()
        };
        let pinned = "core/a/Cargo.toml: `b` is pinned, so users could have no other";
        assert_eq!(found(package.clone()), ["core/a/Cargo.toml: published without `readme`", pinned]);
        assert_eq!(found(Package { is_published: false, ..package }), [""; 0]);
    }

    #[test]
    fn package_without_readme_is_found_and_workspace_is_not() {
        let (package, workspace) = ("[package]\nname = \"a\"\n", "[workspace]\nmembers = [\"a\"]\n");
        let bare = [("bench/Cargo.toml", workspace), ("bench/a/Cargo.toml", package)];
        let message = "no README.md: say in a few lines what the crate is for and how to run it";
        assert_eq!(texts(&check_readmes(&Tree::of(&bare))), [format!("bench/a/Cargo.toml: {message}")]);
        let whole = [bare[0], bare[1], ("bench/a/README.md", "# a\n")];
        assert_eq!(texts(&check_readmes(&Tree::of(&whole))), [""; 0]);
    }

    #[test]
    fn published_game_is_found() {
        let game = Package { folder: "games/a".into(), is_published: true, ..Package::default() };
        assert_eq!(found(game), ["games/a/Cargo.toml: no user depends on this crate: add `publish = false`"]);
    }
}
