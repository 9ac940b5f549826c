//! The two pits of fire beside the Hearthstone and the bridges that span them until they burn.

use gaggle_kit::State;

use crate::arena::{FIRE, HEARTHSTONE, LEDGE, PX, WIDTH, over_pit, wrap};

/// Frames from the first flame to the last plank.
pub const BURN_FRAMES: u8 = 120;
/// How far the bridges hang down in their middle, in pixels.
const SAG: i32 = 3;
/// Length of one plank, in pixels: planks fall one by one.
pub const PLANK: i32 = 4;
/// Where each bridge catches fire, and how far it reaches to either side of that.
pub const BRIDGE: [(i32, i32); 2] = [(31, 31), (346, 38)];

/// The bridges over both pits: one span around the seam, held by the Hearthstone at both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Bridges {
    /// 0 while nothing burns, then the frames since the first flame, up to [`BURN_FRAMES`]: nothing
    /// left.
    #[state(range = 0..=BURN_FRAMES)]
    pub burnt: u8,
}

impl Bridges {
    /// Bridges that have burnt long ago.
    pub const GONE: Bridges = Bridges { burnt: BURN_FRAMES };

    /// Sets fire to bridges that are whole.
    pub fn ignite(&mut self) {
        self.burnt = self.burnt.max(1);
    }

    /// Whether flames are eating planks at the moment.
    pub const fn burning(&self) -> bool {
        self.burnt > 0 && self.burnt < BURN_FRAMES
    }

    /// One frame of burning.
    pub fn step(&mut self) {
        if self.burning() {
            self.burnt += 1;
        }
    }

    /// Whether the plank at pixel `x` is still there. The fire runs from the middle of each bridge
    /// outwards.
    pub fn plank(&self, x: i32) -> bool {
        if self.burnt == 0 {
            return true;
        }
        let x = x.div_euclid(PLANK) * PLANK + PLANK / 2;
        let (middle, reach) = BRIDGE[usize::from(x > WIDTH / 2)];
        (x - middle).abs() * i32::from(BURN_FRAMES) > i32::from(self.burnt) * (reach + PLANK)
    }

    /// The height of the bridge at `x`, if there is one.
    pub fn surface(&self, x: i32) -> Option<i32> {
        (self.burnt < BURN_FRAMES && over_pit(x) && self.plank(x / PX)).then(|| hang(x))
    }
}

/// The height at which the bridge hangs over a pit at `x`: a parabola between the ends of the rock.
pub fn hang(x: i32) -> i32 {
    let rock = &LEDGE[HEARTHSTONE];
    let span = WIDTH - rock.width;
    let along = wrap(x - (rock.x + rock.width) * PX) / PX;
    rock.top * PX + 4 * SAG * PX * along * (span - along) / (span * span)
}

/// Whether something with its feet here is in the fire.
pub const fn in_fire(y: i32) -> bool {
    y > FIRE * PX
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_bridge_spans_the_pits_and_nothing_else() {
        let whole = Bridges::default();
        for x in 0..WIDTH {
            assert_eq!(whole.surface(x * PX).is_some(), over_pit(x * PX), "{x}");
        }
        let deepest = (0..WIDTH).filter_map(|x| whole.surface(x * PX)).max();
        assert_eq!(deepest, Some((LEDGE[HEARTHSTONE].top + SAG) * PX));
    }

    #[test]
    fn planks_fall_from_the_middle_outwards_until_none_is_left() {
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
