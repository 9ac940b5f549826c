//! Value of an object at a time: between two received values, or extrapolated from the newest by
//! its velocity. Smoothing calls it. Absent: clocks, errors.

#![expect(clippy::float_arithmetic, reason = "only for display")]

use super::shorter_steps;
use crate::layout::{Glide, Layout};
use crate::rotation;

/// Longest time a value is extrapolated, in µs.
const AHEAD_US_MAX: f64 = 200_000.0;
/// Silence in µs after which an object begins to return to its last received value, and after which
/// it has reached it.
const SILENCE_US: (f64, f64) = (200_000.0, 500_000.0);
/// A value followed by another only after more than this many ticks was at rest until then.
const GAP_TICKS_MAX: u32 = 4;

/// A value as words and as shown: continuous words may be fractional, a rotation is its quaternion.
#[derive(Debug)]
pub(crate) struct Motion<'a> {
    /// All words, constants included.
    pub(crate) words: &'a mut [i32],
    /// Words that change, as shown.
    pub(crate) shown: &'a mut [f64],
}

impl Motion<'_> {
    /// Shows exactly this value.
    pub(crate) fn rest(&mut self, layout: &Layout, value: &[i32]) {
        self.words[..value.len()].copy_from_slice(value);
        for (shown, &word) in self.shown.iter_mut().zip(value) {
            *shown = f64::from(word);
        }
        for glide in &layout.glides {
            if let Glide::Rotation { first, bits } = *glide {
                let quaternion = rotation::from_words(&value[first..first + rotation::WORDS], bits);
                for (shown, part) in self.shown[first..].iter_mut().zip(quaternion) {
                    *shown = f64::from(part);
                }
            }
        }
    }

    /// Shows the newest value, extrapolated by its velocity.
    pub(crate) fn move_on(&mut self, layout: &Layout, value: &[i32], age_us: f64, silence_us: f64) {
        self.rest(layout, value);
        let (quiet, silent) = SILENCE_US;
        let left = ((silent - silence_us) / (silent - quiet)).clamp(0.0, 1.0);
        if left == 0.0 {
            return;
        }
        let seconds = age_us.clamp(0.0, AHEAD_US_MAX) / 1e6 * left;
        for glide in &layout.glides {
            if let Glide::Moved { first, count, by, .. } = *glide {
                for index in 0..count {
                    let (place, speed) = (&layout.axes[first + index], &layout.axes[by + index]);
                    let way = speed.value_of(f64::from(value[by + index])) * seconds;
                    let (min, max) = place.steps();
                    let moved = self.shown[first + index] + way / place.precision();
                    self.shown[first + index] = moved.clamp(f64::from(min), f64::from(max));
                }
            }
        }
    }

    /// Shows the value at a tick, or between two, from the received values. `value` gives the
    /// constants, and the other words if no value was received.
    pub(crate) fn play<'a>(
        &mut self,
        layout: &Layout,
        value: &[i32],
        told: impl Iterator<Item = (u32, &'a [i32])>,
        tick: f64,
    ) {
        self.rest(layout, value);
        let mut before: Option<(u32, &[i32])> = None;
        let mut after: Option<(u32, &[i32])> = None;
        for (held, words) in told {
            if f64::from(held) <= tick {
                if before.is_none_or(|(best, _)| best < held) {
                    before = Some((held, words));
                }
            } else if after.is_none_or(|(best, _)| best > held) {
                after = Some((held, words));
            }
        }
        let Some((at, words)) = before.or(after) else { return };
        self.rest(layout, words);
        if let (Some(_), Some((next, next_words))) = (before, after) {
            // An object at rest that starts to move must not appear to move slowly before.
            let from = at.max(next.saturating_sub(GAP_TICKS_MAX));
            let part = ((tick - f64::from(from)) / f64::from(next - from)).clamp(0.0, 1.0);
            self.lean(layout, words, next_words, part);
        }
    }

    /// Shows a value between two others; `part` is the fraction of the way, 0 to 1.
    fn lean(&mut self, layout: &Layout, from: &[i32], to: &[i32], part: f64) {
        for glide in &layout.glides {
            match *glide {
                Glide::Line { first, count, .. } | Glide::Moved { first, count, .. } => {
                    for word in first..first + count {
                        self.shown[word] += f64::from(to[word] - from[word]) * part;
                    }
                }
                Glide::Turn { first, count, bits } => {
                    for word in first..first + count {
                        self.shown[word] += shorter_steps(bits, from[word], to[word]) * part;
                    }
                }
                Glide::Rotation { first, bits } => {
                    let words = first..first + rotation::WORDS;
                    let to = rotation::from_words(&to[words.clone()], bits);
                    let dot: f64 =
                        words.clone().zip(to).map(|(word, to)| self.shown[word] * f64::from(to)).sum();
                    let sign = if dot < 0.0 { -1.0 } else { 1.0 };
                    let mut length = 0.0;
                    for (word, to) in words.clone().zip(to) {
                        self.shown[word] = self.shown[word] * (1.0 - part) + f64::from(to) * sign * part;
                        length += self.shown[word] * self.shown[word];
                    }
                    let length = f64::sqrt(length).max(1e-9);
                    self.shown[words].iter_mut().for_each(|shown| *shown /= length);
                }
            }
        }
    }
}
