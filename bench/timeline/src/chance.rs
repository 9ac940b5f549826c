//! Randomness without state: a draw is a function of the seed and its purpose, so libraries that
//! send at different moments still meet the same network.
//!
//! `network`, `game` and `differential` draw from it. Absent: what is drawn.

/// A mixed number for this seed and these coordinates (the finalizer of splitmix64).
pub fn draw(seed: u64, coordinates: [u64; 3]) -> u64 {
    coordinates.iter().fold(finalize(seed), |mixed, coordinate| {
        finalize(mixed.wrapping_add(coordinate.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(1))
    })
}

/// Returns true with this probability.
pub fn happens(probability: f64, seed: u64, coordinates: [u64; 3]) -> bool {
    unit(draw(seed, coordinates)) < probability
}

/// A draw as a fraction from 0 up to but not including 1.
pub fn unit(drawn: u64) -> f64 {
    (drawn >> 11) as f64 / (1u64 << 53) as f64
}

fn finalize(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probability_is_kept_and_coordinates_are_independent() {
        for axis in 0..3 {
            let hits = (0..100_000u64).filter(|&i| {
                let mut coordinates = [3, 5, 7];
                coordinates[axis] = i;
                happens(0.1, 42, coordinates)
            });
            let hits = hits.count();
            assert!((9_600..10_400).contains(&hits), "axis {axis}: {hits}");
        }
    }
}
