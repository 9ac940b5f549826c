//! Skein in the arcade: an autumn flight of up to six, in lockstep over a timeline.
//!
//! Opened by `cabinets`. Absent: keys, panels, the menu.

use std::fmt::Write;

use gaggle::kit::state_hash;
use gaggle::{GameRoom, JoinTarget, Micros, Platform, RoomConfig, Slot, SlotSet, StartMode};
use gaggle_scene::{Album, Scene, View};
use skein::attract::Attract;
use skein::bots::{Bot, Strength};
use skein::howto::{HowTo, PAGES};
use skein::sky::{HEIGHT, PX, WIDTH};
use skein::stage::{Audience, RECIPES, Roosting, STAGE_NAMES, Stage};
use skein::{Flight, Goose, Mode, Pad, Phase, SEATS, SPARES_USUAL, Setup, Skein, results};

use super::cinema::{Cinema, Shown};
use crate::cabinet::{About, Cabinet, CabinetRoom, HostedRoom, Looks, Parts, Show, Standing, Start, Tape};
use crate::{Held, PlayerLine, Waiting};

/// Facts about skein.
pub const ABOUT: About = About {
    name: "skein",
    world: (WIDTH, HEIGHT),
    seats: SEATS,
    players_here: 2,
    has_replays: true,
    aside: &["You stepped aside. Your goose flies on by itself.", "It is yours again until the next roost."],
    has_bots: true,
    modes: &[("flight", "Flight"), ("long", "Long flight")],
    names: &["Wren", "Hob", "Ottilie", "Big Tam", "Maud", "Pip"],
    place: "the flight",
    arrival: "You come in from the left.",
    keys: &[
        &[("← → ↑ ↓", "or A D W S fly"), ("Space", "honks"), ("Shift", "or X tucks")],
        &[("A D W S", "fly"), ("Space", "honks"), ("X", "tucks")],
        &[("← → ↑ ↓", "fly"), ("right Shift", "honks"), ("U", "tucks")],
    ],
    own_keys: &[
        (0, "flying left"),
        (1, "flying right"),
        (2, "flying up"),
        (3, "flying down"),
        (4, "honking"),
        (5, "tucking"),
    ],
    has_four_ways: true,
    action: "HONK",
    turn: None,
    columns: ("Stage", &["catches", "falls", "at the point"]),
    help_pages: PAGES.len(),
    help: |page| (PAGES[page % PAGES.len()].title, PAGES[page % PAGES.len()].line),
    recipes: &RECIPES,
};

/// How long the end of a run is shown before the scores, in frames.
const OVER_LOOK_FRAMES: u16 = 120;

/// Skein with its room.
pub struct SkeinCabinet<P: Platform> {
    room: GameRoom<Skein, P>,
    stage: Stage,
    attract: Attract,
    how_to: HowTo,
    cinema: Option<Cinema<Skein>>,
    players: usize,
    bots: Vec<Bot>,
    seed: u64,
}

impl<P: Platform> SkeinCabinet<P> {
    /// Opens the cabinet.
    pub fn open(parts: Parts<P>) -> SkeinCabinet<P> {
        let Parts { now, seed, view, client, outside } = parts;
        // Without the error's text, which no player could read.
        let Ok(mut config) = RoomConfig::new(ABOUT.name, SEATS as u8) else { unreachable!("a good name") };
        config.engine = skein::timeline_config();
        config.record_replay = true;
        config.join = JoinTarget::Browse;
        // Rooms of friends. Those of strangers run from the beginning, as the server says.
        config.start = StartMode::HostStarts { join_late: true };
        config.lobby = client;
        let game = Skein::new(Setup::default(), seed);
        let Ok(room) = GameRoom::open(now, config, outside, game, seed) else {
            unreachable!("good settings")
        };
        SkeinCabinet {
            room,
            stage: Stage::new(view),
            attract: Attract::new(seed),
            how_to: HowTo::new(0),
            cinema: None,
            players: 1,
            bots: Vec::new(),
            seed,
        }
    }

    /// The shown run.
    pub fn game(&self) -> &Skein {
        self.room.game()
    }

    /// Slots of local players, without bots.
    fn own(&self) -> SlotSet {
        self.room.local_slots().into_iter().take(self.players).collect()
    }

    /// Gives inputs to local bots, in the slots the match assigned to them.
    fn play_bots(&mut self) {
        let slots = self.room.local_slots().into_iter().skip(self.players);
        for (nth, (bot, slot)) in self.bots.iter_mut().zip(slots).enumerate() {
            if bot.seat() != slot.index() {
                *bot = Bot::new(slot.index(), Strength::Steady, self.seed);
            }
            let pad = bot.play(self.room.game());
            self.room.set_input(self.players + nth, pad);
        }
    }

    fn is_over(&self) -> bool {
        self.room.game().course.phase == Phase::Over
    }
}

