//! Probabilities without floating point.
//!
//! Used by [`Conditions`](super::Conditions). Absent: what happens.

use gaggle_kit::Prng;

/// A probability in parts per million.
///
/// ```
/// use gaggle_link::sim::Chance;
/// assert_eq!(Chance::percent(5), Chance::per_mille(50));
/// assert_eq!(Chance::percent(250), Chance::ALWAYS);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Chance(u32);

impl Chance {
    /// Probability of zero.
    pub const NEVER: Chance = Chance(0);
    /// Probability of one.
    pub const ALWAYS: Chance = Chance(1_000_000);

    /// Probability in percent, at most 100.
    pub const fn percent(percent: u32) -> Chance {
        Chance::per_million(percent.saturating_mul(10_000))
    }

    /// Probability in permille, at most 1,000.
    pub const fn per_mille(per_mille: u32) -> Chance {
        Chance::per_million(per_mille.saturating_mul(1_000))
    }

    /// Probability in parts per million, at most a million.
    pub const fn per_million(parts: u32) -> Chance {
        if parts > 1_000_000 { Chance::ALWAYS } else { Chance(parts) }
    }

    /// The probability in parts per million.
    pub const fn parts_per_million(self) -> u32 {
        self.0
    }

    /// Draws whether it happens. Certain outcomes draw nothing.
    #[inline]
    pub(crate) fn happens(self, random: &mut Prng) -> bool {
        match self.0 {
            0 => false,
            1_000_000 => true,
            parts => random.below(1_000_000) < parts,
        }
    }
}
