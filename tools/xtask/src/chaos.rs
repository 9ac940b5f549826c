//! `cargo xtask chaos …`: whole matches on bad networks, one per seed, by `gaggle-lab`; with `--replica` groups of machines that
//! share objects.

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
            let chaos = if replica { "replica-chaos" } else { "chaos" };
            let mut cargo = workspace::cargo();
            cargo
                .args(["run", "--release", "--package", LAB, "--", chaos])
                .args(arguments.iter().filter(|argument| **argument != "--replica"))
                .current_dir(root);
            crate::hand_over(&mut cargo)
        }
    }
}
