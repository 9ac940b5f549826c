//! State of one object sent to one receiver, and what is still owed. The replicator updates it.
//! Absent: values, packets.

use crate::history::{NEVER, SLOTS};

/// Progress of the newest state to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Phase {
    /// Nothing to send, or all of it acknowledged.
    #[default]
    Idle,
    /// In a packet that may still arrive.
    Flying,
    /// Waits to be sent.
    Due,
}

/// Sending state of one object for one receiver.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Outgoing {
    /// Its handle, if it has one.
    pub(crate) handle: Option<u16>,
    pub(crate) phase: Phase,
    /// On the link's list of due objects, perhaps no longer due.
    pub(crate) listed: bool,
    /// The receiver knows the handle.
    pub(crate) known: bool,
    /// The object was introduced in this epoch, even if its handle was closed since.
    pub(crate) introduced: bool,
    /// The receiver has to get the present record, whatever its authority.
    pub(crate) owed: bool,
    /// The handle is to be closed.
    pub(crate) closing: bool,
    /// Number of the last packet that closed the handle, and of the last that used it otherwise.
    pub(crate) closed_in: u32,
    pub(crate) told_in: u32,
    /// Stamp that was acknowledged.
    pub(crate) acked_stamp: u32,
    /// Newest acknowledged tick of this claim.
    pub(crate) newest: u32,
    /// Bit *i*: the tick *i* + 1 before it was acknowledged too.
    pub(crate) before: u32,
    /// Tick it was last sent in.
    pub(crate) sent_tick: u32,
    /// Tick in which it last became due because its value changed.
    pub(crate) changed_tick: u32,
    /// Accumulated urgency, in 256ths.
    pub(crate) priority: u32,
    /// Urgency spent by the last sending.
    pub(crate) paid: u32,
    /// Whether interest includes it for this receiver.
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
    /// Resets acknowledgements: everything is to be sent again.
    pub(crate) fn forget_acks(&mut self) {
        self.acked_stamp = 0;
        self.newest = NEVER;
        self.before = 0;
    }

    /// Notes that it is in a packet of this tick.
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

    /// Tick of the best second baseline for a prediction `k` ticks after the newest acknowledged
    /// tick: an acknowledged one that is `k` ticks before that, or more if there is none, or else
    /// the oldest.
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
