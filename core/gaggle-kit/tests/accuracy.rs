//! Fixed-point functions against `f64` over their whole range, within their documented bounds, and
//! a golden hash of all results for every platform.

#![expect(clippy::float_arithmetic, reason = "the reference is f64")]

use std::f64::consts::TAU;

use gaggle_kit::{Angle, ByteSink, Fixed, Fixed8, Fixed16, Prng, StateHasher};

/// Numbers of every magnitude: around powers of two, a sweep over the whole range, and random ones.
fn numbers() -> impl Iterator<Item = i32> {
    let edges = (0..31).flat_map(|bits| [-1, 0, 1].map(|off| (1_i32 << bits).saturating_add(off)));
    let edges = edges.chain([0, i32::MAX, i32::MAX - 1]).flat_map(|number| [number, -number, !number]);
    let walk = (i32::MIN..=i32::MAX).step_by(10_007);
    let mut random = Prng::new(9);
    let few_bits = std::iter::repeat_with(move || random.next_u32() as i32 >> random.below(31)).take(100_000);
    edges.chain(walk).chain(few_bits)
}

/// Largest error of the results, in steps.
fn worst<const FRACTION: u32>(results: impl Iterator<Item = (Fixed<FRACTION>, f64)>) -> f64 {
    let step = Fixed::<FRACTION>::STEP.to_f64();
    results.map(|(found, exact)| (found.to_f64() - exact).abs() / step).fold(0.0, f64::max)
}

fn sines<const FRACTION: u32>() -> impl Iterator<Item = (Fixed<FRACTION>, f64)> {
    (0..=u16::MAX).flat_map(|units| {
        let (angle, radians) = (Angle::from_bits(units), f64::from(units) / 65_536.0 * TAU);
        [(angle.sin(), radians.sin()), (angle.cos(), radians.cos())]
    })
}

#[test]
fn sine_and_cosine_are_within_half_step_plus_2_to_minus_29() {
    fn check<const FRACTION: u32>() {
        let bound = 0.5 + 2_f64.powi(FRACTION as i32 - 29);
        let worst = worst(sines::<FRACTION>());
        assert!(worst <= bound, "{FRACTION} places: {worst} steps, {bound} stated");
        assert!(worst > 0.49 || FRACTION == 0, "some result must have been rounded: {worst}");
    }
    check::<0>();
    check::<8>();
    check::<16>();
    check::<24>();
    check::<30>();
}

#[test]
fn square_roots_are_within_half_step() {
    fn check<const FRACTION: u32>() {
        let roots = numbers().map(|steps| {
            let number = Fixed::<FRACTION>::from_bits(steps);
            (number.sqrt(), number.to_f64().max(0.0).sqrt())
        });
        let worst = worst(roots);
        assert!((0.49..=0.5 + 1e-6).contains(&worst), "{FRACTION} places: {worst} steps");
    }
    check::<0>();
    check::<8>();
    check::<16>();
    check::<30>();
}

#[test]
fn lengths_are_within_half_step_or_saturate() {
    let pairs = numbers().zip(numbers().skip(7)).map(|(x, y)| (Fixed16::from_bits(x), Fixed16::from_bits(y)));
    let lengths =
        pairs.map(|(x, y)| (Fixed16::hypot(x, y), x.to_f64().hypot(y.to_f64()).min(Fixed16::MAX.to_f64())));
    let worst = worst(lengths);
    assert!((0.49..=0.5 + 1e-6).contains(&worst), "{worst} steps");
}

/// All directions of a small grid, and pairs of all magnitudes.
fn ways() -> impl Iterator<Item = (i32, i32)> {
    let grid = (-150..=150).flat_map(|x| (-150..=150).map(move |y| (x, y)));
    grid.chain(numbers().zip(numbers().skip(11))).chain(numbers().zip(numbers().skip(101)))
}

#[test]
fn directions_are_within_0_502_units() {
    let mut worst = 0.0_f64;
    for (x, y) in ways().filter(|way| *way != (0, 0)) {
        let found = Angle::atan2(Fixed8::from_bits(y), Fixed8::from_bits(x));
        let exact = f64::from(y).atan2(f64::from(x)) / TAU * 65_536.0;
        let off = (f64::from(found.to_bits()) - exact).rem_euclid(65_536.0);
        worst = worst.max(off.min(65_536.0 - off));
    }
    assert!((0.49..=0.502).contains(&worst), "{worst} units");
}

#[test]
fn floats_from_outside_are_rounded_and_bounded() {
    for steps in numbers() {
        let number = Fixed16::from_bits(steps);
        assert_eq!(Fixed16::from_f64(number.to_f64()), number);
        let single = Fixed16::from_f32(number.to_f32());
        // An f32 has 24 of 32 bits.
        assert!((single - number).abs().to_bits() <= 128, "{number}");
    }
    assert_eq!(Fixed16::from_f32(f32::NAN), Fixed16::ZERO);
    assert_eq!(Fixed16::from_f32(f32::INFINITY), Fixed16::MAX);
    assert_eq!(Fixed16::from_f64(-1e300), Fixed16::MIN);
    assert_eq!(Fixed8::from_f32(-0.001_953_125), -Fixed8::STEP);
}

/// Equal on every platform and in every build, or simulations drift apart.
#[test]
fn all_results_together_are_golden() {
    let mut hasher = StateHasher::new();
    let mut put = |steps: i32| hasher.put(&steps.to_le_bytes());
    for (sine, _) in sines::<16>() {
        put(sine.to_bits());
    }
    for (x, y) in ways() {
        let (x, y) = (Fixed16::from_bits(x), Fixed16::from_bits(y));
        for number in [x + y, x - y, x * y, x / y, x.sqrt(), Fixed16::hypot(x, y), x.rem_euclid(y)] {
            put(number.to_bits());
        }
        put(i32::from(Angle::atan2(y, x).to_bits()));
    }
    assert_eq!(hasher.finish(), 0x1aab_7997_c58d_f997);
}
