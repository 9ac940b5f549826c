//! Rounds: three minutes, a result, and the next round one maze later.
//!
//! Called by `tick`. Absent: who plays.

use gaggle_kit::State;

use crate::chick::{Chick, Swim};
use crate::crumb::Crumbs;
use crate::cue::{Kind, Mark};
use crate::feather::Feathers;
use crate::reed::NESTS;
use crate::water::Swimmer;
use crate::{Gosling, Mode, PIKES, Pike, SEATS};

/// Frames of a round.
pub const FRAMES: u16 = 5_400;
/// Frames of a second.
pub const SECOND: u16 = 30;
/// Frames at the end of a round in which crumbs count twice and pikes are faster.
pub const LATE_FRAMES: u16 = 900;
/// Frames a result is shown.
pub const RESULT_FRAMES: u16 = 240;
/// Most frames left of a result once most players want the next round.
pub const HURRIED_FRAMES: u16 = 90;
/// Fewest frames of play after which a round counts for a player.
pub const COUNTED_FRAMES: u16 = 1_800;

/// What the match is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Phase {
    /// A round is played.
    #[default]
    Round,
    /// Its result is shown.
    Result,
}

/// Where the match is: phase, time left, round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Clock {
    /// What the match is doing.
    pub phase: Phase,
    /// Frames of the phase left.
    pub left: u16,
    /// Number of the round, from 1.
    pub round: u16,
    /// Players who want the next round, one bit a slot.
    pub wanting: u64,
    /// The leading brood (in `Mode::Free` slot) plus one; 0 for none yet.
    pub leader: u8,
}

impl Clock {
    /// Whether the last `LATE_FRAMES` of a round have begun.
    pub const fn is_late(&self) -> bool {
        matches!(self.phase, Phase::Round) && self.left <= LATE_FRAMES
    }
}

/// Begins a round in the maze of the current seed.
pub(crate) fn begin(game: &mut Gosling) {
    let reed = game.keep_reed();
    let round = game.clock.round.saturating_add(1);
    game.clock = Clock { left: game.setup.round_frames, round, ..Clock::default() };
    (game.scores, game.rests) = ([0; NESTS], [0; NESTS]);
    game.crumbs = Crumbs::everywhere(&reed);
    game.feathers = Feathers::default();
    game.pikes = std::array::from_fn::<_, PIKES, _>(Pike::waiting);
    for (slot, chick) in game.chicks.iter_mut().enumerate().filter(|(_, chick)| chick.is_here()) {
        *chick = Chick {
            seat: chick.seat,
            brood: chick.brood,
            rounds: chick.rounds,
            swim: Swim::Nest,
            at: Swimmer::at(nest_of(game.setup.mode, chick.brood, slot, reed.nests()), 0),
            ..Chick::default()
        };
    }
    game.mark(Mark::at(Kind::Begin, 0, reed.den()[0]).worth(round.min(255) as u8));
}

/// The nest of a gosling: that of its brood, in `Mode::Free` by slot.
pub fn nest_of(mode: Mode, brood: u8, slot: usize, nests: &[u16]) -> u16 {
    let nth = if mode == Mode::Free { slot } else { usize::from(brood) };
    nests.get(nth % nests.len().max(1)).copied().unwrap_or(0)
}

/// One frame of the clock.
pub(crate) fn step(game: &mut Gosling) {
    let den = game.reed().den()[0];
    game.clock.left = game.clock.left.saturating_sub(1);
    let left = game.clock.left;
    match game.clock.phase {
        Phase::Round => {
            for chick in game.chicks.iter_mut().filter(|chick| chick.is_person()) {
                chick.here = chick.here.saturating_add(1);
            }
            if left == 0 {
                finish(game, den);
            } else if left == LATE_FRAMES {
                game.mark(Mark::at(Kind::Late, 0, den));
            } else if left <= 10 * SECOND && left.is_multiple_of(SECOND) {
                game.mark(Mark::at(Kind::Last, 0, den).worth((left / SECOND) as u8));
            }
        }
        Phase::Result => {
            if left == RESULT_FRAMES / 2 {
                let seed = next_seed(game.seed);
                game.prepare(seed);
            }
            let wanting = game.clock.wanting.count_ones() as usize;
            if wanting * 2 > game.persons() {
                game.clock.left = left.min(HURRIED_FRAMES);
            }
            if left == 0 {
                game.seed = next_seed(game.seed);
                begin(game);
            }
        }
    }
}

/// Seed of the maze after this one.
fn next_seed(seed: u32) -> u32 {
    gaggle_kit::Prng::new(u64::from(seed)).next_u32()
}

fn finish(game: &mut Gosling, den: u16) {
    game.clock = Clock { phase: Phase::Result, left: RESULT_FRAMES, wanting: 0, ..game.clock };
    for chick in game.chicks.iter_mut().filter(|chick| chick.is_person()) {
        chick.rounds = if chick.here >= COUNTED_FRAMES.min(game.setup.round_frames / 3) {
            chick.rounds.saturating_add(1)
        } else {
            0
        };
    }
    game.mark(Mark::at(Kind::Over, 0, den));
}

/// Broods (in `Mode::Free` slots) that would win now: by most points, then by fewest catches.
pub fn winners(game: &Gosling) -> Vec<usize> {
    let mode = game.setup.mode;
    let count = if mode == Mode::Free { SEATS } else { mode.broods() };
    let rank = |nth: usize| {
        let caught = |wanted: &dyn Fn(usize, &Chick) -> bool| -> u32 {
            let these = game
                .chicks
                .iter()
                .enumerate()
                .filter(|(slot, chick)| chick.is_here() && wanted(*slot, chick));
            these.map(|(_, chick)| u32::from(chick.caught)).sum()
        };
        match mode {
            Mode::Free => (game.chicks[nth].banked, std::cmp::Reverse(caught(&|slot, _| slot == nth))),
            _ => (game.scores[nth], std::cmp::Reverse(caught(&|_, chick| usize::from(chick.brood) == nth))),
        }
    };
    let is_playing = |nth: &usize| mode != Mode::Free || game.chicks[*nth].is_here();
    let best = (0..count).filter(is_playing).map(rank).max();
    (0..count).filter(is_playing).filter(|nth| Some(rank(*nth)) == best).collect()
}

/// Pushes a mark when the lead changes.
pub(crate) fn follow_lead(game: &mut Gosling) {
    let scores: &mut dyn Iterator<Item = (usize, u16)> = match game.setup.mode {
        Mode::Free => &mut game.chicks.iter().map(|chick| chick.banked).enumerate(),
        _ => &mut game.scores.iter().copied().enumerate(),
    };
    let (mut best, mut is_single) = ((0, 0), false);
    for (nth, score) in scores {
        match score.cmp(&best.1) {
            std::cmp::Ordering::Greater => (best, is_single) = ((nth, score), true),
            std::cmp::Ordering::Equal => is_single = false,
            std::cmp::Ordering::Less => {}
        }
    }
    let leader = best.0 as u8 + 1;
    if is_single && game.clock.leader != leader {
        game.clock.leader = leader;
        game.mark(Mark::at(Kind::Lead, best.0, 0));
    }
}
