//! Settings and faults of a chaos match, all drawn from the seed.
//!
//! Called by `chaos.rs` and `company.rs`. Absent: what faults do.

use std::fmt;
use std::ops::RangeInclusive;

use gaggle_kit::{Micros, Prng};
use gaggle_link::sim::{Burst, Chance, Conditions};
use gaggle_timeline::{Quorum, TimelineConfig};

use super::broth::SLOTS;

/// Most bytes a peer may hold beside states, however long it plays.
const BESIDE_STATES_BYTES: u64 = 1_000_000;

/// Players needed to outvote a damaged state; with fewer, states are not damaged.
pub(super) const MACHINES_TO_RECOVER: usize = 3;

/// Settings of one match.
#[derive(Debug, Clone)]
pub(super) struct Plan {
    pub(super) seed: u64,
    pub(super) machines: usize,
    /// Number of players of each machine.
    pub(super) players: Vec<usize>,
    /// Spectators, numbered after the players. The second one is linked only to the first, which
    /// forwards what it receives.
    pub(super) watchers: usize,
    pub(super) minutes: u64,
    pub(super) latency_ms: u64,
    pub(super) jitter_ms: u64,
    pub(super) loss_per_mille: u32,
    pub(super) bursts: bool,
    pub(super) window_frames: u32,
    pub(super) state_bytes: usize,
    pub(super) majority: bool,
    pub(super) drift_ppm: i32,
    /// Mean time between two faults.
    pub(super) calm: Micros,
    /// A peer with another build of the game tries to join at every peer.
    pub(super) stranger: bool,
}

/// A fault, a join or a leave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Fault {
    Join,
    Leave,
    Crash,
    CrashLead,
    /// Two crashes at once, one of them of the leader.
    CrashTwo,
    /// A peer restarts at once, like a reloaded page.
    Reload,
    Partition,
    Isolate,
    /// All packets between one pair are lost.
    DeadLink,
    /// The connection of one pair ends.
    Disconnect,
    Nap,
    Sleep,
    Weather,
    Storm,
    BitFlip,
}

/// Range of playing peers: each has one or two slots, and agreement needs at least two.
pub(super) const MACHINES: RangeInclusive<i64> = 2..=8;
/// Range of playing peers drawn by default.
pub(super) const MACHINES_DRAWN: RangeInclusive<u8> = 3..=6;
/// One match in this many has a peer with another build.
const STRANGER_IN: u32 = 4;
/// One match in this many has a large state, of which half can be compressed.
const LARGE_IN: u32 = 50;
const LARGE_BYTES: usize = 4 << 20;
/// One match in this many is lockstep.
const LOCKSTEP_IN: u32 = 4;
/// Most spectators of a match.
const WATCHERS_MAX: usize = 3;

/// One player on each peer, and two on some while slots are left.
fn draw_players(rng: &mut Prng, machines: usize) -> Vec<usize> {
    let mut players = vec![1; machines];
    let mut seats_left = SLOTS - machines;
    for count in &mut players {
        if seats_left > 0 && rng.below(3) == 0 {
            seats_left -= 1;
            *count = 2;
        }
    }
    players
}

impl Plan {
    pub(super) fn draw(seed: u64, machines: Option<u8>, minutes: u64) -> Plan {
        let mut rng = Prng::stream(seed, 1);
        let (least, most) = MACHINES_DRAWN.into_inner();
        let drawn = least + rng.below(u32::from(most - least) + 1) as u8;
        let machines = usize::from(machines.unwrap_or(drawn));
        let mut company = Prng::stream(seed, 3);
        // Drawn from a stream of its own, so that older draws keep their values.
        let mut oddity = Prng::stream(seed, 4);
        let (stranger, large) = (oddity.below(STRANGER_IN) == 0, oddity.below(LARGE_IN) == 0);
        let lockstep = Prng::stream(seed, 5).below(LOCKSTEP_IN) == 0;
        let usual_bytes = |rng: &mut Prng| [64, 1_000, 20_000, 100_000][rng.below(4) as usize];
        Plan {
            seed,
            machines,
            players: draw_players(&mut company, machines),
            watchers: company.below(WATCHERS_MAX as u32 + 1) as usize,
            minutes,
            latency_ms: 5 + u64::from(rng.below(100)),
            jitter_ms: u64::from(rng.below(30)),
            loss_per_mille: [0, 0, 10, 30, 80][rng.below(5) as usize],
            bursts: rng.below(3) == 0,
            // Drawn in any case, so that later draws keep their values.
            window_frames: match ([8, 8, 8, 6, 12][rng.below(5) as usize], lockstep) {
                (_, true) => 0,
                (window, false) => window,
            },
            state_bytes: match (usual_bytes(&mut rng), large) {
                (_, true) => LARGE_BYTES,
                (usual, false) => usual,
            },
            majority: rng.below(8) == 0,
            drift_ppm: rng.below(401) as i32 - 200,
            calm: Micros::from_millis(2_500 + u64::from(rng.below(4_000))),
            stranger,
        }
    }

