//! Replay files: saving, opening, seeking, links. `Arcade` calls it. Absent: the format
//! (`gaggle-timeline`).

use super::{Arcade, Screen};
use crate::{Key, Scrubber};

/// Frames an arrow key seeks in a replay: five seconds.
const JUMP_FRAMES: i64 = 300;

/// A file for the player to save.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// File name extension.
    pub kind: &'static str,
    /// Content of the file.
    pub bytes: Vec<u8>,
}

impl Arcade {
    pub(super) fn save_replay(&mut self) {
        let file = self.cabinet.replay_bytes();
        self.save("replay", file, "Saved. Drop the file on this page to see it again.");
    }

    /// Saves the desync bundle: states and inputs, for the developer of the game.
    pub(super) fn save_bundle(&mut self) {
        let file = self.shelf.bundle.take();
        self.save("desync", file, "Saved. The developers of this game can open it.");
    }

    /// Keeps the latest desync bundle until it is saved.
    pub(super) fn keep_bundle(&mut self) {
        self.shelf.bundle = self.cabinet.take_desync_bundle().or_else(|| self.shelf.bundle.take());
    }

    fn save(&mut self, kind: &'static str, bytes: Option<Vec<u8>>, done: &str) {
        let text = if bytes.is_some() { done } else { "Nothing to save here." };
        self.shelf.download = bytes.map(|bytes| Download { kind, bytes });
        self.toasts.push(None, text.to_string(), false);
    }

    /// Copies a link that shows a replay from the shown frame on. The file itself must be sent
    /// separately.
    pub(super) fn link_frame(&mut self) {
        if let Some((frame, _)) = self.replay_position() {
            self.copy(&format!("frame={frame}"));
        }
    }

    /// Opens a replay that was dropped on the page.
    pub fn open_replay(&mut self, bytes: Vec<u8>) {
        match self.cabinet.open_tape(bytes, self.params.frame.unwrap_or(0)) {
            Ok(()) => {
                self.params.frame = None;
                if self.screen != Screen::Menu {
                    self.go_home();
                }
                if let Some(damage) = self.cabinet.tape().and_then(|tape| tape.damage().map(str::to_string)) {
                    self.toasts.push(None, damage, true);
                }
                self.listen_anew();
                self.screen = Screen::Replay;
            }
            Err(words) => self.toasts.push(None, words, true),
        }
    }

    /// Shown frame and last frame of the open replay.
    pub fn replay_position(&mut self) -> Option<(u32, u32)> {
        self.cabinet.tape().map(|tape| tape.position())
    }

    pub(super) fn wind(&mut self, key: Key) {
        if key == Key::Mute {
            self.turn_sound();
        }
        if key == Key::Escape {
            self.cabinet.close_tape();
            self.go_home();
        }
        let Some(tape) = self.cabinet.tape() else { return };
        match key {
            Key::Left => tape.jump(-JUMP_FRAMES),
            Key::Right => tape.jump(JUMP_FRAMES),
            Key::Up => tape.jump(1),
            Key::Down => tape.jump(-1),
            Key::Enter => tape.toggle(),
            Key::Mute | Key::Escape | Key::Help | Key::Overlay => {}
        }
    }

    /// A click on the bar seeks there, and a drag continues; a click elsewhere pauses or resumes.
    pub(super) fn scrub(&mut self, finger: i32, x: i32, y: i32) {
        let Some(tape) = self.cabinet.tape() else { return };
        match Scrubber::new(self.view).frame_at(x, y, tape.position().1) {
            Some(frame) => {
                tape.jump_to(frame);
                self.scrubs = Some(finger);
            }
            None => tape.toggle(),
        }
    }
}
