//! What membership waits for: suspicions, a stalled view change, feeds, admission, and whether
//! there is anything to look at.
//!
//! `Membership` owns it and compares it with the time. Absent: what is done about it.

use gaggle_kit::{Frame, Micros, VecSet};

use super::Epoch;
use crate::roster::StreamId;

/// Since when what is awaited.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Watch {
    /// Streams that the session asked to evict.
    evicted: VecSet<StreamId>,
    /// A peer has an open promise: its view change must be finished.
    is_unfinished: bool,
    suspicious_since: Option<Micros>,
    /// More suspicions may follow.
    is_doubtful: bool,
    /// A view change is due and this stream must start it: since when this peer waits for that, and
    /// at which frame.
    stalled_by: Option<(StreamId, Micros, Frame)>,
    /// The epoch since which no peer was missing.
    quiescent_since: Option<Epoch>,
    /// The epoch since which no peer was missing or joining and no message was due.
    at_rest_since: Option<Epoch>,
    has_slept: bool,
    ticked_at: Option<Micros>,
    /// Frame up to which an observer was fed.
    fed: Frame,
    /// Since when neither a feed nor admission made progress.
    starving_since: Micros,
}

fn is_since(since: Option<Epoch>, epoch: Epoch) -> bool {
    since.is_some_and(|since| since.number() == epoch.number())
}

impl Watch {
    pub(super) fn new() -> Watch {
        Watch {
            evicted: VecSet::new(),
            is_unfinished: false,
            suspicious_since: None,
            is_doubtful: true,
            stalled_by: None,
            quiescent_since: None,
            at_rest_since: None,
            has_slept: false,
            ticked_at: None,
            fed: Frame::START,
            starving_since: Micros::ZERO,
        }
    }

    /// Another stay begins.
    pub(super) fn begin_stay(&mut self, now: Micros) {
        self.evicted.clear();
        self.settle();
        self.has_slept = false;
        self.starving_since = now;
    }

    /// A view was installed: nothing is suspected yet, and no change is unfinished.
    pub(super) fn settle(&mut self) {
        self.is_unfinished = false;
        self.trust();
        self.end_stall();
    }

    pub(super) fn evicted(&self) -> &VecSet<StreamId> {
        &self.evicted
    }

    pub(super) fn evict(&mut self, stream: StreamId) {
        self.evicted.insert(stream);
    }

    /// Forgets evicted streams that are over.
    pub(super) fn retain_evicted(&mut self, is_open: impl Fn(StreamId) -> bool) {
        self.evicted.retain(|stream| is_open(*stream));
    }

    pub(super) fn is_unfinished(&self) -> bool {
        self.is_unfinished
    }

    pub(super) fn set_unfinished(&mut self, is_unfinished: bool) {
        self.is_unfinished = is_unfinished;
    }

    /// No peer is suspected.
    pub(super) fn trust(&mut self) {
        self.suspicious_since = None;
    }

    /// A peer is suspected: since when one is.
    pub(super) fn suspect(&mut self, now: Micros) -> Micros {
        *self.suspicious_since.get_or_insert(now)
    }

    pub(super) fn is_doubtful(&self) -> bool {
        self.is_doubtful
    }

    pub(super) fn set_doubtful(&mut self, is_doubtful: bool) {
        self.is_doubtful = is_doubtful;
    }

    /// A view change waits for this stream at this frame: since when.
    pub(super) fn stall(&mut self, now: Micros, by: Option<StreamId>, at: Frame) -> Micros {
        let same = |held: &(StreamId, Micros, Frame)| Some(held.0) == by && held.2 == at;
        let since = self.stalled_by.filter(same).map_or(now, |(_, since, _)| since);
        self.stalled_by = by.map(|stream| (stream, since, at));
        since
    }

    pub(super) fn end_stall(&mut self) {
        self.stalled_by = None;
    }

    /// Whether the last check of all peers found none missing, and nothing has changed since.
    pub(super) fn is_quiescent(&self, epoch: Epoch) -> bool {
        is_since(self.quiescent_since, epoch)
    }

