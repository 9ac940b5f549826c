//! Values on the wire: whole, or as differences from a prediction that the receiver can make, too.
//!
//! This file predicts; `whole.rs` and `difference.rs` write and read. Prediction uses integers
//! only, and both ends keep the quantized value, so nothing drifts. Absent: which values the
//! receiver has (`history.rs`), the rest of a record (`record.rs`).

#![expect(clippy::needless_range_loop, reason = "a word's number indexes several lists at once")]

mod difference;
#[cfg(test)]
mod tests;
mod whole;

pub(crate) use difference::SMALL_COUNT_BITS;

use crate::layout::{Glide, Jump, PER_TICK_BITS};
use crate::reciprocal::reciprocal;
use crate::{Axis, residual, rotation};

/// Values of an object that sender and receiver both have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Baselines<'a> {
    /// The newest value both have.
    newer: &'a [i32],
    /// Its age in ticks.
    k: i64,
    /// An earlier value, which gives a line to extrapolate; the same value if there is none.
    older: &'a [i32],
    /// Ticks between the two.
    g: i64,
    has_line: bool,
}

/// A prediction from a value older than this is useless.
const AGE_TICKS_MAX: u32 = 1_024;

impl<'a> Baselines<'a> {
    /// A value of `k` ticks ago, and perhaps one that many ticks before it.
    #[inline]
    pub(crate) fn new(newer: &'a [i32], k: u32, older: Option<(&'a [i32], u32)>) -> Baselines<'a> {
        let ticks = i64::from(k.min(AGE_TICKS_MAX));
        // An older value too close to the newer one gives no useful line.
        match older.filter(|(_, g)| u64::from(k) <= 3 * u64::from(*g)) {
            Some((older, g)) => Baselines { newer, k: ticks, older, g: g.into(), has_line: true },
            None => Baselines { newer, k: ticks, older: newer, g: ticks, has_line: false },
        }
    }

    /// Distance covered in `k` ticks at `way` in `g` ticks. Mostly `k` and `g` are equal.
    #[inline]
    fn onward(&self, way: i64) -> i64 {
        if self.k == self.g { way } else { reciprocal(way * self.k, self.g) }
    }

    /// Predicted number, by a line through both values.
    #[inline(always)]
    fn number(&self, axis: &Axis, newer: i32, older: i32) -> i32 {
        let newer = i64::from(newer);
        axis.clamp(newer + self.onward(newer - i64::from(older)))
    }

    /// Predicted direction, by the shorter way between both values.
    #[inline]
    fn direction(&self, bits: u32, word: usize) -> i32 {
        let newer = self.newer[word];
        let way = i64::from(residual::turned(bits, newer.wrapping_sub(self.older[word])));
        newer.wrapping_add(self.onward(way) as i32) & ((1 << bits) - 1)
    }

    /// Predicted position, by its newer value and its velocity then and now.
    #[inline]
    fn moved(&self, axis: &Axis, newer: i32, (before, now): (i32, i32), per_tick: i64) -> i32 {
        // 31 bits of velocity, 1 more for the sum, 10 of ticks, 40 of `per_tick`: only absurd kinds
        // saturate.
        let sum = (i64::from(before) + i64::from(now)) * self.k;
        let way = sum.saturating_mul(per_tick).saturating_add(1 << (PER_TICK_BITS - 1)) >> PER_TICK_BITS;
        axis.clamp(i64::from(newer).saturating_add(way))
    }
}

impl Glide {
    #[inline]
    fn words(&self) -> std::ops::Range<usize> {
        match *self {
            Glide::Line { first, count, .. }
            | Glide::Moved { first, count, .. }
            | Glide::Turn { first, count, .. } => first..first + count,
            Glide::Rotation { first, .. } => first..first + rotation::WORDS,
        }
    }
}

impl Jump {
    #[inline]
    fn words(&self) -> std::ops::Range<usize> {
        self.first..self.first + self.count
    }

    #[inline]
    fn changed(&self, value: &[i32], other: &[i32]) -> bool {
        value[self.words()] != other[self.words()]
    }
}

fn component_axis(bits: u32) -> Axis {
    Axis::whole(0, i64::from(rotation::component_max(bits)))
}
