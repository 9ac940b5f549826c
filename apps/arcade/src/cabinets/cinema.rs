//! A shown replay of a game on a timeline: play, pause, seek. Cabinets own it. Absent: the bar
//! (`scrubber.rs`).

use gaggle::timeline::{Replay, ReplayError};
use gaggle::{Frame, Game};

use crate::cabinet::Tape;

/// Simulation steps per second.
const FRAMES_PER_SECOND: u32 = 60;
/// Frames that are simulated at once.
const REEL_FRAMES: u32 = 60;

/// A game whose replays are shown.
pub(super) trait Shown: Game + Copy {
    /// Number that distinguishes versions of its rules.
    const FINGERPRINT: u64;

    /// The wave or stage; 0 before the first.
    fn level(&self) -> u16;

    /// How often the player of each slot fell so far.
    fn falls(&self) -> Vec<u16>;
}

/// A replay that is shown.
#[derive(Debug)]
pub(super) struct Cinema<G> {
    bytes: Vec<u8>,
    game: G,
    before: G,
    frame: u32,
    last: u32,
    /// States around the shown frame, one per frame, and the number of the first frame: the file is
    /// read once for all of them.
    reel: (u32, Vec<G>),
    running: bool,
    /// Damage of the file as text.
    damage: Option<String>,
    /// Frames at which a wave begins.
    waves: Vec<(u32, u16)>,
    /// Frames in which a player was unseated, with its slot.
    falls: Vec<(u32, usize)>,
}

impl<G: Shown> Cinema<G> {
    /// Opens a file and shows a frame of it.
    ///
    /// # Errors
    /// The reason why no part of it can be shown, as text.
    pub(super) fn open(bytes: Vec<u8>, frame: u32) -> Result<Cinema<G>, String> {
        let replay = Replay::<G>::read(&bytes, G::FINGERPRINT).map_err(|error| words(&error))?;
        let (last, damage) = (replay.last_frame().number(), replay.damage());
        let mut playback = replay.play();
        let (mut waves, mut falls) = (Vec::new(), Vec::new());
        let mut wave = 0;
        let mut fallen = playback.game().falls();
        loop {
            let now = playback.game().falls();
            for (seat, (now, before)) in now.iter().zip(&fallen).enumerate() {
                if now > before {
                    falls.push((playback.frame().number(), seat));
                }
            }
            fallen = now;
            let number = playback.game().level();
            if number != wave && number > 0 {
                waves.push((playback.frame().number(), number));
                wave = number;
            }
            if !playback.step() {
                break;
            }
        }
        let damage = damage.map(|damage| {
            let seconds = damage.valid_through.number() / FRAMES_PER_SECOND;
            format!("The file is damaged after {}:{:02}. What is before plays.", seconds / 60, seconds % 60)
        });
        let (game, reel) = (*replay.play().game(), (0, Vec::new()));
        let mut cinema =
            Cinema { game, before: game, frame: 0, last, reel, running: true, damage, waves, falls, bytes };
        cinema.jump_to(frame);
        Ok(cinema)
    }

    /// Simulates the part of the match that contains this frame.
    fn wind_to(&mut self, frame: u32) {
        let Ok(replay) = Replay::<G>::read(&self.bytes, G::FINGERPRINT) else { return };
        let first = frame - frame % REEL_FRAMES;
        let mut playback = replay.play();
        playback.seek(Frame::new(first));
        self.reel = (first, vec![*playback.game()]);
        while self.reel.1.len() < REEL_FRAMES as usize && playback.step() {
            self.reel.1.push(*playback.game());
        }
    }

    fn state_at(&self, frame: u32) -> Option<G> {
        let (first, states) = &self.reel;
        states.get(frame.checked_sub(*first)? as usize).copied()
    }

    pub(super) fn states(&self) -> (&G, &G) {
        (&self.game, &self.before)
    }

    /// Advances one frame, if it is running.
    pub(super) fn step(&mut self) {
        if self.running && self.frame < self.last {
            let before = self.game;
            self.jump_to(self.frame + 1);
            self.before = before;
        } else {
            self.running = false;
            self.before = self.game;
        }
    }
}

impl<G: Shown> Tape for Cinema<G> {
    fn position(&self) -> (u32, u32) {
        (self.frame, self.last)
    }

    fn running(&self) -> bool {
        self.running
    }

    fn levels(&self) -> &[(u32, u16)] {
        &self.waves
    }

    fn falls(&self) -> &[(u32, usize)] {
        &self.falls
    }

