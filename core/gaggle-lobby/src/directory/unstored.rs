//! Decided matches until they are stored.
//!
//! Rooms add them; nodes poll and store them. Absent: storage, verdicts.

use std::collections::VecDeque;

use crate::id::RoomId;
use crate::results::MatchRecord;

/// Unstored matches kept, including those of ended rooms.
const UNSTORED_MAX: usize = 1_024;

/// Decided matches to be stored.
#[derive(Debug, Default)]
pub(super) struct UnstoredMatches {
    /// Matches not polled yet.
    due: VecDeque<MatchRecord>,
    /// Matches not confirmed as stored.
    all: VecDeque<MatchRecord>,
}

impl UnstoredMatches {
    /// After a restart nothing is due until a node is lost.
    pub(super) fn restored(all: VecDeque<MatchRecord>) -> UnstoredMatches {
        UnstoredMatches { due: VecDeque::new(), all }
    }

    /// Adds a decided match, also one that was reported and decided again.
    pub(super) fn push(&mut self, record: MatchRecord) {
        if !self.contains(record.room, record.round) {
            self.all.push_back(record.clone());
        }
        self.due.push_back(record);
        let excess = self.all.len().saturating_sub(UNSTORED_MAX);
        self.all.drain(..excess);
    }

    /// Next match to store.
    pub(super) fn poll(&mut self) -> Option<MatchRecord> {
        self.due.pop_front()
    }

    /// Makes all due again: a lost node may have been the only one to store them.
    pub(super) fn offer_again(&mut self) {
        self.due.extend(self.all.iter().cloned());
    }

    /// Removes a match that is stored.
    pub(super) fn remove(&mut self, room: RoomId, round: u32) {
        self.all.retain(|record| (record.room, record.round) != (room, round));
    }

    /// Whether a match waits to be stored.
    pub(super) fn contains(&self, room: RoomId, round: u32) -> bool {
        self.all.iter().any(|record| (record.room, record.round) == (room, round))
    }

    /// All unstored matches.
    pub(super) fn all(&self) -> &VecDeque<MatchRecord> {
        &self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::label::Label;
    use crate::view::Verdict;

    const ROOM: RoomId = RoomId::from_bytes([1; 16]);

    fn record(round: u32) -> MatchRecord {
        let (game, mode, verdict) = (Label::default(), Label::default(), Verdict::Claimed);
        let (scores, level, digest) = (Vec::new(), None, None);
        MatchRecord {
            room: ROOM,
            round,
            game,
            mode,
            verdict,
            scores,
            level,
            digest,
            match_started_at: 1,
            ended: 2,
        }
    }

    #[test]
    fn match_reported_again_is_due_again_and_kept_once() {
        let mut matches = UnstoredMatches::default();
        matches.push(record(1));
        matches.push(record(1));
        assert_eq!((matches.due.len(), matches.all().len()), (2, 1));
    }

    #[test]
    fn stored_match_is_not_offered_again() {
        let mut matches = UnstoredMatches::default();
        matches.push(record(1));
        matches.push(record(2));
        while matches.poll().is_some() {}
        matches.remove(ROOM, 1);
        matches.offer_again();
        assert_eq!((matches.poll(), matches.poll()), (Some(record(2)), None));
        assert!(!matches.contains(ROOM, 1) && matches.contains(ROOM, 2));
    }

    #[test]
    fn excess_matches_push_out_oldest() {
        let mut matches = UnstoredMatches::default();
        (0..=UNSTORED_MAX as u32).for_each(|round| matches.push(record(round)));
        assert_eq!(matches.all().len(), UNSTORED_MAX);
        assert!(!matches.contains(ROOM, 0));
    }
}
