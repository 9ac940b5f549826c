//! Bundle of a desync: both states and the inputs between them, for later examination.
//!
//! `Timeline` makes one when its state was wrong and was replaced by a peer's. Absent: files, which
//! callers read and write.

use gaggle_kit::{
    ByteReader, DecodeError, Frame, Input, SlotSet, StateHasher, decode_state, diff, encode_state,
};
use thiserror::Error;

use crate::replay::read_present;
use crate::{Game, Inputs};

/// First bytes of a bundle; the last one is the version.
const MAGIC: [u8; 8] = *b"gaggleD\x01";
/// Most frames between the two states: a session keeps no more.
const FRAMES_MAX: u32 = 4_096;
/// Most bytes of one state.
const STATE_BYTES_MAX: u64 = 256 << 20;

/// A desync to examine.
///
/// The remote state, simulated with the inputs up to the frame of the local state, should equal the
/// local state and does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesyncBundle {
    /// Value of [`TimelineConfig::game_fingerprint`](crate::TimelineConfig::game_fingerprint).
    pub game_fingerprint: u64,
    /// State that replaced the local one, and its frame.
    pub remote: (Frame, Vec<u8>),
    /// Local state that was replaced, and its frame, which is not earlier than the remote one's.
    pub local: (Frame, Vec<u8>),
    slots: u8,
    input_bytes: u32,
    /// For each frame between, the present slots and all inputs.
    rows: Vec<(SlotSet, Vec<u8>)>,
}

/// Comparison of a bundle's two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DesyncDiff {
    /// Frame that was compared.
    pub frame: Frame,
    /// Every field that differs, remote first: `riders[2].speed: 3 vs 4`.
    pub differences: Vec<String>,
}

/// Why a bundle cannot be examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The bytes are no bundle, or corrupt.
    #[error("not a desync bundle, or damaged: {0}; save it again with `take_desync_bundle`")]
    Corrupt(#[from] DecodeError),
    /// The inputs are not those of this game.
    #[error("an input has {theirs} bytes in the bundle and {ours} in this game; use the game that wrote it")]
    InputMismatch {
        /// Bytes of an input in the bundle.
        theirs: usize,
        /// Bytes of an input of this game.
        ours: usize,
    },
    /// One of the two states cannot be decoded.
    #[error("a state cannot be decoded: {0}; use the build that wrote the bundle")]
    StateMalformed(DecodeError),
}

impl DesyncBundle {
    pub(crate) fn new<G: Game>(
        game_fingerprint: u64,
        slots: usize,
        theirs: (Frame, Vec<u8>),
        ours: (Frame, &G),
    ) -> DesyncBundle {
        DesyncBundle {
            game_fingerprint,
            remote: theirs,
            local: (ours.0, encode_state(ours.1)),
            slots: slots as u8,
            input_bytes: G::Input::SIZE as u32,
            rows: Vec::new(),
        }
    }

    /// Adds the next frame's inputs.
    pub(crate) fn push<I: Input>(&mut self, row: &[I], present: SlotSet) {
        let mut bytes = vec![0; row.len() * I::SIZE];
        if I::SIZE > 0 {
            bytes.chunks_exact_mut(I::SIZE).zip(row).for_each(|(out, input)| input.write(out));
        }
        self.rows.push((present, bytes));
    }

    /// The bundle as bytes, for a file.
    pub fn encode(&self) -> Vec<u8> {
        let mut out = MAGIC.to_vec();
        out.extend_from_slice(&self.game_fingerprint.to_le_bytes());
        out.push(self.slots);
        out.extend_from_slice(&self.input_bytes.to_le_bytes());
        for (frame, state) in [&self.remote, &self.local] {
            out.extend_from_slice(&frame.number().to_le_bytes());
            out.extend_from_slice(&(state.len() as u64).to_le_bytes());
            out.extend_from_slice(state);
        }
        out.extend_from_slice(&(self.rows.len() as u32).to_le_bytes());
        for (present, row) in &self.rows {
            out.extend_from_slice(&present.bits().to_le_bytes());
            out.extend_from_slice(row);
        }
        let hash = StateHasher::of(&out);
        out.extend_from_slice(&hash.to_le_bytes());
        out
    }

    /// Decodes a bundle.
    ///
    /// # Errors
    /// If the bytes are no bundle, or corrupt.
    pub fn decode(bytes: &[u8]) -> Result<DesyncBundle, BundleError> {
        let Some((body, hash)) = bytes.split_last_chunk::<8>() else {
            return Err(DecodeError::Truncated { what: "bundle", needed: 8, left: bytes.len() }.into());
        };
        if StateHasher::of(body) != u64::from_le_bytes(*hash) {
            return Err(DecodeError::NotCanonical { what: "hash of a bundle" }.into());
        }
        let mut r = ByteReader::new(body);
        let magic = r.array::<8>("beginning of a bundle")?;
        if magic != MAGIC {
            return Err(DecodeError::Unknown { what: "bundle", value: magic[7].into() }.into());
        }
        let (game_fingerprint, slots) = (r.u64("game")?, r.u8("slots")?);
        if usize::from(slots) > SlotSet::COUNT_MAX {
            let max = SlotSet::COUNT_MAX as u64;
            return Err(DecodeError::CountTooLarge { what: "slots", count: slots.into(), max }.into());
        }
        let input_bytes = r.u32("bytes of an input")?;
        let mut state = || {
            let (frame, length) = (Frame::new(r.u32("frame")?), r.u64("bytes of a state")?);
            if length > STATE_BYTES_MAX {
                let max = STATE_BYTES_MAX;
                return Err(DecodeError::CountTooLarge { what: "bytes of a state", count: length, max });
            }
            Ok((frame, r.take("state", length as usize)?.to_vec()))
        };
        let (theirs, ours) = (state()?, state()?);
        let count = r.u32("frames")?;
        if count > FRAMES_MAX || i64::from(count) != ours.0.distance(theirs.0) {
            let max = FRAMES_MAX.into();
            return Err(DecodeError::CountTooLarge { what: "frames", count: count.into(), max }.into());
        }
        let row_bytes = usize::from(slots).saturating_mul(input_bytes as usize);
        let mut rows = Vec::new();
        for _ in 0..count {
            let present = read_present(&mut r, slots.into())?;
            rows.push((present, r.take("inputs", row_bytes)?.to_vec()));
        }
        r.finish("bundle")?;
        Ok(DesyncBundle { game_fingerprint, remote: theirs, local: ours, slots, input_bytes, rows })
    }

