//! `cargo xtask chaos …`: whole matches on bad networks, one per seed, by `gaggle-lab`.

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
            let mut cargo = workspace::cargo();
            cargo
                .args(["run", "--release", "--package", LAB, "--", "chaos"])
                .args(arguments)
                .current_dir(root);
            crate::hand_over(&mut cargo)
        }
    }
}
