//! The whole arcade without a browser: keys and time in, a picture and sounds out.
//!
//! This file owns what is on the screen and what keys mean there. `online.rs` has what the room tells, `facts.rs` what
//! panels are made of, `replays.rs` matches as files, `drawing.rs` the picture.

mod cue_tally;
mod drawing;
mod facts;
mod online;
mod rates;
mod replays;

use gaggle::lobby::client::ClientConfig;
use gaggle::timeline::Pace;
use gaggle::{Event, Micros, Outside, RoomCode, Stage as RoomStage, Wish};
use gaggle_scene::palette::SEAT;
use gaggle_scene::{Canvas, Heard, Hearing, Recipe, Scene, View};

use crate::cabinet::{Cabinet, Parts, Show, Start};
use crate::cabinets::{Entry, NAMES};
use crate::own_keys::OwnKeys;
use crate::{
    CODE_LENGTH, Choice, Controls, Held, Key, Menu, NetPanel, Params, ScoreBoard, ScoreChoice, Scrubber,
    Toasts, Touch,
};

use cue_tally::CueTally;
use online::Shelf;
pub use online::{Keep, Keeping};
pub use replays::Download;

/// What is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The cabinets, with bots at play behind them.
    Menu,
    /// A match.
    Flying,
    /// A match that goes on without us, or waits.
    Paused,
    /// How to play, over what was there before.
    Help,
    /// A replay.
    Replay,
}

/// Steps a second.
const FRAMES_PER_SECOND: u32 = 60;
/// What one can do in a paused match: a line for each, and its key.
const PAUSED: [(&str, &str); 5] = [
    ("Enter", "play on"),
    ("Esc", "home"),
    ("M", "sound"),
    ("H", "how to play"),
    ("C", "copy a link to this room"),
];
/// The same where matches are recorded.
const PAUSED_RECORDED: [(&str, &str); 6] =
    [PAUSED[0], PAUSED[1], PAUSED[2], PAUSED[3], ("S", "save the replay"), PAUSED[4]];
/// The same where two games have differed, and ours was the wrong one.
const PAUSED_DIFFERED: [(&str, &str); 7] = [
    PAUSED[0],
    PAUSED[1],
    PAUSED[2],
    PAUSED[3],
    PAUSED_RECORDED[4],
    ("X", "save what differed, for its makers"),
    PAUSED[4],
];
/// Another match begins for all as soon as one of them wants it: not before the scores were on the screen for so long.
const BOARD_READ: Micros = Micros::from_secs(3);
/// A join that takes no longer than this needs no words.
const JOINING_SHOWN_AFTER: Micros = Micros::from_millis(200);

/// What a page knows when it opens.
#[derive(Debug, Clone, Default)]
pub struct Opening {
    /// A random number.
    pub seed: u64,
    /// For people who want less motion.
    pub calm: bool,
    /// No sound.
    pub muted: bool,
    /// What the address asks for.
    pub params: Params,
    /// The player's secret from the last time.
    pub key: Option<String>,
    /// Which of the player's tabs this is.
    pub seat: Option<String>,
    /// What the player is called.
    pub name: Option<String>,
    /// The colour the player likes, as it was [kept](Keep).
    pub palette: Option<String>,
    /// The keys the player chose, as they were [kept](Keep).
    pub keys: Option<String>,
    /// The room this tab was in when it was closed or reloaded, as it was [kept](Keep).
    pub return_to: Option<String>,
}

/// The arcade.
pub struct Arcade {
    screen: Screen,
    /// What Help returns to.
    behind: Screen,
    view: View,
    canvas: Canvas,
    scene: Scene,
    menu: Menu,
    /// The game that is on.
    cabinet: Box<dyn Cabinet>,
    /// Of what is played for show.
    pace: Pace,
    players: usize,
    controls: Controls,
    keys: OwnKeys,
    touch: Touch,
    /// Pressed and not played yet.
    pressed: [Held; 2],
    hearing: Hearing,
    tally: CueTally,
    toasts: Toasts,
    net: NetPanel,
    board: ScoreBoard,
    shelf: Shelf,
    params: Params,
    muted: bool,
    calm: bool,
    seed: u64,
    now: Micros,
    /// When the match on the screen began here.
    took_off: Micros,
    /// While the scores are up: until when they are left alone.
    board_until: Option<Micros>,
    /// The finger that holds the bar of a replay.
    scrubs: Option<i32>,
}