    pub(super) fn set_quiescent(&mut self, since: Option<Epoch>) {
        self.quiescent_since = since;
    }

    /// Whether the last check found nothing to do, and nothing has changed since.
    #[inline]
    pub(super) fn is_at_rest(&self, epoch: Epoch) -> bool {
        is_since(self.at_rest_since, epoch)
    }

    pub(super) fn set_at_rest(&mut self, since: Option<Epoch>) {
        self.at_rest_since = since;
    }

    /// Whether this peer was suspended and no view has counted on it since.
    pub(super) fn has_slept(&self) -> bool {
        self.has_slept
    }

    /// Others count on this peer: from here on it does not act as a suspended one.
    pub(super) fn wake(&mut self) {
        self.has_slept = false;
    }

    /// Takes note of a tick. After a pause longer than `sleep_after` this peer slept: silence of
    /// others during it means nothing.
    pub(super) fn tick(&mut self, now: Micros, sleep_after: Micros) {
        if self.ticked_at.is_some_and(|at| now.since(at) > sleep_after) {
            self.has_slept = true;
            self.starving_since = now;
            self.trust();
        }
        self.ticked_at = Some(now);
    }

    /// Takes note of a tick in which nothing is due. False if this peer slept before it.
    #[inline]
    pub(super) fn rest(&mut self, now: Micros, sleep_after: Micros) -> bool {
        let is_awake = self.ticked_at.is_some_and(|at| now.since(at) <= sleep_after);
        if is_awake {
            self.ticked_at = Some(now);
            self.starving_since = now;
        }
        is_awake
    }

    pub(super) fn fed(&self) -> Frame {
        self.fed
    }

    /// A snapshot was taken: feeds follow this frame.
    pub(super) fn begin_fed(&mut self, frame: Frame) {
        self.fed = frame;
    }

    /// A feed came.
    pub(super) fn note_fed(&mut self, now: Micros, through: Frame) {
        self.fed = self.fed.max(through);
        self.note_progress(now);
    }

    /// The stay makes progress.
    pub(super) fn note_progress(&mut self, now: Micros) {
        self.starving_since = now;
    }

    /// Time without progress.
    pub(super) fn starved(&self, now: Micros) -> Micros {
        now.since(self.starving_since)
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::PeerId;

    use super::*;
    use crate::roster::Incarnation;

    fn at(seconds: u64) -> Micros {
        Micros::from_secs(seconds)
    }

    #[test]
    fn stall_counts_from_its_first_frame_and_stream() {
        let stream = |n: u128| Some(StreamId { peer: PeerId::from_u128(n), incarnation: Incarnation(0) });
        let mut watch = Watch::new();
        assert_eq!(watch.stall(at(1), stream(1), Frame::new(5)), at(1));
        assert_eq!(watch.stall(at(2), stream(1), Frame::new(5)), at(1));
        assert_eq!(watch.stall(at(3), stream(1), Frame::new(6)), at(3), "a frame was confirmed");
        assert_eq!(watch.stall(at(4), stream(2), Frame::new(6)), at(4));
    }

    #[test]
    fn sleep_forgives_suspicion_and_starving() {
        let mut watch = Watch::new();
        watch.tick(at(1), at(5));
        assert_eq!((watch.suspect(at(2)), watch.suspect(at(3))), (at(2), at(2)));
        watch.tick(at(20), at(5));
        assert!(watch.has_slept() && !watch.rest(at(40), at(5)));
        assert_eq!((watch.suspect(at(20)), watch.starved(at(21))), (at(20), at(1)));
        watch.wake();
        assert!(!watch.has_slept());
    }

    #[test]
    fn rest_ends_with_next_epoch() {
        let (mut watch, mut epoch) = (Watch::new(), Epoch::default());
        assert!(!watch.is_at_rest(epoch));
        watch.set_at_rest(Some(epoch));
        assert!(watch.is_at_rest(epoch) && !watch.is_quiescent(epoch));
        epoch.advance();
        assert!(!watch.is_at_rest(epoch));
    }
}
