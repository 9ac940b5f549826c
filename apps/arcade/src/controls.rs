//! Held keys, and the actions they stand for. `Arcade` feeds and reads it. Absent: keys of the
//! player's choice (`own_keys.rs`).

/// A key with a meaning outside of a match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Moves the focus up.
    Up,
    /// Moves the focus down.
    Down,
    /// Moves the focus left.
    Left,
    /// Moves the focus right.
    Right,
    /// Chooses the focused entry.
    Enter,
    /// Leads one screen back.
    Escape,
    /// Opens the help pages.
    Help,
    /// Switches sound on or off.
    Mute,
    /// Shows the network panel.
    Overlay,
}

impl Key {
    /// The meaning of a key, named as in `KeyboardEvent.code`.
    pub fn of(code: &str) -> Option<Key> {
        Some(match code {
            "ArrowUp" | "KeyW" => Key::Up,
            "ArrowDown" | "KeyS" => Key::Down,
            "ArrowLeft" | "KeyA" => Key::Left,
            "ArrowRight" | "KeyD" => Key::Right,
            "Enter" | "NumpadEnter" | "Space" => Key::Enter,
            "Escape" => Key::Escape,
            "Slash" | "KeyH" | "F1" => Key::Help,
            "KeyM" => Key::Mute,
            "F3" => Key::Overlay,
            _ => return None,
        })
    }
}

/// Buttons that one player holds, on any device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Held {
    /// Left is held.
    pub left: bool,
    /// Right is held.
    pub right: bool,
    /// Up is held.
    pub up: bool,
    /// Down is held.
    pub down: bool,
    /// Action button is held.
    pub action: bool,
    /// Second button is held, in games that have one.
    pub second: bool,
}

impl Held {
    /// Buttons held in either of two states.
    #[must_use]
    pub fn or(self, other: Held) -> Held {
        Held {
            left: self.left || other.left,
            right: self.right || other.right,
            up: self.up || other.up,
            down: self.down || other.down,
            action: self.action || other.action,
            second: self.second || other.second,
        }
    }
}

/// Everything held now, on keyboard, gamepads and touch screen.
#[derive(Debug, Clone, Default)]
pub struct Controls {
    held: Vec<String>,
    /// Keys pressed since the last read: a tap shorter than a frame still counts.
    tapped: Vec<String>,
    /// Buttons that gamepads and touch add for each of two players.
    added: [Held; 2],
    /// State of two gamepads at the last read, with the start button; none before the first read.
    pads: [Option<(Held, bool)>; 2],
}

impl Controls {
    /// Handles a key press. True if the key was up before.
    pub fn press(&mut self, code: &str) -> bool {
        // No person holds more keys at once; a faulty driver must not fill the memory.
        if self.held.len() >= 64 {
            self.held.clear();
        }
        let is_fresh = !self.held.iter().any(|held| held == code);
        if is_fresh {
            self.held.push(code.to_string());
            self.tapped.push(code.to_string());
        }
        is_fresh
    }

    /// Handles the repetition of a held key. It may have been pressed before this page had the
    /// keyboard focus, for another purpose.
    pub fn hold(&mut self, code: &str) {
        if self.press(code) {
            self.tapped.pop();
        }
    }

    /// A key went up.
    pub fn release(&mut self, code: &str) {
        self.held.retain(|held| held != code);
    }

