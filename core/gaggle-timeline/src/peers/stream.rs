//! Stream positions of one peer: entries it holds of the local stream, and entries it was last
//! sent.
//!
//! The sender reads it, packets of the peer advance it. Absent: entries themselves.

use gaggle_kit::{Frame, Micros};

/// Contents of the packet last sent to a peer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Sent {
    /// Tick in which it was sent.
    pub(crate) tick: u64,
    /// Newest entry in it.
    pub(crate) newest: Frame,
    /// Time at which clocks were last sent.
    pub(crate) time_at: Option<Micros>,
    /// Input delay last sent.
    pub(crate) delay_frames: u32,
    /// Frame of the hashes last sent, how often they were sent, and in which tick last.
    pub(crate) check: Frame,
    pub(crate) check_times: u8,
    pub(crate) check_tick: u64,
}

/// Length of a span over which losses are counted. The current span and the previous one are kept.
const LOSS_SPAN: Micros = Micros::from_secs(4);
/// Losses in one span from which they count as steady rather than chance.
const LOSSES_STEADY: u16 = 3;

/// Count of recent losses of packets of a peer.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct LossCount {
    since: Micros,
    count: u16,
    before: u16,
}

impl LossCount {
    pub(crate) fn note(&mut self, now: Micros) {
        let passed = now.since(self.since);
        if passed >= LOSS_SPAN {
            let before = if passed < LOSS_SPAN + LOSS_SPAN { self.count } else { 0 };
            *self = LossCount { since: now, count: 0, before };
        }
        self.count = self.count.saturating_add(1);
    }

    /// Whether losses are steady rather than occasional.
    pub(crate) fn is_steady(&self, now: Micros) -> bool {
        let is_recent = now.since(self.since) < LOSS_SPAN + LOSS_SPAN;
        is_recent && self.count.max(self.before) >= LOSSES_STEADY
    }
}

/// Stream positions of a peer: in the local stream and in its own.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct PeerStream {
    /// Last local entry it holds without gap, once it has acknowledged one.
    acked: Option<Frame>,
    /// Last frame that it reported as confirmed.
    confirmed: Frame,
    sent: Sent,
    /// Time until which a packet is sent every frame, because packets were lost in either
    /// direction.
    lossy_until: Micros,
    /// Time until which packets tell the peer that its packets are lost.
    missing_until: Micros,
    losses: LossCount,
}

impl PeerStream {
    /// Last local entry it holds without gap, once it has acknowledged one.
    #[inline]
    pub(crate) fn acked(&self) -> Option<Frame> {
        self.acked
    }

    /// It holds no entry after this frame, so all of them are sent.
    pub(crate) fn begin_sending(&mut self, after: Frame) {
        self.acked = Some(after);
    }

    /// It may have forgotten which entries it holds.
    pub(crate) fn forget_acked(&mut self) {
        self.acked = None;
    }

    /// Last frame it said it had confirmed.
    #[inline]
    pub(crate) fn confirmed(&self) -> Frame {
        self.confirmed
    }

    /// Contents of the packet last sent to it.
    #[inline]
    pub(crate) fn sent(&self) -> &Sent {
        &self.sent
    }

    #[inline]
    pub(crate) fn sent_mut(&mut self) -> &mut Sent {
        &mut self.sent
    }

    /// Packets in either direction may be lost until then: one is sent every frame.
    pub(crate) fn expect_loss(&mut self, until: Micros) {
        self.lossy_until = self.lossy_until.max(until);
    }

    #[inline]
    pub(crate) fn is_lossy(&self, now: Micros) -> bool {
        now < self.lossy_until
    }

    /// Whether packets tell the peer that its packets are lost.
    #[inline]
    pub(crate) fn is_missing(&self, now: Micros) -> bool {
        now < self.missing_until
    }

    /// How often its packets were lost.
    pub(crate) fn losses(&self) -> &LossCount {
        &self.losses
    }

    /// Resets the positions because either peer joins anew, under another stream.
    pub(crate) fn begin_stay(&mut self) {
        let Sent { tick, time_at, .. } = self.sent;
        self.acked = None;
        self.confirmed = Frame::START;
        self.sent = Sent { tick, time_at, ..Sent::default() };
    }

    /// The link lost packets of the peer: both sides send more often for a while.
    pub(crate) fn note_loss(&mut self, now: Micros, memory: Micros) {
        (self.lossy_until, self.missing_until) = (now + memory, now + memory);
        self.losses.note(now);
    }

    /// Takes note of the last frame it confirmed.
    pub(crate) fn note_confirmed(&mut self, frame: Frame) {
        self.confirmed = self.confirmed.max(frame);
    }

    /// Takes note of an acknowledgement.
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
    fn few_losses_are_chance_and_steady_ones_are_not() {
        let steady = |gap_ms: u64, now_ms: u64| {
            let mut losses = LossCount::default();
            (1..=12).for_each(|nth| losses.note(Micros::from_millis(1_000 + nth * gap_ms)));
            losses.is_steady(Micros::from_millis(now_ms))
        };
        assert!(steady(500, 7_500), "two in a second");
        assert!(!steady(2_500, 32_000), "two in five seconds");
        assert!(!steady(500, 20_000), "long ago");
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
