//! The whole arcade without a browser: keys and time in, a picture and sounds out.
//!
//! The page and tests drive it. This file has screens and keys; in `arcade/`, `online.rs` handles
//! room events, `doors.rs` joining and leaving, `facts.rs` panel data, `hands.rs` pointers and
//! text, `drawing.rs` the picture. Absent: rules of games, browsers.

mod cue_tally;
mod doors;
mod drawing;
mod emoting;
mod facts;
mod gathering;
mod hands;
mod inviting;
mod leaderboard;
mod online;
mod opening;
mod rates;
mod replays;

use gaggle::lobby::client::ClientConfig;
use gaggle::timeline::TickClock;
use gaggle::{JoinTarget, Micros, Phase, Platform, RoomCode, RoomEvent, Slot};
use gaggle_scene::palette::SEAT;
use gaggle_scene::{Canvas, Heard, Hearing, Recipe, Scene, View};

use crate::cabinet::{Cabinet, Parts, Show, Start};
use crate::cabinets::{Entry, NAMES};
use crate::delay::Delays;
use crate::lobby::LobbyScreen;
use crate::own_keys::OwnKeys;
use crate::volume::Volume;
use crate::{
    Choice, Controls, HAS_LOBBY, Held, Key, Menu, NetPanel, Params, ScoreBoard, ScoreChoice, Toasts, Touch,
};

use cue_tally::CueTally;
use doors::FOLLOWS_FOR;
use emoting::Emoting;
pub use facts::Whereabouts;
use inviting::Inviting;
use online::Shelf;
pub use online::{Keep, Keeping};
pub use opening::Opening;
pub(crate) use opening::{fit, make_room_for_thumbs};
pub use replays::Download;

/// The screen that is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The menu, with a bot match behind it.
    Menu,
    /// A match that is played or spectated.
    Flying,
    /// A paused match: other players go on without this one, or the match waits.
    Paused,
    /// The help pages, over the previous screen.
    Help,
    /// A replay is shown.
    Replay,
}

/// Simulation steps per second.
const FRAMES_PER_SECOND: u32 = 60;
/// Time the scores stay before another match may begin, which begins for all players as soon as one
/// of them requests it.
const BOARD_READ: Micros = Micros::from_secs(3);
/// A join that takes no longer than this shows no panel.
const JOINING_SHOWN_AFTER: Micros = Micros::from_millis(200);

/// The arcade: menu, cabinet, panels and room of one page.
pub struct Arcade {
    screen: Screen,
    /// The screen that Help returns to.
    behind: Screen,
    view: View,
    /// Screen pixels per CSS pixel.
    ratio: f32,
    canvas: Canvas,
    scene: Scene,
    menu: Menu,
    /// The game that is shown.
    cabinet: Box<dyn Cabinet>,
    /// Clock of the demo match behind the menu.
    pace: TickClock,
    /// The lobby of rooms whose host starts, in games that have such rooms.
    lobby: Option<Box<dyn LobbyScreen>>,
    /// Whether it is shown instead of a match.
    roosts: bool,
    players: usize,
    controls: Controls,
    keys: OwnKeys,
    touch: Touch,
    /// Presses not yet used in a tick, by local player.
    pressed: [Held; 2],
    hearing: Hearing,
    tally: CueTally,
    toasts: Toasts,
    net: NetPanel,
    board: ScoreBoard,
    shelf: Shelf,
    inviting: Inviting,
    emoting: Emoting,
    params: Params,
    volume: Volume,
    delays: Delays,
    calm: bool,
    seed: u64,
    now: Micros,
    /// When the shown match began here.
    took_off: Micros,
    /// Until when the shown scores cannot be dismissed.
    board_until: Option<Micros>,
    /// The finger that drags the bar of a replay.
    scrubs: Option<i32>,
    /// Whether the mouse is over a clickable element.
    points: bool,
}

