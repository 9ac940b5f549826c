//! Script of a flight: five stages of eight waves of enemies.
//!
//! Read by `course` in every frame of a wave. Absent: what enemies do once they are there.

use crate::difficulty::Difficulty;
use crate::enemy::{Enemies, Foe, Path};
use crate::sky::LANES;

/// Stages of a flight.
pub const STAGES: u8 = 5;
/// Waves of a stage.
pub const WAVES: u8 = 8;
/// Frames of a wave.
pub const WAVE_FRAMES: u16 = 720;
/// Frame of a wave at which the first enemy is sent, and frames within which all are.
const FIRST: u32 = 40;
const SPAN: u32 = 520;

/// A group of enemies of a wave.
#[derive(Debug, Clone, Copy)]
pub struct Group {
    foe: Foe,
    count: u32,
    way: Way,
}

/// Formation in which a group is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    /// One after another, in changing lanes.
    Flights,
    /// One ribbon after another.
    Ribbon,
    /// Two ribbons at once.
    TwoRibbons,
    /// From the highest and the lowest lane at once.
    Pair,
}

/// Contents of a wave.
#[derive(Debug, Clone, Copy)]
pub struct Wave {
    groups: &'static [Group],
    /// Number of bolts of lightning.
    bolts: u32,
}

const fn group(foe: Foe, count: u32) -> Group {
    Group { foe, count, way: Way::Flights }
}

const fn sent(foe: Foe, count: u32, way: Way) -> Group {
    Group { foe, count, way }
}

const fn wave(groups: &'static [Group]) -> Wave {
    Wave { groups, bolts: 0 }
}

const fn storm(groups: &'static [Group]) -> Wave {
    Wave { groups, bolts: 8 }
}

use Foe::{Kite, Lantern, Moth, Owl, Starling, Stormcock};

/// Waves by stage, from easy to hard.
const SCRIPT: [[Wave; WAVES as usize]; STAGES as usize] = [
    [
        wave(&[group(Starling, 12)]),
        wave(&[group(Starling, 16), group(Moth, 2)]),
        wave(&[sent(Starling, 24, Way::Ribbon)]),
        wave(&[sent(Moth, 6, Way::Pair)]),
        wave(&[group(Starling, 24), group(Moth, 4)]),
        wave(&[sent(Starling, 32, Way::TwoRibbons)]),
        wave(&[group(Moth, 12), group(Starling, 16)]),
        wave(&[sent(Starling, 46, Way::Ribbon)]),
    ],
    [
        wave(&[group(Starling, 16), group(Lantern, 1)]),
        wave(&[group(Kite, 2)]),
        wave(&[group(Lantern, 2), group(Moth, 8)]),
        wave(&[group(Starling, 24), group(Kite, 2)]),
        wave(&[group(Lantern, 3)]),
        wave(&[sent(Kite, 4, Way::Pair)]),
        wave(&[sent(Starling, 46, Way::Ribbon), group(Lantern, 1)]),
        wave(&[group(Lantern, 3), group(Kite, 2), group(Starling, 12)]),
    ],
    [
        wave(&[group(Owl, 1)]),
        wave(&[group(Moth, 10), group(Kite, 2)]),
        wave(&[group(Owl, 2)]),
        wave(&[group(Lantern, 3), group(Starling, 16)]),
        wave(&[group(Owl, 2), group(Kite, 4)]),
        wave(&[sent(Starling, 32, Way::TwoRibbons)]),
        wave(&[group(Owl, 3)]),
        wave(&[group(Owl, 2), group(Lantern, 2), group(Moth, 8)]),
    ],
    [
        storm(&[group(Starling, 16)]),
        wave(&[group(Stormcock, 2)]),
        storm(&[group(Kite, 4)]),
        wave(&[group(Stormcock, 3), group(Moth, 8)]),
        storm(&[group(Owl, 2)]),
        wave(&[sent(Starling, 46, Way::Ribbon), group(Stormcock, 2)]),
        storm(&[group(Stormcock, 4)]),
        storm(&[group(Owl, 2), group(Kite, 4)]),
    ],
    [
        wave(&[sent(Starling, 46, Way::Ribbon), group(Kite, 2)]),
        wave(&[group(Lantern, 3), group(Owl, 2)]),
        storm(&[group(Stormcock, 4)]),
        wave(&[sent(Kite, 6, Way::Pair)]),
        wave(&[group(Owl, 4)]),
        wave(&[group(Lantern, 3), group(Stormcock, 3), group(Moth, 12)]),
        storm(&[sent(Starling, 46, Way::Ribbon), group(Kite, 4)]),
        wave(&[group(Owl, 4), group(Stormcock, 3)]),
    ],
];

