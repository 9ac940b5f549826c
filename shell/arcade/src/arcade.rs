//! The whole arcade without a browser: keys and time in, a picture and sounds out.

use gaggle_kit::Micros;
use gaggle_scene::{Canvas, Heard, Hearing, Item, Scene, View, palette};
use gaggle_timeline::Pace;
use gander::arena::{HEIGHT, WIDTH};
use gander::stage::{Audience, Stage};
use gander::{Mode, Pad};

use crate::{Choice, Controls, Flight, Key, Menu, MenuFacts, Touch};

/// What is on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Screen {
    /// The cabinets, with bots at play behind them.
    Menu,
    /// A match.
    Flying,
    /// A match that waits.
    Paused,
    /// How to play, over what was there before.
    Help,
}

/// Steps a second.
const FRAMES_PER_SECOND: u32 = 60;

/// The arcade.
#[derive(Debug)]
pub struct Arcade {
    screen: Screen,
    /// What Help returns to.
    behind: Screen,
    view: View,
    stage: Stage,
    canvas: Canvas,
    scene: Scene,
    menu: Menu,
    flight: Flight,
    players: usize,
    pace: Pace,
    hearing: Hearing,
    controls: Controls,
    touch: Touch,
    muted: bool,
    calm: bool,
    seed: u64,
}

impl Arcade {
    /// An arcade on a small screen: see [`Arcade::resize`]. `calm` is for people who want less motion.
    pub fn new(now: Micros, seed: u64, calm: bool) -> Arcade {
        let view = fit(640, 360, 1.0);
        Arcade {
            screen: Screen::Menu,
            behind: Screen::Menu,
            view,
            stage: Stage::new(view),
            canvas: Canvas::new(view),
            scene: Scene::default(),
            menu: Menu::new(view),
            flight: Flight::attract(seed),
            players: 1,
            pace: Pace::new(FRAMES_PER_SECOND, now),
            hearing: Hearing::default(),
            controls: Controls::default(),
            touch: Touch::default(),
            muted: false,
            calm,
            seed,
        }
    }

    /// The screen has this size, in its own pixels, of which `ratio` make one of the page's.
    pub fn resize(&mut self, width: i32, height: i32, ratio: f32) {
        let view = fit(width, height, ratio);
        if view != self.view {
            self.view = view;
            self.stage = Stage::new(view);
            self.canvas = Canvas::new(view);
            self.menu.resize(view);
        }
    }

    /// What is on the screen.
    pub fn screen(&self) -> Screen {
        self.screen
    }

    /// The match that is shown.
    pub fn flight(&self) -> &Flight {
        &self.flight
    }

    /// Whether sound is off.
    pub fn muted(&self) -> bool {
        self.muted
    }

    /// Sound off or on.
    pub fn set_muted(&mut self, muted: bool) {
        self.muted = muted;
    }

