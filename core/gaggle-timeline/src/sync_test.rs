//! Determinism checks: whether a game supports rollback, before it is played over a network.
//!
//! Tests and tools call it; no session runs it. Absent: packets, peers.

use std::collections::VecDeque;

use gaggle_kit::{Frame, SlotSet, State, decode_state, diff, encode_state, state_hash};
use thiserror::Error;

use crate::{Game, Inputs};

/// A difference between two simulations that must be equal. Names the first fields that differ.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum Nondeterminism {
    /// A rollback and resimulation gave another state.
    #[error(
        "at {frame}, {depth} resimulated frames gave another state: {}; keep all that `tick` reads in the state",
        list(.fields)
    )]
    Rollback {
        /// Frame where it was noticed.
        frame: Frame,
        /// Frames it went back.
        depth: u32,
        /// Fields that differ.
        fields: Vec<String>,
    },
    /// The same inputs from the same start gave another state.
    #[error(
        "at {frame}, a second run with the same inputs gave another state: {}; read no clock, chance or hash order",
        list(.fields)
    )]
    Rerun {
        /// Frame where it was noticed.
        frame: Frame,
        /// Fields that differ.
        fields: Vec<String>,
    },
    /// A state differs after it was encoded and decoded.
    #[error(
        "at {frame}, the state changed by encoding and decoding: {}; encode every field",
        list(.fields)
    )]
    Codec {
        /// Frame where it was noticed.
        frame: Frame,
        /// Fields that differ.
        fields: Vec<String>,
    },
    /// A state that was encoded cannot be decoded.
    #[error(
        "at {frame}, the state's own encoding cannot be decoded: {error}; keep its values within its bounds"
    )]
    Undecodable {
        /// Frame where it was noticed.
        frame: Frame,
        /// Why decoding failed.
        error: gaggle_kit::DecodeError,
    },
    /// A copied state differs from its original.
    #[error("at {frame}, a copy of the state differs: {}; copy every field", list(.fields))]
    CopyFrom {
        /// Frame where it was noticed.
        frame: Frame,
        /// Fields that differ.
        fields: Vec<String>,
    },
}

fn list(fields: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = fields.len().saturating_sub(SHOWN);
    let shown = fields[..fields.len() - more].join("; ");
    match (fields.is_empty(), more) {
        (true, _) => "no named field differs, but the hash does".to_string(),
        (false, 0) => shown,
        (false, more) => format!("{shown}; and {more} more"),
    }
}

fn compare<S: State>(left: &S, right: &S) -> Option<Vec<String>> {
    (state_hash(left) != state_hash(right)).then(|| diff(left, right))
}

/// Plays a game and goes back in every frame, as far as a rollback would.
///
/// ```
/// use gaggle_kit::{Slot, SlotSet, State};
/// use gaggle_timeline::{Game, Inputs, SyncTest};
///
/// #[derive(Clone, Default, State)]
/// struct Honest { sum: u32 }
///
/// impl Game for Honest {
///     type Input = u8;
///     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
///         self.sum += u32::from(inputs.get(Slot::at(0)));
///     }
/// }
///
/// let mut test = SyncTest::new(Honest::default(), 1, 7);
/// for frame in 0..100 {
///     test.advance(&[frame])?;
/// }
/// # Ok::<(), gaggle_timeline::Nondeterminism>(())
/// ```
#[derive(Debug)]
pub struct SyncTest<G: Game> {
    game: G,
    present: SlotSet,
    depth: u32,
    frame: Frame,
    /// States of the last frames with the input that followed each, oldest first.
    past: VecDeque<(G, Vec<G::Input>)>,
}

impl<G: Game> SyncTest<G> {
    /// A test with `slots` slots that rolls back `depth` frames in every frame.
    pub fn new(game: G, slots: usize, depth: u32) -> Self {
        SyncTest { game, present: SlotSet::first(slots), depth, frame: Frame::START, past: VecDeque::new() }
    }

