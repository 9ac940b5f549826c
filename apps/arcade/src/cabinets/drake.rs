//! Drake in the arcade: a brawl in a wicker coop, with replicated objects. The leader is referee;
//! each player has authority over its craft. `cabinets` opens it. Absent: menu, panels, keys.

use std::fmt::Write;

use drake::attract::Attract;
use drake::field::{HEIGHT, SEATS, WIDTH};
use drake::howto::{HowTo, PAGES};
use drake::net::{self, Coop};
use drake::stage::{Audience, RECIPES, Stage};
use drake::standing::Form;
use drake::{Drake, Pad, Phase, Setup};
use gaggle::replica::{self, EventRequest, Kinds, RemoteEvent, Session};
use gaggle::{JoinTarget, Micros, Platform, RoomConfig, Slot, World, WorldConfig, WorldRoom};
use gaggle_scene::{Album, Scene, View};

use crate::cabinet::{About, Cabinet, CabinetRoom, Looks, Parts, Show, Standing, Start};
use crate::{Held, PlayerLine};

/// Slots of a room: one for each nest of the coop. Bots take the free ones.
const CHAIRS: usize = SEATS;

/// Frames after the end of a match until its result is reported.
const TOLD_AFTER: u16 = 60;

/// Facts about drake.
pub const ABOUT: About = About {
    name: "drake",
    world: (WIDTH, HEIGHT),
    seats: CHAIRS,
    players_here: 2,
    has_replays: false,
    aside: &["You stepped aside. The others play on."],
    has_bots: true,
    modes: &[("brawl", "Brawl")],
    names: &["Wren", "Hob", "Ottilie", "Big Tam", "Isolde", "Pip"],
    place: "the coop",
    arrival: "You hatch in your nest. Nothing can touch you at first.",
    keys: &[
        &[("←", "or → turns, twice dashes"), ("Space", "or ↑ flies and fires")],
        &[("A", "or D turns, twice dashes"), ("W", "or Space flies and fires")],
        &[("←", "or → turns, twice dashes"), ("↑", "flies and fires")],
    ],
    own_keys: &[(0, "turning"), (4, "flying and firing")],
    has_four_ways: false,
    action: "FIRE",
    turn: Some("TURN"),
    columns: ("Wave", &[]),
    help_pages: PAGES.len(),
    help: |page| (PAGES[page % PAGES.len()].title, PAGES[page % PAGES.len()].line),
    recipes: &RECIPES,
};

/// The coop as the world of a room.
#[derive(Debug)]
pub struct Brawl(pub Coop);

impl Brawl {
    /// Config of its room, without players and target.
    pub fn room() -> WorldConfig {
        let mut config =
            RoomConfig::world(ABOUT.name, CHAIRS as u8, net::policy()).expect("a name made of letters");
        config.engine = net::config();
        config
    }
}

impl World for Brawl {
    type Input = Pad;

    fn kinds() -> Kinds {
        net::kinds()
    }

    fn populate(&mut self, _: &mut Session) {}

    fn on_enter(&mut self, _: &mut Session) {
        self.0.enter();
    }

    fn step(&mut self, session: &mut Session) {
        self.0.step(session);
    }

    fn on_event(&mut self, _: &mut Session, event: &replica::SessionEvent) {
        self.0.hear(event);
    }

    fn on_remote_event(&mut self, session: &mut Session, signal: &RemoteEvent) {
        self.0.signal(session, signal);
    }

    fn approve(&mut self, _: &mut Session, petition: &EventRequest) -> bool {
        self.0.judge(petition)
    }
}

/// Drake with its room.
pub struct DrakeCabinet<P: Platform> {
    room: WorldRoom<Brawl, P>,
    stage: Stage,
    attract: Attract,
    how_to: HowTo,
    seed: u64,
    /// The match whose end was reported to the lobby.
    reported: Option<u16>,
}

impl<P: Platform> DrakeCabinet<P> {
    /// Opens the cabinet.
    pub fn open(parts: Parts<P>) -> DrakeCabinet<P> {
        let Parts { now, seed, view, client, outside } = parts;
        let mut config = Brawl::room();
        config.join = JoinTarget::Browse;
        config.lobby = client;
        let world = Brawl(Coop::new(Setup::default(), seed));
        let room = WorldRoom::open(now, config, outside, world, seed).expect("the settings of drake can be");
        DrakeCabinet {
            room,
            stage: Stage::new(view),
            attract: Attract::new(seed),
            how_to: HowTo::new(0),
            seed,
            reported: None,
        }
    }

    /// The shown match.
    pub fn game(&self) -> &Drake {
        self.room.world().0.game()
    }
}

