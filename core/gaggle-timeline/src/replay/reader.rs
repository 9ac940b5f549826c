//! Reading of a replay, as far as it is intact.
//!
//! Players of replays call it with bytes from any source. Absent: files, drawing.

use std::marker::PhantomData;

use gaggle_kit::{ByteReader, DecodeError, Frame, Input, SlotSet, decode_state, decompress};
use thiserror::Error;

use super::chunk::{self, CONTENT_BYTES_MAX, Chunk, MAGIC, VERSION};
use super::player::{Divergence, Playback};
use crate::Game;

/// Properties of a replay's match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplayInfo {
    /// Game and version it was made with.
    pub game_fingerprint: u64,
    /// Simulation steps per second.
    pub tick_rate: u32,
    /// Number of slots.
    pub slots: u8,
}

/// Why no part of a file can be played.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ReplayError {
    /// It is no replay.
    #[error("this is not a replay; give the bytes of a recorded match")]
    NotAReplay,
    /// It has another version of the format.
    #[error(
        "this replay is written in version {theirs}, this program reads version {ours}; play it with the program that wrote it"
    )]
    VersionMismatch {
        /// Version of the file.
        theirs: u8,
        /// Version of this reader.
        ours: u8,
    },
    /// It is of another game, or of another version of it.
    #[error(
        "this replay is of another game or version (fingerprint {theirs:016x}, local {ours:016x}); use its build"
    )]
    GameMismatch {
        /// Fingerprint of its game.
        theirs: u64,
        /// Fingerprint of this game.
        ours: u64,
    },
    /// Its header is corrupt, and without it nothing can be played.
    #[error("the beginning of this replay is damaged: {0}")]
    CorruptHeader(#[from] DecodeError),
}

/// Where a file is corrupt. Everything before can be played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("damaged or cut after {byte_offset} bytes, which is after frame {valid_through}: {reason}")]
pub struct Corruption {
    /// Number of intact bytes.
    pub byte_offset: usize,
    /// Last frame in them.
    pub valid_through: Frame,
    /// What is wrong there.
    pub reason: DecodeError,
}

/// Frames that share a chunk.
#[derive(Debug, Clone, Copy)]
pub(super) struct Stretch<'a> {
    /// State before its first frame.
    pub(super) before: Frame,
    pub(super) frames: u32,
    /// Hash of the state after its last frame.
    pub(super) hash: u64,
    pub(super) rows: &'a [u8],
}

/// A keyframe, still encoded.
#[derive(Debug, Clone, Copy)]
pub(super) struct Key<'a> {
    pub(super) at: Frame,
    bytes: &'a [u8],
    packed: bool,
}

impl Key<'_> {
    /// The state, if it can be decoded.
    pub(super) fn state<G: Game>(&self) -> Option<G> {
        let unpacked: Vec<u8>;
        let mut bytes = self.bytes;
        if self.packed {
            unpacked = decompress(bytes, CONTENT_BYTES_MAX).ok()?;
            bytes = &unpacked;
        }
        decode_state(bytes).ok()
    }
}

/// A replay, read from untrusted bytes.
#[derive(Debug)]
pub struct Replay<'a, G: Game> {
    info: ReplayInfo,
    pub(super) start: G,
    pub(super) stretches: Vec<Stretch<'a>>,
    pub(super) keys: Vec<Key<'a>>,
    last: Frame,
    damage: Option<Corruption>,
    inputs: PhantomData<G::Input>,
}

