//! The game chaos is played with: everything depends on everything, so any difference spreads
//! within a frame, and an input says who pressed it when, so that one lost, moved or made up shows.

use std::cell::Cell;

use gaggle_kit::Input;

/// Slots the game has: enough for two players at some machines, however many of these there are.
pub(super) const SLOTS: usize = 12;

/// What a player holds: the stay it belongs to, and how often it changed its mind in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Input)]
pub(super) struct Press {
    pub(super) stay: u16,
    pub(super) count: u16,
}

impl From<Press> for u32 {
    fn from(press: Press) -> u32 {
        u32::from(press.stay) << 16 | u32::from(press.count)
    }
}

gaggle_testkit::mix_game! {
    vis: pub(super),
    engine: gaggle_timeline,
    input: Press,
    slots: SLOTS,
    stir: |game| {
        let place = game.frame.checked_rem(game.bulk.len() as u32);
        if place.is_some_and(|place| !is_thick(place)) {
            gaggle_testkit::stir(&mut game.bulk, game.frame, game.mixed);
        }
    },
    disturb: |game| {
        if FLIP.take() {
            game.mixed ^= 1 << 9;
        }
    },
}

/// Words that stay as they are and repeat themselves, 8 KB of them and then 8 KB of others in turn:
/// a state is sent packed as far as that makes it smaller.
fn is_thick(nth: u32) -> bool {
    (nth / 2_048).is_multiple_of(2)
}

impl MixGame {
    /// A broth of about so many bytes.
    pub(super) fn of(bytes: usize) -> MixGame {
        let stuff = |nth: u32| if is_thick(nth) { nth / 16 } else { nth.wrapping_mul(0x9e37_79b9) };
        let bulk = (0..bytes as u32 / 4).map(stuff).collect();
        MixGame::new(bulk)
    }
}

thread_local! {
    /// The next tick of a live game on this thread damages its state, as a bad memory cell would.
    static FLIP: Cell<bool> = const { Cell::new(false) };
}

/// Damages the state of the peer that ticks next.
pub(super) fn flip_a_bit() {
    FLIP.set(true);
}

/// Whether no peer ticked since.
pub(super) fn heal_the_bit() -> bool {
    FLIP.take()
}

impl MixGame {
    /// What tells two states apart that came about by ticking: everything but the bulk, which
    /// follows from it.
    pub(super) fn digest(&self) -> u64 {
        let words = [self.frame, self.mixed].into_iter().chain(self.tasted);
        words.fold(0xcbf2_9ce4_8422_2325, |hash: u64, word| {
            (hash ^ u64::from(word)).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29)
        })
    }
}
