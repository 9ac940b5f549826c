//! Median and spread of repeated measurements.
//!
//! Benches call it. Absent: how often to measure.

/// Median: the middle value, or the mean of the two middle ones; 0 without values.
pub fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    match sorted.len() {
        0 => 0.0,
        n if n % 2 == 1 => sorted[n / 2],
        n => (sorted[n / 2 - 1] + sorted[n / 2]) / 2.0,
    }
}

/// Least, mean and greatest of several measurements.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Least of the values.
    pub min: f64,
    /// Mean of the values.
    pub mean: f64,
    /// Greatest of the values.
    pub max: f64,
}

impl Spread {
    /// Spread of these values.
    ///
    /// # Panics
    /// Without values.
    pub fn of(values: &[f64]) -> Spread {
        assert!(!values.is_empty(), "a spread needs at least one measurement");
        Spread {
            min: values.iter().copied().fold(f64::INFINITY, f64::min),
            mean: values.iter().sum::<f64>() / values.len() as f64,
            max: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn median_does_not_depend_on_order() {
        assert_eq!(median(&[9.0, 1.0, 5.0]), 5.0);
        assert_eq!(median(&[9.0, 1.0]), 5.0);
        assert_eq!(median(&[]), 0.0);
    }

    #[test]
    fn spread_has_both_ends() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Spread { min: 1.0, mean: 2.0, max: 3.0 });
    }
}
