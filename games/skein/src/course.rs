//! Course of a run: stages, waves, bosses, roosts, and the end.
//!
//! Called by `tick` once a frame. Absent: buttons other than the honk at the end, the network.

use gaggle_kit::State;

use crate::bolt;
use crate::boss::{Boss, Change};
use crate::cue::{Kind, Mark};
use crate::difficulty::Difficulty;
use crate::enemy::Air;
use crate::fall::row_of;
use crate::goose::{BREATH_MAX, BREATH_START, FLOCK, Flight, Goose, SEATS, Seat, Tally};
use crate::pad::Pad;
use crate::score::{BOSS_POINTS, DAWN_POINTS, SPARE_LEFT_POINTS, SPARES_MAX, add_spare, award};
use crate::script::{self, STAGES, WAVE_FRAMES, WAVES};
use crate::sky::{PX, WIDTH};
use crate::{Mode, SPARES_USUAL, Skein};

/// Frames of a roost, the rest between two stages.
pub const ROOST_FRAMES: u16 = 720;
/// Frames from the last boss to the end at dawn.
const DAWN_FRAMES: u16 = 240;
/// Frames of the end before a honk can start another run.
const LOOK_FRAMES: u16 = 120;
/// Least number of geese that fly, by number of players; young ones fill up.
const YOUNG: [usize; 3] = [2, 2, 1];

/// Phase of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Phase {
    /// No player is present.
    #[default]
    Empty,
    /// Waves of a stage.
    Waves,
    /// The boss of a stage.
    Boss,
    /// The rest after a stage.
    Roost,
    /// The run is over.
    Over,
}

/// Progress of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Course {
    /// Phase of the run.
    pub phase: Phase,
    /// Stage, 1 to 5; 0 before the first.
    #[state(range = 0..=5)]
    pub stage: u8,
    /// Completed flights, in the long mode.
    pub round: u8,
    /// Wave of the stage, counted from 0.
    pub wave: u8,
    /// Frames since the wave, boss, roost or end began.
    pub age: u16,
    /// Players at the start of the wave or boss.
    pub crew: u8,
    /// Random number of the wave.
    pub turn: u8,
    /// Spare geese left, shown as the far flock.
    pub spare: u8,
    /// Spare geese won by points.
    pub won: u16,
    /// Whether the run ended at dawn.
    pub is_dawn: bool,
    /// The goose that was last announced as the point.
    pub lead: Lead,
}

/// The announced point: named at most every ten seconds, or a V that turns over would only talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Lead {
    /// Its place in the flock.
    #[state(range = 0..=FLOCK as u8 - 1)]
    pub who: u8,
    /// The frame it was named in; 0 before the first.
    pub since: u32,
}

impl Lead {
    /// Frames from one announcement to the next at least.
    pub const APART: u32 = 600;

    /// Names a new point, if the last announcement is old enough.
    pub(crate) fn announce(&mut self, who: usize, frame: u32) {
        let is_new = self.since == 0 || usize::from(self.who) != who;
        if is_new && (self.since == 0 || frame.wrapping_sub(self.since) >= Lead::APART) {
            *self = Lead { who: who as u8, since: frame };
        }
    }
}

impl Course {
    /// Difficulty for the players counted last.
    pub fn difficulty(&self) -> Difficulty {
        Difficulty::of(self.crew)
    }

    /// Progress to dawn, in thousandths.
    pub fn progress(&self) -> u32 {
        let stage = u32::from(self.stage.max(1) - 1) * 1_000;
        let within = match self.phase {
            Phase::Waves => {
                let frames = u32::from(self.wave) * u32::from(WAVE_FRAMES) + u32::from(self.age);
                frames * 800 / (u32::from(WAVES) * u32::from(WAVE_FRAMES))
            }
            Phase::Boss => 800 + u32::from(self.age.min(3_600)) / 36,
            Phase::Roost => 920,
            Phase::Over if self.is_dawn => 1_000,
            Phase::Over | Phase::Empty => 0,
        };
        (stage + within) / u32::from(STAGES)
    }
}

