//! Gander in the arcade: knights on geese, up to four, on a timeline. `cabinets` opens it. Absent:
//! menu, panels, keys.

use std::fmt::Write;

use gaggle::kit::state_hash;
use gaggle::{GameRoom, JoinTarget, Micros, Platform, RoomConfig, Slot, SlotSet};
use gaggle_scene::{Album, Scene, View};
use gander::arena::{HEIGHT, PX, WIDTH};
use gander::attract::Attract;
use gander::bots::{Bot, Strength};
use gander::howto::{HowTo, PAGES};
use gander::stage::{Audience, RECIPES, Stage};
use gander::{Gander, Mode, Pad, Phase, Player, SEATS, Seat, Setup};

use super::cinema::{Cinema, Shown};
use crate::cabinet::{About, Cabinet, CabinetRoom, Looks, Parts, Show, Standing, Start, Tape};
use crate::score_board::dry_line;
use crate::{Held, PlayerLine};

/// Facts about gander.
pub const ABOUT: About = About {
    name: "gander",
    world: (WIDTH, HEIGHT),
    seats: SEATS,
    players_here: 2,
    has_replays: true,
    aside: &["You stepped aside. The others play on.", "Your score waits half a minute."],
    has_bots: true,
    modes: &[("team", "Team"), ("versus", "Versus")],
    names: &["Wren", "Hob", "Ottilie", "Big Tam"],
    place: "the fen",
    arrival: "",
    keys: &[
        &[("← →", "or A D lean"), ("Space", "↑ or W flaps")],
        &[("A D", "lean"), ("W", "or Space flaps")],
        &[("← →", "lean"), ("↑", "flaps")],
    ],
    own_keys: &[(0, "leaning left"), (1, "leaning right"), (4, "flapping")],
    has_four_ways: false,
    action: "FLAP",
    turn: None,
    columns: ("Wave", &["falls"]),
    help_pages: PAGES.len(),
    help: |page| (PAGES[page % PAGES.len()].title, PAGES[page % PAGES.len()].line),
    recipes: &RECIPES,
};

/// How long the end of a match is shown before the scores, in frames.
const OVER_LOOK_FRAMES: u16 = 90;

/// Gander with its room.
pub struct GanderCabinet<P: Platform> {
    room: GameRoom<Gander, P>,
    stage: Stage,
    attract: Attract,
    how_to: HowTo,
    cinema: Option<Cinema<Gander>>,
    players: usize,
    bots: Vec<Bot>,
    seed: u64,
}

