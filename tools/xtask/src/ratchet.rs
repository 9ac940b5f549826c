//! `cargo xtask ratchet`: writes the counts of findings that may only fall. `main` calls it.
//! Absent: the checks.

use std::fs;
use std::process::ExitCode;

use crate::tidy::{self, RATCHET_PATH, Ratchet, Tree};
use crate::workspace;

/// Writes the table, unless a count rose.
pub(crate) fn command() -> ExitCode {
    match lower() {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(why) => crate::refuse(&why),
    }
}

fn lower() -> Result<String, String> {
    let root = workspace::root();
    let tree = Tree::load(&root).map_err(|error| format!("the tree cannot be read: {error}"))?;
    let counts = Ratchet::of(&tidy::counted(&tree));
    if let Some(recorded) = tree.text(RATCHET_PATH) {
        let risen = counts.risen_from(&Ratchet::parse(recorded)?);
        if !risen.is_empty() {
            return Err(format!("these rose and may only fall:\n{}", risen.join("\n")));
        }
    }
    fs::write(root.join(RATCHET_PATH), counts.text())
        .map_err(|error| format!("{RATCHET_PATH} cannot be written: {error}"))?;
    Ok(format!("{RATCHET_PATH} is up to date"))
}
