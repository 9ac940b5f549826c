//! Keys of the player's choice, in addition to the standard keys. `Arcade` asks it for each key.
//! Absent: actions of keys.

use crate::cabinet::About;

/// Standard keys in the order in which they are [stored](OwnKeys::kept): left, right, up, down and
/// the button, of the first player and then of a second one; then the second button of both.
const KNOWN: [&str; 12] = [
    "KeyA",
    "KeyD",
    "KeyW",
    "KeyS",
    "Space",
    "ArrowLeft",
    "ArrowRight",
    "ArrowUp",
    "ArrowDown",
    "ShiftRight",
    "KeyX",
    "KeyU",
];
/// Actions that each player has in front of the second buttons.
const FIRST_ACTIONS: usize = 5;
/// Keys whose meaning is fixed.
const RESERVED: [&str; 4] = ["Enter", "NumpadEnter", "F3", "Escape"];
/// Longer than the name of any key.
const CODE_MAX: usize = 32;

/// Keys chosen by the local player.
#[derive(Debug, Default)]
pub(crate) struct OwnKeys {
    /// Chosen keys, and the index in [`KNOWN`] of the key each stands for.
    keys: Vec<(String, usize)>,
    /// The action that is being asked for, counted from the first that the game uses.
    asked: Option<usize>,
}

impl OwnKeys {
    /// Keys as they were [stored](OwnKeys::kept). Invalid parts are left out.
    pub(crate) fn read(kept: &str) -> OwnKeys {
        let read = |word: &str| {
            let (nth, code) = word.split_once(':')?;
            let nth = nth.parse().ok().filter(|nth| *nth < KNOWN.len())?;
            (code.len() <= CODE_MAX && !RESERVED.contains(&code)).then(|| (code.to_string(), nth))
        };
        OwnKeys { keys: kept.split(' ').take(KNOWN.len()).filter_map(read).collect(), asked: None }
    }

    /// All of them as a text to store; none if there are none.
    pub(crate) fn kept(&self) -> Option<String> {
        let words: Vec<String> = self.keys.iter().map(|(code, nth)| format!("{nth}:{code}")).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The standard key that this one stands for, if it was chosen.
    pub(crate) fn stands_for(&self, code: &str) -> Option<&'static str> {
        self.keys.iter().find(|(own, _)| own == code).map(|(_, nth)| KNOWN[*nth])
    }

    /// Begins to ask for the keys of a game.
    pub(crate) fn ask(&mut self) {
        self.asked = Some(0);
    }

    /// Stops asking. Chosen keys stay.
    pub(crate) fn stop(&mut self) {
        self.asked = None;
    }

    /// The current question.
    pub(crate) fn asked(&self, about: &About) -> Option<String> {
        let nth = self.asked?;
        let (_, what) = about.own_keys[nth % about.own_keys.len()];
        let second = if nth < about.own_keys.len() { "" } else { ", second player" };
        Some(format!("Your key for {what}{second}?"))
    }

    /// Whether a key is being asked for.
    pub(crate) fn is_asking(&self) -> bool {
        self.asked.is_some()
    }

