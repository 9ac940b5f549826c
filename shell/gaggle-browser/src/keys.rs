//! State of the keyboard between two displayed frames.
//!
//! Used by `page.rs` and read by games. Absent: events of the browser.

/// Keys held at once; more means that some are stuck.
#[cfg(any(target_arch = "wasm32", test))]
const KEYS_MAX: usize = 64;

/// Keys of a page, named as in `KeyboardEvent.code`: `ArrowLeft`, `Space`, `KeyA`.
#[derive(Debug, Clone, Default)]
pub struct KeyState {
    held: Vec<String>,
    /// Keys pressed since the last displayed frame.
    pressed: Vec<String>,
}

impl KeyState {
    /// Whether a key is held, or was for a moment since the last displayed frame.
    pub fn is_down(&self, code: &str) -> bool {
        has(&self.held, code) || self.pressed(code)
    }

    /// Whether a key was pressed since the last displayed frame, even if it is released again.
    pub fn pressed(&self, code: &str) -> bool {
        has(&self.pressed, code)
    }

    /// A key was pressed. Keyboards repeat it while it is held.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(crate) fn down(&mut self, code: String) {
        if !has(&self.held, &code) && self.held.len() < KEYS_MAX {
            if !has(&self.pressed, &code) && self.pressed.len() < KEYS_MAX {
                self.pressed.push(code.clone());
            }
            self.held.push(code);
        }
    }

    /// A key was released.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(crate) fn up(&mut self, code: &str) {
        self.held.retain(|held| held != code);
    }

    /// The game has read the keys: resets presses.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(crate) fn seen(&mut self) {
        self.pressed.clear();
    }

    /// The page has lost the keyboard focus: releases all keys.
    #[cfg(any(target_arch = "wasm32", test))]
    pub(crate) fn let_go(&mut self) {
        self.held.clear();
        self.pressed.clear();
    }
}

fn has(keys: &[String], code: &str) -> bool {
    keys.iter().any(|key| key == code)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn held_key_is_pressed_in_one_frame_only() {
        let mut keys = KeyState::default();
        let mut frames = Vec::new();
        for _ in 0..3 {
            keys.down("Space".to_string());
            frames.push((keys.pressed("Space"), keys.is_down("Space")));
            keys.seen();
        }
        assert_eq!(frames, [(true, true), (false, true), (false, true)]);
        keys.up("Space");
        assert!(!keys.is_down("Space"));
        keys.down("Space".to_string());
        assert!(keys.pressed("Space"), "it was released in between");
    }

    #[test]
    fn tap_between_two_frames_is_pressed_and_held_in_one() {
        let mut keys = KeyState::default();
        keys.down("KeyA".to_string());
        keys.up("KeyA");
        assert!(keys.pressed("KeyA") && keys.is_down("KeyA"));
        keys.seen();
        assert!(!keys.pressed("KeyA") && !keys.is_down("KeyA"));
    }

    #[test]
    fn keys_are_up_without_keyboard_focus() {
        let mut keys = KeyState::default();
        keys.down("KeyA".to_string());
        keys.let_go();
        assert!(!keys.pressed("KeyA") && !keys.is_down("KeyA"));
    }
}
