//! Received packet numbers: rejects duplicates, counts losses, lists what to acknowledge.
//!
//! Owned by `session.rs`. Absent: when to acknowledge (`acks.rs`).

use super::packet::{ACK_RANGES_MAX, AckRanges};

/// Packets remembered; older ones are rejected. 1,024 at 60 a second are 17 seconds, and a fast
/// transfer has no more in flight.
const WINDOW: u64 = 1_024;

/// How far ahead an unproven packet may be. Beyond it, the packet must carry the link's label, so
/// that a stray one cannot make real ones look old.
const JUMP_MAX: u64 = 4_096;

/// Numbers that count for the reported loss.
const LOSS_WINDOW: u64 = 512;

#[derive(Debug, Clone)]
pub(crate) struct Received {
    first: u64,
    /// One past the highest number received.
    next: u64,
    /// Bit n mod [`WINDOW`] for number n.
    bits: [u64; WINDOW as usize / 64],
    distinct: u64,
    /// How many of the last [`LOSS_WINDOW`] numbers arrived; updated incrementally, because
    /// statistics are read every frame for every peer.
    recent: u64,
}

impl Received {
    /// Both sides know the first number of a link.
    pub(crate) fn starting_at(first: u16) -> Received {
        // One lap ahead, so that older numbers do not underflow.
        let first = 0x1_0000 + u64::from(first);
        Received { first, next: first, bits: [0; WINDOW as usize / 64], distinct: 0, recent: 0 }
    }

    /// Full number of a packet from its 16 low bits: the one nearest to the expected.
    pub(crate) fn whole(&self, number: u16) -> u64 {
        let ahead = number.wrapping_sub(self.next as u16) as i16;
        self.next.wrapping_add_signed(i64::from(ahead))
    }

    /// Whether the packet is new. `proven` if it carries the link's label.
    #[inline]
    pub(crate) fn is_new(&self, number: u64, proven: bool) -> bool {
        if number >= self.next {
            return proven || number - self.next < JUMP_MAX;
        }
        number >= self.first && self.next - number <= WINDOW && !self.has(number)
    }

    #[inline]
    pub(crate) fn insert(&mut self, number: u64) {
        if number >= self.next {
            if number - self.next >= WINDOW {
                self.bits = [0; WINDOW as usize / 64];
                self.recent = 0;
            } else {
                (self.next..=number).for_each(|passed| self.pass(passed));
            }
            self.next = number + 1;
        }
        self.bits[word(number)] |= bit(number);
        self.distinct += 1;
        self.recent += u64::from(self.next - number <= LOSS_WINDOW);
    }

    /// Moves the window past one number, received or not.
    fn pass(&mut self, number: u64) {
        // Numbers start one lap ahead, so even one from before the first has a bit: never set.
        self.recent -= u64::from(self.has(number - LOSS_WINDOW));
        self.bits[word(number)] &= !bit(number);
    }

    /// Whether the packet before this one is missing.
    pub(crate) fn misses_before(&self, number: u64) -> bool {
        number > self.first && self.next - number < WINDOW && !self.has(number - 1)
    }

    /// Packets before the newest one that have not arrived.
    pub(crate) fn missing(&self) -> u64 {
        self.next - self.first - self.distinct
    }

    /// Share of the latest packets that has not arrived, in permille.
    pub(crate) fn loss_permille(&self) -> u16 {
        let sent = (self.next - self.first).min(LOSS_WINDOW);
        if sent == self.recent {
            return 0;
        }
        ((sent - self.recent) * 1_000 / sent) as u16
    }

    /// What arrived from `newest` down to `floor`, as far as an acknowledgement holds it.
    pub(crate) fn ranges(&self, floor: u64, newest: u64) -> AckRanges {
        let mut ranges = AckRanges::default();
        let floor = floor.max(self.first).max(self.next.saturating_sub(WINDOW));
        let mut end = (newest + 1).min(self.next);
        while end > floor && ranges.len() < ACK_RANGES_MAX {
            let start =
                (floor..end).rev().find(|&number| !self.has(number)).map_or(floor, |missing| missing + 1);
            if start < end {
                ranges.push(start..end);
            }
            end = (floor..start).rev().find(|&number| self.has(number)).map_or(floor, |arrived| arrived + 1);
        }
        ranges
    }

