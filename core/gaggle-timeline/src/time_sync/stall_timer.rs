//! Time that others have waited for a peer.
//!
//! Owned by `TimeSync`. Absent: when that is too long.

use gaggle_kit::{Frame, Micros};

use crate::roster::StreamId;

/// Time that others have waited for a peer since it last sent a fair number of entries.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct StallTimer {
    stream: Option<StreamId>,
    /// Last held entry when the count began.
    have: Frame,
    waited: Micros,
}

impl StallTimer {
    /// Adds time that all waited for the entry after `have`. Returns the total.
    pub(crate) fn wait(&mut self, stream: StreamId, have: Frame, enough_frames: u32, span: Micros) -> Micros {
        if self.stream != Some(stream) {
            // After a rejoin it is the same peer, so the time waited so far counts on.
            *self = StallTimer { stream: Some(stream), have, waited: self.waited };
        } else if have.since(self.have) >= enough_frames {
            *self = StallTimer { have, waited: Micros::ZERO, ..*self };
        }
        self.waited += span;
        self.waited
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::PeerId;

    use super::*;
    use crate::roster::Incarnation;

    #[test]
    fn rare_entries_keep_stall_and_steady_ones_end_it() {
        let stream = StreamId { peer: PeerId::from_u128(1), incarnation: Incarnation(1) };
        let mut timer = StallTimer::default();
        let mut wait = |have: u32| timer.wait(stream, Frame::new(have), 10, Micros::from_secs(1));
        assert_eq!([50, 50, 51, 59].map(&mut wait).map(Micros::as_millis), [1_000, 2_000, 3_000, 4_000]);
        assert_eq!(wait(60), Micros::from_secs(1));
    }

    #[test]
    fn stall_counts_across_incarnations() {
        let name =
            |incarnation| StreamId { peer: PeerId::from_u128(1), incarnation: Incarnation(incarnation) };
        let mut timer = StallTimer::default();
        let mut wait = |stream, have| timer.wait(stream, Frame::new(have), 10, Micros::from_secs(1));
        assert_eq!(wait(name(1), 50), Micros::from_secs(1));
        assert_eq!(wait(name(2), 90), Micros::from_secs(2));
        assert_eq!(wait(name(2), 100), Micros::from_secs(1), "it plays again");
    }
}