/// Frames between two enemies of a group.
fn gap(group: &Group, count: u32) -> u32 {
    match group.foe {
        Starling => 6,
        Moth => 28,
        _ => (SPAN - 120) / count.max(1),
    }
}

/// Lane of the nth enemy of a group; `turn` differs from wave to wave of a run.
fn lane(group: &Group, nth: u32, turn: u32) -> i32 {
    let place = match (group.way, group.foe) {
        (Way::Pair, _) => [0, 4][nth as usize % 2],
        (Way::TwoRibbons, _) => [1, 3][nth as usize % 2],
        (_, Starling) => (turn + nth / 12 * 2) % 5,
        (_, Moth) => (turn + nth * 2) % 5,
        (_, foe) => (turn * 3 + foe as u32 + nth * 2) % 5,
    };
    LANES[place as usize % LANES.len()]
}

/// Sends the enemies due in this frame of a wave. `turn` is a random number of the wave. Returns
/// whether a bolt is due.
pub fn send(enemies: &mut Enemies, stage: u8, wave: u8, age: u16, turn: u8, difficulty: Difficulty) -> bool {
    let (Some(waves), age) = (SCRIPT.get(usize::from(stage).wrapping_sub(1)), u32::from(age)) else {
        return false;
    };
    let Some(sends) = waves.get(usize::from(wave)) else { return false };
    for (number, group) in (0..).zip(sends.groups) {
        let count = difficulty.count(group.count);
        let gap = gap(group, count).min(SPAN / count.max(1)).max(1);
        let first = FIRST + number * 60;
        let Some(since) = age.checked_sub(first) else { continue };
        let pairs = if matches!(group.way, Way::Pair | Way::TwoRibbons) { 2 } else { 1 };
        if !since.is_multiple_of(gap * pairs) {
            continue;
        }
        for nth in (since / gap..).take(pairs as usize).take_while(|nth| *nth < count) {
            let path = match (group.foe, group.way) {
                (Starling, Way::Ribbon | Way::TwoRibbons) => Path::Ribbon,
                (Starling, _) if (nth / 12 + u32::from(turn)).is_multiple_of(3) => Path::Hook,
                _ => Path::Straight,
            };
            let row = lane(group, nth, u32::from(turn) + u32::from(wave));
            enemies.send(group.foe, path, row, nth as u8, difficulty);
        }
    }
    sends.bolts > 0 && age >= 120 && (age - 120).is_multiple_of(480 / sends.bolts) && age < 600
}

/// Points of a stage without factors: for the course and for tests.
#[cfg(test)]
fn total(stage: u8, difficulty: Difficulty) -> u32 {
    let groups = SCRIPT[usize::from(stage) - 1].iter().flat_map(|wave| wave.groups);
    groups.map(|group| difficulty.count(group.count) * group.foe.traits().points).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wave_sends_all_within_its_time() {
        for crew in [1, 6] {
            let difficulty = Difficulty::of(crew);
            for stage in 1..=STAGES {
                for wave in 0..WAVES {
                    let mut sent = 0;
                    for age in 0..WAVE_FRAMES {
                        let mut enemies = Enemies::default();
                        send(&mut enemies, stage, wave, age, 3, difficulty);
                        sent += enemies.iter().count() as u32;
                    }
                    let groups = SCRIPT[usize::from(stage) - 1][usize::from(wave)].groups;
                    let due: u32 = groups.iter().map(|group| difficulty.count(group.count)).sum();
                    assert_eq!(sent, due, "stage {stage} wave {wave} of {crew}");
                }
            }
        }
    }

    #[test]
    fn later_stages_are_worth_more() {
        let one = Difficulty::of(1);
        assert!(total(1, one) < total(3, one) && total(3, one) < total(5, one));
        assert!(total(2, one) < total(2, Difficulty::of(6)));
    }

    #[test]
    fn stage_or_wave_out_of_range_sends_nothing() {
        let mut enemies = Enemies::default();
        for (stage, wave) in [(0, 0), (6, 0), (1, 8), (255, 255)] {
            assert!(!send(&mut enemies, stage, wave, 40, 0, Difficulty::of(1)));
        }
        assert_eq!(enemies.iter().count(), 0);
    }
}
