//! `cargo xtask chaos …`: whole matches on bad networks, one per seed, by `gaggle-lab`; with
//! `--replica` groups of machines that share objects, and with `--game drake` or `--game millpond`
//! companies of that game's bots.

use std::process::ExitCode;

use crate::workspace::{self, Workspace};

const LAB: &str = "gaggle-lab";

/// Runs the command line behind `cargo xtask chaos`; what follows goes to the lab.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    let root = workspace::root();
    match Workspace::load(&root) {
        Err(error) => crate::refuse(&error),
        Ok(workspace) if workspace.package(LAB).is_none() => {
            crate::refuse("There are no chaos runs yet: they will live in tools/gaggle-lab.")
        }
        Ok(_) => {
            let replica = arguments.contains(&"--replica");
            let game = arguments.iter().any(|argument| argument.starts_with("--game"));
            let chaos = match (replica, game) {
                (true, _) => "replica-chaos",
                (_, true) => "game-chaos",
                _ => "chaos",
            };
            let mut cargo = workspace::cargo();
            cargo
                .args(["run", "--release", "--package", LAB, "--", chaos])
                .args(arguments.iter().filter(|argument| **argument != "--replica"))
                .current_dir(root);
            crate::hand_over(&mut cargo)
        }
    }
}
