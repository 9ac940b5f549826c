//! A fixed minute of gander, whose state is equal on every machine, natively and in WASM.
//!
//! One generator makes all pads, and players leave and come back. The result stays in memory behind
//! two marker words, because a host of WASM without imports sees only its memory.

use std::sync::atomic::{AtomicU64, Ordering};

use gaggle_kit::{Frame, Prng, SlotSet, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs};
use gander::{Gander, Mode, Pad, SEATS, Setup};

/// Size in bytes and hash of the state after the fixed minute.
#[allow(dead_code)] // Only the test that includes this file compares it.
pub(crate) const GOLDEN: (u64, u64) = (2226, gander::FINGERPRINT);

/// Words in front of the result in memory.
pub(crate) const MARK: [u64; 2] = [0x6a7d_9e21_00c0_ffee, 0x1982_0715_2026_1115];

static RESULT: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// One minute from wave 7 with four slots: pads that change now and then, two players that leave
/// and come back, and another player in one of their slots.
pub(crate) fn fixed_minute() -> (u64, u64) {
    let mut game = Gander::new(Setup { mode: Mode::Versus, first_wave: 7, ..Setup::default() }, 1982);
    let mut random = Prng::new(2026);
    let mut pads = [Pad::NONE; SEATS];
    for frame in 1..=3600 {
        for pad in &mut pads {
            if random.chance(1, 5) {
                let (left, right, flap) = (random.chance(1, 3), random.chance(1, 3), random.chance(1, 2));
                *pad = Pad { left, right, flap, fresh: false };
            }
        }
        pads[3].fresh = (2100..2130).contains(&frame);
        let present = match frame % 1500 {
            300..600 => 0b0111,
            900..1100 => 0b1101,
            _ => 0b1111,
        };
        game.tick(&Inputs::confirmed(Frame::new(frame), &pads, SlotSet::from_bits(present)));
    }
    (encode_state(&game).len() as u64, state_hash(&game))
}

fn main() {
    let (size, hash) = fixed_minute();
    for (word, value) in RESULT.iter().zip([MARK[0], MARK[1], size, hash]) {
        word.store(value, Ordering::Relaxed);
    }
    // Keeps the result, which is read from outside of the module.
    std::hint::black_box(&RESULT);
    println!("{size} bytes, {hash:#018x}");
}
