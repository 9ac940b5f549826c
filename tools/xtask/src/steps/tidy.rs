//! Step `tidy`: reads the input of the checks in `crate::tidy` and reports their findings. Absent:
//! the checks.

use super::{counted, deterministic, wasm};
use crate::context::{Context, Failure};
use crate::tidy::{self, Tree};

pub(super) fn run(context: &mut Context) -> Result<String, Failure> {
    let tree = Tree::load(&context.root)?;
    let foreign = foreign_crates(context)?;
    let findings = tidy::check(&tree, &context.workspace, &foreign);
    match findings.len() {
        0 => Ok(counted(tree.len(), "file", "files")),
        count => Err(Failure {
            summary: counted(count, "finding", "findings"),
            details: findings.iter().map(ToString::to_string).collect(),
            remedy: "Each line says what to change; the rules are in tools/xtask/src/tidy.".into(),
        }),
    }
}

/// Dependencies of deterministic crates from `cargo tree`, for the target without a clock.
fn foreign_crates(context: &mut Context) -> Result<String, Failure> {
    let mut command = context.cargo(&[
        "tree",
        "--edges",
        "normal,no-proc-macro",
        "--prefix",
        "none",
        "--target",
        wasm::TARGET,
    ]);
    for package in deterministic(&context.workspace) {
        command.args(["--package", &package.name]);
    }
    context.doing("reading the dependency tree");
    let ended = context.check(command, "cargo cannot resolve the dependencies")?;
    Ok(ended.lines.join("\n"))
}
