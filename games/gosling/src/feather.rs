//! Feathers, which make a gosling a goose: where they lie, and when the next one falls.
//!
//! Owned by the state; `tick` lets goslings take them. Absent: what a goose does.

use gaggle_kit::{Prng, State};

use crate::reed::Reed;
use crate::water::NOWHERE;

/// Feathers of `Mode::Great`, the most of any mode.
pub const FEATHERS: usize = 6;
/// Frames from when a feather is taken until it falls again.
const AGAIN_FRAMES: u16 = 480;
/// Fewest cells between a feather and nests or other feathers: ten tiles.
const APART: u8 = 5;

/// A feather, on the water or about to fall.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Feather {
    /// The junction it lies at, `NOWHERE` before it falls.
    pub cell: u16,
    /// Frames until it falls.
    pub timer: u16,
}

impl Default for Feather {
    fn default() -> Feather {
        Feather { cell: NOWHERE, timer: 1 }
    }
}

/// All feathers of a reed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Feathers {
    /// The feathers; other modes than `Great` have only the first two.
    pub list: [Feather; FEATHERS],
}

impl Feathers {
    /// One frame: feathers that are due fall.
    pub(crate) fn step(&mut self, count: usize, reed: &Reed, random: &mut Prng) {
        for nth in 0..count.min(FEATHERS) {
            let feather = &mut self.list[nth];
            if feather.timer > 0 {
                feather.timer -= 1;
                if feather.timer == 0 {
                    self.list[nth].cell = self.free_junction(reed, random);
                }
            }
        }
    }

    fn free_junction(&self, reed: &Reed, random: &mut Prng) -> u16 {
        let mut last = NOWHERE;
        for _ in 0..32 {
            let Some(cell) = random.pick(reed.junctions()).copied() else { return NOWHERE };
            last = cell;
            let is_near = |other: u16| other != NOWHERE && reed.distance(cell, other) < APART;
            let is_free = !reed.nests().iter().any(|nest| is_near(*nest))
                && !self.list.iter().any(|feather| is_near(feather.cell));
            if is_free {
                return cell;
            }
        }
        last
    }

    /// Takes the feather of a cell. True if there was one.
    pub(crate) fn take(&mut self, cell: u16) -> bool {
        match self.list.iter_mut().find(|feather| feather.cell == cell) {
            Some(feather) => {
                *feather = Feather { cell: NOWHERE, timer: AGAIN_FRAMES };
                true
            }
            None => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mode;

    #[test]
    fn feathers_lie_apart_and_fall_again() {
        let reed = Reed::new(9, Mode::Great);
        let (mut feathers, mut random) = (Feathers::default(), Prng::new(1));
        feathers.step(6, &reed, &mut random);
        let cells = feathers.list.map(|feather| feather.cell);
        for (nth, cell) in cells.into_iter().enumerate() {
            assert!(reed.is_junction(cell));
            assert!(reed.nests().iter().all(|nest| reed.distance(*nest, cell) >= APART));
            assert!(cells[..nth].iter().all(|other| reed.distance(*other, cell) >= APART));
        }
        assert!(feathers.take(cells[2]) && !feathers.take(cells[2]));
        (0..AGAIN_FRAMES - 1).for_each(|_| feathers.step(6, &reed, &mut random));
        assert_eq!(feathers.list[2].cell, NOWHERE);
        feathers.step(6, &reed, &mut random);
        assert_ne!(feathers.list[2].cell, NOWHERE);
    }
}
