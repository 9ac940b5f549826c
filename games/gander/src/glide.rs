//! Level flight of what does not flap for height: Herns and the goose that fetches a hatchling.
//!
//! Called by `hern.rs` and `egg.rs`. Absent: which height they want.

use crate::arena::{LEDGE, PX, wrap};
use crate::ledges::Ground;

/// Distance ahead that is kept free of ledges, in sub-pixels.
const AHEAD: i32 = 40 * PX;
/// Distance kept from a ledge, in sub-pixels.
const ROOM: i32 = 2 * PX;

/// Body in level flight, in sub-pixels.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glide {
    /// Horizontal middle of the body.
    pub(crate) x: i32,
    /// Height it is steered by.
    pub(crate) y: i32,
    /// Whether it flies left.
    pub(crate) left: bool,
    /// Extent above that height.
    pub(crate) above: i32,
    /// Extent below that height.
    pub(crate) below: i32,
}

impl Glide {
    /// Height nearest to `want` that leads into no ledge.
    pub(crate) fn steer(&self, want: i32, ground: &Ground) -> i32 {
        let probe = wrap(if self.left { self.x - AHEAD / 2 } else { self.x + AHEAD / 2 });
        let mut want = want;
        // Ledges are tried twice: a height clear of one may lead into its neighbor.
        for number in (0..LEDGE.len()).chain(0..LEDGE.len()) {
            let ledge = &LEDGE[number];
            let in_the_way = ground.bears(number)
                && self.y.max(want) + self.below > ledge.top * PX
                && self.y.min(want) - self.above < ledge.bottom() * PX
                && ledge.spans(probe, AHEAD / 2 + 6 * PX);
            if in_the_way {
                let middle = self.y + (self.below - self.above) / 2;
                let over = middle < (ledge.top + ledge.bottom()) * PX / 2;
                want = if over {
                    ledge.top * PX - self.below - ROOM
                } else {
                    ledge.bottom() * PX + self.above + ROOM
                };
            }
        }
        want
    }
}
