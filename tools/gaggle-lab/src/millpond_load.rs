//! Load of a pond of four hundred things: bytes to each receiver, age, and jumps on screen.
//!
//! Called by `main.rs`. Absent: targets, which are in the documents.

use std::collections::{BTreeMap, VecDeque};

use clap::Args;
use gaggle_kit::{Fixed16, Micros, Slot};
use gaggle_link::sim::{Chance, Conditions};
use gaggle_replica::{Kinds, ObjectId, RemoteEvent, ReplicaConfig, Session};
use millpond::bots::Bot;
use millpond::net::{self, Mill};
use millpond::{Pad, Thing, water};

use crate::shared::{Cluster, FRAME, Machine, Part, percentile};

/// Options of the measurement.
#[derive(Args)]
pub(crate) struct Options {
    /// Seconds of play
    #[arg(long, default_value_t = 60)]
    seconds: u32,
    /// Number of players
    #[arg(long, default_value_t = 4)]
    players: usize,
    /// Seed of all random numbers of the run
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// Peer whose boat a bot rows.
pub(crate) struct MillpondPart {
    pub(crate) mill: Mill,
    bot: Bot,
    first: bool,
    founded: bool,
}

impl Part for MillpondPart {
    fn kinds() -> Kinds {
        net::kinds_with_input()
    }

    fn config() -> ReplicaConfig {
        net::config()
    }

    fn new(me: usize, seed: u64) -> MillpondPart {
        MillpondPart { mill: Mill::new(seed), bot: Bot::new(me, seed), first: me == 0, founded: false }
    }

    fn step(&mut self, session: &mut Session, still: bool) {
        // The first leader fills the pond; a player that returns does not.
        if self.first && !self.founded && session.is_leader() && session.iter::<Thing>().next().is_none() {
            self.mill.found(session);
        }
        self.founded = true;
        let pad = if still { Pad::NONE } else { self.bot.play(self.mill.pond()) };
        session.set_input(pad);
        self.mill.step(session);
    }

    fn signal(&mut self, session: &mut Session, signal: &RemoteEvent) {
        self.mill.signal(session, signal);
    }

    fn tick(&mut self, session: &mut Session, now: Micros) {
        session.tick_with(now, Some(self.mill.nearness()));
    }
}

/// Figures of a measurement.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Bits received in a second, of every receiver and every second.
    pub(crate) rates: Vec<f64>,
    /// Age in milliseconds of the received state of near, moving things.
    pub(crate) ages: Vec<f64>,
    /// Pixels a thing jumped in the frame in which its authority changed, beyond its movement.
    pub(crate) jumps: Vec<f64>,
    /// The same in all other frames, for comparison.
    pub(crate) ordinary: Vec<f64>,
    pub(crate) things: usize,
    pub(crate) claims: u64,
}

/// Round trip of 80 ms, 10 ms of jitter, loss of 1 percent.
fn conditions() -> Conditions {
    Conditions { jitter: Micros::from_millis(10), loss: Chance::percent(1), ..Conditions::latency_ms(40) }
}

/// Pixels around a boat that its screen shows.
const NEAR: i32 = 210;
/// Frames of true states that are kept.
const HISTORY: usize = 90;

/// Shown places, velocities and authorities.
type Screen = BTreeMap<ObjectId, ([f64; 2], [f64; 2], Slot)>;

type Words = ([Fixed16; 2], [Fixed16; 2], u8);

fn words(thing: &Thing) -> Words {
    (thing.place, thing.velocity, thing.count)
}

fn floats(place: [Fixed16; 2]) -> [f64; 2] {
    place.map(Fixed16::to_f64)
}

