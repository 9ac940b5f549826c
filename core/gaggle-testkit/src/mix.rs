//! The game of all engine tests: every input of every frame changes its whole state permanently.
//!
//! Harnesses expand [`mix_game!`](crate::mix_game) beside the engine they test. Absent: what a
//! harness does with the state.

/// The next state of a game whose state depends on every earlier input: an input that is lost,
/// moved to another slot or applied twice changes every later state.
///
/// ```
/// use gaggle_testkit::mix;
///
/// assert_ne!(mix(1, 0, 7, true), mix(1, 1, 7, true));
/// assert_ne!(mix(1, 0, 0, true), mix(1, 0, 0, false));
/// ```
#[must_use]
pub const fn mix(state: u32, slot: usize, input: u32, present: bool) -> u32 {
    let stirred = state ^ input.rotate_left(slot as u32) ^ (present as u32) << slot;
    stirred.wrapping_mul(0x0100_0193).rotate_left(7)
}

/// Changes one word of a large state per frame, so that its bytes are never the same.
pub fn stir(bulk: &mut [u32], frame: u32, mixed: u32) {
    if let Some(at) = (frame as usize).checked_rem(bulk.len()) {
        bulk[at] ^= mixed;
    }
}

/// Defines `MixGame`, a game whose ticks [`mix`] all inputs, and implements the engine's `Game`.
///
/// It expands in the caller's crate, because a crate under unit test is not the crate that its
/// dev-dependencies see. `engine` is the path of the crate with `Game` and `Inputs`; `input` must
/// convert into `u32`; `vis` is the visibility of all items. `stir` runs at the end of each tick
/// and changes the ballast. `disturb` runs after it in the ticks of the engine, but not in
/// `tick_undisturbed`, and may corrupt the state.
///
/// ```ignore
/// gaggle_testkit::mix_game! {
///     vis: pub, engine: gaggle_timeline, input: u8, slots: 8, stir: |_| {}, disturb: |_| {}
/// }
/// ```
#[macro_export]
macro_rules! mix_game {
    (
        vis: $vis:vis,
        engine: $($engine:ident)::+,
        input: $input:ty,
        slots: $slots:expr,
        stir: $stir:expr,
        disturb: $disturb:expr $(,)?
    ) => {
        const _: () = {
            use $($engine)::+::{Game, Inputs};

            impl Game for MixGame {
                type Input = $input;

                fn tick(&mut self, inputs: &Inputs<'_, $input>) {
                    self.tick_undisturbed(inputs);
                    let disturb: fn(&mut MixGame) = $disturb;
                    disturb(self);
                }
            }

            impl MixGame {
                /// A tick as every peer should compute it.
                $vis fn tick_undisturbed(&mut self, inputs: &Inputs<'_, $input>) {
                    self.frame = inputs.frame().number();
                    for (nth, sum) in self.tasted.iter_mut().enumerate() {
                        let slot = ::gaggle_kit::Slot::at(nth);
                        let input = u32::from(inputs.get(slot));
                        *sum = sum.wrapping_add(input);
                        self.mixed = $crate::mix(self.mixed, nth, input, inputs.is_present(slot));
                    }
                    let stir: fn(&mut MixGame) = $stir;
                    stir(self);
                }
            }
        };

        /// Mixes all inputs of all frames; `bulk` sets the size of its snapshots.
        #[derive(Clone, Debug, PartialEq, Eq, ::gaggle_kit::State)]
        $vis struct MixGame {
            /// Last frame that was simulated.
            $vis frame: u32,
            /// Depends on every input and every presence so far.
            $vis mixed: u32,
            /// Inputs of each slot, added up.
            $vis tasted: [u32; $slots],
            /// Ballast of the state; only `stir` changes it.
            $vis bulk: Vec<u32>,
        }

        impl MixGame {
            /// A game before its first frame, with this ballast.
            $vis fn new(bulk: Vec<u32>) -> MixGame {
                MixGame { frame: 0, mixed: 1, tasted: [0; $slots], bulk }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn played(inputs: &[[u32; 2]]) -> u32 {
        let slots = |state, frame: &[u32; 2]| mix(mix(state, 0, frame[0], true), 1, frame[1], true);
        inputs.iter().fold(1, slots)
    }

    #[test]
    fn moved_input_changes_every_later_state() {
        let rest = [[3, 4]; 50];
        for other in [[[1, 2], [0, 0]], [[2, 1], [0, 0]], [[0, 0], [1, 2]], [[1, 2], [1, 2]]] {
            let states = |frames: [[u32; 2]; 2]| {
                let all: Vec<[u32; 2]> = frames.into_iter().chain(rest).collect();
                (2..all.len()).map(|to| played(&all[..to])).collect::<Vec<_>>()
            };
            let first = [[1, 2], [0, 1]];
            assert!(states(first).iter().zip(states(other)).all(|(ours, theirs)| *ours != theirs));
        }
    }

    #[test]
    fn stir_changes_one_word_per_frame() {
        let mut bulk = vec![0; 4];
        (0..6).for_each(|frame| stir(&mut bulk, frame, 1 << frame));
        assert_eq!(bulk, [1 | 1 << 4, 2 | 1 << 5, 4, 8]);
        stir(&mut [], 3, 9);
    }
}
