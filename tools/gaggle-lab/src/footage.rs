//! States that pictures show: of a match of bots, played as far as needed, or of a replay file.
//!
//! Called by `contact_sheet.rs`, `frame_picture.rs` and `main.rs`. Absent: pictures.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use gaggle_kit::{Frame, SlotSet};
use gaggle_timeline::{Inputs, Recorder, RecorderConfig, Replay, ReplayInfo};
use gander::{FINGERPRINT, Gander, SEATS};

use crate::bot_match::{BotMatch, MatchOptions};

/// Options of a recording.
#[derive(Args)]
pub(crate) struct Options {
    #[command(flatten)]
    played: MatchOptions,
    /// Most frames; the match can end before
    #[arg(long, default_value_t = 7200)]
    frames: u32,
    /// Replay file to write
    #[arg(long, short, default_value = "match.replay")]
    out: PathBuf,
}

/// Plays a match of bots and writes its replay.
pub(crate) fn record(options: &Options) -> Result<String, String> {
    let mut played = BotMatch::new(&options.played);
    let info = ReplayInfo { game_fingerprint: FINGERPRINT, tick_rate: 60, slots: SEATS as u8 };
    let mut recorder = Recorder::new(&played.game, info, RecorderConfig::default());
    let present = SlotSet::first(usize::from(options.played.players));
    while played.game.frame < options.frames && !played.over() {
        let pads = played.step();
        recorder.record(&Inputs::confirmed(Frame::new(played.game.frame), &pads, present));
    }
    assert_eq!(*recorder.game(), played.game, "the recorder differs from the match");
    let bytes = recorder.finish();
    fs::write(&options.out, &bytes).map_err(|error| format!("{}: {error}", options.out.display()))?;
    Ok(format!("{}: {} frames in {} bytes", options.out.display(), played.game.frame, bytes.len()))
}

/// Source of states.
pub(crate) enum Footage {
    /// A match of bots.
    Bots(Box<BotMatch>),
    /// All states of a replay.
    Replay(Vec<Gander>),
}

impl Footage {
    /// The replay, if one is given, else the match.
    pub(crate) fn open(replay: Option<&Path>, played: &MatchOptions) -> Result<Footage, String> {
        let Some(path) = replay else { return Ok(Footage::Bots(Box::new(BotMatch::new(played)))) };
        let said = |error: &dyn std::fmt::Display| format!("{}: {error}", path.display());
        let bytes = fs::read(path).map_err(|error| said(&error))?;
        let replay = Replay::<Gander>::read(&bytes, FINGERPRINT).map_err(|error| said(&error))?;
        replay.verify().map_err(|error| said(&error))?;
        let mut playback = replay.play();
        let mut states = vec![*playback.game()];
        while playback.step() {
            states.push(*playback.game());
        }
        Ok(Footage::Replay(states))
    }

    /// States of a frame and of the one before it; the last ones, if the match ends earlier.
    pub(crate) fn at(&mut self, frame: u32) -> (Gander, Gander) {
        match self {
            Footage::Bots(played) => {
                played.run_to(frame);
                (played.game, played.before)
            }
            Footage::Replay(states) => {
                let last = (frame as usize).min(states.len() - 1);
                (states[last], states[last.saturating_sub(1)])
            }
        }
    }

    /// Whether `frame` is the last one or later.
    pub(crate) fn ends_at(&self, frame: u32) -> bool {
        match self {
            Footage::Bots(played) => played.over(),
            Footage::Replay(states) => frame as usize + 1 >= states.len(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bot_match::Skill;

    #[test]
    fn recorded_match_shows_same_frames() {
        let played = MatchOptions {
            seed: 3,
            players: 2,
            skill: Skill::Steady,
            versus: false,
            endless: false,
            wave: 4,
        };
        let out = std::env::temp_dir().join(format!("gaggle-lab-{}.replay", std::process::id()));
        record(&Options { played: played.clone(), frames: 900, out: out.clone() }).unwrap();
        let mut replay = Footage::open(Some(&out), &played).unwrap();
        let mut bots = Footage::open(None, &played).unwrap();
        for frame in [1, 250, 899] {
            assert_eq!(replay.at(frame), bots.at(frame), "frame {frame}");
        }
        let bytes = fs::read(&out).unwrap();
        fs::write(&out, &bytes[..40]).unwrap();
        assert!(Footage::open(Some(&out), &played).is_err(), "a truncated replay was read");
        fs::remove_file(&out).unwrap();
    }
}
