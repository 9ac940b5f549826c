//! Which keys are held, and what that means to a player.

/// A key that means something outside of a game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Key {
    /// Moves the choice.
    Up,
    /// Moves the choice.
    Down,
    /// Moves the choice.
    Left,
    /// Moves the choice.
    Right,
    /// Takes the chosen entry.
    Enter,
    /// Leads one screen back.
    Escape,
    /// How to play.
    Help,
    /// Sound on or off.
    Mute,
    /// What the network does.
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

/// What one player holds, on whatever it is.
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
}

impl Held {
    /// Whatever either holds.
    #[must_use]
    pub fn or(self, other: Held) -> Held {
        Held {
            left: self.left || other.left,
            right: self.right || other.right,
            up: self.up || other.up,
            down: self.down || other.down,
            action: self.action || other.action,
        }
    }
}

/// Everything held down right now, on keyboard, gamepads and glass.
#[derive(Debug, Clone, Default)]
pub struct Controls {
    held: Vec<String>,
    /// Pressed since the last look: a tap shorter than a frame still counts.
    tapped: Vec<String>,
    /// What gamepads and touch add to each of two players.
    added: [Held; 2],
    /// What two gamepads held at the last look, and whether start was down; none before the first
    /// look.
    pads: [Option<(Held, bool)>; 2],
}

impl Controls {
    /// A key went down. Whether it was up before.
    pub fn press(&mut self, code: &str) -> bool {
        // Pages see hardly more keys at once; a stuck driver must not fill our memory.
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

    /// A key says by itself that it is still down. It may have gone down before this page had the
    /// keyboard, for something else.
    pub fn hold(&mut self, code: &str) {
        if self.press(code) {
            self.tapped.pop();
        }
    }

    /// A key went up.
    pub fn release(&mut self, code: &str) {
        self.held.retain(|held| held != code);
    }

    /// Nothing is held any more: the page lost the keyboard.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.tapped.clear();
        self.added = [Held::default(); 2];
    }

    /// What a gamepad holds now: the keys that what was not held before stands for. What is held at
    /// the first look was pressed for something else: to switch this cabinet on.
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

    /// What gamepads and touch hold for a player.
    pub fn set_added(&mut self, player: usize, held: Held) {
        self.added[player] = held;
    }

    /// Whether Shift is held.
    pub fn has_shift(&self) -> bool {
        self.held.iter().any(|code| code == "ShiftLeft" || code == "ShiftRight")
    }

    /// What each of two players holds: letters are the first one's, arrows the second one's. Alone,
    /// all keys are the first player's.
    pub fn held(&mut self, two: bool) -> [Held; 2] {
        let held = |codes: &[&str]| {
            codes.iter().any(|code| self.held.iter().chain(&self.tapped).any(|held| held == code))
        };
        let first = Held {
            left: held(&["KeyA"]),
            right: held(&["KeyD"]),
            up: held(&["KeyW"]),
            down: held(&["KeyS"]),
            action: held(&["Space"]),
        };
        let second = Held {
            left: held(&["ArrowLeft"]),
            right: held(&["ArrowRight"]),
            up: held(&["ArrowUp"]),
            down: held(&["ArrowDown"]),
            action: held(&["ShiftRight"]),
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
    fn a_tap_between_two_frames_counts_once() {
        let mut controls = Controls::default();
        assert!(controls.press("Space"));
        controls.release("Space");
        assert!(controls.held(false)[0].action);
        assert!(!controls.held(false)[0].action);
    }

    #[test]
    fn a_key_that_was_down_before_is_held_and_not_pressed() {
        let mut controls = Controls::default();
        controls.hold("Space");
        assert!(!controls.press("Space"), "it repeats");
        assert!(controls.held(false)[0].action);
        controls.release("Space");
        assert!(!controls.held(false)[0].action);
        assert!(controls.press("Space"));
    }

    #[test]
    fn a_button_of_a_gamepad_is_a_key_once() {
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
        assert_eq!(controls.held(true), [left, right]);
        assert_eq!(controls.held(false), [left.or(right), Held::default()]);
        controls.release("ArrowRight");
        assert_eq!(controls.held(false)[0], left);
        assert!(!controls.press("KeyA"), "a key that repeats is not pressed again");
        controls.press("Space");
        controls.press("ShiftRight");
        assert!(controls.held(true).iter().all(|held| held.action), "each has a button");
    }
}
