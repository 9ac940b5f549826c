//! What the bytes of a game's state mean, as a number.
//!
//! The caller of a room says it when the room is opened. Absent: the bytes.

use gaggle_timeline::{Game, shape_of};

/// What the bytes of a game's state mean. Peers whose shapes differ do not meet: change it whenever
/// the encoding of the state changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateShape(pub(super) u64);

impl StateShape {
    /// The shape of a state whose encoding has a version of the caller's own: a hash of field names
    /// and types, or a number that is raised by hand. Inputs are not part of it, but their size is
    /// compared anyway.
    pub fn new(version: u64) -> StateShape {
        StateShape(version.max(1))
    }

    /// The shape of a [`Game`], which a caller with the same encoding can play with.
    pub fn of<G: Game>() -> StateShape {
        StateShape(shape_of::<G>())
    }
}
