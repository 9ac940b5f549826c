//! A fixed minute of skein: what its state must come to on every peer; the tests run it natively.
//!
//! Every pad comes from one generator, and players come and go. The result is left in memory behind
//! two words that are easy to find, because a WASM host without imports can see nothing else.

use std::sync::atomic::{AtomicU64, Ordering};

use gaggle_kit::{Frame, Prng, SlotSet, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs};
use skein::{Mode, Pad, SEATS, Setup, Skein};

/// Size in bytes and hash of the state after the fixed minute.
#[allow(dead_code)] // As a program it only reports; the test that includes it compares.
pub(crate) const GOLDEN: (u64, u64) = (15_271, skein::FINGERPRINT);

/// Marks the place of the result in memory.
pub(crate) const MARK: [u64; 2] = [0x6a7d_9e21_00c0_ffee, 0x2026_1118_0003_5e1e];

static RESULT: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// One minute from the last wave of the fourth stage, six players, pads that change now and then,
/// some that leave and return, and one slot that gets another player.
pub(crate) fn fixed_minute() -> (u64, u64) {
    let setup = Setup { mode: Mode::Long, stage: 4, wave: 7, spares: 9 };
    let mut game = Skein::new(setup, 1982);
    let mut random = Prng::new(2026);
    let mut pads = [Pad::NONE; SEATS];
    for frame in 1..=3600 {
        for pad in &mut pads {
            if random.chance(1, 9) {
                let (x, y) = (random.range(-1..=1), random.range(-1..=1));
                let (honks, tucks) = (random.chance(1, 20), random.chance(1, 3));
                *pad = Pad::flying(x, y).with(Pad::HONK, honks).with(Pad::TUCK, tucks);
            }
        }
        let mut held = pads;
        held[3] = pads[3].with(Pad::FRESH, (2100..2130).contains(&frame));
        let present = match frame % 1500 {
            300..600 => 0b01_0111,
            900..1100 => 0b11_1101,
            _ => 0b11_1111,
        };
        game.tick(&Inputs::confirmed(Frame::new(frame), &held, SlotSet::from_bits(present)));
    }
    (encode_state(&game).len() as u64, state_hash(&game))
}

fn main() {
    let (size, hash) = fixed_minute();
    for (word, value) in RESULT.iter().zip([MARK[0], MARK[1], size, hash]) {
        word.store(value, Ordering::Relaxed);
    }
    // It is read from outside.
    std::hint::black_box(&RESULT);
    println!("{size} bytes, {hash:#018x}");
}
