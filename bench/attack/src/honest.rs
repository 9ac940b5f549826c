//! Honest clients and the latency of their requests: rooms, signals, relay, pages.
//!
//! They stay far below all limits, each in a network of its own. A request is measured from when it
//! was due, so waiting for an earlier one counts. `endured` runs them. Absent: attacks, targets.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use crate::client::{Guest, PATIENCE, Target, get, honest, text};
use crate::relay_pair::Pair;
use crate::samples::Samples;
use crate::scale::Scale;

const FIND_LANES: usize = 4;
const FINDS_PER_SECOND: u32 = 12;
const HTTP_LANES: usize = 2;
const GETS_PER_SECOND: u32 = 25;
const SIGNAL_LANES: usize = 4;
const SIGNALS_PER_SECOND: u32 = 50;
const RELAY_PAIRS: usize = 3;

/// Latencies by kind of request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noticed {
    /// From the TCP connection to the lobby's welcome.
    pub(crate) connect: Samples,
    /// From `find` to a reservation.
    pub(crate) find: Samples,
    /// From one member of a room to another through the lobby.
    pub(crate) signal: Samples,
    /// From one member of a room to another through the relay.
    pub(crate) relay: Samples,
    /// A small page on a new connection.
    pub(crate) http: Samples,
}

impl Noticed {
    /// Name and latencies of each kind of request.
    pub(crate) fn kinds(&self) -> [(&'static str, &Samples); 5] {
        [
            ("find", &self.find),
            ("signal", &self.signal),
            ("relay", &self.relay),
            ("page", &self.http),
            ("connect", &self.connect),
        ]
    }

    pub(crate) fn lost(&self) -> u64 {
        self.kinds().iter().map(|(_, samples)| samples.lost()).sum()
    }
}

/// Whether requests count now, and when the clients end.
#[derive(Default)]
pub(crate) struct Phase(AtomicU8);

impl Phase {
    pub(crate) fn count(&self) {
        self.0.store(1, Ordering::Relaxed);
    }