impl<P: Platform + 'static> Cabinet for DrakeCabinet<P> {
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
        let asked = start.players + start.bots;
        let fill = if start.bots > 0 { asked } else { usize::from(Setup::default().fill) };
        let setup = Setup { fill: fill as u8, wins: start.lives.unwrap_or(Setup::default().wins) };
        (self.seed, self.reported) = (start.seed, None);
        self.room.restart(Brawl(Coop::new(setup, start.seed)), start.players, start.wish.clone()).is_ok()
    }

    fn hold(&mut self, player: usize, held: Held) {
        let pad = Pad { turn: held.left || held.right, fire: held.up || held.action };
        self.room.set_input(player, pad);
    }

    fn update(&mut self, now: Micros) -> u32 {
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
            Show::Match | Show::Replay => {}
        }
    }

    fn draw(&mut self, show: Show, looks: &Looks<'_>, scene: &mut Scene) {
        let calm = looks.calm;
        match show {
            Show::Attract => {
                let audience = Audience { calm, plain: true, bare: true, ..Audience::default() };
                self.stage.draw(self.attract.game(), looks.between, &audience, scene);
                scene.cues.clear();
            }
            Show::Help(_) => self.how_to.draw(&mut self.stage, looks.between, calm, scene),
            Show::Match | Show::Replay => {
                let audience = Audience {
                    names: std::array::from_fn(|seat| looks.name_of(seat, &ABOUT)),
                    own: std::array::from_fn(|seat| looks.own.contains(Slot::at(seat))),
                    bars: std::array::from_fn(|seat| looks.bars.get(seat).copied().flatten()),
                    calm,
                    plain: looks.plain,
                    ..Audience::default()
                };
                let between = if looks.still { 1.0 } else { self.room.alpha_permille() as f32 / 1_000.0 };
                self.stage.draw(self.room.world().0.game(), between, &audience, scene);
            }
        }
    }

    fn liveliest(&self) -> Option<(i32, i32)> {
        let game = self.attract.game();
        let up = game.seats.iter().zip(&game.crafts).find(|(seat, _)| seat.form == Form::Drake);
        Some(
            up.map_or((WIDTH / 2, HEIGHT / 2), |(_, craft)| (craft.place[0].floor(), craft.place[1].floor())),
        )
    }

    fn album(&self) -> &Album {
        self.stage.album()
    }

    /// A match is followed by the next without a key, and its own picture has the scores: the
    /// arcade's score board is never shown.
    fn standing(&self) -> Standing {
        let game = self.game();
        let own = self.room.local_slot().index();
        let seat = game.seats.get(own);
        let (score, wins) = seat.map_or((0, 0), |seat| (seat.score, seat.wins));
        let said = match game.bout.phase {
            Phase::Over => format!("Well brawled. {score} down, {wins} rounds won."),
            _ => format!("Round {}. {score} down, {wins} rounds won.", game.bout.round),
        };
        let over = game.bout.phase == Phase::Over;
        Standing { frame: game.frame, level: game.bout.round, over, board: false, out: false, said }
    }

    fn players(&self) -> Vec<PlayerLine> {
        let present = self.game().seats.iter().filter(|seat| seat.present());
        let line = |seat: &drake::Standing| PlayerLine {
            seat: usize::from(seat.seat),
            score: u32::from(seat.score),
            ..PlayerLine::default()
        };
        present.map(line).collect()
    }

    fn is_own_at_right(&self) -> bool {
        let game = self.game();
        let craft = game.crafts.get(self.room.local_slot().index());
        craft.is_some_and(|craft| craft.place[0].floor() > WIDTH / 2)
    }

    fn place_of(&self, seat: usize) -> Option<(i32, i32)> {
        let place = self.game().crafts.get(seat)?.place;
        Some((place[0].floor(), place[1].floor()))
    }

    fn closing_line(&self, _: u64) -> &'static str {
        "The last one up buys nothing."
    }

    fn report_result(&mut self) -> bool {
        let bout = self.game().bout;
        // Before a player can begin the next match, and after all peers have received the end.
        if bout.phase != Phase::Over || bout.since < TOLD_AFTER || self.reported == Some(bout.number) {
            return false;
        }
        let seats = self.game().seats;
        let here = seats.iter().filter(|seat| seat.present() && !seat.bot);
        let points: Vec<(Slot, i64)> =
            here.map(|seat| (Slot::at(seat.seat.into()), i64::from(seat.score))).collect();
        let is_told = self.room.report_result(&points, Some(u32::from(bout.round)), u64::from(bout.number));
        self.reported = is_told.then_some(bout.number);
        is_told
    }

    fn own_score(&self) -> Option<(i64, u32)> {
        let (game, own) = (self.game(), self.room.local_slot());
        let seat = game.seats.iter().find(|seat| seat.present() && Slot::at(seat.seat.into()) == own)?;
        Some((seat.score.into(), game.bout.round.into()))
    }

    fn tell(&self, out: &mut String) {
        let game = self.game();
        let scores = game.seats.map(|seat| seat.score.to_string());
        let here = game.seats.map(|seat| (seat.present() && !seat.bot).to_string());
        let headings = game.crafts.map(|craft| craft.heading.to_bits().to_string());
        let heading = headings.get(self.room.local_slot().index()).map_or("0", String::as_str);
        let _ = write!(
            out,
            ",\"frame\":{},\"round\":{},\"match\":{},\"host\":{},\"heading\":{heading},\"headings\":[{}],\"scores\":[{}],\"here\":[{}]",
            game.frame,
            game.bout.round,
            game.bout.number,
            self.room.leader_slot().map_or(-1, |host| i32::from(host.number())),
            headings.join(","),
            scores.join(","),
            here.join(","),
        );
    }
}