    #[inline]
    fn has(&self, number: u64) -> bool {
        self.bits[word(number)] & bit(number) != 0
    }
}

const fn word(number: u64) -> usize {
    (number % WINDOW / 64) as usize
}

const fn bit(number: u64) -> u64 {
    1 << (number % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arrived(numbers: &[u16]) -> Received {
        let mut received = Received::starting_at(numbers[0]);
        for &number in numbers {
            let number = received.whole(number);
            assert!(received.is_new(number, false), "{number}");
            received.insert(number);
        }
        received
    }

    #[test]
    fn each_packet_counts_once_even_late_and_across_wrap() {
        let mut received = arrived(&[65_534, 65_535, 1, 0, 3]);
        for number in [65_534_u16, 65_535, 0, 1, 3] {
            assert!(!received.is_new(received.whole(number), true), "{number} repeated");
        }
        assert!(received.is_new(received.whole(2), false));
        assert!(!received.is_new(received.whole(65_533), false), "from before the first");
        assert_eq!(received.missing(), 1);
        received.insert(received.whole(2));
        assert_eq!(received.missing(), 0);
        assert!(!received.misses_before(received.whole(3)));
        assert!(!received.misses_before(received.whole(65_534)));
    }

    #[test]
    fn packets_beyond_window_are_rejected() {
        let mut received = arrived(&[10]);
        received.insert(received.whole(10 + 1_024));
        assert!(!received.is_new(received.whole(10), false));
        assert!(received.is_new(received.whole(11), false));
        assert_eq!(received.missing(), 1_023);
    }

    #[test]
    fn only_proven_packet_may_be_far_ahead() {
        let mut received = arrived(&[0]);
        assert!(received.is_new(received.whole(4_096), false));
        assert!(!received.is_new(received.whole(4_097), false));
        assert!(received.is_new(received.whole(30_000), true));
        received.insert(received.whole(30_000));
        assert_eq!(received.missing(), 29_999);
        assert!(received.is_new(received.whole(29_999), false), "the window is empty after a jump");
    }

    #[test]
    fn loss_covers_latest_packets_only() {
        let mut received = Received::starting_at(0);
        assert_eq!(received.loss_permille(), 0);
        (0_u16..100).filter(|n| n % 5 != 2).for_each(|n| received.insert(received.whole(n)));
        assert_eq!(received.loss_permille(), 200);
        (100_u16..700).for_each(|n| received.insert(received.whole(n)));
        assert_eq!(received.loss_permille(), 0);
        assert_eq!(received.missing(), 20);
    }

    #[test]
    fn incremental_loss_equals_recount() {
        let mut random = gaggle_kit::Prng::new(5);
        let mut received = Received::starting_at(65_000);
        for _ in 0..20_000 {
            let ahead = match random.below(100) {
                0 => random.below(3_000),
                1..20 => random.below(8),
                _ => 0,
            };
            let late = random.below(40) * u32::from(random.below(4) == 0);
            let number = (received.next + u64::from(ahead)).saturating_sub(late.into());
            if received.is_new(number, true) {
                received.insert(number);
            }
            let sent = (received.next - received.first).min(LOSS_WINDOW);
            let arrived =
                (received.next - sent..received.next).filter(|&number| received.has(number)).count();
            assert_eq!(u64::from(received.loss_permille()), (sent - arrived as u64) * 1_000 / sent);
        }
    }

    #[test]
    fn ack_lists_what_arrived_from_newest() {
        let received = arrived(&[0, 1, 2, 5, 6, 9]);
        let base = 0x1_0000;
        let ranges = |floor: u64| {
            received
                .ranges(base + floor, base + 9)
                .iter()
                .map(|r| r.start - base..r.end - base)
                .collect::<Vec<_>>()
        };
        assert_eq!(ranges(0), [9..10, 5..7, 0..3]);
        assert_eq!(ranges(1), [9..10, 5..7, 1..3]);
        assert_eq!(ranges(6), [9..10, 6..7]);
        assert_eq!(ranges(10), []);

        let mut gappy = Received::starting_at(0);
        (0_u16..500).step_by(2).for_each(|n| gappy.insert(gappy.whole(n)));
        assert_eq!(gappy.ranges(0, gappy.next).len(), ACK_RANGES_MAX);
    }
}