    pub(crate) fn end(&self) {
        self.0.store(2, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 1
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.0.load(Ordering::Relaxed) == 2
    }
}

/// Requests that the clients make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    All,
    /// Pages only, for servers that have nothing else.
    Pages,
    /// Signals and nothing else.
    Signals,
}

/// Starts the clients and runs `meanwhile`, which switches the phase. Returns their latencies.
pub(crate) fn run<T>(
    target: &Target,
    wants: Wants,
    scale: Scale,
    meanwhile: impl FnOnce(&Phase) -> Result<T, String>,
) -> Result<(Noticed, T), String> {
    let phase = Phase::default();
    let (all, pages) = (wants == Wants::All, wants != Wants::Signals);
    let lanes = |wanted: bool, lanes: usize| 0..if wanted { lanes.div_ceil(scale.honest_divisor) } else { 0 };
    let talkers = lanes(wants != Wants::Pages, SIGNAL_LANES)
        .map(|lane| Talkers::come(target, lane))
        .collect::<Result<Vec<_>, _>>()?;
    let pairs = lanes(all, RELAY_PAIRS).map(|nth| Pair::come(target, nth)).collect::<Result<Vec<_>, _>>()?;
    std::thread::scope(|scope| {
        let phase = &phase;
        let finding: Vec<_> =
            lanes(all, FIND_LANES).map(|lane| scope.spawn(move || find(target, lane, phase))).collect();
        let loading: Vec<_> =
            lanes(pages, HTTP_LANES).map(|lane| scope.spawn(move || load(target, lane, phase))).collect();
        let talking: Vec<_> =
            talkers.into_iter().map(|talkers| scope.spawn(move || talkers.talk(phase))).collect();
        let relaying: Vec<_> = pairs
            .into_iter()
            .map(|pair| {
                scope.spawn(move || {
                    go_first();
                    pair.talk(phase)
                })
            })
            .collect();
        let done = meanwhile(phase);
        phase.end();
        let mut noticed = Noticed::default();
        for lane in finding {
            let (connect, find) = lane.join().map_err(|_| "a client that finds rooms panicked")?;
            noticed.connect.merge(connect);
            noticed.find.merge(find);
        }
        for (lanes, samples) in
            [(loading, &mut noticed.http), (talking, &mut noticed.signal), (relaying, &mut noticed.relay)]
        {
            for lane in lanes {
                samples.merge(lane.join().map_err(|_| "an honest client panicked")?);
            }
        }
        Ok((noticed, done?))
    })
}

/// Raises this process above server and attack where the system allows it: honest clients compute
/// on other machines.
fn go_first() {
    let _ = rustix::process::setpriority_process(None, -10);
}

/// Repeats an action at a rate until the phase ends, with the time each call was due.
fn paced(per_second: u32, lane: usize, lanes: usize, phase: &Phase, mut act: impl FnMut(Instant, usize)) {
    go_first();
    let every = Duration::from_secs(1) / per_second;
    let mut due = Instant::now() + every * lane as u32 / lanes as u32;
    let mut nth = lane;
    while !phase.has_ended() {
        let late = Instant::now().checked_duration_since(due);
        std::thread::sleep(due.saturating_duration_since(Instant::now()));
        if phase.has_ended() {
            break;
        }
        // A late wake-up is the system's delay, not the server's.
        act(if late.is_some() { due } else { Instant::now() }, nth);
        due += every;
        nth += lanes;
    }
}

fn find(target: &Target, lane: usize, phase: &Phase) -> (Samples, Samples) {
    let (mut connect, mut find) = (Samples::default(), Samples::default());
    paced(FINDS_PER_SECOND, lane, FIND_LANES, phase, |due, nth| {
        let counts = phase.counts();
        let guest = Guest::connect(honest(1_000 + nth), target, &format!("honest-finder-{nth:08}"));
        let mut guest = match guest {
            Ok(guest) => guest,
            Err(why) => {
                if counts {
                    connect.fail(why);
                }
                return;
            }
        };
        let welcomed = Instant::now();
        let joined = guest.ask(r#"{"type":"find","game":"siege","mode":"team"}"#, "joined");
        if counts {
            connect.add(welcomed - due);
            match joined {
                Ok(_) => find.add(welcomed.elapsed()),
                Err(why) => find.fail(why),
            }
        }
        let _ = guest.say(r#"{"type":"leave"}"#);
        let _ = guest.socket.close(None);
    });
    (connect, find)
}

fn load(target: &Target, lane: usize, phase: &Phase) -> Samples {
    let mut samples = Samples::default();
    paced(GETS_PER_SECOND, lane, HTTP_LANES, phase, |due, nth| {
        let counts = phase.counts();
        let status = get(honest(4_000 + nth), target, "/index.html", "");
        match status {
            _ if !counts => {}
            Ok(200) => samples.add(due.elapsed()),
            Ok(status) => samples.fail(format!("status {status}")),
            Err(why) => samples.fail(why),
        }
    });
    samples
}

/// Two members of a private room.
struct Talkers {
    guests: [Guest; 2],
    heard: [u64; 2],
    lane: usize,
}

impl Talkers {
    fn come(target: &Target, lane: usize) -> Result<Talkers, String> {
        let key = |nth: usize| format!("honest-talker-{lane:04}-{nth}");
        let mut host = Guest::connect(honest(500 + lane * 2), target, &key(0))?;
        let create = r#"{"type":"create","game":"siege","mode":"team","private":true}"#;
        let code = text(&host.ask(create, "joined")?["room"]["code"]);
        let mut other = Guest::connect(honest(501 + lane * 2), target, &key(1))?;
        other.ask(&format!(r#"{{"type":"join","code":"{code}"}}"#), "joined")?;
        Ok(Talkers { guests: [host, other], heard: [0; 2], lane })
    }

    fn talk(mut self, phase: &Phase) -> Samples {
        let mut samples = Samples::default();
        let lane = self.lane;
        paced(SIGNALS_PER_SECOND, lane, SIGNAL_LANES, phase, |due, nth| {
            let (counts, from) = (phase.counts(), nth / SIGNAL_LANES % 2);
            match self.pass(from, nth) {
                Ok(at) if counts => samples.add(at.saturating_duration_since(due)),
                Err(why) if counts => samples.fail(why),
                _ => {}
            }
        });
        samples
    }

    /// Sends one signal to the other side. Returns when it arrived.
    fn pass(&mut self, from: usize, nth: usize) -> Result<Instant, String> {
        let to = 1 - from;
        let (peer, seen) = (&self.guests[to].peer, self.heard[from]);
        let said = format!(r#"{{"type":"signal","to":"{peer}","seen":{seen},"data":"{nth}"}}"#);
        self.guests[from].say(&said)?;
        let began = Instant::now();
        while began.elapsed() < PATIENCE {
            let heard = self.guests[to].hear_a("signal")?;
            self.heard[to] += 1;
            if heard["data"].as_str() == Some(&nth.to_string()) {
                return Ok(Instant::now());
            }
        }
        Err("a signal was lost".into())
    }
}
