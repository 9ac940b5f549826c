//! [`State`] for the types of the standard library.
//!
//! Games' states contain them. Absent: types of this crate (`nouns.rs`).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::fmt::Debug;

use super::{Bounded, pod};
use crate::{ByteReader, ByteSink, DecodeError, FieldDiff, FieldPath, Shape, State, Varint};

const UNNAMED: &str = DecodeError::UNNAMED;

macro_rules! integer_states {
    ($($integer:ident),*) => {$(
        impl State for $integer {
            const SIZE_MIN: usize = size_of::<$integer>();

            fn shape(shape: &mut Shape) {
                shape.word(stringify!($integer));
            }

            #[inline]
            fn encode<S: ByteSink>(&self, out: &mut S) {
                out.put(&self.to_le_bytes());
            }

            #[inline]
            fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
                r.$integer(UNNAMED)
            }

            fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
                if self != other {
                    report(FieldDiff { path: path.as_str(), left: self, right: other });
                }
            }

            #[inline]
            fn copy_from(&mut self, other: &Self) {
                *self = *other;
            }

            #[inline]
            fn encode_all<S: ByteSink>(values: &[Self], out: &mut S) {
                pod::encode_all(values, out);
            }

            fn decode_vec(r: &mut ByteReader<'_>, count: usize) -> Result<Vec<Self>, DecodeError> {
                pod::decode_vec(r, count)
            }

            #[inline]
            fn decode_array<const N: usize>(r: &mut ByteReader<'_>) -> Result<[Self; N], DecodeError> {
                pod::decode_array(r)
            }
        }
    )*};
}

integer_states!(u8, u16, u32, u64, u128, i8, i16, i32, i64, i128);

impl State for bool {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("bool");
    }

    #[inline]
    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&[u8::from(*self)]);
    }

    #[inline]
    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        r.bool(UNNAMED)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        if self != other {
            report(FieldDiff { path: path.as_str(), left: self, right: other });
        }
    }
}

impl State for char {
    const SIZE_MIN: usize = 4;

    fn shape(shape: &mut Shape) {
        shape.word("char");
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        u32::from(*self).encode(out);
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        let number = r.u32(UNNAMED)?;
        char::from_u32(number).ok_or(DecodeError::Unknown { what: UNNAMED, value: u64::from(number) })
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        if self != other {
            let (left, right) = (&format_args!("{self:?}"), &format_args!("{other:?}"));
            report(FieldDiff { path: path.as_str(), left, right });
        }
    }
}

impl State for String {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("text");
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&Varint::new(self.len() as u64));
        out.put(self.as_bytes());
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        String::decode_bounded(r, usize::MAX)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        if self != other {
            let (left, right) = (&format_args!("{self:?}"), &format_args!("{other:?}"));
            report(FieldDiff { path: path.as_str(), left, right });
        }
    }
}

impl Bounded for String {
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError> {
        let bytes = r.counted(UNNAMED, max)?;
        let text = str::from_utf8(bytes)
            .map_err(|error| DecodeError::InvalidUtf8 { what: UNNAMED, position: error.valid_up_to() })?;
        Ok(text.to_owned())
    }
}

impl<T: State> State for Option<T> {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("option");
        T::shape(shape);
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        self.is_some().encode(out);
        if let Some(value) = self {
            value.encode(out);
        }
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        if r.bool(UNNAMED)? { T::decode(r).map(Some) } else { Ok(None) }
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        match (self, other) {
            (Some(left), Some(right)) => left.diff(right, path, report),
            (None, None) => {}
            (Some(_), None) => report(FieldDiff { path: path.as_str(), left: &"Some", right: &"None" }),
            (None, Some(_)) => report(FieldDiff { path: path.as_str(), left: &"None", right: &"Some" }),
        }
    }

    fn copy_from(&mut self, other: &Self) {
        match (self, other) {
            (Some(ours), Some(theirs)) => ours.copy_from(theirs),
            (ours, theirs) => ours.clone_from(theirs),
        }
    }
}

