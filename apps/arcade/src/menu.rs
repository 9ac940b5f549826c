//! The menu: its entries, the focus, and the two text fields. `Arcade` drives it; [`layout`] places
//! its elements, [`picture`] and [`row`] draw them. Absent: effects of choices.

mod fields;
mod layout;
mod picture;
mod rooms;
mod row;
mod screens;
mod spoken;
#[cfg(test)]
mod tests;

use gaggle_scene::{Album, Canvas, Scene, View};

use crate::Key;
use crate::cabinet::About;
use crate::pen::Rect;
use crate::pictures;
use crate::volume::Volume;
use layout::Layout;
use row::Row;

pub use fields::{CODE_LENGTH, CODE_LETTERS, NAME_LENGTH};
pub use rooms::{RoomLine, keep_places};

/// An entry of the menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Play at once.
    Play,
    /// Open another cabinet.
    Cabinet(usize),
    /// Choose the next mode.
    Mode,
    /// Play with two players at one keyboard.
    PlayTwo,
    /// Create a room for friends, found by its code only. With an open invitation: copy its link.
    Private,
    /// Choose the next color.
    Palette,
    /// Edit the name, [`Menu::name`].
    Name,
    /// Join a room of the list.
    Room(usize),
    /// Spectate in a room of the list.
    Watch(usize),
    /// Join the room whose code is [`Menu::code`].
    Code,
    /// Open a replay file.
    Replay,
    /// Open the help pages.
    Help,
    /// Open the leaderboard.
    Board,
    /// Enter or leave full screen.
    Fill,
    /// Change the volume.
    Sound,
}

/// Data the menu shows and does not own.
#[derive(Debug, Clone, Copy, Default)]
pub struct MenuFacts<'a> {
    /// Name of the player, while it is not being edited.
    pub name: &'a str,
    /// The player's best score.
    pub best: Option<u32>,
    /// Open rooms, in the order of the last [`Menu::set_rooms`].
    pub rooms: &'a [RoomLine],
    /// Whether the lobby is connected; none while that is not known.
    pub online: Option<bool>,
    /// The chosen volume.
    pub volume: Volume,
}

/// The menu and its choices.
#[derive(Debug)]
pub struct Menu {
    view: View,
    layout: Layout,
    can_fill: bool,
    focus: Choice,
    /// Index of the chosen mode.
    pub mode: usize,
    /// Preferred color, as the slot that has it.
    pub palette: usize,
    /// Names of all available games.
    games: &'static [&'static str],
    /// The game that is open.
    game: &'static About,
    name: String,
    code: String,
    /// Whether the room of that code rejects this player: the next letter begins another code.
    is_code_spent: bool,
    /// Codes of the rooms, and whether each can be joined.
    rooms: Vec<(String, bool)>,
    /// Index of the first visible room.
    first: usize,
    /// Frames since the menu was shown, for animations.
    pub beat: u32,
    album: Album,
    row: Row,
    /// Whether the screen is touched and may have no keyboard.
    touch: bool,
    /// The element under the mouse, if a click there does something.
    hovered: Option<Rect>,
}

