//! Equality of matches with equal inputs: run twice, rolled back, encoded, copied, and compared
//! with the golden hash.

// Its `main` is used only when it runs as a program.
#[allow(dead_code)]
#[path = "../examples/golden.rs"]
mod golden;

use gaggle_kit::{Frame, SlotSet, decode_state, diff, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs, check_determinism};
use gander::bots::{Bot, Strength};
use gander::{Gander, Mode, Pad, Phase, SEATS, Setup};

#[test]
fn fixed_minute_ends_in_golden_state() {
    assert_eq!(golden::fixed_minute(), golden::GOLDEN);
}

/// Setup and bots of a match, which differ from seed to seed.
fn start(seed: u64) -> (Gander, Vec<Bot>) {
    let mode = if seed.is_multiple_of(2) { Mode::Team } else { Mode::Versus };
    let first_wave = 1 + (seed * 7 % 40) as u16;
    let strengths = [Strength::Steady, Strength::Fledgling, Strength::Fledgling, Strength::Steady];
    let bots = strengths.iter().enumerate().map(|(seat, strength)| Bot::new(seat, *strength, seed));
    (Gander::new(Setup { mode, first_wave, ..Setup::default() }, seed), bots.collect())
}

/// Slots with a player: all most of the time, and one absent for 5 of every 20 seconds.
fn present(seed: u64, frame: Frame) -> SlotSet {
    let all = SlotSet::first(SEATS);
    let turn = u64::from(frame.number() / 300) + seed;
    if turn.is_multiple_of(4) { all.difference(SlotSet::from_bits(1 << (turn / 4 % 4))) } else { all }
}

fn play(bots: &mut [Bot], game: &Gander) -> Vec<Pad> {
    bots.iter_mut().map(|bot| bot.play(game)).collect()
}

#[test]
fn rerun_rollback_encoding_and_copy_give_same_match() {
    for seed in 0..4 {
        let (game, mut bots) = start(seed);
        // The bots follow a second run of the same match.
        let mut followed = game;
        let inputs = |frame: Frame| {
            let pads = play(&mut bots, &followed);
            followed.tick(&Inputs::confirmed(frame, &pads, present(seed, frame)));
            pads
        };
        let end = check_determinism(&game, 1500, 8, inputs, |frame| present(seed, frame));
        let end = end.unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        assert!(end.players.iter().any(|player| player.score > 0), "seed {seed}: no player scored");
    }
}

/// Runs 10,000 frames twice, the second time with an encoding or a rollback about every second.
fn long_match(seed: u64) {
    const FRAMES: u32 = 10_000;
    let (mut straight, mut bots) = start(seed);
    let mut detoured = straight;
    let mut past: Vec<(Gander, Vec<Pad>, SlotSet)> = Vec::new();
    let mut moments = 0;
    for frame in (1..=FRAMES).map(Frame::new) {
        let (pads, present) = (play(&mut bots, &straight), present(seed, frame));
        moments +=
            u32::from(straight.wave.phase == Phase::Play && straight.riders.iter().any(|rider| rider.live));
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
            detoured = decode_state(&encode_state(&detoured)).expect("decode its own encoding");
        }
        if past.len() == 8 {
            past.remove(0);
        }
        if frame.number() % 500 == 0 && state_hash(&straight) != state_hash(&detoured) {
            panic!("seed {seed}, {frame}: {:?}", diff(&straight, &detoured));
        }
    }
    assert!(moments > FRAMES / 3, "seed {seed}: jousting in only {moments} frames");
}

#[test]
fn matches_0_to_24_stay_equal_after_rollback_and_encoding() {
    (0..25).for_each(long_match);
}

#[test]
fn matches_25_to_49_stay_equal_after_rollback_and_encoding() {
    (25..50).for_each(long_match);
}

#[test]
fn matches_50_to_74_stay_equal_after_rollback_and_encoding() {
    (50..75).for_each(long_match);
}

#[test]
fn matches_75_to_99_stay_equal_after_rollback_and_encoding() {
    (75..100).for_each(long_match);
}

#[test]
fn different_seed_or_pads_give_different_match() {
    let run = |seed, pad: Pad| {
        let mut game = Gander::new(Setup::default(), seed);
        for frame in 0..600 {
            let pad = if frame % 10 < 5 { pad } else { Pad::NONE };
            game.step(&[pad; SEATS], [true, false, false, false]);
        }
        state_hash(&game)
    };
    assert_eq!(run(1, Pad::FLAP), run(1, Pad::FLAP));
    assert_ne!(run(1, Pad::FLAP), run(2, Pad::FLAP));
    assert_ne!(run(1, Pad::FLAP), run(1, Pad::LEFT));
}
