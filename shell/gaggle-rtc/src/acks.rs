//! When acknowledgements leave. A game's messages are small and go both ways all the time, and SCTP
//! sends an acknowledgement for every two of them, in a datagram of its own that costs as much as a
//! message. Here it waits a little for a message to travel with. What the other side waits for,
//! because much is under way or something is missing, leaves at once.

use std::time::{Duration, Instant};

use crate::sctp::{self, LoneAck};

/// How long after what it acknowledges. SCTP itself may take 200 ms, and whoever repeats what was
/// lost waits longer than that.
const WAIT: Duration = Duration::from_millis(40);
/// What may have come in without an acknowledgement: less than the least anybody may have under
/// way.
const UNACKNOWLEDGED_BYTES_MAX: usize = 1_000;
/// What a packet may have with an acknowledgement in it.
const JOINED_BYTES_MAX: usize = 1_160;

/// The acknowledgements of one channel.
#[derive(Debug, Default)]
pub(crate) struct Acks {
    /// When the first data came that no acknowledgement was sent for, and how much since.
    since: Option<Instant>,
    bytes: usize,
    waiting: Option<LoneAck>,
    joined: Vec<u8>,
}

impl Acks {
    /// A packet came.
    pub(crate) fn received(&mut self, now: Instant, packet: &[u8]) {
        if sctp::brings_data(packet) {
            self.since.get_or_insert(now);
            self.bytes = self.bytes.saturating_add(packet.len());
        }
    }

    /// What to send when a packet is to be sent: it, it with an acknowledgement, or nothing yet.
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

    /// When the one that waits must leave.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.waiting.and(self.since).map(|since| since + WAIT)
    }

    /// The one that waited long enough.
    pub(crate) fn take_due(&mut self, now: Instant) -> Option<LoneAck> {
        let ack = self.due().filter(|due| *due <= now).and(self.waiting)?;
        self.done();
        Some(ack)
    }

    /// All is acknowledged.
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
    fn it_travels_with_the_next_message() {
        let (mut acks, begin) = (Acks::default(), Instant::now());
        acks.received(begin, &message(100));
        acks.received(begin + 17 * MS, &message(100));
        assert_eq!(acks.passing(begin + 17 * MS, &acknowledgement(2)), None);
        assert_eq!(acks.due(), Some(begin + 40 * MS));
        let sent = acks.passing(begin + 30 * MS, &message(80)).unwrap().to_vec();
        assert!(sctp::brings_data(&sent) && sctp::acknowledges(&sent));
        assert_eq!(acks.due(), None);
        assert_eq!(acks.passing(begin + 31 * MS, &message(80)), Some(&message(80)[..]), "it is said once");
    }

    #[test]
    fn the_newest_is_said_and_none_waits_for_long() {
        let (mut acks, begin) = (Acks::default(), Instant::now());
        for nth in 1..=4 {
            acks.received(begin + u32::from(nth) * MS, &message(100));
            assert_eq!(acks.passing(begin + u32::from(nth) * MS, &acknowledgement(nth)), None);
        }
        assert_eq!(acks.take_due(begin + 40 * MS), None);
        assert_eq!(acks.take_due(begin + 41 * MS).unwrap()[..], acknowledgement(4));
        assert_eq!(acks.take_due(begin + 41 * MS), None);
        // One that SCTP itself let wait goes out as it is.
        acks.received(begin + 50 * MS, &message(100));
        let late = acknowledgement(5);
        assert_eq!(acks.passing(begin + 250 * MS, &late), Some(&late[..]));
    }

    #[test]
    fn whoever_sends_much_or_lost_something_is_answered_at_once() {
        let (mut acks, now) = (Acks::default(), Instant::now());
        acks.received(now, &message(1_100));
        let plain = acknowledgement(1);
        assert_eq!(acks.passing(now, &plain), Some(&plain[..]));
        acks.received(now, &message(10));
        assert_eq!(acks.passing(now, &acknowledgement(2)), None);
        acks.received(now, &message(10));
        let gaps = packet(&[(3, &ack(2, 1))]);
        assert_eq!(acks.passing(now, &gaps), Some(&gaps[..]));
        assert_eq!(acks.due(), None, "an older one is not said after it");
        // Nothing came: whatever it is for, it is not ours to keep.
        assert_eq!(acks.passing(now, &plain), Some(&plain[..]));
    }

    #[test]
    fn a_packet_without_room_goes_alone() {
        let (mut acks, now) = (Acks::default(), Instant::now());
        acks.received(now, &message(10));
        assert_eq!(acks.passing(now, &acknowledgement(1)), None);
        let full = message(1_132);
        assert_eq!(acks.passing(now, &full), Some(&full[..]));
        assert!(acks.due().is_some(), "it still waits");
    }
}