    /// Bytes of one slot's input.
    pub fn input_bytes(&self) -> usize {
        self.input_bytes as usize
    }

    /// For each frame between the two states: the present slots, and the inputs of all slots, one
    /// after the other as they are encoded.
    pub fn rows(&self) -> impl Iterator<Item = (Frame, SlotSet, &[u8])> {
        let first = self.remote.0;
        let numbered = self.rows.iter().zip(1..);
        numbered.map(move |((present, bytes), nth)| (first.saturating_add(nth), *present, &bytes[..]))
    }

    /// Simulates the remote state up to the frame of the local one, and returns where the two
    /// differ.
    ///
    /// # Errors
    /// If the bundle is of another game.
    pub fn diff<G: Game>(&self) -> Result<DesyncDiff, BundleError> {
        let (ours, theirs) = (G::Input::SIZE, self.input_bytes as usize);
        if ours != theirs {
            return Err(BundleError::InputMismatch { theirs, ours });
        }
        let mut theirs: G = decode_state(&self.remote.1).map_err(BundleError::StateMalformed)?;
        let ours: G = decode_state(&self.local.1).map_err(BundleError::StateMalformed)?;
        let mut frame = self.remote.0;
        for (present, bytes) in &self.rows {
            frame = frame.next();
            let row = match G::Input::SIZE {
                0 => vec![G::Input::default(); self.slots.into()],
                size => bytes.chunks(size).map(G::Input::read).collect::<Result<_, _>>()?,
            };
            theirs.tick(&Inputs::confirmed(frame, &row, *present));
        }
        Ok(DesyncDiff { frame, differences: diff(&theirs, &ours) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::{Slot, State};

    #[derive(Debug, Clone, PartialEq, Eq, State)]
    struct Tally {
        sum: u32,
        last: u32,
    }

    impl Game for Tally {
        type Input = u8;

        fn tick(&mut self, inputs: &Inputs<'_, u8>) {
            self.last = u32::from(inputs.get(Slot::at(1)));
            self.sum += self.last;
        }
    }

    fn bundle() -> DesyncBundle {
        let theirs = (Frame::new(10), encode_state(&Tally { sum: 5, last: 0 }));
        let mut bundle = DesyncBundle::new(7, 2, theirs, (Frame::new(12), &Tally { sum: 99, last: 3 }));
        bundle.push(&[0u8, 2], SlotSet::first(2));
        bundle.push(&[0u8, 3], SlotSet::first(2));
        bundle
    }

    #[test]
    fn bundle_names_differing_fields() {
        let view = bundle().diff::<Tally>().expect("it is of this game");
        assert_eq!((view.frame, view.differences), (Frame::new(12), vec!["sum: 10 vs 99".to_owned()]));
    }

    #[test]
    fn bundle_matches_its_vector() {
        let vector = crate::packet::tests::hex(include_str!("../vectors/bundle.hex"));
        assert_eq!(bundle().encode(), vector);
    }

    #[test]
    fn presence_in_unknown_slots_is_rejected() {
        let mut crowded = bundle();
        crowded.rows[1].0 = SlotSet::first(3);
        assert!(matches!(
            DesyncBundle::decode(&crowded.encode()),
            Err(BundleError::Corrupt(DecodeError::OutOfRange { what: "slot present", value: 2, .. }))
        ));
    }

    #[test]
    fn bundle_rows_match_frames_and_slots() {
        let changed = |change: fn(&mut DesyncBundle)| {
            let mut bundle = bundle();
            change(&mut bundle);
            DesyncBundle::decode(&bundle.encode())
        };
        let too_many = |read, of| matches!(read, Err(BundleError::Corrupt(DecodeError::CountTooLarge { what, .. })) if what == of);
        assert!(changed(|_| {}).is_ok());
        assert!(too_many(changed(|bundle| bundle.local.0 = Frame::new(13)), "frames"));
        assert!(too_many(changed(|bundle| _ = bundle.rows.pop()), "frames"));
        // As many rows as there are frames between, but the remote state is the later one.
        let backwards = changed(|bundle| {
            bundle.local.0 = Frame::new(9);
            bundle.rows.clear();
        });
        assert!(too_many(backwards, "frames"));
        let crowded = changed(|bundle| {
            bundle.slots = 65;
            bundle.rows.iter_mut().for_each(|(_, row)| row.resize(65, 0));
        });
        assert!(too_many(crowded, "slots"));
    }

    #[test]
    fn bundles_round_trip_and_corruption_fails() {
        let bytes = bundle().encode();
        assert_eq!(DesyncBundle::decode(&bytes), Ok(bundle()));
        for length in 0..bytes.len() {
            assert!(DesyncBundle::decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
        }
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x10;
            assert!(DesyncBundle::decode(&damaged).is_err(), "byte {at} was damaged");
        }
    }
}
