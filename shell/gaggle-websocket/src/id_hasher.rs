//! Hasher for consecutive numbers assigned by this process.
//!
//! The reactor, lobby and relay use it. Clients cannot choose such numbers to collide, so no secret
//! is mixed in. Absent: keys from clients.

use std::hash::{BuildHasher, Hasher};

/// Hasher of maps with such keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct IdHasher;

impl BuildHasher for IdHasher {
    type Hasher = Spread;

    fn build_hasher(&self) -> Spread {
        Spread(0)
    }
}

/// Spreads numbers over all bits: maps use the highest and the lowest ones.
#[derive(Debug)]
pub struct Spread(u64);

impl Hasher for Spread {
    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u64(&mut self, number: u64) {
        // Multiples of the golden ratio are evenly distributed.
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(32);
    }

    fn write_usize(&mut self, number: usize) {
        self.write_u64(number as u64);
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn consecutive_numbers_spread_over_high_and_low_bits() {
        let hashes: Vec<u64> = (1..=1_024_u64).map(|number| IdHasher.hash_one(number)).collect();
        let low: BTreeSet<u64> = hashes.iter().map(|hash| hash & 1_023).collect();
        let high: BTreeSet<u64> = hashes.iter().map(|hash| hash >> 57).collect();
        assert!(low.len() > 600 && high.len() > 100, "{} {}", low.len(), high.len());
    }
}