/// Starts a run with the players present.
pub(crate) fn begin(game: &mut Skein) {
    let crew = game.persons() as u8;
    let setup = game.setup;
    let spare = if setup.spares == SPARES_USUAL { 2 + crew } else { setup.spares };
    let phase = if setup.wave < WAVES { Phase::Waves } else { Phase::Boss };
    game.course = Course {
        phase,
        stage: setup.stage,
        wave: setup.wave,
        crew,
        spare: spare.min(SPARES_MAX),
        ..Course::default()
    };
    clear_sky(game);
    for which in 0..FLOCK {
        let goose = &mut game.geese[which];
        if goose.is_person() {
            *goose =
                Goose { tally: Tally::default(), breath: BREATH_START, ..*goose }.entering(row_of(which));
        } else {
            *goose = Goose::default();
        }
    }
    count_crew(game);
    if phase == Phase::Boss {
        game.boss = Boss::of(setup.stage, game.course.difficulty());
    }
    game.mark(Mark::at(Kind::Stage, 0, (0, 0)).worth(setup.stage.into()));
}

fn clear_sky(game: &mut Skein) {
    let empty = Skein::new(game.setup, 0);
    (game.embers, game.quills, game.enemies) = (empty.embers, empty.quills, empty.enemies);
    (game.crumbs, game.bolts, game.boss) = (empty.crumbs, empty.bolts, empty.boss);
}

/// Counts the players at the start of a wave or boss, and fills up with young geese.
fn count_crew(game: &mut Skein) {
    let crew = game.persons().clamp(1, SEATS);
    game.course.crew = crew as u8;
    let Course { stage, round, .. } = game.course;
    // Each completed flight of the long mode makes embers a quarter faster.
    let quick = (0..round.min(6)).fold(18 + 2 * u32::from(stage), |pace, _| pace * 5 / 4) - 16;
    game.embers.tune(game.course.difficulty().embers(), quick.min(255) as u8);
    let young = YOUNG.get(crew).copied().unwrap_or(0);
    for nth in 0..FLOCK - SEATS {
        let which = SEATS + nth;
        let goose = &mut game.geese[which];
        if nth >= young {
            *goose = Goose::default();
        } else if goose.seat != Seat::Young {
            let new = Goose { seat: Seat::Young, breath: BREATH_START, ..Goose::default() };
            *goose = new.entering(row_of(which));
        }
    }
}

/// Runs one frame of the course.
pub(crate) fn step(game: &mut Skein, pads: &[Pad; SEATS]) {
    match game.course.phase {
        Phase::Empty => return,
        Phase::Waves => waves(game),
        Phase::Boss => boss(game),
        Phase::Roost => roost(game),
        Phase::Over => {
            game.course.age = game.course.age.saturating_add(1);
            again(game, pads);
            return;
        }
    }
    end(game);
}

fn waves(game: &mut Skein) {
    let Course { stage, wave, age, .. } = game.course;
    if age == 0 {
        count_crew(game);
        game.course.turn = game.random.below(60) as u8;
        game.mark(Mark::at(Kind::Wave, 0, (0, 0)).worth(wave.into()));
    }
    let Course { turn, .. } = game.course;
    let difficulty = game.course.difficulty();
    if script::send(&mut game.enemies, stage, wave, age, turn, difficulty) {
        strike(game);
    }
    game.course.age += 1;
    if game.course.age >= WAVE_FRAMES {
        game.course.age = 0;
        game.course.wave += 1;
        if game.course.wave >= WAVES {
            count_crew(game);
            game.course.phase = Phase::Boss;
            game.boss = Boss::of(stage, game.course.difficulty());
            game.mark(Mark::at(Kind::BossUp, 0, game.boss.spot()).worth(stage.into()));
        }
    }
}

/// Marks a column near a goose for lightning.
fn strike(game: &mut Skein) {
    let flying: [Option<i32>; FLOCK] = std::array::from_fn(|which| {
        Some(&game.geese[which]).filter(|goose| goose.is_flying()).map(|g| g.x / PX)
    });
    let count = flying.iter().flatten().count() as u32;
    let chosen = game.random.below(count.max(1)) as usize;
    let middle = flying.into_iter().flatten().nth(chosen).unwrap_or(WIDTH / 3);
    let x = (middle + game.random.range(-24..=24)).clamp(20, 436);
    if bolt::mark(&mut game.bolts, x) {
        game.mark(Mark::at(Kind::ThunderMark, 0, (x * PX, 0)));
    }
}

