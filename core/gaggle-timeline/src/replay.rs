//! A match as a file: inputs, presence, and keyframes to begin from.
//!
//! [`Recorder`] writes it while the match runs, [`Replay`] reads it, [`Playback`] shows any frame.
//! The file is a sequence of chunks, each with a length and a hash, so everything before a crash or
//! corruption can be played. Absent: files, sessions.

mod chunk;
mod player;
mod reader;
mod recorder;

pub use player::{Divergence, Playback};
pub(crate) use reader::read_present;
pub use reader::{Corruption, Replay, ReplayError, ReplayInfo};
pub use recorder::{Recorder, RecorderConfig};

#[cfg(test)]
mod tests {
    use gaggle_kit::{Frame, Prng, Slot, SlotSet, State, compress, encode_state, state_hash};

    use super::*;
    use crate::{Game, Inputs};

    #[derive(Clone, Debug, Default, PartialEq, Eq, State)]
    struct Sum {
        total: u64,
        present: u32,
    }

    impl Game for Sum {
        type Input = u16;

        fn tick(&mut self, inputs: &Inputs<'_, u16>) {
            for slot in inputs.present_slots() {
                self.total = self.total.wrapping_mul(31) + u64::from(inputs.get(slot));
            }
            self.present += inputs.present_slots().len() as u32;
        }
    }

    const CONFIG: RecorderConfig = RecorderConfig { keyframe_interval_frames: 100, chunk_frames: 30 };

    fn info() -> ReplayInfo {
        ReplayInfo { game_fingerprint: 77, tick_rate: 60, slots: 3 }
    }

    /// A match of 1,000 frames in which a player joins and leaves: the file, and the hash of every
    /// state.
    fn record() -> (Vec<u8>, Vec<u64>) {
        let mut recorder = Recorder::new(&Sum::default(), info(), CONFIG);
        let mut rng = Prng::new(5);
        let (mut row, mut hashes) = ([0u16; 3], vec![state_hash(&Sum::default())]);
        for frame in 1..=1_000 {
            if rng.below(8) == 0 {
                row[rng.below(3) as usize] = rng.below(65_536) as u16;
            }
            let present = SlotSet::first(if (300..600).contains(&frame) { 3 } else { 2 });
            recorder.record(&Inputs::confirmed(Frame::new(frame), &row, present));
            hashes.push(state_hash(recorder.game()));
        }
        (recorder.finish(), hashes)
    }

    #[test]
    fn recorded_match_plays_and_verifies() {
        let (bytes, hashes) = record();
        let replay = Replay::<Sum>::read(&bytes, 77).unwrap();
        assert_eq!((replay.last_frame(), replay.damage()), (Frame::new(1_000), None));
        assert_eq!(replay.info(), info());
        assert_eq!(replay.verify(), Ok(()));
        let mut playback = replay.play();
        for hash in &hashes {
            assert_eq!(state_hash(playback.game()), *hash, "{}", playback.frame());
            playback.step();
        }
        assert!(!playback.step(), "the end is the end");
        assert!(bytes.len() < 3_000, "{} bytes for 1,000 frames", bytes.len());
    }

    #[test]
    fn replay_matches_its_vector() {
        let config = RecorderConfig { keyframe_interval_frames: 4, chunk_frames: 2 };
        let mut recorder = Recorder::new(&Sum::default(), info(), config);
        let rows = [[5_u16, 0, 0], [5, 300, 0], [5, 300, 0], [6, 300, 9], [6, 300, 9]];
        let present = [0b001, 0b011, 0b011, 0b111, 0b101];
        for (number, (row, present)) in (1..).zip(rows.iter().zip(present)) {
            let present = SlotSet::from_bits(present);
            recorder.record(&Inputs::confirmed(Frame::new(number), row, present));
        }
        let bytes = recorder.finish();
        assert_eq!(crate::packet::tests::hex(include_str!("../vectors/replay.hex")), bytes);
        assert_eq!(Replay::<Sum>::read(&bytes, 77).unwrap().verify(), Ok(()));
    }

    #[test]
    fn any_frame_is_reached_from_near_keyframe() {
        let (bytes, hashes) = record();
        let replay = Replay::<Sum>::read(&bytes, 77).unwrap();
        let mut playback = replay.play();
        let mut rng = Prng::new(9);
        for _ in 0..200 {
            let frame = rng.below(1_001);
            let ticks = playback.seek(Frame::new(frame));
            assert!(ticks <= 100, "{ticks} ticks to {frame}");
            assert_eq!(state_hash(playback.game()), hashes[frame as usize], "frame {frame}");
        }
        playback.seek(Frame::new(5_000));
        assert_eq!(playback.frame(), Frame::new(1_000));
    }

    /// Position of a chunk in a file.
    struct Piece {
        kind: u8,
        start: usize,
        end: usize,
        /// Last frame that can be played if this chunk is intact.
        plays: u32,
    }

