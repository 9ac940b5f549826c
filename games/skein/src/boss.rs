//! The boss of a stage: which of the five it is, hit points and phases.
//!
//! Moved by [`Boss::step`], hit through [`Boss::strike`]; each boss has a file. Absent: scores, the
//! course of the run.

mod clutch;
mod hern;
mod mill;
mod murmuration;
mod parliament;

use gaggle_kit::{Angle, State};

use crate::enemy::Air;
use crate::goose::{FLOCK, Goose};
use crate::quill::Quills;
use crate::sky::{PX, Spot, at, boxed, toward};

pub use murmuration::{DOOR_HALF, RING_WIDTH};

/// Frames without fire after a phase changed.
pub const QUIET_FRAMES: u8 = 60;
/// Frames after which a phase fires faster.
const HURRY_FRAMES: u16 = 3_600;
/// Frames in which a struck boss is drawn bright.
const HURT_FRAMES: u8 = 3;
/// Hit points of the five bosses for one player.
const HURTS: [u32; 5] = [330, 360, 450, 420, 640];
/// Most parts of a boss.
pub const PARTS: usize = 5;

/// A part of a boss that moves by itself: a sail, an owl, a finger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Part {
    /// Column of its center, in pixels.
    pub x: i16,
    /// Row of its center, in pixels.
    pub y: i16,
    /// Hit points left, or another number its boss keeps.
    pub hp: u16,
    /// State number, whose meaning is up to the boss.
    pub state: u8,
    /// Frames in or left of this state, as the boss counts.
    pub timer: u8,
}

impl Part {
    /// Center in units.
    pub fn spot(&self) -> Spot {
        at(self.x.into(), self.y.into())
    }
}

/// The boss of a stage, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Boss {
    /// Stage whose boss it is, 1 to 5; 0 if there is none.
    #[state(range = 0..=5)]
    pub kind: u8,
    /// Its phase, 0 to 2.
    #[state(range = 0..=2)]
    pub phase: u8,
    /// Frames left without fire.
    pub quiet: u8,
    /// Frames left in which it is drawn bright.
    pub hurt: u8,
    /// Hit points left.
    pub hp: u16,
    /// Hit points at the start.
    pub full: u16,
    /// Frames since the phase began.
    pub age: u16,
    /// Angle of its fire, which turns.
    pub turn: u16,
    /// Column of its center, in units.
    pub x: i32,
    /// Row of its center, in units.
    pub y: i32,
    /// Parts that move on their own.
    pub parts: [Part; PARTS],
}

/// A box that takes damage or hits geese: center, half its width and height in pixels, number of
/// the part.
pub type Zone = (Spot, (i32, i32), usize);

/// Result of a frame or a hit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The next phase begins.
    Phase,
    /// It is beaten.
    Beaten,
}

impl Boss {
    /// The boss of a stage, for a crew of this difficulty.
    pub fn of(stage: u8, difficulty: crate::difficulty::Difficulty) -> Boss {
        let kind = stage.clamp(1, 5);
        let full = difficulty.hurts(HURTS[usize::from(kind) - 1]) as u16;
        let (x, y) = at(780, 180);
        let mut boss = Boss { kind, hp: full, full, x, y, quiet: 120, ..Boss::default() };
        match kind {
            3 => parliament::begin(&mut boss),
            5 => clutch::begin(&mut boss),
            _ => {}
        }
        boss
    }

    /// Whether the stage has a boss now.
    pub const fn is_here(&self) -> bool {
        self.kind != 0
    }

    /// Center in units.
    pub const fn spot(&self) -> Spot {
        (self.x, self.y)
    }

    /// Whether it fires in this frame, given the frames between two shots. Faster the longer the
    /// phase lasts.
    fn is_due(&self, air: &Air<'_>, frames: u32) -> bool {
        let hurry = if self.age > HURRY_FRAMES { 75 } else { 100 };
        let interval = (air.difficulty.interval(frames) * hurry / 100).max(1);
        self.quiet == 0 && u32::from(self.age).is_multiple_of(interval)
    }

    /// Moves up to one step toward a place in pixels.
    fn approach(&mut self, x: i32, y: i32, step: i32) {
        (self.x, self.y) = (toward(self.x, x * PX, step), toward(self.y, y * PX, step));
    }

