//! Playback of a replay at any frame.
//!
//! Applications call it through `Replay::play`. Absent: files, drawing.

use std::iter;

use gaggle_kit::{ByteReader, Frame, SlotSet, state_hash};
use thiserror::Error;

use super::reader::{Replay, Stretch, read_row};
use crate::{Game, Inputs};

/// A difference between the recorded match and its simulation by this program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the replay diverges from its recording at or before frame {frame}; play it with the build that recorded it"
)]
pub struct Divergence {
    /// First frame that was compared and differs.
    pub frame: Frame,
}

/// Position in a replay that is being shown.
#[derive(Debug)]
pub struct Playback<'r, 'a, G: Game> {
    replay: &'r Replay<'a, G>,
    game: G,
    frame: Frame,
    row: Vec<G::Input>,
    present: SlotSet,
    /// Chunk of frames that the next frame is in, and the rows left of it.
    stretch: usize,
    rows: &'a [u8],
}

impl<'r, 'a, G: Game> Playback<'r, 'a, G> {
    pub(super) fn new(replay: &'r Replay<'a, G>) -> Self {
        let slots = usize::from(replay.info().slots);
        Playback {
            replay,
            game: replay.start.clone(),
            frame: Frame::START,
            row: vec![G::Input::default(); slots],
            present: SlotSet::EMPTY,
            stretch: 0,
            rows: replay.stretches.first().map_or(&[], |stretch| stretch.rows),
        }
    }

    /// The match at this frame.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Frame that is shown.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Advances one frame; false at the end.
    pub fn step(&mut self) -> bool {
        if self.frame >= self.replay.last_frame() {
            return false;
        }
        self.read_next_row();
        self.frame = self.frame.next();
        self.game.tick(&Inputs::confirmed(self.frame, &self.row, self.present));
        true
    }

    /// Jumps to a frame, or to the nearest available one. Returns the number of simulated ticks.
    pub fn seek(&mut self, frame: Frame) -> u32 {
        let frame = frame.min(self.replay.last_frame());
        let key = self.replay.keys.iter().rev().find(|key| key.at <= frame);
        let key_frame = key.map_or(Frame::START, |key| key.at);
        let onward = self.frame <= frame && self.frame >= key_frame;
        if !onward {
            // A keyframe that cannot be decoded is skipped; the start can always be used.
            let state = key.and_then(|key| Some((key.at, key.state::<G>()?)));
            let (at, game) = state.unwrap_or_else(|| (Frame::START, self.replay.start.clone()));
            *self = Playback::new(self.replay);
            // Rows are encoded as differences: earlier ones must be read, which is fast, but not
            // simulated.
            while self.frame < at {
                self.read_next_row();
                self.frame = self.frame.next();
            }
            self.game = game;
        }
        let mut ticks = 0;
        while self.frame < frame && self.step() {
            ticks += 1;
        }
        ticks
    }

    pub(super) fn verify(mut self) -> Result<(), Divergence> {
        let mut keys = self.replay.keys.iter().peekable();
        // A keyframe may come before the first frame, too.
        let start = Stretch { before: Frame::START, frames: 0, hash: state_hash(&self.game), rows: &[] };
        for Stretch { before, frames, hash, .. } in iter::once(&start).chain(&self.replay.stretches) {
            for _ in 0..*frames {
                self.step();
            }
            let frame = before.saturating_add(*frames);
            if state_hash(&self.game) != *hash {
                return Err(Divergence { frame });
            }
            while let Some(key) = keys.next_if(|key| key.at <= frame) {
                let same = key.state::<G>().is_some_and(|state| state_hash(&state) == *hash);
                if key.at == frame && !same {
                    return Err(Divergence { frame });
                }
            }
        }
        Ok(())
    }

    fn read_next_row(&mut self) {
        while self.rows.is_empty() && self.stretch + 1 < self.replay.stretches.len() {
            self.stretch += 1;
            self.rows = self.replay.stretches[self.stretch].rows;
        }
        let mut r = ByteReader::new(self.rows);
        let read = read_row(&mut r, &mut self.row, &mut self.present);
        assert!(read.is_ok(), "every row was read when the file was");
        self.rows = r.rest();
    }
}