pub(crate) fn measure(options: &Options) -> Result<Load, String> {
    let mut company: Cluster<MillpondPart> =
        Cluster::of(options.players.clamp(2, 6), options.seed, conditions())?;
    let peers = company.machines.len();
    let mut load = Load::default();
    // Recent true states of the objects under the authority of each peer.
    let mut truths: Vec<BTreeMap<ObjectId, VecDeque<(Micros, Words)>>> = vec![BTreeMap::new(); peers];
    let mut seen: Vec<Screen> = vec![Screen::new(); peers];
    let mut had_before = vec![0; peers];
    // Half a minute in which all join and receive the whole pond.
    let settle = 60 * 15;
    for frame in 0..settle + options.seconds * 60 {
        company.frame();
        let now = company.world.now();
        for (me, machine) in company.machines.iter().enumerate() {
            let Some(machine) = machine else { continue };
            let truth = &mut truths[me];
            truth.retain(|id, _| machine.session.has_authority(*id));
            for id in machine.session.iter_authoritative::<Thing>() {
                let Some(thing) = machine.session.get::<Thing>(id) else { continue };
                let known = truth.entry(id).or_default();
                known.push_back((now, words(&thing)));
                if known.len() > HISTORY {
                    known.pop_front();
                }
            }
        }
        if frame < settle || frame % 60 == 59 {
            let had: Vec<u64> = company.machines.iter().flatten().map(Machine::bytes_in).collect();
            if frame >= settle {
                let gained = had.iter().zip(&had_before).map(|(had, before)| had - before);
                load.rates.extend(gained.map(|bytes| bytes as f64 * 8.0));
            }
            had_before = had;
        }
        if frame < settle {
            continue;
        }
        for (me, machine) in company.machines.iter().enumerate() {
            let Some(machine) = machine else { continue };
            let Some(boat) = machine.part.mill.pond().boats[me] else { continue };
            let mut shown_now = Screen::new();
            for floating in &machine.part.mill.pond().floating {
                let near = water::is_within(boat.place, floating.thing.place, NEAR);
                let holder = machine.session.authority(floating.id);
                let (true, Some(holder)) = (near, holder) else { continue };
                let place = floats(floating.thing.place);
                let velocity = floats(floating.thing.velocity);
                if let Some((was, speed, had)) = seen[me].get(&floating.id) {
                    let expected = [0, 1].map(|axis| was[axis] + (speed[axis] + velocity[axis]) / 120.0);
                    let jump = (place[0] - expected[0]).hypot(place[1] - expected[1]);
                    if *had != holder {
                        load.jumps.push(jump);
                    } else if holder != machine.session.local_slot() {
                        load.ordinary.push(jump);
                    }
                }
                shown_now.insert(floating.id, (place, velocity, holder));
                let told = truths.get(holder.index()).and_then(|truth| truth.get(&floating.id));
                let (Some(told), Some(known)) = (told, machine.session.get::<Thing>(floating.id)) else {
                    continue;
                };
                let moves = told.iter().any(|(_, other)| *other != told[0].1);
                if holder == machine.session.local_slot() || !moves {
                    continue;
                }
                let since = told.iter().rev().find(|(_, other)| *other == words(&known));
                if let Some((at, _)) = since {
                    load.ages.push(now.since(*at).get() as f64 / 1_000.0);
                } else if told.len() == HISTORY {
                    load.ages.push((FRAME.get() * HISTORY as u64) as f64 / 1_000.0);
                }
            }
            seen[me] = shown_now;
        }
    }
    let machines = company.machines.iter().flatten();
    load.claims = machines.clone().map(|machine| machine.session.stats().claims).sum();
    load.things = machines.map(|machine| machine.session.iter::<Thing>().count()).min().unwrap_or(0);
    Ok(load)
}

pub(crate) fn report(options: &Options) -> Result<String, String> {
    let mut load = measure(options)?;
    let most = load.rates.iter().copied().fold(0.0, f64::max) / 1_000.0;
    let mean = load.rates.iter().sum::<f64>() / load.rates.len().max(1) as f64 / 1_000.0;
    Ok(format!(
        "{} things, {} players, {} claims\nto each receiver: mean {mean:.0} kbit/s, busiest second of any {most:.0} kbit/s\n\
         near and moving: median {:.0} ms old, p95 {:.0} ms, p99 {:.0} ms, longest {:.0} ms ({} samples)\n\
         jump when something changes hands: p50 {:.2} px, p95 {:.2} px ({} times); in all other frames p95 {:.2} px",
        load.things,
        options.players,
        load.claims,
        percentile(&mut load.ages, 0.5),
        percentile(&mut load.ages, 0.95),
        percentile(&mut load.ages, 0.99),
        percentile(&mut load.ages, 1.0),
        load.ages.len(),
        percentile(&mut load.jumps, 0.5),
        percentile(&mut load.jumps, 0.95),
        load.jumps.len(),
        percentile(&mut load.ordinary, 0.95),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_players_share_four_hundred_things_within_128_kbit() {
        let mut load = measure(&Options { seconds: 12, players: 4, seed: 5 }).unwrap();
        assert!(load.things >= 380 && load.claims > 20, "{} things, {} claims", load.things, load.claims);
        // Every receiver in every second, all traffic included.
        let most = load.rates.iter().copied().fold(0.0, f64::max);
        assert!(load.rates.len() == 4 * 12 && most < 128_000.0, "{most}");
        let age = percentile(&mut load.ages, 0.99);
        assert!(load.ages.len() > 500 && age < 150.0, "{age} ms");
        let jump = percentile(&mut load.jumps, 0.95);
        assert!(jump < 4.0, "{jump} px");
    }
}