    impl Piece {
        fn content<'a>(&self, file: &'a [u8]) -> &'a [u8] {
            &file[self.start + 5..self.end - 4]
        }
    }

    /// All chunks of an intact file.
    fn pieces(file: &[u8]) -> Vec<Piece> {
        let number = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().unwrap());
        let (mut pieces, mut start, mut plays) = (vec![], 8, 0);
        while start < file.len() {
            let (kind, end) = (file[start], start + 9 + number(start + 1) as usize);
            if kind == chunk::FRAMES {
                plays = number(start + 5) + u32::from(file[start + 9]);
            }
            pieces.push(Piece { kind, start, end, plays });
            start = end;
        }
        pieces
    }

    /// The file with one chunk replaced and its hash recomputed.
    fn replaced(file: &[u8], piece: &Piece, content: &[u8]) -> Vec<u8> {
        let mut other = file[..piece.start].to_vec();
        chunk::write(&mut other, piece.kind, content);
        other.extend_from_slice(&file[piece.end..]);
        other
    }

    /// Asserts that a file is intact up to the `broken`th chunk, is reported so, and plays up to
    /// there.
    fn expect_whole_up_to(file: &[u8], broken: usize, pieces: &[Piece], hashes: &[u64]) {
        let replay = Replay::<Sum>::read(file, 77).expect("its head is whole");
        let Corruption { byte_offset: at_byte, valid_through: after, .. } =
            replay.damage().expect("no byte may be missing or another");
        let last = pieces[broken - 1].plays;
        assert_eq!((at_byte, after, replay.last_frame()), (pieces[broken].start, Frame::new(last), after));
        let mut playback = replay.play();
        playback.seek(Frame::NEVER);
        assert_eq!((playback.frame(), state_hash(playback.game())), (after, hashes[last as usize]));
    }

    #[test]
    fn truncated_replay_plays_up_to_cut() {
        let (bytes, hashes) = record();
        let pieces = pieces(&bytes);
        assert_eq!((pieces.len(), pieces[pieces.len() - 1].plays), (1 + 40 + 10 + 1, 1_000));
        for cut in 0..bytes.len() {
            match pieces.iter().position(|piece| piece.end > cut) {
                Some(0) => assert!(Replay::<Sum>::read(&bytes[..cut], 77).is_err(), "{cut} bytes"),
                broken => expect_whole_up_to(&bytes[..cut], broken.unwrap(), &pieces, &hashes),
            }
        }
    }

    #[test]
    fn flipped_bit_is_located_and_replay_plays_up_to_it() {
        let (bytes, hashes) = record();
        let pieces = pieces(&bytes);
        for at in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            match pieces.iter().position(|piece| piece.end > at) {
                Some(0) => assert!(Replay::<Sum>::read(&damaged, 77).is_err(), "byte {at}"),
                broken => expect_whole_up_to(&damaged, broken.unwrap(), &pieces, &hashes),
            }
        }
    }

    #[test]
    fn sealed_wrong_state_is_intact_but_fails_to_verify() {
        let (bytes, hashes) = record();
        let pieces = pieces(&bytes);
        let verified = |file: &[u8]| {
            let replay = Replay::<Sum>::read(file, 77).expect("well sealed");
            assert_eq!((replay.damage(), replay.last_frame()), (None, Frame::new(1_000)));
            replay.verify()
        };
        for piece in pieces.iter().filter(|piece| piece.kind == chunk::KEY) {
            let content = piece.content(&bytes);
            assert_eq!(verified(&replaced(&bytes, piece, content)), Ok(()));
            let frame = Frame::new(piece.plays);
            let mut other = content.to_vec();
            other[4] ^= 1;
            assert_eq!(verified(&replaced(&bytes, piece, &other)), Err(Divergence { frame }));
            let unreadable = replaced(&bytes, piece, &content[..content.len() - 1]);
            assert_eq!(verified(&unreadable), Err(Divergence { frame }));
            // The frame can still be shown, simulated from the start.
            let replay = Replay::<Sum>::read(&unreadable, 77).unwrap();
            let mut playback = replay.play();
            playback.seek(Frame::NEVER);
            playback.seek(frame);
            assert_eq!(state_hash(playback.game()), hashes[piece.plays as usize]);
        }
        for piece in pieces.iter().filter(|piece| piece.kind == chunk::FRAMES) {
            let mut other = piece.content(&bytes).to_vec();
            other[5] ^= 1;
            let parted = Err(Divergence { frame: Frame::new(piece.plays) });
            assert_eq!(verified(&replaced(&bytes, piece, &other)), parted);
        }
        // A jump back to the beginning uses the next keyframe, too.
        let mut early = bytes[..pieces[0].end].to_vec();
        let content = [&0u32.to_le_bytes()[..], &encode_state(&Sum { total: 1, present: 0 })].concat();
        chunk::write(&mut early, chunk::KEY, &content);
        early.extend_from_slice(&bytes[pieces[0].end..]);
        assert_eq!(verified(&early), Err(Divergence { frame: Frame::START }));
    }

    /// Many objects that differ little.
    #[derive(Clone, Debug, State)]
    struct Flock([u32; 500]);

    impl Game for Flock {
        type Input = u16;

        fn tick(&mut self, inputs: &Inputs<'_, u16>) {
            let nth = usize::from(inputs.get(Slot::at(0))) % self.0.len();
            self.0[nth] += 1;
        }
    }

    #[test]
    fn repetitive_states_are_compressed_and_checked() {
        let mut recorder = Recorder::new(&Flock([7; 500]), info(), CONFIG);
        for frame in 1..=1_000u32 {
            let row = [frame as u16 / 20, 0, 0];
            recorder.record(&Inputs::confirmed(Frame::new(frame), &row, SlotSet::first(1)));
        }
        let (last, file) = (state_hash(recorder.game()), recorder.finish());
        let pieces = pieces(&file);
        let keys: Vec<_> = pieces.iter().filter(|piece| piece.kind == chunk::PACKED_KEY).collect();
        let key_bytes: usize = keys.iter().map(|piece| piece.end - piece.start).sum();
        assert!(keys.len() == 10 && key_bytes * 5 < 10 * 2_000, "{key_bytes} bytes in {} keys", keys.len());

        let replay = Replay::<Flock>::read(&file, 77).unwrap();
        assert_eq!((replay.damage(), replay.verify()), (None, Ok(())));
        let mut playback = replay.play();
        assert_eq!(playback.seek(Frame::new(1_000)), 0, "it begins from the last state");
        assert_eq!(state_hash(playback.game()), last);

        // Truncated, a repetition of missing bytes, of the wrong size, and far larger than any
        // state.
        let frame = 1_000u32.to_le_bytes();
        let of = |state: &[u8]| {
            let mut content = frame.to_vec();
            compress(state, &mut content);
            content
        };
        let nonsense: [Vec<u8>; 4] = [
            keys[9].content(&file)[..20].to_vec(),
            [&frame[..], &[0x00, 0xff, 0xff]].concat(),
            of(&[0; 1_999]),
            of(&vec![0; 100 << 20]),
        ];
        for content in &nonsense {
            let file = replaced(&file, keys[9], content);
            let replay = Replay::<Flock>::read(&file, 77).unwrap();
            assert_eq!(replay.verify(), Err(Divergence { frame: Frame::new(1_000) }));
            let mut playback = replay.play();
            assert_eq!(playback.seek(Frame::new(1_000)), 1_000, "the start is what is left");
            assert_eq!(state_hash(playback.game()), last);
        }
    }

    #[test]
    fn foreign_files_are_rejected_with_reason() {
        let (bytes, _) = record();
        let refused = |bytes: &[u8], game| Replay::<Sum>::read(bytes, game).map(|_| ()).unwrap_err();
        assert_eq!(refused(b"hello, this is a letter", 77), ReplayError::NotAReplay);
        assert_eq!(refused(&bytes, 78), ReplayError::GameMismatch { theirs: 77, ours: 78 });
        let mut newer = bytes.clone();
        newer[7] = 9;
        assert_eq!(refused(&newer, 77), ReplayError::VersionMismatch { theirs: 9, ours: 1 });
        assert_eq!(
            ReplayError::NotAReplay.to_string(),
            "this is not a replay; give the bytes of a recorded match"
        );
    }

    #[test]
    fn presence_in_slots_beyond_match_is_rejected() {
        // The header of a match of three slots, then one frame in which a fourth is present; all
        // else is valid.
        let bytes = Recorder::new(&Sum::default(), info(), CONFIG).finish();
        let end = bytes.len() - (1 + 4 + 4 + 4);
        let played = |present: u64| {
            let (frame, count, hash) = (0u32.to_le_bytes(), [1u8], [0u8; 8]);
            let mut file = bytes[..end].to_vec();
            let content = [&frame[..], &count, &hash, &[1], &present.to_le_bytes()].concat();
            chunk::write(&mut file, chunk::FRAMES, &content);
            chunk::write(&mut file, chunk::END, &1u32.to_le_bytes());
            file
        };
        let file = played(0b111);
        let replay = Replay::<Sum>::read(&file, 77).expect("three are there");
        assert_eq!((replay.last_frame(), replay.damage()), (Frame::new(1), None));
        for present in [0b1000, 1 << 63, u64::MAX] {
            let file = played(present);
            let replay = Replay::<Sum>::read(&file, 77).expect("as far as it is whole");
            let damage = replay.damage().expect("a player is present that cannot be");
            let told = format!("{:?}", damage.reason);
            assert!(replay.last_frame() == Frame::START && told.contains("slot present"), "{told}");
        }
    }

    #[test]
    fn changed_game_is_told_from_corrupt_file() {
        /// The same state with another rule.
        #[derive(Clone, Debug, Default, State)]
        struct Changed(Sum);
        impl Game for Changed {
            type Input = u16;
            fn tick(&mut self, inputs: &Inputs<'_, u16>) {
                self.0.tick(inputs);
                self.0.total += u64::from(inputs.get(Slot::at(0)) > 60_000);
            }
        }
        let (bytes, _) = record();
        let replay = Replay::<Changed>::read(&bytes, 77).unwrap();
        assert_eq!(replay.damage(), None);
        let divergence = replay.verify().unwrap_err();
        assert!(divergence.frame > Frame::START && divergence.frame <= Frame::new(1_000), "{divergence}");
    }
}
