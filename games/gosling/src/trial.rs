//! Figures of whole rounds, by which the game is balanced.
//!
//! Called by tests, by `examples/balance.rs` and by the lab. Absent: rules, judgment (`summary`).

pub mod summary;

use gaggle_kit::{Frame, SlotSet};
use gaggle_timeline::{Game, Inputs};

use crate::bots::Strength;
use crate::chick::LOAD_MAX;
use crate::cue::Kind;
use crate::press::{Manner, Presser};
use crate::{Gosling, Mode, Phase, SEATS, Setup, Wish, round};

/// Who plays a round.
#[derive(Debug, Clone, Copy)]
pub struct Crew {
    /// Mode of the round.
    pub mode: Mode,
    /// How good the bots are; none for all three in turn.
    pub strength: Option<Strength>,
    /// Modeled players (`press.rs`), in the lowest slots.
    pub pressers: usize,
    /// Whether the player in slot 0 never presses.
    pub is_idle: bool,
}

/// Figures of one gosling in a round.
#[derive(Debug, Clone, Copy, Default)]
pub struct Share {
    /// How good its bot is.
    pub strength: Strength,
    /// Points it banked.
    pub banked: u16,
    /// Times caught by pikes.
    pub caught: u16,
    /// Frames as a goose.
    pub goose: u16,
}

/// Figures of one round.
#[derive(Debug, Clone, Default)]
pub struct Run {
    /// The goslings that played it, by slot.
    pub shares: Vec<Share>,
    /// Points of the broods.
    pub scores: [u16; 4],
    /// Loads lost to pikes and to geese.
    pub lost: [Vec<u8>; 2],
    /// Loads brought home.
    pub homes: Vec<u8>,
    /// Number of feathers found.
    pub feathers: u32,
    /// Number of pikes sent home.
    pub sent: u32,
    /// Times the lead changed with less than half of the round left.
    pub late_leads: u32,
    /// Uneaten crumbs in the middle of the round, in percent.
    pub uneaten: u32,
    /// Points of the player who never presses.
    pub idle: u16,
    /// Questions asked about inputs.
    pub questions: u32,
    /// Frames of the round.
    pub frames: u32,
}

/// Plays one round to its end.
pub fn run(crew: Crew, seed: u64) -> Run {
    let mut game = Gosling::new(Setup { strength: crew.strength, ..Setup::of(crew.mode) }, seed);
    let mut pressers: Vec<Presser> =
        (0..crew.pressers).map(|slot| Presser::new(slot, Manner::USUAL, seed)).collect();
    let persons = crew.pressers.max(usize::from(crew.is_idle));
    let mut run = Run { shares: vec![Share::default(); SEATS], ..Run::default() };
    let reed = game.reed();
    for frame in (1..).map(Frame::new) {
        let mut wishes = [Wish::default(); SEATS];
        for (slot, presser) in pressers.iter_mut().enumerate() {
            wishes[slot] = presser.press(&game, &reed);
        }
        let loads = game.chicks.each_ref().map(|chick| chick.load);
        game.tick(&Inputs::confirmed(frame, &wishes, SlotSet::first(persons)));
        if game.clock.phase == Phase::Result {
            break;
        }
        run.frames += 1;
        note(&mut run, &game, &loads);
        if game.clock.left == round::FRAMES / 2 {
            run.uneaten = game.crumbs.count() * 100 / reed.beds().len() as u32;
        }
    }
    for (slot, share) in run.shares.iter_mut().enumerate() {
        (share.banked, share.strength) = (game.chicks[slot].banked, strength(&game, slot));
    }
    run.idle = if crew.is_idle { game.chicks[0].banked } else { 0 };
    run.scores = game.scores;
    run.questions = game.questions;
    let mut slot = 0;
    run.shares.retain(|_| {
        slot += 1;
        let is_person = game.chicks[slot - 1].is_person();
        game.chicks[slot - 1].is_here() && !(crew.is_idle && is_person)
    });
    run
}

/// How good the bot of a slot is.
fn strength(game: &Gosling, slot: usize) -> Strength {
    let all = [Strength::Steady, Strength::Fledgling, Strength::Sharp];
    game.setup.strength.unwrap_or(all[slot % 3])
}

fn note(run: &mut Run, game: &Gosling, loads: &[u8; SEATS]) {
    for mark in game.marks.recent(game.frame, 1) {
        let slot = usize::from(mark.who) % SEATS;
        match mark.kind {
            Kind::Caught => {
                run.lost[0].push(mark.value);
                run.shares[slot].caught += 1;
            }
            Kind::Scattered => run.lost[1].push(mark.value),
            Kind::Bank => run.homes.push(loads[slot].min(LOAD_MAX)),
            Kind::Feather => run.feathers += 1,
            Kind::SentHome => run.sent += 1,
            Kind::Lead => run.late_leads += u32::from(game.clock.left < round::FRAMES / 2),
            _ => {}
        }
    }
    for (slot, chick) in game.chicks.iter().enumerate() {
        run.shares[slot].goose += u16::from(chick.is_goose());
    }
}

/// The given percentile; 0 if there are no numbers.
pub fn quantile(numbers: impl Iterator<Item = u32>, percent: usize) -> u32 {
    let mut sorted: Vec<u32> = numbers.collect();
    sorted.sort_unstable();
    sorted.get(sorted.len() * percent / 100).or(sorted.last()).copied().unwrap_or(0)
}

/// The median; 0 if there are no numbers.
pub fn median(numbers: impl Iterator<Item = u32>) -> u32 {
    quantile(numbers, 50)
}
