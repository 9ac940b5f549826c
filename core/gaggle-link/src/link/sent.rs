//! Reliable packets in flight: their content, and which are lost.
//!
//! Owned by `session.rs`. Absent: stream data (`stream_out.rs`).

use std::collections::VecDeque;
use std::ops::Range;

use gaggle_kit::Micros;

use super::rtt::Rtt;

/// Stream pieces per packet.
pub(crate) const PIECES_MAX: usize = 4;

/// Packets in flight, slightly fewer than the other side remembers. Beyond it many small messages
/// share packets.
const PACKETS_MAX: usize = 1_000;

#[derive(Debug, Clone)]
pub(crate) struct SentPacket {
    pub(crate) number: u64,
    pub(crate) at: Micros,
    pub(crate) bytes: u32,
    pub(crate) pieces: Pieces,
    /// Congestion control state to return with the acknowledgement.
    pub(crate) mark: Mark,
    lost: bool,
}

/// Delivery state at the time a packet was sent.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Mark {
    /// Bytes delivered by then, and when the last of them were.
    pub(crate) delivered: u64,
    pub(crate) delivered_at: Micros,
    /// When the packet had been sent whose acknowledgement came last.
    pub(crate) first_sent_at: Micros,
    /// There was nothing more to send: its delivery rate says nothing about the path.
    pub(crate) idle: bool,
}

/// Stream ranges of a packet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pieces {
    pieces: [(u8, u64, u16); PIECES_MAX],
    count: usize,
}

impl Pieces {
    pub(crate) fn is_full(&self) -> bool {
        self.count == PIECES_MAX
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count == 0
    }

    pub(crate) fn push(&mut self, stream: u8, range: &Range<u64>) {
        self.pieces[self.count] = (stream, range.start, (range.end - range.start) as u16);
        self.count += 1;
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (u8, Range<u64>)> + '_ {
        self.pieces[..self.count].iter().map(|&(stream, start, len)| (stream, start..start + u64::from(len)))
    }
}

#[derive(Debug, Default)]
pub(crate) struct SentPackets {
    /// In sending order, which is number order.
    packets: VecDeque<SentPacket>,
    in_flight_bytes: u64,
    newest_acked: Option<u64>,
    /// How much later than expected a packet may be acknowledged before it counts as lost; grows
    /// after wrong guesses.
    patience: Micros,
    patience_grew_at: Micros,
}

impl SentPackets {
    pub(crate) fn new() -> SentPackets {
        // Space for the first window, so that a burst of retransmissions does not allocate.
        SentPackets { packets: VecDeque::with_capacity(16), ..SentPackets::default() }
    }

    pub(crate) fn in_flight_bytes(&self) -> u64 {
        self.in_flight_bytes
    }

    /// Whether an acknowledgement could not cover more packets.
    pub(crate) fn is_full(&self) -> bool {
        self.packets.len() >= PACKETS_MAX
    }

    /// Oldest packet still waited for.
    pub(crate) fn floor(&self) -> Option<u64> {
        self.packets.front().map(|packet| packet.number)
    }

    pub(crate) fn push(&mut self, number: u64, at: Micros, bytes: usize, pieces: Pieces, mark: Mark) {
        self.in_flight_bytes += bytes as u64;
        self.packets.push_back(SentPacket { number, at, bytes: bytes as u32, pieces, mark, lost: false });
    }

    /// Removes the packets with these numbers, oldest first.
    pub(crate) fn acked(
        &mut self,
        now: Micros,
        range: Range<u64>,
        rtt: &Rtt,
        mut each: impl FnMut(&SentPacket),
    ) {
        let from = self.packets.partition_point(|packet| packet.number < range.start);
        let to = from + self.packets.range(from..).take_while(|packet| packet.number < range.end).count();
        if from == to {
            return;
        }
        for packet in self.packets.range(from..to) {
            if packet.lost {
                self.patience = grown(self.patience, self.patience_grew_at, now, rtt);
                self.patience_grew_at = now;
            } else {
                self.in_flight_bytes -= u64::from(packet.bytes);
            }
            self.newest_acked = self.newest_acked.max(Some(packet.number));
            each(packet);
        }
        self.packets.drain(from..to);
    }

    /// Finds lost packets: those sent well before one that was acknowledged (RFC 8985, by time
    /// only, so that reordering costs nothing).
    pub(crate) fn detect_lost(&mut self, now: Micros, rtt: &Rtt, mut each: impl FnMut(&SentPacket)) {
        let wait = self.loss_wait(rtt);
        let newest_acked = self.newest_acked;
        for packet in &mut self.packets {
            if Some(packet.number) >= newest_acked || packet.at.saturating_add(wait) > now {
                break;
            }
            if !packet.lost {
                packet.lost = true;
                self.in_flight_bytes -= u64::from(packet.bytes);
                each(packet);
            }
        }
        // Kept for a second such wait, so that a merely late acknowledgement still counts.
        let forget_after = wait + wait;
        while self.packets.front().is_some_and(|oldest| oldest.lost && now.since(oldest.at) > forget_after) {
            self.packets.pop_front();
        }
        if now.since(self.patience_grew_at) > Micros::from_secs(5) {
            self.patience = Micros::new(self.patience.get() / 2);
            self.patience_grew_at = now;
        }
    }

    /// Declares the oldest `count` packets lost, because nothing was heard for too long.
    pub(crate) fn give_up(&mut self, count: usize, mut each: impl FnMut(&SentPacket)) {
        for packet in self.packets.iter_mut().filter(|packet| !packet.lost).take(count) {
            packet.lost = true;
            self.in_flight_bytes -= u64::from(packet.bytes);
            each(packet);
        }
    }

    /// When [`SentPackets::detect_lost`] will find something without further arrivals.
    pub(crate) fn loss_at(&self, rtt: &Rtt) -> Option<Micros> {
        let oldest = self.packets.iter().find(|packet| !packet.lost)?;
        (Some(oldest.number) < self.newest_acked).then(|| oldest.at.saturating_add(self.loss_wait(rtt)))
    }

    /// Sending time of the newest packet in flight.
    pub(crate) fn newest_at(&self) -> Option<Micros> {
        self.packets.iter().rev().find(|packet| !packet.lost).map(|packet| packet.at)
    }

    fn loss_wait(&self, rtt: &Rtt) -> Micros {
        let expected = rtt.smoothed().max(rtt.latest());
        Micros::new(expected.get() / 8).max(Micros::from_millis(1)) + expected + self.patience
    }
}

fn grown(patience: Micros, grew_at: Micros, now: Micros, rtt: &Rtt) -> Micros {
    if now.since(grew_at) < rtt.smoothed() {
        return patience;
    }
    let step = Micros::new(rtt.smoothed().get() / 4).max(Micros::from_millis(1));
    (patience + step).min(rtt.smoothed())
}
