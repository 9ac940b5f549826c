//! `cargo xtask play`: runs the best thing the project has to show.

use std::process::ExitCode;

use crate::workspace::{self, Workspace};

/// What can be shown, best first.
const SHOWS: [Show; 2] = [Show::Page("gaggle-web"), Show::Example("two_peers_in_memory")];

/// Something to look at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    /// A program that builds a page, serves it and prints its address.
    Page(&'static str),
    /// An example of some crate, run in this terminal.
    Example(&'static str),
}

/// Runs the command line behind `cargo xtask play`; what follows goes to the program that is run.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    let root = workspace::root();
    let workspace = match Workspace::load(&root) {
        Ok(workspace) => workspace,
        Err(error) => return crate::refuse(&error),
    };
    let Some((package, show)) = best(&workspace) else {
        return crate::refuse("There is nothing to play yet: `cargo xtask test` is what works.");
    };
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--package", package]);
    match show {
        Show::Page(_) => drop(cargo.args(["--", "play"])),
        Show::Example(example) => drop(cargo.args(["--example", example, "--"])),
    }
    crate::hand_over(cargo.args(arguments).current_dir(root))
}

/// The best show whose parts exist, and the package it is in.
fn best(workspace: &Workspace) -> Option<(&str, Show)> {
    SHOWS.into_iter().find_map(|show| {
        let holds_it = |package: &&workspace::Package| match show {
            Show::Page(name) => package.name == name,
            Show::Example(name) => package.targets("example").any(|target| target.name == name),
        };
        workspace.packages.iter().find(holds_it).map(|package| (package.name.as_str(), show))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Package, Target};

    #[test]
    fn an_example_is_shown_from_whichever_crate_has_it() {
        let mut workspace = Workspace::default();
        assert_eq!(best(&workspace), None);
        let target = Target { name: "two_peers_in_memory".into(), kind: "example".into() };
        workspace.packages.push(Package { name: "other".into(), ..Package::default() });
        workspace.packages.push(Package { name: "game".into(), targets: vec![target], ..Package::default() });
        assert_eq!(best(&workspace), Some(("game", Show::Example("two_peers_in_memory"))));
        workspace.packages.push(Package { name: "gaggle-web".into(), ..Package::default() });
        assert_eq!(best(&workspace), Some(("gaggle-web", Show::Page("gaggle-web"))), "a page is better");
    }
}
