//! Chaos of drake and millpond: groups of bots on bad networks, with crashes, returns and
//! partitions.
//!
//! In the end all faults heal, and all sessions must agree. Called by `main.rs`. Absent: chaos of
//! the timeline (`chaos.rs`).

use clap::{Args, ValueEnum, value_parser};
use drake::{Bout, Craft, Egg, Hornet, Lantern, Puffball, Rock, SEATS, Shot, Standing};
use gaggle_kit::{Micros, Prng, Slot};
use gaggle_link::sim::{Chance, Conditions, NetChange};
use gaggle_replica::{Kind, MemberId, Session};
use millpond::{Boat, Ledger, Thing};

use crate::digest::{DigestOptions, Digests, digest_of};
use crate::drake_error::DrakePart;
use crate::millpond_load::MillpondPart;
use crate::runs::{SEEDS, parse_seeds, survive};
use crate::shared::{Cluster, Part};

/// Options of these runs.
#[derive(Args)]
pub(crate) struct Options {
    /// Game to play
    #[arg(long, value_enum, default_value_t = Game::Drake)]
    game: Game,
    /// Range of seeds; the second number is excluded
    #[arg(long, default_value = "0..10", value_name = SEEDS, value_parser = parse_seeds)]
    seeds: (u64, u64),
    /// Seconds of faults in every run, in virtual time, 1 to 86400
    #[arg(long, default_value_t = 60, value_parser = value_parser!(u32).range(1..=86_400))]
    seconds: u32,
    #[command(flatten)]
    digest: DigestOptions,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Game {
    Drake,
    Millpond,
}

/// Peers of a group: one per boat or slot, none of them a bot of the leader.
const PEERS: usize = 4;
/// Frames after healing within which all must agree.
const PATIENCE: u32 = 60 * 60;

/// Events and figures of a run.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    deaths: u32,
    host_deaths: u32,
    returns: u32,
    splits: u32,
    /// Changes of the leader, counted by the peer that saw most.
    lead_changes: u32,
    /// Objects that were equal on all peers in the end.
    compared: u64,
    updates: u64,
    slowest: u32,
    /// Hash over packets sent and objects counted in the end; of one run alone.
    digest: u64,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.deaths += other.deaths;
        self.host_deaths += other.host_deaths;
        self.returns += other.returns;
        self.splits += other.splits;
        self.lead_changes += other.lead_changes;
        self.compared += other.compared;
        self.updates += other.updates;
        self.slowest = self.slowest.max(other.slowest);
    }

    /// Required events that did not happen, without which the runs prove nothing.
    fn too_little(&self) -> Option<String> {
        let wanted = [
            ("deaths", self.deaths),
            ("deaths of hosts", self.host_deaths),
            ("returns", self.returns),
            ("splits", self.splits),
            ("changes of the host", self.lead_changes),
        ];
        let missing: Vec<&str> =
            wanted.into_iter().filter(|(_, count)| *count == 0).map(|(what, _)| what).collect();
        (!missing.is_empty()).then(|| format!("too little happened: no {}", missing.join(", no ")))
    }
}

