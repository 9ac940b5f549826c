//! The attack as a process of its own, and the count of its requests that reached the server.
//!
//! It runs in the idle class, because real attackers do not compute on the server's cores.
//! `endured` judges the count by sender: a starved attack shows nothing. Absent: honest clients.

mod files;
mod lobby;
mod relay;
mod stun;
mod tls;

use std::io::{BufRead, BufReader, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Kind of attack.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    /// GET of a small page, as often as possible.
    Gets,
    /// HEAD of a large file, as often as possible.
    Heads,
    /// A large file, read at a few bytes per second.
    SlowReaders,
    /// Guesses of the operator's token.
    Guesses,
    /// TLS handshakes that stop after the server's first flight.
    HalfHandshakes,
    /// Messages of 64 KB to the lobby.
    LargeMessages,
    /// STUN requests and noise at the relay's UDP port.
    Stun,
    /// Tickets with a foreign signature, shown to the relay.
    ForgedTickets,
    /// Channel offers by members of the relay.
    Offers,
    /// Datagrams by members of the relay, as many as possible.
    Datagrams,
    /// Players who search by skill, of whom no two match.
    Searchers,
    /// Idle connections from many addresses of one site.
    Places,
}

impl Kind {
    const ALL: [(Kind, &'static str); 12] = [
        (Kind::Gets, "gets"),
        (Kind::Heads, "heads"),
        (Kind::SlowReaders, "slow-readers"),
        (Kind::Guesses, "guesses"),
        (Kind::HalfHandshakes, "half-handshakes"),
        (Kind::LargeMessages, "large-messages"),
        (Kind::Stun, "stun"),
        (Kind::ForgedTickets, "forged-tickets"),
        (Kind::Offers, "offers"),
        (Kind::Datagrams, "datagrams"),
        (Kind::Searchers, "searchers"),
        (Kind::Places, "places"),
    ];

    /// Name on the command line.
    pub(crate) fn name(self) -> &'static str {
        Kind::ALL.iter().find(|(kind, _)| *kind == self).map_or("", |(_, name)| name)
    }
}

/// Requests per second, or connections at the same time.
pub(crate) type Strength = u64;

/// A running attack; it ends when dropped.
pub(crate) struct Attack {
    child: Child,
    count: Arc<AtomicU64>,
}

impl Attack {
    /// Starts it. Returns once it has begun.
    pub(crate) fn begin(
        kind: Kind,
        at: SocketAddr,
        strength: Strength,
        is_idle: bool,
    ) -> Result<Attack, String> {
        let this = std::env::current_exe().map_err(|error| error.to_string())?;
        let mut command = match is_idle {
            true => Command::new("chrt"),
            false => Command::new(&this),
        };
        if is_idle {
            command.args(["--idle", "0"]).arg(&this);
        }
        command.args(["attacker", kind.name(), &at.to_string(), &strength.to_string()]);
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|error| error.to_string())?;
        let output = child.stdout.take().ok_or("no output")?;
        let mut lines = BufReader::new(output).lines().map_while(Result::ok);
        let first = lines.next();
        let count = Arc::new(AtomicU64::new(0));
        let attack = Attack { child, count: count.clone() };
        if first.as_deref() != Some("ready") {
            return Err(format!("the attack {} did not begin: {}", kind.name(), first.unwrap_or_default()));
        }
        std::thread::spawn(move || {
            lines.filter_map(|line| line.parse().ok()).for_each(|now| count.store(now, Ordering::Relaxed));
        });
        Ok(attack)
    }

    /// Requests that have reached the server so far.
    pub(crate) fn count(&self) -> u64 {
        self.count.load(Ordering::Relaxed)
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Runs the attack the command line names, if any. Ends with the process that started it.
pub(crate) fn run(arguments: &[String]) -> Option<Result<(), String>> {
    let [word, name, address, strength] = arguments else { return None };
    if word != "attacker" {
        return None;
    }
    let kind = Kind::ALL.iter().find(|(_, known)| known == name).map(|(kind, _)| *kind);
    let (Some(kind), Ok(address), Ok(strength)) = (kind, address.parse(), strength.parse()) else {
        return Some(Err(format!("no such attack: {name} {address} {strength}")));
    };
    Some(attack(kind, address, strength))
}

fn attack(kind: Kind, at: SocketAddr, strength: Strength) -> Result<(), String> {
    crate::process::allow_many_sockets();
    let hits = Hits::default();
    let begin: fn(SocketAddr, Strength, &Hits) -> Result<(), String> = match kind {
        Kind::Gets => files::gets,
        Kind::Heads => files::heads,
        Kind::SlowReaders => files::slow_readers,
        Kind::Guesses => files::guesses,
        Kind::HalfHandshakes => tls::half_handshakes,
        Kind::LargeMessages => lobby::large_messages,
        Kind::Stun => stun::flood,
        Kind::ForgedTickets => relay::forged_tickets,
        Kind::Offers => relay::offers,
        Kind::Datagrams => relay::datagrams,
        Kind::Searchers => lobby::searchers,
        Kind::Places => files::places,
    };
    // Each attack starts threads; it returns once it counts as begun.
    begin(at, strength, &hits)?;
    println!("ready");
    std::thread::spawn(|| {
        // The pipe closes when the parent process ends for any reason.
        let _ = std::io::stdin().lines().count();
        std::process::exit(0);
    });
    loop {
        std::thread::sleep(Duration::from_millis(100));
        let mut out = std::io::stdout();
        if writeln!(out, "{}", hits.count()).and_then(|()| out.flush()).is_err() {
            return Ok(());
        }
    }
}

/// Count of requests that reached the server.
#[derive(Clone, Default)]
struct Hits(Arc<AtomicU64>);

impl Hits {
    fn add(&self, count: u64) {
        self.0.fetch_add(count, Ordering::Relaxed);
    }

    fn count(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

/// Starts threads that repeat an action, together at a rate. Each call returns its count of hits.
fn spread(
    threads: usize,
    per_second: Strength,
    at_once: u64,
    hits: &Hits,
    lane: impl Fn(usize) -> Box<dyn FnMut() -> u64 + Send>,
) {
    for nth in 0..threads {
        let (mut act, hits) = (lane(nth), hits.clone());
        let every = Duration::from_secs(1) * (threads as u32) * (at_once as u32) / per_second.max(1) as u32;
        std::thread::spawn(move || {
            let mut due = Instant::now();
            loop {
                hits.add(act());
                due = (due + every).max(Instant::now() - Duration::from_millis(200));
                std::thread::sleep(due.saturating_duration_since(Instant::now()));
            }
        });
    }
}
