//! State to send to one peer: what is owed, sent, and within the bandwidth. The replicator writes
//! it. Absent: which objects a peer has a right to.

use gaggle_kit::Micros;

use super::{Handles, Outgoing, Phase};
use crate::sent::Sent;

/// Everything for one peer.
#[derive(Debug)]
pub(crate) struct Outbound {
    /// State by index of the object.
    pub(crate) objects: Vec<Outgoing>,
    /// Indexes of objects that are due, each once, and of some that were.
    pub(crate) due: Vec<u32>,
    /// Objects selected for this tick, by handle, and the position in this list.
    pub(crate) selected: Vec<(u16, u32)>,
    pub(crate) selected_next: usize,
    /// Whether interest was evaluated once for all objects.
    pub(crate) interest_known: bool,
    pub(crate) handles: Handles,
    pub(crate) sent: Sent,
    pub(crate) sent_at: Micros,
    /// Mean size of a record, in 256ths of a byte.
    pub(crate) record_size: u32,
    /// Bytes that may be sent.
    pub(crate) budget: i64,
    /// Bytes of these that inputs may take.
    pub(crate) input_budget: i64,
    /// Last input change that arrived there.
    pub(crate) inputs_acked: u32,
}

impl Outbound {
    pub(crate) fn new(places: usize) -> Outbound {
        Outbound {
            objects: vec![Outgoing::default(); places],
            due: Vec::new(),
            selected: Vec::new(),
            selected_next: 0,
            interest_known: false,
            handles: Handles::default(),
            sent: Sent::new(),
            sent_at: Micros::ZERO,
            record_size: 12 << 8,
            budget: 0,
            input_budget: 0,
            inputs_acked: 0,
        }
    }

    /// Handle of an object; assigns one if it has none, while there are any.
    #[inline]
    pub(crate) fn handle_of(&mut self, place: u32, tick: u32) -> Option<u16> {
        let out = &mut self.objects[place as usize];
        if out.handle.is_none() {
            out.handle = self.handles.take(tick);
            (out.closed_in, out.told_in) = (0, 0);
        }
        out.handle
    }

    /// Marks an object as due.
    #[inline]
    pub(crate) fn make_due(&mut self, place: u32) {
        let out = &mut self.objects[place as usize];
        out.phase = Phase::Due;
        if !std::mem::replace(&mut out.listed, true) {
            self.due.push(place);
        }
    }

    /// The object is not sent any more: its handle is to be closed.
    pub(crate) fn close(&mut self, place: u32) {
        let out = &mut self.objects[place as usize];
        if out.handle.is_some() && !out.closing {
            out.closing = true;
            out.forget_acks();
            self.make_due(place);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn handle_stays_until_given_back() {
        let mut out = Outbound::new(3);
        assert_eq!(out.handle_of(2, 0), Some(0));
        assert_eq!(out.handle_of(1, 0), Some(1));
        assert_eq!(out.handle_of(2, 9), Some(0));
    }

    #[test]
    fn object_due_twice_is_listed_once() {
        let mut out = Outbound::new(3);
        out.make_due(1);
        out.make_due(1);
        assert_eq!(out.due, [1]);
        assert_eq!(out.objects[1].phase, Phase::Due);
    }

    #[test]
    fn close_without_handle_does_nothing() {
        let mut out = Outbound::new(3);
        out.close(1);
        assert!(out.due.is_empty());
        out.handle_of(1, 0);
        out.close(1);
        assert!(out.objects[1].closing && out.due == [1]);
    }
}
