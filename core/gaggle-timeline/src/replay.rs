//! A match as a file: what everybody did, who was there, and states to begin from in between.
//!
//! [`Recorder`] writes it frame by frame while the match runs, [`Replay`] reads it, [`Playback`] shows any frame of it. The file is a
//! row of chunks, each with its length and a hash, so whatever was written before a crash or before some damage still plays.

mod chunk;
mod player;
mod reader;
mod recorder;

pub use player::{Divergence, Playback};
pub(crate) use reader::read_present;
pub use reader::{Damage, Replay, ReplayError, ReplayInfo};
pub use recorder::{Recorder, RecorderConfig};

#[cfg(test)]
mod tests {
    use gaggle_kit::{Frame, Prng, Slot, SlotSet, State, state_hash};

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
            for slot in inputs.slots() {
                self.total = self.total.wrapping_mul(31) + u64::from(inputs.get(slot));
            }
            self.present += inputs.slots().len() as u32;
        }
    }

    const CONFIG: RecorderConfig = RecorderConfig { key_interval_frames: 100, chunk_frames: 30 };

    fn info() -> ReplayInfo {
        ReplayInfo { game_fingerprint: 77, frames_per_second: 60, slots: 3 }
    }

    /// A match of 1,000 frames in which somebody comes and goes; the file, and the hash of every state.
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
    fn a_recorded_match_plays_and_verifies() {
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
    fn any_frame_is_reached_from_a_state_nearby() {
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

    #[test]
    fn everything_before_a_cut_or_a_damage_plays() {
        let (bytes, hashes) = record();
        let mut shortest = u32::MAX;
        for cut in (0..bytes.len()).step_by(7) {
            match Replay::<Sum>::read(&bytes[..cut], 77) {
                Ok(replay) => {
                    let last = replay.last_frame().number();
                    shortest = shortest.min(last);
                    let mut playback = replay.play();
                    playback.seek(replay.last_frame());
                    assert_eq!(state_hash(playback.game()), hashes[last as usize]);
                    assert!(replay.damage().is_some(), "a cut at {cut} was not noticed");
                }
                Err(error) => assert!(cut < 80, "{cut}: {error}"),
            }
        }
        assert_eq!(shortest, 0, "a file that ends after its head has its first state");
    }

    #[test]
    fn a_flipped_bit_is_noticed_where_it_is() {
        let (bytes, hashes) = record();
        let mut rng = Prng::new(3);
        for _ in 0..500 {
            let mut damaged = bytes.clone();
            let at = rng.below(bytes.len() as u32) as usize;
            damaged[at] ^= 1 << rng.below(8);
            let Ok(replay) = Replay::<Sum>::read(&damaged, 77) else { continue };
            let damage = replay.damage().expect("every bit is covered");
            assert!(damage.at_byte <= at, "flipped at {at}, noticed at {}", damage.at_byte);
            let mut playback = replay.play();
            playback.seek(replay.last_frame());
            assert_eq!(state_hash(playback.game()), hashes[replay.last_frame().number() as usize]);
        }
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        let (bytes, _) = record();
        let refused = |bytes: &[u8], game| Replay::<Sum>::read(bytes, game).map(|_| ()).unwrap_err();
        assert_eq!(refused(b"hello, this is a letter", 77), ReplayError::NotAReplay);
        assert_eq!(refused(&bytes, 78), ReplayError::OtherGame { theirs: 77, ours: 78 });
        let mut newer = bytes.clone();
        newer[7] = 9;
        assert_eq!(refused(&newer, 77), ReplayError::OtherVersion { theirs: 9, ours: 1 });
        assert_eq!(ReplayError::NotAReplay.to_string(), "this is not a replay");
    }

    #[test]
    fn nobody_is_present_in_slots_the_match_does_not_have() {
        // The head of a match of three, then one frame in which a fourth is there; everything else is as it should be.
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
            let damage = replay.damage().expect("somebody is there who cannot be");
            let told = format!("{:?}", damage.why);
            assert!(replay.last_frame() == Frame::START && told.contains("slot present"), "{told}");
        }
    }

    #[test]
    fn a_game_that_has_changed_is_told_from_a_damaged_file() {
        /// The same state, another rule.
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
