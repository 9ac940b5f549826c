//! Whole companies of bots in drake and millpond on networks that do their worst: machines die and return, hosts above all, groups split.
//! Then everything heals, and everybody must know the same.

use clap::{Args, ValueEnum};
use drake::{Bout, Craft, Standing};
use gaggle_kit::{Micros, Prng};
use gaggle_link::sim::{Chance, Change, Conditions};
use gaggle_replica::{Player, Session};
use millpond::{Ledger, Thing};

use crate::drake_error::DrakePart;
use crate::millpond_load::MillpondPart;
use crate::runs::{parse_seeds, survive};
use crate::shared::{Company, Part};

/// Which game, which seeds.
#[derive(Args)]
pub(crate) struct Options {
    /// Which game
    #[arg(long, value_enum, default_value_t = Game::Drake)]
    game: Game,
    /// Which seeds, as first..end
    #[arg(long, default_value = "0..10", value_parser = parse_seeds)]
    seeds: (u64, u64),
    /// Seconds of trouble in every run, in virtual time
    #[arg(long, default_value_t = 60)]
    seconds: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Game {
    Drake,
    Millpond,
}

/// Machines: as many as there are boats or seats with nobody of the lead's own among them.
const PEERS: usize = 4;
/// Frames after healing within which all must be of one mind.
const PATIENCE: u32 = 60 * 60;

/// What a run showed.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    deaths: u32,
    host_deaths: u32,
    returns: u32,
    splits: u32,
    updates: u64,
    slowest: u32,
}

/// What everybody must agree about, in words, so that a difference can be read.
trait Agreed: Part {
    fn known(session: &Session) -> Vec<String>;
}

impl Agreed for DrakePart {
    fn known(session: &Session) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for (id, standing) in session.objects::<Standing>() {
            // What only the referee counts, and what changes with every frame, aside.
            let standing = Standing { growing: 0, gap: 0, safe: 0, peas: 0, ..standing };
            all.push(format!("{id:?} {:?} {standing:?}", session.holder(id)));
        }
        for (id, craft) in session.objects::<Craft>() {
            all.push(format!("{id:?} {:?} seat {} life {}", session.holder(id), craft.seat, craft.life));
        }
        all.push(format!("{:?}", session.value::<Bout>(Player::at(0)).map(|bout| Bout { since: 0, ..bout })));
        all.sort();
        all
    }
}

impl Agreed for MillpondPart {
    fn known(session: &Session) -> Vec<String> {
        let mut all: Vec<String> = Vec::new();
        for (id, thing) in session.objects::<Thing>() {
            let place = thing.rests().then_some(thing.place);
            all.push(format!("{id:?} {:?} {} {place:?}", thing.sort, thing.count));
        }
        all.push(format!("{:?}", session.value::<Ledger>(Player::at(0))));
        all.sort();
        all
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
    company: &mut Company<P>,
    random: &mut Prng,
    tally: &mut Tally,
    split: &mut bool,
) -> Result<(), String> {
    let alive = company.machines.iter().flatten().count();
    let me = random.below(PEERS as u32) as usize;
    let host = company
        .machines
        .iter()
        .position(|machine| machine.as_ref().is_some_and(|machine| machine.session.is_lead()));
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
        company.world.apply(&Change::Heal);
        *split = false;
    } else if random.chance(1, 6) {
        let half = 1 + random.below(PEERS as u32 - 1) as usize;
        company.world.apply(&Change::Partition(vec![(0..half).collect(), (half..PEERS).collect()]));
        *split = true;
        tally.splits += 1;
    }
    Ok(())
}

fn run_one<P: Agreed>(seed: u64, seconds: u32) -> Result<Tally, String> {
    let mut random = Prng::new(seed);
    let mut company: Company<P> = Company::of(PEERS, seed, conditions(&mut random))?;
    let (mut tally, mut split) = (Tally::default(), false);
    for frame in 0..seconds * 60 {
        company.frame();
        if frame > 300 && frame % 90 == 0 {
            befall(&mut company, &mut random, &mut tally, &mut split)?;
        }
    }
    company.world.apply(&Change::Heal);
    company.world.everywhere(Conditions::latency_ms(30));
    for me in 0..PEERS {
        if company.machines[me].is_none() {
            company.start(me)?;
        }
    }
    company.still = true;
    let mut difference = String::new();
    for frame in 0..PATIENCE {
        company.frame();
        if frame % 30 != 0 {
            continue;
        }
        let sessions: Vec<&Session> =
            company.machines.iter().flatten().map(|machine| &machine.session).collect();
        if sessions.iter().any(|session| session.roster().len() != PEERS) {
            difference = "not all see each other".into();
            continue;
        }
        let known: Vec<Vec<String>> = sessions.iter().map(|session| P::known(session)).collect();
        match known.iter().find(|other| **other != known[0]) {
            None => {
                tally.slowest = frame;
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
    Err(format!("not of one mind {} s after healing: {difference}", PATIENCE / 60))
}

pub(crate) fn run(options: &Options) -> Result<String, String> {
    let mut sum = Tally::default();
    let mut failures = Vec::new();
    for seed in options.seeds.0..options.seeds.1 {
        let ran = survive(|| match options.game {
            Game::Drake => run_one::<DrakePart>(seed, options.seconds),
            Game::Millpond => run_one::<MillpondPart>(seed, options.seconds),
        });
        match ran {
            Ok(tally) => {
                sum.deaths += tally.deaths;
                sum.host_deaths += tally.host_deaths;
                sum.returns += tally.returns;
                sum.splits += tally.splits;
                sum.updates += tally.updates;
                sum.slowest = sum.slowest.max(tally.slowest);
            }
            Err(why) => failures.push(format!("seed {seed}: {why}")),
        }
    }
    let runs = options.seeds.1 - options.seeds.0;
    let said = format!(
        "{runs} runs of {:?}: {} deaths, {} of hosts, {} returns, {} splits, {} updates; of one mind within {} ms of healing",
        options.game,
        sum.deaths,
        sum.host_deaths,
        sum.returns,
        sum.splits,
        sum.updates,
        sum.slowest * 1_000 / 60
    );
    if failures.is_empty() { Ok(said) } else { Err(format!("{said}\n{}", failures.join("\n"))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn companies_of_bots_are_of_one_mind_after_trouble() {
        let mut trouble = 0;
        for seed in 1..3 {
            let brawl = run_one::<DrakePart>(seed, 20).unwrap();
            assert!(brawl.updates > 1_000, "{brawl:?}");
            trouble += brawl.deaths + brawl.splits;
            let pond = run_one::<MillpondPart>(seed, 12).unwrap();
            assert!(pond.updates > 400, "{pond:?}");
        }
        assert!(trouble > 0, "something befell them");
    }
}