    /// Whether the state takes thousands of packets to send.
    pub(super) fn has_large_state(&self) -> bool {
        self.state_bytes >= LARGE_BYTES
    }

    /// Whether no frame is ever simulated on predicted input.
    pub(super) fn is_lockstep(&self) -> bool {
        self.window_frames == 0
    }

    pub(super) fn config(&self) -> TimelineConfig {
        let rules = match self.is_lockstep() {
            true => TimelineConfig::lockstep(),
            false => TimelineConfig::rollback(self.window_frames),
        };
        let quorum = if self.majority { Quorum::Majority } else { Quorum::Any };
        TimelineConfig { slot_count: SLOTS, quorum, ..rules }
    }

    /// Frames by which inputs may be ahead of what is confirmed: the window, the largest input
    /// delay, and the frame that is waited for.
    pub(super) fn lookahead_frames(&self) -> u32 {
        let config = self.config();
        config.prediction_frames_max() + config.input_delay_range.1.max(config.input_delay_frames) + 1
    }

    /// Most bytes a peer may hold: states of a window and of the last checksums, one imported and
    /// eight sent, as many again in flight, and all beside states.
    pub(super) fn bytes_max(&self) -> u64 {
        let states = 2 * (u64::from(self.window_frames) + 4 + 1 + 8);
        states * self.state_bytes as u64 + BESIDE_STATES_BYTES
    }

    pub(super) fn weather(&self, rng: &mut Prng, storm: bool) -> Conditions {
        let worse = if storm { 3 } else { 1 };
        let burst = Burst { begin: Chance::per_mille(4), end: Chance::percent(12) };
        Conditions {
            latency: Micros::from_millis(
                self.latency_ms / 2 + u64::from(rng.below(self.latency_ms as u32 + 1)),
            ),
            jitter: Micros::from_millis(self.jitter_ms * worse),
            loss: Chance::per_mille((self.loss_per_mille + 5) * worse as u32),
            burst: (self.bursts || storm).then_some(burst),
            duplicate: Chance::percent(1),
            reorder: Chance::percent(2),
            ..Conditions::PERFECT
        }
    }

    /// Peers on the network, including the one with another build.
    pub(super) fn places(&self) -> usize {
        self.all() + usize::from(self.stranger)
    }

    /// Peers that play or spectate.
    pub(super) fn all(&self) -> usize {
        self.machines + self.watchers
    }

    pub(super) fn next_fault(&self, rng: &mut Prng) -> Fault {
        use Fault::*;
        // Joins outweigh departures, so that there are peers to lose.
        let all = [
            Join, Join, Join, Join, Join, Leave, Leave, Crash, CrashLead, CrashTwo, Reload, Reload,
            Partition, Isolate, DeadLink, DeadLink, Disconnect, Nap, Nap, Sleep, Weather, Weather, Storm,
            BitFlip, BitFlip, BitFlip,
        ];
        all[rng.below(all.len() as u32) as usize]
    }
}

impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "seed {}: {} machines ({} players), {} watch, {} min, latency {} ms, jitter {} ms, loss {} ‰{}, {}, state {} bytes, drift {} ppm, \
             a fault every {}{}{}",
            self.seed,
            self.machines,
            self.players.iter().sum::<usize>(),
            self.watchers,
            self.minutes,
            self.latency_ms,
            self.jitter_ms,
            self.loss_per_mille,
            if self.bursts { " and bursts" } else { "" },
            match self.window_frames {
                0 => "lockstep".to_owned(),
                window => format!("window {window}"),
            },
            self.state_bytes,
            self.drift_ppm,
            self.calm,
            if self.majority { ", majority" } else { "" },
            if self.stranger { ", a peer with another build" } else { "" },
        )
    }
}
