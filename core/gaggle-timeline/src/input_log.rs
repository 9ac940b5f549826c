//! Entries of all peers: which streams count in which frames, and what a new entry or another
//! roster changes in the simulated past.
//!
//! `Session` puts entries and rows in. Absent: peers, time, packets' meaning, how rows are agreed.

mod local;
mod past;
mod pending;
mod question_log;
mod remote;
mod table;

use gaggle_kit::{Frame, Input, SlotSet, VecMap};

use crate::Inputs;
use crate::event::PeerFault;
use crate::roster::{RosterEntry, StreamId};
use crate::runs::Runs;

use pending::PendingStream;

pub(crate) use local::LocalStream;
pub(crate) use past::{Occupancy, Past};
pub(crate) use question_log::Notebook;
pub(crate) use remote::RemoteStream;

/// Entries of all streams in the roster, and what simulated frames read of them.
#[derive(Debug)]
pub(crate) struct InputLog<I: 'static> {
    past: Past<I>,
    local: LocalStream<I>,
    me: StreamId,
    /// Own row, once this peer is in the roster.
    own: Option<RosterEntry>,
    /// All other streams of the roster, in the order of their ids.
    tracks: Vec<RemoteStream>,
    pending: VecMap<StreamId, PendingStream<I>>,
    /// Presence by frame before the roster changed, kept to save an allocation.
    scratch: Vec<SlotSet>,
    /// Frame up to which all others' inputs were held at the last `update_received`.
    received: Frame,
    /// Slots present in every frame until the next change of the roster.
    steady_present: Option<SlotSet>,
    /// Entries were taken since the last `take_news`.
    has_news: bool,
}

impl<I: Input> InputLog<I> {
    pub(crate) fn new(me: StreamId, players: usize, frames: usize, slot_count: usize) -> Self {
        InputLog {
            past: Past::new(frames, slot_count),
            local: LocalStream::new(players, frames),
            me,
            own: None,
            tracks: Vec::new(),
            pending: VecMap::new(),
            scratch: Vec::new(),
            received: Frame::START,
            steady_present: None,
            has_news: false,
        }
    }

    /// Restarts with the state of `frame` and a new own stream; all entries before are dropped.
    pub(crate) fn restart(&mut self, me: StreamId, frame: Frame) {
        self.me = me;
        self.own = None;
        self.tracks.clear();
        self.pending.clear();
        self.local.begin_after(frame);
        self.local.set_slots(SlotSet::EMPTY);
        self.past.restart(frame);
        self.steady_present = None;
        self.has_news = false;
    }

    /// Stream of the local peer.
    #[inline]
    pub(crate) fn local(&self) -> &LocalStream<I> {
        &self.local
    }

    #[inline]
    pub(crate) fn local_mut(&mut self) -> &mut LocalStream<I> {
        &mut self.local
    }

    /// Inputs by frame, and what simulated frames read of them.
    #[inline]
    pub(crate) fn past(&self) -> &Past<I> {
        &self.past
    }

    #[inline]
    pub(crate) fn past_mut(&mut self) -> &mut Past<I> {
        &mut self.past
    }

    /// Restarts the own stream under another id.
    pub(crate) fn rename(&mut self, me: StreamId) {
        self.me = me;
    }

    pub(crate) fn own(&self) -> Option<&RosterEntry> {
        self.own.as_ref()
    }

    pub(crate) fn tracks(&self) -> &[RemoteStream] {
        &self.tracks
    }

    pub(crate) fn track_index(&self, stream: StreamId) -> Option<usize> {
        self.tracks.binary_search_by(|track| track.row.stream.cmp(&stream)).ok()
    }

    /// As [`track_index`](InputLog::track_index), if the stream has this many players: a packet
    /// with another number is ignored.
    pub(crate) fn track_of(&self, stream: StreamId, players: u8) -> Option<usize> {
        let track = self.track_index(stream)?;
        (self.tracks[track].row.slots.len() == usize::from(players)).then_some(track)
    }

