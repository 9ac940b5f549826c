//! Rotations as the three smaller components of a quaternion and the index of the largest, and
//! their prediction.
//!
//! In units of half a step a quaternion's squared length is exact, so an integer root gives the
//! largest component, and prediction uses integers only. `codec` calls it. Absent: packets.

#![expect(
    clippy::float_arithmetic,
    reason = "a game's quaternion becomes steps, and a quaternion again for display"
)]

use std::f64::consts::{FRAC_1_SQRT_2, SQRT_2};

use crate::axis::nearest;
use crate::reciprocal::{Divisor, reciprocal};

/// Three components, then the index of the omitted one.
pub(crate) const WORDS: usize = 4;

/// Last step of a component: even, so that the identity rotation has an exact step.
pub(crate) const fn component_max(bits: u32) -> i32 {
    (1 << bits) - 2
}

/// Words of a quaternion (x, y, z, w). It is normalized; one without length or with NaN becomes the
/// identity.
pub fn to_words(quaternion: [f32; 4], bits: u32, words: &mut [i32]) {
    let mut q = quaternion.map(f64::from);
    let square: f64 = q.iter().map(|c| c * c).sum();
    // NaN is outside all bounds.
    if (1e-18..f64::MAX).contains(&square) {
        let scale = 1.0 / square.sqrt();
        q = q.map(|c| c * scale);
    } else {
        q = [0.0, 0.0, 0.0, 1.0];
    }
    let max = f64::from(component_max(bits));
    let sizes = q.map(f64::abs);
    let largest = sizes[0].max(sizes[1]).max(sizes[2].max(sizes[3]));
    // Of two components that are equal to within half a step the first is omitted, so that rounding
    // a rounded rotation again keeps its words.
    let enough = largest - SQRT_2 / max / 2.0;
    let left_out = sizes.iter().position(|size| *size >= enough).unwrap_or(3);
    // The sign is chosen so that the omitted component is never negative, whichever of the two
    // quaternions of a rotation is given.
    let scale = (FRAC_1_SQRT_2 * max).copysign(q[left_out]);
    for (word, index) in words.iter_mut().zip(OTHERS[left_out]) {
        *word = nearest((q[index] * scale + 0.5 * max).clamp(0.0, max));
    }
    words[3] = left_out as i32;
}

/// Quaternion of these words.
pub fn from_words(words: &[i32], bits: u32) -> [f32; 4] {
    let max = f64::from(component_max(bits));
    let left_out = (words[3] & 3) as usize;
    let mut q = [0.0; 4];
    let mut rest = 1.0;
    for (index, &word) in (0..4).filter(|&index| index != left_out).zip(words) {
        q[index] = (f64::from(word) / max - 0.5) * SQRT_2;
        rest -= q[index] * q[index];
    }
    q[left_out] = rest.max(0.0).sqrt();
    q.map(|c| c as f32)
}

/// A quaternion in half steps.
type HalfSteps = [i32; 4];

/// Squared length of a quaternion in half steps.
const fn length_squared(bits: u32) -> i64 {
    let max = component_max(bits) as i64;
    2 * max * max
}

/// Components that are sent, by the omitted one.
const OTHERS: [[usize; 3]; 4] = [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]];

#[inline]
fn half_steps(words: [i32; WORDS], bits: u32) -> HalfSteps {
    let max = component_max(bits);
    let left_out = (words[3] & 3) as usize;
    let halves = [2 * words[0] - max, 2 * words[1] - max, 2 * words[2] - max];
    let square = |half: i32| i64::from(half) * i64::from(half);
    let rest = length_squared(bits) - square(halves[0]) - square(halves[1]) - square(halves[2]);
    let mut q = [0; 4];
    for (half, index) in halves.into_iter().zip(OTHERS[left_out]) {
        q[index] = half;
    }
    q[left_out] = root(rest);
    q
}

/// Integer root of the rest of a squared length. An `f32` root is rounded alike on every platform,
/// and that of a whole number below 2⁵⁰ is never rounded up to the next whole one; it is several
/// times as fast as an integer root.
#[inline]
fn root(rest: i64) -> i32 {
    (rest.max(0) as f64).sqrt() as i32
}