fn boss(game: &mut Skein) {
    game.course.age = game.course.age.saturating_add(1);
    let difficulty = game.course.difficulty();
    let air = &mut Air {
        geese: &game.geese,
        embers: &mut game.embers,
        random: &mut game.random,
        difficulty,
        is_fleeing: false,
    };
    game.boss.step(air);
}

/// Handles the result of a hit on the boss: its next phase, or its end.
pub(crate) fn boss_changed(game: &mut Skein, change: Option<Change>) {
    let Some(change) = change else { return };
    let crumbs = &mut game.crumbs;
    game.embers.take(|_| true, |spot| crumbs.drop_at(spot));
    let spot = game.boss.spot();
    match change {
        Change::Phase => {
            let phase = game.boss.phase;
            game.mark(Mark::at(Kind::BossPhase, 0, spot).worth(phase.into()));
        }
        Change::Beaten => {
            let stage = u32::from(game.course.stage);
            game.mark(Mark::at(Kind::BossDown, 0, spot).worth(stage));
            game.boss = Boss::default();
            (game.course.phase, game.course.age) = (Phase::Roost, 0);
            for which in 0..SEATS {
                if game.geese[which].is_person() {
                    award(game, which, BOSS_POINTS * stage);
                }
            }
        }
    }
}

fn roost(game: &mut Skein) {
    let is_last = game.course.stage >= STAGES && game.setup.mode == Mode::Flight;
    if game.course.age == 0 && !is_last {
        game.mark(Mark::at(Kind::Roost, 0, (0, 0)));
        add_spare(game);
        for which in 0..FLOCK {
            settle_down(&mut game.geese[which], which);
        }
    }
    game.course.age += 1;
    if is_last && game.course.age >= DAWN_FRAMES {
        finish(game, true);
    } else if !is_last && game.course.age >= ROOST_FRAMES {
        let course = &mut game.course;
        (course.phase, course.age, course.wave) = (Phase::Waves, 0, 0);
        course.stage += 1;
        if course.stage > STAGES {
            (course.stage, course.round) = (1, course.round.saturating_add(1));
        }
        let stage = course.stage;
        game.mark(Mark::at(Kind::Stage, 0, (0, 0)).worth(stage.into()));
    }
}

/// At a roost lost geese return with full breath, and geese without a player leave.
fn settle_down(goose: &mut Goose, which: usize) {
    match goose.seat {
        Seat::Free => {}
        Seat::Away => goose.flight = Flight::None,
        Seat::Person | Seat::Young => {
            if matches!(goose.flight, Flight::Out | Flight::Waiting | Flight::None) {
                *goose = goose.entering(row_of(which));
            }
            goose.breath = BREATH_MAX;
        }
    }
}

/// Ends the run when every goose of a player is out and no spare goose is left.
fn end(game: &mut Skein) {
    let mut persons = game.geese.iter().filter(|goose| goose.is_person());
    let is_out = game.course.spare == 0
        && game.course.phase != Phase::Roost
        && persons.all(|goose| goose.flight == Flight::Out);
    if is_out && game.persons() > 0 {
        finish(game, false);
    }
}

fn finish(game: &mut Skein, is_dawn: bool) {
    let spare = u32::from(game.course.spare);
    (game.course.phase, game.course.age, game.course.is_dawn) = (Phase::Over, 0, is_dawn);
    for goose in &mut game.geese {
        goose.released = false;
        if goose.is_person() {
            let points = SPARE_LEFT_POINTS * spare + if is_dawn { DAWN_POINTS } else { 0 };
            goose.tally.score = goose.tally.score.saturating_add(points);
        }
    }
    game.mark(Mark::at(Kind::Over, 0, (0, 0)).worth(is_dawn.into()));
}

/// Starts another run at a honk, once the end has been shown for a while.
fn again(game: &mut Skein, pads: &[Pad; SEATS]) {
    let mut asked = false;
    for (goose, pad) in game.geese.iter_mut().zip(pads).filter(|(goose, _)| goose.is_person()) {
        let holds = pad.holds(Pad::HONK);
        asked |= holds && goose.released;
        goose.released |= !holds;
    }
    if asked && game.course.age > LOOK_FRAMES {
        begin(game);
    }
}
