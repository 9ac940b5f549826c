//! Held entries of every stream: the range of frames, and the controls of entries in it.
//!
//! Membership keeps it current. Absent: the inputs, which the session lends as [`Entries`].

use std::hash::{Hash, Hasher};

use gaggle_kit::{Frame, SlotSet};

use super::entry_range::EntryRange;
use crate::entries::Entries;
use crate::roster::StreamId;

/// A joiner's admission, written by the leader. It counts from the next frame on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Join {
    pub(crate) stream: StreamId,
    pub(crate) slots: SlotSet,
}

/// Contents of an entry besides its inputs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub(crate) struct EntryControl {
    pub(crate) join: Option<Join>,
    /// Whether this is the stream's last entry.
    pub(crate) end: bool,
}

impl EntryControl {
    pub(crate) const NONE: EntryControl = EntryControl { join: None, end: false };

    pub(crate) fn is_some(&self) -> bool {
        *self != EntryControl::NONE
    }
}

/// The contiguous run of entries held of one stream.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Held {
    /// Oldest entry that can still be sent.
    first: Frame,
    /// Newest entry; the one before `first` if there is none.
    through: Frame,
    /// Non-empty controls of the entries in the range, in order.
    extras: Vec<(Frame, EntryControl)>,
}

impl Held {
    /// An empty run that begins at `first`.
    pub(crate) fn from(first: Frame) -> Held {
        let first = first.max(Frame::START.next());
        Held { first, through: first.previous(), extras: Vec::new() }
    }

    /// Oldest entry that can still be sent.
    #[inline]
    pub(crate) fn first(&self) -> Frame {
        self.first
    }

    /// Newest entry; the one before [`first`](Held::first) if there is none.
    #[inline]
    pub(crate) fn through(&self) -> Frame {
        self.through
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.through < self.first
    }

    pub(crate) fn len(&self) -> u32 {
        (self.through.next()).since(self.first)
    }

    pub(crate) fn holds(&self, frame: Frame) -> bool {
        self.first <= frame && frame <= self.through
    }

    pub(crate) fn extras(&self, frame: Frame) -> EntryControl {
        self.extras.iter().find(|(at, _)| *at == frame).map_or(EntryControl::NONE, |(_, extras)| *extras)
    }

    /// First entry after `frame` with controls.
    pub(crate) fn says_after(&self, frame: Frame) -> Option<Frame> {
        self.extras.iter().map(|(at, _)| *at).find(|at| *at > frame)
    }

    /// Non-empty controls, in order.
    pub(crate) fn entry_controls(&self) -> &[(Frame, EntryControl)] {
        &self.extras
    }

    /// Frame of the entry that ends the stream, if it is held.
    pub(crate) fn end(&self) -> Option<Frame> {
        self.extras.last().filter(|(_, extras)| extras.end).map(|(at, _)| *at)
    }

    /// Takes note of the next entry.
    pub(crate) fn push(&mut self, extras: EntryControl) {
        self.through = self.through.next();
        if extras.is_some() {
            self.extras.push((self.through, extras));
        }
    }

    /// Extends the run up to this entry; controls follow in separate calls.
    pub(crate) fn grow(&mut self, through: Frame) {
        self.through = self.through.max(through);
    }

    /// Adds the controls of an entry that was just taken.
    pub(crate) fn note(&mut self, frame: Frame, extras: EntryControl) {
        if extras.is_some() && self.extras.last().is_none_or(|(at, _)| *at < frame) {
            self.extras.push((frame, extras));
        }
    }

    pub(crate) fn cut(&mut self, last: Frame) {
        self.through = self.through.min(last.max(self.first.previous()));
        self.extras.retain(|(at, _)| *at <= last);
    }

    /// Entries before `frame` are no longer needed.
    pub(crate) fn trim(&mut self, frame: Frame) {
        self.first = self.first.max(frame.min(self.through.next()));
        let first = self.first;
        self.extras.retain(|(at, _)| *at >= first);
    }
}

/// Streams of observers that may be held beside those in the roster.
pub(crate) const WARM_STREAMS_MAX: usize = 16;

/// Index where a stream was last found, which saves a search. The reader checks what is there now,
/// and comparisons of machines ignore the index.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct EntryIndex(usize);

impl PartialEq for EntryIndex {
    fn eq(&self, _: &EntryIndex) -> bool {
        true
    }
}

impl Eq for EntryIndex {}

impl Hash for EntryIndex {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// All streams, by id: so few that a sorted list is faster than a tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Streams {
    runs: Vec<(StreamId, Held)>,
}

impl Streams {
    fn place(&self, stream: StreamId) -> Result<usize, usize> {
        self.runs.binary_search_by(|(known, _)| known.cmp(&stream))
    }

