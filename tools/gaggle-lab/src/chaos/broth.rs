//! The game of chaos matches: any difference of state or input spreads to the whole state within a
//! frame.
//!
//! An input contains the stay of its player and a count, so that a lost, moved or invented one is
//! found. Called by sessions and by the harness. Absent: sessions.

use std::cell::Cell;

use gaggle_kit::{Input, Slot, State};
use gaggle_timeline::{Game, Inputs};

/// Slots of the game: enough for two players at some machines.
pub(super) const SLOTS: usize = 12;

/// Input of a player: its stay, and the count of its changes in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
pub(super) struct Press {
    pub(super) stay: u16,
    pub(super) count: u16,
}

/// State of the mixing game.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub(super) struct MixGame {
    pub(super) frame: u32,
    pub(super) mixed: u32,
    pub(super) tasted: [u32; SLOTS],
    pub(super) bulk: Vec<u32>,
}

/// Whether a word of `bulk` repeats the one before: alternately for 8 KB, so that half of a state
/// can be compressed.
fn is_thick(nth: u32) -> bool {
    (nth / 2_048).is_multiple_of(2)
}

impl MixGame {
    /// A state of about `bytes` bytes.
    pub(super) fn of(bytes: usize) -> MixGame {
        let stuff = |nth: u32| if is_thick(nth) { nth / 16 } else { nth.wrapping_mul(0x9e37_79b9) };
        let bulk = (0..bytes as u32 / 4).map(stuff).collect();
        MixGame { frame: 0, mixed: 1, tasted: [0; SLOTS], bulk }
    }
}

impl Game for MixGame {
    type Input = Press;

    fn tick(&mut self, inputs: &Inputs<'_, Press>) {
        self.tick_with(inputs);
        if FLIP.take() {
            self.mixed ^= 1 << 9;
        }
    }
}

thread_local! {
    /// Whether the next tick on this thread damages its state, as a bad memory cell would.
    static FLIP: Cell<bool> = const { Cell::new(false) };
}

/// Damages the state of the peer that ticks next.
pub(super) fn flip_a_bit() {
    FLIP.set(true);
}

/// Cancels the damage. True if no peer has ticked since.
pub(super) fn heal_the_bit() -> bool {
    FLIP.take()
}

impl MixGame {
    /// A tick without damage.
    pub(super) fn tick_with(&mut self, inputs: &Inputs<'_, Press>) {
        self.frame = inputs.frame().number();
        for (nth, tasted) in self.tasted.iter_mut().enumerate() {
            let slot = Slot::at(nth);
            let press = inputs.get(slot);
            let present = u32::from(inputs.is_present(slot));
            let value = u32::from(press.stay) << 16 | u32::from(press.count);
            *tasted = tasted.wrapping_add(value);
            self.mixed ^= value.rotate_left(nth as u32) ^ present << nth;
            self.mixed = self.mixed.wrapping_mul(0x0100_0193).rotate_left(7);
        }
        let place = self.frame.checked_rem(self.bulk.len() as u32);
        if let Some(place) = place.filter(|place| !is_thick(*place)) {
            self.bulk[place as usize] ^= self.mixed;
        }
    }

    /// Hash of the state without `bulk`, which follows from the rest.
    pub(super) fn digest(&self) -> u64 {
        let words = [self.frame, self.mixed].into_iter().chain(self.tasted);
        words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
            (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
        })
    }
}
