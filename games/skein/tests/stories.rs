//! The game as its players meet it: wakes, honks, falls, spares, young geese, joins and leaves.

use gaggle_kit::{Angle, encode_state};
use skein::boss::Boss;
use skein::cue::Kind;
use skein::difficulty::Difficulty;
use skein::ember::{EMBERS, Shot};
use skein::goose::{BREATH_MAX, Flight, Goose, SPEED};
use skein::sky::{PX, Spot, at};
use skein::{FLOCK, Pad, Phase, SEATS, Seat, Setup, Skein};

const ALONE: [bool; SEATS] = [true, false, false, false, false, false];

fn crew(count: usize) -> [bool; SEATS] {
    std::array::from_fn(|seat| seat < count)
}

/// A run with so many players, whose geese have come in and which sends nothing.
fn calm(count: usize) -> Skein {
    let mut game = Skein::new(Setup::default(), 5);
    for _ in 0..125 {
        game.course.age = 5;
        game.step(&[Pad::NONE; SEATS], crew(count));
    }
    game.geese[SEATS..].fill(Goose::default());
    for seat in 0..count {
        place(&mut game, seat, at(100, 60 + 45 * seat as i32));
    }
    game
}

/// One frame in which nothing is sent.
fn step(game: &mut Skein, pads: [Pad; SEATS], count: usize) {
    game.course.age = game.course.age.min(5);
    game.step(&pads, crew(count));
}

fn idle(game: &mut Skein, frames: u32, count: usize) {
    (0..frames).for_each(|_| step(game, [Pad::NONE; SEATS], count));
}

fn place(game: &mut Skein, seat: usize, (x, y): Spot) {
    let goose = &mut game.geese[seat];
    (goose.x, goose.y, goose.safe, goose.flight) = (x, y, 0, Flight::Flying);
}

fn holding(seat: usize, pad: Pad) -> [Pad; SEATS] {
    let mut pads = [Pad::NONE; SEATS];
    pads[seat] = pad;
    pads
}

/// Hits a goose with an ember.
fn shoot(game: &mut Skein, seat: usize, count: usize) {
    game.geese[seat].safe = 0;
    game.embers.fire(Shot::Ring, game.geese[seat].spot(), Angle::HALF);
    step(game, [Pad::NONE; SEATS], count);
    assert_eq!(game.geese[seat].flight, Flight::Falling);
}

fn seen(game: &Skein, kind: Kind) -> bool {
    game.marks.recent(game.frame, 1).any(|mark| mark.kind == kind)
}

#[test]
fn goose_stops_in_frame_its_key_is_released() {
    let mut game = calm(1);
    let x = game.geese[0].x;
    step(&mut game, holding(0, Pad::RIGHT), 1);
    assert_eq!(game.geese[0].x, x + SPEED);
    step(&mut game, [Pad::NONE; SEATS], 1);
    assert_eq!(game.geese[0].x, x + SPEED);
}

#[test]
fn passed_point_follows_in_same_frame() {
    let mut game = calm(2);
    place(&mut game, 0, at(200, 150));
    place(&mut game, 1, at(177, 168));
    idle(&mut game, 1, 2);
    assert!(game.geese[0].wake.is_point());
    place(&mut game, 1, at(223, 168));
    idle(&mut game, 1, 2);
    assert!(game.geese[1].wake.is_point() && seen(&game, Kind::Point));
}

#[test]
fn winded_point_fires_one_quill() {
    let mut game = calm(2);
    place(&mut game, 0, at(200, 150));
    place(&mut game, 1, at(154, 177));
    game.geese[0].breath = 2;
    idle(&mut game, 1, 2);
    idle(&mut game, 1, 2);
    assert!(seen(&game, Kind::Winded));
    game.quills = Default::default();
    let mut volleys = Vec::new();
    for _ in 0..16 {
        let before = game.quills.iter().filter(|quill| quill.seat == 0).count();
        idle(&mut game, 1, 2);
        let now = game.quills.iter().filter(|quill| quill.seat == 0).count();
        volleys.push(now.saturating_sub(before));
    }
    assert_eq!(volleys.iter().max(), Some(&1));
}

#[test]
fn honk_turns_near_embers_to_crumbs_and_no_other() {
    let mut game = calm(1);
    let (x, y) = game.geese[0].spot();
    for far in [30, 50, 90, 120] {
        game.embers.fire(Shot::Ring, (x + far * PX, y), Angle::ZERO);
    }
    step(&mut game, holding(0, Pad::HONK), 1);
    idle(&mut game, 12, 1);
    assert_eq!(game.embers.count(), 2);
    assert!(game.crumbs.iter().count() + (game.geese[0].tally.score / 10) as usize >= 2);
}

