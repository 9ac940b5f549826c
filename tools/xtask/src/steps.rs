//! The steps of `cargo xtask test`, cheapest first: what is wrong at a glance should not wait for a
//! build.
//!
//! Steps that only hand a command to cargo are here; the others have a file each.

mod format;
mod suite;
mod tidy;
mod wasm;

use std::path::Path;

use crate::context::{Context, Failure};
use crate::needs;
use crate::workspace::{Package, Workspace};

/// One line of the report.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Only with `--long`, or by name.
    pub(crate) long: bool,
    /// What it looks at, from the root: without that there is no such step.
    pub(crate) place: &'static str,
    /// Ends with a few words for the report.
    pub(crate) run: fn(&mut Context) -> Result<String, Failure>,
}

/// Every step, in order.
const STEPS: [Step; 9] = [
    always("format", "rustfmt has nothing to change", format::run),
    always("tidy", "layers, documents, the shape of files", tidy::run),
    always("clippy", "no warnings, in all targets", clippy),
    always("tests", "all tests, doctests included", suite::run),
    always("docs", "rustdoc has no warnings", docs),
    always("wasm", "core/ and games/ build for wasm32 and ask the host for nothing", wasm::run),
    Step { place: "bench", ..always("bench", "bench/ has no warnings and its own tests pass", bench) },
    Step { place: "fuzz", ..always("fuzz", "fuzz/ has no warnings", fuzz) },
    Step {
        long: true,
        ..always("release", "all tests again, optimised: the same answers", suite::run_optimised)
    },
];

/// The steps this project has.
pub(crate) fn all(root: &Path) -> impl Iterator<Item = Step> {
    STEPS.into_iter().filter(|step| root.join(step.place).join("Cargo.toml").is_file())
}

const fn always(
    name: &'static str,
    about: &'static str,
    run: fn(&mut Context) -> Result<String, Failure>,
) -> Step {
    Step { name, about, long: false, place: "", run }
}

fn clippy(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "clippy", "clippy")?;
    let command =
        context.cargo(&["clippy", "--workspace", "--all-targets", "--keep-going", "--", "-D", "warnings"]);
    context.check(command, "there are warnings or errors")?;
    Ok(String::new())
}

fn docs(context: &mut Context) -> Result<String, Failure> {
    let mut command = context.cargo(&["doc", "--workspace", "--no-deps", "--keep-going"]);
    command.env("RUSTDOCFLAGS", "-D warnings");
    context.check(command, "rustdoc complains")?;
    Ok(String::new())
}

fn bench(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "clippy", "clippy")?;
    let mut command = context.cargo(&["clippy", "--all-targets", "--keep-going", "--", "-D", "warnings"]);
    command.current_dir(context.root.join("bench"));
    command.env("CARGO_TARGET_DIR", &context.workspace.target);
    context.check(command, "there are warnings or errors")?;
    suite::run_in(context, "bench", &[])
}

fn fuzz(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "clippy", "clippy")?;
    let mut command = context.cargo(&["clippy", "--all-targets", "--keep-going", "--", "-D", "warnings"]);
    command.current_dir(context.root.join("fuzz"));
    // Most of what it depends on, C libraries among them, was built for the steps before.
    command.env("CARGO_TARGET_DIR", &context.workspace.target);
    // Linking a fuzz target needs libFuzzer and a C++ compiler; checking one does not.
    command.env("CUSTOM_LIBFUZZER_PATH", "/nonexistent/libfuzzer.a");
    context.check(command, "there are warnings or errors")?;
    Ok(String::new())
}

/// The crates that must compute the same everywhere; derives run inside the compiler and do not
/// count.
fn deterministic(workspace: &Workspace) -> impl Iterator<Item = &Package> {
    let computes = |package: &&Package| matches!(package.top(), "core" | "games");
    workspace.packages.iter().filter(computes).filter(|package| package.targets("lib").next().is_some())
}

/// `1 file`, `2 files`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
