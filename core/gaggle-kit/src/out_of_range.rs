//! Error of a setting beyond its range, one wording for all crates.
//!
//! Part of the errors of timeline, replica and sealed sessions. Absent: which ranges there are.

use thiserror::Error;

/// A setting that the caller chose is outside its range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("{setting} is {value}; choose {min} to {max}")]
pub struct OutOfRange {
    /// Field of the settings, with its unit if that is no frame or byte.
    pub setting: &'static str,
    /// Value it was given.
    pub value: u64,
    /// Smallest value allowed.
    pub min: u64,
    /// Largest value allowed.
    pub max: u64,
}

impl OutOfRange {
    /// Checks a setting against both limits, which are allowed values.
    ///
    /// # Errors
    /// If the value is outside them.
    pub fn check(setting: &'static str, value: u64, min: u64, max: u64) -> Result<(), OutOfRange> {
        if (min..=max).contains(&value) {
            return Ok(());
        }
        Err(OutOfRange { setting, value, min, max })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn value_outside_limits_is_named() {
        assert_eq!(OutOfRange::check("tick_rate", 1, 1, 1_000), Ok(()));
        assert_eq!(OutOfRange::check("tick_rate", 1_000, 1, 1_000), Ok(()));
        let error = OutOfRange::check("tick_rate", 0, 1, 1_000).expect_err("too small");
        assert_eq!(error.to_string(), "tick_rate is 0; choose 1 to 1000");
    }
}
