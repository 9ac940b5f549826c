//! The menu: what one can choose, what is in focus, and the two places where one writes. [`layout`] says where
//! everything is, [`picture`] and [`row`] what it looks like.

mod layout;
mod picture;
mod rooms;
mod row;
mod screens;
mod spoken;

use gaggle_scene::{Album, Canvas, Scene, View};

use crate::Key;
use crate::cabinet::About;
use crate::pen::Rect;
use crate::pictures;
use layout::Layout;
use row::Row;

pub use rooms::{RoomLine, keep_places};

/// Something one can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Fly at once.
    Play,
    /// Another cabinet.
    Cabinet(usize),
    /// The next mode.
    Mode,
    /// Two at one keyboard.
    PlayTwo,
    /// A room for friends, found by its code only. With an invitation open: copy its link.
    Private,
    /// The next colour.
    Palette,
    /// The name, as it stands in [`Menu::name`].
    Name,
    /// A seat in a room of the list.
    Room(usize),
    /// Looking on in a room of the list.
    Watch(usize),
    /// The room whose code stands in [`Menu::code`].
    Code,
    /// A replay, from a file.
    Replay,
    /// How to play.
    Help,
    /// Sound on or off.
    Sound,
}

/// What the menu shows and cannot know by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct MenuFacts<'a> {
    /// What one is called, while nobody is writing it.
    pub name: &'a str,
    /// The best score so far.
    pub best: Option<u32>,
    /// Open rooms, in the order of the last [`Menu::set_rooms`].
    pub rooms: &'a [RoomLine],
    /// Whether the lobby answers; none while that is not known yet.
    pub online: Option<bool>,
    /// Sound is off.
    pub muted: bool,
}

/// The letters of room codes: no vowels, so that no code spells anything.
pub const CODE_LETTERS: &str = "BCDFGHJKLMNPQRSTVWXZ";
/// How many of them make a code.
pub const CODE_LENGTH: usize = 6;
/// Letters of a name.
pub const NAME_LENGTH: usize = 24;

/// The menu and what is chosen in it.
#[derive(Debug)]
pub struct Menu {
    view: View,
    layout: Layout,
    focus: Choice,
    /// Which of its modes the cabinet is set to.
    pub mode: usize,
    /// The colour one likes, by the seat that has it.
    pub palette: usize,
    /// Every game that can be played.
    games: &'static [&'static str],
    /// The one that is on.
    game: &'static About,
    name: String,
    code: String,
    /// Codes of the rooms, and whether one can sit down there.
    rooms: Vec<(String, bool)>,
    /// The first room that is seen.
    first: usize,
    /// Frames it has been shown for: what moves on it moves by this.
    pub beat: u32,
    album: Album,
    row: Row,
}