    /// Slots present from the next frame on.
    pub fn set_present(&mut self, present: SlotSet) {
        self.present = present;
    }

    /// Game in its current state.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Plays one frame with these inputs; then rolls back by the depth, resimulates, and compares.
    ///
    /// # Errors
    /// If the states differ.
    pub fn advance(&mut self, inputs: &[G::Input]) -> Result<(), Nondeterminism> {
        self.past.push_back((self.game.clone(), inputs.to_vec()));
        if self.past.len() as u32 > self.depth {
            self.past.pop_front();
        }
        self.frame = self.frame.next();
        self.game.tick(&Inputs::confirmed(self.frame, inputs, self.present));

        let Some((oldest, _)) = self.past.front() else { return Ok(()) };
        let mut again = oldest.clone();
        let first = self.frame - self.past.len() as u32;
        for (nth, (_, inputs)) in self.past.iter().enumerate() {
            again.tick(&Inputs::confirmed(first + nth as u32 + 1, inputs, self.present));
        }
        match compare(&self.game, &again) {
            None => Ok(()),
            Some(fields) => {
                Err(Nondeterminism::Rollback { frame: self.frame, depth: self.past.len() as u32, fields })
            }
        }
    }
}

/// Runs a game four ways from one start and the same inputs, and compares them in every frame:
/// straight, straight again, rolled back by `depth` in every frame, and copied, encoded and decoded
/// in every frame. `inputs(frame)` gives all inputs, `is_present(frame)` the slots with a player.
///
/// ```
/// use gaggle_kit::{Frame, Slot, SlotSet, State};
/// use gaggle_timeline::{Game, Inputs, check_determinism};
///
/// #[derive(Clone, Debug, Default, State)]
/// struct Forgetful { sum: u32, #[state(skip)] carried: u32 }
///
/// impl Game for Forgetful {
///     type Input = u8;
///     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
///         self.sum += self.carried;
///         self.carried += 1; // decides what happens, but is not part of the state
///     }
/// }
///
/// let game = Forgetful::default();
/// let error = check_determinism(&game, 60, 8, |_| vec![0], |_| SlotSet::first(1)).unwrap_err();
/// assert!(error.to_string().contains("sum: "));
/// ```
///
/// # Errors
/// The first difference, with the frame and the names of the fields.
pub fn check_determinism<G: Game>(
    start: &G,
    frames: u32,
    depth: u32,
    mut inputs: impl FnMut(Frame) -> Vec<G::Input>,
    mut present: impl FnMut(Frame) -> SlotSet,
) -> Result<G, Nondeterminism> {
    let (mut straight, mut second, mut traveled) = (start.clone(), start.clone(), start.clone());
    let mut test = SyncTest::new(start.clone(), 0, depth);
    let mut copy = start.clone();
    let mut roster = SlotSet::EMPTY;
    for frame in (1..=frames).map(Frame::new) {
        let (row, now_present) = (inputs(frame), present(frame));
        let row_inputs = Inputs::confirmed(frame, &row, now_present);
        straight.tick(&row_inputs);
        second.tick(&row_inputs);
        if let Some(fields) = compare(&straight, &second) {
            return Err(Nondeterminism::Rerun { frame, fields });
        }
        if roster != now_present {
            // The sync test has one roster for the frames it rolls back: another roster needs a new
            // test.
            roster = now_present;
            test = SyncTest { frame: frame.previous(), ..SyncTest::new(test.game, 0, depth) };
            test.set_present(roster);
        }
        test.advance(&row)?;
        traveled.tick(&row_inputs);
        traveled = decode_state(&encode_state(&traveled))
            .map_err(|error| Nondeterminism::Undecodable { frame, error })?;
        if let Some(fields) = compare(&straight, &traveled) {
            return Err(Nondeterminism::Codec { frame, fields });
        }
        copy.copy_from(&straight);
        if let Some(fields) = compare(&straight, &copy) {
            return Err(Nondeterminism::CopyFrom { frame, fields });
        }
    }
    Ok(straight)
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::{ByteReader, ByteSink, DecodeError, FieldDiff, FieldPath, Slot};
    use std::cell::Cell;

    thread_local! {
        static OUTSIDE: Cell<u32> = const { Cell::new(0) };
    }

    #[derive(Clone, Default, State)]
    struct Leaky {
        steps: u32,
        lucky: u32,
    }

    impl Game for Leaky {
        type Input = u8;

        fn tick(&mut self, inputs: &Inputs<'_, u8>) {
            self.steps += 1;
            if inputs.get(Slot::at(0)) == 1 {
                OUTSIDE.set(OUTSIDE.get() + 1);
                self.lucky = OUTSIDE.get();
            }
        }
    }

    #[test]
    fn state_outside_game_is_found_and_named() {
        let mut test = SyncTest::new(Leaky::default(), 1, 3);
        for _ in 0..10 {
            assert_eq!(test.advance(&[0]), Ok(()));
        }
        let error = test.advance(&[1]).unwrap_err();
        assert!(matches!(&error, Nondeterminism::Rollback { frame, depth: 3, .. } if frame.number() == 11));
        assert!(error.to_string().contains("lucky"), "{error}");
        assert!(!error.to_string().contains("steps"), "{error}");
    }

    /// A counter that a copy or a decoder gets wrong.
    #[derive(Clone, Debug, Default, PartialEq, Eq)]
    struct Counter {
        ticks: u32,
        /// Copies leave out the count.
        forgets: bool,
        /// Decoding limits the count to this.
        readable: u32,
    }

    impl State for Counter {
        const SIZE_MIN: usize = 9;

        fn encode<S: ByteSink>(&self, out: &mut S) {
            self.ticks.encode(out);
            self.forgets.encode(out);
            self.readable.encode(out);
        }

        fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
            let (ticks, forgets, readable) = (u32::decode(r)?, bool::decode(r)?, u32::decode(r)?);
            if ticks > readable {
                return Err(DecodeError::out_of_range("ticks", ticks, 0, readable));
            }
            Ok(Counter { ticks, forgets, readable })
        }

        fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
            path.field("ticks", |path| self.ticks.diff(&other.ticks, path, report));
        }

        fn copy_from(&mut self, other: &Self) {
            if !other.forgets {
                self.clone_from(other);
            }
        }
    }

    impl Game for Counter {
        type Input = u8;

        fn tick(&mut self, _: &Inputs<'_, u8>) {
            self.ticks += 1;
        }
    }

    fn check(counter: &Counter) -> Result<(), Nondeterminism> {
        check_determinism(counter, 30, 2, |_| vec![0], |_| SlotSet::first(1)).map(|_| ())
    }

    #[test]
    fn incomplete_copies_and_undecodable_states_are_found() {
        let sound = Counter { readable: 99, ..Counter::default() };
        assert_eq!(check(&sound), Ok(()));
        let error = check(&Counter { forgets: true, ..sound.clone() }).unwrap_err();
        assert!(matches!(&error, Nondeterminism::CopyFrom { frame, .. } if frame.number() == 1), "{error:?}");
        assert!(error.to_string().contains("ticks"), "{error}");
        let error = check(&Counter { readable: 12, ..sound }).unwrap_err();
        assert!(
            matches!(&error, Nondeterminism::Undecodable { frame, .. } if frame.number() == 13),
            "{error:?}"
        );
    }

    #[test]
    fn differing_rerun_is_found_first() {
        let run = check_determinism(
            &Leaky::default(),
            30,
            2,
            |f| vec![u8::from(f.number() == 20)],
            |_| SlotSet::first(1),
        );
        assert!(matches!(run.map(|_| ()), Err(Nondeterminism::Rerun { frame, .. }) if frame.number() == 20));
    }
}
