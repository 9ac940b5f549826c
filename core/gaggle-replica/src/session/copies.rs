//! Differences that were written in this tick, kept for the next receiver: those who have the same values to build on are told
//! the same bits.

use crate::sink::Register;
use crate::store::Place;

/// The ticks a difference is built on, the newer first. There may be [`NEVER`](crate::history::NEVER) an older.
pub(super) type Base = (u32, u32);

/// A difference.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) base: Base,
    /// Not whole if it is too long to be kept.
    pub(super) bits: Register,
}

/// The ticks of the values it was to be built on.
pub(super) type Key = Base;

/// A few for every object: receivers differ by their distance and by what got lost.
const KEPT: usize = 4;

/// Those of one object.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    /// The tick they tell of.
    tick: u32,
    /// How many were kept in it.
    count: usize,
    keys: [Key; KEPT],
    written: [Written; KEPT],
}

#[derive(Debug, Default)]
pub(super) struct Copies {
    of: Vec<Kept>,
}

impl Copies {
    #[inline]
    pub(super) fn get(&self, place: Place, tick: u32, key: Key) -> Option<&Written> {
        let kept = self.of.get(place as usize).filter(|kept| kept.tick == tick)?;
        let index = kept.keys[..kept.count.min(KEPT)].iter().position(|held| *held == key)?;
        Some(&kept.written[index])
    }

    #[inline]
    pub(super) fn put(&mut self, place: Place, tick: u32, key: Key, copy: Written) {
        let place = place as usize;
        if self.of.len() <= place {
            self.of.resize(place + 1, Kept::default());
        }
        let kept = &mut self.of[place];
        if kept.tick != tick {
            (kept.tick, kept.count) = (tick, 0);
        }
        // The oldest makes room.
        let index = kept.count % KEPT;
        kept.count += 1;
        kept.keys[index] = key;
        kept.written[index] = copy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_of_a_tick_are_kept() {
        let mut copies = Copies::default();
        let copy = |newer| Written { base: (newer, 0), bits: Register::default() };
        for newer in 1..=5 {
            copies.put(3, 9, (newer, 0), copy(newer));
        }
        assert!(copies.get(3, 9, (1, 0)).is_none() && copies.get(0, 9, (2, 0)).is_none());
        for newer in 2..=5 {
            assert_eq!(copies.get(3, 9, (newer, 0)).map(|copy| copy.base), Some((newer, 0)));
            assert!(copies.get(3, 10, (newer, 0)).is_none(), "it is of another tick");
        }
        copies.put(3, 10, (2, 0), copy(2));
        assert!(copies.get(3, 10, (2, 0)).is_some() && copies.get(3, 10, (3, 0)).is_none());
    }
}