impl Menu {
    /// A menu for a screen, with one of the games open.
    pub fn new(view: View, game: &'static About, games: &'static [&'static str]) -> Menu {
        let layout = Layout::of(view, game.players_here > 1);
        let mut album = pictures::album().clone();
        let row = Row::bake(&mut album, view, &layout, games, game.name);
        Menu {
            view,
            layout,
            can_fill: true,
            focus: Choice::Play,
            mode: 0,
            palette: 0,
            games,
            game,
            name: String::new(),
            code: String::new(),
            is_code_spent: false,
            rooms: Vec::new(),
            first: 0,
            beat: 0,
            album,
            row,
            touch: false,
            hovered: None,
        }
    }

    /// The images its scenes refer to: those of all panels, and its own.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// Adapts the menu to another screen.
    pub fn resize(&mut self, view: View) {
        self.view = view;
        self.arrange();
    }

    /// Notes whether the screen is touched: two players cannot share a missing keyboard.
    pub fn set_touch(&mut self, touch: bool) {
        if self.touch != touch {
            self.touch = touch;
            self.arrange();
        }
    }

    fn arrange(&mut self) {
        self.layout = Layout::of(self.view, self.offers(Choice::PlayTwo));
        if !self.can_fill {
            self.layout.drop_fill();
        }
        self.hovered = None;
        if !self.offers(self.focus) {
            self.focus = Choice::Play;
        }
        self.bake();
        self.scroll();
    }

    fn bake(&mut self) {
        self.album = pictures::album().clone();
        self.row = Row::bake(&mut self.album, self.view, &self.layout, self.games, self.game.name);
    }

    /// Sets whether the page can fill the screen, which some phones do not permit.
    pub fn set_can_fill(&mut self, can_fill: bool) {
        self.can_fill = can_fill;
        self.resize(self.view);
    }

    /// The focused entry.
    pub fn focus(&self) -> Choice {
        self.focus
    }

    /// Whether a text field is focused, so that a phone must show its keyboard.
    pub fn wants_text(&self) -> bool {
        matches!(self.focus, Choice::Name | Choice::Code)
    }

    /// Sets the open rooms. The focus stays with its room, or near it if that is gone.
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

    /// Handles a key. Returns the chosen entry, if any. Offer letters to [`Menu::type_text`] first.
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

    /// Handles a click or tap at a pixel of the screen.
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
        let Some((choice, place)) = self.standing_places().find(|(_, place)| place.contains(x, y)) else {
            // A click on the open cabinet plays.
            return self.row.lit.filter(|lit| lit.contains(x, y)).map(|_| {
                self.focus = Choice::Play;
                Choice::Play
            });
        };
        self.focus = choice;
        match choice {
            // A tap begins editing; an existing name may be kept.
            Choice::Name | Choice::Code => Some(choice),
            Choice::Mode => {
                let modes = self.game.modes.len() as i32;
                self.mode = ((x - place.x) * modes / place.wide.max(1)).clamp(0, modes - 1) as usize;
                Some(choice)
            }
            _ => self.take(),
        }
    }

    /// Handles the mouse at a pixel of the screen. True if a click there does something: then the
    /// element is framed.
    pub fn hover(&mut self, x: i32, y: i32) -> bool {
        let (x, y) = (x.div_euclid(self.view.word_scale), y.div_euclid(self.view.word_scale));
        let pager = (self.rooms.len() > self.layout.rooms_seen).then(|| self.layout.pager());
        let eyes = (0..self.seen()).map(|row| self.layout.eye(row));
        let places = self.places().into_iter().map(|(_, place)| place);
        let all = pager.into_iter().chain(eyes).chain(places).chain(self.row.lit);
        self.hovered = all.into_iter().find(|place| place.contains(x, y));
        self.hovered.is_some()
    }

    /// Handles Tab, forwards or backwards, through all entries. False after the last one: then the
    /// focus leaves the page.
    pub fn tab(&mut self, back: bool) -> bool {
        let rank = |choice: &Choice| match choice {
            Choice::Play => 0,
            Choice::Mode => 1,
            Choice::PlayTwo => 2,
            Choice::Private => 3,
            Choice::Cabinet(_) => 4,
            Choice::Palette => 5,
            Choice::Name => 6,
            Choice::Room(_) | Choice::Watch(_) => 7,
            Choice::Code => 8,
            Choice::Help => 9,
            Choice::Replay => 10,
            Choice::Board => 11,
            Choice::Fill => 12,
            Choice::Sound => 13,
        };
        let rooms = if self.layout.rooms_seen > 0 { self.rooms.len() } else { 0 };
        let mut all: Vec<Choice> = self.standing_places().map(|(choice, _)| choice).collect();
        all.extend((0..rooms).map(Choice::Room));
        gaggle::kit::insertion_sort(&mut all, rank);
        let here = all.iter().position(|choice| *choice == self.focus).unwrap_or(0);
        let next = if back { here.checked_sub(1) } else { Some(here + 1) };
        let next = next.and_then(|next| all.get(next)).copied();
        self.focus = next.unwrap_or(Choice::Play);
        self.scroll();
        next.is_some()
    }

