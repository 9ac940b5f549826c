//! From a crate to what a browser loads: the module and the glue around it.

use std::path::{Path, PathBuf};
use std::process::Command;

const TARGET: &str = "wasm32-unknown-unknown";

/// Builds `package` (or its `example`) for the browser and puts `NAME.js` and `NAME_bg.wasm` into `out`.
///
/// # Errors
/// Says which step failed; cargo's own words went to the terminal.
pub fn bundle(workspace: &Path, package: &str, example: Option<&str>, out: &Path) -> Result<(), String> {
    ensure_target()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace).args(["build", "--profile", "page", "--target", TARGET]);
    cargo.args(["--package", package]);
    // Flags meant for the host (coverage, a linker) break this target.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    if let Some(example) = example {
        cargo.args(["--example", example]);
    }
    let status = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !status.success() {
        return Err(format!("{package} does not build for the browser"));
    }
    let name = example.unwrap_or(package).replace('-', "_");
    let built = target.join(TARGET).join("page");
    let module = match example {
        Some(example) => built.join("examples").join(format!("{example}.wasm")),
        None => built.join(format!("{name}.wasm")),
    };
    let mut bindgen = wasm_bindgen_cli_support::Bindgen::new();
    let made = bindgen.input_path(&module).web(true).and_then(|bindgen| {
        bindgen.typescript(false).out_name(&name).remove_name_section(true).generate(out)
    });
    made.map_err(|error| format!("the glue for {} cannot be made: {error:#}", module.display()))
}

/// The standard library for the browser's target, installed if it is missing.
fn ensure_target() -> Result<(), String> {
    let folder = Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = folder.map_err(|error| format!("rustc cannot be started: {error}"))?.stdout;
    let folder = String::from_utf8_lossy(&folder).trim().to_string();
    // The folder alone proves nothing: removing a target leaves it behind empty.
    if std::fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    let added = Command::new("rustup").args(["target", "add", TARGET]).status();
    match added {
        Ok(status) if status.success() => Ok(()),
        _ => Err(format!("the target {TARGET} is missing: run `rustup target add {TARGET}`")),
    }
}
