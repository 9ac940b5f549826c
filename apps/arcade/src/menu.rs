//! The menu: what one can choose, what is in focus, and the two places where one writes. [`layout`]
//! says where everything is, [`picture`] and [`row`] what it looks like.

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

/// Something one can choose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Fly at once.
    Play,
    /// Switch to another cabinet.
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
    /// Open the leaderboard.
    Board,
    /// Fills the screen with the page, or stops doing so.
    Fill,
    /// Change the volume.
    Sound,
}

/// What the menu shows and cannot know by itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct MenuFacts<'a> {
    /// Name of the player, while it is not being edited.
    pub name: &'a str,
    /// The best score so far.
    pub best: Option<u32>,
    /// Open rooms, in the order of the last [`Menu::set_rooms`].
    pub rooms: &'a [RoomLine],
    /// Whether the lobby answers; none while that is not known yet.
    pub online: Option<bool>,
    /// How loud it is.
    pub volume: Volume,
}

/// The menu and what is chosen in it.
#[derive(Debug)]
pub struct Menu {
    view: View,
    layout: Layout,
    can_fill: bool,
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
    /// No room lets us in by that code: the next letter begins another.
    is_code_spent: bool,
    /// Codes of the rooms, and whether one can sit down there.
    rooms: Vec<(String, bool)>,
    /// The first room that is seen.
    first: usize,
    /// Frames it has been shown for: what moves on it moves by this.
    pub beat: u32,
    album: Album,
    row: Row,
    /// The screen is touched: there may be no keyboard.
    touch: bool,
    /// What the mouse is over, if a click there does something.
    hovered: Option<Rect>,
}

impl Menu {
    /// A menu for a screen, with one of the games on.
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

    /// The images its scenes refer to: those of all panels, and some of its own.
    pub fn album(&self) -> &Album {
        &self.album
    }

    /// The same menu on another screen.
    pub fn resize(&mut self, view: View) {
        self.view = view;
        self.arrange();
    }

    /// The screen is touched, or has a keyboard: two cannot play at a keyboard that is not there.
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

    /// Whether the page can fill the screen: some phones let none.
    pub fn set_can_fill(&mut self, can_fill: bool) {
        self.can_fill = can_fill;
        self.resize(self.view);
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
        let Some((choice, place)) = self.standing_places().find(|(_, place)| place.contains(x, y)) else {
            // The cabinet that is on is where one plays.
            return self.row.lit.filter(|lit| lit.contains(x, y)).map(|_| {
                self.focus = Choice::Play;
                Choice::Play
            });
        };
        self.focus = choice;
        match choice {
            // A tap begins to write; the name as it is may be kept at once.
            Choice::Name | Choice::Code => Some(choice),
            Choice::Mode => {
                let modes = self.game.modes.len() as i32;
                self.mode = ((x - place.x) * modes / place.wide.max(1)).clamp(0, modes - 1) as usize;
                Some(choice)
            }
            _ => self.take(),
        }
    }

    /// The mouse is over a pixel of the screen. Whether a click there does something: then it is
    /// framed.
    pub fn hover(&mut self, x: i32, y: i32) -> bool {
        let (x, y) = (x.div_euclid(self.view.word_scale), y.div_euclid(self.view.word_scale));
        let pager = (self.rooms.len() > self.layout.rooms_seen).then(|| self.layout.pager());
        let eyes = (0..self.seen()).map(|row| self.layout.eye(row));
        let places = self.places().into_iter().map(|(_, place)| place);
        let all = pager.into_iter().chain(eyes).chain(places).chain(self.row.lit);
        self.hovered = all.into_iter().find(|place| place.contains(x, y));
        self.hovered.is_some()
    }

    /// Tab, forwards or back through everything there is. False after the last one: then the focus
    /// leaves the page.
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

    /// The letter W: watches the room in focus.
    pub fn watch(&mut self) -> Option<Choice> {
        match self.focus {
            Choice::Room(nth) if nth < self.rooms.len() => Some(Choice::Watch(nth)),
            _ => None,
        }
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
            Choice::Mode => {
                self.mode = (self.mode + 1) % self.game.modes.len();
                Some(Choice::Mode)
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

    #[cfg(test)]
    pub(crate) fn pixel_of(&self, choice: Choice) -> (i32, i32) {
        let place = self.places().into_iter().find(|(listed, _)| *listed == choice).map(|(_, place)| place);
        let (x, y) = place.expect("it is on the screen").middle();
        (x * self.view.word_scale, y * self.view.word_scale)
    }

    /// All of them but rooms.
    fn standing_places(&self) -> impl Iterator<Item = (Choice, Rect)> {
        let cabinets = self.row.places.iter().map(|(nth, place)| (Choice::Cabinet(*nth), *place));
        self.layout.places().into_iter().filter(|(choice, _)| self.offers(*choice)).chain(cabinets)
    }

    /// Whether the game that is on has such a thing.
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
