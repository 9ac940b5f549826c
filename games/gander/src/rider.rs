//! One rider on a brent goose, and the three classes of riders.
//!
//! Used by all rules of the game. Absent: decisions (`mind.rs`), eggs of unseated riders
//! (`egg.rs`).

use gaggle_kit::State;

use crate::mind::Mind;
use crate::mover::Mover;

/// Places for riders: enough for the largest wave, and for all eggs of an egg wave.
pub const RIDERS: usize = 16;

const _: () = assert!(RIDERS >= crate::waves::RIDERS_MAX && RIDERS >= crate::egg::EGGS);
/// Eggs of a new rider: how many times it can come back.
pub const EGGS_EACH: u8 = 4;
/// Frames a rider takes to appear on a pad. It neither touches nor is touched until then.
pub const EMERGE_FRAMES: u8 = 60;

/// Class of a rider: points and behavior.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum Class {
    /// Kettle hat, rust red: roams, and sometimes hunts a knight.
    #[default]
    Knave,
    /// Pointed helm, pewter: seeks the height of a knight.
    Reeve,
    /// Antlered skull, violet: seeks to be above a knight, and flees when below.
    Wraith,
}

impl Class {
    /// Class by number, 0 to 2; anything higher is a wraith.
    pub const fn nth(number: usize) -> Class {
        match number {
            0 => Class::Knave,
            1 => Class::Reeve,
            _ => Class::Wraith,
        }
    }

    /// Class it hatches into from its egg.
    #[must_use]
    pub const fn hatched(self) -> Class {
        Class::nth(self as usize + 1)
    }

    /// Points for unseating one.
    pub const fn points(self) -> u16 {
        match self {
            Class::Knave => 500,
            Class::Reeve => 750,
            Class::Wraith => 1500,
        }
    }
}

/// One place for a rider.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Rider {
    /// Whether a rider is in this place.
    pub live: bool,
    /// Behavior and worth.
    pub class: Class,
    /// Eggs left: how many times it can come back.
    pub eggs: u8,
    /// Frames until it has appeared.
    pub emerging: u8,
    /// Position and motion of its goose.
    pub mover: Mover,
    /// Memory of its decisions.
    pub mind: Mind,
}

impl Rider {
    /// Whether other bodies can touch it.
    #[inline]
    pub const fn tangible(&self) -> bool {
        self.live && self.emerging == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn riders_are_worth_500_750_and_1500() {
        assert_eq!([0, 1, 2].map(|n| Class::nth(n).points()), [500, 750, 1500]);
    }

    #[test]
    fn knave_hatches_as_reeve_and_reeve_as_wraith() {
        assert_eq!(Class::Knave.hatched(), Class::Reeve);
        assert_eq!(Class::Reeve.hatched(), Class::Wraith);
        assert_eq!(Class::Wraith.hatched(), Class::Wraith);
    }
}
