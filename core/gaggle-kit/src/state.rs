//! What a game's state must be able to do: be saved, sent, compared and explained.
//!
//! The trait and its use; `state/standard.rs` and `state/nouns.rs` implement it for what states are
//! made of, `#[derive(State)]` for the games' own types.

mod nouns;
#[doc(hidden)]
pub mod pod;
mod range;
mod standard;

pub use range::InRange;

use crate::{ByteReader, ByteSink, DecodeError, FieldDiff, FieldPath, Shape, StateHasher};

/// A game's state, or a part of one. Derive it; write it by hand only for a type with rules of its
/// own.
///
/// One encoding per value: equal states have equal bytes, and so equal hashes, on every machine.
/// Integers are little-endian, counts are varints, enums start with the number of the variant in
/// one byte. Implemented for integers, `bool`, `char`, `String`, `Option`, arrays, tuples, `Vec`,
/// `VecDeque`, `BTreeMap`, `BTreeSet`, `Box` and the types of this crate; not for floats and
/// `usize`, which differ between machines, nor for hash maps, whose order does.
///
/// ```
/// use gaggle_kit::{State, decode_state, diff, encode_state, state_hash};
///
/// #[derive(Clone, State)]
/// struct Rider {
///     position: [i32; 2],
///     #[state(range = -8..=8)]
///     speed: i8,
/// }
///
/// #[derive(Clone, State)]
/// struct World {
///     #[state(max = 64)]
///     riders: Vec<Rider>,
///     night: bool,
/// }
///
/// let ours = World { riders: vec![Rider { position: [10, -4], speed: 3 }], night: false };
/// let bytes = encode_state(&ours);
/// let mut theirs: World = decode_state(&bytes)?;
/// assert_eq!(state_hash(&ours), state_hash(&theirs));
///
/// theirs.riders[0].speed = 4;
/// assert_eq!(diff(&ours, &theirs), ["riders[0].speed: 3 vs 4"]);
/// # Ok::<(), gaggle_kit::DecodeError>(())
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be part of a game's state",
    note = "derive `State` for your own types; floats and `usize` differ between machines (use `Fixed`, `u32`), the order of hash maps too (use `BTreeMap`)"
)]
pub trait State: Clone {
    /// How many bytes the shortest encoding of any value takes. A decoder checks announced counts
    /// against it before it allocates.
    const SIZE_MIN: usize;

    /// Describes what the bytes mean, so that builds that mean different things by them know that
    /// they do. The derived version names every field; a type written by hand says no more than its
    /// least size.
    fn shape(shape: &mut Shape) {
        shape.number(Self::SIZE_MIN as u64);
    }

    /// Appends the bytes of this value.
    fn encode<S: ByteSink>(&self, out: &mut S);

    /// Reads a value from bytes anybody may have written. Allocates no more than the bytes left
    /// could need: `size_of` an element for every [`State::SIZE_MIN`] of them, on each level of
    /// lists within lists.
    ///
    /// # Errors
    /// If no value is written so.
    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError>;

    /// Reports every value that differs. `self` is the left side.
    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>));

    /// Becomes equal to `other`, keeping allocated memory where possible: what saving and loading a
    /// snapshot does. Unlike `clone_from`, which `#[derive(Clone)]` leaves to the default, the
    /// derived version does it field by field.
    fn copy_from(&mut self, other: &Self) {
        self.clone_from(other);
    }

    /// Whether the value keeps its own rules. Only asked where bytes become a value without
    /// [`State::decode`] of each part: inside `#[state(pod)]`.
    ///
    /// # Errors
    /// If it doesn't.
    fn validate(&self) -> Result<(), DecodeError> {
        Ok(())
    }

    /// Appends the bytes of all of these, as if one after another. A type that is plain bytes in
    /// memory does it at once.
    fn encode_all<S: ByteSink>(values: &[Self], out: &mut S) {
        for value in values {
            value.encode(out);
        }
    }

    /// Reads so many values, as if one after another. The caller has bounded the count.
    ///
    /// # Errors
    /// If one of them is not written so.
    fn decode_vec(r: &mut ByteReader<'_>, count: usize) -> Result<Vec<Self>, DecodeError> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(Self::decode(r)?);
        }
        Ok(values)
    }

    /// Reads `N` values, as if one after another.
    ///
    /// # Errors
    /// If one of them is not written so.
    fn decode_array<const N: usize>(r: &mut ByteReader<'_>) -> Result<[Self; N], DecodeError> {
        let mut refusal = None;
        let values = std::array::from_fn::<_, N, _>(|_| match refusal {
            None => Self::decode(r).map_err(|error| refusal = Some(error)).ok(),
            Some(_) => None,
        });
        match refusal {
            None => Ok(values.map(|value| value.expect("without a refusal every value was read"))),
            Some(refusal) => Err(refusal),
        }
    }
}

/// A state of any length: what `#[state(max = …)]` can be written on.
///
/// ```
/// use gaggle_kit::{Bounded, ByteReader};
/// let name = String::decode_bounded(&mut ByteReader::new(b"\x05goose"), 4);
/// assert_eq!(name.unwrap_err().to_string(), "5 value announced, at most 4 are allowed");
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no length to be bounded by `max`",
    note = "`#[state(max = …)]` is for `Vec`, `VecDeque`, `String`, `BTreeMap` and `BTreeSet`"
)]
pub trait Bounded: State {
    /// [`State::decode`] with at most so many elements (bytes, in a text).
    ///
    /// # Errors
    /// If no value is written so, or it has more elements.
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError>;
}

/// The hash of a state: that of its encoding, without making one.
///
/// ```
/// use gaggle_kit::{StateHasher, encode_state, state_hash};
/// let state = (7_u8, vec![1_i32, -1]);
/// assert_eq!(state_hash(&state), StateHasher::of(&encode_state(&state)));
/// ```
pub fn state_hash<S: State>(state: &S) -> u64 {
    let mut hasher = StateHasher::new();
    state.encode(&mut hasher);
    hasher.finish()
}

/// A state as bytes. To use a buffer again, [`State::encode`] into it.
///
/// ```
/// use gaggle_kit::encode_state;
/// assert_eq!(encode_state(&(true, [1_u16, 2], Some(3_u8))), [1, 1, 0, 2, 0, 1, 3]);
/// ```
pub fn encode_state<S: State>(state: &S) -> Vec<u8> {
    let mut out = Vec::new();
    state.encode(&mut out);
    out
}

/// A state from bytes anybody may have written, all of them.
///
/// ```
/// use gaggle_kit::{DecodeError, decode_state};
/// assert_eq!(decode_state::<Vec<u8>>(&[2, 10, 20]), Ok(vec![10, 20]));
/// assert_eq!(decode_state::<bool>(&[1, 0]), Err(DecodeError::TrailingBytes { what: "state", left: 1 }));
/// ```
///
/// # Errors
/// If no state is written so.
pub fn decode_state<S: State>(bytes: &[u8]) -> Result<S, DecodeError> {
    let mut r = ByteReader::new(bytes);
    let state = S::decode(&mut r)?;
    r.finish("state")?;
    Ok(state)
}

/// Every value that differs between two states, as text: `riders[2].speed: 3 vs 4`.
///
/// ```
/// use gaggle_kit::diff;
/// assert_eq!(diff(&[(1, true), (2, false)], &[(1, true), (3, false)]), ["[1].0: 2 vs 3"]);
/// ```
pub fn diff<S: State>(left: &S, right: &S) -> Vec<String> {
    let mut found = Vec::new();
    left.diff(right, &mut FieldPath::new(), &mut |difference| found.push(difference.to_string()));
    found
}
