//! `cargo xtask bench NAME [--json]`: runs one of the programs in `bench/`, a workspace of its own
//! because of the libraries it compares with.
//!
//! `main` calls it. Adds nothing to a bench's standard output. Absent: what a bench measures.

use std::process::ExitCode;

use crate::needs::{self, ThisMachine};
use crate::workspace::{self, Package, Workspace};

/// Bench in a browser, made of the project's own tests: no other library measures the same.
pub(crate) const IN_A_BROWSER: (&str, &str) =
    ("arcade", "What a page costs: first load, a frame of every game, joining, four pages on a bad network");

/// Libraries compared with may declare a newer Rust than they need with the features used here.
pub(crate) const ANY_RUST: &str = "--ignore-rust-version";

/// Runs the command line behind `cargo xtask bench`; what follows the name goes to the bench.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    let folder = workspace::root().join("bench");
    if !folder.join("Cargo.toml").is_file() {
        return crate::refuse("there are no benches; they need bench/");
    }
    let workspace = match Workspace::load(&folder) {
        Ok(workspace) => workspace,
        Err(error) => return crate::refuse(&error),
    };
    let name = arguments.first().copied().filter(|argument| !argument.starts_with('-'));
    if name == Some(IN_A_BROWSER.0) {
        return measure_in_a_browser();
    }
    let Some((bench, package)) = benches(&workspace).find(|(bench, _)| Some(*bench) == name) else {
        return crate::refuse(&menu(name, &workspace));
    };
    for (program, debian) in &package.programs {
        if let Err(missing) = needs::program(&mut ThisMachine, program, debian) {
            return crate::refuse(&format!("{}. {}", missing.what, missing.remedy));
        }
    }
    let mut cargo = workspace::cargo();
    cargo.args(["run", ANY_RUST, "--release", "--package", &package.name, "--bin", bench, "--"]);
    crate::hand_over(cargo.args(&arguments[1..]).current_dir(folder))
}

fn measure_in_a_browser() -> ExitCode {
    let mut cargo = workspace::cargo();
    cargo.args(["test", "--package", "arcade", "--test", "in_chromium", "numbers::", "--"]);
    cargo.args(["three_native_machines", "--nocapture", "--include-ignored", "--test-threads", "1"]);
    cargo.env("GAGGLE_LONG", "1").env("GAGGLE_BENCH", "1");
    crate::hand_over(cargo.current_dir(workspace::root()))
}

/// Benches by name, each with its package.
fn benches(workspace: &Workspace) -> impl Iterator<Item = (&str, &Package)> {
    let of = |package| Package::targets(package, "bin").map(move |bin| (bin.name.as_str(), package));
    // This program is a member of that workspace too, for runs from its folder.
    workspace.packages.iter().filter(|package| package.name != env!("CARGO_PKG_NAME")).flat_map(of)
}

/// The benches to choose from, as text.
fn menu(wanted: Option<&str>, workspace: &Workspace) -> String {
    let mut menu = match wanted {
        Some(name) => format!("there is no bench `{name}`; choose one:"),
        None => "no bench is named; cargo xtask bench NAME [--json]".to_string(),
    };
    let programs = benches(workspace).map(|(name, package)| (name, package.description.as_str()));
    let all: Vec<(&str, &str)> = programs.chain([IN_A_BROWSER]).collect();
    let width = all.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    for (name, description) in all {
        menu += format!("\n  {name:<width$}  {description}").trim_end();
    }
    menu
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Target;

    #[test]
    fn menu_lists_each_bench_with_its_description() {
        let targets = vec![Target { name: "link".into(), kind: "bin".into() }];
        let description = "Packets per second".to_string();
        let bench = Package { name: "bench-link".into(), description, targets, ..Package::default() };
        let library = Package { name: "bench-report".into(), ..Package::default() };
        let targets = vec![Target { name: "xtask".into(), kind: "bin".into() }];
        let commands = Package { name: "xtask".into(), targets, ..Package::default() };
        let workspace = Workspace { packages: vec![bench, library, commands], ..Workspace::default() };
        let expected = "there is no bench `lnik`; choose one:\n  link    Packets per second\n  arcade  What a page costs";
        let menu = menu(Some("lnik"), &workspace);
        assert!(menu.starts_with(expected) && !menu.contains("xtask"), "{menu}");
    }
}
