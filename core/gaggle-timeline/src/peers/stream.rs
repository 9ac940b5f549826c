//! What one peer holds of our stream, and what it was last sent.
//!
//! The sender reads it, packets of the peer move it on. Absent: entries themselves.

use gaggle_kit::{Frame, Micros};

/// What was last told to a peer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent {
    /// In which tick.
    pub(crate) tick: u64,
    /// Up to which entry.
    pub(crate) newest: Frame,
    /// When the clocks.
    pub(crate) time_at: Option<Micros>,
    /// Which input delay.
    pub(crate) delay_frames: u32,
    /// The hashes of which frame, how often, and in which tick last.
    pub(crate) check: Frame,
    pub(crate) check_times: u8,
    pub(crate) check_tick: u64,
}

/// How far a peer is with our entries and its own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PeerStream {
    /// The last of our entries it holds without a gap, once it told.
    pub(crate) acked: Option<Frame>,
    /// The last frame it said it confirmed.
    pub(crate) confirmed: Frame,
    pub(crate) sent: Sent,
    /// Until when packets go out every frame, because packets get lost one way or the other.
    pub(crate) lossy_until: Micros,
    /// Until when the peer is told that its packets get lost.
    pub(crate) missing_until: Micros,
}

impl PeerStream {
    /// Another stay begins, theirs or ours.
    pub(crate) fn begin_stay(&mut self) {
        let Sent { tick, time_at, .. } = self.sent;
        self.acked = None;
        self.confirmed = Frame::START;
        self.sent = Sent { tick, time_at, ..Sent::default() };
    }

    /// It says that it confirmed this frame.
    pub(crate) fn note_confirmed(&mut self, frame: Frame) {
        self.confirmed = self.confirmed.max(frame);
    }

    /// It holds our entries up to this one.
    pub(crate) fn note_acked(&mut self, frame: Frame) {
        self.acked = Some(self.acked.map_or(frame, |before| before.max(frame)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn acknowledged_frame_never_falls() {
        let mut stream = PeerStream::default();
        [5, 9, 7].iter().for_each(|frame| stream.note_acked(Frame::new(*frame)));
        assert_eq!(stream.acked, Some(Frame::new(9)));
    }

    #[test]
    fn confirmed_frame_never_falls() {
        let mut stream = PeerStream::default();
        [5, 9, 7].iter().for_each(|frame| stream.note_confirmed(Frame::new(*frame)));
        assert_eq!(stream.confirmed, Frame::new(9));
    }

    #[test]
    fn another_stay_keeps_when_something_was_sent() {
        let sent = Sent { tick: 7, newest: Frame::new(5), check_times: 2, ..Sent::default() };
        let mut stream = PeerStream { sent, ..PeerStream::default() };
        stream.note_acked(Frame::new(4));
        stream.lossy_until = Micros::from_secs(1);
        stream.begin_stay();
        assert_eq!((stream.sent.tick, stream.sent.newest, stream.acked), (7, Frame::START, None));
        assert_eq!(stream.lossy_until, Micros::from_secs(1));
    }
}
