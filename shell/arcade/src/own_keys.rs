//! Keys of a player's own choice: which key stands for which of those the games know. What the games know goes on working.

/// What can be chosen, in the order it is asked for: the key the games know, and what it is called. The first player's, then a second one's.
const KNOWN: [(&str, &str); 10] = [
    ("ArrowLeft", "left"),
    ("ArrowRight", "right"),
    ("ArrowUp", "up"),
    ("ArrowDown", "down"),
    ("Space", "the button"),
    ("KeyJ", "left, second player"),
    ("KeyL", "right, second player"),
    ("KeyI", "up, second player"),
    ("KeyK", "down, second player"),
    ("ShiftRight", "the button, second player"),
];
/// Keys that always mean what they mean.
const RESERVED: [&str; 4] = ["Enter", "NumpadEnter", "F3", "Escape"];
/// Longer than the name of any key.
const CODE_MAX: usize = 32;

/// The keys of whoever plays here.
#[derive(Debug, Default)]
pub(crate) struct OwnKeys {
    /// Keys, and which of [`KNOWN`] each stands for.
    keys: Vec<(String, usize)>,
    /// Which is asked for, and those chosen so far.
    asked: Option<(usize, Vec<(String, usize)>)>,
}

impl OwnKeys {
    /// As they were [kept](OwnKeys::kept). Whatever is wrong with that is left out.
    pub(crate) fn read(kept: &str) -> OwnKeys {
        let read = |word: &str| {
            let (nth, code) = word.split_once(':')?;
            let nth = nth.parse().ok().filter(|nth| *nth < KNOWN.len())?;
            (code.len() <= CODE_MAX && !RESERVED.contains(&code)).then(|| (code.to_string(), nth))
        };
        OwnKeys { keys: kept.split(' ').take(KNOWN.len()).filter_map(read).collect(), asked: None }
    }

    /// All of them as a text to keep; none if there are none.
    pub(crate) fn kept(&self) -> Option<String> {
        let words: Vec<String> = self.keys.iter().map(|(code, nth)| format!("{nth}:{code}")).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    /// The key the games know that this one stands for, if somebody chose it.
    pub(crate) fn stands_for(&self, code: &str) -> Option<&'static str> {
        self.keys.iter().find(|(own, _)| own == code).map(|(_, nth)| KNOWN[*nth].0)
    }

    /// Begins to ask for all of them.
    pub(crate) fn ask(&mut self) {
        self.asked = Some((0, Vec::new()));
    }

    /// Stops asking, and leaves everything as it was.
    pub(crate) fn stop(&mut self) {
        self.asked = None;
    }

    /// What is asked for.
    pub(crate) fn asked(&self) -> Option<&'static str> {
        self.asked.as_ref().map(|(nth, _)| KNOWN[*nth].1)
    }

    /// An answer, of so many players at one machine. Whether that was the last one, so that they can be kept.
    pub(crate) fn answer(&mut self, code: &str, players: usize) -> bool {
        let Some((nth, chosen)) = &mut self.asked else { return false };
        match code {
            "Escape" => self.asked = None,
            "Backspace" => {
                *self = OwnKeys::default();
                return true;
            }
            _ if RESERVED.contains(&code) || code.len() > CODE_MAX => {}
            // One key cannot mean two things.
            _ if chosen.iter().any(|(own, _)| own == code) => {}
            _ => {
                chosen.push((code.to_string(), *nth));
                *nth += 1;
                if *nth == KNOWN.len() / 2 * players.clamp(1, 2) {
                    self.keys = std::mem::take(chosen);
                    self.asked = None;
                    return true;
                }
            }
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(codes: &[&str], players: usize) -> (OwnKeys, usize) {
        let mut keys = OwnKeys::default();
        keys.ask();
        let ends = codes.iter().filter(|code| keys.answer(code, players)).count();
        (keys, ends)
    }

    #[test]
    fn five_keys_are_asked_for_one_by_one_and_kept() {
        let (mut keys, ends) = answered(&["KeyQ", "KeyQ", "Enter", "KeyE", "Digit2", "KeyS"], 1);
        assert_eq!((ends, keys.asked()), (0, Some("the button")), "a key counts once, and Enter is Enter");
        assert_eq!(keys.stands_for("KeyQ"), None, "not before all are chosen");
        assert!(keys.answer("KeyP", 1));
        assert_eq!(keys.asked(), None);
        let known = ["KeyQ", "KeyE", "Digit2", "KeyS", "KeyP"].map(|code| keys.stands_for(code));
        assert_eq!(known, ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", "Space"].map(Some));
        let again = OwnKeys::read(&keys.kept().unwrap());
        assert_eq!(again.keys, keys.keys);
        assert_eq!(OwnKeys::default().kept(), None);
    }

    #[test]
    fn two_players_choose_ten_and_escape_or_backspace_end_it() {
        let codes = ["A", "B", "C", "D", "E", "F", "G", "H", "I", "J"];
        let (mut keys, ends) = answered(&codes, 2);
        assert_eq!((ends, keys.stands_for("J")), (1, Some("ShiftRight")));
        keys.ask();
        assert!(!keys.answer("Escape", 2));
        assert_eq!((keys.asked(), keys.stands_for("A")), (None, Some("ArrowLeft")), "as before");
        keys.ask();
        assert!(keys.answer("Backspace", 2));
        assert_eq!((keys.asked(), keys.stands_for("A")), (None, None), "as they came");
    }

    #[test]
    fn what_was_kept_by_somebody_else_does_no_harm() {
        let long = format!("1:{}", "x".repeat(100));
        for kept in ["", " ", "0", "99:KeyA", "-1:KeyA", "0:Escape", &long, &"0:KeyA ".repeat(1_000)] {
            let keys = OwnKeys::read(kept);
            assert!(keys.keys.len() <= KNOWN.len());
            assert_eq!(keys.stands_for("Escape"), None);
        }
    }
}