    /// A key went down. Whether it means anything here, so that the page should not scroll.
    pub fn key_down(&mut self, code: &str) -> bool {
        let fresh = self.controls.press(code);
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
        if self.screen == Screen::Flying {
            self.screen = Screen::Paused;
        }
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
                    self.choose(choice);
                }
            }
            Screen::Paused | Screen::Help => self.take_key(Key::Enter),
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

    fn take_key(&mut self, key: Key) {
        match (self.screen, key) {
            (Screen::Menu, key) => {
                if let Some(choice) = self.menu.press(key) {
                    self.choose(choice);
                }
            }
            (Screen::Flying, Key::Escape) => self.screen = Screen::Paused,
            (Screen::Flying, Key::Mute) | (Screen::Paused, Key::Mute) => self.muted = !self.muted,
            (Screen::Paused, Key::Enter) => self.screen = Screen::Flying,
            (Screen::Paused, Key::Escape) => self.go_home(),
            (Screen::Paused | Screen::Flying, Key::Help) => self.show_help(),
            (Screen::Help, Key::Enter | Key::Escape | Key::Help) => self.screen = self.behind,
            _ => {}
        }
    }

    fn choose(&mut self, choice: Choice) {
        match choice {
            Choice::Play => self.take_off(1),
            Choice::PlayTwo => self.take_off(2),
            Choice::Mode => {
                self.menu.mode = if self.menu.mode == Mode::Team { Mode::Versus } else { Mode::Team };
            }
            Choice::Help => self.show_help(),
            Choice::Sound => self.muted = !self.muted,
            Choice::Private | Choice::Name | Choice::Room(_) | Choice::Watch(_) | Choice::Code => {}
        }
    }

    fn take_off(&mut self, players: usize) {
        self.seed = self.seed.wrapping_add(1);
        self.players = players;
        self.flight = Flight::solo(self.menu.mode, players, self.seed);
        self.controls.release_all();
        self.hearing = Hearing::default();
        self.screen = Screen::Flying;
    }

    fn go_home(&mut self) {
        self.seed = self.seed.wrapping_add(1);
        self.flight = Flight::attract(self.seed);
        self.hearing = Hearing::default();
        self.screen = Screen::Menu;
    }

    fn show_help(&mut self) {
        // Whoever reads is not flying.
        self.behind = if self.screen == Screen::Flying { Screen::Paused } else { self.screen };
        self.screen = Screen::Help;
    }

    /// Time has passed: ticks as often as it should, draws, and tells what is to be heard.
    pub fn frame(&mut self, now: Micros, mut hear: impl FnMut(Heard)) {
        let ticks = self.pace.ticks_due(now, 1_000_000);
        let runs = matches!(self.screen, Screen::Flying) || self.flight.own() == [false; 4];
        if runs {
            for _ in 0..ticks {
                let pads = self.controls.pads(self.players == 2);
                let pads = if self.screen == Screen::Flying { pads } else { [Pad::NONE; 2] };
                self.flight.tick(pads);
            }
        }
        self.draw(if runs { self.pace.thousandths() } else { 1_000 });
        let (game, _) = self.flight.states();
        // The attract mode plays in silence.
        let cues: &[_] = if self.screen == Screen::Flying && !self.muted { &self.scene.cues } else { &[] };
        self.hearing.listen(game.frame, cues, &mut hear);
    }

    fn draw(&mut self, thousandths: u32) {
        let (now, before) = self.flight.states();
        let own = self.flight.own();
        let names = match (own[0], own[1]) {
            (false, _) => ["Wren", "Hob", "Ottilie", "Big Tam"],
            (true, _) => ["Wren", "Hob", "", ""],
        };
        let plain = self.screen != Screen::Flying;
        let bare = own == [false; 4];
        let audience = Audience { names, own, calm: self.calm, plain, bare, ..Audience::default() };
        let between = thousandths as f32 / 1_000.0;
        self.stage.draw(now, before, between, &audience, &mut self.scene);
        if self.screen == Screen::Flying && self.touch.used {
            thumbs(&mut self.scene, self.view);
        }
        self.canvas.paint(&self.scene, self.stage.album());
        let mut over = Scene::default();
        match self.screen {
            Screen::Menu => {
                let facts = MenuFacts { muted: self.muted, online: Some(false), ..MenuFacts::default() };
                self.menu.draw(&mut over, &facts);
            }
            Screen::Paused => note(
                &mut over,
                self.view,
                "Paused",
                &["Enter flies on", "Esc goes home", "M sound, H how to play"],
            ),
            Screen::Help => note(&mut over, self.view, "How to play", &HELP),
            Screen::Flying => {}
        }
        self.canvas.paint(&over, self.menu.album());
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

/// How to play, in as few words as there are rules to know.
const HELP: [&str; 9] = [
    "Lean with the arrows or A and D. Flap with Space, W or Up.",
    "The higher lance wins. Equal lances bounce.",
    "An unseated rider leaves an egg. Take it before it hatches.",
    "Caught in the air an egg is worth more, and each one more than the last.",
    "Only a flap changes your speed up there: lean, then flap.",
    "Keep off the fire. From wave 4 on, something in it has hands.",
    "Dawdle, and the Hern comes. Its open throat is the only way.",
    "Two players: the second has J, L and I.",
    "Esc pauses. M mutes.",
];

/// The largest view of the world, with words that can be read: capitals are seven word pixels high, and should have
/// eleven of the page's.
fn fit(width: i32, height: i32, ratio: f32) -> View {
    let view = View::fit(width, height, WIDTH, HEIGHT);
    let readable = (11.0 * ratio / 7.0).ceil() as i32;
    // On a screen too small for that, rather small words than none.
    let room = (view.width / 160).max(1);
    let word_scale = view.word_scale.max(readable.min(room));
    View::at_scale(view.width, view.height, WIDTH, HEIGHT, view.scale, word_scale)
}

fn merge(a: Pad, b: Pad) -> Pad {
    Pad { left: a.left || b.left, right: a.right || b.right, flap: a.flap || b.flap }
}

/// A panel in the middle with a heading and some lines.
fn note(scene: &mut Scene, view: View, heading: &str, lines: &[&str]) {
    let (width, height) = (view.word_width(), view.word_height());
    let shade = Item::Fill {
        x: 0.0,
        y: 0.0,
        width: width as f32,
        height: height as f32,
        color: palette::INK,
        share: 110,
    };
    scene.words.push(shade);
    let widest = lines.iter().map(|line| gaggle_scene::font::width(line, false, 0)).max().unwrap_or(0);
    let (wide, tall) = ((widest + 40).max(140), lines.len() as i32 * 16 + 54);
    let (left, top) = ((width - wide) / 2, (height - tall) / 2);
    scene.word_panel((left, top, wide, tall), palette::NIGHT[1], 0.94, Some(palette::MIST[1]));
    let middle = (width / 2) as f32;
    scene.word(heading, middle, (top + 14) as f32, palette::FIRE[5]).centred().bold().sized(2);
    for (nth, line) in lines.iter().enumerate() {
        let y = top + 42 + nth as i32 * 16;
        scene.word(line, middle, y as f32, palette::TEXT).centred();
    }
}

/// Where thumbs go, faintly.
fn thumbs(scene: &mut Scene, view: View) {
    let (width, height) = (view.word_width(), view.word_height());
    let slab = (width * 22 / 100 - 8, height / 5);
    let y = height - slab.1 - 8;
    for (nth, sign) in ["<", ">"].into_iter().enumerate() {
        let x = 6 + nth as i32 * (slab.0 + 6);
        scene.word_panel((x, y, slab.0, slab.1), palette::INK, 0.35, Some(palette::MIST[0]));
        scene.word(sign, (x + slab.0 / 2) as f32, (y + slab.1 / 2 - 4) as f32, palette::DIM).centred().bold();
    }
    let x = width - slab.0 - 8;
    scene.word_panel((x, y, slab.0, slab.1), palette::INK, 0.35, Some(palette::FIRE[3]));
    scene.word("flap", (x + slab.0 / 2) as f32, (y + slab.1 / 2 - 4) as f32, palette::DIM).centred();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Micros {
        Micros::from_millis(millis)
    }

    fn run(arcade: &mut Arcade, from: u64, to: u64) -> Vec<Heard> {
        let mut heard = vec![];
        for at in (from..to).step_by(16) {
            arcade.frame(ms(at), |event| heard.push(event));
        }
        heard
    }

    #[test]
    fn enter_takes_off_and_keys_fly_the_goose() {
        let mut arcade = Arcade::new(Micros::ZERO, 1, false);
        assert!(run(&mut arcade, 0, 500).is_empty(), "the attract mode is silent");
        arcade.key_down("Enter");
        arcade.key_up("Enter");
        assert_eq!(arcade.screen(), Screen::Flying);
        let heard: usize = (0..20)
            .map(|nth| {
                let code = if nth % 2 == 0 { "Space" } else { "ArrowRight" };
                arcade.key_down(code);
                let heard = run(&mut arcade, 500 + nth * 200, 600 + nth * 200).len();
                arcade.key_up(code);
                heard + run(&mut arcade, 600 + nth * 200, 700 + nth * 200).len()
            })
            .sum();
        assert!(heard > 5, "only {heard} sounds");
        let (game, _) = arcade.flight().states();
        assert!(game.players[0].riding());
    }

    #[test]
    fn a_page_that_loses_the_keyboard_waits_and_comes_back() {
        let mut arcade = Arcade::new(Micros::ZERO, 1, false);
        arcade.key_down("Enter");
        run(&mut arcade, 0, 1_000);
        arcade.blur();
        let frame = arcade.flight().states().0.frame;
        run(&mut arcade, 1_000, 3_000);
        assert_eq!((arcade.screen(), arcade.flight().states().0.frame), (Screen::Paused, frame));
        arcade.key_down("Enter");
        run(&mut arcade, 3_000, 4_000);
        assert!(arcade.flight().states().0.frame > frame + 50);
        arcade.key_down("Escape");
        arcade.key_up("Escape");
        arcade.key_down("Escape");
        assert_eq!(arcade.screen(), Screen::Menu);
    }

    #[test]
    fn help_returns_to_where_it_was_asked_for() {
        let mut arcade = Arcade::new(Micros::ZERO, 1, false);
        for (from, back) in [(Screen::Menu, Screen::Menu), (Screen::Flying, Screen::Paused)] {
            if from == Screen::Flying {
                arcade.key_down("Enter");
                arcade.key_up("Enter");
            }
            assert_eq!(arcade.screen(), from);
            arcade.key_down("KeyH");
            arcade.key_up("KeyH");
            assert_eq!(arcade.screen(), Screen::Help);
            arcade.key_down("Escape");
            arcade.key_up("Escape");
            assert_eq!(arcade.screen(), back);
        }
    }

    #[test]
    fn any_size_of_screen_is_drawn() {
        let mut arcade = Arcade::new(Micros::ZERO, 1, true);
        for (width, height) in [(0, 0), (3, 900), (390, 844), (1280, 720), (2560, 200)] {
            arcade.resize(width, height, 1.0);
            arcade.frame(ms(20), |_| {});
            let (wide, tall) = arcade.size();
            assert_eq!(arcade.rgba().len(), (wide * tall * 4) as usize);
        }
    }
}
