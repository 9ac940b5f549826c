//! State to send to one peer: what is owed, sent, and within the bandwidth. The replicator writes
//! it. Absent: which objects a peer has a right to.

use std::ops::{Index, IndexMut};

use gaggle_kit::Micros;

use super::{Handles, Outgoing};
use crate::sent::{Sent, SentRecord};
use crate::store::ObjectIndex;

/// Everything for one peer. Indexing it with an object gives what is sent and owed of it.
#[derive(Debug)]
pub(crate) struct Outbound {
    /// State by index of the object.
    objects: Vec<Outgoing>,
    /// Indexes of objects that are due, each once, and of some that were.
    due: Vec<ObjectIndex>,
    /// Objects selected for this tick, by handle, and the position in this list.
    selected: Vec<(u16, ObjectIndex)>,
    selected_next: usize,
    /// Whether interest was evaluated once for all objects.
    interest_known: bool,
    handles: Handles,
    sent: Sent,
    sent_at: Micros,
    /// Mean size of a record, in 256ths of a byte.
    record_size: u32,
    /// Bytes that may be sent.
    budget: i64,
    /// Bytes of these that inputs may take.
    input_budget: i64,
    /// Last input change that arrived there.
    inputs_acked: u32,
}

/// Smallest number of records in a packet that says something about their mean size.
const RECORDS_FOR_MEAN: u16 = 5;

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

    /// Number of objects there is room for.
    pub(crate) fn places(&self) -> usize {
        self.objects.len()
    }

    /// Makes room for this many objects, if there is less.
    pub(super) fn reserve(&mut self, places: usize) {
        if self.objects.len() < places {
            self.objects.resize(places, Outgoing::default());
        }
    }

    /// Forgets what was sent of an object, which is no object any more.
    pub(crate) fn forget(&mut self, place: ObjectIndex) {
        self[place] = Outgoing::default();
    }

    /// Forgets what was sent of every object.
    pub(crate) fn forget_all(&mut self) {
        self.objects.fill(Outgoing::default());
    }

    /// Handle of an object; assigns one if it has none, while there are any.
    #[inline]
    pub(crate) fn handle_of(&mut self, place: ObjectIndex, tick: u32) -> Option<u16> {
        let out = &mut self.objects[place as usize];
        if out.handle().is_none() {
            out.open(self.handles.take(tick)?);
        }
        out.handle()
    }

    /// Marks an object as due.
    #[inline]
    pub(crate) fn make_due(&mut self, place: ObjectIndex) {
        if self.objects[place as usize].make_due() {
            self.due.push(place);
        }
    }

    /// The value of an object changed in this tick. Returns false if interest excludes it: then it
    /// is not due for this reason.
    #[inline]
    pub(crate) fn note_changed(&mut self, place: ObjectIndex, tick: u32) -> bool {
        let out = &mut self.objects[place as usize];
        let matters = out.matters();
        if matters {
            out.note_changed(tick);
            self.make_due(place);
        }
        matters
    }

    /// The object is not sent any more: its handle is to be closed.
    pub(crate) fn close(&mut self, place: ObjectIndex) {
        if self[place].begin_closing() {
            self.make_due(place);
        }
    }

    /// Objects that are due, each once, and some that were.
    pub(crate) fn due(&self) -> &[ObjectIndex] {
        &self.due
    }

    /// The list of due objects, to be given back by [`return_due`](Outbound::return_due).
    pub(crate) fn take_due(&mut self) -> Vec<ObjectIndex> {
        std::mem::take(&mut self.due)
    }

    pub(crate) fn return_due(&mut self, due: Vec<ObjectIndex>) {
        self.due = due;
    }

    /// Whether all objects on the list of due ones fit into this many 256ths of a byte.
    pub(crate) fn all_due_fit(&self, room: i64) -> bool {
        self.due.len() as i64 * i64::from(self.record_size) <= room
    }

    /// Returns false the first time: interest was never evaluated for all objects before.
    pub(crate) fn note_interest_known(&mut self) -> bool {
        std::mem::replace(&mut self.interest_known, true)
    }

    /// An empty list for what is selected for this tick, in the memory of the last one.
    pub(crate) fn begin_selection(&mut self) -> Vec<(u16, ObjectIndex)> {
        let mut selected = std::mem::take(&mut self.selected);
        selected.clear();
        selected
    }

    /// Selects objects for this tick, in the order of their handles.
    pub(crate) fn select(&mut self, selected: Vec<(u16, ObjectIndex)>) {
        self.selected = selected;
        self.selected_next = 0;
    }

    /// Next selected object that is not written yet.
    #[inline]
    pub(crate) fn next_selected(&self) -> Option<(u16, ObjectIndex)> {
        self.selected.get(self.selected_next).copied()
    }

    /// The next selected object is written, or needs no record.
    #[inline]
    pub(crate) fn skip_selected(&mut self) {
        self.selected_next += 1;
    }

    /// Whether another packet of this tick may be written: selected objects are left, and there is
    /// bandwidth, without which one packet is sent all the same.
    pub(crate) fn may_send_more(&self, is_first: bool) -> bool {
        self.selected_next < self.selected.len() && (is_first || self.budget > 0)
    }

    /// Expected size of a record, in 256ths of a byte.
    pub(crate) fn record_size(&self) -> u32 {
        self.record_size
    }

    /// Bytes that may be sent; negative if too many were.
    pub(crate) fn budget(&self) -> i64 {
        self.budget
    }

    /// Bytes of the budget that inputs may take.
    pub(crate) fn input_budget(&self) -> i64 {
        self.input_budget
    }

    /// Time brought this many bytes; `most` can be saved up. However often inputs change, half of
    /// the bandwidth is for objects.
    pub(crate) fn earn(&mut self, earned: i64, most: i64) {
        self.budget = (self.budget + earned).min(most);
        self.input_budget = (self.input_budget + earned / 2).min(most / 2);
    }

    /// This many bytes were sent beside packets.
    pub(crate) fn spend(&mut self, bytes: usize) {
        self.budget -= bytes as i64;
    }

    /// This many bytes of a packet were there for inputs.
    pub(crate) fn spend_on_inputs(&mut self, bytes: usize) {
        self.input_budget -= bytes as i64;
    }

    /// Number of the next packet.
    #[inline]
    pub(crate) fn next_seq(&self) -> u32 {
        self.sent.next_seq()
    }

    /// Time since the last packet.
    pub(crate) fn silence(&self, now: Micros) -> Micros {
        now.since(self.sent_at)
    }

    /// Adds a record to the packet being made.
    #[inline]
    pub(crate) fn record(&mut self, record: SentRecord) {
        self.sent.record(record);
    }

    /// The packet being made is sent: its tick, time, records, the last input change in it, bytes.
    pub(crate) fn note_packet(&mut self, tick: u32, now: Micros, records: u16, inputs: u32, bytes: usize) {
        self.sent.packet(tick, now, usize::from(records), inputs);
        self.sent_at = now;
        self.spend(bytes);
    }

    /// So many records in a packet took so many bits.
    pub(crate) fn note_record_bits(&mut self, records: u16, bits: usize) {
        if records >= RECORDS_FOR_MEAN {
            let mean = ((bits << 5) / usize::from(records)) as u32;
            self.record_size = self.record_size - self.record_size / 8 + mean / 8;
        }
    }

    /// Last input change that arrived there.
    pub(crate) fn inputs_acked(&self) -> u32 {
        self.inputs_acked
    }

    /// Inputs up to this change arrived there.
    pub(crate) fn note_inputs_acked(&mut self, number: u32) {
        self.inputs_acked = self.inputs_acked.max(number);
    }

    /// Last input change that was in a packet.
    pub(crate) fn inputs_in(&self, seq: u32) -> u32 {
        self.sent.inputs_in(seq)
    }

    /// Packet `seq` arrived in `tick`: `land` gets every record of it whose handle still has the
    /// same use, with the tick it was sent in, and returns whether the handle is free again.
    /// Returns when the packet was sent, if the acknowledgement is new.
    pub(crate) fn handle_ack(
        &mut self,
        seq: u32,
        tick: u32,
        mut land: impl FnMut(&mut Outgoing, SentRecord, u32) -> bool,
    ) -> Option<Micros> {
        let (sent_tick, sent_at, records) = self.sent.acknowledge(seq)?;
        for told in records {
            let out = &mut self.objects[told.object as usize];
            if out.handle() == Some(told.handle) && land(out, told, sent_tick) {
                self.handles.give(told.handle, tick);
            }
        }
        Some(sent_at)
    }

    /// Makes the content of lost packets due again, more urgently than before. `is_mine` says
    /// whether acknowledged values of an object count: those of this peer do.
    pub(crate) fn give_up_lost(
        &mut self,
        tick: u32,
        timeout_ticks: u32,
        is_mine: impl Fn(ObjectIndex) -> bool,
    ) {
        while let Some((lost_tick, records)) = self.sent.next_lost(tick, timeout_ticks) {
            for told in records {
                let out = &mut self.objects[told.object as usize];
                if out.handle() != Some(told.handle) {
                    continue;
                }
                let newer_arrived = out.has_value_since(lost_tick) && is_mine(told.object);
                if out.note_lost(lost_tick, newer_arrived) {
                    self.due.push(told.object);
                }
            }
        }
    }

    /// Number of packets and records kept.
    #[cfg(test)]
    pub(crate) fn kept(&self) -> (usize, usize) {
        self.sent.kept()
    }
}

