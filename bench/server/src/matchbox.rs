//! matchbox_server, installed by cargo into `target/`, and a client for it.
//!
//! `signals` calls it. Absent: what is measured.

use std::net::{SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use tungstenite::{Message, WebSocket};

use crate::process::Process;
use crate::signals::Speaker;

/// Installs it. Returns the path of the program.
pub(crate) fn install() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/matchbox");
    let program = folder.join("bin/matchbox_server");
    if !program.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let install = ["install", "--quiet", "--locked", "matchbox_server", "--version", "0.15.0", "--root"];
        let status =
            Command::new(cargo).args(install).arg(&folder).current_dir(std::env::temp_dir()).status();
        if !status.is_ok_and(|status| status.success()) {
            return Err("matchbox_server is missing: cargo cannot install it".into());
        }
    }
    Ok(program)
}

pub(crate) fn start(program: &Path) -> Result<Process, String> {
    let free = std::net::TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address = free.map_err(|error| error.to_string())?;
    let mut command = Command::new(program);
    // Its default writes a log line per request, which the comparison must not count.
    command.arg(address.to_string()).env("RUST_LOG", "matchbox_server=info");
    let server = Process::start(&mut command, |line| line.contains("Signaling Server").then_some(address))?;
    let began = Instant::now();
    while TcpStream::connect(address).is_err() && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(server)
}

/// Two sockets in a room of their own, with what each sends.
pub(crate) fn pair(address: SocketAddr, number: usize) -> Result<[Speaker; 2], String> {
    let [one, other] = [connect(address, number)?, connect(address, number)?];
    let data = "x".repeat(1_024);
    let says = |to: &str| {
        let text = format!(r#"{{"Signal":{{"receiver":"{to}","data":"{data}"}}}}"#);
        Box::new(move |_| text.clone()) as Box<dyn Fn(usize) -> String + Send>
    };
    let (to_other, to_one) = (says(&other.1), says(&one.1));
    Ok([(one.0, to_other), (other.0, to_one)])
}

/// A socket, and the id the server gave it.
fn connect(address: SocketAddr, number: usize) -> Result<(WebSocket<TcpStream>, String), String> {
    let text = |error: &dyn std::fmt::Display| error.to_string();
    let stream = TcpStream::connect(address).map_err(|error| text(&error))?;
    stream.set_nodelay(true).map_err(|error| text(&error))?;
    stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(|error| text(&error))?;
    let (mut socket, _) =
        tungstenite::client(format!("ws://{address}/bench{number}"), stream).map_err(|error| text(&error))?;
    loop {
        let heard: Message = socket.read().map_err(|error| text(&error))?;
        let name = heard
            .to_text()
            .ok()
            .and_then(|heard| heard.strip_prefix(r#"{"IdAssigned":""#)?.split('"').next());
        if let Some(name) = name {
            return Ok((socket, name.to_string()));
        }
    }
}
