//! Lightning: columns that are marked, strike and vanish.
//!
//! Made by `course`, moved by `tick`. Absent: geese other than as boxes.

use gaggle_kit::State;

use crate::ember::HIT_HALF;
use crate::goose::{FLOCK, Goose};
use crate::sky::PX;

/// Most bolts at the same time.
pub const BOLTS: usize = 4;
/// Half the width of a column, in pixels.
pub const HALF: i32 = 6;
/// Frames for which a column is marked before the strike.
pub const MARKED: u8 = 75;
/// Frames for which the strike lasts.
pub const STRIKES: u8 = 10;

/// One column of lightning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Bolt {
    /// Center column, in pixels.
    pub x: i16,
    /// Frames left, the strike being last; 0 is a free entry.
    pub left: u8,
}

impl Bolt {
    /// A column that is marked from this frame on.
    pub fn marked(x: i32) -> Bolt {
        Bolt { x: x as i16, left: MARKED + STRIKES }
    }

    /// Whether it strikes.
    pub const fn is_striking(&self) -> bool {
        self.left > 0 && self.left <= STRIKES
    }
}

/// Marks a column. False if no entry is free.
pub fn mark(bolts: &mut [Bolt; BOLTS], x: i32) -> bool {
    let free = bolts.iter_mut().find(|bolt| bolt.left == 0);
    let found = free.is_some();
    free.into_iter().for_each(|bolt| *bolt = Bolt::marked(x));
    found
}

/// Calls with each goose that a strike hits.
pub fn touch(bolts: &[Bolt; BOLTS], geese: &[Goose; FLOCK], mut touched: impl FnMut(usize)) {
    for (which, goose) in geese.iter().enumerate().filter(|(_, goose)| goose.is_exposed()) {
        let reach = HALF * PX + HIT_HALF;
        let hits = |bolt: &Bolt| bolt.is_striking() && (goose.x - i32::from(bolt.x) * PX).abs() <= reach;
        if bolts.iter().any(hits) {
            touched(which);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::{Flight, Seat};

    #[test]
    fn column_strikes_after_its_mark_and_goes_out() {
        let mut bolts = [Bolt::default(); BOLTS];
        assert!(mark(&mut bolts, 100));
        let mut geese = [Goose::default(); FLOCK];
        geese[0] = Goose { seat: Seat::Person, flight: Flight::Flying, x: 104 * PX, ..Goose::default() };
        let mut struck = Vec::new();
        for frame in 0..100 {
            touch(&bolts, &geese, |_| struck.push(frame));
            bolts.iter_mut().for_each(|bolt| bolt.left = bolt.left.saturating_sub(1));
        }
        assert_eq!((struck.first(), struck.len()), (Some(&75), 10));
    }

    #[test]
    fn fifth_column_is_left_out() {
        let mut bolts = [Bolt::default(); BOLTS];
        assert!((0..4).all(|nth| mark(&mut bolts, nth)));
        assert!(!mark(&mut bolts, 9));
    }
}
