//! Exactness of rooms over two nodes on one Redis: no more rooms than one node would make.
//!
//! `main` calls it. Absent: CPU and memory.

use std::collections::BTreeSet;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::process::Command;
use std::time::{Duration, Instant};

use bench_report::{Report, Row};

use crate::gaggle;
use crate::joins::join_at;
use crate::process::Process;

const JOINS: usize = 15_000;
const LANES: usize = 32;
/// Secret that both nodes sign tickets with: 32 bytes in base64.
const SECRET: &str = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8";

pub(crate) fn rows(report: &mut Report) -> Result<(), String> {
    let redis = start_redis()?;
    let address = format!("redis://{}", redis.address);
    let settings = ["--redis", &address, "--ticket-secret", SECRET];
    let nodes = [gaggle::start_with(&settings)?, gaggle::start_with(&settings)?];
    let members = join_at(&nodes.each_ref().map(|node| node.address), JOINS, LANES)?;
    let rooms: BTreeSet<&str> = members.iter().map(|member| member.room.as_str()).collect();
    let spare = rooms.len() as f64 - (JOINS / 4) as f64;
    let name = format!("rooms of 4 too many after {JOINS} joins at two nodes on Redis");
    report.row(Row::new(name, "rooms").gaggle(spare).at_most(0.0));
    Ok(())
}

fn start_redis() -> Result<Process, String> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let address: SocketAddr = free.map_err(|error| error.to_string())?;
    let mut command = Command::new("redis-server");
    command.args(["--save", "", "--appendonly", "no", "--port", &address.port().to_string()]);
    let redis = Process::start(&mut command, |line| line.contains("Ready to accept").then_some(address))?;
    let began = Instant::now();
    while TcpStream::connect(address).is_err() && began.elapsed() < Duration::from_secs(5) {
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(redis)
}