    /// Handles an answer. True if it changed a key, which must be stored at once.
    pub(crate) fn answer(&mut self, code: &str, about: &About) -> bool {
        let Some(nth) = self.asked else { return false };
        let count = about.own_keys.len();
        let known = |nth: usize| match (about.own_keys[nth % count].0, nth / count) {
            (action, player) if action < FIRST_ACTIONS => action + FIRST_ACTIONS * player,
            (action, player) => action + FIRST_ACTIONS + player,
        };
        let next = Some(nth + 1).filter(|next| *next < count * about.players_here.clamp(1, 2));
        match code {
            "Escape" => self.asked = None,
            "Enter" | "NumpadEnter" => self.asked = next,
            "Backspace" => {
                *self = OwnKeys::default();
                return true;
            }
            _ if RESERVED.contains(&code) || code.len() > CODE_MAX => {}
            // One key cannot have two meanings: the latest choice stays.
            _ if (0..nth).any(|before| {
                self.keys.iter().any(|key| (key.0.as_str(), key.1) == (code, known(before)))
            }) => {}
            _ => {
                let known = known(nth);
                self.keys.retain(|(own, nth)| own != code && *nth != known);
                self.keys.push((code.to_string(), known));
                self.asked = next;
                return true;
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cabinets::{drake, gander, millpond, skein};

    fn answered(codes: &[&str], about: &About) -> (OwnKeys, usize) {
        let mut keys = OwnKeys::default();
        keys.ask();
        let changes = codes.iter().filter(|code| keys.answer(code, about)).count();
        (keys, changes)
    }

    #[test]
    fn keys_in_use_are_asked_for_and_kept_one_by_one() {
        let about = &millpond::ABOUT;
        let (mut keys, changes) = answered(&["KeyQ", "KeyQ", "F3", "KeyE"], about);
        assert_eq!(
            (changes, keys.asked(about).as_deref()),
            (2, Some("Your key for rowing?")),
            "a key counts once"
        );
        assert_eq!(
            (keys.stands_for("KeyQ"), keys.stands_for("KeyE")),
            (Some("KeyA"), Some("KeyD")),
            "at once"
        );
        assert_eq!(keys.kept().as_deref(), Some("0:KeyQ 1:KeyE"));
        assert!(!keys.answer("Enter", about), "the next, and this one as it was");
        assert!(!keys.answer("Escape", about));
        assert_eq!(
            (keys.is_asking(), keys.stands_for("KeyE")),
            (false, Some("KeyD")),
            "what was chosen stays"
        );
        assert_eq!(OwnKeys::read(&keys.kept().unwrap()).keys, keys.keys);
        assert_eq!(OwnKeys::default().kept(), None);
        // A second round changes one of them and leaves the other.
        keys.ask();
        assert!(keys.answer("KeyF", about));
        assert_eq!((keys.stands_for("KeyQ"), keys.stands_for("KeyF")), (None, Some("KeyA")));
        assert_eq!(keys.stands_for("KeyE"), Some("KeyD"));
    }

    #[test]
    fn game_asks_only_for_keys_it_has_use_for() {
        for (about, count) in
            [(&drake::ABOUT, 4), (&millpond::ABOUT, 5), (&gander::ABOUT, 6), (&skein::ABOUT, 12)]
        {
            let codes: Vec<String> = (0..count).map(|nth| format!("Digit{nth}")).collect();
            let codes: Vec<&str> = codes.iter().map(String::as_str).collect();
            let (keys, changes) = answered(&codes[..count - 1], about);
            assert_eq!((changes, keys.is_asking()), (count - 1, true), "{}", about.name);
            let (mut keys, changes) = answered(&codes, about);
            assert_eq!((changes, keys.is_asking()), (count, false), "{}", about.name);
            let mut known: Vec<_> = codes.iter().filter_map(|code| keys.stands_for(code)).collect();
            known.sort_unstable();
            known.dedup();
            assert_eq!(known.len(), count, "{}", about.name);
            keys.ask();
            assert!(keys.answer("Backspace", about));
            assert_eq!((keys.is_asking(), keys.stands_for("Digit0")), (false, None), "as they came");
        }
        let (keys, _) = answered(&["KeyF", "KeyG", "KeyV", "KeyT", "KeyY", "KeyB"], &gander::ABOUT);
        let known = ["KeyF", "KeyG", "KeyV", "KeyT", "KeyY", "KeyB"].map(|code| keys.stands_for(code));
        assert_eq!(known, ["KeyA", "KeyD", "Space", "ArrowLeft", "ArrowRight", "ShiftRight"].map(Some));
    }

    #[test]
    fn foreign_stored_keys_are_ignored() {
        let long = format!("1:{}", "x".repeat(100));
        for kept in ["", " ", "0", "99:KeyA", "-1:KeyA", "0:Escape", &long, &"0:KeyA ".repeat(1_000)] {
            let keys = OwnKeys::read(kept);
            assert!(keys.keys.len() <= KNOWN.len());
            assert_eq!(keys.stands_for("Escape"), None);
        }
    }
}
