//! States of the game: checksums to report, states for joiners, states that replace the game's.
//!
//! `Sealed` passes events of its client in; `SimScheduler` asks which states to hash and encode.
//! Absent: inputs, time, how states are encoded.

use gaggle_kit::Frame;

use crate::scheduler::StateSchedule;

/// Checksums of own states that are remembered.
const CHECKS_KEPT: usize = 4;

/// A state that replaces the game's.
#[derive(Debug)]
pub(super) struct IncomingState {
    pub(super) frame: Frame,
    pub(super) bytes: Vec<u8>,
    /// Checksum that most other clients computed for it.
    pub(super) hash: u64,
    /// Whether the game's own state was wrong.
    pub(super) is_repair: bool,
}

/// What an own checksum says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(super) enum Checked {
    /// It is to be reported.
    Report(u64),
    /// The state that was taken over is not the one it should be.
    WrongState,
    /// Nothing follows from it.
    Nothing,
}

/// States that are due.
#[derive(Debug)]
pub(super) struct States {
    interval: u32,
    /// Next frame whose checksum is reported.
    next: Frame,
    checks: [(Frame, u64); CHECKS_KEPT],
    wanted: Option<(u32, Frame)>,
    /// Checksum that the state taken over must have.
    expected: Option<(Frame, u64)>,
    incoming: Option<IncomingState>,
    /// Most other clients have another state, which follows.
    is_outvoted: bool,
}

impl States {
    pub(super) fn new(interval: u32) -> States {
        States {
            interval,
            next: Frame::new(interval),
            checks: [(Frame::NEVER, 0); CHECKS_KEPT],
            wanted: None,
            expected: None,
            incoming: None,
            is_outvoted: false,
        }
    }

    /// The game continues with the state of this frame.
    pub(super) fn begin_at(&mut self, frame: Frame, hash: Option<u64>) {
        self.expected = hash.map(|hash| (frame, hash));
        self.next = self.check_after(frame);
        self.checks = [(Frame::NEVER, 0); CHECKS_KEPT];
    }

    fn check_after(&self, frame: Frame) -> Frame {
        Frame::new((frame.number() / self.interval + 1) * self.interval)
    }

    /// Frames up to this one are taken back to: later checksums are void.
    pub(super) fn take_back(&mut self, kept: Frame) {
        self.next = self.next.min(self.check_after(kept));
        self.checks
            .iter_mut()
            .filter(|(frame, _)| *frame > kept)
            .for_each(|check| *check = (Frame::NEVER, 0));
    }

    pub(super) fn is_outvoted(&self) -> bool {
        self.is_outvoted
    }

    pub(super) fn note_outvoted(&mut self) {
        self.is_outvoted = true;
    }

    /// Checksums are reported again, also after one was outvoted.
    pub(super) fn report_again(&mut self) {
        self.is_outvoted = false;
    }

    /// The last frame before this one whose checksum no other client doubted.
    pub(super) fn agreed_before(&self, frame: Frame) -> Frame {
        frame.saturating_sub(self.interval)
    }

    pub(super) fn receive(&mut self, frame: Frame, bytes: Vec<u8>, hash: u64) {
        let is_repair = std::mem::take(&mut self.is_outvoted);
        self.incoming = Some(IncomingState { frame, bytes, hash, is_repair });
    }

    pub(super) fn drop_incoming(&mut self) {
        self.incoming = None;
        self.is_outvoted = false;
    }

    pub(super) fn incoming(&self) -> Option<&IncomingState> {
        self.incoming.as_ref()
    }

    pub(super) fn take_incoming(&mut self) -> Option<IncomingState> {
        self.incoming.take()
    }

    pub(super) fn want(&mut self, number: u32, frame: Frame) {
        self.wanted = Some((number, frame));
    }

    /// Frame whose state is to be encoded.
    pub(super) fn export_at(&self) -> Option<Frame> {
        self.wanted.map(|(_, frame)| frame)
    }

    /// The request that an encoded state answers, and the state's checksum.
    pub(super) fn take_wanted(&mut self, frame: Frame) -> Option<(u32, u64)> {
        let (number, _) = self.wanted.take_if(|(_, wanted)| *wanted == frame)?;
        let hash = self.checks.iter().find(|(checked, _)| *checked == frame)?.1;
        Some((number, hash))
    }

    /// Takes the checksum of an own state.
    pub(super) fn take_hash(&mut self, frame: Frame, hash: Option<u64>) -> Checked {
        if let Some((_, expected)) = self.expected.take_if(|(expected, _)| *expected == frame) {
            return if hash == Some(expected) { Checked::Nothing } else { Checked::WrongState };
        }
        if frame == self.next {
            self.next += self.interval;
        }
        let Some(hash) = hash else { return Checked::Nothing };
        self.checks.rotate_right(1);
        self.checks[0] = (frame, hash);
        // All states until the right one arrives are wrong.
        if self.is_outvoted { Checked::Nothing } else { Checked::Report(hash) }
    }

    /// Skips checksums of states that are no longer saved.
    pub(super) fn skip_to(&mut self, oldest: Frame) {
        if self.next < oldest {
            self.next = self.check_after(oldest);
        }
        self.wanted.take_if(|(_, frame)| *frame < oldest);
        self.expected.take_if(|(frame, _)| *frame < oldest);
    }
}

impl StateSchedule for States {
    fn is_check_frame(&self, frame: Frame) -> bool {
        frame.number().is_multiple_of(self.interval)
    }

    fn keeps(&self, frame: Frame) -> bool {
        self.wanted.is_some_and(|(_, wanted)| wanted == frame)
            || self.expected.is_some_and(|(expected, _)| expected == frame)
    }

    fn keep_base(&mut self, _: Frame) -> bool {
        false
    }

    fn hash_due(&self, finished: Frame) -> Option<Frame> {
        let expected = self.expected.map(|(frame, _)| frame);
        expected.or(Some(self.next)).filter(|frame| *frame <= finished)
    }

    fn keep_due(&mut self) -> Option<Frame> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksums_are_due_once_per_interval_and_name_wanted_state() {
        let mut states = States::new(60);
        let frame = Frame::new;
        assert_eq!(states.hash_due(frame(59)), None);
        assert_eq!(states.hash_due(frame(61)), Some(frame(60)));
        assert_eq!(states.take_hash(frame(60), Some(7)), Checked::Report(7));
        assert_eq!(states.hash_due(frame(119)), None);
        states.want(3, frame(120));
        assert!(states.keeps(frame(120)) && !states.keeps(frame(60)));
        assert_eq!(states.take_hash(frame(120), Some(8)), Checked::Report(8));
        assert_eq!(states.take_wanted(frame(60)), None);
        assert_eq!(states.take_wanted(frame(120)), Some((3, 8)));
        assert_eq!(states.export_at(), None);
    }

    #[test]
    fn state_with_other_checksum_is_wrong() {
        let mut states = States::new(60);
        for (hash, outcome) in [(5, Checked::Nothing), (6, Checked::WrongState)] {
            states.begin_at(Frame::new(130), Some(5));
            assert_eq!(states.hash_due(Frame::new(131)), Some(Frame::new(130)));
            assert_eq!(states.take_hash(Frame::new(130), Some(hash)), outcome);
        }
        assert_eq!(states.hash_due(Frame::new(200)), Some(Frame::new(180)));
        assert_eq!(states.take_hash(Frame::new(180), Some(1)), Checked::Report(1));
        states.take_back(Frame::new(170));
        assert_eq!(states.hash_due(Frame::new(200)), Some(Frame::new(180)), "it is simulated again");
    }
}
