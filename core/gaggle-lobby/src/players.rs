//! Number of local players of one peer.
//!
//! Requests and members contain it. Absent: identities of the players.

use gaggle_kit::SlotSet;

use crate::MessageError;
use crate::json::{Raw, Value};

/// Number of local players, 1 to 8; 1 by default.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocalPlayers(u8);

impl LocalPlayers {
    /// A single local player.
    pub const ONE: LocalPlayers = LocalPlayers(1);
    /// Most local players of one peer.
    pub const MAX: u8 = 8;

    /// Checks that the count is 1 to 8.
    ///
    /// ```
    /// use gaggle_lobby::LocalPlayers;
    /// assert_eq!(LocalPlayers::new(2).map(LocalPlayers::count), Some(2));
    /// assert_eq!((LocalPlayers::new(0), LocalPlayers::new(9)), (None, None));
    /// ```
    pub fn new(count: u8) -> Option<LocalPlayers> {
        (1..=LocalPlayers::MAX).contains(&count).then_some(LocalPlayers(count))
    }

    /// Players that hold these slots. A spectator holds none, and is one peer with one player all
    /// the same.
    pub(crate) fn holding(slots: SlotSet) -> LocalPlayers {
        LocalPlayers(slots.len().clamp(1, usize::from(LocalPlayers::MAX)) as u8)
    }

    /// The count as an integer.
    pub const fn count(self) -> u8 {
        self.0
    }
}

impl Default for LocalPlayers {
    fn default() -> LocalPlayers {
        LocalPlayers::ONE
    }
}

impl Value for LocalPlayers {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<LocalPlayers, MessageError> {
        let players = raw.u64().and_then(|count| count.try_into().ok()).and_then(LocalPlayers::new);
        players.ok_or(MessageError::Invalid { field, expected: "a whole number from 1 to 8" })
    }

    fn blank() -> LocalPlayers {
        LocalPlayers::ONE
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }

    fn missing() -> Option<LocalPlayers> {
        Some(LocalPlayers::ONE)
    }

    fn is_missing(&self) -> bool {
        *self == LocalPlayers::ONE
    }
}
