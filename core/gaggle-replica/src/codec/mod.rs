//! Values on the wire: whole, or as what was not expected of them given values the receiver already has.
//!
//! This file says what is expected; `whole.rs` and `difference.rs` write and read. Expectation is integers alone, and the quantised value is the truth at both ends, so nothing drifts. Which values
//! the receiver has is `history.rs`; what surrounds a value in a packet is `record.rs`.

#![expect(clippy::needless_range_loop, reason = "a word's number counts in several lists at once")]

mod difference;
#[cfg(test)]
mod tests;
mod whole;

use crate::layout::{Glide, Jump, Layout, PER_TICK_BITS};
use crate::quotient::quotient;
use crate::{Axis, ladder, rotation};

/// What sender and receiver both have of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Baselines<'a> {
    /// The newest.
    pub(crate) newer: &'a [i32],
    /// How many ticks ago it was.
    pub(crate) k: u32,
    /// One before it, and how many ticks before.
    pub(crate) older: Option<(&'a [i32], u32)>,
}

/// A prediction from further back says nothing about where something is now.
const AGE_TICKS_MAX: u32 = 1_024;

impl Baselines<'_> {
    #[inline]
    fn k(&self) -> i64 {
        i64::from(self.k.min(AGE_TICKS_MAX))
    }

    /// The older one and the distance, if it is not too far off to draw a line through both.
    #[inline]
    fn line(&self) -> Option<(&[i32], i64)> {
        let (older, g) = self.older?;
        (u64::from(self.k) <= 3 * u64::from(g)).then_some((older, i64::from(g)))
    }

    /// How far something goes in `k` ticks that went so far in `g`. Mostly these are the same.
    #[inline]
    fn onward(&self, way: i64, g: i64) -> i64 {
        if self.k() == g { way } else { quotient(way * self.k(), g) }
    }

    /// Where a number on a line is now.
    #[inline]
    fn number(&self, axis: &Axis, word: usize) -> i32 {
        let newer = i64::from(self.newer[word]);
        match self.line() {
            None => self.newer[word],
            Some((older, g)) => axis.clamp(newer + self.onward(newer - i64::from(older[word]), g)),
        }
    }

    /// Where a direction is now.
    #[inline]
    fn direction(&self, bits: u32, word: usize) -> i32 {
        let newer = self.newer[word];
        match self.line() {
            None => newer,
            Some((older, g)) => {
                let way = i64::from(ladder::turned(bits, newer.wrapping_sub(older[word])));
                newer.wrapping_add(self.onward(way, g) as i32) & ((1 << bits) - 1)
            }
        }
    }

    /// Where a position is now that its velocity is known.
    #[inline]
    fn moved(&self, axis: &Axis, word: usize, by: usize, velocity: i32, per_tick: i64) -> i32 {
        // 31 bits of velocity, 1 more for the sum, 10 of ticks, 40 of `per_tick`: only absurd kinds saturate.
        let sum = (i64::from(self.newer[by]) + i64::from(velocity)) * self.k();
        let way = sum.saturating_mul(per_tick).saturating_add(1 << (PER_TICK_BITS - 1)) >> PER_TICK_BITS;
        axis.clamp(i64::from(self.newer[word]).saturating_add(way))
    }
}

impl Layout {
    /// Whether a value is just what is expected: numbers and directions on their way, everything else unchanged. One
    /// bit tells that.
    #[inline]
    pub(crate) fn is_expected(&self, value: &[i32], base: &Baselines<'_>) -> bool {
        let glides = self.glides.iter().all(|glide| match *glide {
            Glide::Line { first, count, .. } => {
                (first..first + count).all(|word| value[word] == base.number(&self.axes[word], word))
            }
            Glide::Moved { first, count, by, per_tick } => (0..count).all(|index| {
                let (word, by) = (first + index, by + index);
                value[word] == base.moved(&self.axes[word], word, by, value[by], per_tick)
            }),
            Glide::Turn { first, count, bits } => {
                (first..first + count).all(|word| value[word] == base.direction(bits, word))
            }
            Glide::Rotation { first, .. } => {
                value[first..first + rotation::WORDS] == base.newer[first..first + rotation::WORDS]
            }
        });
        glides && self.jumps.iter().all(|jump| !jump.changed(value, base.newer))
    }

    /// Fills in the value for which [`Layout::is_expected`] says yes.
    pub(crate) fn fill_expected(&self, value: &mut [i32], base: &Baselines<'_>) {
        for glide in &self.glides {
            match *glide {
                Glide::Line { first, count, .. } => {
                    for word in first..first + count {
                        value[word] = base.number(&self.axes[word], word);
                    }
                }
                Glide::Moved { first, count, by, per_tick } => {
                    for index in 0..count {
                        let (word, by) = (first + index, by + index);
                        value[word] = base.moved(&self.axes[word], word, by, value[by], per_tick);
                    }
                }
                Glide::Turn { first, count, bits } => {
                    for word in first..first + count {
                        value[word] = base.direction(bits, word);
                    }
                }
                Glide::Rotation { first, .. } => {
                    let words = first..first + rotation::WORDS;
                    value[words.clone()].copy_from_slice(&base.newer[words]);
                }
            }
        }
        for jump in &self.jumps {
            value[jump.words()].copy_from_slice(&base.newer[jump.words()]);
        }
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