    fn damage(&self) -> Option<&str> {
        self.damage.as_deref()
    }

    /// At the end it restarts.
    fn toggle(&mut self) {
        self.running = !self.running;
        if self.running && self.frame == self.last {
            self.jump_to(0);
        }
    }

    fn jump(&mut self, frames: i64) {
        let target = (i64::from(self.frame) + frames).clamp(0, i64::from(self.last));
        self.jump_to(target as u32);
    }

    fn jump_to(&mut self, frame: u32) {
        let frame = frame.min(self.last);
        if self.state_at(frame).is_none() {
            self.wind_to(frame);
        }
        if let Some(game) = self.state_at(frame) {
            (self.game, self.before, self.frame) = (game, game, frame);
        }
    }
}

fn words(error: &ReplayError) -> String {
    match error {
        ReplayError::GameMismatch { .. } => {
            "This replay is from another fen: other rules than ours.".to_string()
        }
        ReplayError::VersionMismatch { theirs, ours } => {
            format!("This replay is from another fen (version {theirs}, we fly {ours}).")
        }
        ReplayError::NotAReplay => "That is no replay.".to_string(),
        _ => "The beginning of this replay is damaged, so none of it plays.".to_string(),
    }
}

#[cfg(test)]
mod tests {
    use gaggle::kit::SlotSet;
    use gaggle::timeline::{Inputs, Recorder, RecorderConfig, ReplayInfo};
    use gander::bots::{Bot, Strength};
    use gander::{Gander, Pad, SEATS, Setup};

    use super::*;

    fn half_a_minute() -> Vec<u8> {
        match_of(Setup::default(), Bot::new(0, Strength::Sharp, 1))
    }

    fn match_of(setup: Setup, mut bot: Bot) -> Vec<u8> {
        let game = Gander::new(setup, 3);
        let info = ReplayInfo { game_fingerprint: gander::FINGERPRINT, tick_rate: 60, slots: SEATS as u8 };
        let mut recorder = Recorder::new(&game, info, RecorderConfig::default());
        for frame in 1..=1800 {
            let mut pads = [Pad::NONE; SEATS];
            pads[0] = bot.play(recorder.game());
            recorder.record(&Inputs::confirmed(Frame::new(frame), &pads, SlotSet::from_bits(1)));
        }
        recorder.finish()
    }

    #[test]
    fn replay_plays_and_seeks() {
        let mut cinema = Cinema::<Gander>::open(half_a_minute(), 0).unwrap();
        assert_eq!((cinema.position(), cinema.damage()), ((0, 1800), None));
        assert_eq!(cinema.levels().first().map(|wave| wave.1), Some(1));
        (0..100).for_each(|_| cinema.step());
        assert_eq!((cinema.position().0, cinema.states().0.frame, cinema.states().1.frame), (100, 100, 99));
        cinema.jump(300);
        let there = *cinema.states().0;
        cinema.jump_to(1800);
        cinema.step();
        assert!(!cinema.running(), "the end is the end");
        cinema.jump_to(400);
        assert_eq!(*cinema.states().0, there, "the same frame is the same picture");
        cinema.jump(-10_000);
        assert_eq!(cinema.position().0, 0);
    }

    #[test]
    fn it_is_known_who_fell_when() {
        let setup = Setup { first_wave: 30, ..Setup::default() };
        let mut cinema =
            Cinema::<Gander>::open(match_of(setup, Bot::new(0, Strength::Steady, 1)), 0).unwrap();
        let falls = cinema.falls().to_vec();
        assert!(!falls.is_empty(), "no player fell");
        for (frame, seat) in falls {
            let fallen = [frame - 1, frame].map(|frame| {
                cinema.jump_to(frame);
                cinema.states().0.players[seat].tally.falls
            });
            assert_eq!(fallen[1], fallen[0] + 1, "at {frame}");
        }
    }

    #[test]
    fn bad_files_are_told_in_words() {
        let good = half_a_minute();
        let cut = Cinema::<Gander>::open(good[..good.len() * 2 / 3].to_vec(), 5_000).unwrap();
        assert!(cut.damage().unwrap().contains("What is before plays"));
        assert!(cut.position().1 > 600);
        let mut other = good.clone();
        other[20] ^= 1;
        for bytes in [Vec::new(), vec![0; 100], other, b"not a replay at all".to_vec()] {
            let error = Cinema::<Gander>::open(bytes, 0).unwrap_err();
            assert!(error.ends_with('.'), "{error}");
        }
    }
}