    /// Frame up to which the inputs of all other streams are held.
    pub(crate) fn received_frame(&self) -> Frame {
        self.tracks.iter().map(RemoteStream::received_frame).min().unwrap_or(Frame::NEVER)
    }

    /// As [`received_frame`](InputLog::received_frame), computed at the last
    /// [`update_received`](InputLog::update_received).
    #[inline]
    pub(crate) fn received(&self) -> Frame {
        self.received
    }

    #[inline]
    pub(crate) fn update_received(&mut self) {
        self.received = self.received_frame();
    }

    /// Whether entries were taken since the last call.
    #[inline]
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
    }

    #[inline]
    pub(crate) fn note_news(&mut self) {
        self.has_news = true;
    }

    /// Slots present in `frame` and all after it until the roster changes.
    pub(crate) fn present_from(&mut self, frame: Frame) -> SlotSet {
        match self.steady_present {
            Some(present) => present,
            None => *self.steady_present.insert(self.present_at(frame)),
        }
    }

    /// Forgets the cached presence, because the roster may change in the next frame.
    pub(crate) fn forget_present(&mut self) {
        self.steady_present = None;
    }

    /// Makes the inputs of a frame final: an empty slot has neutral input, even if it had a player
    /// before.
    pub(crate) fn finish_frame(&mut self, frame: Frame, present: SlotSet) {
        let empty = SlotSet::first(self.past.row(frame).len()).difference(present);
        if !empty.is_empty() {
            self.past.clear_slots(frame, empty);
        }
    }

    /// Writes the local entries that simulating `next` needs. Returns the newest entry before the
    /// call.
    #[inline(always)]
    pub(crate) fn record_local(&mut self, next: Frame, delay: u32) -> Frame {
        let before = self.local.newest();
        let (past, own) = (&mut self.past, self.own.as_ref());
        self.local.record(next, delay, |frame, entry| put_own(past, own, frame, entry));
        before
    }

    /// Writes one neutral entry per frame of input delay. Returns the newest entry before the call.
    pub(crate) fn record_neutral(&mut self, delay: u32) -> Frame {
        let before = self.local.newest();
        let (past, own) = (&mut self.past, self.own.as_ref());
        self.local.fill_neutral(delay, |frame, entry| put_own(past, own, frame, entry));
        before
    }

    /// Streams in the roster whose entry is missing for the next frame.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = &RemoteStream> {
        self.tracks.iter().filter(|track| track.row.is_active() && track.have <= self.received)
    }

    /// Slots whose input is awaited.
    pub(crate) fn waiting_for(&self) -> SlotSet {
        let received = self.received_frame();
        let late = self.tracks.iter().filter(|track| track.received_frame() == received);
        late.fold(SlotSet::EMPTY, |set, track| set.union(track.row.slots))
    }

    fn rows(&self) -> impl Iterator<Item = &RosterEntry> {
        self.own.iter().chain(self.tracks.iter().map(|track| &track.row))
    }

    /// Whether the inputs of a simulated frame are still in the table. Other peers' entries may be
    /// up to two lookaheads beyond the confirmed frame, and use the same ring.
    pub(crate) fn is_kept(&self, frame: Frame, confirmed: Frame, lookahead: u32) -> bool {
        let newest = confirmed.max(self.past.current()).max(self.local.newest());
        newest.since(frame) < self.past.frames() - 2 * lookahead
    }

    /// Slots present at a frame, as the known roster says.
    pub(crate) fn present_at(&self, frame: Frame) -> SlotSet {
        let here = self.rows().filter(|row| row.is_present_at(frame));
        here.fold(SlotSet::EMPTY, |set, row| set.union(row.slots))
    }

    /// Inputs to simulate a frame with. Any peer may turn out to have joined or left until the
    /// frame is confirmed, so every read of another slot's presence is a question.
    pub(crate) fn live_inputs(&mut self, frame: Frame, confirmed: Frame) -> Inputs<'_, I> {
        let own = self.own.filter(|row| row.is_present_at(frame)).map_or(SlotSet::EMPTY, |row| row.slots);
        let mut present = own;
        let mut guessed = SlotSet::EMPTY;
        for track in &self.tracks {
            if !track.row.is_present_at(frame) {
                continue;
            }
            present = present.union(track.row.slots);
            if frame > track.have {
                let known = track.have.max(track.row.first_frame.previous());
                let neutral = track.have < track.row.first_frame;
                self.past.guess(frame, known, track.row.slots, neutral);
                guessed = guessed.union(track.row.slots);
            }
        }
        let all = SlotSet::first(self.past.row(frame).len());
        let empty = all.difference(present);
        self.past.clear_slots(frame, empty);
        let unsure = if frame > confirmed { all.difference(own) } else { SlotSet::EMPTY };
        if frame > confirmed {
            guessed = guessed.union(empty);
        }
        self.past.inputs(frame, confirmed, Occupancy { present, guessed, unsure })
    }

    /// Takes entries encoded as runs after `base`, up to `last`, each of `entry_bytes`. `track`
    /// names the stream, and with it the sender's slots and the entries held already.
    pub(crate) fn take_runs(
        &mut self,
        track: usize,
        base: Frame,
        last: Frame,
        entry_bytes: usize,
        runs: &Runs<'_>,
    ) -> Result<(), PeerFault> {
        let RemoteStream { row, have, since } = &self.tracks[track];
        let (have, since) = (*have, *since);
        for (nth, slot) in row.slots.iter().enumerate() {
            let mut input = if base < row.first_frame { I::default() } else { self.past.cell(base, slot) };
            let mut frame = base;
            for change in runs.entries(entry_bytes) {
                frame = frame.next();
                input = match change {
                    Some(bytes) => I::read(&bytes[nth * I::SIZE..(nth + 1) * I::SIZE])?,
                    None => input.repeat(),
                };
                if frame > last.max(have) {
                    break;
                } else if frame > have {
                    self.past.correct(frame, slot, input);
                } else if frame >= since && self.past.cell(frame, slot) != input {
                    return Err(PeerFault::InputChanged { frame });
                }
            }
        }
        if last > have {
            self.tracks[track].have = last;
            self.guess_again(track);
        }
        Ok(())
    }

    /// Simulated frames beyond the held entries used a prediction from an older input: predicts
    /// them again.
    fn guess_again(&mut self, track: usize) {
        let RemoteStream { row, have, .. } = self.tracks[track];
        for slot in row.slots {
            let known = have.max(row.first_frame.previous());
            let guess =
                if have < row.first_frame { I::default() } else { self.past.cell(have, slot).repeat() };
            let end = self.past.current().min(row.last_frame);
            for number in known.next().number()..=end.number() {
                if !self.past.predict_again(Frame::new(number), slot, guess) {
                    // All later frames were predicted from the same input as this one.
                    break;
                }
            }
        }
    }

    /// Last entry of a stream before `frame`, decoded, on which runs build. None if it is not held.
    pub(crate) fn entry_before(&self, stream: StreamId, frame: Frame) -> Option<Vec<I>> {
        Some(self.pending.get(&stream)?.entry(frame.previous())?.collect())
    }

    /// Takes another roster and finds the first simulated frame it changes; frames up to
    /// `confirmed` cannot change. `held` gives the first and last held frame of a stream.
    pub(crate) fn set_rows(
        &mut self,
        rows: &[RosterEntry],
        confirmed: Frame,
        held: impl Fn(StreamId) -> Option<(Frame, Frame)>,
    ) {
        let frames = confirmed.next().number()..=self.past.current().number();
        let mut before = std::mem::take(&mut self.scratch);
        before.clear();
        before.extend(frames.clone().map(|number| self.present_at(Frame::new(number))));
        let (old, old_own) = (std::mem::take(&mut self.tracks), self.own);
        let players = self.local.players();
        self.own = rows.iter().find(|row| row.stream == self.me && row.slots.len() == players).copied();
        self.tracks.extend(rows.iter().filter(|row| row.stream != self.me).map(|row| {
            let (first, have) = held(row.stream).unwrap_or((row.first_frame, row.first_frame.previous()));
            // Every entry that counts in a confirmed frame was held once, even if it is dropped by
            // now.
            let was_held = if row.first_frame <= confirmed { confirmed.min(row.last_frame) } else { have };
            let before = old.iter().find(|track| track.row.stream == row.stream);
            // A peer that joined later did not hold it: it has nothing to compare with.
            let first = if have < was_held { was_held.next() } else { first };
            let have = have.max(was_held);
            let since = before.map_or(first, |track| track.since.min(first));
            RemoteStream { row: *row, have, since: since.max(row.first_frame) }
        }));
        gaggle_kit::insertion_sort(&mut self.tracks, |track| track.row.stream);
        self.local.set_slots(self.own.map_or(SlotSet::EMPTY, |row| row.slots));
        self.settle_in(&old, old_own);
        for (number, before) in frames.zip(before.drain(..)) {
            let frame = Frame::new(number);
            let now = self.present_at(frame);
            let changed = now.difference(before).union(before.difference(now));
            if changed.is_empty() {
                continue;
            }
            self.past.clear_slots(frame, before.difference(now));
            self.past.correct_presence(frame, changed);
        }
        self.scratch = before;
        let old_news = confirmed.saturating_sub(self.past.frames() / 4);
        self.pending
            .retain(|stream, _| !rows.iter().any(|row| row.stream == *stream && row.first_frame < old_news));
    }

    /// Copies held entries of streams that are new in the table, and predicts again the frames they
    /// lack.
    fn settle_in(&mut self, old: &[RemoteStream], old_own: Option<RosterEntry>) {
        if let Some(own) = self.own {
            let had = old_own.is_some_and(|old| old.first_frame == own.first_frame && old.slots == own.slots);
            let first = own.first_frame.max(self.local.oldest()).number();
            for frame in (first..=self.local.newest().number()).map(Frame::new).filter(|_| !had) {
                put_own(&mut self.past, self.own.as_ref(), frame, self.local.entry(frame));
            }
        }
        for track in 0..self.tracks.len() {
            let RemoteStream { row, have, .. } = self.tracks[track];
            let same = |old: &&RemoteStream| old.row.stream == row.stream && old.row.slots == row.slots;
            if old.iter().find(same).is_some_and(|old| old.row.first_frame == row.first_frame) {
                continue;
            }
            if let Some(pending) = self.pending.get(&row.stream) {
                for number in
                    row.first_frame.max(pending.first()).number()..=have.min(row.last_frame).number()
                {
                    let frame = Frame::new(number);
                    let Some(entry) = pending.entry(frame) else { continue };
                    for (slot, input) in row.slots.iter().zip(entry) {
                        self.past.put(frame, slot, input);
                    }
                }
            }
            self.guess_again(track);
        }
    }

    fn store_tracked(&mut self, track: usize, frame: Frame, inputs: &[I]) {
        let RemoteStream { row, have, .. } = self.tracks[track];
        if frame != have.next() {
            self.tracks[track].since = frame.max(row.first_frame);
        }
        self.tracks[track].have = frame;
        if !row.is_present_at(frame) {
            return;
        }
        for (slot, input) in row.slots.iter().zip(inputs) {
            self.past.predict_again(frame, slot, *input);
        }
        self.guess_again(track);
    }
}