impl Arcade {
    /// An arcade with this game on, on a small screen: see [`Arcade::resize`].
    pub fn new<O: Outside>(now: Micros, opening: Opening, entry: &Entry<O>, outside: O) -> Arcade {
        let Opening { seed, calm, muted, params, key, seat, name, palette, keys, return_to } = opening;
        let view = fit(640, 360, 1.0, entry.about.world);
        let client = ClientConfig { key, seat, name: name.clone(), ..ClientConfig::default() };
        let cabinet = (entry.open)(Parts { now, seed, view, client, outside });
        let mut menu = Menu::new(view, entry.about, &NAMES);
        menu.set_name(name.as_deref().unwrap_or_default());
        menu.palette = palette.and_then(|palette| palette.parse::<usize>().ok()).unwrap_or(0) % SEAT.len();
        let mut arcade = Arcade {
            screen: Screen::Menu,
            behind: Screen::Menu,
            view,
            canvas: Canvas::new(view),
            scene: Scene::default(),
            menu,
            cabinet,
            pace: Pace::new(FRAMES_PER_SECOND, now),
            players: 1,
            controls: Controls::default(),
            keys: OwnKeys::read(keys.as_deref().unwrap_or_default()),
            touch: Touch::default(),
            pressed: [Held::default(); 2],
            hearing: Hearing::default(),
            tally: CueTally::default(),
            toasts: Toasts::default(),
            net: NetPanel::default(),
            board: ScoreBoard::new(view),
            shelf: Shelf::default(),
            params,
            muted,
            calm,
            seed,
            now,
            took_off: now,
            board_until: None,
            scrubs: None,
        };
        for complaint in arcade.params.complaints.clone() {
            arcade.toasts.push(None, complaint, true);
        }
        if let Some(name) = arcade.params.game.as_ref().filter(|name| *name != entry.about.name) {
            let text = format!("There is no cabinet called {name} here.");
            arcade.toasts.push(None, text, true);
        }
        if arcade.params.frame.is_some() {
            arcade.toasts.push(None, "Now drop the replay here.".to_string(), false);
        }
        arcade.shelf.is_trial = arcade.params.is_trial();
        arcade.look_around();
        if let Some(code) = arcade.params.watch {
            arcade.take_off(1, Wish::Watch(code));
        } else {
            let (return_to, players) = online::read_room(return_to.as_deref().unwrap_or_default());
            if let Some(code) = arcade.params.room.or(return_to) {
                arcade.shelf.returns_to = return_to;
                arcade.take_off(if return_to == Some(code) { players } else { 1 }, Wish::Code(code));
            }
        }
        arcade
    }

    /// Another cabinet is to be switched on: its name, for the page to fetch it.
    fn ask_for(&mut self, nth: usize) {
        let Some(name) = NAMES.get(nth) else { return };
        self.toasts.push(None, format!("Fetching {name}."), false);
        self.shelf.wanted = Some(name);
    }

    /// Something the page itself has to say, in the corner.
    pub fn note(&mut self, text: &str) {
        self.toasts.push(None, text.to_string(), true);
    }

    /// The cabinet that was asked for cannot be fetched.
    pub fn miss(&mut self, name: &str) {
        self.toasts.push(None, format!("{name} cannot be fetched just now. This one still plays."), true);
    }

    /// The screen has this size, in its own pixels, of which `ratio` make one of the page's.
    pub fn resize(&mut self, width: i32, height: i32, ratio: f32) {
        let view = fit(width, height, ratio, self.cabinet.about().world);
        if view == self.view {
            return;
        }
        self.view = view;
        self.cabinet.resize(self.view);
        self.canvas = Canvas::new(self.view);
        self.menu.resize(self.view);
        self.board.resize(self.view);
        self.touch.fit(self.view);
    }

    /// What is on the screen.
    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// The game that is on.
    pub fn cabinet(&self) -> &dyn Cabinet {
        &*self.cabinet
    }