impl<P: Platform + 'static> Cabinet for SkeinCabinet<P> {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn room(&self) -> &dyn CabinetRoom {
        &self.room
    }

    fn room_mut(&mut self) -> &mut dyn CabinetRoom {
        &mut self.room
    }

    fn hosted(&mut self) -> Option<&mut dyn HostedRoom> {
        Some(&mut self.room)
    }

    fn draw_lobby(&mut self, waiting: &[Waiting], time: f32, calm: bool, scene: &mut Scene) {
        let goose = |seat: usize| {
            let waiting = waiting.iter().find(|waiting| waiting.seat == seat)?;
            Some(Roosting { is_ready: waiting.is_ready, is_away: waiting.is_away })
        };
        self.stage.draw_roost(&std::array::from_fn(goose), time, calm, scene);
    }

    fn resize(&mut self, view: View) {
        self.stage = Stage::new(view);
    }

    fn start(&mut self, start: &Start) -> bool {
        let mode = if start.mode == 0 { Mode::Flight } else { Mode::Long };
        let spares = start.lives.map_or(SPARES_USUAL, |lives| lives.saturating_sub(1).min(9));
        let stage = start.level.map_or(1, |level| level.clamp(1, 5) as u8);
        let game = Skein::new(Setup { mode, spares, stage, wave: 0 }, start.seed);
        let bots = start.bots.min(SEATS - start.players);
        if self.room.restart(game, start.players + bots, start.wish.clone()).is_err() {
            return false;
        }
        let seats = start.players..start.players + bots;
        self.bots = seats.map(|seat| Bot::new(seat, Strength::Steady, start.seed)).collect();
        (self.players, self.seed) = (start.players, start.seed);
        true
    }

    fn hold(&mut self, player: usize, held: Held) {
        let axis = |less: bool, more: bool| i32::from(more) - i32::from(less);
        let pad = Pad::flying(axis(held.left, held.right), axis(held.up, held.down));
        if player < self.players {
            let pad = pad.with(Pad::HONK, held.action).with(Pad::TUCK, held.second);
            self.room.set_input(player, pad);
        }
    }

    fn update(&mut self, now: Micros) -> u32 {
        self.play_bots();
        self.room.update(now)
    }

    fn rewind(&mut self, show: Show) {
        match show {
            Show::Attract => self.attract = Attract::new(self.seed),
            Show::Help(page) => self.how_to = HowTo::new(page),
            Show::Match | Show::Replay => {}
        }
    }

    fn step(&mut self, show: Show) {
        match show {
            Show::Attract => self.attract.step(),
            Show::Help(_) => self.how_to.step(),
            Show::Replay => self.cinema.iter_mut().for_each(Cinema::step),
            Show::Match => {}
        }
    }

    fn draw(&mut self, show: Show, looks: &Looks<'_>, scene: &mut Scene) {
        match show {
            Show::Attract => self.attract.draw(&mut self.stage, looks.between, looks.calm, scene),
            Show::Help(_) => self.how_to.draw(&mut self.stage, looks.between, looks.calm, scene),
            Show::Match => {
                let audience = Audience {
                    names: std::array::from_fn(|seat| looks.names.get(seat).map_or("", String::as_str)),
                    own: std::array::from_fn(|seat| looks.own.contains(Slot::at(seat))),
                    room: "",
                    calm: looks.calm,
                    plain: looks.plain,
                    bare: looks.bare,
                };
                let between = if looks.still { 1.0 } else { self.room.alpha_permille() as f32 / 1_000.0 };
                self.stage.draw(self.room.game(), self.room.previous_game(), between, &audience, scene);
            }
            Show::Replay => {
                let Some(cinema) = &self.cinema else { return };
                let (now, before) = cinema.states();
                let between = if cinema.running() { looks.between } else { 1.0 };
                let audience = Audience { calm: looks.calm, ..Audience::default() };
                self.stage.draw(now, before, between, &audience, scene);
            }
        }
    }

    fn liveliest(&self) -> Option<(i32, i32)> {
        Some(self.attract.liveliest())
    }

    fn album(&self) -> &Album {
        self.stage.album()
    }

    fn standing(&self) -> Standing {
        let game = self.cinema.as_ref().map_or(self.room.game(), |cinema| cinema.states().0);
        let course = &game.course;
        let own = self.own();
        let ours =
            || game.geese[..SEATS].iter().enumerate().filter(|(seat, _)| own.contains(Slot::at(*seat)));
        let scores = ours().map(|(_, goose)| goose.tally.score.to_string()).collect::<Vec<_>>().join(" and ");
        let over = course.phase == Phase::Over;
        let stage = STAGE_NAMES[usize::from(course.stage.clamp(1, 5)) - 1];
        let said = match (over, course.is_dawn) {
            (true, true) => format!("The sea. Score {scores}."),
            (true, false) => format!("The flight is over. Score {scores}."),
            (false, _) => format!("{stage}. Score {scores}. Spare geese {}.", course.spare),
        };
        let others = game.geese[..SEATS].iter().enumerate().any(|(seat, goose)| {
            !own.contains(Slot::at(seat)) && goose.is_person() && goose.flight != Flight::Out
        });
        let is_out = !own.is_empty() && ours().all(|(_, goose)| goose.flight == Flight::Out);
        Standing {
            frame: game.frame,
            level: course.stage.into(),
            over,
            board: over && course.age > OVER_LOOK_FRAMES,
            out: !over && is_out && others && self.cinema.is_none(),
            said,
        }
    }

    fn players(&self) -> Vec<PlayerLine> {
        let line = |line: results::Line| PlayerLine {
            seat: line.seat,
            score: line.score,
            figures: vec![line.catches.to_string(), line.falls.to_string(), line.point_time()],
            remark: line.remark.to_string(),
            ..PlayerLine::default()
        };
        results::lines(self.room.game()).into_iter().map(line).collect()
    }

    fn is_own_at_right(&self) -> bool {
        // Geese fly in the left two thirds: the overlay is always at the right.
        false
    }

    fn own_places(&self) -> Vec<(i32, i32)> {
        let geese = self.own().into_iter().filter_map(|slot| self.room.game().geese.get(slot.index()));
        geese.map(|goose| (goose.x / PX, goose.y / PX)).collect()
    }

    fn place_of(&self, seat: usize) -> Option<(i32, i32)> {
        let goose = self.room.game().geese.get(seat).filter(|goose| goose.is_aloft())?;
        Some((goose.x / PX, goose.y / PX))
    }

    fn closing_line(&self, number: u64) -> &'static str {
        if self.room.game().course.is_dawn {
            return "The sea. All of you.";
        }
        let lines =
            ["The fen keeps the rest of the sky.", "Geese come back in spring.", "One wing beat short."];
        lines[(number % 3) as usize]
    }

    fn report_result(&mut self) -> bool {
        let Some((_, game)) = self.room.confirmed() else { return false };
        if game.course.phase != Phase::Over {
            return false;
        }
        let here = game.geese[..SEATS].iter().enumerate().filter(|(_, goose)| goose.is_person());
        let points: Vec<(Slot, i64)> =
            here.map(|(seat, goose)| (Slot::at(seat), i64::from(goose.tally.score))).collect();
        let level = u32::from(game.course.stage) + u32::from(game.course.is_dawn);
        // Only the part of the state that no longer changes is compared.
        let digest = state_hash(&(level, game.geese.map(|goose| goose.tally.score)));
        self.room.report_result(&points, Some(level), digest)
    }

    fn own_score(&self) -> Option<(i64, u32)> {
        let game = self.room.game();
        let goose = game.geese.get(self.room.local_slots().lowest()?.index())?;
        Some((goose.tally.score.into(), game.course.stage.into()))
    }

    fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.room.replay_bytes()
    }

    fn open_tape(&mut self, bytes: Vec<u8>, frame: u32) -> Result<(), String> {
        self.cinema = Some(Cinema::open(bytes, frame)?);
        Ok(())
    }

    fn tape(&mut self) -> Option<&mut dyn Tape> {
        self.cinema.as_mut().map(|cinema| cinema as &mut dyn Tape)
    }

    fn close_tape(&mut self) {
        self.cinema = None;
    }

    fn take_desync_bundle(&mut self) -> Option<Vec<u8>> {
        Some(self.room.take_desync_bundle()?.encode())
    }

    fn tell(&self, out: &mut String) {
        let game = self.room.game();
        let seats = &game.geese[..SEATS];
        let scores: Vec<u32> = seats.iter().map(|goose| goose.tally.score).collect();
        let here: Vec<bool> = seats.iter().map(Goose::is_person).collect();
        let own = self.room.local_slots().lowest().and_then(|slot| game.geese.get(slot.index()));
        let goose = own.map_or([0; 2], |own| [own.x, own.y]);
        let _ = write!(
            out,
            ",\"goose\":{goose:?},\"frame\":{},\"wave\":{},\"leg\":{},\"crew\":{},\"embers\":{},\"over\":{},\"scores\":{scores:?},\"here\":{here:?}",
            game.frame,
            game.course.wave,
            game.course.stage,
            game.course.crew,
            game.embers.iter().count(),
            self.is_over(),
        );
        if let Some(cinema) = &self.cinema {
            let ((frame, last), hash) = (cinema.position(), state_hash(cinema.states().0));
            let _ = write!(out, ",\"replay\":[{frame},{last},\"{hash:016x}\"]");
        }
    }
}

impl Shown for Skein {
    const FINGERPRINT: u64 = skein::FINGERPRINT;

    fn level(&self) -> u16 {
        self.course.stage.into()
    }

    fn falls(&self) -> Vec<u16> {
        self.geese[..SEATS].iter().map(|goose| goose.tally.falls()).collect()
    }
}
