//! Servers of other projects, on Node, installed by npm into `target/`.
//!
//! The parts that compare call it. Absent: what the servers are measured for.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::process::Process;

/// Installs the servers. Returns their folder.
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
    if !folder.join("node_modules/peer").exists() || !folder.join("node_modules/@colyseus/core").exists() {
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

/// Starts one of the scripts on a free port.
pub(crate) fn start(folder: &Path, script: &str) -> Result<Process, String> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.map_err(|error| error.to_string())?.port();
    let mut command = Command::new("node");
    command.arg(script).arg(port.to_string()).current_dir(folder).env("NODE_ENV", "production");
    let address = SocketAddr::from(([127, 0, 0, 1], port));
    Process::start(&mut command, move |line| line.starts_with("ready").then_some(address))
}