    /// Moves and fires for one frame.
    pub fn step(&mut self, air: &mut Air<'_>) {
        self.age = self.age.saturating_add(1);
        self.quiet = self.quiet.saturating_sub(1);
        self.hurt = self.hurt.saturating_sub(1);
        match self.kind {
            1 => murmuration::step(self, air),
            2 => mill::step(self, air),
            3 => parliament::step(self, air),
            4 => hern::step(self, air),
            5 => clutch::step(self, air),
            _ => {}
        }
    }

    /// Ring of starlings, if there is one: center, radius in pixels, direction of its gap.
    pub fn ring(&self) -> Option<(Spot, i32, Angle)> {
        let ring = self.parts[0];
        let is_there = self.kind == 1 && self.phase == 2 && ring.hp > 0;
        is_there.then(|| (ring.spot(), ring.hp.into(), Angle::from_bits(u16::from(ring.state) << 8)))
    }

    /// Place of the fist in units and whether it is closed, if one is marked or closed.
    pub fn fist(&self) -> Option<(Spot, bool)> {
        if self.kind == 5 { clutch::closing(self) } else { None }
    }

    /// Row in units along which Old Hern charges or is about to.
    pub fn charge(&self) -> Option<i32> {
        (self.kind == 4 && hern::is_charging(self)).then_some(self.y)
    }

    /// Whether the beak of Old Hern is shut, or the palm of the Clutch open.
    pub fn is_turned(&self) -> bool {
        match self.kind {
            4 => hern::is_shut(self),
            5 => clutch::is_open(self),
            _ => false,
        }
    }

    /// Where something is about to happen from this frame on: a beak that shuts, a fist's mark.
    pub(crate) fn warning(&self) -> Option<Spot> {
        match self.kind {
            4 => hern::warning(self),
            5 => clutch::warning(self),
            _ => None,
        }
    }

    /// Half beaten, for those who come to see it only then.
    #[must_use]
    pub(crate) fn half_beaten(self) -> Boss {
        Boss { hp: self.full / 2, phase: 1, ..self }
    }

    /// The spots that take damage.
    pub fn spots(&self, mut each: impl FnMut(Zone)) {
        match self.kind {
            1 => each((self.spot(), (10, 14), 0)),
            2 => each((mill::spot(self), (10, 16), 0)),
            3 => parliament::spots(self, each),
            4 => hern::spots(self, each),
            5 => clutch::spots(self, each),
            _ => {}
        }
    }

    /// Boxes that hit geese.
    pub fn bodies(&self, mut each: impl FnMut(Zone)) {
        match self.kind {
            2 => mill::bodies(self, each),
            3 => parliament::spots(self, each),
            4 => hern::bodies(self, each),
            5 => clutch::bodies(self, each),
            _ => each((self.spot(), (6, 4), 0)),
        }
    }

    /// Calls with each goose that touches a body.
    pub fn touch(&self, geese: &[Goose; FLOCK], mut touched: impl FnMut(usize)) {
        if !self.is_here() {
            return;
        }
        for (which, goose) in geese.iter().enumerate().filter(|(_, goose)| goose.is_exposed()) {
            let mut hit = self.kind == 1 && murmuration::closes_on(self, goose.spot());
            self.bodies(|(spot, half, _)| {
                hit |= boxed(goose.spot(), spot, (half.0 + 2) * PX, (half.1 + 2) * PX);
            });
            if hit {
                touched(which);
            }
        }
    }

    /// Lets quills hit. Calls with the goose that shot and the place of each hit.
    pub fn strike(&mut self, quills: &mut Quills, mut hit: impl FnMut(usize, Spot)) -> Option<Change> {
        if !self.is_here() {
            return None;
        }
        let mut zones = [((0, 0), (0, 0), 0); PARTS];
        let mut count = 0;
        self.spots(|zone| {
            if count < PARTS {
                zones[count] = zone;
                count += 1;
            }
        });
        let mut hurts = [0; PARTS];
        for quill in quills.iter_mut() {
            let spot = (quill.x - 4 * PX, quill.y);
            let struck = zones[..count]
                .iter()
                .find(|(middle, half, _)| boxed(spot, *middle, (half.0 + 4) * PX, (half.1 + 1) * PX));
            if let Some((_, _, part)) = struck {
                quill.kind = 0;
                hurts[*part] += 1;
                hit(usize::from(quill.seat), spot);
            }
        }
        hurts
            .iter()
            .enumerate()
            .filter(|(_, hurts)| **hurts > 0)
            .fold(None, |change, (part, hurts)| self.wound(part, *hurts).or(change))
    }

