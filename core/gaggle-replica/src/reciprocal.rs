//! Integer division by the few divisors of predictions, as multiplication with a reciprocal.
//! `codec` and `rotation` use it, because dividing took a third of the time of an update. Always
//! exact. Absent: what is divided.

/// Largest distance between baselines.
const DIVISOR_MAX: usize = 32;

/// 2⁴⁰ / d, rounded up.
const RECIPROCALS: [u64; DIVISOR_MAX + 1] = {
    let mut table = [0; DIVISOR_MAX + 1];
    let mut d = 1;
    while d <= DIVISOR_MAX {
        table[d] = (1_u64 << 40).div_ceil(d as u64);
        d += 1;
    }
    table
};

/// Quotient, rounded toward zero, of a divisor above zero.
#[inline]
pub(crate) fn reciprocal(dividend: i64, divisor: i64) -> i64 {
    let size = dividend.unsigned_abs();
    // The reciprocal is too large by less than 1, so the product by less than 2²⁴: too little to
    // reach the next whole number, which is at least 2⁴⁰ / 32 away.
    if size < 1 << 24 && divisor as usize <= DIVISOR_MAX {
        let quotient = ((size * RECIPROCALS[divisor as usize]) >> 40) as i64;
        return if dividend < 0 { -quotient } else { quotient };
    }
    dividend / divisor
}

/// The divisor times 2¹² is added first, so that the dividend is rarely below zero.
const LIFT: u32 = 12;

/// A divisor that is used many times.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Divisor {
    divisor: i64,
    /// 2⁶⁴ / divisor, rounded up.
    reciprocal: u64,
}

impl Divisor {
    /// Prepares a divisor above 1.
    pub(crate) const fn new(divisor: i64) -> Divisor {
        Divisor { divisor, reciprocal: u64::MAX / divisor as u64 + 1 }
    }

    /// Quotient, rounded down.
    #[inline]
    pub(crate) fn floor(self, dividend: i64) -> i64 {
        // The product is too large by less than the dividend, which cannot reach the next whole
        // number, at least 2⁶⁴ / divisor away.
        let above = dividend.wrapping_add(self.divisor << LIFT);
        if self.divisor < 1 << 24 && (0..1 << 38).contains(&above) {
            let quotient = (u128::from(above as u64) * u128::from(self.reciprocal)) >> 64;
            return quotient as i64 - (1 << LIFT);
        }
        dividend.div_euclid(self.divisor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gaggle_kit::Prng;

    fn draw(random: &mut Prng) -> i64 {
        let number = (u64::from(random.next_u32()) << 32 | u64::from(random.next_u32())) as i64;
        number >> random.below(63)
    }

    #[test]
    fn reciprocal_quotient_equals_division() {
        let mut random = Prng::new(1);
        for divisor in 1..=40 {
            for _ in 0..20_000 {
                let dividend = draw(&mut random);
                assert_eq!(reciprocal(dividend, divisor), dividend / divisor, "{dividend} / {divisor}");
            }
            for near in [-1, 0, 1] {
                for times in [-(1_i64 << 24) / divisor, -1, 0, 1, 1000, (1 << 24) / divisor] {
                    let dividend = times * divisor + near;
                    assert_eq!(reciprocal(dividend, divisor), dividend / divisor, "{dividend} / {divisor}");
                }
            }
        }
    }

    #[test]
    fn reciprocal_floor_equals_division() {
        let mut random = Prng::new(2);
        for bits in 2..=15 {
            let side = (1_i64 << bits) - 2;
            let divisor = Divisor::new(2 * side * side);
            for _ in 0..20_000 {
                let dividend = draw(&mut random);
                assert_eq!(divisor.floor(dividend), dividend.div_euclid(divisor.divisor), "{dividend}");
                let whole = (dividend >> 34) * divisor.divisor;
                for near in [whole - 1, whole, whole + 1] {
                    assert_eq!(divisor.floor(near), near.div_euclid(divisor.divisor), "{near}");
                }
            }
        }
    }
}
