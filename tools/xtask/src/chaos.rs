//! `cargo xtask chaos …`: random matches on bad networks, one per seed, played by `gaggle-lab`.
//!
//! `--replica` plays replica sessions, `--game drake` and `--game millpond` those games with bots.
//! `main` calls it. Absent: what a match checks.

use std::process::ExitCode;

use crate::workspace::{self, Workspace};

const LAB: &str = "gaggle-lab";

/// Runs `cargo xtask chaos`; arguments go to the lab.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    let root = workspace::root();
    match Workspace::load(&root) {
        Err(error) => crate::refuse(&error),
        Ok(workspace) if workspace.package(LAB).is_none() => {
            crate::refuse("there are no chaos runs; they need tools/gaggle-lab")
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