#[test]
fn honk_without_breath_costs_and_clears_nothing() {
    let mut game = calm(1);
    let (x, y) = game.geese[0].spot();
    game.embers.fire(Shot::Ring, (x + 40 * PX, y), Angle::ZERO);
    game.geese[0].breath = 300;
    step(&mut game, holding(0, Pad::HONK), 1);
    assert!(seen(&game, Kind::Peep));
    idle(&mut game, 12, 1);
    assert_eq!((game.embers.count(), game.geese[0].tally.honks), (1, 0));
    assert!(game.geese[0].breath >= 300);
}

#[test]
fn two_honks_within_twenty_frames_are_chorus() {
    for (apart, is_chorus) in [(1, true), (20, true), (21, false)] {
        let mut game = calm(2);
        place(&mut game, 0, at(100, 150));
        place(&mut game, 1, at(100, 250));
        game.geese[..2].iter_mut().for_each(|goose| goose.breath = BREATH_MAX);
        step(&mut game, holding(0, Pad::HONK), 2);
        idle(&mut game, apart - 1, 2);
        step(&mut game, holding(1, Pad::HONK), 2);
        assert_eq!(game.geese[1].ring.chorus, is_chorus, "{apart} frames apart");
        assert_eq!(game.geese[0].tally.score == 500, is_chorus);
    }
}

#[test]
fn caught_goose_flies_on_and_is_safe() {
    let mut game = calm(2);
    place(&mut game, 0, at(100, 100));
    place(&mut game, 1, at(90, 150));
    let breath = game.geese[0].breath;
    shoot(&mut game, 0, 2);
    let frames = (1..150).find(|_| {
        idle(&mut game, 1, 2);
        game.geese[0].flight == Flight::Flying
    });
    assert!(frames.is_some() && seen(&game, Kind::Caught));
    assert_eq!((game.geese[0].safe, game.geese[1].tally.catches), (90, 1));
    assert!(game.geese[0].breath <= breath / 2 + 50 && game.geese[1].tally.score == 500);
}

#[test]
fn lost_goose_is_replaced_by_spare() {
    let mut game = calm(1);
    let spare = game.course.spare;
    shoot(&mut game, 0, 1);
    let fell = (1..200).find(|_| {
        idle(&mut game, 1, 1);
        game.geese[0].flight == Flight::Waiting
    });
    assert!(fell.is_some_and(|frames| frames <= 150));
    assert_eq!(game.course.spare, spare - 1);
    idle(&mut game, 60, 1);
    assert_eq!(game.geese[0].flight, Flight::Entering);
}

#[test]
fn goose_without_spare_is_out_until_roost() {
    let mut game = calm(2);
    game.course.spare = 0;
    place(&mut game, 1, at(400, 60));
    shoot(&mut game, 0, 2);
    idle(&mut game, 200, 2);
    assert_eq!((game.geese[0].flight, game.course.phase), (Flight::Out, Phase::Waves));
    (game.course.phase, game.course.age) = (Phase::Roost, 0);
    game.step(&[Pad::NONE; SEATS], crew(2));
    assert_eq!(game.geese[0].flight, Flight::Entering);
    assert_eq!(game.geese[1].breath, BREATH_MAX);
}

#[test]
fn run_ends_when_every_player_is_out() {
    let mut game = calm(2);
    game.course.spare = 0;
    shoot(&mut game, 0, 2);
    place(&mut game, 1, at(400, 60));
    idle(&mut game, 200, 2);
    assert_eq!(game.course.phase, Phase::Waves);
    shoot(&mut game, 1, 2);
    assert_eq!(game.course.phase, Phase::Waves, "who falls can be caught");
    idle(&mut game, 200, 2);
    assert_eq!((game.course.phase, game.course.is_dawn), (Phase::Over, false));
}

#[test]
fn honk_after_end_begins_another_run() {
    let mut game = calm(1);
    (game.course.spare, game.geese[0].tally.score) = (0, 700);
    shoot(&mut game, 0, 1);
    idle(&mut game, 200, 1);
    assert_eq!(game.course.phase, Phase::Over);
    for frame in 0..400 {
        game.step(&holding(0, Pad::NONE.with(Pad::HONK, frame % 60 == 59)), ALONE);
    }
    assert_eq!((game.course.phase, game.course.stage), (Phase::Waves, 1));
    assert!(game.geese[0].tally.score < 700);
}

