//! The input delay that a player chose for each game, and what it costs. `Arcade` keeps it. Absent:
//! how sessions delay inputs.

/// Largest delay offered, in frames.
pub(crate) const DELAY_MAX: u32 = 8;
/// Most games whose delay is kept, and the longest name of one.
const GAMES: usize = 8;
const NAME_MAX: usize = 16;

/// Delays by game; a game without one has the delay that its network needs.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Delays {
    chosen: Vec<(String, u32)>,
}

impl Delays {
    /// Delays as they were [stored](Delays::kept). Invalid parts are left out.
    pub(crate) fn read(kept: &str) -> Delays {
        let read = |word: &str| {
            let (game, frames) = word.split_once(':')?;
            let frames = frames.parse().ok().filter(|frames| *frames <= DELAY_MAX)?;
            (game.len() <= NAME_MAX).then(|| (game.to_string(), frames))
        };
        Delays { chosen: kept.split(' ').take(GAMES).filter_map(read).collect() }
    }

    /// All of them as a text to store; none if there are none.
    pub(crate) fn kept(&self) -> Option<String> {
        let words: Vec<String> =
            self.chosen.iter().map(|(game, frames)| format!("{game}:{frames}")).collect();
        (!words.is_empty()).then(|| words.join(" "))
    }

    pub(crate) fn of(&self, game: &str) -> Option<u32> {
        self.chosen.iter().find(|(known, _)| known == game).map(|(_, frames)| *frames)
    }

    pub(crate) fn set(&mut self, game: &str, frames: Option<u32>) {
        self.chosen.retain(|(known, _)| known != game);
        self.chosen.extend(frames.map(|frames| (game.to_string(), frames)));
    }
}

/// The choice after this one: automatic, then 0 to the largest, and automatic again.
pub(crate) fn next(chosen: Option<u32>) -> Option<u32> {
    match chosen {
        None => Some(0),
        Some(frames) => Some(frames + 1).filter(|frames| *frames <= DELAY_MAX),
    }
}

/// A delay such as `5 frames`.
fn frames(count: u32) -> String {
    format!("{count} {}", if count == 1 { "frame" } else { "frames" })
}

/// The choice in words; `now` is the delay in effect.
pub(crate) fn words(chosen: Option<u32>, now: u32) -> String {
    match chosen {
        Some(count) => frames(count),
        None => format!("automatic, now {now}"),
    }
}

/// What a choice costs. `waits` is whether all wait for late inputs, instead of predicting them.
pub(crate) fn cost(chosen: Option<u32>, now: u32, waits: bool) -> String {
    let late = match chosen.unwrap_or(now) {
        0 => "Keys answer at once.".to_string(),
        count => format!("Keys answer {} ms later.", count * 1_000 / 60),
    };
    let price = match (chosen, waits) {
        (None, _) => "As much as the slowest line needs.",
        (Some(_), true) => "All wait where a line needs more.",
        (Some(_), false) => "Others jump where a line needs more.",
    };
    format!("{late} {price}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delay_is_kept_per_game() {
        let mut delays = Delays::read("gander:2 skein:5");
        assert_eq!((delays.of("gander"), delays.of("skein"), delays.of("drake")), (Some(2), Some(5), None));
        delays.set("skein", Some(0));
        delays.set("gander", None);
        assert_eq!(delays.kept().as_deref(), Some("skein:0"));
        delays.set("skein", None);
        assert_eq!(delays.kept(), None);
    }

    #[test]
    fn foreign_stored_delays_are_ignored() {
        for kept in ["", "skein", "skein:9", "skein:-1", &format!("{}:1", "x".repeat(99))] {
            assert_eq!(Delays::read(kept), Delays::default(), "{kept}");
        }
        assert!(Delays::read(&"a:1 ".repeat(1_000)).chosen.len() <= GAMES);
    }

    #[test]
    fn choice_goes_round_and_says_its_cost() {
        let mut seen = vec![None];
        while let Some(frames) = next(*seen.last().expect("one")) {
            seen.push(Some(frames));
        }
        assert_eq!(seen.len(), 10);
        assert_eq!(words(None, 5), "automatic, now 5");
        assert_eq!(cost(None, 6, true), "Keys answer 100 ms later. As much as the slowest line needs.");
        assert_eq!(cost(Some(0), 6, true), "Keys answer at once. All wait where a line needs more.");
    }
}