    /// Releases everything, because the page lost the keyboard focus.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.tapped.clear();
        self.added = [Held::default(); 2];
    }

    /// Converts newly pressed gamepad buttons to keys. Buttons held at the first read were pressed
    /// for another purpose: to open this cabinet.
    pub fn press_pad(&mut self, player: usize, held: Held, start: bool) -> Vec<Key> {
        let (before, started) = self.pads[player].replace((held, start)).unwrap_or((held, start));
        let keys = [
            (Key::Up, held.up && !before.up),
            (Key::Down, held.down && !before.down),
            (Key::Left, held.left && !before.left),
            (Key::Right, held.right && !before.right),
            (Key::Enter, held.action && !before.action),
            (Key::Escape, start && !started),
        ];
        keys.into_iter().filter(|(_, is_new)| *is_new).map(|(key, _)| key).collect()
    }

    /// Sets the buttons that gamepads and touch hold for a player.
    pub fn set_added(&mut self, player: usize, held: Held) {
        self.added[player] = held;
    }

    /// Whether Shift is held.
    pub fn has_shift(&self) -> bool {
        self.held.iter().any(|code| code == "ShiftLeft" || code == "ShiftRight")
    }

    /// Buttons of each of two players: letters are the first one's, arrows the second one's. With
    /// one player all keys are its, and both Shift keys its second button if the game
    /// `has_second`.
    pub fn held(&mut self, two: bool, has_second: bool) -> [Held; 2] {
        let held = |codes: &[&str]| {
            codes.iter().any(|code| self.held.iter().chain(&self.tapped).any(|held| held == code))
        };
        let first = Held {
            left: held(&["KeyA"]),
            right: held(&["KeyD"]),
            up: held(&["KeyW"]),
            down: held(&["KeyS"]),
            action: held(&["Space"]),
            second: held(&["ShiftLeft", "KeyX"]),
        };
        let second = Held {
            left: held(&["ArrowLeft"]),
            right: held(&["ArrowRight"]),
            up: held(&["ArrowUp"]),
            down: held(&["ArrowDown"]),
            action: held(&["ShiftRight"]),
            second: held(&["KeyU"]),
        };
        let second = match two || !has_second {
            true => second,
            false => Held { second: second.second || second.action, action: false, ..second },
        };
        self.tapped.clear();
        let [first, second] = [first.or(self.added[0]), second.or(self.added[1])];
        if two { [first, second] } else { [first.or(second), Held::default()] }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tap_between_two_frames_counts_once() {
        let mut controls = Controls::default();
        assert!(controls.press("Space"));
        controls.release("Space");
        assert!(controls.held(false, false)[0].action);
        assert!(!controls.held(false, false)[0].action);
    }

    #[test]
    fn key_that_was_down_before_is_held_and_not_pressed() {
        let mut controls = Controls::default();
        controls.hold("Space");
        assert!(!controls.press("Space"), "it repeats");
        assert!(controls.held(false, false)[0].action);
        controls.release("Space");
        assert!(!controls.held(false, false)[0].action);
        assert!(controls.press("Space"));
    }

    #[test]
    fn gamepad_button_is_pressed_once() {
        let mut controls = Controls::default();
        let (down, action) = (true, true);
        let held = Held { down, action, ..Held::default() };
        assert_eq!(
            controls.press_pad(1, Held { down, ..Held::default() }, false),
            [],
            "held from the beginning"
        );
        assert_eq!(controls.press_pad(1, Held::default(), false), []);
        assert_eq!(controls.press_pad(1, held, false), [Key::Down, Key::Enter]);
        assert_eq!(controls.press_pad(1, held, true), [Key::Escape]);
        assert_eq!(controls.press_pad(1, held, true), []);
        controls.press_pad(0, Held::default(), false);
        assert_eq!(controls.press_pad(0, Held { down, ..Held::default() }, false), [Key::Down]);
    }

    #[test]
    fn two_players_share_one_keyboard_and_one_player_has_all_of_it() {
        let mut controls = Controls::default();
        controls.press("KeyA");
        controls.press("ArrowRight");
        let (left, right) = (Held { left: true, ..Held::default() }, Held { right: true, ..Held::default() });
        assert_eq!(controls.held(true, false), [left, right]);
        assert_eq!(controls.held(false, false), [left.or(right), Held::default()]);
        controls.release("ArrowRight");
        assert_eq!(controls.held(false, false)[0], left);
        assert!(!controls.press("KeyA"), "a key that repeats is not pressed again");
        controls.press("Space");
        controls.press("ShiftRight");
        assert!(controls.held(true, false).iter().all(|held| held.action), "each has a button");
    }

    #[test]
    fn second_button_has_keys_for_both_players() {
        for (code, two, presses) in [
            ("ShiftLeft", false, [true, false]),
            ("ShiftRight", false, [true, false]),
            ("KeyX", true, [true, false]),
            ("KeyU", true, [false, true]),
        ] {
            let mut controls = Controls::default();
            controls.press(code);
            let held = controls.held(two, true);
            assert_eq!((held.map(|held| held.second), held[0].action), (presses, false), "{code}");
        }
        let mut controls = Controls::default();
        controls.press("ShiftRight");
        assert!(controls.held(false, false)[0].action, "elsewhere right Shift is the button");
    }
}
