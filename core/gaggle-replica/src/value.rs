//! Values of each player beside the objects: name, score, color. The last write wins on every peer.
//! `ValueTable` merges them. Absent: links, messages, meaning of the bytes.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use gaggle_kit::Slot;

use crate::MemberId;

/// Most bytes of one value.
pub const VALUE_BYTES_MAX: usize = 1_024;

/// Which peer may write values of a type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ValueWriter {
    /// The player whose value it is.
    Player,
    /// The leader, for every player.
    Leader,
}

/// Why a value was not set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ValueError {
    /// The type was not registered when the session began.
    #[error("values of this type are not registered; call `Kinds::with_value`")]
    UnknownType,
    /// Only another player, or the leader, may write it.
    #[error("this peer may not write that value; only its player, or the leader, may")]
    NotWriter,
    /// No such slot: a session has 255.
    #[error("{slot} is beyond the 255 of a session; use 0 to 254")]
    UnknownSlot {
        /// Slot that no session has.
        slot: Slot,
    },
    /// It has more than [`VALUE_BYTES_MAX`] bytes.
    #[error("value is too large; use at most {VALUE_BYTES_MAX} bytes")]
    TooLarge,
    /// This peer is not a member yet.
    #[error("not a member yet; wait for `SessionEvent::MembershipGranted`")]
    NotMember,
}

/// A value with the number of its writes and its last writer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    /// Number of writes so far.
    pub(crate) rev: u32,
    /// Member that wrote it last.
    pub(crate) writer: MemberId,
    pub(crate) bytes: Vec<u8>,
}

impl Entry {
    /// Whether this entry wins: more writes, or as many by a member earlier in join order.
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

    /// Takes a value if it beats the present one.
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
