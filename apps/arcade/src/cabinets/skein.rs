//! Skein in the arcade: an autumn flight of up to six, in lockstep over a timeline.
//!
//! Opened by `cabinets`. Absent: keys, panels, the menu.

use std::fmt::Write;

use gaggle::kit::state_hash;
use gaggle::timeline::TimelineConfig;
use gaggle::{GameRoom, JoinTarget, Micros, Platform, RoomConfig, Slot, SlotSet};
use gaggle_scene::{Album, Scene, View};
use skein::attract::Attract;
use skein::bots::{Bot, Strength};
use skein::howto::{HowTo, PAGES};
use skein::sky::{HEIGHT, PX, WIDTH};
use skein::stage::{Audience, RECIPES, STAGE_NAMES, Stage};
use skein::{Flight, Goose, Mode, Pad, Phase, SEATS, SPARES_USUAL, Setup, Skein};

use crate::cabinet::{About, Cabinet, CabinetRoom, Looks, Parts, Show, Standing, Start};
use crate::{Held, PlayerLine};

/// Facts about skein.
pub const ABOUT: About = About {
    name: "skein",
    world: (WIDTH, HEIGHT),
    seats: SEATS,
    players_here: 2,
    has_replays: false,
    aside: &["You stepped aside. Your goose flies on by itself.", "It is yours again until the next roost."],
    has_bots: true,
    modes: &[("flight", "Flight"), ("long", "Long flight")],
    names: &["Wren", "Hob", "Ottilie", "Big Tam", "Maud", "Pip"],
    place: "the flight",
    arrival: "You come in from the left.",
    keys: &[
        &[("← → ↑ ↓", "or A D W S fly"), ("Space", "honks")],
        &[("A D W S", "fly"), ("Space", "honks")],
        &[("← → ↑ ↓", "fly"), ("Enter", "honks")],
    ],
    own_keys: &[
        (0, "flying left"),
        (1, "flying right"),
        (2, "flying up"),
        (3, "flying down"),
        (4, "honking"),
    ],
    has_four_ways: true,
    action: "HONK",
    turn: None,
    help_pages: PAGES.len(),
    help: |page| (PAGES[page % PAGES.len()].title, PAGES[page % PAGES.len()].line),
    recipes: &RECIPES,
};

/// How long the end of a run is shown before the scores, in frames.
const OVER_LOOK_FRAMES: u16 = 120;
/// A peer silent for this long is flown by the autopilot.
const TIMEOUT: Micros = Micros::from_secs(2);

/// Skein with its room.
pub struct SkeinCabinet<P: Platform> {
    room: GameRoom<Skein, P>,
    stage: Stage,
    attract: Attract,
    how_to: HowTo,
    players: usize,
    bots: Vec<Bot>,
    seed: u64,
}

/// Settings for lockstep: no frame is predicted, and every frame waits for all peers.
fn lockstep(config: &mut TimelineConfig) {
    let slot_count = config.slot_count;
    *config = TimelineConfig {
        game_fingerprint: skein::FINGERPRINT,
        send_every_frame: true,
        interrupted_after: Micros::from_millis(500),
        timeout: TIMEOUT,
        slot_count,
        ..TimelineConfig::lockstep()
    };
}

impl<P: Platform> SkeinCabinet<P> {
    /// Opens the cabinet.
    pub fn open(parts: Parts<P>) -> SkeinCabinet<P> {
        let Parts { now, seed, view, client, outside } = parts;
        // Without the error's text, which no player could read.
        let Ok(mut config) = RoomConfig::new(ABOUT.name, SEATS as u8) else { unreachable!("a good name") };
        lockstep(&mut config.engine);
        config.join = JoinTarget::Browse;
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
            self.room.set_input(player, pad.with(Pad::HONK, held.action));
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
            Show::Match | Show::Replay => {}
        }
    }

    fn draw(&mut self, show: Show, looks: &Looks<'_>, scene: &mut Scene) {
        match show {
            Show::Attract => self.attract.draw(&mut self.stage, looks.between, looks.calm, scene),
            Show::Help(_) => self.how_to.draw(&mut self.stage, looks.between, looks.calm, scene),
            Show::Match | Show::Replay => {
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
        }
    }

    fn liveliest(&self) -> Option<(i32, i32)> {
        Some(self.attract.liveliest())
    }

    fn album(&self) -> &Album {
        self.stage.album()
    }

    fn standing(&self) -> Standing {
        let game = self.room.game();
        let course = &game.course;
        let own = self.own();
        let ours =
            || game.geese[..SEATS].iter().enumerate().filter(|(seat, _)| own.contains(Slot::at(*seat)));
        let scores = ours().map(|(_, goose)| goose.tally.score.to_string()).collect::<Vec<_>>().join(" and ");
        let over = self.is_over();
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
            out: !over && is_out && others,
            said,
        }
    }

    fn players(&self) -> Vec<PlayerLine> {
        let geese = self.room.game().geese[..SEATS].iter().enumerate();
        let line = |(seat, goose): (usize, &Goose)| PlayerLine {
            seat,
            score: goose.tally.score,
            falls: goose.tally.falls(),
            remark: remark(goose),
            ..PlayerLine::default()
        };
        geese.filter(|(_, goose)| goose.is_person()).map(line).collect()
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
            ",\"goose\":{goose:?},\"frame\":{},\"wave\":{},\"leg\":{},\"over\":{},\"scores\":{scores:?},\"here\":{here:?}",
            game.frame,
            game.course.wave,
            game.course.stage,
            self.is_over(),
        );
    }
}

/// Remark about a player's run.
fn remark(goose: &Goose) -> String {
    let tally = &goose.tally;
    let text = match () {
        () if tally.falls() == 0 => "never fell",
        () if tally.catches > 3 => "caught the others",
        () if tally.point > 7_200 => "long at the point",
        () if tally.honks > 20 => "loud",
        () => "",
    };
    text.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skein_waits_for_all_and_guesses_nothing() {
        let mut config = RoomConfig::new("skein", SEATS as u8).expect("a good name").engine;
        lockstep(&mut config);
        assert_eq!((config.prediction_frames(), config.slot_count), (0, SEATS));
        assert_eq!((config.timeout, config.send_every_frame), (TIMEOUT, true));
        assert_eq!(config.game_fingerprint, skein::FINGERPRINT);
    }
}
