//! Roster as reported to players: an application that follows the events knows the roster.
//!
//! `Session` passes the rows of confirmed frames and of stays that begin. Absent: how the roster is
//! agreed, inputs, clocks.

use gaggle_kit::{Frame, PeerId};

use crate::event::{Events, SessionEvent};
use crate::membership::{History, leader_at, row_of};
use crate::roster::RosterEntry;

/// The roster reported last.
#[derive(Debug, Default)]
pub(crate) struct RosterEvents {
    /// Rows present according to the events so far, or when this stay began.
    present: Vec<RosterEntry>,
    leader: Option<PeerId>,
    branch: Option<History>,
}

/// Facts about a stay that ends.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FormerStay {
    /// There was no former stay: a peer that joins for the first time reads the roster, and then
    /// gets events for changes.
    pub(crate) is_first: bool,
    /// Frames played or shown in it do not count any more.
    pub(crate) is_lost: bool,
    /// Last frame that was final in it.
    pub(crate) last: Frame,
}

impl RosterEvents {
    /// A match starts with these rows, in this branch; no events are needed.
    pub(crate) fn begin(&mut self, rows: &[RosterEntry], confirmed: Frame, branch: History) {
        let frame = confirmed.next();
        self.branch = Some(branch);
        self.leader = leader_at(rows, frame).map(|row| row.stream.peer);
        self.begin_with(rows, frame);
    }

    fn begin_with(&mut self, rows: &[RosterEntry], frame: Frame) {
        self.present.clear();
        self.present.extend(rows.iter().filter(|row| row.is_present_at(frame)));
    }

    /// Takes note of another branch. True if a view change after `confirmed` was reported.
    #[must_use]
    pub(crate) fn observe_branch(&mut self, events: &mut Events, branch: History, confirmed: Frame) -> bool {
        let is_news = self.branch != Some(branch);
        if is_news && self.branch.is_some() {
            events.push(SessionEvent::ViewChanged { frame: confirmed });
        }
        self.branch = Some(branch);
        is_news
    }

    /// Another stay has begun, not the first one: reports the differences.
    pub(crate) fn begin_stay(
        &mut self,
        events: &mut Events,
        former: FormerStay,
        rows: &[RosterEntry],
        confirmed: Frame,
        branch: History,
    ) {
        if former.is_lost {
            self.branch = Some(branch);
            events.push(SessionEvent::BranchAbandoned { frame: confirmed });
        }
        // A peer in the same slots before and after has not moved, even under another incarnation.
        let is_in = |all: &[RosterEntry], row: &RosterEntry| {
            all.iter().any(|other| (other.stream.peer, other.slots) == (row.stream.peer, row.slots))
        };
        let before = std::mem::take(&mut self.present);
        self.begin_with(rows, confirmed.next());
        for row in before.iter().filter(|row| !is_in(&self.present, row)) {
            events.push(SessionEvent::Left { peer: row.stream.peer, last: former.last });
        }
        for row in self.present.iter().filter(|row| !is_in(&before, row)) {
            events.push(joined(row));
        }
        self.observe_leader(events, rows, confirmed.next());
    }

    /// Takes a confirmed frame in which a peer may have joined or left.
    pub(crate) fn observe(&mut self, events: &mut Events, rows: &[RosterEntry], frame: Frame) {
        self.present.retain(|row| {
            let now = row_of(rows, row.stream);
            let stays = now.is_some_and(|now| now.is_present_at(frame));
            if !stays {
                let last = now.map_or(frame.previous(), |now| now.last_frame);
                events.push(SessionEvent::Left { peer: row.stream.peer, last });
            }
            stays
        });
        for row in rows.iter().filter(|row| row.is_present_at(frame)) {
            if row_of(&self.present, row.stream).is_none() {
                self.present.push(*row);
                events.push(joined(row));
            }
        }
        self.observe_leader(events, rows, frame);
    }

    fn observe_leader(&mut self, events: &mut Events, rows: &[RosterEntry], frame: Frame) {
        let leader = leader_at(rows, frame).map(|row| row.stream.peer);
        if let Some(peer) = leader.filter(|_| self.leader != leader) {
            if self.leader.is_some() {
                events.push(SessionEvent::LeaderChanged { leader: peer });
            }
            self.leader = leader;
        }
    }
}

fn joined(row: &RosterEntry) -> SessionEvent {
    SessionEvent::Joined { peer: row.stream.peer, slots: row.slots, first: row.first_frame }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{Slot, SlotSet};

    use super::*;
    use crate::roster::{Incarnation, StreamId};

    fn row(number: u32, first: u32, last: Frame) -> RosterEntry {
        let stream = StreamId { peer: PeerId::from_u128(number.into()), incarnation: Incarnation(number) };
        let slots = SlotSet::of(Slot::at(number as usize));
        RosterEntry { stream, slots, first_frame: Frame::new(first), last_frame: last }
    }

    fn told(events: &mut Events) -> Vec<SessionEvent> {
        std::iter::from_fn(|| events.pop()).collect()
    }

    fn started() -> RosterEvents {
        let mut roster = RosterEvents::default();
        let rows = [row(1, 1, Frame::NEVER), row(2, 1, Frame::NEVER)];
        roster.begin(&rows, Frame::START, History(1));
        roster
    }

    #[test]
    fn peers_that_come_and_go_are_told_once() {
        let (mut roster, mut events) = (started(), Events::default());
        let rows = [row(1, 1, Frame::new(9)), row(2, 1, Frame::NEVER), row(3, 5, Frame::NEVER)];
        (1..=20).for_each(|frame| roster.observe(&mut events, &rows, Frame::new(frame)));
        let peer = |row: &RosterEntry| row.stream.peer;
        assert_eq!(
            told(&mut events),
            [
                joined(&rows[2]),
                SessionEvent::Left { peer: peer(&rows[0]), last: Frame::new(9) },
                SessionEvent::LeaderChanged { leader: peer(&rows[1]) },
            ]
        );
    }

    #[test]
    fn another_stay_tells_difference_of_rosters() {
        let (mut roster, mut events) = (started(), Events::default());
        let renamed = RosterEntry {
            stream: StreamId { incarnation: Incarnation(77), ..row(1, 1, Frame::NEVER).stream },
            ..row(1, 4, Frame::NEVER)
        };
        let rows = [renamed, row(3, 1, Frame::NEVER)];
        let former = FormerStay { is_first: false, is_lost: true, last: Frame::new(30) };
        roster.begin_stay(&mut events, former, &rows, Frame::new(40), History(2));
        let told = told(&mut events);
        assert_eq!(told[0], SessionEvent::BranchAbandoned { frame: Frame::new(40) });
        let left = SessionEvent::Left { peer: PeerId::from_u128(2), last: Frame::new(30) };
        assert_eq!(told[1..3], [left, joined(&rows[1])], "peer 1 has not moved");
    }

    #[test]
    fn view_change_is_told_once_and_not_before_start() {
        let (mut roster, mut events) = (RosterEvents::default(), Events::default());
        assert!(roster.observe_branch(&mut events, History(1), Frame::new(5)));
        assert_eq!(told(&mut events), []);
        assert!(!roster.observe_branch(&mut events, History(1), Frame::new(6)));
        assert!(roster.observe_branch(&mut events, History(2), Frame::new(7)));
        assert_eq!(told(&mut events), [SessionEvent::ViewChanged { frame: Frame::new(7) }]);
    }
}