    /// Damages a part.
    pub fn wound(&mut self, part: usize, hurts: u16) -> Option<Change> {
        if self.quiet > QUIET_FRAMES || self.hp == 0 {
            return None;
        }
        self.hurt = HURT_FRAMES;
        let hurts = match self.kind {
            3 => parliament::wound(self, part, hurts),
            5 => clutch::wound(self, part, hurts),
            _ => hurts,
        };
        self.hp = self.hp.saturating_sub(hurts);
        if self.hp == 0 {
            return Some(Change::Beaten);
        }
        let left = u32::from(self.hp) * 3 / u32::from(self.full.max(1));
        let due = 2 - left.min(2) as u8;
        if due <= self.phase {
            return None;
        }
        self.phase = due;
        self.age = 0;
        self.quiet = QUIET_FRAMES;
        if self.kind != 3 && self.kind != 5 {
            self.parts = Default::default();
        }
        Some(Change::Phase)
    }
}

/// Height of a sine wave with this amplitude in pixels and period in frames.
fn sway(pixels: i32, age: u16, frames: i32) -> i32 {
    crate::sky::polar(Angle::from_bits((i32::from(age) * 65_536 / frames) as u16), pixels).1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difficulty::Difficulty;
    use crate::ember::Embers;
    use crate::goose::{Flight, Seat};
    use gaggle_kit::Prng;

    /// Plays a boss against a goose that stands still, hitting it where it can be hit.
    fn fight(stage: u8, hurts_each: u16) -> (u32, usize, Vec<Change>) {
        let difficulty = Difficulty::of(1);
        let mut boss = Boss::of(stage, difficulty);
        let mut geese = [Goose::default(); FLOCK];
        let (x, y) = at(150, 170);
        geese[0] = Goose { seat: Seat::Person, flight: Flight::Flying, x, y, ..Goose::default() };
        let (mut embers, mut random) = (Embers::default(), Prng::new(7));
        let (mut most, mut changes) = (0, Vec::new());
        for frame in 0..20_000 {
            let geese = &geese;
            let air =
                &mut Air { geese, embers: &mut embers, random: &mut random, difficulty, is_fleeing: false };
            boss.step(air);
            embers.step();
            most = most.max(embers.count());
            boss.touch(geese, |_| {});
            let mut quills = Quills::default();
            if frame % 20 == 0 {
                boss.spots(|(spot, _, _)| (0..hurts_each).for_each(|_| quills.throw(0, spot, 0)));
            }
            if let Some(change) = boss.strike(&mut quills, |_, _| {}) {
                changes.push(change);
                if change == Change::Beaten {
                    return (frame, most, changes);
                }
            }
        }
        panic!("boss {stage} is never beaten: {boss:?}");
    }

    #[test]
    fn every_boss_fires_changes_twice_and_is_beaten() {
        for stage in 1..=5 {
            let (frames, most, changes) = fight(stage, 8);
            assert_eq!(changes, [Change::Phase, Change::Phase, Change::Beaten], "boss {stage}");
            assert!(most > 20, "boss {stage} fired {most}");
            assert!(frames > 400, "boss {stage} took {frames}");
        }
    }

    #[test]
    fn six_players_meet_more_hurts() {
        assert_eq!(Boss::of(1, Difficulty::of(1)).hp, 330);
        assert_eq!(Boss::of(1, Difficulty::of(6)).hp, 1_155);
    }

    #[test]
    fn boss_that_comes_in_takes_no_damage() {
        let mut boss = Boss::of(2, Difficulty::of(1));
        assert_eq!(boss.wound(0, 50), None);
        assert_eq!(boss.hp, boss.full);
    }
}
