//! Dependencies point down only: kit < link < seal < { timeline, replica, lobby } < gaggle. The
//! crates in braces do not know each other, games see kit and one engine, and core never sees the
//! shell.

use super::Finding;
use crate::workspace::{Package, Workspace};

/// Where a crate stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Kit,
    Link,
    /// What engines agree by: bytes only.
    Protocol,
    /// Side by side: they do not know each other.
    Engine,
    Whole,
    Game,
    Shell,
    App,
    Tool,
}

/// Crates a game may rest on, of which it chooses one.
const ENGINES: [&str; 2] = ["gaggle-timeline", "gaggle-replica"];

/// What tests share: no published crate depends on it.
const TESTKIT: &str = "gaggle-testkit";

/// What reads clocks, draws entropy, opens sockets or starts threads has no place in what must
/// compute the same everywhere.
const UNPREDICTABLE: [&str; 21] = [
    "ahash",
    "async-std",
    "chrono",
    "crossbeam-channel",
    "fastrand",
    "futures",
    "getrandom",
    "instant",
    "js-sys",
    "mio",
    "rand",
    "rayon",
    "smol",
    "socket2",
    "tempfile",
    "time",
    "tokio",
    "wasm-bindgen",
    "web-sys",
    "web-time",
    "wasm-bindgen-futures",
];

/// Whether every edge between our own crates points down, and every crate has the common lints.
pub(super) fn check(workspace: &Workspace) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &workspace.packages {
        let manifest = format!("{}/Cargo.toml", package.folder);
        let mut find = |message: String| findings.push(Finding::of_file(&manifest, message));
        let Some(layer) = layer(package) else {
            find(format!("`{}` has no layer: give it one in tools/xtask/src/tidy/layers.rs", package.name));
            continue;
        };
        for edge in &package.dependencies {
            let Some(other) = workspace.package(&edge.name) else { continue };
            let Some(below) = self::layer(other) else { continue };
            if let Some(why) = objection(layer, below, edge.dev, &other.name) {
                find(format!("`{}` must not depend on `{}`: {why}", package.name, other.name));
            }
        }
        let engines =
            package.dependencies.iter().filter(|edge| !edge.dev && ENGINES.contains(&edge.name.as_str()));
        if layer == Layer::Game && engines.count() > 1 {
            find(format!("`{}` rests on two engines: a game chooses one", package.name));
        }
    }
    findings
}

/// Whether `cargo tree` for `core/` and `games/` names a crate that is not the same everywhere.
pub(super) fn check_foreign(tree: &str) -> Vec<Finding> {
    let names = tree.lines().filter_map(|line| line.split_whitespace().next());
    let mut found: Vec<&str> = names.filter(|name| UNPREDICTABLE.contains(name)).collect();
    found.sort_unstable();
    found.dedup();
    let message = |name| {
        format!("a crate of core/ or games/ depends on `{name}`: `cargo tree --invert {name}` tells which")
    };
    found.into_iter().map(|name| Finding::of_file("core", message(name))).collect()
}

fn layer(package: &Package) -> Option<Layer> {
    let is_derive = package.targets("proc-macro").next().is_some();
    match (package.top(), package.name.as_str()) {
        ("core", "gaggle-kit") => Some(Layer::Kit),
        // Derives run inside the compiler and know nothing but the nouns.
        ("core", _) if is_derive => Some(Layer::Kit),
        ("core", "gaggle-link" | TESTKIT) => Some(Layer::Link),
        ("core", "gaggle-seal") => Some(Layer::Protocol),
        ("core", "gaggle-timeline" | "gaggle-replica" | "gaggle-lobby") => Some(Layer::Engine),
        ("core", "gaggle") => Some(Layer::Whole),
        // Pictures and sounds as data, which all games share.
        ("games", "gaggle-scene") => Some(Layer::Kit),
        ("games", _) => Some(Layer::Game),
        ("shell", _) => Some(Layer::Shell),
        ("apps", _) => Some(Layer::App),
        ("tools", _) => Some(Layer::Tool),
        _ => None,
    }
}

