//! A relay in its own process, with its counters and resource usage.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, SystemTime};

use gaggle_kit::PeerId;
use gaggle_lobby::{Claims, TicketSigner};
use gaggle_relay::RelayConfig;
use gaggle_relay::loopback::Loopback;

const SECRET: [u8; 32] = [7; 32];

/// Counters of a relay.
#[derive(Clone, Copy)]
pub(crate) struct Counts {
    /// Datagrams it forwarded.
    pub(crate) forwarded: u64,
    /// Datagrams of members dropped by rate limits.
    pub(crate) dropped: u64,
    /// Unsolicited datagrams and STUN requests.
    pub(crate) strays: u64,
    /// Connections rejected for a forged ticket.
    pub(crate) forged: u64,
    /// Rejected offers of channels.
    pub(crate) offers: u64,
}

/// Runs the relay: prints its address, and its counters for every line of input.
pub(crate) fn run(limits: &str) {
    let signer = TicketSigner::from_secret(&SECRET);
    let mut config = RelayConfig::default();
    if limits == "generous" {
        (config.network_frames_per_second, config.network_frames_burst) = (1_000_000, 1_000_000);
    }
    let relay = Loopback::at(([127, 0, 0, 1], 0).into(), config, signer).unwrap();
    println!("{}", relay.url());
    for _ in std::io::stdin().lines() {
        let totals = relay.server().totals();
        let dropped = totals.dropped_slow + totals.dropped_rate;
        let strays = totals.questions + totals.strays_refused + totals.strays_unknown;
        let (forged, offers) = (totals.refused_ticket, totals.offers_refused);
        println!("{} {dropped} {strays} {forged} {offers}", totals.forwarded);
    }
}

/// A ticket for a room of any of these relays.
pub(crate) fn ticket(room: u64, peer: PeerId) -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap().as_secs();
    TicketSigner::from_secret(&SECRET).sign(&Claims::bare(room, peer, 1, now + 3_600))
}

/// A relay process; dropping it kills it.
pub(crate) struct RelayProcess {
    child: Child,
    said: BufReader<ChildStdout>,
    url: String,
}

impl RelayProcess {
    /// With default limits, or generous ones: all members are on this machine, and one network is
    /// permitted less than many rooms need.
    pub(crate) fn start(is_generous: bool) -> RelayProcess {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args(["relay", if is_generous { "generous" } else { "usual" }])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(child.stdout.take().unwrap());
        let mut url = String::new();
        said.read_line(&mut url).unwrap();
        RelayProcess { child, said, url: url.trim().to_string() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// Counters so far.
    pub(crate) fn counts(&mut self) -> Counts {
        writeln!(self.child.stdin.as_mut().unwrap(), "a number").unwrap();
        let mut line = String::new();
        self.said.read_line(&mut line).unwrap();
        let mut numbers = line.split_whitespace().map(|number| number.parse().unwrap());
        let mut next = || numbers.next().unwrap();
        Counts { forwarded: next(), dropped: next(), strays: next(), forged: next(), offers: next() }
    }

    /// CPU time of all threads so far, in nanosecond resolution.
    pub(crate) fn cpu(&self) -> Duration {
        let threads = std::fs::read_dir(format!("/proc/{}/task", self.child.id())).unwrap();
        let of = |thread: std::fs::DirEntry| {
            let text = std::fs::read_to_string(thread.path().join("schedstat")).unwrap_or_default();
            text.split_whitespace().next().and_then(|nanos| nanos.parse().ok()).unwrap_or(0)
        };
        Duration::from_nanos(threads.flatten().map(of).sum())
    }

    /// Resident memory in kilobytes.
    pub(crate) fn memory_kb(&self) -> f64 {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap_or_default();
        line.split_whitespace().next().and_then(|kilobytes| kilobytes.parse().ok()).unwrap_or(0.0)
    }
}

impl Drop for RelayProcess {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
