//! Equal inputs give equal runs: straight, again, rolled back, written and read, copied; and the
//! same as ever.

// Its `main` is for the program.
#[allow(dead_code)]
#[path = "../examples/skein_golden.rs"]
mod golden;

use gaggle_kit::{Frame, Prng, SlotSet, State, decode_state, diff, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs, check_determinism};
use skein::bots::{Bot, Strength};
use skein::{Mode, Pad, SEATS, Setup, Skein};

#[test]
fn fixed_minute_comes_to_golden_state() {
    assert_eq!(golden::fixed_minute(), golden::GOLDEN);
}

/// A setup and a crew that differ from seed to seed.
fn start(seed: u64) -> (Skein, Vec<Bot>) {
    let mode = if seed.is_multiple_of(2) { Mode::Flight } else { Mode::Long };
    let stage = 1 + (seed % 5) as u8;
    let setup = Setup { mode, stage, wave: (seed * 3 % 9) as u8, spares: 9 };
    let strengths = [Strength::Steady, Strength::Fledgling, Strength::Sharp];
    let bots = (0..SEATS).map(|seat| Bot::new(seat, strengths[seat % 3], seed));
    (Skein::new(setup, seed), bots.collect())
}

/// Most players most of the time; one slot is empty for five seconds of every twenty.
fn present(seed: u64, frame: Frame) -> SlotSet {
    let crew = 2 + (seed % 5) as usize;
    let turn = u64::from(frame.number() / 300) + seed;
    let away = if turn.is_multiple_of(4) { 1 << (turn / 4 % crew as u64) } else { 0 };
    SlotSet::first(crew).difference(SlotSet::from_bits(away))
}

fn play(bots: &mut [Bot], game: &Skein) -> Vec<Pad> {
    bots.iter_mut().map(|bot| bot.play(game)).collect()
}

/// So many frames, each again from up to eight frames later, through bytes and copies.
fn rolled_back(seed: u64, frames: u32) {
    let (game, mut bots) = start(seed);
    // The bots follow a run of their own, which is the same one.
    let mut followed = game;
    let inputs = |frame: Frame| {
        let pads = play(&mut bots, &followed);
        followed.tick(&Inputs::confirmed(frame, &pads, present(seed, frame)));
        pads
    };
    let end = check_determinism(&game, frames, 8, inputs, |frame| present(seed, frame));
    let end = end.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
    assert!(end.geese.iter().any(|goose| goose.tally.score > 0), "seed {seed}: nothing happened");
}

#[test]
fn run_is_equal_again_rolled_back_written_and_copied() {
    (0..4).for_each(|seed| rolled_back(seed, 1_200));
    rolled_back(4, 20_000);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn ten_long_runs_are_equal_again_rolled_back() {
    (5..15).for_each(|seed| rolled_back(seed, 20_000));
}

/// Plays `frames` frames straight, and again with detours through encoded states and rollbacks.
fn detours(seed: u64, frames: u32) {
    let (mut straight, mut bots) = start(seed);
    let mut detoured = straight;
    let mut past: Vec<(Skein, Vec<Pad>, SlotSet)> = Vec::new();
    let mut busy = 0;
    for frame in (1..=frames).map(Frame::new) {
        let (pads, present) = (play(&mut bots, &straight), present(seed, frame));
        busy += u32::from(straight.embers.count() > 0);
        straight.tick(&Inputs::confirmed(frame, &pads, present));
        past.push((detoured, pads.clone(), present));
        detoured.tick(&Inputs::confirmed(frame, &pads, present));
        if frame.number() % 61 == 0 {
            let first = frame.number() + 1 - past.len() as u32;
            detoured = past[0].0;
            for (number, (_, pads, present)) in (first..).zip(&past) {
                detoured.tick(&Inputs::confirmed(Frame::new(number), pads, *present));
            }
        }
        if frame.number() % 97 == 0 {
            detoured = decode_state(&encode_state(&detoured)).expect("its own encoding");
        }
        if past.len() == 8 {
            past.remove(0);
        }
        if frame.number() % 500 == 0 && state_hash(&straight) != state_hash(&detoured) {
            panic!("seed {seed}, {frame}: {:?}", diff(&straight, &detoured));
        }
    }
    assert!(busy > frames / 3, "seed {seed}: embers in only {busy} frames");
}

#[test]
fn ten_runs_survive_detours() {
    (0..10).for_each(|seed| detours(seed, 3_000));
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn hundred_runs_survive_detours() {
    (0..100).for_each(|seed| detours(seed, 20_000));
}

#[test]
fn hostile_state_is_rejected_or_played_without_panic() {
    let (game, mut bots) = start(3);
    let mut played = game;
    for frame in (1..=900).map(Frame::new) {
        let pads = play(&mut bots, &played);
        played.tick(&Inputs::confirmed(frame, &pads, present(3, frame)));
    }
    let bytes = encode_state(&played);
    let mut random = Prng::new(5);
    let mut accepted = 0;
    for _ in 0..300 {
        let mut spoiled = bytes.clone();
        for _ in 0..40 {
            let place = random.below(spoiled.len() as u32) as usize;
            spoiled[place] = random.next_u32() as u8;
        }
        let Ok(mut state) = decode_state::<Skein>(&spoiled) else { continue };
        accepted += 1;
        for frame in (1..=20).map(Frame::new) {
            state.tick(&Inputs::confirmed(frame, &[Pad::HONK; SEATS], SlotSet::first(SEATS)));
        }
        assert_eq!(encode_state(&state).len(), bytes.len());
    }
    assert!(accepted > 20, "{accepted}");
    assert!(Skein::SIZE_MIN <= bytes.len());
}

#[test]
fn other_seeds_and_pads_give_other_runs() {
    let run = |seed, pad: Pad| {
        let mut game = Skein::new(Setup::default(), seed);
        let present = std::array::from_fn(|seat| seat == 0);
        (0..900).for_each(|_| game.step(&[pad; SEATS], present));
        state_hash(&game)
    };
    assert_eq!(run(1, Pad::UP), run(1, Pad::UP));
    assert_ne!(run(1, Pad::UP), run(2, Pad::UP));
    assert_ne!(run(1, Pad::UP), run(1, Pad::DOWN));
}
