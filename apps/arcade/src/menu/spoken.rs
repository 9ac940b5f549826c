//! The menu as text, for screen readers: the focused entry and its effect. `Menu` calls it. Absent:
//! drawing.

use super::{CODE_LENGTH, Choice, Menu, MenuFacts};
use crate::pen::grouped;

impl Menu {
    /// The focused entry in a sentence or two.
    pub fn words(&self, facts: &MenuFacts<'_>) -> String {
        match self.focus {
            Choice::Play => format!("Play. Enter flies at once. {}", self.about_rooms(facts)),
            Choice::Cabinet(nth) => match self.games.get(nth) {
                Some(game) => format!("{game}. Enter switches it on."),
                None => "No cabinet.".to_string(),
            },
            Choice::Mode => {
                let modes = self.game.modes;
                let (mode, next) = (modes[self.mode].0, modes[(self.mode + 1) % modes.len()].0);
                match mode == next {
                    true => format!("Mode: {mode}."),
                    false => format!("Mode: {mode}. Enter changes to {next}."),
                }
            }
            Choice::PlayTwo => "Two players at one keyboard.".to_string(),
            Choice::Private => "Play with friends, in a room found by its code only.".to_string(),
            Choice::Palette => {
                let colors = ["blue", "yellow", "pink", "green"];
                format!("Your color: {}. Enter changes it.", colors[self.palette % colors.len()])
            }
            Choice::Name => {
                let best =
                    facts.best.map_or(String::new(), |best| format!(" Best {}.", grouped(i64::from(best))));
                format!("Your name: {}. Type to change it, Enter keeps it.{best}", self.name())
            }
            Choice::Room(nth) | Choice::Watch(nth) => match facts.rooms.get(nth) {
                Some(room) => {
                    let code = spelled(&room.code);
                    let how = if room.open { "Enter joins, W watches" } else { "Enter watches" };
                    format!(
                        "Room {code}, {}, {} of {} seats taken. {how}.",
                        room.mode, room.players, room.seats
                    )
                }
                None => "No room.".to_string(),
            },
            Choice::Code => {
                let missing = CODE_LENGTH.saturating_sub(self.code().len());
                match missing {
                    0 => format!("Code {}. Enter joins.", spelled(self.code())),
                    CODE_LENGTH => "Have a code? Type its six letters.".to_string(),
                    _ => format!("Code {}, {missing} to go.", spelled(self.code())),
                }
            }
            Choice::Replay => "A replay. Enter opens a file.".to_string(),
            Choice::Help => "How to play.".to_string(),
            Choice::Board => "The leaderboard. Enter opens it.".to_string(),
            Choice::Fill => "Full screen. Enter turns it on or off.".to_string(),
            Choice::Sound => format!("{}. Enter changes it.", facts.volume.words()),
        }
    }

    fn about_rooms(&self, facts: &MenuFacts<'_>) -> String {
        match (facts.online, facts.rooms.len()) {
            (None, _) => String::new(),
            (Some(false), _) => "The lobby is out. You can still fly alone.".to_string(),
            (Some(true), 0) => "No one flies right now. Be the first.".to_string(),
            (Some(true), 1) => "One open room.".to_string(),
            (Some(true), count) => format!("{count} open rooms."),
        }
    }
}

/// A code with spaces between its letters, as screen readers need it.
fn spelled(code: &str) -> String {
    let letters: Vec<String> = code.chars().take(CODE_LENGTH).map(String::from).collect();
    letters.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cabinets::{NAMES, gander};
    use crate::pen::tests::views;
    use crate::{Key, RoomLine};

    #[test]
    fn everything_in_focus_says_what_it_is() {
        let rooms = [RoomLine {
            code: "HNKCDS".to_string(),
            mode: "team, wave 3".to_string(),
            players: 2,
            seats: 4,
            watchers: 0,
            open: true,
        }];
        let facts = MenuFacts { rooms: &rooms, online: Some(true), ..MenuFacts::default() };
        let mut menu = Menu::new(views()[0], &gander::ABOUT, &NAMES);
        menu.set_rooms(&rooms);
        assert_eq!(menu.words(&facts), "Play. Enter flies at once. One open room.");
        menu.focus = Choice::Room(0);
        assert_eq!(
            menu.words(&facts),
            "Room H N K C D S, team, wave 3, 2 of 4 seats taken. Enter joins, W watches."
        );
        menu.focus = Choice::Code;
        menu.type_text("bcd");
        assert_eq!(menu.words(&facts), "Code B C D, 3 to go.");
        let mut seen = vec![];
        for _ in 0..9 {
            menu.press(Key::Right);
            seen.push(menu.words(&facts));
        }
        assert!(seen.iter().all(|words| words.ends_with('.')), "{seen:?}");
    }
}