#[test]
fn third_player_sends_last_young_goose_away() {
    let mut game = Skein::new(Setup::default(), 5);
    let young = |game: &Skein| game.geese.iter().filter(|goose| goose.seat == Seat::Young).count();
    game.step(&[Pad::NONE; SEATS], crew(1));
    assert_eq!(young(&game), 2);
    for count in [2, 3] {
        game.step(&[Pad::NONE; SEATS], crew(count));
        assert_eq!(young(&game), 4 - count, "not before the next wave");
        game.course.age = 719;
        game.step(&[Pad::NONE; SEATS], crew(count));
        game.step(&[Pad::NONE; SEATS], crew(count));
        assert_eq!(young(&game), 3 - count);
    }
}

#[test]
fn young_goose_catches_its_leader() {
    let mut game = Skein::new(Setup::default(), 5);
    (0..200).for_each(|_| step(&mut game, [Pad::NONE; SEATS], 1));
    place(&mut game, 0, at(150, 120));
    place(&mut game, 6, at(110, 150));
    place(&mut game, 7, at(400, 300));
    shoot(&mut game, 0, 1);
    let caught = (0..150).any(|_| {
        idle(&mut game, 1, 1);
        seen(&game, Kind::Caught)
    });
    assert!(caught);
}

#[test]
fn ember_beyond_last_place_is_left_out() {
    let mut game = calm(6);
    let size = encode_state(&game).len();
    game.embers.tune(600, 0);
    (0..=EMBERS).for_each(|_| game.embers.fire(Shot::Ring, at(600, 40), Angle::ZERO));
    assert_eq!(game.embers.count(), EMBERS);
    assert_eq!(encode_state(&game).len(), size);
}

#[test]
fn join_during_boss_changes_neither_hurts_nor_embers() {
    let mut game = Skein::new(Setup { wave: 8, stage: 2, ..Setup::default() }, 5);
    (0..400).for_each(|_| game.step(&[Pad::NONE; SEATS], ALONE));
    let mut other = game;
    other.step(&[Pad::NONE; SEATS], crew(3));
    game.step(&[Pad::NONE; SEATS], ALONE);
    assert_eq!(game.boss, other.boss);
    assert_eq!(game.boss.full, Boss::of(2, Difficulty::of(1)).full);
    assert!(game.embers.iter().eq(other.embers.iter()) && game.embers.count() > 0);
    assert_eq!(other.geese[2].flight, Flight::Entering);
    assert_eq!(other.course.spare, game.course.spare + 2);
}

#[test]
fn leaver_flies_on_and_return_takes_goose_back() {
    let mut game = calm(2);
    game.geese[1].tally.score = 900;
    let breath = game.geese[1].breath;
    idle(&mut game, 1, 1);
    assert_eq!((game.geese[1].seat, game.geese[1].flight), (Seat::Away, Flight::Flying));
    let spot = game.geese[1].spot();
    idle(&mut game, 120, 1);
    assert_ne!(game.geese[1].spot(), spot, "the autopilot flies it");
    assert!(game.geese[1].breath >= breath);
    idle(&mut game, 1, 2);
    assert_eq!((game.geese[1].seat, game.geese[1].tally.score), (Seat::Person, 900));
    assert_eq!(game.geese[1].flight, Flight::Flying);
}

#[test]
fn leaver_flies_off_at_roost_and_slot_is_freed() {
    let mut game = calm(2);
    idle(&mut game, 1, 1);
    (game.course.phase, game.course.age) = (Phase::Roost, 0);
    game.step(&[Pad::NONE; SEATS], ALONE);
    assert_eq!((game.geese[1].seat, game.geese[1].flight), (Seat::Away, Flight::None));
    (0..1_800).for_each(|_| {
        game.course.age = 5;
        game.step(&[Pad::NONE; SEATS], ALONE);
    });
    assert_eq!(game.geese[1], Goose::default());
}

#[test]
fn other_player_in_kept_slot_begins_at_zero() {
    let mut game = calm(2);
    game.geese[1].tally.score = 900;
    idle(&mut game, 10, 1);
    idle(&mut game, 1, 2);
    assert_eq!(game.geese[1].tally.score, 900);
    step(&mut game, holding(1, Pad::FRESH), 2);
    assert_eq!(game.geese[1].tally.score, 0);
}

#[test]
fn sky_empties_when_last_player_leaves() {
    let mut game = calm(2);
    game.step(&[Pad::NONE; SEATS], [false; SEATS]);
    assert_eq!((game.course.phase, game.persons()), (Phase::Empty, 0));
    assert!(game.geese[..FLOCK].iter().all(|goose| goose.seat == Seat::Free));
}
