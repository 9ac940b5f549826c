//! Sent packets of a link that may still be acknowledged, with their records. Intake and the
//! replicator use it. Absent: content of the records, retransmission.

use std::collections::VecDeque;

use gaggle_kit::Micros;

/// Most packets kept. One not acknowledged within this many later ones never will be: a header has
/// 128 bits of acknowledgements.
const PACKETS_MAX: usize = 256;
/// Ticks for which an acknowledgement of a packet assumed lost still counts, if there are more than
/// a few. The list is scanned often, and a short one stays in the cache.
const LATE_TICKS_MAX: u32 = 16;
const FEW: usize = 64;

/// A record in a sent packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SentRecord {
    /// Place of the object.
    pub(crate) object: u32,
    /// Stamp of the state that was sent, see `Object::stamp`; 0, which no object has, if the handle
    /// was closed.
    stamp: u32,
    pub(crate) handle: u16,
    /// Identity it was introduced with, see `Object::identity`.
    pub(crate) identity: u16,
}

impl SentRecord {
    /// A record under a handle; without a stamp, the handle is closed.
    #[inline]
    pub(crate) fn new(object: u32, handle: u16, identity: u16, stamp: Option<u32>) -> SentRecord {
        SentRecord { object, stamp: stamp.unwrap_or(0), handle, identity }
    }

    /// Stamp of the state that was sent; `None` if the handle was closed.
    #[inline]
    pub(crate) fn stamp(&self) -> Option<u32> {
        Some(self.stamp).filter(|&stamp| stamp != 0)
    }
}

#[derive(Debug, Clone, Copy)]
struct SentPacket {
    tick: u32,
    at: Micros,
    records: u32,
    /// Last input change in it.
    inputs: u32,
    state: State,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Flying,
    /// Assumed lost; an acknowledgement still counts.
    Lost,
    Acked,
}

/// Packets in the order of their numbers, and their records one after another.
#[derive(Debug, Default)]
pub(crate) struct Sent {
    /// Number of the first packet kept.
    first: u32,
    packets: VecDeque<SentPacket>,
    records: VecDeque<SentRecord>,
    /// Packets from the front that are no longer in flight.
    settled: usize,
    /// Records of those packets.
    settled_records: usize,
    /// Newest tick of which a packet was acknowledged.
    acked_tick: u32,
}

impl Sent {
    pub(crate) fn new() -> Sent {
        Sent { first: 1, ..Sent::default() }
    }

    /// Number of the next packet.
    pub(crate) fn next_seq(&self) -> u32 {
        self.first + self.packets.len() as u32
    }

    /// Adds a record to the packet being made.
    #[inline]
    pub(crate) fn record(&mut self, record: SentRecord) {
        self.records.push_back(record);
    }

    /// Finishes the packet being made, with this many records and inputs up to a change.
    pub(crate) fn packet(&mut self, tick: u32, at: Micros, records: usize, inputs: u32) {
        let records = records as u32;
        self.packets.push_back(SentPacket { tick, at, records, inputs, state: State::Flying });
        // Only settled packets are dropped: one in flight is assumed lost long before this many
        // follow it.
        while self.settled > 0 {
            let oldest = self.packets.front();
            let is_over = |oldest: &SentPacket| {
                let is_late = oldest.tick.saturating_add(LATE_TICKS_MAX) < tick;
                oldest.state == State::Acked || is_late && self.packets.len() > FEW
            };
            if self.packets.len() <= PACKETS_MAX && !oldest.is_some_and(is_over) {
                break;
            }
            let Some(oldest) = self.packets.pop_front() else { break };
            self.records.drain(..oldest.records as usize);
            self.first += 1;
            self.settled -= 1;
            self.settled_records -= oldest.records as usize;
        }
    }

