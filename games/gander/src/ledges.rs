//! Phases of the ledges, which leave and return between waves, and what bears weight.
//!
//! Called by `flow.rs` and `tick.rs`; `Ground` by all that moves. Absent: which ledges a wave lacks
//! (`waves.rs`).

use gaggle_kit::State;

use crate::arena::{HEARTHSTONE, HIGH_SEDGE, LEDGE, LEDGES, LONG_EYOT, LOW_EYOT, PX};
use crate::pits::Bridges;

/// Frames a ledge shakes before it drops, and frames it takes to rise.
pub const LEDGE_FRAMES: u8 = 60;

/// Ledges a wave can lack, one bit each.
pub const REMOVABLE: u8 = 1 << HIGH_SEDGE | 1 << LONG_EYOT | 1 << LOW_EYOT;

/// Phase of a ledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum LedgePhase {
    /// The ledge bears weight.
    #[default]
    There,
    /// It shakes, but still bears weight.
    Leaving,
    /// It is gone.
    Gone,
    /// It rises, and does not bear weight yet.
    Returning,
}

/// State of one ledge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct LedgeState {
    /// Phase of the ledge.
    pub phase: LedgePhase,
    /// Frames left of `Leaving` or `Returning`.
    pub left: u8,
}

/// State of all ledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Ledges {
    /// State by number of the ledge.
    pub state: [LedgeState; LEDGES],
}

/// Ledges that changed in a frame, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LedgeChanges {
    /// Ledges that no longer bear weight.
    pub dropped: u8,
    /// Ledges that bear weight again.
    pub returned: u8,
}

impl Ledges {
    /// Lets the ledges in `gone` leave and all others return. Those not in [`REMOVABLE`] stay.
    pub fn arrange(&mut self, gone: u8) {
        for (number, ledge) in self.state.iter_mut().enumerate() {
            let away = gone & REMOVABLE & 1 << number != 0;
            let phase = match (away, ledge.phase) {
                (true, LedgePhase::There | LedgePhase::Returning) => LedgePhase::Leaving,
                (false, LedgePhase::Gone | LedgePhase::Leaving) => LedgePhase::Returning,
                (_, phase) => phase,
            };
            if phase != ledge.phase {
                *ledge = LedgeState { phase, left: LEDGE_FRAMES };
            }
        }
    }

    /// Advances leaving and returning ledges by one frame.
    pub fn step(&mut self) -> LedgeChanges {
        let mut changes = LedgeChanges::default();
        for (number, ledge) in self.state.iter_mut().enumerate() {
            let (next, changed) = match ledge.phase {
                LedgePhase::Leaving => (LedgePhase::Gone, &mut changes.dropped),
                LedgePhase::Returning => (LedgePhase::There, &mut changes.returned),
                LedgePhase::There | LedgePhase::Gone => continue,
            };
            ledge.left = ledge.left.saturating_sub(1);
            if ledge.left == 0 {
                ledge.phase = next;
                *changed |= 1 << number;
            }
        }
        changes
    }

    /// Ledges that bear weight, one bit each.
    pub fn solid(&self) -> u8 {
        let bears = |ledge: &LedgeState| matches!(ledge.phase, LedgePhase::There | LedgePhase::Leaving);
        let mask = self
            .state
            .iter()
            .enumerate()
            .fold(0, |mask, (number, ledge)| mask | u8::from(bears(ledge)) << number);
        mask | 1 << HEARTHSTONE
    }
}

/// All ground that can be stood on or bumped into in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ground {
    /// Ledges that bear weight, one bit each.
    pub solid: u8,
    /// Bridges over the pits.
    pub bridges: Bridges,
}

impl Ground {
    /// Whether this ledge bears weight.
    #[inline]
    pub const fn bears(&self, ledge: usize) -> bool {
        self.solid & 1 << ledge != 0
    }

    /// First surface that feet at `x`, `half` wide to either side, meet between `from` and `to`.
    #[inline]
    pub fn landing(&self, x: i32, half: i32, from: i32, to: i32) -> Option<i32> {
        // Ledges are ordered from top to bottom, so the first that fits is the first met.
        for (number, ledge) in LEDGE.iter().enumerate() {
            let top = ledge.top * PX;
            if from <= top && to >= top && self.bears(number) && ledge.spans(x, half) {
                return Some(top);
            }
        }
        // A plank is thin and the bridge sags: feet up to 2 pixels below still find it, or walkers
        // would fall through where it rises.
        self.bridges.surface(x).filter(|&top| from <= top + 2 * PX && to >= top)
    }

    /// Surface under feet that stood at `y`, after moving to `x`.
    #[inline]
    pub fn support(&self, x: i32, half: i32, y: i32) -> Option<i32> {
        self.landing(x, half, y - PX, y + 2 * PX)
    }

    /// Ledge that a body from `head` down to `feet`, `half` wide to either side of `x`, is inside
    /// of.
    #[inline]
    pub fn inside(&self, x: i32, half: i32, head: i32, feet: i32) -> Option<usize> {
        (0..LEDGES).find(|&number| {
            let ledge = &LEDGE[number];
            feet > ledge.top * PX && head < ledge.bottom() * PX && self.bears(number) && ledge.spans(x, half)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::{MERE, MOONSTEP};

    #[test]
    fn ledge_bears_while_it_shakes_and_not_while_it_rises() {
        let mut ledges = Ledges::default();
        ledges.arrange(1 << LONG_EYOT);
        for _ in 1..LEDGE_FRAMES {
            assert_eq!(ledges.step(), LedgeChanges::default());
            assert!(ledges.solid() & 1 << LONG_EYOT != 0);
        }
        assert_eq!(ledges.step().dropped, 1 << LONG_EYOT);
        assert!(ledges.solid() & 1 << LONG_EYOT == 0);

        ledges.arrange(0);
        for _ in 1..LEDGE_FRAMES {
            ledges.step();
            assert!(ledges.solid() & 1 << LONG_EYOT == 0);
        }
        assert_eq!(ledges.step().returned, 1 << LONG_EYOT);
        assert!(ledges.solid() & 1 << LONG_EYOT != 0);
    }

    #[test]
    fn moonstep_mere_and_hearthstone_never_leave() {
        let mut ledges = Ledges::default();
        ledges.arrange(u8::MAX);
        for _ in 0..2 * LEDGE_FRAMES {
            ledges.step();
        }
        assert_eq!(ledges.solid(), 1 << MOONSTEP | 1 << MERE | 1 << HEARTHSTONE);
    }

    #[test]
    fn feet_land_on_first_surface_below() {
        let ground = Ground { solid: u8::MAX, bridges: Bridges::default() };
        assert_eq!(ground.landing(160 * PX, 0, 0, 200 * PX), Some(63 * PX));
        assert_eq!(ground.landing(160 * PX, 0, 64 * PX, 200 * PX), Some(145 * PX));
        let without = Ground { solid: !(1 << LOW_EYOT), ..ground };
        assert_eq!(without.landing(160 * PX, 0, 64 * PX, 200 * PX), Some(193 * PX));
        assert_eq!(ground.landing(100 * PX, 0, 0, 190 * PX), None);
    }
}