impl<T: State> State for Box<T> {
    const SIZE_MIN: usize = T::SIZE_MIN;

    fn shape(shape: &mut Shape) {
        T::shape(shape);
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        T::encode(self, out);
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        r.nested(T::decode).map(Box::new)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        T::diff(self, other, path, report);
    }

    fn copy_from(&mut self, other: &Self) {
        T::copy_from(self, other);
    }
}

impl<T: State, const N: usize> State for [T; N] {
    const SIZE_MIN: usize = N * T::SIZE_MIN;

    fn shape(shape: &mut Shape) {
        shape.number(N as u64);
        T::shape(shape);
    }

    #[inline]
    fn encode<S: ByteSink>(&self, out: &mut S) {
        T::encode_all(self, out);
    }

    #[inline]
    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        T::decode_array(r)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        diff_elements(self.iter(), other.iter(), path, report);
    }

    #[inline]
    fn copy_from(&mut self, other: &Self) {
        self.iter_mut().zip(other).for_each(|(ours, theirs)| ours.copy_from(theirs));
    }

    fn validate(&self) -> Result<(), DecodeError> {
        self.iter().try_for_each(T::validate)
    }

    fn encode_all<S: ByteSink>(values: &[Self], out: &mut S) {
        T::encode_all(values.as_flattened(), out);
    }
}

impl<T: State> State for Vec<T> {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("list");
        T::shape(shape);
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&Varint::new(self.len() as u64));
        T::encode_all(self, out);
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Vec::decode_bounded(r, usize::MAX)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        diff_lengths(self.len(), other.len(), path, report);
        diff_elements(self.iter(), other.iter(), path, report);
    }

    fn copy_from(&mut self, other: &Self) {
        self.truncate(other.len());
        let (same, new) = other.split_at(self.len());
        self.iter_mut().zip(same).for_each(|(ours, theirs)| ours.copy_from(theirs));
        self.extend_from_slice(new);
    }
}

impl<T: State> Bounded for Vec<T> {
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError> {
        let count = element_count::<T>(r, max)?;
        r.nested(|r| T::decode_vec(r, count))
    }
}

impl<T: State> State for VecDeque<T> {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        Vec::<T>::shape(shape);
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&Varint::new(self.len() as u64));
        let (front, back) = self.as_slices();
        T::encode_all(front, out);
        T::encode_all(back, out);
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        Vec::decode(r).map(VecDeque::from)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        diff_lengths(self.len(), other.len(), path, report);
        diff_elements(self.iter(), other.iter(), path, report);
    }

    fn copy_from(&mut self, other: &Self) {
        self.truncate(other.len());
        self.iter_mut().zip(other).for_each(|(ours, theirs)| ours.copy_from(theirs));
        self.extend(other.iter().skip(self.len()).cloned());
    }
}

impl<T: State> Bounded for VecDeque<T> {
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError> {
        Vec::decode_bounded(r, max).map(VecDeque::from)
    }
}

impl<K: State + Ord + Debug, V: State> State for BTreeMap<K, V> {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("map");
        K::shape(shape);
        V::shape(shape);
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&Varint::new(self.len() as u64));
        for (key, value) in self {
            key.encode(out);
            value.encode(out);
        }
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        BTreeMap::decode_bounded(r, usize::MAX)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        let keys: BTreeSet<&K> = self.keys().chain(other.keys()).collect();
        for key in keys {
            path.key(key, |path| match (self.get(key), other.get(key)) {
                (Some(left), Some(right)) => left.diff(right, path, report),
                (None, _) => report(FieldDiff { path: path.as_str(), left: &"absent", right: &"present" }),
                (_, None) => report(FieldDiff { path: path.as_str(), left: &"present", right: &"absent" }),
            });
        }
    }
}