impl<P: Platform> GanderCabinet<P> {
    /// Opens the cabinet.
    pub fn open(parts: Parts<P>) -> GanderCabinet<P> {
        let Parts { now, seed, view, client, outside } = parts;
        // Without the error's text, which no player could read.
        let Ok(mut config) = RoomConfig::new(ABOUT.name, SEATS as u8) else { unreachable!("a good name") };
        config.engine.game_fingerprint = gander::FINGERPRINT;
        config.record_replay = true;
        config.join = JoinTarget::Browse;
        config.lobby = client;
        let game = Gander::new(Setup::default(), seed);
        let Ok(room) = GameRoom::open(now, config, outside, game, seed) else {
            unreachable!("good settings")
        };
        GanderCabinet {
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

    /// The shown match.
    pub fn game(&self) -> &Gander {
        self.room.game()
    }

    /// Number of pictures drawn at the present screen size.
    pub fn pictures(&self) -> u64 {
        self.stage.pictures()
    }

    /// Whether no local player has a goose left while another player has.
    fn are_own_out(&self, game: &Gander) -> bool {
        let own: SlotSet = self.room.local_slots().into_iter().take(self.players).collect();
        let is_out =
            |(seat, player): (usize, &Player)| own.contains(Slot::at(seat)) && player.seat == Seat::Out;
        let flies = |(seat, player): (usize, &Player)| {
            !own.contains(Slot::at(seat)) && player.present() && player.seat != Seat::Out
        };
        let players = || game.players.iter().enumerate();
        self.cinema.is_none()
            && players().filter(|pair| is_out(*pair)).count() == own.len()
            && !own.is_empty()
            && players().any(flies)
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
}

impl<P: Platform + 'static> Cabinet for GanderCabinet<P> {
    fn about(&self) -> &'static About {
        &ABOUT
    }

    fn room(&self) -> &dyn CabinetRoom {
        &self.room
    }

    fn room_mut(&mut self) -> &mut dyn CabinetRoom {
        &mut self.room
    }

    fn resize(&mut self, view: View) {
        self.stage = Stage::new(view);
    }

    fn start(&mut self, start: &Start) -> bool {
        let mode = if start.mode == 0 { Mode::Team } else { Mode::Versus };
        let usual = Setup::default();
        let mounts = start.lives.unwrap_or(usual.mounts);
        let first_wave = start.level.unwrap_or(usual.first_wave);
        let game = Gander::new(Setup { mode, mounts, first_wave }, start.seed);
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
        let pad = Pad { left: held.left, right: held.right, flap: held.up || held.action, fresh: false };
        if player < self.players {
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
        let calm = looks.calm;
        match show {
            Show::Attract => {
                // Only the scenery: plaques would be visible through the title.
                let audience = Audience { calm, plain: true, bare: true, ..Audience::default() };
                let game = self.attract.game();
                self.stage.draw(game, game, 1.0, &audience, scene);
            }
            Show::Help(_) => self.how_to.draw(&mut self.stage, looks.between, calm, scene),
            Show::Match => {
                let audience = Audience {
                    names: std::array::from_fn(|seat| looks.names.get(seat).map_or("", String::as_str)),
                    own: std::array::from_fn(|seat| looks.own.contains(Slot::at(seat))),
                    bars: std::array::from_fn(|seat| looks.bars.get(seat).copied().flatten()),
                    calm,
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
                let audience = Audience { calm, ..Audience::default() };
                self.stage.draw(now, before, between, &audience, scene);
            }
        }
    }

    fn album(&self) -> &Album {
        self.stage.album()
    }

    fn standing(&self) -> Standing {
        let game = self.cinema.as_ref().map_or(self.room.game(), |cinema| cinema.states().0);
        let own = self.room.local_slots();
        let scores = game.players.iter().enumerate().filter(|(seat, _)| own.contains(Slot::at(*seat)));
        let scores = scores.map(|(_, player)| player.score.to_string()).collect::<Vec<_>>().join(" and ");
        let (wave, over) = (&game.wave, game.wave.phase == Phase::Over);
        let said = match over {
            true => format!("Well flown. Score {scores}."),
            false => {
                let mode = if game.setup.mode == Mode::Team { "Team" } else { "Versus" };
                format!("Wave {}. Score {scores}. {mode}.", wave.number)
            }
        };
        Standing {
            frame: game.frame,
            level: wave.number,
            over,
            board: over && wave.left > OVER_LOOK_FRAMES,
            out: !over && self.are_own_out(game),
            said,
        }
    }

    fn players(&self) -> Vec<PlayerLine> {
        let players = self.room.game().players.iter().enumerate();
        let line = |(seat, player): (usize, &Player)| PlayerLine {
            seat,
            score: player.score,
            figures: vec![player.tally.falls.to_string()],
            remark: remark(player),
            ..PlayerLine::default()
        };
        players.filter(|(_, player)| player.present()).map(line).collect()
    }

    fn is_own_at_right(&self) -> bool {
        let slot = self.room.local_slots().lowest().map_or(0, Slot::index);
        self.room.game().players[slot.min(SEATS - 1)].mover.x / PX > WIDTH / 2
    }

    fn own_places(&self) -> Vec<(i32, i32)> {
        let own = self.room.local_slots().into_iter().take(self.players);
        let movers = own.filter_map(|slot| self.room.game().players.get(slot.index()));
        movers.map(|player| (player.mover.x / PX, player.mover.y / PX)).collect()
    }

    fn place_of(&self, seat: usize) -> Option<(i32, i32)> {
        let player = self.room.game().players.get(seat).filter(|player| player.present())?;
        Some((player.mover.x / PX, player.mover.y / PX))
    }

    fn closing_line(&self, number: u64) -> &'static str {
        let game = self.room.game();
        let players = game.players.iter().filter(|player| player.present()).count();
        dry_line(game.wave.number, players, number)
    }

    fn report_result(&mut self) -> bool {
        let Some((_, game)) = self.room.confirmed() else { return false };
        if game.wave.phase != Phase::Over {
            return false;
        }
        let here = game.players.iter().enumerate().filter(|(_, player)| player.present());
        let points: Vec<(Slot, i64)> =
            here.map(|(seat, player)| (Slot::at(seat), i64::from(player.score))).collect();
        // Peers report at different frames of the end: only the part of the state that no longer
        // changes is compared.
        let digest = state_hash(&(game.wave.number, game.players.map(|player| player.score)));
        self.room.report_result(&points, Some(game.wave.number.into()), digest)
    }

    fn own_score(&self) -> Option<(i64, u32)> {
        let game = self.room.game();
        let player = game.players.get(self.room.local_slots().lowest()?.index())?;
        Some((player.score.into(), game.wave.number.into()))
    }

    fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.room.replay_bytes()
    }

    fn take_desync_bundle(&mut self) -> Option<Vec<u8>> {
        Some(self.room.take_desync_bundle()?.encode())
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

    fn tell(&self, out: &mut String) {
        let game = self.room.game();
        let scores = game.players.map(|player| player.score);
        let mounts = game.players.map(|player| player.mounts);
        let here = game.players.map(|player| player.present());
        let own = self.room.local_slots().lowest().and_then(|slot| game.players.get(slot.index()));
        let goose = own.map_or([0; 3], |own| [own.mover.x, own.mover.y, own.mover.speed.into()]);
        let _ = write!(
            out,
            ",\"goose\":{goose:?},\"frame\":{},\"wave\":{},\"over\":{},\"scores\":{scores:?},\"mounts\":{mounts:?},\"here\":{here:?}",
            game.frame,
            game.wave.number,
            game.wave.phase == Phase::Over,
        );
        if let Some(cinema) = &self.cinema {
            let ((frame, last), hash) = (cinema.position(), state_hash(cinema.states().0));
            let _ = write!(out, ",\"replay\":[{frame},{last},\"{hash:016x}\"]");
        }
    }
}

impl Shown for Gander {
    const FINGERPRINT: u64 = gander::FINGERPRINT;

    fn level(&self) -> u16 {
        self.wave.number
    }

    fn falls(&self) -> Vec<u16> {
        self.players.iter().map(|player| player.tally.falls).collect()
    }
}

/// Remark about a player's match.
fn remark(player: &Player) -> String {
    let tally = &player.tally;
    let text = match () {
        () if tally.falls == 0 => "never fell",
        () if tally.burns > 1 => "fond of fire",
        () if tally.eggs > tally.jousts => "an eye for eggs",
        () if tally.jousts > 20 => "sharp lance",
        () => "",
    };
    text.to_string()
}
