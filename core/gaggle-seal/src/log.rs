//! The sealed log: for every frame the entries that counted, by slot.
//!
//! Referee and client hold one each; the sealer appends, a client applies lanes. Simulation reads
//! cells up to the sealed frame. Absent: deadlines, links, acknowledgements.

use gaggle_kit::{Frame, Slot};

use crate::roster::{OutReason, Roster, RosterChange, RosterEvent, Row, StreamId};
use crate::rows::{Rows, Set};
use crate::shape::{Shape, ones};

/// Content of a slot in a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cell<'a> {
    /// The slot has no row.
    Absent,
    /// An entry counted: a value, or the repetition of one.
    Made {
        /// Input as the stream's owner encoded it.
        value: &'a [u8],
        /// The entry is the repetition of this value.
        is_repeated: bool,
    },
    /// No entry arrived in time.
    Missed {
        /// Number of consecutive missed frames up to this one, saturating.
        run: u16,
        /// The last value that counted; the effective input repeats it.
        last: Option<&'a [u8]>,
    },
    /// No entries are expected.
    Passive,
}

/// Why bytes contradict the log they are meant for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// They have a kind for a slot without a row.
    #[error("a kind for slot {0}, which has no row")]
    NoRow(usize),
    /// They have a value for a slot without an entry.
    #[error("a value for slot {0}, which made no entry")]
    NotMade(usize),
    /// They repeat the kind the slot has already.
    #[error("slot {0} is said to change to what it is")]
    SameKind(usize),
}

/// Frames with their contents, and the rows they belong to.
#[derive(Debug, Clone)]
pub struct Log {
    shape: Shape,
    rows: Rows,
    roster: Roster,
    /// Number of frames kept before the sealed one.
    history: u32,
    /// Number of frames beyond the sealed one for which there is room.
    lookahead: u32,
    oldest: Frame,
    sealed: Frame,
    /// Sealed frame of each lane.
    lanes: Vec<Frame>,
    /// Hash over all frames up to each kept one.
    chain: Vec<u64>,
}

impl Log {
    /// An empty log at frame 0 that keeps `history` frames and has room for `lookahead` more.
    pub fn new(shape: Shape, history: u32, lookahead: u32) -> Log {
        let rows = Rows::new(shape, (history + lookahead + 2) as usize);
        Log {
            shape,
            roster: Roster::new(shape.slots()),
            history,
            lookahead,
            oldest: Frame::START,
            sealed: Frame::START,
            lanes: vec![Frame::START; shape.lanes()],
            chain: vec![0; rows.frames()],
            rows,
        }
    }

    /// Sizes of this match.
    pub const fn shape(&self) -> Shape {
        self.shape
    }

    /// Last frame that is sealed in every lane.
    pub const fn sealed(&self) -> Frame {
        self.sealed
    }

    /// First frame that is kept.
    pub const fn oldest(&self) -> Frame {
        self.oldest
    }

    /// Last frame that is sealed in this lane.
    pub fn sealed_lane(&self, lane: usize) -> Frame {
        self.lanes[lane]
    }

    /// Hash over all frames up to this one. `None` if the frame is not kept or not sealed.
    pub fn hash(&self, frame: Frame) -> Option<u64> {
        self.keeps(frame).then(|| self.chain[self.at(frame)])
    }

    /// Whether the frame is sealed and not forgotten.
    pub fn keeps(&self, frame: Frame) -> bool {
        self.oldest <= frame && frame <= self.sealed
    }

