//! Delayed acknowledgements of a channel.
//!
//! `gate.rs` uses it. SCTP acknowledges every second message in a datagram of its own. Here an
//! acknowledgement waits for a data packet that can carry it, unless the other side needs it at
//! once: with much data in flight, or after a loss. Absent: parsing (`sctp.rs`).

use std::time::{Duration, Instant};

use crate::sctp::{self, LoneAck};

/// Longest delay of an acknowledgement. SCTP permits 200 ms, and its retransmissions wait longer.
const WAIT: Duration = Duration::from_millis(40);
/// Most bytes received without an acknowledgement: less than the smallest congestion window.
const UNACKNOWLEDGED_BYTES_MAX: usize = 1_000;
/// Longest packet into which an acknowledgement is merged.
const JOINED_BYTES_MAX: usize = 1_160;

/// Acknowledgements of one channel.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    /// Arrival of the first unacknowledged data, and bytes since.
    since: Option<Instant>,
    bytes: usize,
    waiting: Option<LoneAck>,
    joined: Vec<u8>,
}

impl Acks {
    /// A packet has arrived.
    pub(crate) fn received(&mut self, now: Instant, packet: &[u8]) {
        if sctp::brings_data(packet) {
            self.since.get_or_insert(now);
            self.bytes = self.bytes.saturating_add(packet.len());
        }
    }

    /// Bytes to send for an outgoing packet: the packet, alone or with an acknowledgement merged
    /// into it; `None` for an acknowledgement that waits.
    pub(crate) fn passing<'a>(&'a mut self, now: Instant, packet: &'a [u8]) -> Option<&'a [u8]> {
        if let Some(ack) = sctp::lone_ack(packet) {
            let is_early = self.since.is_some_and(|since| now < since + WAIT);
            if is_early && self.bytes <= UNACKNOWLEDGED_BYTES_MAX {
                self.waiting = Some(ack);
                return None;
            }
            self.done();
            return Some(packet);
        }
        if sctp::acknowledges(packet) {
            self.done();
            return Some(packet);
        }
        let fits = packet.len() + sctp::LONE_ACK_BYTES <= JOINED_BYTES_MAX;
        let Some(ack) = self.waiting.take_if(|_| fits && sctp::brings_data(packet)) else {
            return Some(packet);
        };
        self.done();
        sctp::join(&ack, packet, &mut self.joined);
        Some(&self.joined)
    }

    /// Time at which the waiting acknowledgement must be sent.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.waiting.and(self.since).map(|since| since + WAIT)
    }

    /// The waiting acknowledgement, if it is due.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<LoneAck> {
        let ack = self.due().filter(|due| *due <= now).and(self.waiting)?;
        self.done();
        Some(ack)
    }

    /// Resets the state: everything is acknowledged.
    fn done(&mut self) {
        (self.since, self.bytes, self.waiting) = (None, 0, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sctp::tests::{ack, data, packet};

    const MS: Duration = Duration::from_millis(1);

    fn message(bytes: usize) -> Vec<u8> {
        packet(&[(0, &data(0, &vec![7; bytes]))])
    }

    fn acknowledgement(upto: u8) -> Vec<u8> {
        packet(&[(3, &ack(upto, 0))])
    }

    #[test]
    fn ack_travels_with_next_message() {
        let (mut acks, begin) = (Acks::default(), Instant::now());
        acks.received(begin, &message(100));
        acks.received(begin + 17 * MS, &message(100));
        assert_eq!(acks.passing(begin + 17 * MS, &acknowledgement(2)), None);
        assert_eq!(acks.due(), Some(begin + 40 * MS));
        let sent = acks.passing(begin + 30 * MS, &message(80)).unwrap().to_vec();
        assert!(sctp::brings_data(&sent) && sctp::acknowledges(&sent));
        assert_eq!(acks.due(), None);
        assert_eq!(acks.passing(begin + 31 * MS, &message(80)), Some(&message(80)[..]), "it is sent once");
    }

    #[test]
    fn newest_ack_is_sent_and_none_waits_long() {
        let (mut acks, begin) = (Acks::default(), Instant::now());
        for nth in 1..=4 {
            acks.received(begin + u32::from(nth) * MS, &message(100));
            assert_eq!(acks.passing(begin + u32::from(nth) * MS, &acknowledgement(nth)), None);
        }
        assert_eq!(acks.take_due(begin + 40 * MS), None);
        assert_eq!(acks.take_due(begin + 41 * MS).unwrap()[..], acknowledgement(4));
        assert_eq!(acks.take_due(begin + 41 * MS), None);
        // An acknowledgement that SCTP itself delayed is sent unchanged.
        acks.received(begin + 50 * MS, &message(100));
        let late = acknowledgement(5);
        assert_eq!(acks.passing(begin + 250 * MS, &late), Some(&late[..]));
    }

    #[test]
    fn bulk_sender_or_loss_is_acknowledged_at_once() {
        let (mut acks, now) = (Acks::default(), Instant::now());
        acks.received(now, &message(1_100));
        let plain = acknowledgement(1);
        assert_eq!(acks.passing(now, &plain), Some(&plain[..]));
        acks.received(now, &message(10));
        assert_eq!(acks.passing(now, &acknowledgement(2)), None);
        acks.received(now, &message(10));
        let gaps = packet(&[(3, &ack(2, 1))]);
        assert_eq!(acks.passing(now, &gaps), Some(&gaps[..]));
        assert_eq!(acks.due(), None, "an older one is not sent after it");
        // No data arrived, so the packet acknowledges something else and must not be delayed.
        assert_eq!(acks.passing(now, &plain), Some(&plain[..]));
    }

    #[test]
    fn full_packet_goes_without_ack() {
        let (mut acks, now) = (Acks::default(), Instant::now());
        acks.received(now, &message(10));
        assert_eq!(acks.passing(now, &acknowledgement(1)), None);
        let full = message(1_132);
        assert_eq!(acks.passing(now, &full), Some(&full[..]));
        assert!(acks.due().is_some(), "it still waits");
    }
}
