//! Replay protection: each datagram of a session is accepted once.
//!
//! Used by `session.rs`. Absent: encryption.

/// Number of counts remembered.
const WINDOW: u64 = 1_024;

#[derive(Debug, Clone)]
pub(crate) struct Replay {
    /// One past the highest count seen.
    next: u64,
    bits: [u64; WINDOW as usize / 64],
}

impl Replay {
    pub(crate) fn new() -> Replay {
        Replay { next: 0, bits: [0; WINDOW as usize / 64] }
    }

    /// Full count from its low 16 bits: the one nearest to the expected.
    pub(crate) fn whole(&self, low: u16) -> u64 {
        let ahead = i64::from(low.wrapping_sub(self.next as u16) as i16);
        // There are no negative counts, so the number must be ahead.
        self.next
            .checked_add_signed(ahead)
            .unwrap_or(self.next + u64::from(low.wrapping_sub(self.next as u16)))
    }

    pub(crate) fn is_new(&self, count: u64) -> bool {
        count >= self.next || self.next - count <= WINDOW && self.bits[word(count)] & bit(count) == 0
    }

    /// Records an authentic datagram. Returns whether it is the newest.
    pub(crate) fn note(&mut self, count: u64) -> bool {
        let newest = count >= self.next;
        if newest {
            if count - self.next >= WINDOW {
                self.bits = [0; WINDOW as usize / 64];
            } else {
                (self.next..count).for_each(|skipped| self.bits[word(skipped)] &= !bit(skipped));
            }
            self.next = count + 1;
        }
        self.bits[word(count)] |= bit(count);
        newest
    }
}

const fn word(count: u64) -> usize {
    (count % WINDOW / 64) as usize
}

const fn bit(count: u64) -> u64 {
    1 << (count % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_count_is_new_once() {
        let mut replay = Replay::new();
        for low in [0_u16, 2, 1, 5, 1_500, 1_499, 40_000, 65_535, 3] {
            let count = replay.whole(low);
            assert!(replay.is_new(count), "{low}");
            replay.note(count);
            assert!(!replay.is_new(count), "{low} repeated");
        }
        assert_eq!(replay.next, 0x1_0004, "3 came after the wrap");
        assert!(!replay.is_new(replay.whole(40_000)), "too old to be known");
    }

    #[test]
    fn late_datagram_is_not_newest() {
        let mut replay = Replay::new();
        assert!(replay.note(0));
        assert!(replay.note(9));
        assert!(!replay.note(4));
    }
}
