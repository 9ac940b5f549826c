//! Random numbers without state: a function of the seed and of what is drawn.
//!
//! Two libraries that send at different times thus meet the same conditions. Called by the network,
//! games and matches. Absent: random numbers inside libraries.

/// A well mixed number for a seed and coordinates (finalizer of splitmix64).
pub fn draw(seed: u64, coordinates: [u64; 3]) -> u64 {
    coordinates.iter().fold(finalize(seed), |mixed, coordinate| {
        finalize(mixed.wrapping_add(coordinate.wrapping_mul(0x9e37_79b9_7f4a_7c15)).wrapping_add(1))
    })
}

/// True with this probability.
pub fn happens(probability: f64, seed: u64, coordinates: [u64; 3]) -> bool {
    unit(draw(seed, coordinates)) < probability
}

/// A drawn number as a fraction from 0 to below 1.
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
