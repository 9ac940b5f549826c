//! How many people play at one machine.

use crate::MessageError;
use crate::json::{Raw, Value};

/// How many people play at one machine: one, unless somebody says otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Players(u8);

impl Players {
    /// One person alone.
    pub const ONE: Players = Players(1);
    /// As many as fit around one machine.
    pub const MAX: u8 = 8;

    /// So many, if it is 1 to 8.
    ///
    /// ```
    /// use gaggle_lobby::Players;
    /// assert_eq!(Players::new(2).map(Players::count), Some(2));
    /// assert_eq!((Players::new(0), Players::new(9)), (None, None));
    /// ```
    pub fn new(count: u8) -> Option<Players> {
        (1..=Players::MAX).contains(&count).then_some(Players(count))
    }

    /// How many.
    pub const fn count(self) -> u8 {
        self.0
    }
}

impl Default for Players {
    fn default() -> Players {
        Players::ONE
    }
}

impl Value for Players {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Players, MessageError> {
        let players = raw.u64().and_then(|count| count.try_into().ok()).and_then(Players::new);
        players.ok_or(MessageError::Invalid { field, expected: "a whole number from 1 to 8" })
    }

    fn blank() -> Players {
        Players::ONE
    }

    fn write(&self, out: &mut String) {
        self.0.write(out);
    }

    fn missing() -> Option<Players> {
        Some(Players::ONE)
    }

    fn is_missing(&self) -> bool {
        *self == Players::ONE
    }
}
