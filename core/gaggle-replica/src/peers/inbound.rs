//! State received from one peer, accepted or not. Intake writes it. Absent: which of it is
//! permitted.

use std::collections::VecDeque;

use gaggle_kit::Micros;

use super::{Incoming, LinkRecord, NONE};
use crate::history::History;
use crate::packet::{ACK_WORDS_MAX, Received};
use crate::session::SyncProgress;
use crate::store::ObjectIndex;

/// Rejected deletions kept for a peer; honest peers cause a few.
const REFUSED_MAX: usize = 4_096;

/// Everything received from one peer.
#[derive(Debug)]
pub(crate) struct Inbound {
    /// Objects by handle of the other side.
    table: Vec<Incoming>,
    /// Handle in `table`, by index of the object.
    table_of: Vec<u32>,
    /// Objects the other side was about to introduce when the link began, and how many have
    /// arrived.
    announced: u32,
    introduced: u32,
    /// Number of known objects it introduced.
    brought: usize,
    /// Objects of departed members that only this peer introduced, since the last of those members
    /// left.
    legacies: u32,
    /// Rejected records of deleted objects whose handles are closed.
    refused: VecDeque<LinkRecord>,
    received: Received,
    received_at: Micros,
    /// Time the last packet arrived.
    heard_at: Micros,
    /// Something arrived that needs an acknowledgement.
    owes_ack: bool,
    /// Packets that arrived since the last acknowledgement.
    unacknowledged: u32,
    /// The newest tick of the other side.
    their_tick: u32,
    /// Number of packets that arrived in each of the last ticks: this many acknowledgements must
    /// fit.
    arrivals: [u16; 4],
}

impl Inbound {
    /// Nothing received yet; `brought` objects it introduced before are still known.
    pub(crate) fn new(places: usize, brought: usize) -> Inbound {
        Inbound {
            table: Vec::new(),
            table_of: vec![NONE; places],
            announced: 0,
            introduced: 0,
            brought,
            legacies: 0,
            refused: VecDeque::new(),
            received: Received::default(),
            received_at: Micros::ZERO,
            heard_at: Micros::ZERO,
            owes_ack: false,
            unacknowledged: 0,
            their_tick: 0,
            arrivals: [0; 4],
        }
    }

    /// Makes room for this many objects, if there is less.
    pub(super) fn reserve(&mut self, places: usize) {
        if self.table_of.len() < places {
            self.table_of.resize(places, NONE);
        }
    }

    /// Its first hello arrived: its tick, and the number of objects it is about to introduce.
    pub(crate) fn note_hello(&mut self, tick: u32, announced: u32) {
        self.their_tick = tick;
        self.announced = announced;
    }

    /// Objects that have arrived of those the other side had when the link began.
    pub(crate) fn progress(&self) -> SyncProgress {
        SyncProgress { received: self.introduced.min(self.announced), expected: self.announced }
    }

    /// Objects the other side has yet to introduce of those it had when the link began.
    pub(crate) fn unheard(&self) -> u32 {
        self.announced.saturating_sub(self.introduced)
    }

    /// The newest tick of the other side.
    pub(crate) fn their_tick(&self) -> u32 {
        self.their_tick
    }

    /// Number of handles of the other side that were ever used.
    pub(crate) fn handles(&self) -> usize {
        self.table.len()
    }

    /// State the peer sent under a handle that was ever used.
    #[inline]
    pub(crate) fn at(&self, handle: u16) -> Option<&Incoming> {
        self.table.get(usize::from(handle))
    }

    #[inline]
    pub(crate) fn at_mut(&mut self, handle: u16) -> Option<&mut Incoming> {
        self.table.get_mut(usize::from(handle))
    }

    /// The same as [`at_mut`](Inbound::at_mut), for a handle that may be new.
    pub(crate) fn at_mut_or_new(&mut self, handle: u16) -> &mut Incoming {
        let slot = usize::from(handle);
        if self.table.len() <= slot {
            self.table.resize_with(slot + 1, Incoming::unused);
        }
        &mut self.table[slot]
    }

    /// Handle under which the peer sends an object.
    #[inline]
    pub(crate) fn handle_of(&self, place: ObjectIndex) -> Option<u16> {
        u16::try_from(self.table_of[place as usize]).ok()
    }

    /// State the peer has sent for an object under its handle.
    #[inline]
    pub(crate) fn of_object(&self, place: ObjectIndex) -> Option<&Incoming> {
        self.table.get(self.table_of[place as usize] as usize)
    }

