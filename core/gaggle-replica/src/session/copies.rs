//! Differences that were written in this tick, kept for the next receiver: those who have the same values to build on are told
//! the same bits.

use crate::sink::Register;
use crate::store::Place;

/// The ticks a difference is built on, the newer first.
pub(super) type Base = (u32, Option<u32>);

/// A difference.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) base: Base,
    /// None if it is too long to be kept.
    pub(super) bits: Option<Register>,
}

/// The tick, and the ticks of the values it was to be built on.
pub(super) type Key = (u32, u32, u32);

/// A few for every object: receivers differ by their distance and by what got lost.
const KEPT: usize = 3;

#[derive(Debug, Default)]
pub(super) struct Copies {
    of: Vec<[(Key, Written); KEPT]>,
}

impl Copies {
    #[inline]
    pub(super) fn get(&self, place: Place, key: Key) -> Option<Written> {
        let kept = self.of.get(place as usize)?;
        kept.iter().find(|(held, _)| *held == key).map(|(_, copy)| *copy)
    }

    #[inline]
    pub(super) fn put(&mut self, place: Place, key: Key, copy: Written) {
        let place = place as usize;
        if self.of.len() <= place {
            self.of.resize(place + 1, Default::default());
        }
        self.of[place].rotate_right(1);
        self.of[place][0] = (key, copy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_few_are_kept() {
        let mut copies = Copies::default();
        for tick in 1..=4 {
            copies.put(3, (tick, 0, 0), Written { base: (tick, None), bits: None });
        }
        assert!(copies.get(3, (1, 0, 0)).is_none() && copies.get(0, (2, 0, 0)).is_none());
        for tick in 2..=4 {
            assert_eq!(copies.get(3, (tick, 0, 0)).map(|copy| copy.base), Some((tick, None)));
        }
    }
}
