//! Bytes of packets, and the share of them that exists only because peers join and leave.
//!
//! Counted as they are sent, by docs/protocol/3-timeline.md: what two peers without membership
//! would not send is membership's share. Called by `people.rs`. Absent: figures of the report.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Channel, CloseCode, LinkStats, SendError, Transport, TransportEvent};

/// Flags, newest frame, carried entries and acknowledgment.
const PLAY_BYTES: usize = 5;
const TIME_BYTES: usize = 7;
const CHECK_BYTES: usize = 9;

const TAG_MASK: u8 = 0b0011_1111;
/// Tag of packets that are not of the running game.
const TAG_OTHER: u8 = 63;
const FLAG_CHANGES: u8 = 0b0000_1111;
const FLAG_TIME: u8 = 0b0001_0000;
const FLAG_CHECK: u8 = 0b0010_0000;
/// Value of the acknowledgment's byte if two more bytes have it.
const ACK_FOLLOWS: u8 = 255;

/// Packets sent while no input changed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weight {
    /// Packets of the running game.
    pub packets: u64,
    /// Bytes of these packets.
    pub bytes: u64,
    /// Most bytes of membership in one of them.
    pub membership_most: usize,
    /// Bytes of messages, and of packets that pass on other peers' entries.
    pub bytes_beside: u64,
}

impl Weight {
    /// Mean bytes of a packet.
    pub fn per_packet(&self) -> f64 {
        self.bytes as f64 / self.packets as f64
    }

    fn add(&mut self, channel: Channel, bytes: &[u8]) {
        match membership_share(bytes).filter(|_| channel == Channel::Unreliable) {
            Some(share) => {
                self.packets += 1;
                self.bytes += bytes.len() as u64;
                self.membership_most = self.membership_most.max(share);
            }
            None => self.bytes_beside += bytes.len() as u64,
        }
    }
}

/// Bytes of membership in a packet of the running game; none for other packets.
///
/// # Panics
/// If an input changed, which does not happen while packets are weighed.
fn membership_share(packet: &[u8]) -> Option<usize> {
    let [tag, flags, _, _, _, ack, ..] = *packet else { return None };
    if tag & TAG_MASK == TAG_OTHER {
        return None;
    }
    assert_eq!(flags & FLAG_CHANGES, 0, "an input changed");
    let ack_bytes = if ack == ACK_FOLLOWS { 2 } else { 0 };
    let time_bytes = if flags & FLAG_TIME != 0 { TIME_BYTES } else { 0 };
    let check_bytes = if flags & FLAG_CHECK != 0 { CHECK_BYTES } else { 0 };
    Some(packet.len() - PLAY_BYTES - ack_bytes - time_bytes - check_bytes)
}

/// A transport that weighs what it sends.
pub(crate) struct Weighing<'a, T> {
    pub(crate) transport: &'a mut T,
    pub(crate) weight: &'a mut Weight,
}

impl<T: Transport> Transport for Weighing<'_, T> {
    fn local_id(&self) -> PeerId {
        self.transport.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        self.transport.peers()
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.weight.add(channel, bytes);
        self.transport.send(now, to, channel, bytes)
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        self.transport.poll(now)
    }

    fn poll_timeout(&self) -> Micros {
        self.transport.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.transport.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.transport.stats(peer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a protocol vector: hexadecimal digits, comments after `#`.
    fn vector(text: &str) -> Vec<u8> {
        let told = text.lines().flat_map(|line| line.split('#').next().unwrap_or_default().chars());
        let digits: Vec<u8> = told.filter_map(|c| c.to_digit(16)).map(|digit| digit as u8).collect();
        digits.chunks(2).map(|pair| pair[0] * 16 + pair[1]).collect()
    }

    #[test]
    fn ballot_and_entries_are_membership_share() {
        let idle = vector(include_str!("../../../core/gaggle-timeline/vectors/idle.hex"));
        assert_eq!((idle.len(), membership_share(&idle)), (7, Some(2)));
        // A ballot, and two entries with content.
        let sayings = vector(include_str!("../../../core/gaggle-timeline/vectors/sayings.hex"));
        assert_eq!(membership_share(&sayings), Some(2 + sayings.len() - idle.len()));
        let need = vector(include_str!("../../../core/gaggle-timeline/vectors/need.hex"));
        assert_eq!(membership_share(&need), None);
    }

    #[test]
    fn time_and_hashes_are_not_membership_share() {
        let mut timed = vector(include_str!("../../../core/gaggle-timeline/vectors/idle.hex"));
        timed[1] |= FLAG_TIME | FLAG_CHECK;
        timed.extend([0; TIME_BYTES + CHECK_BYTES]);
        assert_eq!(membership_share(&timed), Some(2));
        timed.push(0);
        assert_eq!(membership_share(&timed), Some(3), "a byte without a known purpose");
    }

    #[test]
    fn messages_are_counted_beside_packets() {
        let mut weight = Weight::default();
        let idle = vector(include_str!("../../../core/gaggle-timeline/vectors/idle.hex"));
        weight.add(Channel::Unreliable, &idle);
        weight.add(Channel::Reliable(0), &idle);
        assert_eq!((weight.packets, weight.bytes, weight.bytes_beside), (1, 7, 7));
        assert_eq!(weight.per_packet(), 7.0);
    }
}
