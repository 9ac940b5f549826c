//! Gaggle's server as a process, and a lobby client for it.
//!
//! All parts of the bench call it. Absent: what is measured.

use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use tungstenite::{Message, WebSocket};

use crate::process::Process;

/// Starts the server as shipped, without rate limits.
pub(crate) fn start() -> Result<Process, String> {
    start_with(&[])
}

/// Starts it with additional settings.
pub(crate) fn start_with(settings: &[&str]) -> Result<Process, String> {
    start_on("127.0.0.1:0", settings)
}

/// Starts it listening at all loopback addresses.
pub(crate) fn start_everywhere() -> Result<Process, String> {
    start_on("0.0.0.0:0", &[])
}

fn start_on(listen: &str, settings: &[&str]) -> Result<Process, String> {
    static STARTED: AtomicU32 = AtomicU32::new(0);
    static BUILT: OnceLock<Result<(), String>> = OnceLock::new();
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    BUILT
        .get_or_init(|| {
            let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            let build = ["build", "--quiet", "--release", "--package", "gaggle-server"];
            let status = Command::new(cargo).args(build).current_dir(&root).status();
            match status {
                Ok(status) if status.success() => Ok(()),
                _ => Err("gaggle-server does not build".into()),
            }
        })
        .clone()?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or(root.join("target"), Into::into);
    let nth = STARTED.fetch_add(1, Ordering::Relaxed);
    let data = std::env::temp_dir().join(format!("gaggle-bench-server-{}-{nth}", std::process::id()));
    let mut command = Command::new(target.join("release/gaggle-server"));
    command.args(["--listen", listen, "--log", "error", "--rate-limits", "false"]);
    command.args(["--connections-per-address", "100000"]).arg("--data").arg(data).args(settings);
    Process::start(&mut command, |line| line.strip_prefix("http://")?.parse().ok())
}

/// A client that is a member of a room.
pub(crate) struct Member {
    pub(crate) socket: WebSocket<TcpStream>,
    pub(crate) peer: String,
    pub(crate) room: String,
}

impl Member {
    /// Joins a room: from the TCP connection to the ticket.
    pub(crate) fn join(address: SocketAddr, number: usize) -> Result<Member, String> {
        let text = |error: &dyn std::fmt::Display| error.to_string();
        let stream = TcpStream::connect(address).map_err(|error| text(&error))?;
        stream.set_nodelay(true).map_err(|error| text(&error))?;
        stream.set_read_timeout(Some(Duration::from_secs(30))).map_err(|error| text(&error))?;
        let opened = tungstenite::client(format!("ws://{address}/lobby"), stream);
        let (mut socket, _) = opened.map_err(|error| text(&error))?;
        for said in [
            format!(r#"{{"type":"hello","key":"key-of-bench-guest-{number:08}"}}"#),
            r#"{"type":"find","game":"bench","mode":"four","seats":4}"#.to_string(),
        ] {
            socket.send(Message::text(said)).map_err(|error| text(&error))?;
        }
        loop {
            let heard = socket.read().map_err(|error| text(&error))?;
            let Ok(heard) = heard.to_text() else { continue };
            if heard.starts_with(r#"{"type":"joined""#) {
                let (peer, room) = (after(heard, r#""peer":""#), after(heard, r#""room":{"id":""#));
                return Ok(Member { peer, room, socket });
            }
        }
    }
}

/// The text between a mark and the next quote.
fn after(text: &str, mark: &str) -> String {
    text.split_once(mark).and_then(|(_, rest)| rest.split('"').next()).unwrap_or_default().to_string()
}