    /// Content of a slot in a kept frame; [`Cell::Absent`] for other frames.
    pub fn cell(&self, frame: Frame, slot: Slot) -> Cell<'_> {
        let slot = slot.index();
        if !self.keeps(frame) || slot >= self.shape.slots() || !self.rows.has(frame, Set::Present, slot) {
            return Cell::Absent;
        }
        let value = self.rows.value(frame, slot);
        if self.rows.has(frame, Set::Made, slot) {
            let is_repeated = self.rows.has(frame, Set::Repeated, slot);
            return Cell::Made { value, is_repeated };
        }
        if self.rows.has(frame, Set::Passive, slot) {
            return Cell::Passive;
        }
        let last = self.rows.has(frame, Set::Spoken, slot).then_some(value);
        Cell::Missed { run: self.rows.missed(frame, slot), last }
    }

    /// Slots whose effective input may differ from that of the frame before, or whose row is
    /// another, in ascending order: a value, its first repetition, another kind, a join or an end.
    /// Of slots that go on missing only the first missed frame is named. None for frames that are
    /// not kept.
    pub fn changed_slots(&self, frame: Frame) -> impl Iterator<Item = Slot> + '_ {
        let is_kept = self.oldest < frame && frame <= self.sealed;
        (0..if is_kept { self.shape.words() } else { 0 }).flat_map(move |word| {
            ones(self.rows.changes(frame, word)).map(move |bit| Slot::at(word * 64 + bit))
        })
    }

    /// The row of a slot in a kept frame.
    pub fn row(&self, frame: Frame, slot: Slot) -> Option<Row> {
        let slot = slot.index();
        let is_known = self.keeps(frame) && slot < self.shape.slots();
        is_known.then(|| self.roster.row_at(slot, frame)).flatten()
    }

    /// Rows that began or ended in kept frames, in the order of frames for each slot.
    pub fn roster_events(&self) -> impl Iterator<Item = &RosterEvent> {
        self.roster.events()
    }

    /// Whether the stream has this slot in the last sealed frame.
    pub fn has_row(&self, slot: Slot, stream: StreamId) -> bool {
        self.roster.row(slot.index()).is_some_and(|row| row.stream == stream)
    }

    /// Whether there is room for this frame beside all that are kept.
    pub(crate) fn has_room(&self, frame: Frame) -> bool {
        frame <= self.sealed + self.lookahead.max(1)
    }

    /// Takes back all frames after this one.
    pub fn truncate(&mut self, keep: Frame) {
        let keep = keep.max(self.oldest);
        for lane in &mut self.lanes {
            *lane = (*lane).min(keep);
        }
        self.roster.truncate(keep);
        self.sealed = self.sealed.min(keep);
    }

    fn at(&self, frame: Frame) -> usize {
        frame.number() as usize & (self.chain.len() - 1)
    }

    pub(crate) const fn rows(&self) -> &Rows {
        &self.rows
    }

    pub(crate) const fn rows_mut(&mut self) -> &mut Rows {
        &mut self.rows
    }

    pub(crate) const fn roster(&self) -> &Roster {
        &self.roster
    }

    /// Restarts from a known state: the caller sets the rows of `frame`.
    pub(crate) fn reset(&mut self, frame: Frame, hash: u64) {
        self.roster.clear();
        self.rows.clear(frame);
        (self.oldest, self.sealed) = (frame, frame);
        self.lanes.fill(frame);
        let at = self.at(frame);
        self.chain[at] = hash;
    }

    pub(crate) fn set_row(&mut self, slot: usize, row: Row) {
        self.roster.set(slot, Some(row));
        self.rows.put(self.sealed, Set::Present, slot, true);
    }

    // Methods of the sealer, for all lanes at once.

    pub(crate) fn seal_leave(&mut self, slot: usize, why: OutReason) {
        self.roster.leave(self.sealed.next(), slot, why);
    }

    pub(crate) fn seal_join(&mut self, slot: usize, stream: StreamId) {
        self.roster.join(self.sealed.next(), slot, stream);
        self.rows.put(self.sealed.next(), Set::Joined, slot, true);
    }

    /// Seals the next frame from its entries. `present` has the rows of that frame.
    pub(crate) fn seal(&mut self, present: &[u64]) {
        let frame = self.sealed.next();
        for (word, present) in present.iter().enumerate() {
            let old = |set| self.rows.word(self.sealed, set, word);
            let new = |set| self.rows.word(frame, set, word);
            let joined = new(Set::Joined);
            let speaking = present & !joined;
            let made = new(Set::Made) & speaking;
            let passive = (new(Set::Passive) | old(Set::Passive)) & speaking & !made;
            let spoken = (old(Set::Spoken) & speaking) | made;
            let repeated = new(Set::Repeated) & made;
            *self.rows.word_mut(frame, Set::Present, word) = *present;
            *self.rows.word_mut(frame, Set::Made, word) = made;
            *self.rows.word_mut(frame, Set::Passive, word) = passive;
            *self.rows.word_mut(frame, Set::Spoken, word) = spoken;
            *self.rows.word_mut(frame, Set::Repeated, word) = repeated;
            for slot in ones(spoken & !made).map(|bit| word * 64 + bit) {
                self.rows.keep_value(frame, slot);
            }
        }
        self.rows.count_missed(frame, &(0..self.shape.slots()));
        self.lanes.fill(frame);
        self.advance();
    }

    /// Moves `sealed` to the last frame of all lanes, hashes new frames and drops old ones.
    fn advance(&mut self) {
        let sealed = self.lanes.iter().copied().min().unwrap_or(Frame::START);
        while self.sealed < sealed {
            let frame = self.sealed.next();
            let hash = self.hash_of(frame);
            let at = self.at(frame);
            self.chain[at] = hash;
            self.sealed = frame;
        }
        let oldest = self.sealed.saturating_sub(self.history);
        if oldest > self.oldest {
            self.oldest = oldest;
            self.roster.forget(oldest);
        }
    }

    fn hash_of(&self, frame: Frame) -> u64 {
        let mut hash = Mix(self.chain[self.at(frame.previous())]);
        for word in 0..self.shape.words() {
            let of = |set| self.rows.word(frame, set, word);
            let made = of(Set::Made);
            let before = self.rows.word(frame.previous(), Set::Made, word);
            hash.put(made);
            hash.put(of(Set::Present) ^ of(Set::Passive).rotate_left(1));
            for bit in ones(made & !(before & of(Set::Repeated))) {
                hash.bytes(self.rows.value(frame, word * 64 + bit));
                hash.put(of(Set::Repeated) >> bit & 1);
            }
            for slot in ones(of(Set::Joined)).map(|bit| word * 64 + bit) {
                for change in self.roster.changes(frame, slot) {
                    if let RosterChange::Joined(stream) = change {
                        hash.bytes(stream.peer.as_bytes());
                        hash.put(u64::from(stream.incarnation) << 16 | slot as u64);
                    }
                }
            }
        }
        hash.0
    }

    // Methods of a client, lane by lane.

    /// Begins the next frame of a lane, equal to the one before.
    pub(crate) fn begin_lane(&mut self, lane: usize) -> Frame {
        let frame = self.lanes[lane].next();
        self.rows.carry(frame, &self.shape.lane(lane));
        frame
    }

    /// Ends the frame that was begun: it is sealed in this lane.
    pub(crate) fn finish_lane(&mut self, lane: usize) {
        let frame = self.lanes[lane].next();
        self.rows.count_missed(frame, &self.shape.lane(lane));
        self.lanes[lane] = frame;
        self.advance();
    }

    /// Undoes the frame that was begun.
    pub(crate) fn abandon_lane(&mut self, lane: usize) {
        self.roster.undo(self.shape.lane(lane), self.lanes[lane]);
    }

    pub(crate) fn apply_missed(&mut self, frame: Frame, slot: usize) -> Result<(), LogError> {
        self.expect_row(frame, slot)?;
        let has = |set| self.rows.has(frame, set, slot);
        if !has(Set::Made) && !has(Set::Passive) {
            return Err(LogError::SameKind(slot));
        }
        self.rows.put(frame, Set::Made, slot, false);
        self.rows.put(frame, Set::Repeated, slot, false);
        self.rows.put(frame, Set::Passive, slot, false);
        Ok(())
    }

    pub(crate) fn apply_passive(&mut self, frame: Frame, slot: usize) -> Result<(), LogError> {
        self.expect_row(frame, slot)?;
        if self.rows.has(frame, Set::Passive, slot) {
            return Err(LogError::SameKind(slot));
        }
        self.rows.put(frame, Set::Made, slot, false);
        self.rows.put(frame, Set::Repeated, slot, false);
        self.rows.put(frame, Set::Passive, slot, true);
        Ok(())
    }

    /// The slot has an entry after a frame without one. The caller fills in the value.
    pub(crate) fn apply_made(&mut self, frame: Frame, slot: usize, repeated: bool) -> Result<(), LogError> {
        self.expect_row(frame, slot)?;
        if self.rows.has(frame, Set::Made, slot) {
            return Err(LogError::SameKind(slot));
        }
        self.rows.put(frame, Set::Made, slot, true);
        self.rows.put(frame, Set::Spoken, slot, true);
        self.rows.put(frame, Set::Passive, slot, false);
        self.rows.put(frame, Set::Repeated, slot, repeated);
        Ok(())
    }

    /// The slot's entry is not the repetition of the one before. The caller fills it in.
    pub(crate) fn apply_value(&mut self, frame: Frame, slot: usize) -> Result<(), LogError> {
        if !self.rows.has(frame, Set::Made, slot) || !self.rows.has(frame, Set::Repeated, slot) {
            return Err(LogError::NotMade(slot));
        }
        self.rows.put(frame, Set::Repeated, slot, false);
        Ok(())
    }

    pub(crate) fn apply_leave(&mut self, frame: Frame, slot: usize, why: OutReason) -> Result<(), LogError> {
        self.expect_row(frame, slot)?;
        for set in [Set::Made, Set::Repeated, Set::Passive, Set::Present, Set::Spoken] {
            self.rows.put(frame, set, slot, false);
        }
        self.roster.leave(frame, slot, why);
        Ok(())
    }

    /// Applies a join; if the slot has a row, the row is replaced.
    pub(crate) fn apply_join(&mut self, frame: Frame, slot: usize, stream: StreamId) {
        if self.rows.has(frame, Set::Present, slot) {
            self.roster.leave(frame, slot, OutReason::Replaced);
        }
        for set in [Set::Made, Set::Repeated, Set::Passive, Set::Spoken] {
            self.rows.put(frame, set, slot, false);
        }
        self.rows.put(frame, Set::Present, slot, true);
        self.rows.put(frame, Set::Joined, slot, true);
        self.roster.join(frame, slot, stream);
    }

    fn expect_row(&self, frame: Frame, slot: usize) -> Result<(), LogError> {
        if self.rows.has(frame, Set::Present, slot) { Ok(()) } else { Err(LogError::NoRow(slot)) }
    }
}

/// A hash to compare honest machines; it does not resist forgery.
struct Mix(u64);

impl Mix {
    #[inline]
    fn put(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(23) ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let word = chunk.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            self.put(word);
        }
    }
}
