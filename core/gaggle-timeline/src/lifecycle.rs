//! Beginning and end of a session: slots of a match that is about to start, and the goodbye.
//!
//! `Session` asks whether a match exists, and ticks it for the goodbye. Absent: packets, how the
//! roster changes, what is simulated.

use gaggle_kit::{Frame, Micros, PeerId, SlotSet};

use crate::config::PeerSlots;
use crate::roster::{Incarnation, MatchId, RosterEntry, StreamId};

/// Longest time a peer that has left stays linked for peers that have not read its last entry.
const LINGER_TIMEOUT: Micros = Micros::from_secs(1);
/// A peer that cannot write its goodbye for this long, because a view change is under way, leaves
/// without it.
const GOODBYE_TIMEOUT: Micros = Micros::from_secs(4);

/// Stage of the session between its beginning and its end.
///
/// The stages overlap: a closed session still has its match, and a leaving one may be admitted
/// again meanwhile.
#[derive(Debug, Default)]
pub(crate) struct Lifecycle {
    /// All peers the match will start with, until it starts.
    seats: Vec<PeerSlots>,
    /// All peers the match started with.
    founders: Vec<PeerSlots>,
    is_running: bool,
    is_closed: bool,
    /// When the goodbye was written.
    goodbye_at: Option<Micros>,
    /// When the local players asked to leave.
    leaving_since: Option<Micros>,
}

/// Action that is due because time has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum LifecycleAction {
    /// The goodbye was read by all peers, or never will be: the stay is over.
    Quit,
}

impl Lifecycle {
    /// Sets the peers that start a match together.
    pub(crate) fn gather(&mut self, seats: &[PeerSlots]) {
        self.seats = seats.to_vec();
    }

    /// Whether the match is about to start, with a given list of peers.
    #[inline]
    pub(crate) fn is_gathering(&self) -> bool {
        !self.seats.is_empty()
    }

    /// Whether the session has a match.
    #[inline]
    pub(crate) fn is_running(&self) -> bool {
        self.is_running
    }

    #[inline]
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Slots of a peer in the match that is about to start.
    pub(crate) fn seat_of(&self, peer: PeerId) -> Option<SlotSet> {
        self.seats.iter().find(|seat| seat.peer == peer).map(|seat| seat.slots)
    }

    /// As [`seat_of`](Lifecycle::seat_of), or in the match that started: a peer that arrives late
    /// does not know that it started.
    pub(crate) fn given_slots(&self, peer: PeerId) -> Option<SlotSet> {
        self.seats.iter().chain(&self.founders).find(|seat| seat.peer == peer).map(|seat| seat.slots)
    }

    /// Removes a peer from the match that is about to start. False if the match runs already or the
    /// peer is not listed.
    #[must_use]
    pub(crate) fn remove_seat(&mut self, peer: PeerId) -> bool {
        let removed = !self.is_running && self.seat_of(peer).is_some();
        if removed {
            self.seats.retain(|seat| seat.peer != peer);
        }
        removed
    }

    /// Hash of the peers that start together, their slots and the match; 0 if there are none.
    pub(crate) fn cohort(&self, match_id: MatchId) -> u64 {
        if self.seats.is_empty() {
            return 0;
        }
        let mut seats: Vec<&PeerSlots> = self.seats.iter().collect();
        gaggle_kit::insertion_sort(&mut seats, |seat| seat.peer);
        let mut bytes = Vec::with_capacity(16 + 24 * seats.len());
        bytes.extend_from_slice(&match_id.started_at.to_le_bytes());
        bytes.extend_from_slice(&match_id.nonce.to_le_bytes());
        for seat in seats {
            bytes.extend_from_slice(seat.peer.as_bytes());
            bytes.extend_from_slice(&seat.slots.bits().to_le_bytes());
        }
        gaggle_kit::fnv1a_64(&bytes).max(1)
    }

    /// Roster to start with, and its hash, once every listed peer is `ready`.
    #[must_use]
    pub(crate) fn roster_when(
        &self,
        ready: impl Fn(PeerId) -> Option<Incarnation>,
    ) -> Option<Vec<RosterEntry>> {
        if self.is_running || self.seats.is_empty() {
            return None;
        }
        let row = |seat: &PeerSlots| {
            let stream = StreamId { peer: seat.peer, incarnation: ready(seat.peer)? };
            let (first_frame, last_frame) = (Frame::new(1), Frame::NEVER);
            Some(RosterEntry { stream, slots: seat.slots, first_frame, last_frame })
        };
        self.seats.iter().map(row).collect()
    }

    /// Starts the match with all listed peers.
    pub(crate) fn found(&mut self) {
        self.founders = std::mem::take(&mut self.seats);
    }

    /// The session has a match from now on.
    pub(crate) fn run(&mut self) {
        self.is_running = true;
    }

