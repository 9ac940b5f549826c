//! Parameters in the page's address, for tests and experiments. `Opening` has them. Absent: their
//! effect.

use std::ops::RangeInclusive;
use std::str::FromStr;

use gaggle::RoomCode;
use gaggle::link::Path;
use gaggle::link::sim::Conditions;

use crate::HAS_LOBBY;
use crate::delay::DELAY_MAX;

/// Parsed parameters. Invalid ones are left out and reported in [`Params::complaints`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Params {
    /// Impairment of this page's network: the page delays its packets by half of `latency`, so that
    /// it is the round trip if every page uses it.
    pub conditions: Conditions,
    /// The cabinet to open.
    pub game: Option<String>,
    /// The only permitted path of links.
    pub path: Option<Path>,
    /// Number of local bots.
    pub bots: u8,
    /// Lives in a match that begins here; in drake, rounds needed to win.
    pub lives: Option<u8>,
    /// The wave to begin with.
    pub level: Option<u16>,
    /// The seed of a match that begins here.
    pub seed: Option<u64>,
    /// Seed of a match that begins here.
    pub room: Option<RoomCode>,
    /// Room to play in at once.
    pub watch: Option<RoomCode>,
    /// Input delay in frames, instead of the player's choice.
    pub delay: Option<u32>,
    /// Frame at which a replay is opened.
    pub frame: Option<u32>,
    /// Invalid parameters as text.
    pub complaints: Vec<String>,
}

/// Most bots that fit beside one player.
const BOTS_MAX: u8 = 3;

impl Params {
    /// Parameters and their explanations, as the page lists them.
    pub const EXPLAINED: [(&str, &str); 10] = [
        ("latency=100", "a round trip of 100 ms, if every page has it"),
        ("jitter=20  loss=3", "ms more or less, packets in a hundred"),
        ("path=relay", "or direct, or socket: the only way to take"),
        ("bots=3", "so many bots play along here"),
        ("seed=7", "the same chance every time"),
        ("lives=1  level=9", "a short match, a late wave"),
        ("room=BCDFGH", "into this room; watch=BCDFGH only looks on"),
        ("delay=5", "in skein: frames until keys answer"),
        ("frame=600", "where a replay begins"),
        ("game=drake", "which cabinet is on"),
    ];

    /// Parses the query of an address.
    pub fn parse(query: &str) -> Params {
        let mut params = Params::default();
        let mut impairment = Vec::new();
        for pair in query.trim_start_matches('?').split('&').filter(|pair| !pair.is_empty()).take(32) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let complaint = match name {
                "latency" | "jitter" | "loss" | "burst" => {
                    impairment.push((name, value));
                    None
                }
                "game" => {
                    let name = value.chars().filter(char::is_ascii_alphanumeric).take(16).collect();
                    take(&mut params.game, Ok(name))
                }
                "path" => take(&mut params.path, path(value)),
                "bots" => match value.parse::<u8>() {
                    Ok(bots) if bots <= BOTS_MAX => {
                        params.bots = bots;
                        None
                    }
                    _ => Some("0 to 3"),
                },
                "lives" => take(&mut params.lives, within(value, 1..=9).ok_or("1 to 9")),
                "level" => take(&mut params.level, within(value, 1..=99).ok_or("1 to 99")),
                "seed" => take(&mut params.seed, value.parse().ok().ok_or("a number")),
                "delay" if HAS_LOBBY => take(&mut params.delay, within(value, 0..=DELAY_MAX).ok_or("0 to 8")),
                "frame" => take(&mut params.frame, value.parse().ok().ok_or("a number")),
                "room" => take(&mut params.room, value.parse().ok().ok_or("six letters")),
                "watch" => take(&mut params.watch, value.parse().ok().ok_or("six letters")),
                _ => None,
            };
            if let Some(wanted) = complaint {
                params.complain(name, value, wanted);
            }
        }
        params.impair(&impairment);
        params
    }

    /// The query for a player that is now in another room, or in none, and plays another game if
    /// one is given: other parameters stay.
    pub fn moved(query: &str, game: Option<&str>, to: Option<&str>) -> String {
        let mut moved = String::new();
        if let Some(game) = game {
            moved.push_str("game=");
            moved.push_str(game);
        }
        for pair in query.trim_start_matches('?').split('&').chain(to) {
            let is_place = ["room=", "watch=", "frame="].iter().any(|name| pair.starts_with(name));
            let is_other_game = game.is_some() && pair.starts_with("game=");
            if pair.is_empty() || is_place && Some(pair) != to || is_other_game {
                continue;
            }
            if !moved.is_empty() {
                moved.push('&');
            }
            moved.push_str(pair);
        }
        moved
    }

    /// Parses each setting separately, so that an invalid one does not affect the others.
    fn impair(&mut self, settings: &[(&str, &str)]) {
        let mut good = Vec::new();
        for &setting in settings {
            match Conditions::from_settings([setting]) {
                Ok(_) => good.push(setting),
                Err(error) => self.complain(setting.0, setting.1, error.expected),
            }
        }
        self.conditions = Conditions::from_settings(good).unwrap_or_default();
    }

    fn complain(&mut self, name: &str, value: &str, wanted: &str) {
        let value: String = value.chars().filter(|letter| letter.is_ascii_graphic()).take(12).collect();
        self.complaints.push(format!("{name}={value} makes no sense here: {wanted}, please."));
    }

    /// Whether matches that begin here differ from normal ones: their results do not count.
    pub fn is_trial(&self) -> bool {
        self.bots > 0 || self.lives.is_some() || self.level.is_some()
    }

    /// Removes all parameters that make matches not count.
    pub fn end_trial(&mut self) {
        (self.bots, self.lives, self.level) = (0, None, None);
    }

    /// Whether links should be impaired.
    pub fn is_impaired(&self) -> bool {
        self.conditions != Conditions::default()
    }
}

