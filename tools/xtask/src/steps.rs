//! The steps of `cargo xtask test`, cheapest first.
//!
//! `test` runs them. Steps that only call cargo are here; the others have a file each. Absent: how
//! a step is reported.

mod format;
mod packages;
mod protocol;
mod suite;
mod tidy;
mod wasm;

use std::path::Path;

use crate::bench::ANY_RUST;
use crate::context::{Context, Failure};
use crate::needs;
use crate::workspace::{Package, Workspace};

/// How much `cargo xtask test` runs; each depth includes those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Depth {
    /// Steps for every change.
    Usual,
    /// `--full`: also slow tests, such as those beside other libraries; runs before a change lands.
    Full,
    /// `--long`: also all tests again, optimized and with their longest bounds.
    Long,
}

impl Depth {
    /// Command-line flag of this depth.
    pub(crate) const fn flag(self) -> &'static str {
        match self {
            Depth::Usual => "",
            Depth::Full => "--full",
            Depth::Long => "--long",
        }
    }
}

/// One line of the report.
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) about: &'static str,
    /// Least depth at which it runs without being named.
    pub(crate) depth: Depth,
    /// Folder it checks, from the root; without that folder the step does not exist.
    pub(crate) place: &'static str,
    /// Runs the step. Returns a few words for the report.
    pub(crate) run: fn(&mut Context) -> Result<String, Failure>,
}

/// All steps, in order.
const STEPS: [Step; 11] = [
    usual("format", "rustfmt has nothing to change", format::run),
    usual("tidy", "layers, documents, the shape of files", tidy::run),
    usual("protocol", "every vector means what docs/protocol says", protocol::run),
    usual("clippy", "no warnings, in all targets", clippy),
    usual("tests", "all tests, doctests included", suite::run),
    usual("docs", "rustdoc has no warnings", docs),
    usual("wasm", "core/ and games/ build for wasm32 and ask the host for nothing", wasm::run),
    Step {
        place: "bench",
        depth: Depth::Full,
        ..usual("bench", "bench/ has no warnings and its own tests pass", bench)
    },
    Step { place: "fuzz", depth: Depth::Full, ..usual("fuzz", "fuzz/ has no warnings", fuzz) },
    Step {
        depth: Depth::Full,
        ..usual("packages", "crates users depend on build from their packages", packages::run)
    },
    Step {
        depth: Depth::Long,
        ..usual("release", "all tests again, optimized: the same answers", suite::run_optimized)
    },
];

/// Steps whose folder exists.
pub(crate) fn all(root: &Path) -> impl Iterator<Item = Step> {
    STEPS.into_iter().filter(|step| root.join(step.place).join("Cargo.toml").is_file())
}

const fn usual(
    name: &'static str,
    about: &'static str,
    run: fn(&mut Context) -> Result<String, Failure>,
) -> Step {
    Step { name, about, depth: Depth::Usual, place: "", run }
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
    let flags = ["clippy", ANY_RUST, "--all-targets", "--keep-going", "--", "-D", "warnings"];
    let mut command = context.cargo(&flags);
    command.current_dir(context.root.join("bench"));
    command.env("CARGO_TARGET_DIR", &context.workspace.target);
    context.check(command, "there are warnings or errors")?;
    suite::run_in(context, "bench", &[ANY_RUST])
}

fn fuzz(context: &mut Context) -> Result<String, Failure> {
    needs::component(context, "clippy", "clippy")?;
    let mut command = context.cargo(&["clippy", "--all-targets", "--keep-going", "--", "-D", "warnings"]);
    command.current_dir(context.root.join("fuzz"));
    // Most dependencies, C libraries among them, were built by earlier steps.
    command.env("CARGO_TARGET_DIR", &context.workspace.target);
    // Linking a fuzz target needs libFuzzer and a C++ compiler; checking does not.
    command.env("CUSTOM_LIBFUZZER_PATH", "/nonexistent/libfuzzer.a");
    context.check(command, "there are warnings or errors")?;
    Ok(String::new())
}

/// Crates that must compute the same on all machines, without derives, which run in the compiler.
fn deterministic(workspace: &Workspace) -> impl Iterator<Item = &Package> {
    let computes = |package: &&Package| matches!(package.top(), "core" | "games");
    workspace.packages.iter().filter(computes).filter(|package| package.targets("lib").next().is_some())
}

/// Count with a noun: `1 file`, `2 files`.
fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}
