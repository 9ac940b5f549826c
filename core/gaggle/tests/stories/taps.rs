//! A player's press counts exactly once, at any display rate.

use gaggle::{Game, GameRoom, Input, Inputs, Micros, NoNetwork, RoomConfig, Slot, State};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Input)]
struct Pad {
    held: bool,
    #[input(one_shot)]
    jump: bool,
}

/// Jumps of the player, and frames for which the button was held.
#[derive(Clone, Debug, Default, State)]
struct Jumps {
    jumps: u32,
    held: u32,
}

impl Game for Jumps {
    type Input = Pad;

    fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
        let pad = inputs.get(Slot::at(0));
        self.jumps += u32::from(pad.jump);
        self.held += u32::from(pad.held);
    }
}

/// Plays for two seconds on a display of this rate; `input` is called for every displayed frame.
fn play(rate: u64, input: impl Fn(u64) -> Option<Pad>) -> Jumps {
    let config = RoomConfig::new("jumps", 2).expect("a label");
    let mut room = GameRoom::open(Micros::ZERO, config, NoNetwork::default(), Jumps::default(), 7)
        .expect("settings that can be");
    for shown in 1..=2 * rate {
        if let Some(pad) = input(shown) {
            room.set_input(0, pad);
        }
        room.update(Micros::new(shown * 1_000_000 / rate));
    }
    room.game().clone()
}

const JUMP: Pad = Pad { held: false, jump: true };

#[test]
fn tap_of_one_displayed_frame_counts_once_at_any_rate() {
    for rate in [20, 30, 60, 75, 144, 240] {
        // About one tap every tenth of a second, each in a single displayed frame, and none after
        // the last tick.
        let (every, last) = (rate / 10, 2 * rate - rate / 5);
        let is_tap = |shown: u64| shown.is_multiple_of(every) && shown < last;
        let taps = (1..last).filter(|shown| is_tap(*shown)).count() as u32;
        let end = play(rate, |shown| Some(if is_tap(shown) { JUMP } else { Pad::default() }));
        assert_eq!(end.jumps, taps, "at {rate} Hz");
    }
}

#[test]
fn tap_set_once_counts_once_and_held_button_goes_on() {
    for rate in [30, 144] {
        let tapped = play(rate, |shown| (shown == 3).then_some(JUMP));
        assert_eq!(tapped.jumps, 1, "at {rate} Hz");
        let held = play(rate, |shown| (shown == 1).then_some(Pad { held: true, jump: false }));
        assert!(held.held > 100, "held for {} frames at {rate} Hz", held.held);
    }
}

#[test]
fn one_shot_key_held_down_counts_once_at_any_rate() {
    for rate in [20, 30, 60, 75, 144, 240] {
        let end = play(rate, |_| Some(JUMP));
        assert_eq!(end.jumps, 1, "held from the start, at {rate} Hz");
        // Another key goes down and up all the time, which must not cause jumps.
        let end = play(rate, |shown| Some(Pad { held: shown / 3 % 2 == 0, jump: shown > rate / 2 }));
        assert_eq!(end.jumps, 1, "while another key changes, at {rate} Hz");
        assert!(end.held > 30, "the other key was held for {} frames at {rate} Hz", end.held);
    }
}

#[test]
fn one_shot_key_pressed_again_counts_twice() {
    for rate in [30, 60, 144] {
        let end = play(rate, |shown| Some(Pad { held: false, jump: (shown - 1) / (rate / 2) % 2 == 0 }));
        assert_eq!(end.jumps, 2, "two halves of a second each second, at {rate} Hz");
    }
}
