//! The whole arcade without a browser: keys and time in, a picture and sounds out.
//!
//! This file owns what is on the screen and what keys mean there. `online.rs` has what the room tells, `facts.rs` what
//! panels are made of, `drawing.rs` the picture.

mod drawing;
mod facts;
mod online;
mod rates;
mod replays;

use gaggle::timeline::Pace;
use gaggle::{Event, Micros, Outside, Room, RoomCode, RoomConfig, Stage as RoomStage, Wish};
use gaggle_scene::{Canvas, Heard, Hearing, Scene, View};
use gander::arena::{HEIGHT, WIDTH};
use gander::attract::Attract;
use gander::bots::{Bot, Strength};
use gander::howto::HowTo;
use gander::stage::Stage;
use gander::{Gander, Mode, Pad, Phase, SEATS, Setup};

use crate::controls::merge;
use crate::{
    Choice, Controls, Key, Menu, NetPanel, Params, ScoreBoard, ScoreChoice, Scrubber, Toasts, Touch,
};

use online::Shelf;
pub use online::{Keep, Keeping};
use replays::{Cinema, JUMP_FRAMES};

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
/// How long the end of a match is looked at before the scores come up, in frames.
const OVER_LOOK_FRAMES: u16 = 90;
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
    /// The room this tab was in when it was closed or reloaded.
    pub return_to: Option<RoomCode>,
}

/// The arcade.
pub struct Arcade<O: Outside> {
    screen: Screen,
    /// What Help returns to.
    behind: Screen,
    view: View,
    stage: Stage,
    canvas: Canvas,
    scene: Scene,
    menu: Menu,
    attract: Attract,
    how_to: HowTo,
    cinema: Option<Cinema>,
    /// Of what is played for show.
    pace: Pace,
    room: Room<Gander, O>,
    players: usize,
    bots: Vec<Bot>,
    controls: Controls,
    touch: Touch,
    /// Pressed and not played yet.
    pads: [Pad; 2],
    hearing: Hearing,
    toasts: Toasts,
    net: NetPanel,
    board: ScoreBoard,
    shelf: Shelf,
    params: Params,
    muted: bool,
    calm: bool,
    seed: u64,
    now: Micros,
}

/// Gander over a network: the rules, and what keeps builds apart.
fn room_config(opening: &Opening) -> RoomConfig {
    let mut config = RoomConfig::new("gander", SEATS as u8).expect("a name made of letters");
    config.session.game_fingerprint = gander::FINGERPRINT;
    config.wish = Wish::Look;
    config.client.key.clone_from(&opening.key);
    config.client.seat.clone_from(&opening.seat);
    config.client.name.clone_from(&opening.name);
    config
}

impl<O: Outside> Arcade<O> {
    /// An arcade on a small screen: see [`Arcade::resize`].
    pub fn new(now: Micros, opening: Opening, outside: O) -> Arcade<O> {
        let view = fit(640, 360, 1.0);
        let config = room_config(&opening);
        let Opening { seed, calm, muted, params, name, return_to, .. } = opening;
        let game = Gander::new(Setup::default(), seed);
        let room = Room::open(now, config, outside, game, seed).expect("the settings of gander can be");
        let mut menu = Menu::new(view);
        menu.set_name(name.as_deref().unwrap_or_default());
        let mut arcade = Arcade {
            screen: Screen::Menu,
            behind: Screen::Menu,
            view,
            stage: Stage::new(view),
            canvas: Canvas::new(view),
            scene: Scene::default(),
            menu,
            attract: Attract::new(seed),
            how_to: HowTo::new(0),
            cinema: None,
            pace: Pace::new(FRAMES_PER_SECOND, now),
            room,
            players: 1,
            bots: Vec::new(),
            controls: Controls::default(),
            touch: Touch::default(),
            pads: [Pad::NONE; 2],
            hearing: Hearing::default(),
            toasts: Toasts::default(),
            net: NetPanel::default(),
            board: ScoreBoard::new(view),
            shelf: Shelf::default(),
            params,
            muted,
            calm,
            seed,
            now,
        };
        for complaint in arcade.params.complaints.clone() {
            arcade.toasts.push(None, complaint, true);
        }
        arcade.look_around();
        if let Some(code) = arcade.params.room.or(return_to) {
            arcade.take_off(1, Wish::Code(code));
        }
        arcade
    }