    /// A handle stands for an object from now on.
    pub(crate) fn open(&mut self, handle: u16, incoming: Incoming) {
        self.table_of[incoming.object as usize] = u32::from(handle);
        self.introduced += 1;
        let before = self.at_mut_or_new(handle);
        let closed_in = std::mem::replace(before, incoming).closed_in;
        before.closed_in = closed_in;
    }

    /// A handle stands for no object from now on. Returns what it had, whose value and baselines
    /// the caller gives back, if it stood for one.
    #[must_use]
    pub(crate) fn close(&mut self, handle: u16) -> Option<Incoming> {
        let incoming = self.at_mut(handle).filter(|incoming| incoming.is_open())?;
        let kept = incoming.clone();
        incoming.object = NONE;
        incoming.record = None;
        incoming.authority = None;
        incoming.history = History::Empty;
        self.table_of[kept.object as usize] = NONE;
        Some(kept)
    }

    /// Whether it introduced as many known objects as it may.
    pub(crate) fn has_brought(&self, max: usize) -> bool {
        self.brought >= max
    }

    /// It introduced an object that was unknown.
    pub(crate) fn note_brought(&mut self) {
        self.brought += 1;
    }

    /// An object it introduced is not known any more.
    pub(crate) fn note_forgotten(&mut self) {
        self.brought = self.brought.saturating_sub(1);
    }

    /// Objects of departed members that only this peer introduced.
    pub(crate) fn legacies(&self) -> u32 {
        self.legacies
    }

    pub(crate) fn note_legacy(&mut self) {
        self.legacies += 1;
    }

    /// Another member left: objects are counted from now on.
    pub(crate) fn forget_legacies(&mut self) {
        self.legacies = 0;
    }

    /// Keeps a rejected record whose handle is closed. Returns the oldest one if there are too many
    /// of them.
    #[must_use]
    pub(crate) fn keep_refused(&mut self, refused: LinkRecord) -> Option<LinkRecord> {
        self.refused.push_back(refused);
        if self.refused.len() > REFUSED_MAX { self.refused.pop_front() } else { None }
    }

    /// Rejected records whose handles are closed, the oldest first.
    pub(crate) fn refused(&self) -> &VecDeque<LinkRecord> {
        &self.refused
    }

    /// Forgets rejected records whose handles are closed, and returns them.
    pub(crate) fn take_refused(&mut self) -> VecDeque<LinkRecord> {
        std::mem::take(&mut self.refused)
    }

    /// Number of a packet whose header has its low half, unless it arrived before.
    pub(crate) fn fresh(&self, seq: u16) -> Option<u32> {
        self.received.fresh(seq)
    }

    /// Number of the newest packet that arrived, 0 if none did.
    pub(crate) fn newest(&self) -> u32 {
        self.received.acks().0
    }

    /// Acknowledgements to send: the newest packet, those before it, and how long it has been here.
    pub(crate) fn acks(&self, now: Micros) -> (u32, u128, Micros) {
        let (ack, acks) = self.received.acks();
        (ack, acks, now.since(self.received_at))
    }

    /// The peer is there: it was heard at this time.
    pub(crate) fn note_heard(&mut self, now: Micros) {
        self.heard_at = now;
    }

    /// Time since the peer was last heard.
    pub(crate) fn silence(&self, now: Micros) -> Micros {
        now.since(self.heard_at)
    }

    /// Packet `seq` of this tick of the other side arrived at a time, and `has_content` that needs
    /// an acknowledgement.
    pub(crate) fn note_arrival(&mut self, seq: u32, tick: u32, arrived_at: Micros, has_content: bool) {
        if seq > self.newest() {
            self.received_at = arrived_at;
            self.their_tick = tick;
        }
        self.received.note(seq);
        self.unacknowledged += 1;
        self.arrivals[0] = self.arrivals[0].saturating_add(1);
        self.owes_ack |= has_content;
    }

    /// Whether something arrived that needs an acknowledgement.
    pub(crate) fn owes_ack(&self) -> bool {
        self.owes_ack
    }

    /// Packets that arrived since the last acknowledgement.
    pub(crate) fn unacknowledged(&self) -> u32 {
        self.unacknowledged
    }

    /// What arrived is acknowledged out of turn. The next packet of a tick does it again.
    pub(crate) fn note_early_ack(&mut self) {
        self.unacknowledged = 0;
    }

    /// What arrived is acknowledged in a packet of a tick.
    pub(crate) fn note_ack(&mut self) {
        self.owes_ack = false;
        self.unacknowledged = 0;
    }

