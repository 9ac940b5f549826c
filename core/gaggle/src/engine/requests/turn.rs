//! Remaining work of an update: ticks, requests under way, and requests of the room itself.
//!
//! [`Requests`](super::Requests) fills and drains it. Absent: sessions, the lobby, game state.

use std::collections::VecDeque;

use gaggle_timeline::{RequestStep, SimId};

/// Most ticks of one match kept for a caller that does not fetch its requests.
const TICKS_MAX: u32 = 10;

/// The next task for the program that has the game's state.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Work {
    /// A request of the room: sessions do not know of other matches.
    Notice(Notice),
    /// A request of this match's session.
    Step(SimId, RequestStep),
}

/// A transition between matches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Notice {
    /// The shown state is the first one of another match.
    Renumber,
    /// The match being joined begins with the state the room was opened with.
    Start,
    /// The match being joined becomes the shown one.
    Show,
    /// The match being joined is dropped.
    Discard,
}

/// Work that remains.
#[derive(Debug, Default)]
pub(super) struct Turn {
    notices: VecDeque<Notice>,
    /// Ticks due in the shown match.
    ticks_due: u32,
    /// Ticks due in the match being joined.
    joining_ticks_due: u32,
    /// Whether the session of the shown match has ticked and may have requests.
    pub(super) drains_live: bool,
    /// Whether the session of the match being joined has ticked and may have requests.
    pub(super) drains_joining: bool,
    /// Whether events and packets follow when all ticks are done.
    pub(super) is_open: bool,
}

impl Turn {
    /// Begins an update in which this many ticks are due.
    pub(super) fn begin(&mut self, ticks: u32, joining_ticks: u32) {
        self.ticks_due = (self.ticks_due + ticks).min(TICKS_MAX);
        self.joining_ticks_due = (self.joining_ticks_due + joining_ticks).min(TICKS_MAX);
        self.is_open = true;
    }

    /// Adds a notice, and drops notices that it makes void, so that few wait for a caller that
    /// fetches none.
    pub(super) fn note(&mut self, notice: Notice) {
        let ends = |other: &Notice| matches!(other, Notice::Start | Notice::Show);
        match notice {
            Notice::Show => {
                self.drains_live = std::mem::take(&mut self.drains_joining);
                self.ticks_due = 0;
                if let Some(start) = self.notices.iter().rposition(|other| *other == Notice::Start) {
                    self.notices.drain(..start);
                }
            }
            Notice::Renumber => (self.ticks_due, self.drains_live) = (0, false),
            Notice::Start | Notice::Discard => (self.joining_ticks_due, self.drains_joining) = (0, false),
        }
        if notice == Notice::Discard && self.notices.back() == Some(&Notice::Start) {
            self.notices.pop_back();
        }
        let begin = self.notices.iter().rposition(ends).map_or(0, |at| at + 1);
        if !self.notices.iter().skip(begin).any(|other| *other == notice) {
            self.notices.push_back(notice);
        }
    }

    pub(super) fn poll_notice(&mut self) -> Option<Notice> {
        self.notices.pop_front()
    }

    pub(super) fn has_tick_due(&self) -> bool {
        self.ticks_due > 0
    }

    /// Begins a tick of the shown match.
    pub(super) fn begin_tick(&mut self) {
        self.ticks_due = self.ticks_due.saturating_sub(1);
        self.drains_live = true;
    }

    /// Begins a tick of the match being joined, if one is due.
    #[must_use]
    pub(super) fn begin_joining_tick(&mut self) -> bool {
        let is_due = self.joining_ticks_due > 0;
        self.joining_ticks_due = self.joining_ticks_due.saturating_sub(1);
        self.drains_joining |= is_due;
        is_due
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(notices: &[Notice]) -> Vec<Notice> {
        let mut turn = Turn::default();
        notices.iter().for_each(|notice| turn.note(*notice));
        std::iter::from_fn(|| turn.poll_notice()).collect()
    }

    #[test]
    fn void_notices_are_dropped() {
        use Notice::{Discard, Renumber, Show, Start};
        assert_eq!(after(&[Renumber, Discard, Renumber, Discard]), [Renumber, Discard]);
        assert_eq!(after(&[Start, Discard]), [Discard]);
        assert_eq!(after(&[Show, Renumber]), [Show, Renumber]);
        assert_eq!(after(&[Renumber, Start, Show, Renumber]), [Start, Show, Renumber]);
        let often = [Start, Show, Renumber, Start, Discard].repeat(50);
        assert!(after(&often).len() < 8, "{:?}", after(&often));
    }

    #[test]
    fn ticks_of_idle_caller_are_bounded() {
        let mut turn = Turn::default();
        (0..100).for_each(|_| turn.begin(3, 3));
        let ticks = (0..1_000).take_while(|_| turn.has_tick_due().then(|| turn.begin_tick()).is_some());
        assert_eq!(ticks.count(), 10);
        assert_eq!((0..1_000).take_while(|_| turn.begin_joining_tick()).count(), 10);
    }
}
