//! What one receiver was told about one object, and what it is owed.

use crate::history::{NEVER, SLOTS};

/// Where the newest we have to tell is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Nothing to tell, or all of it acknowledged.
    #[default]
    Idle,
    /// In a packet that may still arrive.
    Flying,
    /// To be sent.
    Due,
}

/// One object towards one receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    /// Its handle, if it has one.
    pub(crate) handle: Option<u16>,
    pub(crate) phase: Phase,
    /// On the link's list of what is due, perhaps no longer rightly.
    pub(crate) listed: bool,
    /// The receiver knows the handle.
    pub(crate) known: bool,
    /// The object was introduced in this epoch, whatever became of the handle.
    pub(crate) introduced: bool,
    /// The receiver is owed the world's record, whatever its authority.
    pub(crate) owed: bool,
    /// The handle is to be closed.
    pub(crate) closing: bool,
    /// The last packet that said so, and the last that said anything else under the handle.
    pub(crate) closed_in: u32,
    pub(crate) told_in: u32,
    /// Which stamp was acknowledged.
    pub(crate) acked_stamp: u32,
    /// The newest acknowledged tick of this claim.
    pub(crate) newest: u32,
    /// Bit *i*: the tick *i* + 1 before it was acknowledged too.
    pub(crate) before: u32,
    /// The tick it was last sent in.
    pub(crate) sent_tick: u32,
    /// The tick in which it was last due because its value had changed.
    pub(crate) changed_tick: u32,
    /// How urgent it has become, in 256ths.
    pub(crate) priority: u32,
    /// What the last sending was worth.
    pub(crate) paid: u32,
    /// It is this receiver's business.
    pub(crate) matters: bool,
}

impl Default for Outgoing {
    fn default() -> Outgoing {
        Outgoing {
            handle: None,
            phase: Phase::Idle,
            listed: false,
            known: false,
            introduced: false,
            owed: false,
            closing: false,
            closed_in: 0,
            told_in: 0,
            acked_stamp: 0,
            newest: NEVER,
            before: 0,
            sent_tick: NEVER,
            changed_tick: NEVER,
            priority: 0,
            paid: 0,
            matters: true,
        }
    }
}

impl Outgoing {
    /// What was acknowledged counts for nothing: all is to be told anew.
    pub(crate) fn forget_acks(&mut self) {
        self.acked_stamp = 0;
        self.newest = NEVER;
        self.before = 0;
    }

    /// It is in a packet of this tick.
    #[inline]
    pub(crate) fn note_sent(&mut self, tick: u32) {
        self.paid = std::mem::take(&mut self.priority);
        self.sent_tick = tick;
        self.phase = Phase::Flying;
    }

    /// A tick of the present claim was acknowledged.
    #[inline]
    pub(crate) fn acknowledge(&mut self, tick: u32) {
        if self.newest == NEVER {
            self.newest = tick;
            self.before = 0;
        } else if tick > self.newest {
            let ahead = tick - self.newest;
            self.before = match ahead {
                1..=31 => self.before << ahead | 1 << (ahead - 1),
                32 => 1 << 31,
                _ => 0,
            };
            self.newest = tick;
        } else if tick < self.newest && self.newest - tick <= SLOTS {
            self.before |= 1 << (self.newest - tick - 1);
        }
    }

    /// Whether a tick of the present claim was acknowledged, and not too long ago.
    #[inline]
    pub(crate) fn has(&self, tick: u32) -> bool {
        if self.newest == NEVER || tick > self.newest {
            return false;
        }
        match self.newest - tick {
            0 => true,
            ago @ 1..=SLOTS => self.before >> (ago - 1) & 1 == 1,
            _ => false,
        }
    }

    /// The acknowledged tick before the newest from which a line to the tick `k` after it is best
    /// drawn: as far before as that is after, or a little farther, or the farthest there is.
    #[inline]
    pub(crate) fn older_for(&self, k: u32) -> Option<u32> {
        if self.before == 0 || k >= SLOTS {
            return None;
        }
        let farther = self.before >> (k - 1);
        let distance =
            if farther != 0 { k + farther.trailing_zeros() } else { SLOTS - self.before.leading_zeros() };
        self.newest.checked_sub(distance)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_ticks_are_remembered_for_32_ticks() {
        let mut out = Outgoing::default();
        for tick in [10, 12, 11, 43, 5] {
            out.acknowledge(tick);
        }
        assert_eq!((out.newest, out.before), (43, 1 << 31 | 1 << 30));
        out.acknowledge(100);
        assert_eq!((out.newest, out.before), (100, 0));
        out.acknowledge(132);
        assert_eq!((out.newest, out.before), (132, 1 << 31));
        out.acknowledge(131);
        assert_eq!(out.before, 1 << 31 | 1);
    }

    #[test]
    fn older_baseline_is_as_far_back_as_value_is_ahead() {
        let mut out = Outgoing::default();
        for tick in [100, 97, 95, 94, 90] {
            out.acknowledge(tick);
        }
        for (k, older) in [
            (1, Some(97)),
            (3, Some(97)),
            (4, Some(95)),
            (6, Some(94)),
            (7, Some(90)),
            (11, Some(90)),
            (40, None),
        ] {
            assert_eq!(out.older_for(k), older, "{k}");
        }
    }
}