    /// How its cues sound.
    pub fn recipes(&self) -> &'static [Recipe] {
        self.cabinet.about().recipes
    }

    /// Whether sound is off.
    pub fn muted(&self) -> bool {
        self.muted
    }

    /// What the player is called.
    pub fn name(&self) -> &str {
        self.menu.name()
    }

    /// A key went down: its place on the keyboard, and the text it makes. Whether it means anything here, so that the
    /// page should not scroll.
    pub fn key_down(&mut self, code: &str, text: &str) -> bool {
        let own = self.keys.stands_for(code);
        let fresh = self.controls.press(own.unwrap_or(code));
        if self.screen == Screen::Help && self.keys.asked().is_some() {
            self.take_own_key(code, fresh);
            return true;
        }
        // Whatever else it means, it was chosen for flying.
        if own.is_some() && self.screen == Screen::Flying && !self.is_board_up() {
            return true;
        }
        if self.screen == Screen::Menu && self.type_into_menu(code, text) {
            return true;
        }
        if fresh && self.take_letter(code) {
            return true;
        }
        let Some(key) = Key::of(code) else { return false };
        // Who still flaps does not mean the scores.
        if fresh && !(code == "Space" && self.screen == Screen::Flying && self.is_board_fresh()) {
            self.take_key(key);
        }
        true
    }

    /// A key is still down and says so once more, before [`Arcade::key_down`].
    pub fn key_repeats(&mut self, code: &str) {
        self.controls.hold(self.keys.stands_for(code).unwrap_or(code));
    }

    /// A key went up.
    pub fn key_up(&mut self, code: &str) {
        self.controls.release(self.keys.stands_for(code).unwrap_or(code));
    }

    /// A key that was asked for.
    fn take_own_key(&mut self, code: &str, fresh: bool) {
        if fresh && self.keys.answer(code, self.cabinet.about().players_here) {
            self.controls.release_all();
            self.shelf.keep("keys", self.keys.kept(), Keeping::Lasting);
        }
    }

    /// The page lost the keyboard: nothing is held, and a match alone waits.
    pub fn blur(&mut self) {
        self.controls.release_all();
        if self.screen == Screen::Flying && !self.cabinet.life().has_company() && !self.is_watching() {
            self.pause();
        }
    }

    /// Nobody sees the page any more.
    pub fn hide(&mut self) {
        self.controls.release_all();
        if self.screen == Screen::Flying && !self.is_watching() {
            self.shelf.hidden_in_flight = true;
            self.pause();
        }
    }

    /// The page is seen again.
    pub fn show(&mut self) {
        if std::mem::take(&mut self.shelf.hidden_in_flight) && self.screen == Screen::Paused {
            self.fly_on();
        }
    }

    /// The page is closed, or loaded again: says goodbye, so that nobody waits. The seat is kept for a moment.
    pub fn close(&mut self) {
        self.cabinet.life_mut().close();
    }

    /// What a gamepad holds for a player, 0 or 1, and whether its start button is down. Outside of a match it moves the choice.
    pub fn set_gamepad(&mut self, player: usize, held: Held, start: bool) {
        let player = player.min(1);
        for key in self.controls.press_pad(player, held, start) {
            let steers = self.screen == Screen::Flying
                && (!self.is_board_up() || key == Key::Enter && self.is_board_fresh());
            if key == Key::Enter && self.shelf.is_elsewhere {
                self.take_over();
            } else if !steers || key == Key::Escape {
                self.take_key(key);
            }
        }
        let held = if player == 0 && self.touch.used { held.or(self.touch.held()) } else { held };
        self.controls.set_added(player, held);
    }

    /// A finger or the mouse came down at a pixel of the screen.
    pub fn pointer_down(&mut self, finger: i32, x: i32, y: i32, is_touch: bool) {
        self.touch.used |= is_touch;
        if self.screen == Screen::Flying && self.is_joining_shown() && self.asks_to_stay_alone(x, y) {
            self.stay_alone();
            return;
        }
        if let Some(nth) = self.elsewhere().and_then(|notice| notice.key_at(self.view, x, y)) {
            match nth {
                0 => self.take_over(),
                _ => self.take_key(Key::Escape),
            }
            return;
        }
        if self.standing_still().is_some_and(|still| still.notice().key_at(self.view, x, y).is_some()) {
            self.take_key(Key::Escape);
            return;
        }
        match self.screen {
            Screen::Menu => {
                if let Some(choice) = self.menu.click(x, y) {
                    self.choose(choice, is_touch);
                }
            }
            _ if self.has_way_out() && Touch::leads_out(self.view, x, y) => self.take_key(Key::Escape),
            Screen::Paused => self.tap_paused(x, y),
            Screen::Help => self.take_key(match (y > self.view.height * 7 / 8, x < self.view.width / 2) {
                (true, _) => Key::Escape,
                (false, true) => Key::Left,
                (false, false) => Key::Right,
            }),
            Screen::Replay => self.scrub(finger, x, y),
            Screen::Flying if self.is_board_up() => {
                if let Some(choice) = self.board.click(x, y) {
                    self.choose_after(choice);
                }
            }
            Screen::Flying if is_touch && self.is_watching() => self.sit_down(),
            Screen::Flying if is_touch => self.pointer_move(finger, x, true),
            Screen::Flying => {}
        }
    }

    /// Whether the way out is drawn: for those who have no Esc, where no button leads home.
    fn has_way_out(&self) -> bool {
        let shown = match self.screen {
            Screen::Flying => !self.is_board_up(),
            Screen::Help | Screen::Replay => true,
            Screen::Menu | Screen::Paused => false,
        };
        shown && self.touch.used
    }

    /// What is written over a paused match is also where one taps; anywhere else flies on.
    fn tap_paused(&mut self, x: i32, y: i32) {
        let notice = self.paused();
        match notice.key_at(self.view, x, y).map(|nth| notice.keys[nth].0) {
            Some("Esc") => self.go_home(),
            Some("M") => self.turn_sound(),
            Some("H") => self.show_help(),
            Some("S") => self.save_replay(),
            Some("X") => self.save_bundle(),
            Some("C") => self.copy_link(),
            _ => self.fly_on(),
        }
    }

    /// A finger or the mouse moved.
    pub fn pointer_move(&mut self, finger: i32, x: i32, is_touch: bool) {
        if self.screen == Screen::Flying && is_touch {
            self.touch.set(finger, x as f32 / self.view.width as f32);
        }
        if self.scrubs == Some(finger)
            && let Some(tape) = self.cabinet.tape()
        {
            tape.jump_to(Scrubber::new(self.view).frame_across(x, tape.position().1));
        }
    }

    /// A finger or the mouse's button went up.
    pub fn pointer_up(&mut self, finger: i32) {
        self.touch.lift(finger);
        self.scrubs = self.scrubs.filter(|scrubs| *scrubs != finger);
    }

    /// Letters for the name or the code. Whether they were taken.
    fn type_into_menu(&mut self, code: &str, text: &str) -> bool {
        if code == "KeyW"
            && let Some(choice) = self.menu.watch()
        {
            self.choose(choice, false);
            return true;
        }
        if code == "Backspace" {
            return self.menu.erase();
        }
        let is_letter = text.chars().count() == 1 && !text.chars().any(char::is_control);
        is_letter && self.menu.type_text(text)
    }

    /// Text from somewhere else than a keyboard, for what is in focus.
    pub fn enter_text(&mut self, text: &str) {
        while self.menu.erase() {}
        for letter in text.chars().take(24) {
            self.menu.type_text(letter.encode_utf8(&mut [0; 4]));
        }
        if self.menu.focus() == Choice::Code {
            self.choose(Choice::Code, false);
        }
    }

    /// Text from the clipboard: for what is in focus, or a code or a link to a room wherever that is.
    pub fn paste(&mut self, text: &str) {
        if self.screen != Screen::Menu {
            return;
        }
        let text = text.trim();
        // By single characters: looking for words would be the only use of a searcher that pages then have to load.
        let mut words = text.split(|letter: char| letter != '=' && !letter.is_ascii_alphanumeric());
        let code = words.find_map(|word| word.strip_prefix("room=")).unwrap_or(text);
        if let Ok(code) = code.get(..CODE_LENGTH.min(code.len())).unwrap_or_default().parse::<RoomCode>()
            && self.menu.focus() != Choice::Name
        {
            self.menu.write_code(&code.to_string());
        } else {
            self.menu.type_text(text);
        }
    }

    fn take_key(&mut self, key: Key) {
        match (self.screen, key) {
            (_, Key::Overlay) => self.net.detail = self.net.detail.next(),
            (Screen::Menu | Screen::Flying, Key::Escape) if self.shelf.is_elsewhere => {
                self.shelf.is_elsewhere = false;
            }
            (Screen::Menu, key) => {
                if let Some(choice) = self.menu.press(key) {
                    self.choose(choice, false);
                }
            }
            (Screen::Flying, Key::Escape) if self.is_joining() => self.stay_alone(),
            (Screen::Flying, key) if self.is_board_up() => {
                if let Some(choice) = self.board.press(key) {
                    self.choose_after(choice);
                }
            }
            (Screen::Flying, Key::Escape) if self.is_watching() => self.go_home(),
            (Screen::Flying, Key::Escape) if self.standing_still().is_some() => self.stay_alone(),
            (Screen::Flying, Key::Escape) => self.pause(),
            (Screen::Flying | Screen::Paused, Key::Mute) => self.turn_sound(),
            (Screen::Paused, Key::Enter) => self.fly_on(),
            (Screen::Paused, Key::Escape) => self.go_home(),
            (Screen::Paused | Screen::Flying, Key::Help) => self.show_help(),
            (Screen::Replay, key) => self.wind(key),
            (Screen::Help, Key::Right | Key::Down) => self.turn_page(1),
            (Screen::Help, Key::Left | Key::Up) => self.turn_page(self.cabinet.about().help_pages),
            (Screen::Help, Key::Enter | Key::Escape | Key::Help) => self.screen = self.behind,
            _ => {}
        }
    }

    /// Letters that mean something on some screens only.
    fn take_letter(&mut self, code: &str) -> bool {
        let in_match = matches!(self.screen, Screen::Flying | Screen::Paused);
        match code {
            "KeyL" if in_match && self.is_board_up() => self.choose_after(ScoreChoice::CopyLink),
            "KeyS" if self.screen == Screen::Paused || in_match && self.is_board_up() => self.save_replay(),
            "KeyX" if self.screen == Screen::Paused => self.save_bundle(),
            "Enter" | "NumpadEnter" if in_match && self.is_watching() && !self.is_board_up() => {
                self.sit_down();
            }
            "KeyC" if in_match => self.choose_after(ScoreChoice::CopyLink),
            "KeyT" if self.shelf.is_elsewhere => self.take_over(),
            "KeyK" if self.screen == Screen::Help => self.keys.ask(),
            "KeyO" if matches!(self.screen, Screen::Menu | Screen::Replay) => self.shelf.wants_file = true,
            "KeyL" if self.screen == Screen::Replay => self.link_frame(),
            _ => return false,
        }
        true
    }

    /// Where no button shows whether it is on.
    fn turn_sound(&mut self) {
        self.muted = !self.muted;
        self.toasts.push(None, if self.muted { "Sound off." } else { "Sound on." }.to_string(), false);
    }

    /// The seat another tab has becomes ours.
    fn take_over(&mut self) {
        self.shelf.is_elsewhere = false;
        self.cabinet.life_mut().take_over();
    }

    /// What is in focus in the menu.
    pub fn focus(&self) -> Choice {
        self.menu.focus()
    }

    /// Something in the menu was chosen, by a finger or otherwise.
    pub fn choose(&mut self, choice: Choice, is_touch: bool) {
        match choice {
            Choice::Play => self.take_off(1, Wish::Find),
            Choice::Cabinet(nth) => self.ask_for(nth),
            Choice::PlayTwo => self.take_off(2, Wish::Find),
            Choice::Private => self.take_off(1, Wish::Private),
            Choice::Mode => {
                self.menu.mode = (self.menu.mode + 1) % self.cabinet.about().modes.len();
                self.look_around();
            }
            Choice::Palette => {
                self.menu.palette = (self.menu.palette + 1) % SEAT.len();
                self.shelf.keep("palette", Some(self.menu.palette.to_string()), Keeping::Lasting);
            }
            Choice::Watch(nth) => {
                if let Some(code) = self.listed_code(nth) {
                    self.take_off(1, Wish::Watch(code));
                }
            }
            Choice::Room(nth) => {
                if let Some(code) = self.listed_code(nth) {
                    self.take_off(1, Wish::Code(code));
                }
            }
            Choice::Code => match self.menu.code().parse() {
                Ok(code) => self.take_off(1, Wish::Code(code)),
                Err(_) if is_touch => self.shelf.ask_for_text = Some("The room's six letters?"),
                Err(_) => {}
            },
            Choice::Name if is_touch => self.shelf.ask_for_text = Some("What are you called?"),
            Choice::Name => {}
            Choice::Replay => self.shelf.wants_file = true,
            Choice::Help => self.show_help(),
            Choice::Sound => self.muted = !self.muted,
        }
    }

    /// The code of a room in the list.
    fn listed_code(&self, nth: usize) -> Option<RoomCode> {
        self.shelf.rooms.get(nth).and_then(|room| room.code.parse().ok())
    }

    fn choose_after(&mut self, choice: ScoreChoice) {
        match choice {
            ScoreChoice::Again if self.is_watching() => self.sit_down(),
            ScoreChoice::Again => {
                self.board_until = Some(self.now);
                self.pressed[0].action = true;
            }
            ScoreChoice::Menu => self.go_home(),
            ScoreChoice::CopyLink => self.copy_link(),
            ScoreChoice::SaveReplay => self.save_replay(),
        }
    }

    /// Begins a match alone at once, and looks for others as wished.
    fn take_off(&mut self, players: usize, wish: Wish) {
        self.seed = self.seed.wrapping_add(1);
        self.players = players;
        self.tell_name();
        self.shelf.is_trial = self.params.is_trial();
        let mode = self.mode_label();
        self.cabinet.life_mut().set_mode(mode);
        self.cabinet.life_mut().set_palette(self.menu.palette as u8);
        let has_bots = self.cabinet.about().has_bots && !matches!(wish, Wish::Watch(_));
        let start = Start {
            mode: self.menu.mode,
            players,
            bots: if has_bots { self.params.bots.into() } else { 0 },
            seed: self.params.seed.unwrap_or(self.seed),
            lives: self.params.lives,
            level: self.params.level,
            wish,
        };
        if !self.cabinet.start(&start) {
            return;
        }
        self.shelf.begin_match();
        self.controls.release_all();
        self.pressed = [Held::default(); 2];
        self.listen_anew();
        self.screen = Screen::Flying;
        self.took_off = self.now;
        if self.shelf.server_lost {
            self.hear(&Event::ServerLost);
        }
    }

    fn go_home(&mut self) {
        // News of a flight are none in the menu.
        self.toasts.clear();
        self.leave_flight();
    }

    /// Nobody has asked to go home: what is said about it stays.
    fn leave_flight(&mut self) {
        self.cabinet.life_mut().leave();
        self.shelf.left_room();
        self.cabinet.rewind(Show::Attract);
        self.listen_anew();
        self.screen = Screen::Menu;
        self.shelf.is_trial = self.params.is_trial();
        self.look_around();
    }

    /// Esc while joining: what is on the screen is good enough.
    fn stay_alone(&mut self) {
        self.cabinet.life_mut().leave();
        self.shelf.left_room();
    }

    fn pause(&mut self) {
        self.cabinet.life_mut().rest();
        self.screen = Screen::Paused;
    }

    fn fly_on(&mut self) {
        self.cabinet.life_mut().wake();
        self.screen = Screen::Flying;
    }

    fn show_help(&mut self) {
        // Whoever reads is not flying.
        if self.screen == Screen::Flying {
            self.pause();
        }
        self.behind = self.screen;
        self.shelf.help_page = 0;
        self.keys.stop();
        self.cabinet.rewind(Show::Help(0));
        self.screen = Screen::Help;
    }

    /// The game's pages, and one of the arcade about its address.
    fn turn_page(&mut self, by: usize) {
        self.shelf.help_page = (self.shelf.help_page + by) % (self.cabinet.about().help_pages + 1);
        self.cabinet.rewind(self.shown());
    }

    fn is_about_address(&self) -> bool {
        self.shelf.help_page == self.cabinet.about().help_pages
    }

    fn is_watching(&self) -> bool {
        self.cabinet.life().stage() == RoomStage::Watching
    }

    /// Whoever looks on takes a seat in the same room.
    fn sit_down(&mut self) {
        if let Some(code) = self.room_code().and_then(|code| code.parse().ok()) {
            self.take_off(1, Wish::Code(code));
        }
    }

    fn is_joining(&self) -> bool {
        matches!(self.cabinet.life().stage(), RoomStage::Joining { .. })
    }

    /// The match is over, and the scores are up.
    fn is_board_up(&self) -> bool {
        self.cabinet.standing().board
    }

    /// They came up so lately that nobody has read them.
    fn is_board_fresh(&self) -> bool {
        self.is_board_up() && self.board_until.is_none_or(|until| self.now < until)
    }

    /// What the cabinet shows.
    fn shown(&self) -> Show {
        match self.screen {
            Screen::Menu => Show::Attract,
            Screen::Help if self.is_about_address() => Show::Attract,
            Screen::Help => Show::Help(self.shelf.help_page),
            Screen::Replay => Show::Replay,
            Screen::Flying | Screen::Paused => Show::Match,
        }
    }

    /// Time has passed: plays as often as it should, draws, and tells what is to be heard.
    pub fn frame(&mut self, now: Micros, mut hear: impl FnMut(Heard)) {
        self.update(now);
        for _ in 0..self.pace.ticks_due(now, 1_000_000) {
            self.cabinet.step(self.shown());
        }
        self.draw();
        // What is played for show plays in silence.
        let is_heard = match self.screen {
            Screen::Flying => true,
            Screen::Replay => self.cabinet.tape().is_some_and(|tape| tape.running()),
            Screen::Menu | Screen::Paused | Screen::Help => false,
        };
        let cues: &[_] = if is_heard && !self.muted { &self.scene.cues } else { &[] };
        self.hearing.listen(self.cabinet.standing().frame, cues, |heard| {
            self.tally.note(&heard);
            hear(heard);
        });
    }

    /// Another match is on the screen: what was heard in the one before means nothing here.
    fn listen_anew(&mut self) {
        self.hearing = Hearing::default();
        self.tally.forget();
    }

    /// Lets the room do what is due, without a picture: for a page nobody sees.
    pub fn update(&mut self, now: Micros) {
        self.now = now;
        let held = self.controls.held(self.players == 2);
        self.board_until = self.is_board_up().then(|| self.board_until.unwrap_or(now + BOARD_READ));
        let steers = self.screen == Screen::Flying && !self.is_board_fresh();
        for (player, (pressed, held)) in self.pressed.iter_mut().zip(held).enumerate() {
            *pressed = if steers { pressed.or(held) } else { Held::default() };
            if player < self.players {
                self.cabinet.hold(player, *pressed);
            }
        }
        if self.cabinet.update(now) > 0 {
            // A tap shorter than a frame counts for one.
            self.pressed = [Held::default(); 2];
        }
        self.hear_room();
        self.sample_net();
        self.report_end();
    }

    /// The picture: red, green, blue, 255, row by row.
    pub fn rgba(&mut self) -> &[u8] {
        self.canvas.rgba()
    }

    /// Its size.
    pub fn size(&self) -> (u32, u32) {
        (self.view.width as u32, self.view.height as u32)
    }
}

/// The largest view of the world, with words that can be read: capitals are seven word pixels high, and should have
/// eleven of the page's.
pub(crate) fn fit(width: i32, height: i32, ratio: f32, world: (i32, i32)) -> View {
    let view = View::fit(width, height, world.0, world.1);
    let readable = (11.0 * ratio / 7.0).ceil() as i32;
    // On a screen too small for that, rather small words than none.
    let room = (view.width / 160).max(1);
    let word_scale = view.word_scale.max(readable.min(room));
    View::at_scale(view.width, view.height, world.0, world.1, view.scale, word_scale)
}