/// Puts an own entry into the table, if it counts.
fn put_own<I: Input>(past: &mut Past<I>, own: Option<&RosterEntry>, frame: Frame, entry: &[I]) {
    if let Some(row) = own.filter(|row| row.is_present_at(frame)) {
        for (slot, input) in row.slots.iter().zip(entry) {
            past.put(frame, slot, *input);
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{PeerId, Slot};

    use super::*;
    use crate::roster::Incarnation;
    use crate::runs::RunsWriter;

    fn stream(peer: u128) -> StreamId {
        StreamId { peer: PeerId::from_u128(peer), incarnation: Incarnation(1) }
    }

    #[test]
    fn stream_that_ended_before_join_is_never_held() {
        let mut ledger = InputLog::<u8>::new(stream(1), 1, 64, 4);
        ledger.restart(stream(1), Frame::new(100));
        let slots = SlotSet::of(Slot::at(1));
        let row =
            RosterEntry { stream: stream(2), slots, first_frame: Frame::new(1), last_frame: Frame::new(90) };
        let nothing = |_| Some((Frame::new(1), Frame::START));
        ledger.set_rows(&[row], Frame::new(100), nothing);
        assert!(!ledger.tracks()[0].is_held(), "it only lingers: {:?}", ledger.tracks()[0]);
        assert_eq!(ledger.received_frame(), Frame::NEVER, "no peer waits for it");
        // The remaining entries of the packet contradict nothing.
        let mut runs = RunsWriter::default();
        (0..5).for_each(|nth| runs.change(1, |out| out[0] = 7 + nth));
        let last = Frame::new(90);
        assert_eq!(ledger.take_runs(0, Frame::new(85), last, 1, &runs.finish(1)), Ok(()));
    }

    /// A log with local slot 0 and a remote slot 1, from frame 1 on.
    fn log_of_two() -> InputLog<u8> {
        let row = |number: u128| RosterEntry {
            stream: stream(number),
            slots: SlotSet::of(Slot::at(number as usize - 1)),
            first_frame: Frame::new(1),
            last_frame: Frame::NEVER,
        };
        let mut log = InputLog::new(stream(1), 1, 64, 2);
        log.set_rows(&[row(1), row(2)], Frame::START, |_| None);
        log
    }

    #[test]
    fn received_frame_follows_entries_of_others_when_looked_at() {
        let mut log = log_of_two();
        let mut runs = RunsWriter::default();
        (0..3).for_each(|_| runs.repeat());
        let taken = log.take_runs(0, Frame::START, Frame::new(3), 1, &runs.finish(1));
        assert_eq!(taken, Ok(()));
        assert_eq!(log.received(), Frame::START, "nothing was looked at");
        log.update_received();
        assert_eq!(log.received(), Frame::new(3));
        assert_eq!(log.waiting_for(), SlotSet::of(Slot::at(1)));
    }

    #[test]
    fn local_entries_are_recorded_ahead_by_delay() {
        let mut log = log_of_two();
        assert_eq!(log.record_neutral(2), Frame::START);
        assert!(log.local.sample(Slot::at(0), 7));
        assert_eq!(log.record_local(Frame::new(1), 2), Frame::new(2));
        assert!(log.local.is_recorded(Frame::new(1)));
        assert_eq!((log.local.newest_change(), log.local.input_delay()), (Frame::new(3), 2));
        assert_eq!(log.past().cell(Frame::new(3), Slot::at(0)), 7);
    }

    #[test]
    fn finished_frame_clears_empty_slots_and_presence_is_remembered() {
        let mut log = log_of_two();
        assert_eq!(log.present_from(Frame::new(1)), SlotSet::first(2));
        log.past_mut().put(Frame::new(1), Slot::at(1), 9);
        log.finish_frame(Frame::new(1), SlotSet::first(1));
        assert_eq!(log.past().cell(Frame::new(1), Slot::at(1)), 0);
        log.note_news();
        assert!(log.take_news() && !log.take_news());
        assert!(log.is_kept(Frame::new(1), Frame::new(40), 5));
        assert!(!log.is_kept(Frame::new(1), Frame::new(60), 5));
    }
}
