//! A fixed minute of gosling: what its state must come to on every peer; the tests run it natively.
//!
//! Every wish comes from one generator, and players come and go. The result is left in memory
//! behind two words that are easy to find, because a WASM host without imports can see nothing
//! else.

use std::sync::atomic::{AtomicU64, Ordering};

use gaggle_kit::{Frame, Prng, SlotSet, encode_state, state_hash};
use gaggle_timeline::{Game, Inputs};
use gosling::{Gosling, Mode, SEATS, Setup, Wish};

/// Size in bytes and hash of the state after the fixed minute.
#[allow(dead_code)] // As a program it only reports; the test that includes it compares.
pub(crate) const GOLDEN: (u64, u64) = (3_138, gosling::FINGERPRINT);

/// Marks the place of the result in memory.
pub(crate) const MARK: [u64; 2] = [0x6a7d_9e21_00c0_ffee, 0x2026_1119_0005_5e1e];

static RESULT: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// Half a minute of the great reed, whose round ends and whose next begins; some players leave and
/// return. Then the same of the other modes, each on top of the last hash.
pub(crate) fn fixed_minute() -> (u64, u64) {
    let mut random = Prng::new(2026);
    let (mut size, mut hash) = (0, 0);
    for mode in [Mode::Great, Mode::Broods, Mode::Free] {
        let mut game = Gosling::new(Setup { round_frames: 500, ..Setup::of(mode) }, 1982 ^ hash);
        let mut wishes = [Wish::default(); SEATS];
        for frame in 1..=900 {
            for wish in &mut wishes {
                if random.chance(1, 14) {
                    *wish = wish.pressed(random.below(4) as u8);
                    wish.again = random.chance(1, 8);
                }
            }
            let present = match frame % 400 {
                100..200 => 0xffff_0fff_ff0f_0f0f,
                250..300 => 0x0000_ffff_0000_ffff,
                _ => 0x0fff_ffff_ffff_0fff,
            };
            let inputs = Inputs::confirmed(Frame::new(frame), &wishes, SlotSet::from_bits(present));
            game.tick(&inputs);
        }
        size = encode_state(&game).len() as u64;
        hash = state_hash(&game);
    }
    (size, hash)
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
