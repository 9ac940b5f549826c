//! A view: the roster that all its members begin from, and its identity.
//!
//! View changes make it. Absent: how it is agreed.

use gaggle_kit::{ByteSink, StateHasher};

use super::ballot::Ballot;
use super::history::{History, Link, MatchId};
use super::rows::{self, RosterEntry};
use crate::roster::StreamId;

/// A roster with an identity. Later joins and goodbyes are read from entries.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct View {
    /// Ballot at which it was made.
    pub(crate) ballot: Ballot,
    pub(crate) parent: History,
    pub(crate) history: History,
    pub(crate) rows: Vec<RosterEntry>,
    /// Size of the quorum that made it.
    pub(crate) size: u8,
    /// Whether a peer that had been suspended made it.
    pub(crate) stale: bool,
}

impl View {
    /// The view a match begins with.
    pub(crate) fn founding(game: MatchId, rows: Vec<RosterEntry>) -> View {
        let size = rows.len() as u8;
        View::new(game, History::default(), Ballot::FOUNDING, rows, size, false)
    }

    pub(crate) fn new(
        game: MatchId,
        parent: History,
        ballot: Ballot,
        mut rows: Vec<RosterEntry>,
        size: u8,
        stale: bool,
    ) -> View {
        gaggle_kit::insertion_sort(&mut rows, RosterEntry::rank);
        let mut view = View { ballot, parent, history: History::default(), rows, size, stale };
        view.history = view.name(game);
        view
    }

    /// Hash of its content and its ancestors: two different views never have the same one.
    fn name(&self, game: MatchId) -> History {
        let mut hasher = StateHasher::new();
        hasher.put(&game.started_at.to_le_bytes());
        hasher.put(&game.nonce.to_le_bytes());
        hasher.put(&self.parent.0.to_le_bytes());
        put_ballot(&mut hasher, self.ballot);
        hasher.put(&[self.size, u8::from(self.stale)]);
        for row in &self.rows {
            put_stream(&mut hasher, row.stream);
            hasher.put(&row.slots.bits().to_le_bytes());
            hasher.put(&row.first_frame.number().to_le_bytes());
            hasher.put(&row.last_frame.number().to_le_bytes());
        }
        History(hasher.finish())
    }

    /// Record that remains of it once it is an ancestor.
    pub(crate) fn link(&self) -> Link {
        let (by, _) = self.ballot.by.peer.as_bytes().split_at(8);
        Link {
            history: self.history,
            by: by.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)),
            number: self.ballot.number,
            size: self.size,
            stale: self.stale,
        }
    }

    pub(crate) fn is_open(&self, stream: StreamId) -> bool {
        rows::is_open(&self.rows, stream)
    }
}

fn put_stream(hasher: &mut StateHasher, stream: StreamId) {
    hasher.put(stream.peer.as_bytes());
    hasher.put(&stream.incarnation.0.to_le_bytes());
}

fn put_ballot(hasher: &mut StateHasher, ballot: Ballot) {
    hasher.put(&ballot.number.to_le_bytes());
    put_stream(hasher, ballot.by);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roster::Incarnation;
    use gaggle_kit::{Frame, PeerId, SlotSet};

    #[test]
    fn any_difference_gives_another_identity() {
        let row = |peer: u128, last| RosterEntry {
            stream: StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(1) },
            slots: SlotSet::from_bits(1 << peer),
            first_frame: Frame::new(1),
            last_frame: last,
        };
        let rows = vec![row(1, Frame::NEVER), row(2, Frame::NEVER)];
        let game = MatchId { started_at: 1, nonce: 2 };
        let view = View::founding(game, rows.clone());
        let reordered = View::founding(game, vec![rows[1], rows[0]]);
        assert_eq!(view.history, reordered.history, "the order of rows says nothing");

        let ended = View::founding(game, vec![rows[0], row(2, Frame::new(9))]);
        let other = View::founding(MatchId { started_at: 1, nonce: 3 }, rows.clone());
        let child = View::new(game, view.history, view.ballot, rows.clone(), view.size, false);
        let stale = View::new(game, view.history, view.ballot, rows, view.size, true);
        let names = [view.history, ended.history, other.history, child.history, stale.history];
        for (nth, name) in names.iter().enumerate() {
            assert!(!names[..nth].contains(name), "identity {nth} is used twice");
        }
    }
}