impl Arcade {
    /// An arcade with this game, on a small screen: see [`Arcade::resize`].
    pub fn new<P: Platform>(now: Micros, opening: Opening, entry: &Entry<P>, outside: P) -> Arcade {
        let Opening { seed, calm, params, key, seat, name, palette, keys, delays, .. } = opening;
        let Opening { return_to, touch, follows, .. } = opening;
        let view = fit(640, 360, 1.0, entry.about.world);
        let client = ClientConfig {
            guest_key: key,
            device_key: seat,
            display_name: name.clone(),
            ..ClientConfig::default()
        };
        let cabinet = (entry.open)(Parts { now, seed, view, client, outside });
        let mut menu = Menu::new(view, entry.about, &NAMES);
        menu.set_name(name.as_deref().unwrap_or_default());
        menu.set_can_fill(opening.can_fill);
        menu.palette = palette.and_then(|palette| palette.parse::<usize>().ok()).unwrap_or(0) % SEAT.len();
        let inviting = Inviting::new(opening.address, opening.can_share);
        let mut arcade = Arcade {
            screen: Screen::Menu,
            behind: Screen::Menu,
            view,
            ratio: 1.0,
            canvas: Canvas::new(view),
            scene: Scene::default(),
            menu,
            cabinet,
            pace: TickClock::new(FRAMES_PER_SECOND, now),
            lobby: entry.lobby.filter(|_| HAS_LOBBY).map(|make| make()),
            roosts: false,
            players: 1,
            controls: Controls::default(),
            keys: OwnKeys::read(keys.as_deref().unwrap_or_default()),
            touch: Touch::new(view, entry.about.has_four_ways),
            pressed: [Held::default(); 2],
            hearing: Hearing::default(),
            tally: CueTally::default(),
            toasts: Toasts::default(),
            net: NetPanel::default(),
            board: ScoreBoard::new(view),
            shelf: Shelf::default(),
            inviting,
            emoting: Emoting::default(),
            params,
            volume: Volume::read(opening.volume.as_deref().unwrap_or_default()),
            delays: Delays::read(delays.as_deref().filter(|_| HAS_LOBBY).unwrap_or_default()),
            calm,
            seed,
            now,
            took_off: now,
            board_until: None,
            scrubs: None,
            points: false,
        };
        arcade.set_touch(touch);
        arcade.apply_delay();
        arcade.complain();
        if arcade.params.frame.is_some() {
            arcade.toasts.push(None, "Now drop the replay here.".to_string(), false);
        }
        arcade.shelf.is_trial = arcade.params.is_trial();
        arcade.shelf.follows_until = follows.then_some(now + FOLLOWS_FOR);
        arcade.look_around();
        if let Some(code) = arcade.params.watch {
            arcade.take_off(1, JoinTarget::Spectate(code));
        } else {
            // Another address was opened in the tab: the stored room is not the requested one.
            let is_left = arcade.params.game.is_some() && arcade.params.room.is_none();
            if is_left {
                arcade.shelf.left_room();
            }
            let return_to = return_to.filter(|_| !is_left);
            let (return_to, players) = online::read_room(return_to.as_deref().unwrap_or_default());
            if let Some(code) = arcade.params.room.or(return_to) {
                arcade.shelf.returns_to = return_to;
                arcade.take_off(if return_to == Some(code) { players } else { 1 }, JoinTarget::Code(code));
            }
        }
        arcade
    }

    /// Says what is wrong with the address.
    fn complain(&mut self) {
        for complaint in self.params.complaints.clone() {
            self.toasts.push(None, complaint, true);
        }
        let name = self.cabinet.about().name;
        if let Some(name) = self.params.game.as_ref().filter(|asked| *asked != name) {
            let text = format!("There is no cabinet called {name} here.");
            self.toasts.push(None, text, true);
        }
    }

    /// Requests another cabinet by name, which the page must load.
    fn ask_for(&mut self, nth: usize) {
        let Some(name) = NAMES.get(nth) else { return };
        self.toasts.push(None, format!("Fetching {name}."), false);
        self.shelf.wanted = Some(name);
    }

    /// Shows a message of the page in the corner.
    pub fn note(&mut self, text: &str) {
        self.toasts.push(None, text.to_string(), true);
    }

    /// The requested cabinet could not be loaded, or was loaded and does not start.
    pub fn miss(&mut self, name: &str, is_lost: bool) {
        let why = if is_lost { "cannot be fetched just now" } else { "does not start in this browser" };
        self.toasts.push(None, format!("{name} {why}. This one still plays."), true);
    }

