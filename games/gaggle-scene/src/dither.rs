//! The shared dither, and hashes, noise and a sine that are equal on every platform.
//!
//! Called by painters of all games. Absent: simulated chance (`gaggle_kit::Prng`).

const BAYER: [u8; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/// Threshold of a pixel in a 4 × 4 tile, between 0 and 1: draw where a share exceeds it.
#[inline]
pub const fn bayer(x: i32, y: i32) -> f32 {
    (BAYER[((y & 3) * 4 + (x & 3)) as usize] as f32 + 0.5) / 16.0
}

/// Hash of a place and a purpose, as a number from 0 to below 1.
#[inline]
pub const fn chance(x: i32, y: i32, purpose: i32) -> f32 {
    let mixed = x
        .wrapping_mul(374_761_393)
        .wrapping_add(y.wrapping_mul(668_265_263))
        .wrapping_add(purpose.wrapping_mul(i32::MAX));
    let mut hash = mixed as u32;
    hash = (hash ^ hash >> 13).wrapping_mul(1_274_126_177);
    hash ^= hash >> 16;
    // 24 bits fill an f32 exactly.
    (hash >> 8) as f32 / 16_777_216.0
}

/// Smooth noise along `x`, from 0 to 1.
#[inline]
pub fn noise(x: f32, purpose: i32) -> f32 {
    let floor = x.floor();
    let part = x - floor;
    let ease = part * part * (3.0 - 2.0 * part);
    let here = floor as i32;
    chance(here, 0, purpose) * (1.0 - ease) + chance(here.wrapping_add(1), 0, purpose) * ease
}

/// Sine of an angle in radians, within 0.002. The one of `std` differs between platforms.
#[inline]
pub fn sine(angle: f32) -> f32 {
    const TURN: f32 = std::f32::consts::TAU;
    let turns = angle / TURN;
    let part = turns - turns.floor();
    // A parabola for each half turn, and a correction of fourth order.
    let x = if part < 0.5 { part * 4.0 - 1.0 } else { part * 4.0 - 3.0 };
    let arch = 1.0 - x * x;
    let sine = 0.775 * arch + 0.225 * arch * arch;
    if part < 0.5 { sine } else { -sine }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thresholds_of_tile_are_distinct_and_evenly_spaced() {
        let mut all: Vec<_> = (0..16).map(|n| bayer(n % 4, n / 4)).collect();
        all.sort_by(f32::total_cmp);
        for (n, threshold) in all.iter().enumerate() {
            assert_eq!(*threshold, (n as f32 + 0.5) / 16.0);
        }
        assert_eq!(bayer(-1, -5), bayer(3, 3));
    }

    #[test]
    fn chance_is_even_and_noise_is_smooth() {
        let mean = (0..10_000).map(|n| chance(n, n / 7, 3)).sum::<f32>() / 10_000.0;
        assert!((mean - 0.5).abs() < 0.02, "{mean}");
        let steepest =
            (0..10_000).map(|n| (noise(n as f32 / 50.0, 1) - noise((n + 1) as f32 / 50.0, 1)).abs());
        assert!(steepest.fold(0.0, f32::max) < 0.04);
    }

    #[test]
    fn sine_differs_little_from_std() {
        for degrees in -720..720 {
            let angle = (degrees as f32).to_radians();
            assert!((sine(angle) - f64::from(angle).sin() as f32).abs() < 0.002, "{degrees}°");
        }
    }
}
