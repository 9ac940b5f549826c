//! Displayed time and values of received objects. Display never affects the objects themselves.
//!
//! `clock.rs` estimates the sender's clock, `playhead.rs` picks the displayed time, `motion.rs`
//! computes the value then, and this file fades errors. Absent: peers, authority.

#![expect(clippy::float_arithmetic, reason = "only for display")]

mod clock;
mod motion;
mod playhead;

pub(crate) use clock::SenderClock;
pub(crate) use motion::Motion;
pub(crate) use playhead::{Depth, Playhead};

use gaggle_kit::Micros;

use crate::layout::{Glide, Layout};
use crate::residual;

/// Unit of [`KindOptions::smoothing`](crate::KindOptions::smoothing) in µs: a fraction of the error
/// is removed in this time.
const BLEND_US: f64 = 1_000_000.0 / 60.0;
/// Number of units after which the rest of an error is invisible.
const BLEND_STEPS_MAX: f64 = 240.0;

/// Fraction of an error that is still shown after `age`.
pub(crate) fn error_left(blend: f32, age: Micros) -> f64 {
    let keep = 1.0 - f64::from(blend).clamp(0.0, 1.0);
    let steps = age.get() as f64 / BLEND_US;
    if steps >= BLEND_STEPS_MAX {
        return 0.0;
    }
    let whole = steps.floor();
    // Linear between two units: one long frame removes as much as several short ones.
    keep.powi(whole as i32) * (1.0 - (1.0 - keep) * (steps - whole))
}

/// Difference to add to `target` to get `shown`.
pub(crate) fn error_between(layout: &Layout, shown: &[f64], target: &[f64], error: &mut [f64]) {
    for (word, error) in error.iter_mut().enumerate() {
        *error = shown[word] - target[word];
    }
    for glide in &layout.glides {
        match *glide {
            Glide::Turn { first, count, bits } => {
                for error in &mut error[first..first + count] {
                    *error = shorter_way(*error, bits);
                }
            }
            Glide::Rotation { first, .. } => {
                // A rotation has two quaternions: the nearer one is used.
                let dot: f64 = (first..first + 4).map(|word| shown[word] * target[word]).sum();
                if dot < 0.0 {
                    for word in first..first + 4 {
                        error[word] = -shown[word] - target[word];
                    }
                }
            }
            Glide::Line { .. } | Glide::Moved { .. } => {}
        }
    }
}

/// Adds a fraction of an error to what is shown.
pub(crate) fn add_error(layout: &Layout, shown: &mut [f64], error: &[f64], part: f64) {
    for (shown, error) in shown.iter_mut().zip(error) {
        *shown += error * part;
    }
    for glide in &layout.glides {
        if let Glide::Rotation { first, .. } = *glide {
            let length = shown[first..first + 4].iter().map(|part| part * part).sum::<f64>().sqrt();
            if length > 1e-6 {
                shown[first..first + 4].iter_mut().for_each(|part| *part /= length);
            }
        }
    }
}

/// Distance by which an error displaces an object, in units of its first position.
pub(crate) fn distance_of(layout: &Layout, error: &[f64]) -> f64 {
    let Some((first, count)) = layout.position else { return 0.0 };
    let square = |word: usize| layout.axes[word].value_of(error[word]).powi(2);
    (first..first + count).map(square).sum::<f64>().sqrt()
}

/// Difference of directions, the shorter way.
fn shorter_way(difference: f64, bits: u32) -> f64 {
    let turn = f64::from(1_u32 << bits);
    difference - (difference / turn).round() * turn
}

/// As `shorter_way` for whole steps, for motion between two values.
fn shorter_steps(bits: u32, from: i32, to: i32) -> f64 {
    f64::from(residual::turned(bits, to.wrapping_sub(from)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_fade_is_independent_of_frame_rate() {
        let frame = |frames: u64| Micros::new(frames * 1_000_000 / 60);
        assert_eq!(error_left(0.25, Micros::ZERO), 1.0);
        assert!((error_left(0.25, frame(1)) - 0.75).abs() < 1e-4);
        assert!((error_left(0.25, frame(4)) - 0.75_f64.powi(4)).abs() < 1e-4);
        assert!(error_left(1.0, frame(1)) < 1e-3);
        assert_eq!(error_left(0.25, Micros::from_secs(5)), 0.0);
        let ages: Vec<f64> = (0..100).map(|ms| error_left(0.25, Micros::from_millis(ms))).collect();
        assert!(ages.is_sorted_by(|a, b| a >= b), "the age never grows");
    }

    #[test]
    fn direction_is_interpolated_on_shorter_arc() {
        assert_eq!(shorter_way(1_000.0, 10), -24.0);
        assert_eq!(shorter_way(-3.5, 10), -3.5);
        assert_eq!(shorter_steps(10, 1_020, 4), 8.0);
    }
}
