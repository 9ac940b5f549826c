//! What is known of each player beside the objects: name, score, colour. The last value wins,
//! everywhere the same.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gaggle_kit::Slot;

use crate::MemberId;

/// Most bytes of one value.
pub const VALUE_BYTES_MAX: usize = 1_024;

/// Who may write values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueWriter {
    /// The player whose value it is.
    Player,
    /// Whoever leads, about every player.
    Leader,
}

/// Why a value was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The type was not named when the session began.
    #[error("values of this type are not among the session's kinds")]
    UnknownType,
    /// It is another player's, or the lead's, to write.
    #[error("this machine may not write that value")]
    NotWriter,
    /// There is no such player: a session has 255 slots.
    #[error("{slot} is beyond the 255 of a session; use 0 to 254")]
    UnknownSlot {
        /// Slot that no session has.
        slot: Slot,
    },
    /// It has too many bytes.
    #[error("too large: at most {VALUE_BYTES_MAX} bytes")]
    TooLarge,
    /// This machine is not a member yet.
    #[error("not admitted to the session yet")]
    NotAdmitted,
}

/// A value and how it came to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// How often it was written.
    pub(crate) rev: u32,
    /// By whom last.
    pub(crate) writer: MemberId,
    pub(crate) bytes: Vec<u8>,
}

impl Entry {
    /// Whether this one is to be kept: written more often, or as often by a senior.
    pub(crate) fn beats(&self, other: &Entry) -> bool {
        (self.rev, Reverse(self.writer)) > (other.rev, Reverse(other.writer))
    }
}

/// All values, by player and number of the type.
#[derive(Debug, Clone, Default)]
pub(crate) struct Values {
    entries: BTreeMap<(Slot, u8), Entry>,
}

impl Values {
    pub(crate) fn get(&self, player: Slot, key: u8) -> Option<&Entry> {
        self.entries.get(&(player, key))
    }

    /// Takes a value if it beats what is there.
    pub(crate) fn merge(&mut self, player: Slot, key: u8, entry: Entry) -> bool {
        match self.entries.get_mut(&(player, key)) {
            Some(held) if !entry.beats(held) => false,
            Some(held) => {
                *held = entry;
                true
            }
            None => {
                self.entries.insert((player, key), entry);
                true
            }
        }
    }

    pub(crate) fn into_all(self) -> impl Iterator<Item = (Slot, u8, Entry)> {
        self.entries.into_iter().map(|((player, key), entry)| (player, key, entry))
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (Slot, u8, &Entry)> {
        self.entries.iter().map(|((player, key), entry)| (*player, *key, entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MemberTag;

    #[test]
    fn last_value_wins_in_any_order() {
        let entry = |rev, number, byte| Entry {
            rev,
            writer: MemberId { join_order: number, tag: MemberTag(number + 1) },
            bytes: vec![byte],
        };
        let all = [entry(1, 5, 1), entry(2, 3, 2), entry(2, 1, 3), entry(1, 0, 4)];
        for order in [[0, 1, 2, 3], [3, 2, 1, 0], [2, 0, 3, 1]] {
            let mut values = Values::default();
            for index in order {
                values.merge(Slot::at(0), 0, all[index].clone());
            }
            assert_eq!(values.get(Slot::at(0), 0).map(|entry| entry.bytes[0]), Some(3));
        }
    }
}