    /// Handles the letter W: spectates in the focused room.
    pub fn watch(&mut self) -> Option<Choice> {
        match self.focus {
            Choice::Room(nth) if nth < self.rooms.len() => Some(Choice::Watch(nth)),
            _ => None,
        }
    }

    /// Shows the part of the demo's picture around a place of its world on the open cabinet's
    /// screen.
    pub fn show(&mut self, canvas: &Canvas, around: (i32, i32)) {
        self.row.show(&mut self.album, canvas, around);
    }

    /// Draws the menu over the background.
    pub fn draw(&self, scene: &mut Scene, facts: &MenuFacts<'_>) {
        picture::draw(self, scene, facts);
    }

    /// Chooses the focused entry.
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
            Choice::Mode => {
                self.mode = (self.mode + 1) % self.game.modes.len();
                Some(Choice::Mode)
            }
            choice => Some(choice),
        }
    }

    /// Number of visible rooms.
    fn seen(&self) -> usize {
        self.rooms.len().saturating_sub(self.first).min(self.layout.rooms_seen)
    }

    /// Keeps the focused room visible.
    fn scroll(&mut self) {
        let seen = self.layout.rooms_seen.max(1);
        if let Choice::Room(nth) = self.focus {
            self.first = self.first.clamp((nth + 1).saturating_sub(seen), nth);
        }
        self.first = self.first.min(self.rooms.len().saturating_sub(seen));
    }

    /// Turns to the next page of rooms, and from the last to the first.
    fn turn_over(&mut self) {
        let seen = self.layout.rooms_seen.max(1);
        let next = self.first + seen;
        self.first = if next >= self.rooms.len() { 0 } else { next };
        if let Choice::Room(_) = self.focus {
            self.focus = Choice::Room(self.first);
        }
        self.scroll();
    }

    /// Moves the focus to the nearest entry in a direction; from the last one to the opposite end.
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
            // An entry more to the side than ahead belongs to another arrow key.
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

    /// Places of all entries that can be focused, rooms included.
    fn places(&self) -> Vec<(Choice, Rect)> {
        let rooms = (0..self.seen()).map(|row| (Choice::Room(self.first + row), self.layout.room(row)));
        self.standing_places().chain(rooms).collect()
    }

    #[cfg(test)]
    pub(crate) fn pixel_of(&self, choice: Choice) -> (i32, i32) {
        let place = self.places().into_iter().find(|(listed, _)| *listed == choice).map(|(_, place)| place);
        let (x, y) = place.expect("it is on the screen").middle();
        (x * self.view.word_scale, y * self.view.word_scale)
    }

    /// Places of all entries except rooms.
    fn standing_places(&self) -> impl Iterator<Item = (Choice, Rect)> {
        let cabinets = self.row.places.iter().map(|(nth, place)| (Choice::Cabinet(*nth), *place));
        self.layout.places().into_iter().filter(|(choice, _)| self.offers(*choice)).chain(cabinets)
    }

    /// Whether the open game has such an entry.
    fn offers(&self, choice: Choice) -> bool {
        match choice {
            Choice::PlayTwo => self.game.players_here > 1 && !self.touch,
            Choice::Replay => self.game.has_replays,
            Choice::Board => self.layout.board.wide > 0,
            Choice::Fill => self.layout.fill.wide > 0,
            _ => true,
        }
    }
}

/// Distance from one place to another in a direction, and the sideways distance.
fn distance(from: Rect, to: Rect, (right, down): (i32, i32)) -> (i32, i32) {
    let ((from_x, from_y), (to_x, to_y)) = (from.middle(), to.middle());
    let gap = |start: i32, end: i32, other_start: i32, other_end: i32| {
        (other_start - end).max(start - other_end).max(0)
    };
    if right != 0 {
        // Only entries that begin beside it: a wider one in the row above is not to the right.
        let beside = gap(from.y, from.bottom(), to.y, to.bottom());
        ((to_x - from_x) * right, beside)
    } else {
        let beside = gap(from.x, from.right(), to.x, to.right());
        ((to_y - from_y) * down, beside)
    }
}
