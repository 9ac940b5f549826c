//! Servers of other projects, on Node, installed by npm into `target/`.
//!
//! The parts that compare call it. Absent: what the servers are measured for.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Process;

/// Node's binary in the folder of packages.
const NODE: &str = "node_modules/node/bin/node";

/// Installs what is needed; gives back the folder it is in.
pub(crate) fn install() -> Result<PathBuf, String> {
    install_into_target().map_err(|why| format!("Colyseus and PeerJS are missing: {why}"))
}

fn install_into_target() -> Result<PathBuf, String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../server/node");
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/server-node");
    let failed = |error: std::io::Error| error.to_string();
    std::fs::create_dir_all(&folder).map_err(failed)?;
    for entry in std::fs::read_dir(&source).map_err(failed)?.flatten() {
        std::fs::copy(entry.path(), folder.join(entry.file_name())).map_err(failed)?;
    }
    let wanted = [NODE, "node_modules/peer", "node_modules/@colyseus/core"];
    let is_installed = wanted.iter().all(|path| folder.join(path).exists());
    if !is_installed {
        let install = ["install", "--no-audit", "--no-fund", "--silent"];
        let status = Command::new("npm")
            .args(install)
            .current_dir(&folder)
            .status()
            .map_err(|error| format!("npm: {error}"))?;
        if !status.success() {
            return Err("npm cannot install them".into());
        }
    }
    Ok(folder)
}

/// Runs a script with the Node that npm installed: Colyseus 0.18 needs version 22, which a machine
/// may lack.
pub(crate) fn node(folder: &Path, script: &str) -> Command {
    let mut command = Command::new(folder.join(NODE));
    command.arg(script).current_dir(folder);
    command
}

/// Starts one of the scripts on a free port.
pub(crate) fn start(folder: &Path, script: &str) -> Result<Process, String> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.map_err(|error| error.to_string())?.port();
    let mut command = node(folder, script);
    command.arg(port.to_string()).env("NODE_ENV", "production");
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    Process::start(&mut command, move |line| line.starts_with("ready").then_some(address))
}
