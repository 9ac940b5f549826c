//! Directions of dependencies: kit < link < seal < { timeline, replica, lobby } < gaggle.
//!
//! The crates in braces do not know each other, games use kit and one engine, core never the shell.
//! Called by `tidy::check`. Absent: contents of crates.

use super::Finding;
use crate::workspace::{Package, Workspace};

/// Layer of a crate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Layer {
    Kit,
    Link,
    /// Protocols that engines share, bytes only.
    Protocol,
    /// Engines, which do not know each other.
    Engine,
    Whole,
    Game,
    Shell,
    App,
    Tool,
}

/// Engines, of which a game uses one.
const ENGINES: [&str; 2] = ["gaggle-timeline", "gaggle-replica"];

/// Tools of tests; no published crate depends on it.
const TESTKIT: &str = "gaggle-testkit";

/// Crates that read clocks, draw entropy, open sockets or start threads, which deterministic crates
/// must not depend on.
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

/// Finds dependencies that do not point down, and crates without the common lints.
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

/// Finds crates in `cargo tree` of `core/` and `games/` that are not deterministic.
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
        // Derives run in the compiler and know only the kit.
        ("core", _) if is_derive => Some(Layer::Kit),
        ("core", "gaggle-link" | TESTKIT) => Some(Layer::Link),
        ("core", "gaggle-seal") => Some(Layer::Protocol),
        ("core", "gaggle-timeline" | "gaggle-replica" | "gaggle-lobby") => Some(Layer::Engine),
        ("core", "gaggle") => Some(Layer::Whole),
        // Pictures and sounds as data, shared by all games.
        ("games", "gaggle-scene") => Some(Layer::Kit),
        ("games", _) => Some(Layer::Game),
        ("shell", _) => Some(Layer::Shell),
        ("apps", _) => Some(Layer::App),
        ("tools", _) => Some(Layer::Tool),
        _ => None,
    }
}

/// Why a dependency is forbidden; none if it is allowed.
fn objection(from: Layer, to: Layer, dev: bool, name: &str) -> Option<&'static str> {
    let computes = |layer| layer <= Layer::Game;
    match (from, to) {
        (from, Layer::Shell | Layer::App | Layer::Tool) if computes(from) => {
            Some("core and games never see the shell")
        }
        (from, _) if !dev && name == TESTKIT && from != Layer::Tool => {
            Some("the testkit is for tests and tools only")
        }
        // Tests of deterministic crates may use any deterministic crate.
        (from, to) if dev && computes(from) && computes(to) => None,
        (Layer::Kit, Layer::Kit) => None,
        (Layer::Game, Layer::Kit) => None,
        (Layer::Game, Layer::Engine) if ENGINES.contains(&name) => None,
        (Layer::Game, _) => Some("a game sees gaggle-kit and one engine, nothing else"),
        (Layer::Engine, Layer::Engine) => Some("timeline, replica and lobby do not know each other"),
        (from, to) if computes(from) && to >= from => Some("dependencies point down only"),
        (Layer::Shell, Layer::App) => Some("nothing rests on apps"),
        // Tests may be driven by tools, such as a browser.
        (Layer::Shell | Layer::App, Layer::Tool) if !dev => Some("nothing rests on tools"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::texts;
    use super::*;
    use crate::workspace::{Dependency, Target};

    /// A workspace from lines `folder: dependencies`, where `?` marks a dev-dependency.
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
    fn intended_dependencies_are_accepted() {
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
    fn each_forbidden_dependency_is_found() {
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
    fn nondeterministic_crate_is_found_once() {
        let tree = "gaggle-kit v0.1.0 (/w/core/gaggle-kit)\ngetrandom v0.3.1\nthiserror v2.0.0\ngetrandom v0.3.1 (*)\n";
        let found = texts(&check_foreign(tree));
        assert_eq!(found.len(), 1);
        assert!(found[0].contains("depends on `getrandom`"), "{found:?}");
        assert_eq!(check_foreign("thiserror v2.0.0\nrand_core v0.9.0\n"), []);
    }
}
