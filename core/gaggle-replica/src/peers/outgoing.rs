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
    handle: Option<u16>,
    phase: Phase,
    /// On the link's list of due objects, perhaps no longer due.
    listed: bool,
    /// The receiver knows the handle.
    known: bool,
    /// The object was introduced in this epoch, even if its handle was closed since.
    introduced: bool,
    /// The receiver has to get the present record, whatever its authority.
    owed: bool,
    /// The handle is to be closed.
    closing: bool,
    /// Number of the last packet that closed the handle, and of the last that used it otherwise.
    closed_in: u32,
    told_in: u32,
    /// Stamp that was acknowledged.
    acked_stamp: u32,
    /// Newest acknowledged tick of this claim.
    newest: u32,
    /// Bit *i*: the tick *i* + 1 before it was acknowledged too.
    before: u32,
    /// Tick it was last sent in.
    sent_tick: u32,
    /// Tick in which it last became due because its value changed.
    changed_tick: u32,
    /// Accumulated urgency, in 256ths.
    priority: u32,
    /// Urgency spent by the last sending.
    paid: u32,
    /// Whether interest includes it for this receiver.
    matters: bool,
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
    /// Handle the object has with the receiver, if any.
    #[inline]
    pub(crate) fn handle(&self) -> Option<u16> {
        self.handle
    }

    /// Whether the receiver knows the handle: it needs no introduction.
    #[inline]
    pub(crate) fn is_known(&self) -> bool {
        self.known
    }

    /// Whether the handle is to be closed.
    #[inline]
    pub(crate) fn is_closing(&self) -> bool {
        self.closing
    }

    /// Whether the receiver has to get the present record, whatever its authority.
    #[inline]
    pub(crate) fn is_owed(&self) -> bool {
        self.owed
    }

    /// Whether interest includes the object for this receiver.
    #[inline]
    pub(crate) fn matters(&self) -> bool {
        self.matters
    }

    /// Whether the object waits to be sent.
    #[inline]
    pub(crate) fn is_due(&self) -> bool {
        self.phase == Phase::Due
    }

    /// Whether it was introduced in this epoch, even if its handle was closed since.
    pub(crate) fn was_introduced(&self) -> bool {
        self.introduced
    }

    /// Whether the handle or anything left to send ties the object to this receiver.
    pub(crate) fn is_tied(&self) -> bool {
        self.handle.is_some() || self.owed || self.listed || self.phase != Phase::Idle
    }

    /// Whether the receiver acknowledged the record with this stamp.
    #[inline]
    pub(crate) fn has_record(&self, stamp: u32) -> bool {
        self.acked_stamp == stamp
    }

    /// Whether the receiver acknowledged the value of this tick or a newer one. It never did if the
    /// tick is [`NEVER`].
    #[inline]
    pub(crate) fn has_value_since(&self, tick: u32) -> bool {
        self.newest != NEVER && tick != NEVER && self.newest >= tick
    }

    /// Whether the value of this tick is the newest one acknowledged.
    #[inline]
    pub(crate) fn has_newest(&self, tick: u32) -> bool {
        self.newest == tick
    }

    /// Handle under which a change of this tick can be sent as a new value alone, if the receiver
    /// has the record: nothing else is to be told.
    #[inline]
    pub(crate) fn plain_handle(&self, tick: u32) -> Option<u16> {
        self.handle.filter(|_| self.known && self.changed_tick == tick)
    }

    /// Whether its value changed in this tick.
    #[inline]
    pub(crate) fn changed_in(&self, tick: u32) -> bool {
        self.changed_tick == tick
    }

    /// Starts a new use of a handle.
    pub(super) fn open(&mut self, handle: u16) {
        self.handle = Some(handle);
        (self.closed_in, self.told_in) = (0, 0);
    }

    /// The handle is to be closed. Returns false if there is none, or this was known.
    pub(super) fn begin_closing(&mut self) -> bool {
        let begins = self.handle.is_some() && !self.closing;
        if begins {
            self.closing = true;
            self.forget_acks();
        }
        begins
    }

    /// Makes it due. Returns whether it has to be put on the list of due objects.
    #[inline]
    pub(super) fn make_due(&mut self) -> bool {
        self.phase = Phase::Due;
        !std::mem::replace(&mut self.listed, true)
    }

    /// Takes it off the list of due objects: nothing of it is to be sent.
    pub(crate) fn take_off_list(&mut self) {
        if self.phase == Phase::Due {
            self.phase = Phase::Idle;
        }
        self.listed = false;
    }

    /// Its value changed in this tick.
    #[inline]
    pub(super) fn note_changed(&mut self, tick: u32) {
        self.changed_tick = tick;
    }

    /// Interest includes or excludes it from now on. Returns whether this changed.
    pub(crate) fn set_matters(&mut self, matters: bool) -> bool {
        std::mem::replace(&mut self.matters, matters) != matters
    }

    /// The receiver has to get the present record, or need not any more. Returns whether this
    /// changed.
    pub(crate) fn set_owed(&mut self, owed: bool) -> bool {
        std::mem::replace(&mut self.owed, owed) != owed
    }

    /// Resets acknowledgements: everything is to be sent again.
    pub(crate) fn forget_acks(&mut self) {
        self.acked_stamp = 0;
        self.newest = NEVER;
        self.before = 0;
    }

    /// Resets the acknowledgement of the record: it is to be sent again.
    pub(crate) fn forget_record(&mut self) {
        self.acked_stamp = 0;
    }

    /// The object's constants changed: it has to be introduced again.
    pub(crate) fn forget_identity(&mut self) {
        self.known = false;
    }

    /// Raises the urgency, and returns it.
    pub(crate) fn raise_priority(&mut self, weight: u32) -> u32 {
        self.priority = self.priority.saturating_add(weight);
        self.priority
    }

    /// Its state is in packet `seq` of this tick.
    #[inline]
    pub(crate) fn note_told(&mut self, seq: u32, tick: u32) {
        self.introduced = true;
        self.closing = false;
        self.told_in = seq;
        self.note_sent(tick);
    }

    /// The close of its handle is in packet `seq` of this tick.
    pub(crate) fn note_close_sent(&mut self, seq: u32, tick: u32) {
        self.closed_in = seq;
        self.known = false;
        self.note_sent(tick);
    }

    /// Notes that it is in a packet of this tick.
    #[inline]
    fn note_sent(&mut self, tick: u32) {
        self.paid = std::mem::take(&mut self.priority);
        self.sent_tick = tick;
        self.phase = Phase::Flying;
    }

    /// The packet of `tick` that had it is lost: it becomes due again and more urgent, unless a
    /// newer value arrived or a newer packet has it. Returns whether it has to be put on the list.
    pub(super) fn note_lost(&mut self, tick: u32, newer_arrived: bool) -> bool {
        if self.sent_tick != tick {
            return false;
        }
        if !newer_arrived {
            self.priority = self.priority.saturating_add(self.paid).saturating_add(128);
            self.paid = 0;
        }
        self.phase == Phase::Flying && self.make_due()
    }

    /// Packet `seq`, which closed the handle, arrived. Returns whether the handle is free: it is
    /// not if the object was sent again since then. `forgets` also makes it unintroduced.
    pub(crate) fn handle_close_acked(&mut self, seq: u32, forgets: bool) -> bool {
        let is_free = self.closing && self.told_in < seq;
        if is_free {
            self.closing = false;
            self.handle = None;
            self.forget_acks();
            self.land();
            self.introduced &= !forgets;
        }
        is_free
    }

    /// Packet `seq`, which had its state, arrived. `knows` is whether the receiver now has its
    /// present constants. Returns false if a later packet closed the handle: the state is void.
    #[inline]
    pub(crate) fn handle_acked(&mut self, seq: u32, knows: bool) -> bool {
        // The object may have been sent and then closed.
        let counts = self.closed_in <= seq;
        self.known |= counts && knows;
        counts
    }

    /// The receiver has the record with this stamp.
    #[inline]
    pub(crate) fn note_record_acked(&mut self, stamp: u32) {
        self.acked_stamp = stamp;
    }

    /// Everything sent of it arrived: it is no longer in flight.
    #[inline]
    pub(crate) fn land(&mut self) {
        if self.phase == Phase::Flying {
            self.phase = Phase::Idle;
        }
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
    fn has(&self, tick: u32) -> bool {
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
    fn older_for(&self, k: u32) -> Option<u32> {
        if self.before == 0 || k >= SLOTS {
            return None;
        }
        let farther = self.before >> (k - 1);
        let distance =
            if farther != 0 { k + farther.trailing_zeros() } else { SLOTS - self.before.leading_zeros() };
        self.newest.checked_sub(distance)
    }

    /// Baselines of the value of this tick: the newest acknowledged tick before it, or [`NEVER`],
    /// and the best older one.
    #[inline]
    pub(crate) fn baselines(&self, tick: u32) -> (u32, Option<u32>) {
        // `NEVER` is greater than any tick.
        if self.newest < tick { (self.newest, self.older_for(tick - self.newest)) } else { (NEVER, None) }
    }

    /// Whether the receiver can read a difference to these baselines, and has none that is more
    /// than `ticks_max` newer. Without an older baseline it is for receivers that have none.
    #[inline]
    pub(crate) fn reads(&self, newer: u32, older: u32, ticks_max: u32) -> bool {
        let line = if older == NEVER { self.before == 0 } else { self.has(older) };
        self.newest.wrapping_sub(newer) <= ticks_max && self.has(newer) && line
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

    #[test]
    fn loss_makes_object_due_unless_newer_packet_has_it() {
        let mut out = Outgoing::default();
        out.open(3);
        assert!(out.make_due());
        out.raise_priority(40);
        out.note_told(1, 7);
        assert!(!out.is_due() && !out.note_lost(6, false), "another packet was lost");
        assert!(!out.note_lost(7, false) && out.is_due(), "it is still on the list");
        assert_eq!(out.raise_priority(0), 40 + 128, "what the sending cost is given back");
        out.take_off_list();
        out.note_told(2, 8);
        assert!(out.note_lost(8, true));
        assert_eq!(out.raise_priority(0), 0, "a newer value arrived");
    }

    #[test]
    fn acked_close_frees_handle_unless_object_was_sent_since() {
        let mut out = Outgoing::default();
        assert!(!out.begin_closing(), "it has no handle");
        out.open(3);
        out.note_told(1, 7);
        assert!(out.begin_closing() && !out.begin_closing());
        out.note_close_sent(2, 8);
        assert!(!out.handle_acked(1, true) && !out.is_known(), "it was sent before the close");
        out.note_told(3, 9);
        assert!(!out.handle_close_acked(2, false));
        assert!(out.begin_closing());
        out.note_close_sent(4, 10);
        assert!(out.handle_close_acked(4, false) && out.handle().is_none() && !out.is_closing());
        assert!(out.was_introduced());
        out.take_off_list();
        assert!(!out.is_tied());
    }

    #[test]
    fn baselines_are_older_than_value() {
        let mut out = Outgoing::default();
        assert_eq!(out.baselines(5), (NEVER, None));
        out.acknowledge(2);
        out.acknowledge(4);
        assert_eq!((out.baselines(5), out.baselines(4)), ((4, Some(2)), (NEVER, None)));
        assert!(out.has_value_since(4) && !out.has_value_since(5) && !out.has_value_since(NEVER));
        out.forget_acks();
        assert!(!out.has_value_since(0) && out.baselines(5) == (NEVER, None));
    }
}
