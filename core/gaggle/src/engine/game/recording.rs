//! Replay of the shown match, up to the last frame that is final on all peers.
//! [`GameEngine`](crate::GameEngine) has one if recording is enabled. Absent: sessions of other
//! matches, files.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Slot, state_hash};
use gaggle_timeline::{Game, Inputs, Match, Recorder, RecorderConfig, ReplayInfo};

/// Largest recording in bytes, enough for hours of play. Beyond it, recording restarts.
const BYTES_MAX: usize = 8 << 20;
/// Frames between two hashes of the state.
const MARK_FRAMES: u32 = 60;
/// Hashes that are kept.
const MARKS_KEPT: usize = 16;

/// A replay being recorded. Its frames are counted from its first one, which is where this peer
/// joined.
pub(crate) struct Recording<G: Game> {
    recorder: Recorder<G>,
    /// The frame of the match the replay begins at.
    begins_at: Frame,
    bytes: Vec<u8>,
    row: Vec<G::Input>,
    marks: VecDeque<(Frame, u64)>,
}

/// The next frame was dropped before it was recorded.
struct Gap;

impl<G: Game> Recording<G> {
    /// Records all frames that have become final. Restarts if there is no recording, or if frames
    /// after the recorded ones are missing.
    pub(crate) fn keep_up(
        recording: &mut Option<Recording<G>>,
        session: &Match<G::Input>,
        confirmed: Option<(Frame, &G)>,
    ) {
        let followed = recording.as_mut().is_some_and(|recording| recording.follow(session).is_ok());
        if !followed {
            *recording = confirmed.map(|confirmed| Recording::begin(session, confirmed));
        }
    }

    fn begin(session: &Match<G::Input>, (begins_at, game): (Frame, &G)) -> Recording<G> {
        let (config, slots) = (session.config(), session.slot_count());
        let info = ReplayInfo {
            game_fingerprint: config.game_fingerprint,
            tick_rate: config.tick_rate,
            slots: slots as u8,
        };
        let recorder = Recorder::new(game, info, RecorderConfig::default());
        Recording {
            recorder,
            begins_at,
            bytes: Vec::new(),
            row: vec![G::Input::default(); slots],
            marks: VecDeque::new(),
        }
    }

    fn follow(&mut self, session: &Match<G::Input>) -> Result<(), Gap> {
        // A spectator does not know which frames are settled; the frames it is shown are confirmed.
        let last = match session.is_spectating() {
            true => session.confirmed_frame().min(session.current_frame()),
            false => session.settled_frame(),
        };
        loop {
            let recorded = self.recorder.frame();
            let next = self.begins_at.saturating_add(recorded.number()).next();
            if next > last {
                return Ok(());
            }
            let inputs = session.confirmed_inputs(next).ok_or(Gap)?;
            let present = inputs.present_slots();
            for (index, input) in self.row.iter_mut().enumerate() {
                let slot = Slot::at(index);
                *input = if present.contains(slot) { inputs.get(slot) } else { G::Input::default() };
            }
            self.recorder.record(&Inputs::confirmed(recorded.next(), &self.row, present));
            self.bytes.append(&mut self.recorder.take_bytes());
            self.mark(next);
            if self.bytes.len() > BYTES_MAX {
                return Err(Gap);
            }
        }
    }

    fn mark(&mut self, frame: Frame) {
        if frame.number().is_multiple_of(MARK_FRAMES) {
            self.marks.push_back((frame, state_hash(self.recorder.game())));
            if self.marks.len() > MARKS_KEPT {
                self.marks.pop_front();
            }
        }
    }

    /// Frames of the match and the hashes of their states, the latest last.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (Frame, u64)> {
        self.marks.iter().copied()
    }

    /// The recorded match as a whole file; none before its first frame.
    pub(crate) fn file(&self) -> Option<Vec<u8>> {
        (!self.bytes.is_empty()).then(|| [&self.bytes[..], &self.recorder.ending()].concat())
    }
}