impl<K: State + Ord + Debug, V: State> Bounded for BTreeMap<K, V> {
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError> {
        let count = element_count::<(K, V)>(r, max)?;
        let mut map = BTreeMap::new();
        r.nested(|r| {
            for _ in 0..count {
                let key = K::decode(r)?;
                // Another order, or a repeated key, would be a second encoding of the same map.
                if map.last_key_value().is_some_and(|(last, _)| *last >= key) {
                    return Err(DecodeError::NotCanonical { what: UNNAMED });
                }
                map.insert(key, V::decode(r)?);
            }
            Ok(map)
        })
    }
}

impl<K: State + Ord + Debug> State for BTreeSet<K> {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("set");
        K::shape(shape);
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        out.put(&Varint::new(self.len() as u64));
        self.iter().for_each(|key| key.encode(out));
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        BTreeSet::decode_bounded(r, usize::MAX)
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        for key in self.symmetric_difference(other) {
            let (left, right) =
                if self.contains(key) { ("present", "absent") } else { ("absent", "present") };
            path.key(key, |path| report(FieldDiff { path: path.as_str(), left: &left, right: &right }));
        }
    }
}

impl<K: State + Ord + Debug> Bounded for BTreeSet<K> {
    fn decode_bounded(r: &mut ByteReader<'_>, max: usize) -> Result<Self, DecodeError> {
        let keys = BTreeMap::<K, ()>::decode_bounded(r, max)?;
        Ok(keys.into_keys().collect())
    }
}

macro_rules! tuple_states {
    ($(($($part:ident $index:tt),*))*) => {$(
        impl<$($part: State),*> State for ($($part,)*) {
            const SIZE_MIN: usize = 0 $(+ $part::SIZE_MIN)*;

            fn shape(shape: &mut Shape) {
                shape.word(stringify!($($index),*));
                $($part::shape(shape);)*
            }

            fn encode<Sink: ByteSink>(&self, out: &mut Sink) {
                let _ = out;
                $(self.$index.encode(out);)*
            }

            #[allow(clippy::unused_unit, reason = "the empty tuple is one of them")]
            fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
                let _ = &r;
                Ok(($($part::decode(r)?,)*))
            }

            fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
                let _ = (other, &path, &report);
                $(path.field(stringify!($index), |path| self.$index.diff(&other.$index, path, report));)*
            }

            fn copy_from(&mut self, other: &Self) {
                let _ = other;
                $(self.$index.copy_from(&other.$index);)*
            }
        }
    )*};
}

tuple_states! {
    ()
    (A 0)
    (A 0, B 1)
    (A 0, B 1, C 2)
    (A 0, B 1, C 2, D 3)
    (A 0, B 1, C 2, D 3, E 4)
    (A 0, B 1, C 2, D 3, E 4, F 5)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6)
    (A 0, B 1, C 2, D 3, E 4, F 5, G 6, H 7)
}

/// Count of elements, at most what the remaining bytes can contain, so that the count bounds the
/// allocation.
fn element_count<T: State>(r: &mut ByteReader<'_>, max: usize) -> Result<usize, DecodeError> {
    const { assert!(T::SIZE_MIN > 0, "elements without an encoding could be announced in any number") };
    let count = r.count(UNNAMED, max)?;
    let needed = count.saturating_mul(T::SIZE_MIN);
    if needed > r.remaining() {
        return Err(DecodeError::Truncated { what: UNNAMED, needed, left: r.remaining() });
    }
    Ok(count)
}

fn diff_lengths(left: usize, right: usize, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
    if left != right {
        path.field("len()", |path| report(FieldDiff { path: path.as_str(), left: &left, right: &right }));
    }
}

fn diff_elements<'a, T: State + 'a>(
    left: impl Iterator<Item = &'a T>,
    right: impl Iterator<Item = &'a T>,
    path: &mut FieldPath,
    report: &mut dyn FnMut(FieldDiff<'_>),
) {
    for (index, (left, right)) in left.zip(right).enumerate() {
        path.index(index, |path| left.diff(right, path, report));
    }
}
