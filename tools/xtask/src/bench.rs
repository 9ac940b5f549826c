//! `cargo xtask bench NAME [--json]`: runs one of the programs in `bench/`.
//!
//! That crate is a workspace of its own, because it pulls in the libraries it compares with. What a
//! program prints and how it ends is its own affair: nothing is added to its standard output.

use std::fs;
use std::path::Path;
use std::process::ExitCode;

use crate::workspace::{self, Target, Workspace};

/// Runs the command line behind `cargo xtask bench`.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    let folder = workspace::root().join("bench");
    if !folder.join("Cargo.toml").is_file() {
        return crate::refuse("There are no benches yet: they will live in bench/.");
    }
    let workspace = match Workspace::load(&folder) {
        Ok(workspace) => workspace,
        Err(error) => return crate::refuse(&error),
    };
    let benches: Vec<&Target> =
        workspace.packages.iter().flat_map(|package| package.targets("bin")).collect();
    let name = arguments.first().copied().filter(|argument| !argument.starts_with('-'));
    let Some(bench) = benches.iter().find(|bench| Some(bench.name.as_str()) == name) else {
        eprintln!("{}", menu(name, &benches));
        return ExitCode::from(2);
    };
    let mut cargo = workspace::cargo();
    cargo.args(["run", "--release", "--bin", &bench.name, "--"]).args(&arguments[1..]).current_dir(folder);
    crate::hand_over(&mut cargo)
}

/// What there is to choose from.
fn menu(wanted: Option<&str>, benches: &[&Target]) -> String {
    let mut menu = match wanted {
        Some(name) => format!("There is no bench `{name}`. Choose one:"),
        None => "Which bench? cargo xtask bench NAME [--json]".to_string(),
    };
    let width = benches.iter().map(|bench| bench.name.len()).max().unwrap_or(0);
    for bench in benches {
        menu += format!("\n  {:<width$}  {}", bench.name, about(&bench.source)).trim_end();
    }
    menu
}

/// The first line of a program's documentation.
fn about(source: &Path) -> String {
    let text = fs::read_to_string(source).unwrap_or_default();
    let first = text.lines().next().and_then(|line| line.strip_prefix("//!"));
    first.unwrap_or_default().trim().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_menu_names_every_bench_and_what_it_measures() {
        let source = std::env::temp_dir().join(format!("xtask-bench-{}.rs", std::process::id()));
        fs::write(&source, "//! Packets per second.\nfn main() {}\n").unwrap();
        let bench = Target { name: "link".into(), kind: "bin".into(), source: source.clone() };
        let menu = menu(Some("lnik"), &[&bench]);
        fs::remove_file(source).unwrap();
        assert_eq!(menu, "There is no bench `lnik`. Choose one:\n  link  Packets per second.");
    }
}
