//! Trait of game states: save, send, hash and compare.
//!
//! Used by engines and tools. `state/standard.rs` and `state/nouns.rs` implement it for basic
//! types, `#[derive(State)]` for games' own types. Absent: when states are saved or sent.

mod nouns;
#[doc(hidden)]
pub mod pod;
mod range;
mod standard;

pub use range::InRange;

use crate::{ByteReader, ByteSink, DecodeError, FieldDiff, FieldPath, Shape, StateHasher};

/// A game's state, or a part of one. Derive it; implement it by hand only for types with
/// invariants.
///
/// One encoding per value: equal states have equal bytes and hashes on every platform. Integers are
/// little-endian, counts are varints, enums start with the number of the variant in one byte.
/// Implemented for integers, `bool`, `char`, `String`, `Option`, arrays, tuples, `Vec`, `VecDeque`,
/// `BTreeMap`, `BTreeSet`, `Box` and the types of this crate; not for floats and `usize`, which
/// differ between platforms, nor for hash maps, whose order does.
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
    /// Size of the shortest encoding of any value. Decoders check announced counts against it
    /// before they allocate.
    const SIZE_MIN: usize;

    /// Describes the meaning of the bytes, so that builds which disagree about it notice. The
    /// derived version names every field; the default only adds [`State::SIZE_MIN`].
    fn shape(shape: &mut Shape) {
        shape.number(Self::SIZE_MIN as u64);
    }

    /// Appends the encoding of this value.
    fn encode<S: ByteSink>(&self, out: &mut S);

    /// Decodes untrusted bytes. Allocates at most `size_of` per element for every
    /// [`State::SIZE_MIN`] remaining bytes, on each level of nested lists.
    ///
    /// # Errors
    /// If the bytes encode no value.
    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError>;

    /// Reports every value that differs. `self` is the left state.
    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>));

    /// Becomes equal to `other`, reusing allocations where possible; saving and loading snapshots
    /// call it. Unlike `clone_from`, whose `#[derive(Clone)]` version reallocates, the derived
    /// version works field by field.
    fn copy_from(&mut self, other: &Self) {
        self.clone_from(other);
    }

    /// Checks the value's invariants. Called only where bytes become a value without
    /// [`State::decode`] of each part: inside `#[state(pod)]`.
    ///
    /// # Errors
    /// If an invariant does not hold.
    fn validate(&self) -> Result<(), DecodeError> {
        Ok(())
    }

    /// Appends the encodings of all values. A type that is plain bytes in memory does it at once.
    fn encode_all<S: ByteSink>(values: &[Self], out: &mut S) {
        for value in values {
            value.encode(out);
        }
    }

    /// Decodes `count` values. The caller has bounded the count.
    ///
    /// # Errors
    /// If one of them is invalid.
    fn decode_vec(r: &mut ByteReader<'_>, count: usize) -> Result<Vec<Self>, DecodeError> {
        let mut values = Vec::with_capacity(count);
        for _ in 0..count {
            values.push(Self::decode(r)?);
        }
        Ok(values)
    }

    /// Decodes `N` values.
    ///
    /// # Errors
    /// If one of them is invalid.
    fn decode_array<const N: usize>(r: &mut ByteReader<'_>) -> Result<[Self; N], DecodeError> {
        let mut refusal = None;
        let values = std::array::from_fn::<_, N, _>(|_| match refusal {
            None => Self::decode(r).map_err(|error| refusal = Some(error)).ok(),
            Some(_) => None,
        });
        match refusal {
            None => Ok(values.map(|value| value.expect("without an error every value was read"))),
            Some(refusal) => Err(refusal),
        }
    }
}

/// A state with a length: types that `#[state(max = …)]` accepts.
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
    /// [`State::decode`] with at most `max` elements (bytes of a text).
    ///
    /// # Errors
    /// If the bytes encode no value, or one with more elements.
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError>;
}

/// Hash of a state's encoding, without storing the encoding.
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

/// A state as bytes. To reuse a buffer, [`State::encode`] into it.
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

/// Decodes a state from untrusted bytes, all of them.
///
/// ```
/// use gaggle_kit::{DecodeError, decode_state};
/// assert_eq!(decode_state::<Vec<u8>>(&[2, 10, 20]), Ok(vec![10, 20]));
/// let trailing = DecodeError::TrailingBytes { what: "state", left: 1 };
/// assert_eq!(decode_state::<bool>(&[1, 0]), Err(trailing));
/// ```
///
/// # Errors
/// If the bytes encode no state.
pub fn decode_state<S: State>(bytes: &[u8]) -> Result<S, DecodeError> {
    let mut r = ByteReader::new(bytes);
    let state = S::decode(&mut r)?;
    r.finish("state")?;
    Ok(state)
}

/// All differences between two states as text: `riders[2].speed: 3 vs 4`.
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