    /// The screen has this size, in its own pixels, of which `ratio` make one of the page's.
    pub fn resize(&mut self, width: i32, height: i32, ratio: f32) {
        let view = fit(width, height, ratio);
        if view != self.view {
            self.view = view;
            self.stage = Stage::new(view);
            self.canvas = Canvas::new(view);
            self.menu.resize(view);
            self.board.resize(view);
            self.touch.fit(view);
        }
    }

    /// What is on the screen.
    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// The room: the match, and being online.
    pub fn room(&self) -> &Room<Gander, O> {
        &self.room
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
        let fresh = self.controls.press(code);
        if self.screen == Screen::Menu && self.type_into_menu(code, text) {
            return true;
        }
        if fresh && self.screen == Screen::Flying && self.take_letter(code) {
            return true;
        }
        let Some(key) = Key::of(code) else { return false };
        if fresh {
            self.take_key(key);
        }
        true
    }

    /// A key went up.
    pub fn key_up(&mut self, code: &str) {
        self.controls.release(code);
    }

    /// The page lost the keyboard: nothing is held, and a match alone waits.
    pub fn blur(&mut self) {
        self.controls.release_all();
        if self.screen == Screen::Flying && !self.has_company() {
            self.pause();
        }
    }

    /// Nobody sees the page any more.
    pub fn hide(&mut self) {
        self.controls.release_all();
        if self.screen == Screen::Flying {
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

    /// The page is closed: says goodbye, so that nobody waits.
    pub fn close(&mut self) {
        self.room.leave();
    }

    /// What a gamepad holds for a player, 0 or 1.
    pub fn set_gamepad(&mut self, player: usize, pad: Pad) {
        let pad = if player == 0 && self.touch.used { merge(pad, self.touch.pad()) } else { pad };
        self.controls.set_added(player.min(1), pad);
    }

    /// A finger or the mouse came down at a pixel of the screen.
    pub fn pointer_down(&mut self, finger: i32, x: i32, y: i32, is_touch: bool) {
        match self.screen {
            Screen::Menu => {
                if let Some(choice) = self.menu.click(x, y) {
                    self.choose(choice, is_touch);
                }
            }
            Screen::Paused | Screen::Help => self.take_key(Key::Enter),
            Screen::Replay => self.scrub(x, y),
            Screen::Flying if self.is_board_up() => {
                if let Some(choice) = self.board.click(x, y) {
                    self.choose_after(choice);
                }
            }
            Screen::Flying if is_touch => self.pointer_move(finger, x),
            Screen::Flying => {}
        }
    }

    /// A finger moved.
    pub fn pointer_move(&mut self, finger: i32, x: i32) {
        if self.screen == Screen::Flying {
            self.touch.set(finger, x as f32 / self.view.width as f32);
        }
    }

    /// A finger went up.
    pub fn pointer_up(&mut self, finger: i32) {
        self.touch.lift(finger);
    }

    /// Letters for the name or the code. Whether they were taken.
    fn type_into_menu(&mut self, code: &str, text: &str) -> bool {
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

    fn take_key(&mut self, key: Key) {
        match (self.screen, key) {
            (_, Key::Overlay) => self.net.detail = self.net.detail.next(),
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
            (Screen::Flying, Key::Escape) => self.pause(),
            (Screen::Flying, Key::Mute) | (Screen::Paused, Key::Mute) => self.muted = !self.muted,
            (Screen::Paused, Key::Enter) => self.fly_on(),
            (Screen::Paused, Key::Escape) => self.go_home(),
            (Screen::Paused | Screen::Flying, Key::Help) => self.show_help(),
            (Screen::Replay, key) => self.wind(key),
            (Screen::Help, Key::Right | Key::Down) => self.turn_page(1),
            (Screen::Help, Key::Left | Key::Up) => self.turn_page(gander::howto::PAGES.len() - 1),
            (Screen::Help, Key::Enter | Key::Escape | Key::Help) => self.screen = self.behind,
            _ => {}
        }
    }

    /// Letters that mean something in a match only.
    fn take_letter(&mut self, code: &str) -> bool {
        match code {
            "KeyL" if self.is_board_up() => self.choose_after(ScoreChoice::CopyLink),
            "KeyS" if self.is_board_up() => self.choose_after(ScoreChoice::SaveReplay),
            "KeyC" => self.choose_after(ScoreChoice::CopyLink),
            "KeyT" if self.shelf.is_elsewhere => {
                self.shelf.is_elsewhere = false;
                self.room.take_over();
            }
            _ => return false,
        }
        true
    }

    /// What is in focus in the menu.
    pub fn focus(&self) -> Choice {
        self.menu.focus()
    }

    /// Something in the menu was chosen, by a finger or otherwise.
    pub fn choose(&mut self, choice: Choice, is_touch: bool) {
        match choice {
            Choice::Play => self.take_off(1, Wish::Find),
            Choice::PlayTwo => self.take_off(2, Wish::Look),
            Choice::Private => self.take_off(1, Wish::Private),
            Choice::Mode => {
                self.menu.mode = if self.menu.mode == Mode::Team { Mode::Versus } else { Mode::Team };
                self.look_around();
            }
            Choice::Watch(_) => self.toasts.push(None, "No seat is free there.".to_string(), true),
            Choice::Room(nth) => {
                if let Some(code) = self.shelf.rooms.get(nth).and_then(|room| room.code.parse().ok()) {
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
            Choice::Help => self.show_help(),
            Choice::Sound => self.muted = !self.muted,
        }
    }

    fn choose_after(&mut self, choice: ScoreChoice) {
        match choice {
            ScoreChoice::Again => self.pads[0].flap = true,
            ScoreChoice::Menu => self.go_home(),
            ScoreChoice::CopyLink => self.copy_link(),
            ScoreChoice::SaveReplay => self.save_replay(),
        }
    }

    /// Begins a match alone at once, and looks for others as wished.
    fn take_off(&mut self, players: usize, wish: Wish) {
        self.seed = self.seed.wrapping_add(1);
        self.players = players;
        let seed = self.params.seed.unwrap_or(self.seed);
        let game = Gander::new(Setup { mode: self.menu.mode, ..Setup::default() }, seed);
        let bots = usize::from(self.params.bots).min(SEATS - players);
        self.bots = (players..players + bots).map(|seat| Bot::new(seat, Strength::Steady, seed)).collect();
        self.tell_name();
        self.room.set_mode(mode_label(self.menu.mode));
        if self.room.start(game, players + bots, wish).is_err() {
            return;
        }
        self.shelf.begin_match();
        self.controls.release_all();
        self.pads = [Pad::NONE; 2];
        self.hearing = Hearing::default();
        self.screen = Screen::Flying;
        if self.shelf.server_lost {
            self.hear(&Event::ServerLost);
        }
    }

    fn go_home(&mut self) {
        self.room.leave();
        self.shelf.left_room();
        self.attract = Attract::new(self.seed);
        self.hearing = Hearing::default();
        self.screen = Screen::Menu;
        self.look_around();
    }

    /// Esc while joining: what is on the screen is good enough.
    fn stay_alone(&mut self) {
        self.room.leave();
        self.shelf.left_room();
    }

    fn pause(&mut self) {
        self.room.rest();
        self.screen = Screen::Paused;
    }

    fn fly_on(&mut self) {
        self.room.wake();
        self.screen = Screen::Flying;
    }

    fn show_help(&mut self) {
        // Whoever reads is not flying.
        if self.screen == Screen::Flying {
            self.pause();
        }
        self.behind = self.screen;
        self.how_to = HowTo::new(0);
        self.shelf.help_page = 0;
        self.screen = Screen::Help;
    }

    fn turn_page(&mut self, by: usize) {
        self.shelf.help_page = (self.shelf.help_page + by) % gander::howto::PAGES.len();
        self.how_to = HowTo::new(self.shelf.help_page);
    }

    /// A replay was dropped on the page.
    pub fn open_replay(&mut self, bytes: Vec<u8>) {
        match Cinema::open(bytes, self.params.frame.unwrap_or(0)) {
            Ok(cinema) => {
                if self.screen != Screen::Menu {
                    self.go_home();
                }
                if let Some(damage) = cinema.damage() {
                    self.toasts.push(None, damage.to_string(), true);
                }
                self.cinema = Some(cinema);
                self.hearing = Hearing::default();
                self.screen = Screen::Replay;
            }
            Err(words) => self.toasts.push(None, words, true),
        }
    }

    /// The replay that is on the screen: its frame and its last.
    pub fn replay_position(&self) -> Option<(u32, u32)> {
        self.cinema.as_ref().map(|cinema| (cinema.frame(), cinema.last()))
    }

    fn wind(&mut self, key: Key) {
        let Some(cinema) = &mut self.cinema else { return };
        match key {
            Key::Left => cinema.jump(-JUMP_FRAMES),
            Key::Right => cinema.jump(JUMP_FRAMES),
            Key::Up => cinema.jump(1),
            Key::Down => cinema.jump(-1),
            Key::Enter => cinema.toggle(),
            Key::Mute => self.muted = !self.muted,
            Key::Escape => {
                self.cinema = None;
                self.go_home();
            }
            Key::Help | Key::Overlay => {}
        }
    }

    /// A click on the bar jumps there, anywhere else holds or plays on.
    fn scrub(&mut self, x: i32, y: i32) {
        let Some(cinema) = &mut self.cinema else { return };
        match Scrubber::new(self.view).frame_at(x, y, cinema.last()) {
            Some(frame) => cinema.jump_to(frame),
            None => cinema.toggle(),
        }
    }

    fn has_company(&self) -> bool {
        self.room.session().roster().iter().filter(|row| row.is_open()).count() > 1
    }

    fn is_joining(&self) -> bool {
        matches!(self.room.stage(), RoomStage::Joining { .. })
    }

    /// The match is over, and the scores are up.
    fn is_board_up(&self) -> bool {
        let wave = &self.room.game().wave;
        wave.phase == Phase::Over && wave.left > OVER_LOOK_FRAMES
    }

    /// Time has passed: plays as often as it should, draws, and tells what is to be heard.
    pub fn frame(&mut self, now: Micros, mut hear: impl FnMut(Heard)) {
        self.update(now);
        let shows = self.pace.ticks_due(now, 1_000_000);
        for _ in 0..shows {
            match self.screen {
                Screen::Menu => self.attract.step(),
                Screen::Help => self.how_to.step(),
                Screen::Replay => self.cinema.iter_mut().for_each(Cinema::step),
                Screen::Flying | Screen::Paused => {}
            }
        }
        self.draw();
        // What is played for show plays in silence.
        let is_heard = match self.screen {
            Screen::Flying => true,
            Screen::Replay => self.cinema.as_ref().is_some_and(Cinema::running),
            Screen::Menu | Screen::Paused | Screen::Help => false,
        };
        let cues: &[_] = if is_heard && !self.muted { &self.scene.cues } else { &[] };
        let frame = self.cinema.as_ref().map_or(self.room.game().frame, |cinema| cinema.states().0.frame);
        self.hearing.listen(frame, cues, &mut hear);
    }

    /// Lets the room do what is due, without a picture: for a page nobody sees.
    pub fn update(&mut self, now: Micros) {
        self.now = now;
        let pads = self.controls.pads(self.players == 2);
        for (held, pad) in self.pads.iter_mut().zip(pads) {
            *held = if self.screen == Screen::Flying { merge(*held, pad) } else { Pad::NONE };
        }
        for (player, pad) in self.pads.into_iter().take(self.players).enumerate() {
            self.room.set_input(player, pad);
        }
        self.play_bots();
        let ticks = self.room.update(now);
        if ticks > 0 {
            // A tap shorter than a frame counts for one.
            self.pads = [Pad::NONE; 2];
        }
        self.hear_room();
        self.sample_net();
        self.report_end();
    }

    /// Bots at this machine sit wherever the match has put them.
    fn play_bots(&mut self) {
        let slots = self.room.own_slots().into_iter().skip(self.players);
        for (nth, (bot, slot)) in self.bots.iter_mut().zip(slots).enumerate() {
            if bot.seat() != slot.index() {
                *bot = Bot::new(slot.index(), Strength::Steady, self.seed);
            }
            let pad = bot.play(self.room.game());
            self.room.set_input(self.players + nth, pad);
        }
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

/// What the lobby calls a mode.
fn mode_label(mode: Mode) -> gaggle::lobby::Label {
    let name = match mode {
        Mode::Team => "team",
        Mode::Versus => "versus",
    };
    name.parse().expect("a name made of letters")
}

/// The largest view of the world, with words that can be read: capitals are seven word pixels high, and should have
/// eleven of the page's.
pub(crate) fn fit(width: i32, height: i32, ratio: f32) -> View {
    let view = View::fit(width, height, WIDTH, HEIGHT);
    let readable = (11.0 * ratio / 7.0).ceil() as i32;
    // On a screen too small for that, rather small words than none.
    let room = (view.width / 160).max(1);
    let word_scale = view.word_scale.max(readable.min(room));
    View::at_scale(view.width, view.height, WIDTH, HEIGHT, view.scale, word_scale)
}
