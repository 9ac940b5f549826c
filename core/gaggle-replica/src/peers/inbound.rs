//! State received from one peer, accepted or not. Intake writes it. Absent: which of it is
//! permitted.

use std::collections::VecDeque;

use gaggle_kit::Micros;

use super::{Incoming, LinkRecord, NONE};
use crate::packet::{ACK_WORDS_MAX, Received};

/// Everything received from one peer.
#[derive(Debug)]
pub(crate) struct Inbound {
    /// Objects by handle of the other side.
    pub(crate) table: Vec<Incoming>,
    /// Handle in `table`, by index of the object.
    pub(crate) table_of: Vec<u32>,
    /// Objects the other side was about to introduce when the link began, and how many have
    /// arrived.
    pub(crate) announced: u32,
    pub(crate) introduced: u32,
    /// Number of known objects it introduced.
    pub(crate) brought: usize,
    /// Objects of departed members that only this peer introduced, since the last of those members
    /// left.
    pub(crate) legacies: u32,
    /// Rejected records of deleted objects whose handles are closed.
    pub(crate) refused: VecDeque<LinkRecord>,
    pub(crate) received: Received,
    pub(crate) received_at: Micros,
    /// Time the last packet arrived.
    pub(crate) heard_at: Micros,
    /// Something arrived that needs an acknowledgement.
    pub(crate) owes_ack: bool,
    /// Packets that arrived since the last acknowledgement.
    pub(crate) unacknowledged: u32,
    /// The newest tick of the other side.
    pub(crate) their_tick: u32,
    /// Number of packets that arrived in each of the last ticks: this many acknowledgements must
    /// fit.
    arrivals: [u16; 4],
}

impl Inbound {
    pub(crate) fn new(places: usize) -> Inbound {
        Inbound {
            table: Vec::new(),
            table_of: vec![NONE; places],
            announced: 0,
            introduced: 0,
            brought: 0,
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

    /// Objects the other side has yet to introduce of those it had when the link began.
    pub(crate) fn unheard(&self) -> u32 {
        self.announced.saturating_sub(self.introduced)
    }

    /// State the peer has sent for an object under its handle.
    pub(crate) fn of_object(&self, place: u32) -> Option<&Incoming> {
        self.table.get(self.table_of[place as usize] as usize)
    }

    /// Notes an arrival for the number of acknowledgements to send.
    pub(crate) fn note_arrival(&mut self) {
        self.arrivals[0] = self.arrivals[0].saturating_add(1);
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

    #[test]
    fn ack_words_cover_four_ticks() {
        let mut inbound = Inbound::new(0);
        assert_eq!(inbound.ack_words(), 1);
        for _ in 0..4 {
            (0..10).for_each(|_| inbound.note_arrival());
            inbound.next_tick();
        }
        assert_eq!(inbound.ack_words(), 1, "the oldest ten fell out");
        (0..10).for_each(|_| inbound.note_arrival());
        assert_eq!(inbound.ack_words(), 2);
    }

    #[test]
    fn unreceived_count_never_falls_below_zero() {
        let mut inbound = Inbound::new(0);
        (inbound.announced, inbound.introduced) = (3, 1);
        assert_eq!(inbound.unheard(), 2);
        inbound.introduced = 9;
        assert_eq!(inbound.unheard(), 0);
    }

    #[test]
    fn object_without_handle_has_no_entry() {
        let mut inbound = Inbound::new(2);
        assert!(inbound.of_object(1).is_none());
        inbound.table.push(Incoming::unused());
        inbound.table_of[1] = 0;
        assert!(inbound.of_object(1).is_some());
    }
}
