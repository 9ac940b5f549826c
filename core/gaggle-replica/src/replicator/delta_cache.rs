//! Differences written in this tick, kept for the next receiver. Receivers with the same baselines
//! get the same bits, and so do those with baselines one tick newer: copying is several times
//! faster than writing, and the difference hardly longer. `write.rs` calls it. Absent: receivers,
//! packets.

use crate::peers::Outgoing;
use crate::sink::Register;
use crate::store::ObjectIndex;

/// The ticks of a difference's baselines, the newer first. The older may be
/// [`NEVER`](crate::history::NEVER).
pub(super) type Base = (u32, u32);

/// A difference that was written.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Written {
    pub(super) base: Base,
    pub(super) bits: Register,
}

/// A difference is shared if its baseline is at most this many ticks older than the newest one a
/// receiver has.
const OLDER_TICKS_MAX: u32 = 1;

/// Differences kept for every object: receivers differ by round trip and by lost packets.
const KEPT: usize = 4;

/// Differences of one object.
#[derive(Debug, Clone, Copy, Default)]
struct Kept {
    /// Tick of their values.
    tick: u32,
    /// Number of differences kept of this tick.
    count: usize,
    written: [Written; KEPT],
}

#[derive(Debug, Default)]
pub(super) struct Copies {
    of: Vec<Kept>,
}

impl Copies {
    /// A difference that a receiver with these acknowledgements can read, and that is not much
    /// longer than the one written for it would be.
    #[inline]
    pub(super) fn usable(&self, place: ObjectIndex, tick: u32, out: &Outgoing) -> Option<&Written> {
        let kept = self.of.get(place as usize).filter(|kept| kept.tick == tick)?;
        let serves = |copy: &&Written| out.reads(copy.base.0, copy.base.1, OLDER_TICKS_MAX);
        kept.written[..kept.count.min(KEPT)].iter().find(serves)
    }

    #[inline]
    pub(super) fn put(&mut self, place: ObjectIndex, tick: u32, copy: Written) {
        let place = place as usize;
        if self.of.len() <= place {
            self.of.resize(place + 1, Kept::default());
        }
        let kept = &mut self.of[place];
        if kept.tick != tick {
            (kept.tick, kept.count) = (tick, 0);
        }
        // The oldest is replaced.
        let index = kept.count % KEPT;
        kept.count += 1;
        kept.written[index] = copy;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::NEVER;

    fn receiver(ticks: &[u32]) -> Outgoing {
        let mut out = Outgoing::default();
        ticks.iter().for_each(|&tick| out.acknowledge(tick));
        out
    }

    fn copy(newer: u32, older: u32) -> Written {
        Written { base: (newer, older), bits: Register::default() }
    }

    #[test]
    fn last_differences_of_tick_are_kept() {
        let mut copies = Copies::default();
        for newer in [10, 20, 30, 40, 50] {
            copies.put(3, 99, copy(newer, newer - 5));
        }
        let found = |copies: &Copies, place, tick, newer: u32| {
            copies.usable(place, tick, &receiver(&[newer - 5, newer])).map(|copy| copy.base.0)
        };
        assert!(found(&copies, 3, 99, 10).is_none() && found(&copies, 0, 99, 20).is_none());
        for newer in [20, 30, 40, 50] {
            assert_eq!(found(&copies, 3, 99, newer), Some(newer));
            assert_eq!(found(&copies, 3, 100, newer), None, "it is of another tick");
        }
        copies.put(3, 100, copy(20, 15));
        assert_eq!((found(&copies, 3, 100, 20), found(&copies, 3, 100, 30)), (Some(20), None));
    }

    #[test]
    fn receiver_shares_only_readable_difference() {
        let mut copies = Copies::default();
        copies.put(0, 20, copy(15, 10));
        let shares = |ticks: &[u32]| copies.usable(0, 20, &receiver(ticks)).is_some();
        assert!(shares(&[10, 15]) && shares(&[9, 10, 15, 16]));
        assert!(!shares(&[10, 16]) && !shares(&[11, 15, 16]), "it has not received both baselines");
        assert!(!shares(&[10, 15, 17]), "its own baseline is newer by more than one tick");
        assert!(!shares(&[10, 14]) && !shares(&[]), "it has no baseline yet");
        copies.put(1, 20, copy(15, NEVER));
        assert!(copies.usable(1, 20, &receiver(&[15])).is_some());
        assert!(copies.usable(1, 20, &receiver(&[10, 15])).is_none(), "two baselines beat one");
    }

    #[test]
    fn object_never_written_has_no_difference() {
        let mut copies = Copies::default();
        copies.put(2, 20, copy(15, NEVER));
        assert!(copies.usable(0, 20, &receiver(&[15])).is_none());
        assert!(copies.usable(9, 20, &receiver(&[15])).is_none(), "it is beyond the table");
    }
}