impl<'a, G: Game> Replay<'a, G> {
    /// Reads a replay of the game with this fingerprint. A corrupt or truncated file is read as far
    /// as it is intact: see [`Replay::damage`].
    ///
    /// # Errors
    /// If no part of it can be played.
    pub fn read(bytes: &'a [u8], game_fingerprint: u64) -> Result<Replay<'a, G>, ReplayError> {
        let mut r = ByteReader::new(bytes);
        if r.take("magic", MAGIC.len()) != Ok(&MAGIC) {
            return Err(ReplayError::NotAReplay);
        }
        let version = r.u8("version")?;
        if version != VERSION {
            return Err(ReplayError::VersionMismatch { theirs: version, ours: VERSION });
        }
        let head = chunk::read(&mut r)?;
        if head.kind != chunk::HEAD {
            return Err(DecodeError::Unknown { what: "first chunk", value: head.kind.into() }.into());
        }
        let (info, start) = read_head::<G>(head.content, game_fingerprint)?;
        let mut replay = Replay {
            info,
            start,
            stretches: Vec::new(),
            keys: Vec::new(),
            last: Frame::START,
            damage: None,
            inputs: PhantomData,
        };
        loop {
            let whole = bytes.len() - r.remaining();
            let ended = chunk::read(&mut r).and_then(|chunk| replay.take_chunk(&chunk));
            match ended {
                Ok(true) => break,
                Ok(false) => {}
                Err(why) => {
                    replay.damage =
                        Some(Corruption { byte_offset: whole, valid_through: replay.last, reason: why });
                    break;
                }
            }
        }
        Ok(replay)
    }

    /// Takes a chunk; true for the last one.
    fn take_chunk(&mut self, chunk: &Chunk<'a>) -> Result<bool, DecodeError> {
        let mut r = ByteReader::new(chunk.content);
        let frame = Frame::new(r.u32("frame of a chunk")?);
        if frame != self.last {
            let (value, at) = (i64::from(frame.number()), i64::from(self.last.number()));
            return Err(DecodeError::OutOfRange { what: "frame of a chunk", value, min: at, max: at });
        }
        match chunk.kind {
            chunk::FRAMES => {
                let frames = u32::from(r.u8("frames of a chunk")?);
                let hash = r.u64("state hash")?;
                let stretch = Stretch { before: frame, frames, hash, rows: r.rest() };
                self.check_rows(&stretch)?;
                self.last = frame.saturating_add(frames);
                self.stretches.push(stretch);
            }
            chunk::KEY | chunk::PACKED_KEY => {
                let packed = chunk.kind == chunk::PACKED_KEY;
                self.keys.push(Key { at: frame, bytes: r.rest(), packed });
            }
            chunk::END => return Ok(true),
            kind => return Err(DecodeError::Unknown { what: "kind of a chunk", value: kind.into() }),
        }
        Ok(false)
    }

    /// Checks that all rows can be decoded, so that a playback cannot fail midway.
    fn check_rows(&self, stretch: &Stretch<'_>) -> Result<(), DecodeError> {
        let mut r = ByteReader::new(stretch.rows);
        let mut row = vec![G::Input::default(); usize::from(self.info.slots)];
        let mut present = SlotSet::EMPTY;
        for _ in 0..stretch.frames {
            read_row(&mut r, &mut row, &mut present)?;
        }
        r.finish("frames of a chunk")
    }

    /// Properties of its match.
    pub fn info(&self) -> ReplayInfo {
        self.info
    }

    /// Last frame that can be played.
    pub fn last_frame(&self) -> Frame {
        self.last
    }

    /// Where the file is corrupt, unless it is intact to its end.
    pub fn damage(&self) -> Option<Corruption> {
        self.damage
    }

    /// Plays it from the start.
    pub fn play(&self) -> Playback<'_, 'a, G> {
        Playback::new(self)
    }

    /// Simulates the whole replay and compares every hash and every keyframe, to find out whether
    /// this program still computes the recorded match.
    ///
    /// # Errors
    /// The first difference.
    pub fn verify(&self) -> Result<(), Divergence> {
        self.play().verify()
    }
}

fn read_head<G: Game>(content: &[u8], ours: u64) -> Result<(ReplayInfo, G), ReplayError> {
    let mut r = ByteReader::new(content);
    let theirs = r.u64("game fingerprint")?;
    if theirs != ours {
        return Err(ReplayError::GameMismatch { theirs, ours });
    }
    let tick_rate = r.u32("frames per second")?;
    let slots = r.u8("slots")?;
    if usize::from(slots) > SlotSet::COUNT_MAX {
        return Err(DecodeError::CountTooLarge { what: "slots", count: slots.into(), max: 64 }.into());
    }
    let (size, expected) = (i64::from(r.u32("bytes of an input")?), G::Input::SIZE as i64);
    if size != expected {
        let what = "bytes of an input";
        return Err(DecodeError::OutOfRange { what, value: size, min: expected, max: expected }.into());
    }
    let start = decode_state(r.rest())?;
    Ok((ReplayInfo { game_fingerprint: theirs, tick_rate, slots }, start))
}

/// Reads the next row, which is encoded as a difference to the one before.
pub(super) fn read_row<I: Input>(
    r: &mut ByteReader<'_>,
    row: &mut [I],
    present: &mut SlotSet,
) -> Result<(), DecodeError> {
    let flags = read_bits(r)?;
    let changed = flags >> 1;
    if changed >> row.len() != 0 {
        return Err(DecodeError::CountTooLarge { what: "slots in a row", count: 64, max: row.len() as u64 });
    }
    if flags & 1 == 1 {
        *present = read_present(r, row.len())?;
    }
    for (nth, cell) in row.iter_mut().enumerate() {
        *cell = if changed >> nth & 1 == 1 { I::read(r.take("input", I::SIZE)?)? } else { cell.repeat() };
    }
    Ok(())
}

/// Slots present in a frame. Slots the game does not have are an error, because games index by
/// slot.
pub(crate) fn read_present(r: &mut ByteReader<'_>, slots: usize) -> Result<SlotSet, DecodeError> {
    let present = SlotSet::from_bits(r.u64("slots present")?);
    match present.difference(SlotSet::first(slots)).lowest() {
        None => Ok(present),
        Some(stranger) => {
            let (value, max) = (stranger.index() as i64, slots as i64 - 1);
            Err(DecodeError::OutOfRange { what: "slot present", value, min: 0, max })
        }
    }
}

fn read_bits(r: &mut ByteReader<'_>) -> Result<u128, DecodeError> {
    let mut bits = 0u128;
    for shift in (0..70).step_by(7) {
        let byte = r.u8("row")?;
        bits |= u128::from(byte & 0x7f) << shift;
        if byte & 0x80 == 0 {
            return Ok(bits);
        }
    }
    Err(DecodeError::CountTooLarge { what: "bits in a row", count: 71, max: 70 })
}
