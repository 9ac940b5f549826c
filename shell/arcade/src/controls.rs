//! Which keys are held, and what that means to a goose.

use std::collections::BTreeSet;

use gander::Pad;

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
    /// Takes it.
    Enter,
    /// Back.
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

/// Everything held down right now, on keyboard, gamepads and glass.
#[derive(Debug, Clone, Default)]
pub struct Controls {
    held: BTreeSet<String>,
    /// Pressed since the last look: a tap shorter than a frame still counts.
    tapped: BTreeSet<String>,
    /// What gamepads and touch add to each of two players.
    added: [Pad; 2],
}

impl Controls {
    /// A key went down. Whether it was up before.
    pub fn press(&mut self, code: &str) -> bool {
        // Pages see hardly more keys at once; a stuck driver must not fill our memory.
        if self.held.len() >= 64 {
            self.held.clear();
        }
        self.tapped.insert(code.to_string());
        self.held.insert(code.to_string())
    }

    /// A key went up.
    pub fn release(&mut self, code: &str) {
        self.held.remove(code);
    }

    /// Nothing is held any more: the page lost the keyboard.
    pub fn release_all(&mut self) {
        self.held.clear();
        self.tapped.clear();
        self.added = [Pad::NONE; 2];
    }

    /// What gamepads and touch hold for a player.
    pub fn set_added(&mut self, player: usize, pad: Pad) {
        self.added[player] = pad;
    }

    /// What each of two players holds. Alone, all keys are the first player's.
    pub fn pads(&mut self, two: bool) -> [Pad; 2] {
        let held = |codes: &[&str]| {
            codes.iter().any(|code| self.held.contains(*code) || self.tapped.contains(*code))
        };
        let first = Pad {
            left: held(&["KeyA"]) || held(&["ArrowLeft"]),
            right: held(&["KeyD"]) || held(&["ArrowRight"]),
            flap: held(&["Space", "KeyW", "ArrowUp"]),
        };
        let second =
            Pad { left: held(&["KeyJ"]), right: held(&["KeyL"]), flap: held(&["KeyI", "ShiftRight"]) };
        let mut pads = if two { [first, second] } else { [join(first, second), Pad::NONE] };
        for (pad, added) in pads.iter_mut().zip(self.added) {
            *pad = join(*pad, added);
        }
        if !two {
            pads = [join(pads[0], pads[1]), Pad::NONE];
        }
        self.tapped.clear();
        pads
    }
}

fn join(a: Pad, b: Pad) -> Pad {
    Pad { left: a.left || b.left, right: a.right || b.right, flap: a.flap || b.flap }
}

/// Whatever either holds.
pub(crate) fn merge(a: Pad, b: Pad) -> Pad {
    Pad { left: a.left || b.left, right: a.right || b.right, flap: a.flap || b.flap }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tap_between_two_frames_counts_once() {
        let mut controls = Controls::default();
        assert!(controls.press("Space"));
        controls.release("Space");
        assert!(controls.pads(false)[0].flap);
        assert!(!controls.pads(false)[0].flap);
    }

    #[test]
    fn two_players_share_one_keyboard_and_one_player_has_all_of_it() {
        let mut controls = Controls::default();
        controls.press("KeyJ");
        controls.press("ArrowRight");
        assert_eq!(controls.pads(true), [Pad::RIGHT, Pad::LEFT]);
        controls.release("ArrowRight");
        assert_eq!(controls.pads(false)[0], Pad::LEFT);
        assert!(!controls.press("KeyJ"), "a key that repeats is not pressed again");
    }
}