/// State that all peers must share, as texts, so that a difference can be read.
trait Agreed: Part {
    /// All objects and values of a session.
    fn known(session: &Session) -> Vec<String>;
    /// Number of objects of each kind in the game of the leader, exactly.
    fn played(&self) -> Vec<(&'static str, usize)>;
    /// The same numbers in a session.
    fn counted(session: &Session) -> Vec<(&'static str, usize)>;
}

/// All objects of a kind: id, authority, and the part that does not change in every frame.
fn list<K: Kind>(session: &Session, all: &mut Vec<String>, lasting: impl Fn(&K) -> String) {
    for (id, thing) in session.iter::<K>() {
        all.push(format!("{} {id:?} {:?} {}", K::NAME, session.authority(id), lasting(&thing)));
    }
}

fn count<T>(pool: &[Option<T>]) -> usize {
    pool.iter().flatten().count()
}

impl Agreed for DrakePart {
    fn known(session: &Session) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        // Leaves out what only the leader counts and what changes in every frame.
        list(session, &mut all, |it: &Standing| {
            format!("{:?}", Standing { growing: 0, gap: 0, safe: 0, peas: 0, ..*it })
        });
        list(session, &mut all, |it: &Craft| format!("seat {} life {}", it.seat, it.life));
        list(session, &mut all, |it: &Rock| format!("{:?} {}", it.size, it.look));
        list(session, &mut all, |it: &Shot| format!("of seat {}", it.seat));
        list(session, &mut all, |it: &Puffball| format!("of seat {} at {:?}", it.seat, it.place));
        list(session, &mut all, |it: &Hornet| format!("of seat {}", it.seat));
        list(session, &mut all, |it: &Lantern| format!("of seat {}", it.seat));
        list(session, &mut all, |it: &Egg| format!("{:?} at {:?}", it.load, it.place));
        all.push(format!("{:?}", session.value::<Bout>(Slot::at(0)).map(|bout| Bout { since: 0, ..bout })));
        all.sort();
        all
    }

    fn played(&self) -> Vec<(&'static str, usize)> {
        let game = self.coop.game();
        vec![
            ("standings", SEATS),
            ("rocks", count(&game.rocks)),
            ("shots", count(&game.shots)),
            ("puffballs", count(&game.puffballs)),
            ("hornets", count(&game.hornets)),
            ("lanterns", count(&game.lanterns)),
            ("eggs", count(&game.eggs)),
        ]
    }

    fn counted(session: &Session) -> Vec<(&'static str, usize)> {
        vec![
            ("standings", session.iter::<Standing>().count()),
            ("rocks", session.iter::<Rock>().count()),
            ("shots", session.iter::<Shot>().count()),
            ("puffballs", session.iter::<Puffball>().count()),
            ("hornets", session.iter::<Hornet>().count()),
            ("lanterns", session.iter::<Lantern>().count()),
            ("eggs", session.iter::<Egg>().count()),
        ]
    }
}

impl Agreed for MillpondPart {
    fn known(session: &Session) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        list(session, &mut all, |it: &Thing| {
            format!("{:?} {} {:?}", it.sort, it.count, it.rests().then_some(it.place))
        });
        list(session, &mut all, |it: &Boat| format!("of seat {}", it.seat));
        all.push(format!("{:?}", session.value::<Ledger>(Slot::at(0))));
        all.sort();
        all
    }

    fn played(&self) -> Vec<(&'static str, usize)> {
        let pond = self.mill.pond();
        vec![("things", pond.floating.len()), ("boats", count(&pond.boats))]
    }

    fn counted(session: &Session) -> Vec<(&'static str, usize)> {
        vec![("things", session.iter::<Thing>().count()), ("boats", session.iter::<Boat>().count())]
    }
}

fn conditions(random: &mut Prng) -> Conditions {
    Conditions {
        jitter: Micros::from_millis(random.below(30).into()),
        loss: Chance::percent(random.below(8)),
        ..Conditions::latency_ms(10 + u64::from(random.below(90)))
    }
}

fn befall<P: Part>(
    company: &mut Cluster<P>,
    random: &mut Prng,
    tally: &mut Tally,
    split: &mut bool,
) -> Result<(), String> {
    let alive = company.machines.iter().flatten().count();
    let me = random.below(PEERS as u32) as usize;
    let host = company
        .machines
        .iter()
        .position(|machine| machine.as_ref().is_some_and(|machine| machine.session.is_leader()));
    let dies = match random.below(10) {
        0 => Some(me),
        1 => host,
        _ => None,
    };
    if let Some(dead) = dies.filter(|dead| alive > 2 && company.machines[*dead].is_some()) {
        tally.deaths += 1;
        tally.host_deaths += u32::from(Some(dead) == host);
        company.machines[dead] = None;
    } else if company.machines[me].is_none() {
        company.start(me)?;
        tally.returns += 1;
    } else if *split {
        company.world.apply(&NetChange::Heal);
        *split = false;
    } else if random.chance(1, 6) {
        let half = 1 + random.below(PEERS as u32 - 1) as usize;
        company.world.apply(&NetChange::Partition(vec![(0..half).collect(), (half..PEERS).collect()]));
        *split = true;
        tally.splits += 1;
    }
    Ok(())
}

