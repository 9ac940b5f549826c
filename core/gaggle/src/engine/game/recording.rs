//! Records the match on the screen, as far as everybody agrees on it.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Slot, state_hash};
use gaggle_timeline::{Game, Inputs, Recorder, RecorderConfig, ReplayInfo, Timeline};

/// A recording that grew larger than this begins anew: hours of play.
const BYTES_MAX: usize = 8 << 20;
/// The state is noted every so many frames.
const MARK_FRAMES: u32 = 60;
/// So many notes are kept.
const MARKS_KEPT: usize = 16;

/// A replay in the making. Its frames are counted from where it begins, which is where we came in.
pub(crate) struct Recording<G: Game> {
    recorder: Recorder<G>,
    /// The frame of the match the replay begins at.
    begins_at: Frame,
    bytes: Vec<u8>,
    row: Vec<G::Input>,
    marks: VecDeque<(Frame, u64)>,
}

/// The next frame is not to be had any more.
struct Gap;

impl<G: Game> Recording<G> {
    /// Takes everything that has become final. Begins if there is no recording, and anew where
    /// there is no way from what was recorded to what is played now.
    pub(crate) fn keep_up(recording: &mut Option<Recording<G>>, timeline: &Timeline<G>) {
        let followed = recording.as_mut().is_some_and(|recording| recording.follow(timeline).is_ok());
        if !followed {
            *recording = Recording::begin(timeline);
        }
    }

    fn begin(timeline: &Timeline<G>) -> Option<Recording<G>> {
        let (begins_at, game) = timeline.confirmed_game()?;
        let (config, slots) = (timeline.session().config(), timeline.session().slot_count());
        let info = ReplayInfo {
            game_fingerprint: config.game_fingerprint,
            frames_per_second: config.tick_rate,
            slots: slots as u8,
        };
        let recorder = Recorder::new(game, info, RecorderConfig::default());
        Some(Recording {
            recorder,
            begins_at,
            bytes: Vec::new(),
            row: vec![G::Input::default(); slots],
            marks: VecDeque::new(),
        })
    }

    fn follow(&mut self, timeline: &Timeline<G>) -> Result<(), Gap> {
        let session = timeline.session();
        // Those who look on are not told what everybody has; what they are shown is confirmed.
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

    /// Frames of the match and what the state came to in them, the latest last.
    pub(crate) fn marks(&self) -> impl Iterator<Item = (Frame, u64)> {
        self.marks.iter().copied()
    }

    /// The match so far as a whole file; none before its first frame.
    pub(crate) fn file(&self) -> Option<Vec<u8>> {
        (!self.bytes.is_empty()).then(|| [&self.bytes[..], &self.recorder.ending()].concat())
    }
}