    /// Number of packets and records kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        (self.packets.len(), self.records.len())
    }

    /// Last input change that was in a packet.
    pub(crate) fn inputs_in(&self, seq: u32) -> u32 {
        let index = seq.checked_sub(self.first).map(|index| index as usize);
        index.and_then(|index| self.packets.get(index)).map_or(0, |packet| packet.inputs)
    }

    /// A packet was acknowledged: its tick, send time and records, if this is new.
    pub(crate) fn acknowledge(
        &mut self,
        seq: u32,
    ) -> Option<(u32, Micros, impl Iterator<Item = SentRecord> + '_)> {
        let index = seq.checked_sub(self.first)? as usize;
        let packet = self.packets.get_mut(index)?;
        if packet.state == State::Acked {
            return None;
        }
        packet.state = State::Acked;
        let (tick, at, count) = (packet.tick, packet.at, packet.records as usize);
        self.acked_tick = self.acked_tick.max(tick);
        // From the nearer end: mostly recent packets are acknowledged.
        let start: usize = if index >= self.settled {
            let between = self.packets.range(self.settled..index).map(|packet| packet.records as usize);
            self.settled_records + between.sum::<usize>()
        } else {
            self.packets.range(..index).map(|packet| packet.records as usize).sum()
        };
        Some((tick, at, self.records.range(start..start + count).copied()))
    }

    /// Next packet assumed lost, because a later tick was acknowledged or it is older than
    /// `timeout_ticks`: its tick and its records.
    pub(crate) fn next_lost(
        &mut self,
        now_tick: u32,
        timeout_ticks: u32,
    ) -> Option<(u32, impl Iterator<Item = SentRecord> + '_)> {
        while let Some(packet) = self.packets.get_mut(self.settled) {
            let overtaken = packet.tick + 2 <= self.acked_tick;
            let late = now_tick > packet.tick.saturating_add(timeout_ticks);
            if packet.state == State::Flying && !overtaken && !late {
                return None;
            }
            let lost = packet.state == State::Flying;
            if lost {
                packet.state = State::Lost;
            }
            let (tick, start, count) = (packet.tick, self.settled_records, packet.records as usize);
            self.settled += 1;
            self.settled_records += count;
            if lost {
                return Some((tick, self.records.range(start..start + count).copied()));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(object: u32) -> SentRecord {
        SentRecord::new(object, object as u16, 0, Some(1))
    }

    fn send(sent: &mut Sent, tick: u32, objects: &[u32]) -> u32 {
        let seq = sent.next_seq();
        objects.iter().for_each(|&object| sent.record(record(object)));
        sent.packet(tick, Micros::ZERO, objects.len(), 0);
        seq
    }

    fn lost(sent: &mut Sent, now: u32) -> Vec<(u32, Vec<u32>)> {
        std::iter::from_fn(|| {
            sent.next_lost(now, 10).map(|(tick, records)| (tick, records.map(|r| r.object).collect()))
        })
        .collect()
    }

    #[test]
    fn packet_counts_as_lost_after_later_ack_or_timeout() {
        let mut sent = Sent::new();
        let first = send(&mut sent, 1, &[1, 2]);
        let second = send(&mut sent, 2, &[3]);
        let third = send(&mut sent, 3, &[4, 5, 6]);
        assert_eq!((first, second, third), (1, 2, 3));
        let acked: Vec<u32> = sent.acknowledge(third).unwrap().2.map(|record| record.object).collect();
        assert_eq!(acked, [4, 5, 6]);
        assert!(sent.acknowledge(third).is_none(), "an acknowledgement counts once");
        assert_eq!(lost(&mut sent, 3), [(1, vec![1, 2])], "the second is only one tick older");
        let late: Vec<u32> = sent.acknowledge(first).unwrap().2.map(|record| record.object).collect();
        assert_eq!(late, [1, 2], "a late acknowledgement counts");
        assert_eq!(lost(&mut sent, 13), [(2, vec![3])]);
        assert_eq!(lost(&mut sent, 100), []);
    }

    #[test]
    fn old_packets_are_forgotten_with_their_records() {
        let mut sent = Sent::new();
        for tick in 1..2_000 {
            let seq = send(&mut sent, tick, &[tick, tick + 1]);
            if tick % 3 != 0 {
                let records: Vec<u32> =
                    sent.acknowledge(seq).unwrap().2.map(|record| record.object).collect();
                assert_eq!(records, [tick, tick + 1]);
            }
            let expected: Vec<(u32, Vec<u32>)> = match tick.checked_sub(2) {
                Some(old) if old % 3 == 0 && old > 0 => vec![(old, vec![old, old + 1])],
                _ => vec![],
            };
            assert_eq!(lost(&mut sent, tick), if tick % 3 == 0 { vec![] } else { expected }, "at {tick}");
        }
        assert!(sent.packets.len() <= FEW + 1, "{} packets", sent.packets.len());
        assert_eq!(sent.records.len(), 2 * sent.packets.len());
        assert!(sent.acknowledge(3).is_none(), "forgotten");
        assert!(sent.acknowledge(99_999).is_none(), "never sent");
    }
}
