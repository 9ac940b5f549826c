//! Fingerprint of a game's state encoding.
//!
//! The caller of a room passes it when the room is opened. Absent: the encoded bytes.

use gaggle_timeline::{Game, shape_of};

/// Fingerprint of a game's state encoding. Peers with different shapes do not meet: change it
/// whenever the encoding changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct StateShape(pub(super) u64);

impl StateShape {
    /// A shape for a state whose encoding has the caller's own version: a hash of field names and
    /// types, or a number that is raised by hand. Inputs are not part of it, but their size is
    /// compared anyway.
    pub fn new(version: u64) -> StateShape {
        StateShape(version.max(1))
    }

    /// The shape of a [`Game`], for a caller whose state has the same encoding.
    pub fn of<G: Game>() -> StateShape {
        StateShape(shape_of::<G>())
    }
}