    /// As [`get`](Streams::get), searching first where the stream was last found.
    pub(crate) fn get_near(&self, EntryIndex(near): EntryIndex, stream: StreamId) -> Option<&Held> {
        match self.runs.get(near) {
            Some((known, held)) if *known == stream => Some(held),
            _ => self.get(stream),
        }
    }

    /// As [`get_near`](Streams::get_near), and remembers the index.
    pub(crate) fn get_near_mut(&mut self, near: &mut EntryIndex, stream: StreamId) -> Option<&mut Held> {
        if self.runs.get(near.0).is_none_or(|(known, _)| *known != stream) {
            near.0 = self.place(stream).ok()?;
        }
        self.runs.get_mut(near.0).map(|(_, held)| held)
    }

    /// For lookups of several streams in the order of their ids: each search begins where the last
    /// one ended.
    pub(crate) fn next_mut(&mut self, near: &mut EntryIndex, stream: StreamId) -> Option<&mut Held> {
        while self.runs.get(near.0).is_some_and(|(known, _)| *known < stream) {
            near.0 += 1;
        }
        self.runs.get_mut(near.0).filter(|(known, _)| *known == stream).map(|(_, held)| held)
    }

    pub(crate) fn get(&self, stream: StreamId) -> Option<&Held> {
        self.place(stream).ok().map(|place| &self.runs[place].1)
    }

    pub(crate) fn get_mut(&mut self, stream: StreamId) -> Option<&mut Held> {
        self.place(stream).ok().map(|place| &mut self.runs[place].1)
    }

    pub(crate) fn insert(&mut self, stream: StreamId, held: Held) -> &mut Held {
        let place = match self.place(stream) {
            Ok(place) => {
                self.runs[place].1 = held;
                place
            }
            Err(place) => {
                self.runs.insert(place, (stream, held));
                place
            }
        };
        &mut self.runs[place].1
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (StreamId, &Held)> {
        self.runs.iter().map(|(stream, held)| (*stream, held))
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = (StreamId, &mut Held)> {
        self.runs.iter_mut().map(|(stream, held)| (*stream, held))
    }

    pub(crate) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Whether any held entry has controls.
    pub(crate) fn say_something(&self) -> bool {
        self.runs.iter().any(|(_, held)| !held.extras.is_empty())
    }

    /// Keeps only the streams that are wanted.
    pub(crate) fn retain(&mut self, entries: &mut dyn Entries, wanted: impl Fn(StreamId) -> bool) {
        self.runs.retain(|(stream, _)| {
            let keep = wanted(*stream);
            if !keep {
                entries.forget(*stream);
            }
            keep
        });
    }

    pub(crate) fn clear(&mut self, entries: &mut dyn Entries) {
        self.retain(entries, |_| false);
    }

    pub(crate) fn holds(&self, stream: StreamId, frame: Frame) -> bool {
        self.get(stream).is_some_and(|held| held.holds(frame))
    }

    /// Controls of an entry, if it is held.
    pub(crate) fn extras(&self, stream: StreamId, frame: Frame) -> Option<EntryControl> {
        self.get(stream).filter(|held| held.holds(frame)).map(|held| held.extras(frame))
    }

    /// Frame of a stream's goodbye, if its entry is held.
    pub(crate) fn end(&self, stream: StreamId) -> Option<Frame> {
        self.get(stream).and_then(Held::end)
    }

    /// Held entries from `from` on of the streams that are wanted.
    pub(crate) fn tails(
        &self,
        entries: &dyn Entries,
        from: Frame,
        wanted: impl Fn(StreamId) -> bool,
    ) -> Vec<EntryRange> {
        self.tails_between(entries, from, Frame::NEVER, wanted)
    }

    /// Held entries from `from` up to `to` of the streams that are wanted.
    pub(crate) fn tails_between(
        &self,
        entries: &dyn Entries,
        from: Frame,
        to: Frame,
        wanted: impl Fn(StreamId) -> bool,
    ) -> Vec<EntryRange> {
        let wanted = self.iter().filter(|(stream, _)| wanted(*stream));
        let tail = |(stream, held): (StreamId, &Held)| {
            EntryRange::copy(stream, held, from.max(held.first), to, entries)
        };
        wanted.map(tail).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn run_grows_at_end_and_forgets_at_front() {
        let mut held = Held::from(Frame::new(5));
        assert!(held.is_empty());
        let end = EntryControl { end: true, join: None };
        for extras in [EntryControl::NONE, EntryControl::NONE, EntryControl::NONE, end] {
            held.push(extras);
        }
        assert_eq!((held.first, held.through, held.len()), (Frame::new(5), Frame::new(8), 4));
        assert_eq!(held.end(), Some(Frame::new(8)));
        held.trim(Frame::new(7));
        assert!(!held.holds(Frame::new(6)) && held.holds(Frame::new(7)));
        held.cut(Frame::new(7));
        assert_eq!((held.len(), held.end()), (1, None));
        held.trim(Frame::new(100));
        assert!(held.is_empty() && held.through == Frame::new(7));
    }
}