/// Squared lengths as divisors, by bits.
const LENGTHS: [Divisor; 17] = {
    let mut lengths = [Divisor::new(2); 17];
    let mut bits = 2;
    while bits < lengths.len() {
        lengths[bits] = Divisor::new(length_squared(bits as u32));
        bits += 1;
    }
    lengths
};

/// A predicted rotation: which component will be the largest, and the values of the others.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Prediction {
    q: HalfSteps,
    bits: u32,
}

impl Prediction {
    /// Predicts the rotation `newer` `k` ticks later, if it was `older` `g` ticks before. Exact for
    /// a steady spin when `k` is `g`; otherwise each component moves linearly.
    #[inline]
    pub(crate) fn new(
        newer: [i32; WORDS],
        older: Option<([i32; WORDS], i64)>,
        k: i64,
        bits: u32,
    ) -> Prediction {
        let q1 = half_steps(newer, bits);
        let Some((older, g)) = older.filter(|(_, g)| k <= 3 * g) else { return Prediction { q: q1, bits } };
        let mut q2 = half_steps(older, bits);
        let mut dot = 0;
        for index in 0..4 {
            dot += i64::from(q1[index]) * i64::from(q2[index]);
        }
        // Uses the nearer of the two quaternions of a rotation.
        let sign = if dot < 0 { -1 } else { 1 };
        for c in &mut q2 {
            *c *= sign;
        }
        let mut q = [0; 4];
        if k == g {
            // The reflection of q2 in q1.
            let (twice, half) = (2 * dot.abs(), length_squared(bits) / 2);
            let length = LENGTHS[bits as usize];
            for index in 0..4 {
                q[index] = length.floor(twice * i64::from(q1[index]) + half) as i32 - q2[index];
            }
        } else {
            for index in 0..4 {
                q[index] = q1[index] + reciprocal(i64::from(q1[index] - q2[index]) * k, g) as i32;
            }
        }
        Prediction { q, bits }
    }

    /// The component that will be the largest.
    #[inline]
    pub(crate) fn left_out(&self) -> i32 {
        let mut largest = 0;
        for index in 1..4 {
            if self.q[index].abs() > self.q[largest].abs() {
                largest = index;
            }
        }
        largest as i32
    }

