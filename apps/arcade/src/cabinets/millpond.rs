//! Millpond in the arcade: a pond full of things, with replicated objects. Each player moves the
//! objects it holds. `cabinets` opens it. Absent: menu, panels, keys.

use std::fmt::Write;

use gaggle::replica::{Interest, Kinds, RemoteEvent, Session};
use gaggle::{JoinTarget, Micros, Platform, RoomConfig, Slot, World, WorldConfig, WorldRoom};
use gaggle_scene::{Album, Scene, View};
use millpond::attract::Attract;
use millpond::howto::{HowTo, PAGES};
use millpond::net::{self, Mill};
use millpond::stage::{Audience, RECIPES, Stage, WINDOW};
use millpond::{Pad, Pond, water};

use crate::cabinet::{About, Cabinet, CabinetRoom, Looks, Parts, Show, Standing, Start};
use crate::{Held, PlayerLine};

/// Slots of a room.
const CHAIRS: usize = 4;

/// Facts about millpond.
pub const ABOUT: About = About {
    name: "millpond",
    world: WINDOW,
    seats: CHAIRS,
    players_here: 1,
    has_replays: false,
    aside: &["You stepped aside. The others play on."],
    has_bots: false,
    modes: &[("pond", "Together")],
    names: &["Wren", "Hob", "Ottilie", "Big Tam"],
    place: "the pond",
    arrival: "Your boat is moored at the jetty. There is no hurry here.",
    keys: &[&[("↑ ↓", "row"), ("← →", "turn"), ("Space", "tows and lets go")]],
    own_keys: &[(0, "turning left"), (1, "turning right"), (2, "rowing"), (3, "rowing back"), (4, "towing")],
    has_four_ways: true,
    action: "TOW",
    turn: None,
    columns: ("Wave", &[]),
    help_pages: PAGES.len(),
    help: |page| (PAGES[page % PAGES.len()].title, PAGES[page % PAGES.len()].line),
    recipes: &RECIPES,
};

/// The pond as the world of a room.
#[derive(Debug)]
pub struct Shore(pub Mill);

impl Shore {
    /// Config of its room, without players and target.
    pub fn room() -> WorldConfig {
        let mut config =
            RoomConfig::world(ABOUT.name, CHAIRS as u8, net::policy()).expect("a name made of letters");
        config.engine = net::config();
        config
    }
}

impl World for Shore {
    type Input = Pad;

    fn kinds() -> Kinds {
        net::kinds()
    }

    fn populate(&mut self, session: &mut Session) {
        self.0.found(session);
    }

    fn on_enter(&mut self, _: &mut Session) {
        self.0.enter();
    }

    fn step(&mut self, session: &mut Session) {
        self.0.step(session);
    }

    fn on_remote_event(&mut self, session: &mut Session, signal: &RemoteEvent) {
        self.0.signal(session, signal);
    }

    fn interest(&mut self) -> Option<&mut dyn Interest> {
        Some(self.0.nearness())
    }
}

/// Millpond with its room.
pub struct MillpondCabinet<P: Platform> {
    room: WorldRoom<Shore, P>,
    stage: Stage,
    attract: Attract,
    how_to: HowTo,
    seed: u64,
}

impl<P: Platform> MillpondCabinet<P> {
    /// Opens the cabinet.
    pub fn open(parts: Parts<P>) -> MillpondCabinet<P> {
        let Parts { now, seed, view, client, outside } = parts;
        let mut config = Shore::room();
        config.join = JoinTarget::Browse;
        config.lobby = client;
        let room = WorldRoom::open(now, config, outside, Shore(Mill::new(seed)), seed)
            .expect("the settings of millpond can be");
        MillpondCabinet {
            room,
            stage: Stage::new(view),
            attract: Attract::new(seed),
            how_to: HowTo::new(0),
            seed,
        }
    }

    /// The shown pond.
    pub fn pond(&self) -> &Pond {
        self.room.world().0.pond()
    }
}

