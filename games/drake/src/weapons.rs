//! What comes out of eggs: puffballs, hornets and lanterns; and the eggs.

use gaggle_kit::{Angle, Fixed16, Prng, State};
use gaggle_replica::Kind;

use crate::craft::Craft;
use crate::field::{self, Vec2};
use crate::standing::Load;

/// Puffballs at most.
pub const PUFFBALLS: usize = 12;
/// Hornets at most.
pub const HORNETS: usize = 8;
/// Eggs at most.
pub const EGGS: usize = 6;

/// Frames a puffball takes to become dangerous, also to whoever laid it.
pub const PUFFBALL_ARMED: u16 = 45;
/// Frames until it withers.
const PUFFBALL_FRAMES: u16 = 1_200;
/// Pixels at which it bursts.
pub const PUFFBALL_REACH: i32 = 13;
/// Pixels its spores reach.
pub const PUFFBALL_BLAST: i32 = 28;

/// A ball that bursts when somebody comes near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 2)]
pub struct Puffball {
    /// Position of the middle.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 8.0, constant)]
    pub place: Vec2,
    /// Who laid it.
    #[kind(constant)]
    pub seat: u8,
    /// Whether it would burst.
    pub armed: bool,
    /// Frames it has lain there. Told once: whoever referees counts on.
    #[kind(constant)]
    pub age: u16,
}

impl Puffball {
    /// Behind a drake.
    pub fn behind(craft: &Craft) -> Puffball {
        let place = field::add(craft.place, field::from_polar(craft.heading, Fixed16::from_int(-9)));
        Puffball { place, seat: craft.seat, ..Puffball::default() }
    }

    /// One frame. Says whether it is still there.
    pub fn step(&mut self) -> bool {
        self.age = self.age.saturating_add(1);
        self.armed = self.age >= PUFFBALL_ARMED;
        self.age < PUFFBALL_FRAMES
    }
}

/// Pixels a second of a hornet.
const HORNET_SPEED: i32 = 122;
/// How sharply it turns in a frame.
const HORNET_TURN: u16 = 560;
/// Frames until it tires.
const HORNET_FRAMES: u8 = 220;

/// A wasp that follows the nearest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.35, snap_distance = 120.0, priority = 4)]
pub struct Hornet {
    /// Position of the middle.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 16.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -160.0..=160.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Where it is headed.
    #[kind(angle = 8)]
    pub heading: Angle,
    /// Who let it out.
    #[kind(constant)]
    pub seat: u8,
    /// Frames left. Told once: whoever referees counts on.
    #[kind(constant)]
    pub left: u8,
}

impl Hornet {
    /// Out of a bill.
    pub fn from(craft: &Craft) -> Hornet {
        let velocity = field::from_polar(craft.heading, Fixed16::from_int(HORNET_SPEED));
        Hornet {
            place: craft.bill(),
            velocity,
            heading: craft.heading,
            seat: craft.seat,
            left: HORNET_FRAMES,
        }
    }

    /// One frame after its prey. Says whether it is still there.
    pub fn step(&mut self, prey: Option<Vec2>) -> bool {
        if let Some(prey) = prey {
            let there = field::direction(field::offset(self.place, prey));
            self.heading = self.heading.rotated_towards(there, HORNET_TURN);
        }
        self.velocity = field::from_polar(self.heading, Fixed16::from_int(HORNET_SPEED));
        self.place = field::moved(self.place, self.velocity);
        self.left = self.left.saturating_sub(1);
        self.left > 0 && field::inside(self.place)
    }
}

/// Frames a lantern glows before it burns, so that there is time to be elsewhere.
pub const LANTERN_WARMS: u8 = 16;
/// Frames from its first glow to its end.
pub const LANTERN_FRAMES: u8 = 40;
/// Pixels from its middle line to its edge.
pub const LANTERN_HALF: i32 = 3;

/// A beam across the coop, from a bill to the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 6)]
pub struct Lantern {
    /// Where it begins.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 8.0)]
    pub place: Vec2,
    /// Where it points.
    #[kind(angle = 9)]
    pub heading: Angle,
    /// Slot of its player.
    #[kind(constant)]
    pub seat: u8,
    /// Frames since it began to glow.
    #[kind(range = 0..=40, step)]
    pub age: u8,
}

impl Lantern {
    /// Whether it burns what is in its way.
    pub fn burns(&self) -> bool {
        (LANTERN_WARMS..LANTERN_FRAMES).contains(&self.age)
    }

    /// Whether a body is in its way.
    pub fn meets(&self, place: Vec2, radius: i32) -> bool {
        let [x, y] = field::offset(self.place, place);
        let (cos, sin) = (self.heading.cos::<16>(), self.heading.sin::<16>());
        let (ahead, aside) = (x * cos + y * sin, y * cos - x * sin);
        ahead > Fixed16::ZERO && aside.abs() < Fixed16::from_int(radius + LANTERN_HALF)
    }
}

/// Frames until an egg nobody takes is gone.
const EGG_FRAMES: u16 = 1_100;

/// An egg, and what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 2)]
pub struct Egg {
    /// Position of the middle.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 8.0, constant)]
    pub place: Vec2,
    /// What is in it.
    #[kind(constant)]
    pub load: Load,
    /// Frames it has lain there. Told once: whoever referees counts on.
    #[kind(constant)]
    pub age: u16,
}

impl Egg {
    /// Egg with random contents at a place.
    pub fn at(place: Vec2, random: &mut Prng) -> Egg {
        let load = random.pick(&Load::ALL).copied().unwrap_or_default();
        Egg { place, load, ..Egg::default() }
    }

    /// One frame. Says whether it is still there.
    pub fn step(&mut self) -> bool {
        self.age = self.age.saturating_add(1);
        self.age < EGG_FRAMES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hornet_comes_around_to_its_prey() {
        let craft = Craft { place: field::MIDDLE, heading: Angle::HALF, ..Craft::default() };
        let prey = field::add(field::MIDDLE, [Fixed16::from_int(80), Fixed16::from_int(10)]);
        let mut hornet = Hornet::from(&craft);
        let reached = (0..200).any(|_| {
            hornet.step(Some(prey));
            field::is_within(hornet.place, prey, 8)
        });
        assert!(reached);
    }

    #[test]
    fn a_lantern_meets_what_is_ahead_and_nothing_behind() {
        let lantern = Lantern { place: field::MIDDLE, ..Lantern::default() };
        let at = |x, y| field::add(field::MIDDLE, [Fixed16::from_int(x), Fixed16::from_int(y)]);
        assert!(lantern.meets(at(90, 5), 6) && !lantern.meets(at(90, 12), 6));
        assert!(!lantern.meets(at(-20, 0), 6));
    }

    #[test]
    fn puffballs_and_eggs_do_not_last_for_ever() {
        let mut puffball = Puffball::default();
        assert!((0..2_000).any(|_| !puffball.step()));
        let mut egg = Egg::default();
        assert!((0..2_000).any(|_| !egg.step()));
    }
}