    /// The three words, if this component is omitted.
    #[inline]
    pub(crate) fn words(&self, left_out: i32) -> [i32; 3] {
        let left_out = (left_out & 3) as usize;
        let max = component_max(self.bits);
        let sign = if self.q[left_out] < 0 { -1 } else { 1 };
        let mut words = [0; 3];
        for (word, index) in words.iter_mut().zip(OTHERS[left_out]) {
            *word = ((sign * self.q[index] + max) >> 1).clamp(0, max);
        }
        words
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;

    fn draw(random: &mut Prng) -> [f32; 4] {
        std::array::from_fn(|_| random.range(-1_000..=1_000) as f32 / 1_000.0)
    }

    /// A rotation about y after this many steps of a uniform spin.
    fn spun(steps: i32) -> [f32; 4] {
        let (mut sin, mut cos) = (0.0_f64, 1.0_f64);
        for _ in 0..steps {
            (sin, cos) = (sin * 0.998_75 + cos * 0.05, cos * 0.998_75 - sin * 0.05);
        }
        [0.0, sin as f32, 0.0, cos as f32]
    }

    const QUARTER: [f32; 4] = [0.0, std::f32::consts::FRAC_1_SQRT_2, 0.0, std::f32::consts::FRAC_1_SQRT_2];

    /// Distance of two rotations, as 1 minus the cosine of half the angle between them.
    fn apart(a: [f32; 4], b: [f32; 4]) -> f64 {
        let dot: f64 = a.iter().zip(&b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum();
        1.0 - dot.abs()
    }

    #[test]
    fn rotation_read_back_is_near_and_stable() {
        let mut random = Prng::new(7);
        for round in 0..20_000 {
            let bits = 9 + round % 4;
            let q = draw(&mut random);
            let mut words = [0; WORDS];
            to_words(q, bits, &mut words);
            let back = from_words(&words, bits);
            let length = q.iter().map(|c| c * c).sum::<f32>().sqrt();
            if length < 0.1 {
                continue;
            }
            assert!(apart(q.map(|c| c / length), back) < 2e-5, "{q:?} was read back as {back:?}");
            let mut again = [0; WORDS];
            to_words(back, bits, &mut again);
            let mut third = [0; WORDS];
            to_words(from_words(&again, bits), bits, &mut third);
            assert_eq!(third, again, "{q:?} changes when written again");
        }
    }

    /// Two rotations of 10 bits, distances `k` and `g`, and the expected prediction.
    #[test]
    fn rotation_predictions_match_their_vector() {
        let at = |quaternion: [f32; 4]| {
            let mut words = [0; WORDS];
            to_words(quaternion, 10, &mut words);
            words
        };
        let lines = [(spun(9), spun(5), 4, 4), (spun(30), spun(25), 3, 5), (QUARTER, spun(40), 7, 2)];
        let found = lines.map(|(newer, older, k, g)| {
            let (newer, older) = (at(newer), at(older));
            let prediction = Prediction::new(newer, Some((older, g)), k, 10);
            let [a, b, c] = prediction.words(prediction.left_out());
            let expected = [a, b, c, prediction.left_out()];
            let words = [newer, older].concat().into_iter().flat_map(|word| (word as u16).to_le_bytes());
            let expected = expected.into_iter().flat_map(|word| (word as u16).to_le_bytes());
            let bytes = words.chain([k as u8, g as u8]).chain(expected);
            bytes.map(|byte| format!("{byte:02x}")).collect::<String>()
        });
        let vector = include_str!("../vectors/rotations.hex").lines();
        let vector = vector.map(|line| line.split('#').next().unwrap().replace(' ', ""));
        assert_eq!(vector.collect::<Vec<_>>(), found);
    }

    #[test]
    fn square_root_equals_integer_root() {
        let mut random = Prng::new(4);
        for bits in [2, 9, 12, 15] {
            let square = length_squared(bits);
            for _ in 0..20_000 {
                let rest = (i64::from(random.next_u32()) * square) >> 32;
                assert_eq!(i64::from(root(rest)), rest.isqrt());
            }
            let side = i64::from(component_max(bits));
            for rest in [side * side - 1, side * side, side * side + 1, square, -1, 0] {
                assert_eq!(i64::from(root(rest)), rest.max(0).isqrt());
            }
        }
    }

    #[test]
    fn identity_and_quarter_turns_are_exact() {
        for (q, expected) in [
            ([0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]),
            ([0.0, 0.0, 0.0, 0.0], [0.0, 0.0, 0.0, 1.0]),
            ([f32::NAN, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1.0]),
            ([0.0, -3.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]),
            (QUARTER, QUARTER),
        ] {
            let mut words = [0; WORDS];
            to_words(q, 9, &mut words);
            let back = from_words(&words, 9);
            assert!(
                back.iter().zip(&expected).all(|(a, b)| (a - b).abs() < 1e-6),
                "{q:?} was read back as {back:?}"
            );
            let mut again = [0; WORDS];
            to_words(back, 9, &mut again);
            assert_eq!(again, words, "{q:?}");
        }
    }

    #[test]
    fn steady_spin_prediction_is_within_three_roundings() {
        let words = |steps: i32| {
            let mut words = [0; WORDS];
            to_words(spun(steps), 9, &mut words);
            words
        };
        let mut worst = 0;
        for start in 0..60 {
            let (older, newer, now) = (words(start), words(start + 5), words(start + 10));
            let prediction = Prediction::new(newer, Some((older, 5)), 5, 9);
            let predicted = prediction.words(now[3]);
            worst = predicted.iter().zip(&now).map(|(a, b)| (a - b).abs()).max().unwrap().max(worst);
        }
        assert!(worst <= 3, "{worst} steps off");
    }

    #[test]
    fn prediction_from_any_words_is_in_range() {
        let mut random = Prng::new(3);
        for _ in 0..20_000 {
            let mut draw = || -> [i32; WORDS] {
                std::array::from_fn(|word| random.range(0..=if word == 3 { 3 } else { component_max(15) }))
            };
            let (a, b) = (draw(), draw());
            let (k, g) = (random.range(1..=96), random.range(1..=32));
            let prediction = Prediction::new(a, Some((b, g.into())), k.into(), 15);
            for left_out in 0..4 {
                assert!(prediction.words(left_out).iter().all(|word| (0..=component_max(15)).contains(word)));
            }
        }
    }
}