fn run_one<P: Agreed>(seed: u64, seconds: u32) -> Result<Tally, String> {
    let mut random = Prng::new(seed);
    let mut company: Cluster<P> = Cluster::of(PEERS, seed, conditions(&mut random))?;
    let (mut tally, mut split) = (Tally::default(), false);
    let mut led: Option<MemberId> = None;
    for frame in 0..seconds * 60 {
        company.frame();
        // Leader in the view of the last running peer.
        let seen = company.machines.iter().flatten().rev().find(|machine| machine.session.is_member());
        if let Some(lead) = seen.and_then(|machine| machine.session.roster().leader())
            && led.replace(lead.id).is_some_and(|before| before != lead.id)
        {
            tally.lead_changes += 1;
        }
        if frame > 300 && frame % 90 == 0 {
            befall(&mut company, &mut random, &mut tally, &mut split)?;
        }
    }
    company.world.apply(&NetChange::Heal);
    company.world.set_all(Conditions::latency_ms(30));
    for me in 0..PEERS {
        if company.machines[me].is_none() {
            company.start(me)?;
        }
    }
    company.still = true;
    let mut difference = String::new();
    for frame in 0..PATIENCE {
        company.frame();
        // Checked often, because shots come and go.
        if frame % 5 != 0 {
            continue;
        }
        let sessions: Vec<&Session> =
            company.machines.iter().flatten().map(|machine| &machine.session).collect();
        if sessions.iter().any(|session| session.roster().len() != PEERS) {
            difference = "a peer does not see all others".into();
            continue;
        }
        let known: Vec<Vec<String>> = sessions.iter().map(|session| P::known(session)).collect();
        let lead = company.machines.iter().flatten().find(|machine| machine.session.is_leader());
        let Some(lead) = lead else { continue };
        let (played, counted) = (lead.part.played(), P::counted(&lead.session));
        if played != counted {
            difference = format!("the leader plays with {played:?} and has objects {counted:?}");
            continue;
        }
        match known.iter().find(|other| **other != known[0]) {
            None => {
                let counts = counted.iter().map(|(_, count)| *count as u64);
                tally.digest =
                    digest_of(&[company.world.log_hash()].into_iter().chain(counts).collect::<Vec<_>>());
                tally.slowest = frame;
                tally.compared = known[0].len() as u64;
                tally.updates = sessions.iter().map(|session| session.stats().updates_sent).sum();
                return Ok(tally);
            }
            Some(other) => {
                let only = known[0].iter().find(|line| !other.contains(line));
                let theirs = other.iter().find(|line| !known[0].contains(line));
                difference = format!("{only:?} against {theirs:?}");
            }
        }
    }
    Err(format!("peers disagree {} s after healing: {difference}", PATIENCE / 60))
}

pub(crate) fn run(options: &Options) -> Result<String, String> {
    let mut sum = Tally::default();
    let mut failures = Vec::new();
    let mut digests = Digests::default();
    for seed in options.seeds.0..options.seeds.1 {
        let ran = survive(|| match options.game {
            Game::Drake => run_one::<DrakePart>(seed, options.seconds),
            Game::Millpond => run_one::<MillpondPart>(seed, options.seconds),
        });
        match ran {
            Ok(tally) => {
                sum.add(&tally);
                digests.insert(seed, tally.digest);
            }
            Err(why) => failures.push(format!("seed {seed}: {why}")),
        }
    }
    let runs = options.seeds.1 - options.seeds.0;
    let said = format!(
        "{runs} runs of {:?}: {} deaths, {} of hosts, {} returns, {} splits, {} changes of the host, {} updates; of one mind about {} objects within {} ms of healing",
        options.game,
        sum.deaths,
        sum.host_deaths,
        sum.returns,
        sum.splits,
        sum.lead_changes,
        sum.updates,
        sum.compared,
        sum.slowest * 1_000 / 60
    );
    if !failures.is_empty() {
        return Err(format!("{said}\n{}", failures.join("\n")));
    }
    let kind = match options.game {
        Game::Drake => "drake",
        Game::Millpond => "millpond",
    };
    if let Some(digests) = options.digest.report(kind, &digests) {
        return digests;
    }
    match sum.too_little() {
        Some(missing) => Err(format!("{said}\n{missing}")),
        None => Ok(said),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_of_bots_agree_after_faults() {
        let mut sums = [Tally::default(); 2];
        for seed in 1..5 {
            sums[0].add(&run_one::<DrakePart>(seed, 25).unwrap());
            sums[1].add(&run_one::<MillpondPart>(seed, 25).unwrap());
        }
        for sum in sums {
            assert_eq!(sum.too_little(), None, "{sum:?}");
            assert!(sum.updates > 4_000, "{sum:?}");
        }
    }

    #[test]
    fn runs_without_events_prove_nothing() {
        let eventful =
            Tally { deaths: 2, host_deaths: 1, returns: 1, splits: 1, lead_changes: 2, ..Tally::default() };
        assert_eq!(eventful.too_little(), None);
        let quiet = Tally { splits: 0, host_deaths: 0, ..eventful };
        assert_eq!(quiet.too_little().as_deref(), Some("too little happened: no deaths of hosts, no splits"));
    }
}