    /// Another stay begins: a goodbye of the stay before does not end it.
    pub(crate) fn begin_stay(&mut self) {
        self.goodbye_at = None;
        self.leaving_since = None;
    }

    /// The local players ask to leave.
    pub(crate) fn leave(&mut self, now: Micros) {
        self.leaving_since.get_or_insert(now);
    }

    /// The last entry was written.
    pub(crate) fn note_goodbye(&mut self, now: Micros) {
        self.goodbye_at = Some(now);
    }

    pub(crate) fn close(&mut self) {
        self.is_closed = true;
    }

    /// The stay ended against the will of its players, unless they were leaving.
    pub(crate) fn lose_stay(&mut self) {
        self.is_closed |= self.leaving_since.is_some();
    }

    /// Whether a peer whose last entry is that of frame `end` may close, which it may once all
    /// others have `read` the entry.
    pub(crate) fn tick(
        &mut self,
        now: Micros,
        end: Option<Frame>,
        confirmed: Frame,
        read: impl Fn(Frame) -> bool,
    ) -> Option<LifecycleAction> {
        let done = match (self.goodbye_at, end) {
            (Some(at), Some(end)) => confirmed >= end && read(end) || now.since(at) >= LINGER_TIMEOUT,
            _ => self.leaving_since.is_some_and(|at| now.since(at) >= GOODBYE_TIMEOUT),
        };
        self.is_closed |= done;
        done.then_some(LifecycleAction::Quit)
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Slot;

    use super::*;

    fn peer(number: u128) -> PeerId {
        PeerId::from_u128(number)
    }

    fn gathering() -> Lifecycle {
        let mut life = Lifecycle::default();
        life.gather(&[PeerSlots::new(peer(2), Slot::at(1)), PeerSlots::new(peer(1), Slot::at(0))]);
        life
    }

    #[test]
    fn roster_waits_for_every_seat() {
        let mut life = gathering();
        let one = |ready: PeerId| (ready == peer(1)).then_some(Incarnation(5));
        assert_eq!(life.roster_when(one), None);
        let rows = life.roster_when(|_| Some(Incarnation(5))).expect("all are ready");
        assert_eq!(rows.iter().map(|row| row.stream.peer).collect::<Vec<_>>(), [peer(2), peer(1)]);
        life.found();
        life.run();
        assert_eq!(life.roster_when(|_| Some(Incarnation(5))), None, "it started");
        assert_eq!(life.given_slots(peer(2)), Some(SlotSet::of(Slot::at(1))));
        assert_eq!(life.seat_of(peer(2)), None);
    }

    #[test]
    fn cohort_follows_seats_and_match_and_not_their_order() {
        let id = MatchId { started_at: 1, nonce: 2 };
        let mut other = Lifecycle::default();
        other.gather(&[PeerSlots::new(peer(1), Slot::at(0)), PeerSlots::new(peer(2), Slot::at(1))]);
        assert_eq!(gathering().cohort(id), other.cohort(id));
        assert_ne!(gathering().cohort(id), other.cohort(MatchId { nonce: 3, ..id }));
        assert!(other.remove_seat(peer(2)) && !other.remove_seat(peer(2)));
        assert_ne!(gathering().cohort(id), other.cohort(id));
        assert_eq!(Lifecycle::default().cohort(id), 0);
    }

    #[test]
    fn goodbye_ends_when_read_or_after_timeout() {
        let (end, mut life) = (Some(Frame::new(9)), Lifecycle::default());
        life.leave(Micros::ZERO);
        life.note_goodbye(Micros::ZERO);
        assert_eq!(life.tick(Micros::ZERO, end, Frame::new(9), |_| false), None);
        assert_eq!(life.tick(Micros::ZERO, end, Frame::new(8), |_| true), None);
        assert!(!life.is_closed());
        assert_eq!(life.tick(Micros::ZERO, end, Frame::new(9), |_| true), Some(LifecycleAction::Quit));
        assert!(life.is_closed());
        let unread = life.tick(LINGER_TIMEOUT, end, Frame::new(8), |_| false);
        assert_eq!(unread, Some(LifecycleAction::Quit));
    }

    #[test]
    fn unwritten_goodbye_ends_after_timeout_unless_stay_ended() {
        let mut life = Lifecycle::default();
        life.leave(Micros::ZERO);
        assert_eq!(life.tick(Micros::from_secs(3), None, Frame::START, |_| true), None);
        let given_up = life.tick(GOODBYE_TIMEOUT, None, Frame::START, |_| true);
        assert_eq!(given_up, Some(LifecycleAction::Quit));
        let mut stays = Lifecycle::default();
        stays.leave(Micros::ZERO);
        stays.begin_stay();
        stays.lose_stay();
        assert!(!stays.is_closed());
        assert_eq!(stays.tick(GOODBYE_TIMEOUT, None, Frame::START, |_| true), None);
    }
}
