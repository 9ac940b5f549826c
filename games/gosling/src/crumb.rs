//! Crumbs on the water, and crusts, worth five crumbs each.
//!
//! Owned by the state. `tick` lets goslings take them, `meet` strews loads. Absent: goslings.

use gaggle_kit::{Prng, State};

use crate::reed::{Reed, TILES};
use crate::water::NOWHERE;

/// Words that hold one bit for each tile.
const WORDS: usize = TILES.div_ceil(64);
/// Most crusts at a time.
pub const CRUSTS: usize = 3;
/// One of so many eaten crumbs grows again at a time.
const GROWTH_PART: u32 = 256;
/// Crumbs a crust is worth.
pub const CRUST: u8 = 5;

/// All loose crumbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Crumbs {
    bits: [u64; WORDS],
    /// Cells of the crusts.
    pub crusts: [u16; CRUSTS],
}

impl Default for Crumbs {
    fn default() -> Crumbs {
        Crumbs { bits: [0; WORDS], crusts: [NOWHERE; CRUSTS] }
    }
}

impl Crumbs {
    /// A crumb in the middle of every cell.
    pub fn everywhere(reed: &Reed) -> Crumbs {
        let mut crumbs = Crumbs::default();
        reed.beds().iter().for_each(|tile| crumbs.put(*tile));
        crumbs
    }

    /// Whether there is a crumb on a tile.
    #[inline]
    pub fn has(&self, tile: u16) -> bool {
        self.bits.get(usize::from(tile / 64)).is_some_and(|word| word >> (tile % 64) & 1 == 1)
    }

    /// Lays a crumb.
    pub fn put(&mut self, tile: u16) {
        if let Some(word) = self.bits.get_mut(usize::from(tile / 64)) {
            *word |= 1 << (tile % 64);
        }
    }

    /// Takes the crumb of a tile. True if there was one.
    #[inline]
    pub fn take(&mut self, tile: u16) -> bool {
        let had = self.has(tile);
        if had {
            self.bits[usize::from(tile / 64)] &= !(1 << (tile % 64));
        }
        had
    }

    /// Crumbs that lie in the reed.
    pub fn count(&self) -> u32 {
        self.bits.iter().map(|word| word.count_ones()).sum()
    }

    /// Lets a part of the eaten crumbs grow again, except where `is_near` says no.
    pub(crate) fn grow(&mut self, reed: &Reed, random: &mut Prng, is_near: impl Fn(u16) -> bool) {
        let eaten = (reed.beds().len() as u32).saturating_sub(self.count());
        let wanted = eaten.div_ceil(GROWTH_PART);
        let mut grown = 0;
        // Most draws hit a tile with a crumb, so there are eight a crumb.
        for _ in 0..wanted * 8 {
            let Some(tile) = random.pick(reed.beds()).copied() else { return };
            if !self.has(tile) && !is_near(tile) {
                self.put(tile);
                grown += 1;
                if grown >= wanted {
                    return;
                }
            }
        }
    }

    /// Lays a crust at a junction, unless there are `CRUSTS`.
    pub(crate) fn lay_crust(&mut self, reed: &Reed, random: &mut Prng) {
        let Some(cell) = random.pick(reed.junctions()).copied() else { return };
        if let Some(free) = self.crusts.iter_mut().find(|crust| **crust == NOWHERE) {
            *free = cell;
        }
    }

    /// Takes the crust of a cell. True if there was one.
    pub(crate) fn take_crust(&mut self, cell: u16) -> bool {
        match self.crusts.iter_mut().find(|crust| **crust == cell) {
            Some(crust) => {
                *crust = NOWHERE;
                true
            }
            None => false,
        }
    }

    /// Strews crumbs over the tiles without one that are nearest to a cell.
    pub(crate) fn strew(&mut self, reed: &Reed, from: u16, count: u8) {
        /// Cells looked at: nearly everywhere they have a dozen such tiles.
        const CELLS: usize = 48;
        let mut queue = [NOWHERE; CELLS];
        queue[0] = from;
        let (mut known, mut at, mut left) = (1, 0, count);
        while at < known && left > 0 {
            let cell = queue[at];
            at += 1;
            let is_quiet = reed.nest_at(cell).is_some() || reed.den().contains(&cell);
            if !is_quiet && !self.has(reed.tile_of(cell)) {
                self.put(reed.tile_of(cell));
                left -= 1;
            }
            for way in crate::water::ways(reed.exits(cell)) {
                let (tile, next) = (reed.tile_beside(cell, way), reed.next(cell, way));
                if left > 0 && !is_quiet && !self.has(tile) {
                    self.put(tile);
                    left -= 1;
                }
                if known < CELLS && !queue[..known].contains(&next) {
                    queue[known] = next;
                    known += 1;
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    #[test]
    fn strewn_crumbs_are_as_many_as_were_carried() {
        let reed = Reed::new(5, Mode::Broods);
        for (from, count) in [(reed.junctions()[7], 12), (reed.junctions()[0], 3)] {
            let mut crumbs = Crumbs::default();
            crumbs.strew(&reed, from, count);
            assert_eq!(crumbs.count(), u32::from(count));
            assert!(crumbs.has(reed.tile_of(from)));
            assert!(reed.tiles().iter().filter(|tile| crumbs.has(**tile)).count() == usize::from(count));
        }
    }

    #[test]
    fn crumbs_grow_by_part_of_eaten_ones() {
        let reed = Reed::new(5, Mode::Broods);
        let mut crumbs = Crumbs::default();
        let mut random = Prng::new(4);
        crumbs.grow(&reed, &mut random, |_| false);
        assert_eq!(crumbs.count(), (reed.beds().len() as u32).div_ceil(GROWTH_PART));
        let before = crumbs.count();
        crumbs.grow(&reed, &mut random, |_| true);
        assert_eq!(crumbs.count(), before, "none beside a gosling");
    }

    #[test]
    fn fourth_crust_is_not_laid() {
        let reed = Reed::new(5, Mode::Broods);
        let mut crumbs = Crumbs::default();
        let mut random = Prng::new(4);
        (0..9).for_each(|_| crumbs.lay_crust(&reed, &mut random));
        let cell = crumbs.crusts[1];
        assert!(crumbs.crusts.iter().all(|crust| reed.is_junction(*crust)));
        assert!(crumbs.take_crust(cell));
        assert_eq!(crumbs.crusts.iter().filter(|crust| **crust == NOWHERE).count(), 1);
        assert_eq!(crumbs.count(), 0);
    }
}
