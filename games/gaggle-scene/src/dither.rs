//! The one dither of the arcade, and cosmetic chance: hashes and smooth noise that are the same
//! everywhere.

const BAYER: [u8; 16] = [0, 8, 2, 10, 12, 4, 14, 6, 3, 11, 1, 9, 15, 7, 13, 5];

/// The threshold of a pixel, between 0 and 1: draw it where what you have is more than this.
#[inline]
pub const fn bayer(x: i32, y: i32) -> f32 {
    (BAYER[((y & 3) * 4 + (x & 3)) as usize] as f32 + 0.5) / 16.0
}

/// A number from 0 to 1 for a place and a purpose.
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

/// A smooth line of chance along `x`, from 0 to 1.
#[inline]
pub fn noise(x: f32, purpose: i32) -> f32 {
    let floor = x.floor();
    let part = x - floor;
    let ease = part * part * (3.0 - 2.0 * part);
    let here = floor as i32;
    chance(here, 0, purpose) * (1.0 - ease) + chance(here.wrapping_add(1), 0, purpose) * ease
}

/// The sine of an angle in radians, good to a thousandth. The platform's own differs between
/// platforms.
#[inline]
pub fn sine(angle: f32) -> f32 {
    const TURN: f32 = std::f32::consts::TAU;
    let turns = angle / TURN;
    let part = turns - turns.floor();
    // Two parabolas and a correction.
    let x = if part < 0.5 { part * 4.0 - 1.0 } else { part * 4.0 - 3.0 };
    let arch = 1.0 - x * x;
    let sine = 0.775 * arch + 0.225 * arch * arch;
    if part < 0.5 { sine } else { -sine }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_thresholds_of_a_tile_are_all_different_and_even() {
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
    fn the_sine_is_a_sine() {
        for degrees in -720..720 {
            let angle = (degrees as f32).to_radians();
            assert!((sine(angle) - f64::from(angle).sin() as f32).abs() < 0.002, "{degrees}°");
        }
    }
}
