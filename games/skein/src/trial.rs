//! Statistics of whole runs of bots, by which the balance of the game is judged.
//!
//! Called by tests, by `examples/balance.rs` and by the lab. Absent: rules, judgment (`summary`).

mod summary;

use crate::bots::{Bot, Strength};
use crate::cue::Kind;
use crate::{Phase, SEATS, Setup, Skein};

pub use summary::{CREWS, Finding, Summary, Unit, judge, table};

/// Frames after which a run is abandoned: half an hour.
const FRAMES_MAX: u32 = 108_000;
/// The stage in which embers are counted.
const COUNTED_STAGE: u8 = 4;

/// Bots of a run.
#[derive(Debug, Clone, Copy)]
pub struct Crew {
    /// Number of bots, 1 to 6.
    pub players: usize,
    /// Strength of all bots.
    pub strength: Strength,
    /// Whether they fly in formation.
    pub in_formation: bool,
}

/// Result of one run.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// Last stage that was reached; 6 is dawn.
    pub stage: u8,
    /// Frames of the run.
    pub frames: u32,
    /// Geese of players lost, by stage.
    pub lost: [u32; 5],
    /// Falls by cause: embers, bodies, lightning.
    pub causes: [u32; 3],
    /// Falls of geese of players.
    pub falls: u32,
    /// Falls that ended with a catch.
    pub caught: u32,
    /// Frames that each boss took, by stage; 0 if it was not beaten.
    pub bosses: [u32; 5],
    /// Changes of the leader of a V of three or more.
    pub point_changes: u32,
    /// Points by slot.
    pub scores: [u32; SEATS],
    /// Embers in the air in stage 4, sampled once a second.
    pub embers: Vec<u16>,
}

impl Run {
    /// Whether the run ended at dawn.
    pub fn is_dawn(&self) -> bool {
        self.stage > 5
    }
}

/// Plays one run to its end.
pub fn run(crew: Crew, seed: u64) -> Run {
    let mut game = Skein::new(Setup::default(), seed);
    let mut bots: Vec<Bot> = (0..crew.players)
        .map(|seat| {
            let mut bot = Bot::new(seat, crew.strength, seed);
            bot.in_formation = crew.in_formation;
            bot
        })
        .collect();
    let present = std::array::from_fn(|seat| seat < crew.players);
    let mut run = Run::default();
    let mut leader = None;
    while game.course.phase != Phase::Over && run.frames < FRAMES_MAX {
        let mut pads = [crate::Pad::NONE; SEATS];
        for bot in &mut bots {
            pads[bot.seat()] = bot.play(&game);
        }
        game.step(&pads, present);
        run.frames += 1;
        note(&mut run, &game, crew.players, &mut leader);
    }
    run.stage = if game.course.is_dawn { 6 } else { game.course.stage };
    run.scores = std::array::from_fn(|seat| game.geese[seat].tally.score);
    run
}

fn note(run: &mut Run, game: &Skein, players: usize, leader: &mut Option<usize>) {
    let stage = usize::from(game.course.stage.clamp(1, 5)) - 1;
    for mark in game.marks.recent(game.frame, 1) {
        let is_person = usize::from(mark.who) < players;
        match mark.kind {
            Kind::Fall if is_person => {
                run.falls += 1;
                run.causes[usize::from(mark.value.min(2))] += 1;
            }
            Kind::Caught if is_person => run.caught += 1,
            Kind::Lost if is_person => run.lost[stage] += 1,
            _ => {}
        }
    }
    if game.course.phase == Phase::Boss {
        run.bosses[stage] = game.course.age.into();
    } else if game.course.phase == Phase::Over && !game.course.is_dawn && game.boss.is_here() {
        run.bosses[stage] = 0;
    }
    let point = (0..game.geese.len()).find(|which| game.geese[*which].wake.followers >= 2);
    if point.is_some() && point != *leader {
        run.point_changes += u32::from(leader.is_some());
        *leader = point;
    }
    if game.course.stage == COUNTED_STAGE && game.frame.is_multiple_of(60) {
        run.embers.push(game.embers.count() as u16);
    }
}

/// Median of some numbers; 0 of none.
pub fn median(numbers: impl Iterator<Item = u32>) -> u32 {
    let mut sorted: Vec<u32> = numbers.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() / 2).copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_seeds_give_equal_runs() {
        let crew = Crew { players: 2, strength: Strength::Fledgling, in_formation: true };
        let [one, other] = [3, 3].map(|seed| run(crew, seed));
        assert_eq!((one.frames, one.scores), (other.frames, other.scores));
        assert!(one.frames > 600 && one.falls > 0);
    }

    #[test]
    fn median_is_middle_number() {
        assert_eq!(median([5, 1, 9].into_iter()), 5);
        assert_eq!(median(std::iter::empty()), 0);
    }
}
