//! Places in the maze: cells, ways (directions), and swimmers between two cells.
//!
//! Used by all parts of the simulation. Absent: which ways are open, who swims.

use gaggle_kit::State;

/// Units of a pixel. A unit is the fixed point of all positions.
pub const PX: i32 = 256;
/// Units from the middle of a cell to that of the next: two tiles of sixteen pixels.
pub const EDGE: u16 = 8_192;
/// Units of a tile.
pub const TILE: i32 = 4_096;
/// Units at which two swimmers touch: ten pixels.
pub const TOUCH: i32 = 10 * PX;
/// No cell at all.
pub const NOWHERE: u16 = u16::MAX;

/// A way out of a cell: 0 right, 1 down, 2 left, 3 up.
pub type Way = u8;

/// Columns and rows that a step in each way moves.
pub const STEPS: [(i32, i32); 4] = [(1, 0), (0, 1), (-1, 0), (0, -1)];

/// The way back.
pub const fn opposite(way: Way) -> Way {
    way ^ 2
}

/// Whether a set of exits, one bit a way, has this one.
pub const fn is_open(exits: u8, way: Way) -> bool {
    way < 4 && exits >> way & 1 == 1
}

/// The ways of a set of exits, in their order.
pub fn ways(exits: u8) -> impl Iterator<Item = Way> {
    (0..4).filter(move |way| is_open(exits, *way))
}

/// Place of a gosling or pike: on the way from the middle of a cell to that of the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Swimmer {
    /// The cell behind it.
    pub cell: u16,
    /// The direction it swims in.
    #[state(range = 0..=3)]
    pub heading: Way,
    /// Units from the middle of `cell`.
    #[state(range = 0..=EDGE - 1)]
    pub way: u16,
}

impl Swimmer {
    /// A swimmer in the middle of a cell.
    pub const fn at(cell: u16, heading: Way) -> Swimmer {
        Swimmer { cell, heading, way: 0 }
    }
}
