//! Games of a server, from the `[games]` tables of the file.
//!
//! `config.rs` calls it. Absent: meaning of the rules (`gaggle-lobby`).

use std::collections::BTreeMap;

use gaggle_lobby::Label;
use gaggle_lobby::rules::{GameRules, ModeConfig};

/// Games on offer, by name.
#[derive(Debug, Clone, Default)]
pub struct Games(BTreeMap<Label, GameRules>);

impl Games {
    /// The games as lobby rules.
    pub fn rules(&self) -> BTreeMap<Label, GameRules> {
        self.0.clone()
    }

    /// Adds a mode of a game.
    pub fn add(&mut self, game: Label, mode: Label, rules: ModeConfig) {
        self.0.entry(game).or_default().modes.insert(mode, rules);
    }

    /// Whether any mode has a referee.
    pub(crate) fn has_referee(&self) -> bool {
        self.0.values().flat_map(|game| game.modes.values()).any(|mode| mode.referee)
    }

    pub(super) fn read(value: &toml::Value) -> Result<Games, String> {
        let mut games = Games::default();
        for (name, game) in table(value, "games")? {
            let game_label = label(name)?;
            for (part, modes) in table(game, name)? {
                if part != "modes" {
                    return Err(format!("[games.{name}] has no `{part}`: it has `modes`"));
                }
                for (mode, rules) in table(modes, "modes")? {
                    let place = format!("[games.{name}.modes.{mode}]");
                    let rules =
                        read_mode(table(rules, &place)?).map_err(|text| format!("{place}: {text}"))?;
                    // The mode `default` is the one of clients that name none.
                    let mode = if mode == "default" { Label::default() } else { label(mode)? };
                    games.add(game_label.clone(), mode, rules);
                }
            }
        }
        Ok(games)
    }
}

fn read_mode(fields: &toml::Table) -> Result<ModeConfig, String> {
    let mut rules = ModeConfig::default();
    if let Some(players) = fields.get("players") {
        let players = number(players, "players", 2, 64)?;
        (rules.players_default, rules.players_min, rules.players_max) = (players, players, players);
    }
    for (name, value) in fields {
        match name.as_str() {
            "players" => {}
            "players_min" => rules.players_min = number(value, name, 2, 64)?,
            "players_max" => rules.players_max = number(value, name, 2, 64)?,
            "drop_in" => rules.drop_in = flag(value, name)?,
            "skill" => rules.skill = flag(value, name)?,
            "referee" => rules.referee = flag(value, name)?,
            "score_min" => rules.score_min = number(value, name, i64::MIN, i64::MAX)?,
            "score_max" => rules.score_max = number(value, name, i64::MIN, i64::MAX)?,
            "score_per_second_max" => {
                rules.score_per_second_max = Some(number(value, name, 1, i64::from(u32::MAX))?);
            }
            "level_max" => rules.level_max = number(value, name, 1, i64::from(u32::MAX))?,
            "seats" | "seats_min" | "seats_max" => {
                return Err(format!(
                    "there is no `{name}`: it is now `{}`",
                    name.replace("seats", "players")
                ));
            }
            other => {
                return Err(format!(
                    "there is no `{other}`: valid are players, players_min, players_max, drop_in, skill, \
                     referee, score_min, score_max, score_per_second_max, level_max"
                ));
            }
        }
    }
    if !(rules.players_min..=rules.players_max).contains(&rules.players_default) {
        return Err("players must lie between players_min and players_max".into());
    }
    if rules.score_min > rules.score_max {
        let (min, max) = (rules.score_min, rules.score_max);
        return Err(format!("score_min is {min} and score_max {max}: no score lies between them"));
    }
    Ok(rules)
}

fn label(text: &str) -> Result<Label, String> {
    text.parse().map_err(|error| format!("`{text}`: {error}"))
}

fn table<'a>(value: &'a toml::Value, place: &str) -> Result<&'a toml::Table, String> {
    value.as_table().ok_or_else(|| format!("`{place}` must be a table"))
}

fn flag(value: &toml::Value, name: &str) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("`{name}` must be true or false"))
}

fn number<T: TryFrom<i64>>(value: &toml::Value, name: &str, min: i64, max: i64) -> Result<T, String> {
    let number = value.as_integer().filter(|number| (min..=max).contains(number));
    let number = number.and_then(|number| T::try_from(number).ok());
    number.ok_or_else(|| format!("`{name}` must be a whole number from {min} to {max}"))
}
