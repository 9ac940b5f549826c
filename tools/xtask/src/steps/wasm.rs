//! Step `wasm`: crates that compute build for wasm32 and import nothing from their host. Absent:
//! browsers.

use std::io;
use std::process::Command;

use super::{counted, deterministic};
use crate::context::{Context, Failure};
use crate::imports::imports;
use crate::needs;
use crate::process::without_color;

pub(super) const TARGET: &str = "wasm32-unknown-unknown";

/// Links a library whole into a module, because a wasm32 library is only an archive: nothing is
/// optimized away or left out, so all its imports are visible.
const LINK_EVERYTHING: [&str; 6] =
    ["-C", "opt-level=0", "-C", "link-dead-code", "-C", "link-arg=--no-gc-sections"];

pub(super) fn run(context: &mut Context) -> Result<String, Failure> {
    let installed = is_installed(context);
    needs::target(context, TARGET, || installed)?;
    let libraries: Vec<(String, String)> = deterministic(&context.workspace)
        .filter_map(|package| Some((package.name.clone(), package.targets("lib").next()?.name.clone())))
        .collect();
    let mut wanted = Vec::new();
    for (package, library) in &libraries {
        let build =
            ["rustc", "--package", package, "--lib", "--target", TARGET, "--crate-type", "cdylib", "--"];
        let command = context.cargo(&[&build[..], &LINK_EVERYTHING].concat());
        context.check(command, &format!("{package} does not build"))?;
        let module =
            context.workspace.target.join(TARGET).join("debug").join(format!("{}.wasm", file_name(library)));
        let imports = imports(&std::fs::read(&module)?).map_err(io::Error::other)?;
        wanted.extend(
            imports.iter().map(|import| format!("{package} wants {} from {}", import.name, import.module)),
        );
    }
    match wanted.len() {
        0 => Ok(counted(libraries.len(), "crate", "crates")),
        count => Err(Failure {
            summary: counted(count, "import from the host", "imports from the host"),
            details: wanted,
            remedy: "Take out the dependency that asks the host for something: what computes gets it as an argument."
                .into(),
        }),
    }
}

/// File name that rustc gives a library.
fn file_name(library: &str) -> String {
    library.replace('-', "_")
}

fn is_installed(context: &mut Context) -> bool {
    let mut command = Command::new("rustc");
    command.args(["--print", "target-libdir", "--target", TARGET]);
    context.run(command).is_ok_and(|ended| {
        let folder = ended.lines.first().map(|line| without_color(line)).unwrap_or_default();
        // An empty folder remains after a target is removed, so the folder alone proves nothing.
        ended.success && std::fs::read_dir(folder.trim()).is_ok_and(|mut files| files.next().is_some())
    })
}