fn take<T>(place: &mut Option<T>, value: Result<T, &'static str>) -> Option<&'static str> {
    match value {
        Ok(value) => {
            *place = Some(value);
            None
        }
        Err(wanted) => Some(wanted),
    }
}

fn within<T: FromStr + PartialOrd>(value: &str, range: RangeInclusive<T>) -> Option<T> {
    value.parse().ok().filter(|number| range.contains(number))
}

fn path(value: &str) -> Result<Path, &'static str> {
    Path::ALL.into_iter().find(|path| path.to_string() == value).ok_or("direct, relay or socket")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn address_parameters_are_applied() {
        let params = Params::parse(
            "?latency=120&jitter=20&loss=3&path=relay&bots=2&seed=7&room=bcdfgh&delay=3&unknown=1",
        );
        assert_eq!(params.conditions.latency.as_millis(), 60, "each page delays by half");
        assert_eq!((params.path, params.bots, params.seed), (Some(Path::Relay), 2, Some(7)));
        assert_eq!(params.delay, Some(3));
        assert_eq!(params.room.map(|code| code.to_string()).as_deref(), Some("BCDFGH"));
        assert!(params.is_impaired() && params.complaints.is_empty(), "{:?}", params.complaints);
    }

    #[test]
    fn address_names_room_and_game() {
        let asked = "?latency=100&watch=BCDFGH&seed=7";
        assert_eq!(Params::moved(asked, None, Some("room=JKLMNP")), "latency=100&seed=7&room=JKLMNP");
        assert_eq!(Params::moved(asked, None, None), "latency=100&seed=7");
        assert_eq!(Params::moved("?room=BCDFGH", None, None), "");
        let other = Params::moved("?seed=7&game=gander&room=BCDFGH", Some("drake"), Some("room=JKLMNP"));
        assert_eq!(other, "game=drake&seed=7&room=JKLMNP");
    }

    #[test]
    fn invalid_parameters_are_reported_and_others_applied() {
        let params = Params::parse(
            "latency=-1&loss=900&bots=99&path=pigeon&seed=x&room=AEIOUY&lives=0&level=70000&delay=9&jitter=5&=&&%00",
        );
        assert_eq!(params.complaints.len(), 9, "{:?}", params.complaints);
        assert_eq!(params.conditions.jitter.as_millis(), 5);
        assert_eq!((params.bots, params.room), (0, None));
        let endless = "latency=".repeat(100_000);
        assert!(Params::parse(&endless).complaints.iter().all(|line| line.len() < 120));
    }
}
