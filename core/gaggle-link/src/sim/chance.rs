//! How likely something is, without floating point.

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
    /// It does not happen.
    pub const NEVER: Chance = Chance(0);
    /// It happens.
    pub const ALWAYS: Chance = Chance(1_000_000);

    /// So many in a hundred.
    pub const fn percent(percent: u32) -> Chance {
        Chance::per_million(percent.saturating_mul(10_000))
    }

    /// So many in a thousand.
    pub const fn per_mille(per_mille: u32) -> Chance {
        Chance::per_million(per_mille.saturating_mul(1_000))
    }

    /// So many in a million; more than that means always.
    pub const fn per_million(parts: u32) -> Chance {
        if parts > 1_000_000 { Chance::ALWAYS } else { Chance(parts) }
    }

    /// How many in a million.
    pub const fn parts_per_million(self) -> u32 {
        self.0
    }

    /// Whether it happens this time. What never or always happens costs no draw.
    #[inline]
    pub(crate) fn happens(self, random: &mut Prng) -> bool {
        match self.0 {
            0 => false,
            1_000_000 => true,
            parts => random.below(1_000_000) < parts,
        }
    }
}
