//! [`State`] for the types of this crate.
//!
//! Games' states contain them. Absent: types of the standard library (`standard.rs`).

use super::pod;
use crate::{
    Angle, ByteReader, ByteSink, DecodeError, FieldDiff, FieldPath, Fixed, Frame, InRange, Micros,
    Mulberry32, PeerId, Prng, Shape, Slot, SlotSet, State, Xorshift32,
};

/// Types that are plain bytes, and which of those bytes are invalid.
macro_rules! pod_states {
    ($($noun:ty $([$generic:ident])?: |$value:ident| $validate:expr;)*) => {$(
        impl$(<const $generic: u32>)? State for $noun {
            const SIZE_MIN: usize = size_of::<$noun>();

            fn shape(shape: &mut Shape) {
                shape.word(stringify!($noun));
                $(shape.number(u64::from($generic));)?
            }

            #[inline]
            fn encode<S: ByteSink>(&self, out: &mut S) {
                out.put(bytemuck::bytes_of(self));
            }

            #[inline]
            fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
                pod::decode(r)
            }

            fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
                if self != other {
                    let (left, right) = (&format_args!("{self:?}"), &format_args!("{other:?}"));
                    report(FieldDiff { path: path.as_str(), left, right });
                }
            }

            #[inline]
            fn copy_from(&mut self, other: &Self) {
                *self = *other;
            }

            #[inline]
            fn validate(&self) -> Result<(), DecodeError> {
                let $value = self;
                $validate
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

pod_states! {
    Frame: |_frame| Ok(());
    Micros: |_micros| Ok(());
    PeerId: |_peer| Ok(());
    SlotSet: |_set| Ok(());
    Angle: |_angle| Ok(());
    Fixed<FRACTION> [FRACTION]: |_number| Ok(());
    Mulberry32: |_any_seed| Ok(());
    // A generator with all zeros only returns zeros.
    Prng: |random| not_stuck("Prng", random.words() == [0; 4]);
    Xorshift32: |random| not_stuck("Xorshift32", random.seed() == 0);
}

fn not_stuck(what: &'static str, all_zero: bool) -> Result<(), DecodeError> {
    if all_zero { Err(DecodeError::Unknown { what, value: 0 }) } else { Ok(()) }
}

impl State for Slot {
    const SIZE_MIN: usize = 1;

    fn shape(shape: &mut Shape) {
        shape.word("Slot");
    }

    fn encode<S: ByteSink>(&self, out: &mut S) {
        self.byte().encode(out);
    }

    fn decode(r: &mut ByteReader<'_>) -> Result<Self, DecodeError> {
        const LAST: u8 = SlotSet::COUNT_MAX as u8 - 1;
        match r.u8(DecodeError::UNNAMED)? {
            number @ 0..=LAST => Ok(Slot::at(number.into())),
            number => Err(DecodeError::out_of_range("slot", number, 0, LAST)),
        }
    }

    fn diff(&self, other: &Self, path: &mut FieldPath, report: &mut dyn FnMut(FieldDiff<'_>)) {
        if self != other {
            report(FieldDiff { path: path.as_str(), left: self, right: other });
        }
    }
}

impl InRange for Frame {
    type Bound = Frame;

    fn check_range(
        &self,
        range: &std::ops::RangeInclusive<Frame>,
        what: &'static str,
    ) -> Result<(), DecodeError> {
        self.number().check_range(&(range.start().number()..=range.end().number()), what)
    }
}
