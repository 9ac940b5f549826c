//! Entries of a packet: whether they can be taken, and which of them.
//!
//! `Session` does as told. Absent: values of entries, the input log, how rows are agreed.

use gaggle_kit::Frame;

use crate::event::PeerFault;

/// Facts about a stream, and about this peer, when a packet with its entries arrives.
#[derive(Debug, Clone, Copy)]
pub(crate) struct EntryView {
    /// Frame up to which the stream is held.
    pub(crate) have: Frame,
    /// First frame of the stream, if its owner said so.
    pub(crate) first: Option<Frame>,
    pub(crate) track: Option<TrackView>,
    /// Whether new entries of it may be taken.
    pub(crate) grows: bool,
    /// Whether its owner knows what this peer holds.
    pub(crate) knows_us: bool,
    /// Whether this peer plays and is not catching up: then no honest peer is far ahead of it.
    pub(crate) in_step: bool,
    pub(crate) confirmed: Frame,
    pub(crate) current: Frame,
    pub(crate) lookahead_frames: u32,
    /// Frames for which entries are kept.
    pub(crate) kept_frames: u32,
}

/// A stream with a column in the input log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TrackView {
    /// First frame from which its entries are held without gap.
    pub(crate) since: Frame,
    /// Last frame in which it counts.
    pub(crate) last: Frame,
    /// Whether any entry of it is held, and another one is awaited.
    pub(crate) is_awaited: bool,
}

/// Entries of a packet that can be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Takes {
    /// None of them.
    Nothing,
    /// All after this frame, apart from the input log: the stream has no column, or had none when
    /// they were sent.
    Pending { base: Frame },
    /// Those after `base` up to `last`.
    Entries { base: Frame, last: Frame },
}

/// Which entries of a packet can be taken: `carried` ones, up to the frame `newest`.
///
/// # Errors
/// If no honest peer would send them.
#[inline]
pub(crate) fn takes(newest: Frame, carried: u32, view: &EntryView) -> Result<Takes, PeerFault> {
    // Entries of an honest peer are at most a lookahead beyond the local ones it can have
    // confirmed. A joiner may be far behind all others, and no peer waits for one that has said
    // goodbye.
    let in_step = view.in_step && view.track.is_some();
    let possible = view.confirmed.saturating_add(2 * view.lookahead_frames);
    // A small excess is only dropped: a peer that lags, or was cut and does not know it, may
    // receive it from an honest one.
    let absurd = possible.saturating_add(2 * view.lookahead_frames);
    if newest > absurd && in_step {
        return Err(PeerFault::InputTooFarAhead { frame: newest, possible });
    }
    if carried == 0 || newest.number() < carried {
        return Ok(Takes::Nothing);
    }
    let base = newest.saturating_sub(carried);
    if base > view.have {
        // Of a peer that was cut and does not know it, every entry that counts is held.
        let is_awaited = view.track.is_some_and(|track| track.is_awaited);
        let fault = PeerFault::InputGap { from: base.next(), have: view.have };
        return if in_step && view.knows_us && is_awaited { Err(fault) } else { Ok(Takes::Nothing) };
    }
    if view.current.max(view.have).since(base) >= view.kept_frames {
        // The entry it builds on is so old that it was dropped; all its entries are confirmed.
        return Ok(Takes::Nothing);
    }
    let Some(track) = view.track else { return Ok(Takes::Pending { base }) };
    if base < track.since && (base.next() < track.since || Some(base.next()) != view.first) {
        // The entry that the runs build on is not in the table, but among the pending streams.
        return Ok(Takes::Pending { base });
    }
    let last = if view.grows { newest.min(track.last).min(possible) } else { view.have };
    Ok(Takes::Entries { base, last })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(number: u32) -> Frame {
        Frame::new(number)
    }

    /// A stream held from frame 1 to 20, and a peer that has confirmed 18.
    fn view() -> EntryView {
        EntryView {
            have: frame(20),
            first: Some(frame(1)),
            track: Some(TrackView { since: frame(1), last: Frame::NEVER, is_awaited: true }),
            grows: true,
            knows_us: true,
            in_step: true,
            confirmed: frame(18),
            current: frame(22),
            lookahead_frames: 10,
            kept_frames: 64,
        }
    }

    #[test]
    fn entries_that_follow_are_taken_up_to_last_possible() {
        let taken = takes(frame(25), 6, &view());
        assert_eq!(taken, Ok(Takes::Entries { base: frame(19), last: frame(25) }));
        let taken = takes(frame(45), 30, &view());
        assert_eq!(taken, Ok(Takes::Entries { base: frame(15), last: frame(38) }), "a small excess");
        let fenced = EntryView { grows: false, ..view() };
        assert_eq!(takes(frame(25), 6, &fenced), Ok(Takes::Entries { base: frame(19), last: frame(20) }));
    }

    #[test]
    fn gap_and_far_ahead_are_faults_of_peer_in_step() {
        let gap = PeerFault::InputGap { from: frame(23), have: frame(20) };
        assert_eq!(takes(frame(25), 3, &view()), Err(gap));
        let far = PeerFault::InputTooFarAhead { frame: frame(70), possible: frame(38) };
        assert_eq!(takes(frame(70), 60, &view()), Err(far));
        let joins = EntryView { in_step: false, ..view() };
        assert_eq!(takes(frame(25), 3, &joins), Ok(Takes::Nothing));
    }

    #[test]
    fn entries_without_column_wait_and_dropped_ones_are_ignored() {
        let unknown = EntryView { track: None, ..view() };
        assert_eq!(takes(frame(25), 6, &unknown), Ok(Takes::Pending { base: frame(19) }));
        let track = view().track.map(|track| TrackView { since: frame(20), ..track });
        let late = EntryView { track, ..view() };
        assert_eq!(takes(frame(25), 8, &late), Ok(Takes::Pending { base: frame(17) }));
        let old = EntryView { current: frame(90), ..view() };
        assert_eq!(takes(frame(25), 6, &old), Ok(Takes::Nothing));
    }
}
