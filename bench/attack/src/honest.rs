//! Honest clients: what each of their requests takes while the server is attacked, or not.
//!
//! They find rooms, hand each other signals, talk through the relay and load a page, far below
//! every limit and each from a network of its own. They are measured from when a request was due:
//! one that is held up by the one before it counts as waiting.

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

/// What honest clients noticed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Noticed {
    /// From TCP to the lobby's welcome.
    pub(crate) connect: Samples,
    /// From `find` to a seat.
    pub(crate) find: Samples,
    /// From one member of a room to another through the lobby.
    pub(crate) signal: Samples,
    /// From one member of a room to another through the relay.
    pub(crate) relay: Samples,
    /// A small page, on a connection of its own.
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

/// Whether what is done now counts, and when all is over.
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

/// Which requests honest clients make.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    All,
    /// Only pages: of servers that have nothing else.
    Pages,
    /// Signals, and nothing else.
    Signals,
}

/// Lets honest clients come, then runs `meanwhile`, which says when it counts. Gives back what they
/// noticed.
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

/// Honest clients compute elsewhere: here they go before the server and the attack, where the
/// system lets them.
fn go_first() {
    let _ = rustix::process::setpriority_process(None, -10);
}

/// Does something so many times a second until the phase ends, and tells since when each was due.
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
        // How late a sleeper wakes is the system's affair.
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

    /// One signal to the other side; when it was there.
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
