//! The game of all matches: a block of numbers that every tick mixes with all inputs.
//!
//! A wrong, missing or misplaced input changes the state for good, so equal states mean equal
//! inputs at equal frames. Played through every library. Absent: anything of a library.

use gaggle_kit::{Input, State};
use serde::{Serialize, de::DeserializeOwned};

use crate::chance::{draw, happens};

/// A game that any library can play.
pub trait Game: State + 'static {
    /// Input of a player in a frame.
    type Input: Pressed;

    /// State before the first tick.
    fn new() -> Self;

    /// Simulates one frame.
    fn tick(&mut self, inputs: impl Iterator<Item = Self::Input>);

    /// A hash of the state.
    fn digest(&self) -> u64;
}

/// An input that the bench can produce.
pub trait Pressed: Input + Serialize + DeserializeOwned {
    /// Probability that it changes from one frame to the next.
    const CHANGES: f64;

    /// Input derived from a number.
    fn from_number(number: u64) -> Self;

    /// The input as a number.
    fn number(self) -> u64;
}

/// Held buttons, which change in every tenth frame.
impl Pressed for u8 {
    const CHANGES: f64 = 0.1;

    fn from_number(number: u64) -> u8 {
        number as u8
    }

    fn number(self) -> u64 {
        u64::from(self)
    }
}

/// A stick or a mouse, which changes in every frame.
impl Pressed for u64 {
    const CHANGES: f64 = 1.0;

    fn from_number(number: u64) -> u64 {
        number
    }

    fn number(self) -> u64 {
        self
    }
}

/// Inputs of a player, frame by frame; the same for every library.
pub fn presses<I: Pressed>(frames: usize, player: usize, seed: u64) -> Vec<I> {
    let mut held = I::default();
    (0..frames as u64)
        .map(|frame| {
            if happens(I::CHANGES, seed, [player as u64, frame, 0]) {
                let before = held;
                for attempt in 1.. {
                    held = I::from_number(draw(seed, [player as u64, frame, attempt]));
                    if held != before {
                        break;
                    }
                }
            }
            held
        })
        .collect()
}

/// Most numbers that a tick mixes: a larger state costs its copies, not its rules.
const WALKED: usize = 556;

/// `N` numbers inside the struct, played with held buttons.
#[derive(Clone, PartialEq, Eq, Debug, State)]
pub struct Block<const N: usize> {
    frame: u32,
    numbers: [i32; N],
}

/// Game of the published figures: 556 numbers, 2.2 KB.
pub type Arena = Block<555>;
/// A game of 64 bytes, so that the library's own cost shows.
pub type Tiny = Block<15>;

impl<const N: usize> Game for Block<N> {
    type Input = u8;

    fn new() -> Block<N> {
        Block { frame: 0, numbers: std::array::from_fn(|i| i as i32) }
    }

    fn tick(&mut self, inputs: impl Iterator<Item = u8>) {
        self.frame += 1;
        mix(&mut self.numbers, self.frame, inputs);
    }

    fn digest(&self) -> u64 {
        digest(self.frame, &self.numbers)
    }
}

/// A game of 64 bytes whose 8-byte input changes in every frame.
#[derive(Clone, PartialEq, Eq, Debug, State)]
pub struct TinyStick {
    frame: u32,
    numbers: [i32; 15],
}

impl Game for TinyStick {
    type Input = u64;

    fn new() -> TinyStick {
        TinyStick { frame: 0, numbers: std::array::from_fn(|i| i as i32) }
    }

    fn tick(&mut self, inputs: impl Iterator<Item = u64>) {
        self.frame += 1;
        mix(&mut self.numbers, self.frame, inputs);
    }

    fn digest(&self) -> u64 {
        digest(self.frame, &self.numbers)
    }
}

/// A game of 100 KB on the heap.
#[derive(Clone, PartialEq, Eq, Debug, State)]
pub struct Large {
    frame: u32,
    #[state(max = 25_600)]
    numbers: Vec<i32>,
}

impl Game for Large {
    type Input = u8;

    fn new() -> Large {
        Large { frame: 0, numbers: (0..25_600).collect() }
    }

    fn tick(&mut self, inputs: impl Iterator<Item = u8>) {
        self.frame += 1;
        let parts = self.numbers.len() / WALKED;
        let part = self.frame as usize % parts * WALKED;
        mix(&mut self.numbers[part..part + WALKED], self.frame, inputs);
    }

    fn digest(&self) -> u64 {
        digest(self.frame, &self.numbers)
    }
}

fn mix<I: Pressed>(numbers: &mut [i32], frame: u32, inputs: impl Iterator<Item = I>) {
    let pressed = inputs.fold(u64::from(frame), |all, input| {
        (all.rotate_left(9) ^ input.number()).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    // Each number depends on the one before, so that a tick takes its time.
    let mut carried = (pressed ^ (pressed >> 32)) as i32;
    for number in numbers {
        carried = (carried.rotate_left(5) ^ *number).wrapping_add(carried);
        *number = carried;
    }
}

fn digest(frame: u32, numbers: &[i32]) -> u64 {
    numbers.iter().fold(u64::from(frame), |all, &number| {
        (all.rotate_left(5) ^ number as u32 as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    })
}

/// Plays the inputs, each `delay` frames later, without a network.
pub fn straight_run<G: Game>(presses: &[Vec<G::Input>], delay: usize, frames: usize) -> G {
    let mut game = G::new();
    for frame in 0..frames {
        game.tick(presses.iter().map(|player| match frame.checked_sub(delay) {
            Some(pressed) => player[pressed],
            None => G::Input::default(),
        }));
    }
    game
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_changed_input_changes_state_for_good() {
        let mut pressed = vec![presses::<u8>(500, 0, 1), presses::<u8>(500, 1, 1)];
        let right: Arena = straight_run(&pressed, 0, 500);
        pressed[1][3] ^= 1;
        let wrong: Arena = straight_run(&pressed, 0, 500);
        assert_ne!(right.digest(), wrong.digest());
        assert!(right.numbers.iter().zip(&wrong.numbers).filter(|(a, b)| a != b).count() > 500);
    }

    #[test]
    fn states_have_sizes_of_their_names() {
        assert_eq!(size_of::<Arena>(), 2_224);
        assert_eq!(size_of::<Tiny>(), 64);
        assert_eq!(Large::new().numbers.len() * 4, 102_400);
    }

    #[test]
    fn inputs_change_as_often_as_promised() {
        let changes = |inputs: &[u8]| inputs.windows(2).filter(|pair| pair[0] != pair[1]).count();
        let held = presses::<u8>(100_000, 3, 9);
        assert!((9_700..10_300).contains(&changes(&held)), "{}", changes(&held));
        let stick = presses::<u64>(1_000, 3, 9);
        assert!(stick.windows(2).all(|pair| pair[0] != pair[1]));
    }
}