impl Menu {
    /// A menu for a screen, with one of the games on.
    pub fn new(view: View, game: &'static About, games: &'static [&'static str]) -> Menu {
        let layout = Layout::of(view);
        let mut album = pictures::album().clone();
        let row = Row::bake(&mut album, view, &layout, games, game.name);
        Menu {
            view,
            layout,
            focus: Choice::Play,
            mode: 0,
            palette: 0,
            games,
            game,
            name: String::new(),
            code: String::new(),
            rooms: Vec::new(),
            first: 0,
            beat: 0,
            album,
            row,
        }
    }

    /// The images its scenes refer to: those of all panels, and some of its own.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// The same menu on another screen.
    pub fn resize(&mut self, view: View) {
        (self.view, self.layout) = (view, Layout::of(view));
        self.bake();
        self.scroll();
    }

    fn bake(&mut self) {
        self.album = pictures::album().clone();
        self.row = Row::bake(&mut self.album, self.view, &self.layout, self.games, self.game.name);
    }

    /// What is in focus.
    pub fn focus(&self) -> Choice {
        self.focus
    }

    /// Whether letters are being written: bring up a keyboard where there is none.
    pub fn wants_text(&self) -> bool {
        matches!(self.focus, Choice::Name | Choice::Code)
    }

    /// Which rooms there are now. The focus stays with its room, or near it if that is gone.
    pub fn set_rooms(&mut self, rooms: &[RoomLine]) {
        let same = self.rooms.len() == rooms.len()
            && self
                .rooms
                .iter()
                .zip(rooms)
                .all(|((code, open), room)| (code, *open) == (&room.code, room.open));
        if same {
            return;
        }
        if let Choice::Room(nth) = self.focus {
            let code = self.rooms.get(nth).map(|(code, _)| code);
            let moved = rooms.iter().position(|room| Some(&room.code) == code);
            self.focus = match moved.or(rooms.len().checked_sub(1).map(|last| last.min(nth))) {
                Some(nth) => Choice::Room(nth),
                None => Choice::Play,
            };
        }
        self.rooms = rooms.iter().map(|room| (room.code.clone(), room.open)).collect();
        self.scroll();
    }

    /// A key: what was chosen with it, if anything. Offer letters to [`Menu::type_text`] first.
    pub fn press(&mut self, key: Key) -> Option<Choice> {
        match key {
            Key::Left => self.step((-1, 0)),
            Key::Right => self.step((1, 0)),
            Key::Up => self.step((0, -1)),
            Key::Down => self.step((0, 1)),
            Key::Enter => return self.take(),
            Key::Help => return Some(Choice::Help),
            Key::Mute => return Some(Choice::Sound),
            _ => {}
        }
        None
    }

    /// A click or a tap at a pixel of the screen.
    pub fn click(&mut self, x: i32, y: i32) -> Option<Choice> {
        let (x, y) = (x.div_euclid(self.view.word_scale), y.div_euclid(self.view.word_scale));
        if self.rooms.len() > self.layout.rooms_seen && self.layout.pager().contains(x, y) {
            self.turn_over();
            return None;
        }
        for row in 0..self.seen() {
            if self.layout.room(row).contains(x, y) {
                self.focus = Choice::Room(self.first + row);
                return if self.layout.eye(row).contains(x, y) { self.watch() } else { self.take() };
            }
        }
        let (choice, _) = self.standing_places().find(|(_, place)| place.contains(x, y))?;
        self.focus = choice;
        match choice {
            // A tap begins to write; the name as it is may be kept at once.
            Choice::Name => Some(choice),
            _ => self.take(),
        }
    }

    /// The letter W: watches the room in focus.
    pub fn watch(&mut self) -> Option<Choice> {
        match self.focus {
            Choice::Room(nth) if nth < self.rooms.len() => Some(Choice::Watch(nth)),
            _ => None,
        }
    }

    /// Something was typed or pasted. Whether it was taken: then it means nothing else.
    pub fn type_text(&mut self, text: &str) -> bool {
        match self.focus {
            Choice::Name => {
                let room = NAME_LENGTH.saturating_sub(self.name.chars().count());
                self.name.extend(text.chars().filter(|letter| !letter.is_control()).take(room));
                true
            }
            Choice::Code => {
                let room = CODE_LENGTH.saturating_sub(self.code.len());
                let letters = text.chars().map(|letter| letter.to_ascii_uppercase());
                self.code.extend(
                    letters.filter(|letter| CODE_LETTERS.chars().any(|known| known == *letter)).take(room),
                );
                true
            }
            _ => false,
        }
    }

    /// Backspace. Whether it was taken.
    pub fn erase(&mut self) -> bool {
        match self.focus {
            Choice::Name => self.name.pop(),
            Choice::Code => self.code.pop(),
            _ => return false,
        };
        true
    }

    /// The letters of the code so far.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// A whole code, from the clipboard.
    pub fn write_code(&mut self, code: &str) {
        self.focus = Choice::Code;
        self.code.clear();
        self.type_text(code);
    }

    /// The name as it is written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A name to begin with.
    pub fn set_name(&mut self, name: &str) {
        self.name = name.chars().filter(|letter| !letter.is_control()).take(NAME_LENGTH).collect();
    }

    /// The cabinet that is on shows what is painted around a place of its world.
    pub fn show(&mut self, canvas: &Canvas, around: (i32, i32)) {
        self.row.show(&mut self.album, canvas, around);
    }

    /// Draws the menu over whatever is behind it.
    pub fn draw(&self, scene: &mut Scene, facts: &MenuFacts<'_>) {
        picture::draw(self, scene, facts);
    }

    /// Takes what is in focus.
    fn take(&mut self) -> Option<Choice> {
        match self.focus {
            Choice::Room(nth) => match self.rooms.get(nth)? {
                (_, true) => Some(Choice::Room(nth)),
                (_, false) => Some(Choice::Watch(nth)),
            },
            Choice::Code => (self.code.len() == CODE_LENGTH).then_some(Choice::Code),
            Choice::Name => {
                self.focus = Choice::Play;
                Some(Choice::Name)
            }
            choice => Some(choice),
        }
    }

    /// How many rooms are on the screen.
    fn seen(&self) -> usize {
        self.rooms.len().saturating_sub(self.first).min(self.layout.rooms_seen)
    }

    /// Keeps the room in focus on the screen.
    fn scroll(&mut self) {
        let seen = self.layout.rooms_seen.max(1);
        if let Choice::Room(nth) = self.focus {
            self.first = self.first.clamp((nth + 1).saturating_sub(seen), nth);
        }
        self.first = self.first.min(self.rooms.len().saturating_sub(seen));
    }

    /// Turns to the next rooms, and from the last to the first.
    fn turn_over(&mut self) {
        let seen = self.layout.rooms_seen.max(1);
        let next = self.first + seen;
        self.first = if next >= self.rooms.len() { 0 } else { next };
        if let Choice::Room(_) = self.focus {
            self.focus = Choice::Room(self.first);
        }
        self.scroll();
    }

    /// Moves the focus to the nearest place in a direction; from the last one to the far end.
    fn step(&mut self, (right, down): (i32, i32)) {
        if let (Choice::Room(nth), true) = (self.focus, down != 0)
            && let Some(next) = nth.checked_add_signed(down as isize).filter(|next| *next < self.rooms.len())
        {
            self.focus = Choice::Room(next);
            self.scroll();
            return;
        }
        let places = self.places();
        let Some(&(_, here)) = places.iter().find(|(choice, _)| *choice == self.focus) else {
            self.focus = Choice::Play;
            return;
        };
        let others = || places.iter().filter(|(choice, _)| *choice != self.focus);
        let nearest = others().filter_map(|(choice, there)| {
            let (along, aside) = distance(here, *there, (right, down));
            // What lies more to the side than ahead is meant by another arrow.
            (along > 0 && along >= aside).then_some((along + 4 * aside, *choice))
        });
        let farthest = others().map(|(choice, there)| {
            let (along, aside) = distance(here, *there, (right, down));
            (along + 4 * aside, *choice)
        });
        let best = nearest.min_by_key(|(cost, _)| *cost).or(farthest.min_by_key(|(cost, _)| *cost));
        if let Some((_, choice)) = best {
            self.focus = choice;
            self.scroll();
        }
    }

    /// All places that can have the focus, rooms included.
    fn places(&self) -> Vec<(Choice, Rect)> {
        let rooms = (0..self.seen()).map(|row| (Choice::Room(self.first + row), self.layout.room(row)));
        self.standing_places().chain(rooms).collect()
    }

    /// All of them but rooms.
    fn standing_places(&self) -> impl Iterator<Item = (Choice, Rect)> {
        let cabinets = self.row.places.iter().map(|(nth, place)| (Choice::Cabinet(*nth), *place));
        self.layout.places().into_iter().filter(|(choice, _)| self.offers(*choice)).chain(cabinets)
    }

    /// Whether the game that is on has such a thing.
    fn offers(&self, choice: Choice) -> bool {
        match choice {
            Choice::PlayTwo => self.game.players_here > 1,
            Choice::Replay => self.game.has_replays,
            _ => true,
        }
    }
}

/// How far it is from one place to another in a direction, and how far to the side of it.
fn distance(from: Rect, to: Rect, (right, down): (i32, i32)) -> (i32, i32) {
    let ((from_x, from_y), (to_x, to_y)) = (from.middle(), to.middle());
    let gap = |start: i32, end: i32, other_start: i32, other_end: i32| {
        (other_start - end).max(start - other_end).max(0)
    };
    if right != 0 {
        // Only what begins beside it: a row above that reaches further is not to the right.
        let beside = gap(from.y, from.bottom(), to.y, to.bottom());
        ((to_x - from_x) * right, beside)
    } else {
        let beside = gap(from.x, from.right(), to.x, to.right());
        ((to_y - from_y) * down, beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cabinets::{NAMES, drake, gander};
    use crate::pen::tests::{assert_inside, views};

    fn rooms(count: usize) -> Vec<RoomLine> {
        let line = |nth: usize| RoomLine {
            code: "BCDFGHJKLMNPQRST"[nth..nth + 6].to_string(),
            mode: "versus, wave 12".to_string(),
            players: nth as u8,
            seats: 4,
            watchers: nth as u8 * 3,
            open: nth % 3 != 2,
        };
        (0..count).map(line).collect()
    }

    /// What arrows lead to, from the beginning on.
    fn reached(menu: &mut Menu) -> Vec<Choice> {
        let mut seen = vec![];
        let mut open = vec![Choice::Play];
        while let Some(choice) = open.pop() {
            if seen.contains(&choice) {
                continue;
            }
            seen.push(choice);
            for key in [Key::Left, Key::Right, Key::Up, Key::Down] {
                menu.focus = choice;
                menu.scroll();
                menu.press(key);
                open.push(menu.focus());
            }
        }
        seen
    }

    /// A menu with one game only.
    fn menu(view: View) -> Menu {
        Menu::new(view, &gander::ABOUT, &NAMES[..1])
    }

    #[test]
    fn what_a_game_does_not_have_cannot_be_chosen() {
        for view in views() {
            let mut menu = Menu::new(view, &drake::ABOUT, &NAMES);
            let layout = menu.layout.clone();
            let hidden = [Choice::PlayTwo, Choice::Replay];
            assert!(reached(&mut menu).iter().all(|choice| !hidden.contains(choice)));
            for place in [layout.play_two, layout.replay] {
                let (x, y) = place.middle();
                let chosen = menu.click(x * view.word_scale, y * view.word_scale);
                assert!(chosen.is_none_or(|choice| !hidden.contains(&choice)), "{chosen:?}");
            }
            menu.game = &gander::ABOUT;
            assert!(hidden.iter().all(|choice| reached(&mut menu).contains(choice)));
        }
    }

    #[test]
    fn every_place_is_reached_by_arrows_alone() {
        for view in views() {
            for count in [0, 1, 3, 9] {
                let mut menu = Menu::new(view, &gander::ABOUT, &NAMES);
                menu.set_rooms(&rooms(count));
                let seen = reached(&mut menu);
                let rooms = if menu.layout.rooms_seen == 0 { 0 } else { count };
                let (wide, tall) = (view.word_width(), view.word_height());
                let cabinets = menu.row.places.len();
                assert_eq!(seen.len(), 10 + cabinets + rooms, "{wide}×{tall} with {count} rooms: {seen:?}");
            }
        }
    }

    #[test]
    fn every_place_is_on_the_screen_alone_and_answers_a_click() {
        for view in views() {
            let mut menu = menu(view);
            menu.set_rooms(&rooms(3));
            menu.type_text("never taken while Play is in focus");
            menu.focus = Choice::Code;
            menu.type_text("bcd fgh");
            let places = menu.places();
            for (nth, (choice, place)) in places.iter().enumerate() {
                assert!(place.wide >= 20 && place.tall >= 8, "{choice:?} is {place:?}");
                assert!(place.within(view) == *place, "{choice:?} lies outside");
                for (other, apart) in &places[..nth] {
                    let meet = place.x < apart.right() && apart.x < place.right();
                    let meet = meet && place.y < apart.bottom() && apart.y < place.bottom();
                    assert!(!meet, "{choice:?} {place:?} over {other:?} {apart:?}");
                }
                let (x, y) = (place.x + 3, place.y + place.tall / 2);
                let expected = if *choice == Choice::Room(2) { Choice::Watch(2) } else { *choice };
                assert_eq!(menu.click(x * view.word_scale, y * view.word_scale), Some(expected));
            }
        }
    }

    #[test]
    fn nothing_is_drawn_outside_of_the_screen() {
        let long = "a name that goes on and on until nobody listens any more";
        let absurd = RoomLine {
            code: "W".repeat(500),
            mode: long.repeat(20),
            players: 255,
            seats: 255,
            watchers: 255,
            open: false,
        };
        for view in views() {
            for online in [None, Some(false), Some(true)] {
                for count in [0, 1, 9] {
                    let mut lines = rooms(count);
                    lines.extend((count > 0).then(|| absurd.clone()));
                    let mut menu = menu(view);
                    menu.set_rooms(&lines);
                    let facts =
                        MenuFacts { name: long, best: Some(u32::MAX), rooms: &lines, online, muted: true };
                    for (choice, _) in menu.places() {
                        menu.focus = choice;
                        menu.type_text(long);
                        let mut scene = Scene::default();
                        menu.draw(&mut scene, &facts);
                        assert!(scene.words.len() > 20);
                        assert_inside(&scene, menu.album(), view, "menu");
                    }
                }
            }
        }
    }

    #[test]
    fn screens_of_any_size_have_a_menu() {
        for (width, height) in [(1, 1), (3, 900), (900, 3), (64, 64), (200, 2000), (5000, 200)] {
            let mut menu = menu(View::fit(width, height, 384, 216));
            menu.set_rooms(&rooms(9));
            menu.draw(&mut Scene::default(), &MenuFacts { rooms: &rooms(9), ..MenuFacts::default() });
            menu.press(Key::Down);
            menu.click(width / 2, height / 2);
        }
    }

    #[test]
    fn a_cabinet_that_is_off_is_switched_on_by_arrows_or_a_click() {
        for view in views() {
            let mut menu = Menu::new(view, &gander::ABOUT, &NAMES);
            let off = menu.places().into_iter().find(|(choice, _)| *choice == Choice::Cabinet(1));
            let Some((_, place)) = off else {
                assert!(menu.layout.cabinets.is_none() && menu.layout.strip.is_none(), "there is room");
                continue;
            };
            let (x, y) = place.middle();
            let chosen = menu.click(x * view.word_scale, y * view.word_scale);
            assert_eq!(chosen, Some(Choice::Cabinet(1)));
            let mut menu = Menu::new(view, &drake::ABOUT, &NAMES);
            // Where there is room for one cabinet only, each makes way for the next.
            let is_other = |choice: &Choice| matches!(choice, Choice::Cabinet(0 | 2));
            assert!(reached(&mut menu).iter().any(is_other), "arrows lead away from drake");
            let mut scene = Scene::default();
            menu.draw(&mut scene, &MenuFacts::default());
            assert_inside(&scene, menu.album(), view, "menu with all games");
        }
    }

    #[test]
    fn a_code_is_six_letters_and_then_enter_joins() {
        let mut menu = menu(views()[0]);
        assert!(!menu.type_text("B"), "nobody asked for letters");
        menu.focus = Choice::Code;
        assert!(menu.wants_text());
        for letter in ["b", "A", "1", "c", " ", "d", "f", "g"] {
            assert!(menu.type_text(letter));
            assert_eq!(menu.press(Key::Enter), None, "{}", menu.code());
        }
        assert!(menu.type_text("hjk"));
        assert_eq!(menu.code(), "BCDFGH");
        assert_eq!(menu.press(Key::Enter), Some(Choice::Code));
        assert!(menu.erase());
        assert_eq!(menu.press(Key::Enter), None);
        assert_eq!(menu.code(), "BCDFG");
    }

    #[test]
    fn a_name_takes_any_letter_but_not_any_number_of_them() {
        let mut menu = menu(views()[0]);
        menu.set_name("Wren\u{7}");
        menu.focus = Choice::Name;
        assert!(menu.type_text(" 雁\n"));
        assert_eq!(menu.name(), "Wren 雁");
        assert!(menu.erase());
        menu.type_text(&"x".repeat(1_000));
        assert_eq!(menu.name().chars().count(), NAME_LENGTH);
        assert_eq!((menu.press(Key::Enter), menu.focus()), (Some(Choice::Name), Choice::Play));
    }

    #[test]
    fn the_focus_stays_with_its_room_when_others_vanish() {
        let mut menu = menu(views()[0]);
        let mut lines = rooms(9);
        menu.set_rooms(&lines);
        menu.focus = Choice::Room(7);
        menu.scroll();
        assert!(menu.first > 0 && menu.places().iter().any(|(choice, _)| *choice == menu.focus));
        lines.drain(0..4);
        menu.set_rooms(&lines);
        assert_eq!(menu.press(Key::Enter), Some(Choice::Room(3)));
        assert_eq!(menu.watch(), Some(Choice::Watch(3)));
        menu.set_rooms(&[]);
        assert_eq!((menu.focus(), menu.watch()), (Choice::Play, None));
    }

    #[test]
    fn all_rooms_can_be_turned_to_with_one_finger() {
        for view in views() {
            let mut menu = menu(view);
            menu.set_rooms(&rooms(9));
            if menu.layout.rooms_seen == 0 {
                continue;
            }
            let pager = menu.layout.pager();
            let mut seen = vec![];
            for _ in 0..9 {
                seen.extend((0..menu.seen()).map(|row| menu.first + row));
                let (x, y) = (pager.x + pager.wide / 2, pager.y + pager.tall / 2);
                assert_eq!(menu.click(x * view.word_scale, y * view.word_scale), None);
            }
            seen.sort_unstable();
            seen.dedup();
            assert_eq!(seen, (0..9).collect::<Vec<_>>());
        }
    }
}
