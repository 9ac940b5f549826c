//! Recording of a match while it runs.
//!
//! The application passes confirmed inputs to it. Absent: sessions, files.

use gaggle_kit::{Frame, Input, SlotSet, compress, encode_state, state_hash};

use super::chunk::{self, MAGIC, VERSION};
use super::reader::ReplayInfo;
use crate::{Game, Inputs};

/// Intervals of keyframes and hashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RecorderConfig {
    /// Frames between two keyframes: a jump simulates half as many on average. Default 600, which
    /// is ten seconds at 60 frames per second.
    pub keyframe_interval_frames: u32,
    /// Frames that share a hash: a crash loses at most this many. 1 to 255, default 60.
    pub chunk_frames: u32,
}

impl Default for RecorderConfig {
    fn default() -> RecorderConfig {
        RecorderConfig { keyframe_interval_frames: 600, chunk_frames: 60 }
    }
}

/// Writes a replay, one confirmed frame after the other.
///
/// It simulates a game of its own, so that it never needs the live state, and the file depends on
/// the inputs alone.
///
/// ```
/// # use gaggle_kit::{Slot, State};
/// # use gaggle_timeline::{Game, Inputs, Session};
/// use gaggle_timeline::{Recorder, Timeline};
///
/// /// Call it once per frame: it records every frame that was settled since.
/// fn keep_up<G: Game>(recorder: &mut Recorder<G>, timeline: &Timeline<G>) {
///     let session = timeline.session();
///     while recorder.frame() < session.settled_frame() {
///         let Some(inputs) = session.confirmed_inputs(recorder.frame().next()) else { break };
///         recorder.record(&inputs);
///     }
/// }
/// ```
#[derive(Debug)]
pub struct Recorder<G: Game> {
    config: RecorderConfig,
    slots: u8,
    game: G,
    frame: Frame,
    bytes: Vec<u8>,
    /// Frames not yet in a chunk.
    pending: Vec<u8>,
    pending_frames: u32,
    row: Vec<G::Input>,
    present: SlotSet,
}

impl<G: Game> Recorder<G> {
    /// A replay of a match that begins with this state.
    pub fn new(start: &G, info: ReplayInfo, config: RecorderConfig) -> Recorder<G> {
        let mut bytes = MAGIC.to_vec();
        bytes.push(VERSION);
        let mut head = Vec::new();
        head.extend_from_slice(&info.game_fingerprint.to_le_bytes());
        head.extend_from_slice(&info.tick_rate.to_le_bytes());
        head.push(info.slots);
        head.extend_from_slice(&(G::Input::SIZE as u32).to_le_bytes());
        head.extend_from_slice(&encode_state(start));
        chunk::write(&mut bytes, chunk::HEAD, &head);
        let chunk_frames = config.chunk_frames.clamp(1, 255);
        Recorder {
            config: RecorderConfig { chunk_frames, ..config },
            slots: info.slots,
            game: start.clone(),
            frame: Frame::START,
            bytes,
            pending: Vec::new(),
            pending_frames: 0,
            row: vec![G::Input::default(); usize::from(info.slots)],
            present: SlotSet::EMPTY,
        }
    }

    /// Last frame recorded.
    pub fn frame(&self) -> Frame {
        self.frame
    }

    /// Game at the last recorded frame: nothing in it is predicted.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Records the next frame. Only confirmed frames, in order.
    ///
    /// # Panics
    /// If a frame is left out or recorded twice.
    pub fn record(&mut self, inputs: &Inputs<'_, G::Input>) {
        assert_eq!(inputs.frame(), self.frame.next(), "frames are recorded in order");
        self.frame = inputs.frame();
        self.write_row(inputs);
        self.game.tick(inputs);
        self.pending_frames += 1;
        let interval = self.config.keyframe_interval_frames;
        let key = interval > 0 && self.frame.number().is_multiple_of(interval);
        if key || self.pending_frames == self.config.chunk_frames {
            self.close_chunk();
        }
        if key {
            self.write_key();
        }
    }

    /// Bytes written since the last call, for files that grow while a match runs. The last frames,
    /// less than a chunk, are not among them yet.
    pub fn take_bytes(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    /// Ends the recording: returns the rest of the file, or all of it if none was taken.
    pub fn finish(self) -> Vec<u8> {
        self.ending()
    }

    /// Bytes [`Recorder::finish`] would return now, while the recording goes on: appended to the
    /// bytes taken so far, they make a complete file.
    pub fn ending(&self) -> Vec<u8> {
        let mut bytes = self.bytes.clone();
        if self.pending_frames > 0 {
            self.write_chunk(&mut bytes);
        }
        chunk::write(&mut bytes, chunk::END, &self.frame.number().to_le_bytes());
        bytes
    }

    /// A row: one bit for each slot that differs from a repetition of the row before, and one if a
    /// player joined or left.
    fn write_row(&mut self, inputs: &Inputs<'_, G::Input>) {
        let mut changed = 0u128;
        let (present, mut values) = (inputs.present_slots(), Vec::new());
        for slot in SlotSet::first(self.slots.into()) {
            let input = if present.contains(slot) { inputs.get(slot) } else { G::Input::default() };
            let cell = &mut self.row[slot.index()];
            if cell.repeat() != input {
                changed |= 1 << slot.index();
                let at = values.len();
                values.resize(at + G::Input::SIZE, 0);
                input.write(&mut values[at..]);
            }
            *cell = input;
        }
        let moved = present != self.present;
        self.present = present;
        let flags = changed << 1 | u128::from(moved);
        write_bits(&mut self.pending, flags);
        if moved {
            self.pending.extend_from_slice(&present.bits().to_le_bytes());
        }
        self.pending.extend_from_slice(&values);
    }

    /// A keyframe, compressed if that is shorter. Keyframes are most of a long replay.
    fn write_key(&mut self) {
        let state = encode_state(&self.game);
        let mut content = self.frame.number().to_le_bytes().to_vec();
        let frame_bytes = content.len();
        compress(&state, &mut content);
        let shorter = content.len() - frame_bytes < state.len();
        if !shorter {
            content.truncate(frame_bytes);
            content.extend_from_slice(&state);
        }
        let kind = if shorter { chunk::PACKED_KEY } else { chunk::KEY };
        chunk::write(&mut self.bytes, kind, &content);
    }

    fn close_chunk(&mut self) {
        let mut bytes = std::mem::take(&mut self.bytes);
        self.write_chunk(&mut bytes);
        self.bytes = bytes;
        self.pending.clear();
        self.pending_frames = 0;
    }

    /// Writes the frames that are not in a chunk yet as one chunk.
    fn write_chunk(&self, bytes: &mut Vec<u8>) {
        let mut content = Vec::with_capacity(self.pending.len() + 16);
        let first = self.frame.saturating_sub(self.pending_frames);
        content.extend_from_slice(&first.number().to_le_bytes());
        content.push(self.pending_frames as u8);
        content.extend_from_slice(&state_hash(&self.game).to_le_bytes());
        content.extend_from_slice(&self.pending);
        chunk::write(bytes, chunk::FRAMES, &content);
    }
}

/// Seven bits per byte, lowest first.
fn write_bits(out: &mut Vec<u8>, mut bits: u128) {
    while bits >= 0x80 {
        out.push(bits as u8 | 0x80);
        bits >>= 7;
    }
    out.push(bits as u8);
}