impl Index<ObjectIndex> for Outbound {
    type Output = Outgoing;

    #[inline]
    fn index(&self, place: ObjectIndex) -> &Outgoing {
        &self.objects[place as usize]
    }
}

impl IndexMut<ObjectIndex> for Outbound {
    #[inline]
    fn index_mut(&mut self, place: ObjectIndex) -> &mut Outgoing {
        &mut self.objects[place as usize]
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
        assert!(out[1].is_due());
    }

    #[test]
    fn close_without_handle_does_nothing() {
        let mut out = Outbound::new(3);
        out.close(1);
        assert!(out.due.is_empty());
        out.handle_of(1, 0);
        out.close(1);
        assert!(out[1].is_closing() && out.due == [1]);
    }

    #[test]
    fn change_outside_interest_is_not_due() {
        let mut out = Outbound::new(2);
        assert!(out[1].set_matters(false) && !out[1].set_matters(false));
        assert!(!out.note_changed(1, 5) && out.note_changed(0, 5));
        assert_eq!(out.due, [0]);
        assert!(out.all_due_fit(12 << 8) && !out.all_due_fit((12 << 8) - 1));
    }

    #[test]
    fn lost_packet_makes_its_objects_due_again() {
        let mut out = Outbound::new(2);
        for place in [0, 1] {
            let handle = out.handle_of(place, 1).expect("one is free");
            let seq = out.next_seq();
            out[place].note_told(seq, 1);
            out.record(SentRecord::new(place, handle, 0, Some(1)));
        }
        out.note_packet(1, Micros::from_millis(10), 2, 0, 30);
        assert_eq!((out.budget(), out.silence(Micros::from_millis(30))), (-30, Micros::from_millis(20)));
        out[1].acknowledge(1);
        out.give_up_lost(3, 5, |_| true);
        assert!(out.due.is_empty(), "it may still arrive");
        out.give_up_lost(7, 5, |_| true);
        assert_eq!(out.due, [0, 1]);
        assert!(out[0].raise_priority(0) > out[1].raise_priority(0), "a newer value of one arrived");
    }

    #[test]
    fn acked_packet_lands_once_and_frees_closed_handle() {
        let mut out = Outbound::new(1);
        let handle = out.handle_of(0, 1).expect("one is free");
        out.record(SentRecord::new(0, handle, 0, None));
        out.note_packet(4, Micros::from_millis(10), 1, 0, 9);
        let landed = out.handle_ack(1, 5, |_, told, tick| (told.handle, tick) == (handle, 4));
        assert_eq!(landed, Some(Micros::from_millis(10)));
        assert_eq!(out.handle_ack(1, 5, |_, _, _| unreachable!("it arrived before")), None);
        out.forget(0);
        assert_eq!(out.handle_of(0, 6), Some(1), "the first is not used for a while");
        out.forget(0);
        assert_eq!(out.handle_of(0, 500), Some(0));
    }
}
