//! Weapons from eggs: puffballs, hornets, lanterns; and the eggs.
//!
//! The referee's rules spawn and step them. Absent: what they hit.

use gaggle_kit::{Angle, Fixed16, Prng, State};
use gaggle_replica::Kind;

use crate::craft::Craft;
use crate::field::{self, Vec2};
use crate::standing::Load;

/// Puffballs at most; more are dropped.
pub const PUFFBALLS: usize = 12;
/// Hornets at most; more are dropped.
pub const HORNETS: usize = 8;
/// Eggs at most; more are dropped.
pub const EGGS: usize = 6;

/// Frames until a puffball can burst, also at the craft that laid it.
pub const PUFFBALL_ARMED: u16 = 45;
/// Frames until an unburst puffball disappears.
const PUFFBALL_FRAMES: u16 = 1_200;
/// Distance at which it bursts, in pixels.
pub const PUFFBALL_REACH: i32 = 13;
/// Reach of its burst, in pixels.
pub const PUFFBALL_BLAST: i32 = 28;

/// A mine that bursts when a craft comes near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 2)]
pub struct Puffball {
    /// Position of the center.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 8.0, constant)]
    pub place: Vec2,
    /// Seat that laid it.
    #[kind(constant)]
    pub seat: u8,
    /// Whether it bursts when a craft comes near.
    pub armed: bool,
    /// Frames since it was laid, at spawn. Sent once; the leader counts it up.
    #[kind(constant)]
    pub age: u16,
}

impl Puffball {
    /// A puffball behind a craft.
    pub fn behind(craft: &Craft) -> Puffball {
        let place = field::add(craft.place, field::from_polar(craft.heading, Fixed16::from_int(-9)));
        Puffball { place, seat: craft.seat, ..Puffball::default() }
    }

    /// Ages it by one frame. Returns whether it is still there.
    pub fn step(&mut self) -> bool {
        self.age = self.age.saturating_add(1);
        self.armed = self.age >= PUFFBALL_ARMED;
        self.age < PUFFBALL_FRAMES
    }
}

/// Speed of a hornet, in pixels per second.
const HORNET_SPEED: i32 = 122;
/// Turn of a hornet per frame, in 1/65,536 of a circle.
const HORNET_TURN: u16 = 560;
/// Frames a hornet flies at most.
const HORNET_FRAMES: u8 = 220;

/// A wasp that follows the nearest craft.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.35, snap_distance = 120.0, priority = 4)]
pub struct Hornet {
    /// Position of the center.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 16.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -160.0..=160.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Direction of its flight.
    #[kind(angle = 8)]
    pub heading: Angle,
    /// Seat that released it.
    #[kind(constant)]
    pub seat: u8,
    /// Frames left at spawn. Sent once; the leader counts it down.
    #[kind(constant)]
    pub left: u8,
}

impl Hornet {
    /// A hornet at the craft's bill, in the direction of its heading.
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

    /// Moves it by one frame toward its target. Returns whether it still flies.
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

/// Frames a lantern glows before it burns: the warning to others.
pub const LANTERN_WARMS: u8 = 16;
/// Frames from the first glow to the end of the beam.
pub const LANTERN_FRAMES: u8 = 40;
/// Half the width of the beam, in pixels.
pub const LANTERN_HALF: i32 = 3;

/// A beam from a craft's bill to the wall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 6)]
pub struct Lantern {
    /// Start of the beam, at the bill.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 8.0)]
    pub place: Vec2,
    /// Direction of the beam.
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
    /// Whether the beam hits now.
    pub fn burns(&self) -> bool {
        (LANTERN_WARMS..LANTERN_FRAMES).contains(&self.age)
    }

    /// Whether a body of this radius is in the beam.
    pub fn meets(&self, place: Vec2, radius: i32) -> bool {
        let [x, y] = field::offset(self.place, place);
        let (cos, sin) = (self.heading.cos::<16>(), self.heading.sin::<16>());
        let (ahead, aside) = (x * cos + y * sin, y * cos - x * sin);
        ahead > Fixed16::ZERO && aside.abs() < Fixed16::from_int(radius + LANTERN_HALF)
    }
}

/// Frames until an egg disappears.
const EGG_FRAMES: u16 = 1_100;

/// An egg and the load it holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 2)]
pub struct Egg {
    /// Position of the center.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 8.0, constant)]
    pub place: Vec2,
    /// Load of the drake that takes it.
    #[kind(constant)]
    pub load: Load,
    /// Frames since it was laid, at spawn. Sent once; the leader counts it up.
    #[kind(constant)]
    pub age: u16,
}

impl Egg {
    /// An egg with a random load.
    pub fn at(place: Vec2, random: &mut Prng) -> Egg {
        let load = random.pick(&Load::ALL).copied().unwrap_or_default();
        Egg { place, load, ..Egg::default() }
    }

    /// Ages it by one frame. Returns whether it is still there.
    pub fn step(&mut self) -> bool {
        self.age = self.age.saturating_add(1);
        self.age < EGG_FRAMES
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hornet_turns_and_reaches_its_target() {
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
    fn lantern_hits_ahead_and_not_behind() {
        let lantern = Lantern { place: field::MIDDLE, ..Lantern::default() };
        let at = |x, y| field::add(field::MIDDLE, [Fixed16::from_int(x), Fixed16::from_int(y)]);
        assert!(lantern.meets(at(90, 5), 6) && !lantern.meets(at(90, 12), 6));
        assert!(!lantern.meets(at(-20, 0), 6));
    }

    #[test]
    fn puffballs_and_eggs_expire() {
        let mut puffball = Puffball::default();
        assert!((0..2_000).any(|_| !puffball.step()));
        let mut egg = Egg::default();
        assert!((0..2_000).any(|_| !egg.step()));
    }
}