impl<P: Platform + 'static> Cabinet for MillpondCabinet<P> {
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
        self.seed = start.seed;
        self.room.restart(Shore(Mill::new(start.seed)), 1, start.wish.clone()).is_ok()
    }

    fn hold(&mut self, player: usize, held: Held) {
        if player == 0 {
            let Held { left, right, up, down, action, .. } = held;
            self.room.set_input(0, Pad { left, right, up, down, hand: action });
        }
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
                let audience =
                    Audience { calm, plain: true, bare: true, follow: Some(0), ..Audience::default() };
                self.stage.draw(self.attract.pond(), looks.between, &audience, scene);
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
                    raised: looks.thumbs,
                    holders: looks.curious,
                    ..Audience::default()
                };
                let between = if looks.still { 1.0 } else { self.room.alpha_permille() as f32 / 1_000.0 };
                self.stage.draw(self.room.world().0.pond(), between, &audience, scene);
            }
        }
    }

    /// The boat that the view follows.
    fn liveliest(&self) -> Option<(i32, i32)> {
        self.attract.pond().boats[0].map(|boat| self.stage.seen_at(boat.place))
    }

    fn album(&self) -> &Album {
        self.stage.album()
    }

    fn standing(&self) -> Standing {
        let pond = self.pond();
        let brought: u32 = pond.ledger.brought.iter().map(|count| u32::from(*count)).sum();
        let said = format!("Day {}. {brought} things brought.", pond.ledger.day + 1);
        Standing {
            frame: pond.frame,
            level: pond.ledger.day + 1,
            over: false,
            board: false,
            out: false,
            said,
        }
    }

    fn players(&self) -> Vec<PlayerLine> {
        let pond = self.pond();
        let boats = pond.boats.iter().flatten().map(|boat| usize::from(boat.seat));
        let line = |seat: usize| PlayerLine {
            seat,
            score: pond.ledger.credit.get(seat).copied().unwrap_or(0).into(),
            ..PlayerLine::default()
        };
        boats.filter(|seat| *seat < CHAIRS).map(line).collect()
    }

    /// The own boat is always in the middle, and the list at the left.
    fn is_own_at_right(&self) -> bool {
        false
    }

    fn place_of(&self, seat: usize) -> Option<(i32, i32)> {
        let boat = self.pond().boats.get(seat).copied().flatten()?;
        let (x, y) = self.stage.seen_at(boat.place);
        let view = self.stage.view();
        // The pond is larger than the screen and is drawn from its corner.
        let is_seen = (0..view.art_width).contains(&x) && (0..view.art_height).contains(&y);
        is_seen.then_some((x - view.left, y - view.top))
    }

    fn closing_line(&self, _: u64) -> &'static str {
        "There was no hurry."
    }

    /// A pond has no end to report.
    fn report_result(&mut self) -> bool {
        false
    }

    fn tell(&self, out: &mut String) {
        let pond = self.pond();
        let session = self.room.session();
        let here: Vec<String> = (0..CHAIRS)
            .map(|seat| session.roster().iter().any(|present| present.slot.index() == seat).to_string())
            .collect();
        let own = pond.boats.get(self.room.local_slot().index()).copied().flatten();
        let (x, y) = own.map_or((0, 0), |boat| (boat.place[0].floor(), boat.place[1].floor()));
        let mine = pond.floating.iter().filter(|floating| floating.mine).count();
        let brought: u32 = pond.ledger.brought.iter().map(|count| u32::from(*count)).sum();
        let credit = pond.ledger.credit.map(|credit| credit.to_string());
        let headings =
            pond.boats.map(|boat| boat.map_or("null".to_string(), |boat| boat.heading.to_bits().to_string()));
        let afloat =
            water::is_within(water::at(x, y), water::at(water::WIDTH / 2, water::HEIGHT / 2), water::WIDTH);
        let _ = write!(
            out,
            ",\"frame\":{},\"day\":{},\"things\":{},\"mine\":{mine},\"claims\":{},\"brought\":{brought},\"afloat\":{afloat},\"boat\":[{x},{y}],\"host\":{},\"here\":[{}],\"credit\":[{}],\"headings\":[{}],\"ids\":[",
            pond.frame,
            pond.ledger.day,
            pond.floating.len(),
            self.room.stats().claims,
            self.room.leader_slot().map_or(-1, |host| i32::from(host.number())),
            here.join(","),
            credit.join(","),
            headings.join(","),
        );
        // There are hundreds, ten times per second: no text is allocated for each.
        for (nth, floating) in pond.floating.iter().enumerate() {
            let comma = if nth > 0 { "," } else { "" };
            let _ = write!(out, "{comma}{}", floating.id.to_bits());
        }
        out.push(']');
    }
}
