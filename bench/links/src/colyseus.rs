//! Colyseus as a relay: a room that forwards each message to the other members.
//!
//! `main` compares with it. Absent: encryption.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;

use crate::foreign;

const ROOMS: usize = 3;
const SECONDS: u32 = 8;

/// Deliveries per CPU second of the server, in rooms of eight at 60 Hz.
pub(crate) fn deliveries_per_cpu_second(folder: &Path, in_phase: bool) -> Result<f64, String> {
    let failed = |error: std::io::Error| error.to_string();
    let server = foreign::start(folder, "colyseus_relay.js")?;
    let phase = if in_phase { "in" } else { "random" };
    let arguments =
        [server.address.port().to_string(), ROOMS.to_string(), SECONDS.to_string(), phase.to_string()];
    let mut child = foreign::node(folder, "colyseus_talk.js")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut lines = BufReader::new(child.stdout.take().ok_or("no output")?).lines().map_while(Result::ok);
    // The client prints "warm" when all clients send, waits for a line, and prints the deliveries
    // since.
    if lines.next().as_deref() != Some("warm") {
        return Err("the Colyseus clients did not join; see its output above".into());
    }
    let before = server.cpu();
    writeln!(child.stdin.as_mut().ok_or("no input")?, "go").map_err(failed)?;
    let deliveries: f64 = lines.next().and_then(|line| line.parse().ok()).ok_or("Colyseus' clients ended")?;
    let cpu = server.cpu() - before;
    let _ = child.kill();
    let _ = child.wait();
    Ok(deliveries / cpu.as_secs_f64())
}