/// Why this edge may not be, if it may not.
fn objection(from: Layer, to: Layer, dev: bool, name: &str) -> Option<&'static str> {
    let computes = |layer| layer <= Layer::Game;
    match (from, to) {
        (from, Layer::Shell | Layer::App | Layer::Tool) if computes(from) => {
            Some("core and games never see the shell")
        }
        (from, _) if !dev && name == TESTKIT && from != Layer::Tool => {
            Some("the testkit is for tests and tools only")
        }
        // Tests may look sideways and up, as long as they compute.
        (from, to) if dev && computes(from) && computes(to) => None,
        (Layer::Kit, Layer::Kit) => None,
        (Layer::Game, Layer::Kit) => None,
        (Layer::Game, Layer::Engine) if ENGINES.contains(&name) => None,
        (Layer::Game, _) => Some("a game sees gaggle-kit and one engine, nothing else"),
        (Layer::Engine, Layer::Engine) => Some("timeline, replica and lobby do not know each other"),
        (from, to) if computes(from) && to >= from => Some("dependencies point down only"),
        (Layer::Shell, Layer::App) => Some("nothing rests on apps"),
        // Its tests may be driven by tools: a browser, for one.
        (Layer::Shell | Layer::App, Layer::Tool) if !dev => Some("nothing rests on tools"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::workspace::{Dependency, Target};

    /// A workspace of `folder: dependencies`, where `?` marks a dev-dependency.
    fn workspace(lines: &[&str]) -> Workspace {
        let package = |line: &&str| {
            let (folder, edges) = line.split_once(':').unwrap();
            let name = folder.rsplit('/').next().unwrap();
            let dependencies = edges
                .split_whitespace()
                .map(|edge| Dependency {
                    name: edge.trim_end_matches('?').into(),
                    dev: edge.ends_with('?'),
                    is_pinned: false,
                })
                .collect();
            let kind = if name.ends_with("-derive") { "proc-macro" } else { "lib" };
            let targets = vec![Target { name: name.into(), kind: kind.into() }];
            Package { name: name.into(), folder: folder.into(), dependencies, targets, ..Package::default() }
        };
        Workspace { packages: lines.iter().map(package).collect(), ..Workspace::default() }
    }

    #[test]
    fn the_intended_shape_is_fine() {
        let intended = workspace(&[
            "core/gaggle-kit-derive:",
            "core/gaggle-kit: gaggle-kit-derive thiserror",
            "core/gaggle-link: gaggle-kit",
            "core/gaggle-testkit: gaggle-kit",
            "core/gaggle-timeline: gaggle-kit gaggle-link gander? gaggle-testkit?",
            "core/gaggle-replica: gaggle-kit gaggle-link gaggle-kit-derive gaggle-timeline?",
            "core/gaggle-lobby: gaggle-kit gaggle-link",
            "core/gaggle: gaggle-kit gaggle-link gaggle-timeline gaggle-replica gaggle-lobby",
            "games/gaggle-scene:",
            "games/gander: gaggle-kit gaggle-scene gaggle-timeline gaggle-link?",
            "shell/gaggle-native: gaggle-link",
            "shell/gaggle-server: gaggle-lobby gaggle-native gander",
            "tools/gaggle-lab: gaggle gander gaggle-server",
        ]);
        assert_eq!(texts(&check(&intended)), [""; 0]);
    }

    #[test]
    fn each_forbidden_edge_is_found() {
        fn check_edge(folder: &str, to: &str, why: &str) {
            let crates = [
                "core/gaggle-kit:",
                "core/gaggle-link:",
                "core/gaggle-testkit:",
                "core/gaggle-timeline:",
                "core/gaggle-replica:",
                "core/gaggle-lobby:",
                "core/gaggle:",
                "games/gander:",
                "games/drake:",
                "shell/gaggle-native:",
                "tools/gaggle-lab:",
            ];
            let line = format!("{folder}: {to}");
            let lines: Vec<&str> = crates
                .into_iter()
                .filter(|other| *other != format!("{folder}:"))
                .chain([line.as_str()])
                .collect();
            let found = texts(&check(&workspace(&lines)));
            assert_eq!(found.len(), 1, "{line}: {found:?}");
            assert!(
                found[0].starts_with(&format!("{folder}/Cargo.toml: ")) && found[0].ends_with(why),
                "{found:?}"
            );
        }
        check_edge("core/gaggle-timeline", TESTKIT, "the testkit is for tests and tools only");
        check_edge("shell/gaggle-native", TESTKIT, "the testkit is for tests and tools only");
        check_edge("core/gaggle-kit", "gaggle-link", "dependencies point down only");
        check_edge("core/gaggle-link", "gaggle-timeline", "dependencies point down only");
        check_edge("core/gaggle-timeline", "gaggle", "dependencies point down only");
        check_edge("core/gaggle", "gander", "dependencies point down only");
        check_edge(
            "core/gaggle-timeline",
            "gaggle-replica",
            "timeline, replica and lobby do not know each other",
        );
        check_edge(
            "core/gaggle-lobby",
            "gaggle-timeline",
            "timeline, replica and lobby do not know each other",
        );
        check_edge("core/gaggle-link", "gaggle-native", "core and games never see the shell");
        check_edge("core/gaggle-link", "gaggle-native?", "core and games never see the shell");
        check_edge("core/gaggle-link", "gaggle-lab?", "core and games never see the shell");
        check_edge("games/gander", "gaggle-link", "a game sees gaggle-kit and one engine, nothing else");
        check_edge("games/gander", "gaggle-lobby", "a game sees gaggle-kit and one engine, nothing else");
        check_edge("games/gander", "drake", "a game sees gaggle-kit and one engine, nothing else");
        check_edge("games/gander", "gaggle-timeline gaggle-replica", "a game chooses one");
        check_edge("shell/gaggle-native", "gaggle-lab", "nothing rests on tools");
    }

    #[test]
    fn crate_without_layer_is_found() {
        let found = texts(&check(&workspace(&["core/gaggle-extra:"])));
        assert!(found[0].contains("`gaggle-extra` has no layer"), "{found:?}");
    }

    #[test]
    fn a_crate_that_differs_between_machines_is_found_once() {
        let tree = "gaggle-kit v0.1.0 (/w/core/gaggle-kit)\ngetrandom v0.3.1\nthiserror v2.0.0\ngetrandom v0.3.1 (*)\n";
        let found = texts(&check_foreign(tree));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("depends on `getrandom`"), "{found:?}");
        assert_eq!(check_foreign("thiserror v2.0.0\nrand_core v0.9.0\n"), []);
    }
}
