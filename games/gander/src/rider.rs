//! The three classes of riders one jousts against, and one such rider on his brent.
//!
//! What he wants is `mind.rs`; what becomes of him when he loses is `egg.rs`.

use gaggle_kit::State;

use crate::mind::Mind;
use crate::mover::Mover;

/// Places for riders. Who hatches was a rider of the wave before, so the largest wave fits, and an
/// egg wave's eggs do too.
pub const RIDERS: usize = 16;

const _: () = assert!(RIDERS >= crate::waves::RIDERS_MAX && RIDERS >= crate::egg::EGGS);
/// How often a rider may come back from an egg before he rests in peace.
pub const EGGS_EACH: u8 = 4;
/// Frames a rider takes to appear on a pad. Nobody can touch him meanwhile, nor he anybody.
pub const EMERGE_FRAMES: u8 = 60;

/// What a rider is worth and how clever he is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, State)]
#[repr(u8)]
pub enum Class {
    /// Kettle hat, rust red: roams, and now and then comes for you.
    #[default]
    Knave,
    /// Pointed helm, pewter: seeks your height.
    Reeve,
    /// Antlered skull, violet: seeks to be above you, and flees when he isn't.
    Wraith,
}

impl Class {
    /// By number: 0, 1, 2; anything higher is a wraith.
    pub const fn nth(number: usize) -> Class {
        match number {
            0 => Class::Knave,
            1 => Class::Reeve,
            _ => Class::Wraith,
        }
    }

    /// The class he hatches into.
    #[must_use]
    pub const fn hatched(self) -> Class {
        Class::nth(self as usize + 1)
    }

    /// Points for unseating him.
    pub const fn points(self) -> u16 {
        match self {
            Class::Knave => 500,
            Class::Reeve => 750,
            Class::Wraith => 1500,
        }
    }
}

/// One rider in the saddle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Rider {
    /// Whether there is one in this place.
    pub live: bool,
    /// Class of the rider.
    pub class: Class,
    /// Eggs he still has.
    pub eggs: u8,
    /// Frames until he has appeared.
    pub emerging: u8,
    /// Bird of the rider.
    pub mover: Mover,
    /// What he is up to.
    pub mind: Mind,
}

impl Rider {
    /// Whether he can be touched.
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
    fn a_knave_hatches_as_a_reeve_and_a_reeve_as_a_wraith() {
        assert_eq!(Class::Knave.hatched(), Class::Reeve);
        assert_eq!(Class::Reeve.hatched(), Class::Wraith);
        assert_eq!(Class::Wraith.hatched(), Class::Wraith);
    }
}
