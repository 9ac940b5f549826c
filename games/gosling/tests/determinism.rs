//! Equal inputs give equal matches: straight, again, rolled back, written and read, copied; and the
//! same as ever.

// Its `main` is for the program.
#[allow(dead_code)]
#[path = "../examples/gosling_golden.rs"]
mod golden;

use gaggle_kit::{Frame, Prng, SlotSet, State, decode_state, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs, check_determinism};
use gosling::press::{Manner, Presser};
use gosling::{Gosling, Mode, SEATS, Setup, Wish};

#[test]
fn fixed_minute_comes_to_golden_state() {
    assert_eq!(golden::fixed_minute(), golden::GOLDEN);
}

/// Most players most of the time; some slots are empty for five seconds of every twenty.
fn present(seed: u64, frame: Frame) -> SlotSet {
    let turn = u64::from(frame.number() / 150) + seed;
    let away = if turn.is_multiple_of(4) { 0x11 << (turn % 8) } else { 0 };
    SlotSet::from_bits(0x0000_3fff & !away)
}

fn check(mode: Mode, seed: u64, frames: u32) -> Gosling {
    let start = Gosling::new(Setup { round_frames: 700, ..Setup::of(mode) }, seed);
    let mut pressers: Vec<Presser> =
        (0..SEATS).map(|slot| Presser::new(slot, Manner::FRANTIC, seed)).collect();
    // The players follow a match of their own, which is the same one.
    let mut followed = start.clone();
    let wishes = |frame: Frame| {
        let reed = followed.reed();
        let wishes: Vec<Wish> = pressers.iter_mut().map(|presser| presser.press(&followed, &reed)).collect();
        followed.tick(&Inputs::confirmed(frame, &wishes, present(seed, frame)));
        wishes
    };
    let end = check_determinism(&start, frames, 8, wishes, |frame| present(seed, frame));
    end.unwrap_or_else(|error| panic!("{mode:?}, seed {seed}: {error}"))
}

#[test]
fn match_is_equal_again_rolled_back_written_and_copied() {
    for (seed, mode) in [Mode::Broods, Mode::Free, Mode::Great].into_iter().enumerate() {
        let end = check(mode, seed as u64, 1_200);
        assert!(end.clock.round == 2, "{mode:?}: a round ended and another began");
        assert!(end.scores.iter().any(|score| *score > 0), "{mode:?}: nothing was banked");
    }
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn twenty_thousand_frames_are_deterministic() {
    check(Mode::Broods, 7, 20_000);
    check(Mode::Great, 8, 20_000);
}

#[test]
fn hostile_state_is_rejected_or_played_without_panic() {
    let mut accepted = 0;
    for mode in [Mode::Broods, Mode::Great] {
        let mut played = Gosling::new(Setup::of(mode), 3);
        for frame in (1..=900).map(Frame::new) {
            played.tick(&Inputs::confirmed(frame, &[Wish::to(1); SEATS], present(3, frame)));
        }
        let bytes = encode_state(&played);
        let mut random = Prng::new(5);
        for _ in 0..150 {
            let mut spoiled = bytes.clone();
            for _ in 0..3 {
                let place = random.below(spoiled.len() as u32) as usize;
                spoiled[place] = random.next_u32() as u8;
            }
            let Ok(mut state) = decode_state::<Gosling>(&spoiled) else { continue };
            accepted += 1;
            for frame in (1..=20).map(Frame::new) {
                state.tick(&Inputs::confirmed(frame, &[Wish::to(2); SEATS], SlotSet::first(SEATS)));
            }
            assert_eq!(encode_state(&state).len(), bytes.len());
        }
        assert!(Gosling::SIZE_MIN <= bytes.len());
    }
    assert!(accepted > 20, "{accepted}");
}

#[test]
fn other_seeds_and_wishes_give_other_matches() {
    let run = |seed, wish: Wish| {
        let mut game = Gosling::new(Setup::default(), seed);
        for frame in (1..=600).map(Frame::new) {
            game.tick(&Inputs::confirmed(frame, &[wish; SEATS], SlotSet::first(1)));
        }
        state_hash(&game)
    };
    assert_eq!(run(1, Wish::to(3)), run(1, Wish::to(3)));
    assert_ne!(run(1, Wish::to(3)), run(2, Wish::to(3)));
    assert_ne!(run(1, Wish::to(3)), run(1, Wish::to(1)));
}