    /// Words of acknowledgements that cover the last four ticks.
    pub(crate) fn ack_words(&self) -> usize {
        let packets: usize = self.arrivals.iter().map(|&count| usize::from(count)).sum();
        packets.div_ceil(32).clamp(1, ACK_WORDS_MAX)
    }

    pub(crate) fn next_tick(&mut self) {
        self.arrivals.rotate_right(1);
        self.arrivals[0] = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ObjectId;
    use crate::version::{Record, Version};
    use crate::{MemberId, MemberTag};
    use gaggle_kit::Slot;

    fn inbound(places: usize) -> Inbound {
        Inbound::new(places, 0)
    }

    fn of(object: ObjectIndex) -> Incoming {
        Incoming { object, id: ObjectId::new(MemberTag(2), object), ..Incoming::unused() }
    }

    #[test]
    fn ack_words_cover_four_ticks() {
        let mut inbound = inbound(0);
        let mut seq = 0;
        let mut arrive = |inbound: &mut Inbound| {
            seq += 1;
            inbound.note_arrival(seq, 1, Micros::ZERO, false);
        };
        assert_eq!(inbound.ack_words(), 1);
        for _ in 0..4 {
            (0..10).for_each(|_| arrive(&mut inbound));
            inbound.next_tick();
        }
        assert_eq!(inbound.ack_words(), 1, "the oldest ten fell out");
        (0..10).for_each(|_| arrive(&mut inbound));
        assert_eq!(inbound.ack_words(), 2);
    }

    #[test]
    fn unreceived_count_never_falls_below_zero() {
        let mut inbound = inbound(9);
        inbound.note_hello(7, 3);
        inbound.open(0, of(0));
        assert_eq!((inbound.unheard(), inbound.their_tick()), (2, 7));
        (1..9).for_each(|object| inbound.open(object as u16, of(object)));
        assert_eq!(inbound.unheard(), 0);
        assert_eq!(inbound.progress(), SyncProgress { received: 3, expected: 3 });
    }

    #[test]
    fn object_without_handle_has_no_entry() {
        let mut inbound = inbound(2);
        assert!(inbound.of_object(1).is_none() && inbound.handle_of(1).is_none());
        inbound.open(0, of(1));
        assert!(inbound.of_object(1).is_some() && inbound.handle_of(1) == Some(0));
        assert!(inbound.close(0).is_some_and(|incoming| incoming.object == 1));
        assert!(inbound.close(0).is_none() && inbound.of_object(1).is_none());
    }

    #[test]
    fn reopened_handle_remembers_when_it_was_closed() {
        let mut inbound = inbound(2);
        inbound.open(0, of(1));
        inbound.at_mut(0).expect("it is open").closed_in = 9;
        assert!(inbound.close(0).is_some());
        inbound.open(0, of(0));
        assert!(inbound.at(0).is_some_and(|incoming| incoming.object == 0 && incoming.closed_in == 9));
        assert!(inbound.at(1).is_none());
    }

    #[test]
    fn oldest_rejected_record_makes_room() {
        let mut inbound = inbound(0);
        let version = Version {
            lock_seq: 0,
            claim_seq: 1,
            authority: MemberId { join_order: 0, tag: MemberTag(1) },
            tick: 1,
        };
        let record = Record {
            version,
            player: Slot::at(0),
            held: false,
            owner_claim: None,
            home: None,
            gone: true,
            kind: 0,
        };
        for object in 0..REFUSED_MAX as u32 {
            assert!(inbound.keep_refused(LinkRecord { object, record }).is_none());
        }
        let oldest = inbound.keep_refused(LinkRecord { object: 9, record });
        assert!(oldest.is_some_and(|oldest| oldest.object == 0));
        assert_eq!((inbound.take_refused().len(), inbound.refused().len()), (REFUSED_MAX, 0));
    }

    #[test]
    fn arrival_is_owed_until_packet_of_tick() {
        let mut inbound = inbound(0);
        inbound.note_arrival(2, 5, Micros::from_millis(10), true);
        inbound.note_arrival(1, 4, Micros::from_millis(20), false);
        assert_eq!((inbound.newest(), inbound.their_tick(), inbound.unacknowledged()), (2, 5, 2));
        assert_eq!(inbound.acks(Micros::from_millis(30)).2, Micros::from_millis(20));
        assert!(inbound.fresh(1).is_none() && inbound.fresh(3) == Some(3));
        inbound.note_early_ack();
        assert!(inbound.owes_ack() && inbound.unacknowledged() == 0);
        inbound.note_ack();
        assert!(!inbound.owes_ack());
    }
}
