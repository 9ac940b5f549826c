//! The two pits of fire beside the Hearthstone, and the bridges that span them until they burn.
//!
//! Called by `tick.rs`, `flow.rs` and `ledges.rs`. Absent: when they burn (`waves.rs`).

use gaggle_kit::State;

use crate::arena::{FIRE, HEARTHSTONE, LEDGE, PX, WIDTH, over_pit, wrap};

/// Frames from the first flame to the last plank.
pub const BURN_FRAMES: u8 = 120;
/// Sag of the bridges in the middle of their span, in pixels.
const SAG: i32 = 3;
/// Length of a plank in pixels; planks fall one by one.
pub const PLANK: i32 = 4;
/// Where each bridge catches fire and its reach to either side, in pixels.
pub const BRIDGE: [(i32, i32); 2] = [(31, 31), (346, 38)];

/// Both bridges: one span across the edge, held by the Hearthstone at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Bridges {
    /// Frames since the first flame, 0 before it, up to [`BURN_FRAMES`], when no plank is left.
    #[state(range = 0..=BURN_FRAMES)]
    pub burnt: u8,
}

impl Bridges {
    /// Bridges without a plank.
    pub const GONE: Bridges = Bridges { burnt: BURN_FRAMES };

    /// Sets fire to whole bridges.
    pub fn ignite(&mut self) {
        self.burnt = self.burnt.max(1);
    }

    /// Whether planks are burning in this frame.
    pub const fn burning(&self) -> bool {
        self.burnt > 0 && self.burnt < BURN_FRAMES
    }

    /// Advances a fire by one frame.
    pub fn step(&mut self) {
        if self.burning() {
            self.burnt += 1;
        }
    }

    /// Whether the plank at pixel `x` is left. The fire runs from the middle of each bridge
    /// outward.
    pub fn plank(&self, x: i32) -> bool {
        if self.burnt == 0 {
            return true;
        }
        let x = x.div_euclid(PLANK) * PLANK + PLANK / 2;
        let (middle, reach) = BRIDGE[usize::from(x > WIDTH / 2)];
        (x - middle).abs() * i32::from(BURN_FRAMES) > i32::from(self.burnt) * (reach + PLANK)
    }

    /// Height of the bridge at `x`, in sub-pixels, where a plank is left.
    pub fn surface(&self, x: i32) -> Option<i32> {
        (self.burnt < BURN_FRAMES && over_pit(x) && self.plank(x / PX)).then(|| hang(x))
    }
}

/// Height of a whole bridge at `x`, in sub-pixels: a parabola between the ends of the rock.
pub fn hang(x: i32) -> i32 {
    let rock = &LEDGE[HEARTHSTONE];
    let span = WIDTH - rock.width;
    let along = wrap(x - (rock.x + rock.width) * PX) / PX;
    rock.top * PX + 4 * SAG * PX * along * (span - along) / (span * span)
}

/// Whether feet at `y`, in sub-pixels, are in the fire.
pub const fn in_fire(y: i32) -> bool {
    y > FIRE * PX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_bridge_spans_pits_and_nothing_else() {
        let whole = Bridges::default();
        for x in 0..WIDTH {
            assert_eq!(whole.surface(x * PX).is_some(), over_pit(x * PX), "{x}");
        }
        let deepest = (0..WIDTH).filter_map(|x| whole.surface(x * PX)).max();
        assert_eq!(deepest, Some((LEDGE[HEARTHSTONE].top + SAG) * PX));
    }

    #[test]
    fn planks_fall_from_middle_outward_until_none_is_left() {
        let mut bridges = Bridges::default();
        bridges.ignite();
        let mut left = usize::MAX;
        for _ in 1..BURN_FRAMES {
            bridges.step();
            let now = (0..WIDTH).filter(|&x| bridges.surface(x * PX).is_some()).count();
            assert!(now <= left);
            left = now;
        }
        assert_eq!(left, 0);
        assert!(!bridges.burning());
        let half = Bridges { burnt: BURN_FRAMES / 2 };
        assert!(
            half.surface(31 * PX).is_none()
                && half.surface(2 * PX).is_some()
                && half.surface(60 * PX).is_some()
        );
    }
}