    /// Sets the size of the screen in its own pixels, of which `ratio` make one CSS pixel.
    pub fn resize(&mut self, width: i32, height: i32, ratio: f32) {
        self.ratio = ratio;
        let world = self.cabinet.about().world;
        let (mut view, mut below) = (fit(width, height, ratio, world), 0);
        if self.touch.used && !self.cabinet.about().has_four_ways {
            (view, below) = make_room_for_thumbs(view, world);
        }
        if view == self.view {
            return;
        }
        self.view = view;
        self.cabinet.resize(self.view);
        self.canvas = Canvas::new(self.view);
        self.menu.resize(self.view);
        self.board.resize(self.view);
        self.touch.fit(self.view, below);
        self.points = false;
    }

    /// The screen that is shown.
    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// The game that is shown.
    pub fn cabinet(&self) -> &dyn Cabinet {
        &*self.cabinet
    }

    /// Sounds of the game's cues.
    pub fn recipes(&self) -> &'static [Recipe] {
        self.cabinet.about().recipes
    }

    /// Whether sound is off.
    pub fn muted(&self) -> bool {
        self.volume.is_off()
    }

    /// The chosen volume.
    pub fn volume(&self) -> Volume {
        self.volume
    }

    /// Name of the player.
    pub fn name(&self) -> &str {
        self.menu.name()
    }

    /// Handles a key press: its position on the keyboard, and its text. True if the arcade used it,
    /// so that the page must not scroll.
    pub fn key_down(&mut self, code: &str, text: &str) -> bool {
        // On-screen keyboards give no key codes.
        if !code.is_empty() {
            self.set_touch(false);
        }
        let own = self.keys.stands_for(code);
        let fresh = self.controls.press(own.unwrap_or(code));
        if self.screen == Screen::Help && self.keys.is_asking() {
            self.take_own_key(code, fresh);
            return true;
        }
        if self.is_in_lobby() && fresh && !self.is_inviting() && own.unwrap_or(code) == "Space" {
            self.honk_in_lobby();
            return true;
        }
        // In a match the player's own key choice has priority over other meanings.
        if own.is_some() && self.screen == Screen::Flying && !self.is_board_up() {
            return true;
        }
        // By its text, because code letters are elsewhere on other keyboard layouts.
        let written = text.to_ascii_uppercase();
        let written = if written.trim().len() == 1 { &written } else { code };
        let moves = code == "Tab" || code.starts_with("Shift");
        if self.is_refused() && fresh && !moves && self.answer_refusal(written) {
            return true;
        }
        if code == "Tab" {
            return self.take_tab();
        }
        if self.screen == Screen::Menu && !self.shelf.shows_top && self.type_into_menu(code, text) {
            return true;
        }
        // Behind the panel the match gets no keys: a player that still flaps does not mean the
        // panel either.
        if self.is_inviting() && (fresh && self.press_invite(code) || self.screen == Screen::Paused) {
            return true;
        }
        if fresh && (self.press_emote(code) || self.take_letter(code)) {
            return true;
        }
        let Some(key) = Key::of(code) else { return false };
        // A player that still flaps with Space does not mean the scores.
        if fresh && !(code == "Space" && self.screen == Screen::Flying && self.is_board_fresh()) {
            self.take_key(key);
        }
        true
    }

    /// A held key repeats; called before [`Arcade::key_down`].
    pub fn key_repeats(&mut self, code: &str) {
        self.controls.hold(self.keys.stands_for(code).unwrap_or(code));
    }

    /// Handles a key release.
    pub fn key_up(&mut self, code: &str) {
        self.controls.release(self.keys.stands_for(code).unwrap_or(code));
    }

    /// Handles the key that a player assigns to an action.
    fn take_own_key(&mut self, code: &str, fresh: bool) {
        if fresh && self.keys.answer(code, self.cabinet.about()) {
            self.controls.release_all();
            self.shelf.keep("keys", self.keys.kept(), Keeping::Lasting);
        }
    }

    /// Sets the buttons a gamepad holds for local player 0 or 1, and its start button. Outside of a
    /// match they move the focus.
    pub fn set_gamepad(&mut self, player: usize, held: Held, start: bool) {
        let player = player.min(1);
        for key in self.controls.press_pad(player, held, start) {
            let steers = self.screen == Screen::Flying
                && !self.is_in_lobby()
                && (!self.is_board_up() || key == Key::Enter && self.is_board_fresh());
            if key == Key::Enter && self.shelf.is_elsewhere {
                self.take_over();
            } else if self.is_refused()
                && self.answer_refusal(if key == Key::Enter { "Enter" } else { "Escape" })
            {
            } else if !steers || key == Key::Escape {
                self.take_key(key);
            }
        }
        let held = if player == 0 && self.touch.used { held.or(self.touch.held()) } else { held };
        self.controls.set_added(player, held);
    }

    fn take_key(&mut self, key: Key) {
        match (self.screen, key) {
            (_, Key::Overlay) => self.net.detail = self.net.detail.next(),
            (_, Key::Enter | Key::Escape) if self.is_inviting() => self.close_invite(),
            (Screen::Menu, Key::Enter | Key::Escape) if self.shelf.shows_top => self.shelf.shows_top = false,
            (Screen::Menu, _) if self.shelf.shows_top => {}
            (Screen::Menu | Screen::Flying, Key::Escape) if self.shelf.is_elsewhere => {
                self.shelf.is_elsewhere = false;
            }
            (Screen::Menu, key) => {
                if let Some(choice) = self.menu.press(key) {
                    self.choose(choice, false);
                }
            }
            (Screen::Flying, Key::Escape) if self.close_emotes() => {}
            (Screen::Flying, Key::Escape) if self.is_joining() => self.stay_alone(),
            (Screen::Flying, Key::Help) if self.is_in_lobby() => {}
            (Screen::Flying, Key::Mute) if self.is_in_lobby() => self.turn_sound(),
            (Screen::Flying, key) if self.is_in_lobby() => self.press_lobby(key),
            (Screen::Flying, key) if self.is_board_up() => {
                if let Some(choice) = self.board.press(key) {
                    self.choose_after(choice);
                }
            }
            (Screen::Flying, Key::Escape) if self.is_watching() => self.go_home(),
            (Screen::Flying, Key::Escape) if self.standing_still().is_some() => self.stay_alone(),
            (Screen::Flying, Key::Escape) => self.pause(),
            (Screen::Flying | Screen::Paused, Key::Mute) => self.turn_sound(),
            (Screen::Paused, Key::Enter) => {
                let notice = self.paused();
                self.take_paused(notice.focus.and_then(|nth| notice.keys.get(nth)).map(|key| key.0));
            }
            (Screen::Paused, Key::Escape) => self.go_home(),
            (Screen::Paused | Screen::Flying, Key::Help) => self.show_help(),
            (Screen::Replay, key) => self.wind(key),
            (Screen::Help, Key::Right | Key::Down) => self.turn_page(1),
            (Screen::Help, Key::Left | Key::Up) => self.turn_page(self.help_pages() - 1),
            (Screen::Help, Key::Enter | Key::Escape | Key::Help) => self.screen = self.behind,
            _ => {}
        }
    }

    /// Handles letters that have a meaning on some screens only.
    fn take_letter(&mut self, code: &str) -> bool {
        let in_match = matches!(self.screen, Screen::Flying | Screen::Paused);
        match code {
            "KeyL" if in_match && self.is_board_up() => self.choose_after(ScoreChoice::CopyLink),
            "KeyS" if self.screen == Screen::Paused || in_match && self.is_board_up() => self.save_replay(),
            "KeyX" if self.screen == Screen::Paused => self.save_bundle(),
            "KeyD" if self.screen == Screen::Paused && self.has_lobby() => self.next_delay(),
            "Enter" | "NumpadEnter" if in_match && self.is_watching() && !self.is_board_up() => {
                self.sit_down();
            }
            "KeyC" if in_match && self.is_board_up() => self.choose_after(ScoreChoice::CopyLink),
            "KeyC" if in_match => self.invite(),
            "KeyT" if self.shelf.is_elsewhere => self.take_over(),
            "KeyN" if self.is_out() => self.open_new_room(),
            "KeyK" if self.screen == Screen::Help => self.keys.ask(),
            "KeyO" if matches!(self.screen, Screen::Menu | Screen::Replay) => self.shelf.wants_file = true,
            "KeyL" if self.screen == Screen::Replay => self.link_frame(),
            _ => return false,
        }
        true
    }

    /// Switches sound, and says so, because this screen shows no button for it.
    fn turn_sound(&mut self) {
        self.volume.toggle();
        let text = if self.muted() { "Sound off." } else { "Sound on." };
        self.toasts.push(None, text.to_string(), false);
        self.shelf.keep("volume", Some(self.volume.kept()), Keeping::Lasting);
    }

    /// The focused entry of the menu.
    pub fn focus(&self) -> Choice {
        self.menu.focus()
    }

    /// Handles the choice of a menu entry, by touch or otherwise.
    pub fn choose(&mut self, choice: Choice, is_touch: bool) {
        match choice {
            Choice::Play => self.take_off(1, JoinTarget::Matchmake),
            Choice::Cabinet(nth) => self.ask_for(nth),
            Choice::PlayTwo => self.take_off(2, JoinTarget::Matchmake),
            Choice::Private => self.open_for_friends(),
            Choice::Mode => self.look_around(),
            Choice::Palette => {
                self.menu.palette = (self.menu.palette + 1) % SEAT.len();
                self.shelf.keep("palette", Some(self.menu.palette.to_string()), Keeping::Lasting);
            }
            Choice::Watch(nth) => {
                if let Some(code) = self.listed_code(nth) {
                    self.take_off(1, JoinTarget::Spectate(code));
                }
            }
            Choice::Room(nth) => {
                if let Some(code) = self.listed_code(nth) {
                    self.take_off(1, JoinTarget::Code(code));
                }
            }
            // A touch screen has no keys: the field is edited anew, whatever it contains.
            Choice::Code if is_touch => self.shelf.ask_for_text = Some("The room's six letters?"),
            Choice::Code => {
                if let Ok(code) = self.menu.code().parse() {
                    self.take_off(1, JoinTarget::Code(code));
                }
            }
            Choice::Name if is_touch => self.shelf.ask_for_text = Some("What are you called?"),
            Choice::Name => {}
            Choice::Replay => self.shelf.wants_file = true,
            Choice::Help => self.show_help(),
            Choice::Board => self.show_top(),
            Choice::Fill => self.shelf.fill = true,
            Choice::Sound => {
                self.volume.next();
                self.shelf.keep("volume", Some(self.volume.kept()), Keeping::Lasting);
            }
        }
    }

    /// The code of a room in the list.
    fn listed_code(&self, nth: usize) -> Option<RoomCode> {
        self.shelf.rooms.get(nth).and_then(|room| room.code.parse().ok())
    }

    fn choose_after(&mut self, choice: ScoreChoice) {
        match choice {
            ScoreChoice::Again if self.is_watching() => self.sit_down(),
            ScoreChoice::Again if self.enter_lobby() => {}
            ScoreChoice::Again => {
                self.board_until = Some(self.now);
                self.pressed[0].action = true;
            }
            ScoreChoice::Menu => self.go_home(),
            ScoreChoice::CopyLink => self.copy_link(),
            ScoreChoice::SaveReplay => self.save_replay(),
        }
    }

    /// Begins a match alone at once, and joins or creates a room as `wish` says.
    fn take_off(&mut self, players: usize, wish: JoinTarget) {
        self.seed = self.seed.wrapping_add(1);
        self.players = players;
        self.tell_name();
        self.shelf.is_trial = self.params.is_trial();
        let mode = self.mode_label();
        self.cabinet.room_mut().set_mode(mode);
        self.cabinet.room_mut().set_preferred_slot(Some(Slot::at(self.menu.palette)));
        let has_bots = self.cabinet.about().has_bots && !matches!(wish, JoinTarget::Spectate(_));
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
        self.roosts = false;
        self.inviting.close();
        self.emoting.clear();
        self.controls.release_all();
        self.pressed = [Held::default(); 2];
        self.listen_anew();
        self.screen = Screen::Flying;
        self.took_off = self.now;
        if self.shelf.server_lost {
            self.hear(&RoomEvent::LobbyDisconnected);
        }
    }

    fn go_home(&mut self) {
        // Messages about a match are not shown in the menu.
        self.toasts.clear();
        self.leave_flight();
    }

    /// Leaves the match without the player's request: messages about it stay.
    fn leave_flight(&mut self) {
        self.inviting.close();
        self.cabinet.room_mut().leave();
        self.shelf.left_room();
        self.cabinet.rewind(Show::Attract);
        self.listen_anew();
        self.screen = Screen::Menu;
        self.shelf.is_trial = self.params.is_trial();
        self.look_around();
    }

    fn show_help(&mut self) {
        // A player that reads help does not play.
        if self.screen == Screen::Flying {
            self.pause();
        }
        self.behind = self.screen;
        self.shelf.help_page = 0;
        self.keys.stop();
        self.cabinet.rewind(Show::Help(0));
        self.screen = Screen::Help;
    }

    /// The game's help pages, and one of the arcade about its address, for players with a keyboard.
    fn help_pages(&self) -> usize {
        self.cabinet.about().help_pages + usize::from(!self.touch.used)
    }

    fn turn_page(&mut self, by: usize) {
        self.shelf.help_page = (self.shelf.help_page + by) % self.help_pages();
        self.cabinet.rewind(self.shown());
    }

    fn is_about_address(&self) -> bool {
        self.shelf.help_page == self.cabinet.about().help_pages
    }

    fn is_watching(&self) -> bool {
        self.cabinet.room().phase() == Phase::Spectating
    }

    fn is_joining(&self) -> bool {
        matches!(self.cabinet.room().phase(), Phase::Joining { .. })
    }

    /// Whether the match is over and the scores are shown.
    fn is_board_up(&self) -> bool {
        !self.roosts && self.cabinet.standing().board
    }

    /// Whether the scores were shown too recently to have been read.
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

    /// Advances time: simulates due frames, draws, and reports sounds to `hear`.
    pub fn frame(&mut self, now: Micros, mut hear: impl FnMut(Heard)) {
        self.update(now);
        self.welcome();
        self.shelf.rates.note_drawn(now);
        for _ in 0..self.pace.ticks_due(now, 1_000_000) {
            self.cabinet.step(self.shown());
        }
        self.draw();
        // Demo matches are silent.
        let is_heard = match self.screen {
            Screen::Flying => true,
            Screen::Replay => self.cabinet.tape().is_some_and(|tape| tape.running()),
            Screen::Menu | Screen::Paused | Screen::Help => false,
        };
        let cues: &[_] = if is_heard && !self.muted() { &self.scene.cues } else { &[] };
        self.hearing.listen(self.cabinet.standing().frame, cues, |heard| {
            self.tally.note(&heard);
            hear(heard);
        });
    }

    /// Another match is shown: cues of the one before are forgotten.
    fn listen_anew(&mut self) {
        self.hearing = Hearing::default();
        self.tally.forget();
    }

    /// Updates the room without drawing, for a hidden page.
    pub fn update(&mut self, now: Micros) {
        self.now = now;
        self.toasts.tick(now);
        let held = self.controls.held(self.players == 2, self.cabinet.about().has_second());
        self.board_until = self.is_board_up().then(|| self.board_until.unwrap_or(now + BOARD_READ));
        let steers = self.screen == Screen::Flying && !self.is_board_fresh() && !self.is_in_lobby();
        for (player, (pressed, held)) in self.pressed.iter_mut().zip(held).enumerate() {
            *pressed = if steers { pressed.or(held) } else { Held::default() };
            if player < self.players {
                self.cabinet.hold(player, *pressed);
            }
        }
        if self.cabinet.update(now) > 0 {
            // A tap shorter than a frame counts for one frame.
            self.pressed = [Held::default(); 2];
        }
        self.hear_room();
        self.update_lobby();
        self.hear_messages();
        self.sample_net();
        self.report_end();
    }

    /// The picture as RGBA bytes with full alpha, row by row.
    pub fn rgba(&mut self) -> &[u8] {
        self.canvas.rgba()
    }

    /// Size of the canvas in pixels.
    pub fn size(&self) -> (u32, u32) {
        (self.view.width as u32, self.view.height as u32)
    }
}
