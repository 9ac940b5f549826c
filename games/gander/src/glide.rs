//! The flight of things that do not flap for height: the Hern and the riderless bird. They keep to
//! a height they want, and clear of ledges on the way.

use crate::arena::{LEDGE, PX, wrap};
use crate::ledges::Ground;

/// How far ahead they look, in sub-pixels.
const AHEAD: i32 = 40 * PX;
/// How far from a ledge they keep, in sub-pixels.
const ROOM: i32 = 2 * PX;

/// Something in level flight.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Glide {
    /// Where it is.
    pub(crate) x: i32,
    /// How high it is.
    pub(crate) y: i32,
    /// Whether it flies left.
    pub(crate) left: bool,
    /// How far it extends above that height, in sub-pixels.
    pub(crate) above: i32,
    /// How far below.
    pub(crate) below: i32,
}

impl Glide {
    /// The height nearest to `want` that it can steer for without flying into a ledge.
    pub(crate) fn steer(&self, want: i32, ground: &Ground) -> i32 {
        let probe = wrap(if self.left { self.x - AHEAD / 2 } else { self.x + AHEAD / 2 });
        let mut want = want;
        // Twice, because keeping clear of one ledge may lead towards its neighbour.
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
