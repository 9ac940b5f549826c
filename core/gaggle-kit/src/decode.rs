//! Errors of decoding untrusted bytes.
//!
//! Every decoder of Gaggle returns them. Absent: decoding.

use thiserror::Error;

/// Why bytes were rejected.
///
/// `what` names what was being read, in the terms of docs/protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("{what} is cut short: {needed} more bytes were needed and {left} are left")]
    Truncated {
        /// Name of what was being read.
        what: &'static str,
        /// Bytes requested, rounded up to whole ones.
        needed: usize,
        /// Bytes left, rounded down to whole ones.
        left: usize,
    },
    /// A number is outside its range.
    #[error("{what} is {value}, but may only be {min} to {max}")]
    OutOfRange {
        /// Name of what was being read.
        what: &'static str,
        /// The value that was read.
        value: i64,
        /// Smallest valid value.
        min: i64,
        /// Largest valid value.
        max: i64,
    },
    /// A count exceeds its limit; nothing was allocated.
    #[error("{count} {what} announced, at most {max} are allowed")]
    CountTooLarge {
        /// Name of what is counted.
        what: &'static str,
        /// The count that was read.
        count: u64,
        /// Largest valid count.
        max: u64,
    },
    /// Bytes are left over after a complete value.
    #[error("{left} bytes follow after the end of {what}")]
    TrailingBytes {
        /// Name of what ended.
        what: &'static str,
        /// Number of extra bytes.
        left: usize,
    },
    /// The value has more than one encoding, and this is not the canonical one.
    #[error("{what} is not written in its shortest form")]
    NotCanonical {
        /// Name of what was being read.
        what: &'static str,
    },
    /// A text is not UTF-8.
    #[error("{what} is not text from byte {position} on")]
    InvalidUtf8 {
        /// Name of what was being read.
        what: &'static str,
        /// Position of the first invalid byte.
        position: usize,
    },
    /// The bytes are complete, but their value is undefined.
    #[error("{what} has no meaning: {value}")]
    Unknown {
        /// Name of what was being read.
        what: &'static str,
        /// The value that was read.
        value: u64,
    },
}

impl DecodeError {
    /// Placeholder name of a value without one of its own, such as an integer in a struct. The
    /// struct's reader replaces it with [`DecodeError::or_named`].
    pub const UNNAMED: &'static str = "value";

    /// A number outside its range. Numbers beyond a signed 64-bit integer are clamped.
    pub fn out_of_range<N: TryInto<i64> + Ord + Default>(
        what: &'static str,
        value: N,
        min: N,
        max: N,
    ) -> Self {
        let nearest = |number: N| {
            let limit = if number < N::default() { i64::MIN } else { i64::MAX };
            number.try_into().unwrap_or(limit)
        };
        DecodeError::OutOfRange { what, value: nearest(value), min: nearest(min), max: nearest(max) }
    }

    /// Name of what was being read.
    ///
    /// ```
    /// use gaggle_kit::ByteReader;
    /// let error = ByteReader::new(&[]).u16("port").unwrap_err();
    /// assert_eq!(error.what(), "port");
    /// assert_eq!(error.to_string(), "port is cut short: 2 more bytes were needed and 0 are left");
    /// ```
    pub const fn what(&self) -> &'static str {
        match self {
            DecodeError::Truncated { what, .. }
            | DecodeError::OutOfRange { what, .. }
            | DecodeError::CountTooLarge { what, .. }
            | DecodeError::TrailingBytes { what, .. }
            | DecodeError::NotCanonical { what }
            | DecodeError::InvalidUtf8 { what, .. }
            | DecodeError::Unknown { what, .. } => what,
        }
    }

    /// The same error with a name, if it has none yet.
    #[must_use]
    pub fn or_named(mut self, name: &'static str) -> DecodeError {
        match &mut self {
            DecodeError::Truncated { what, .. }
            | DecodeError::OutOfRange { what, .. }
            | DecodeError::CountTooLarge { what, .. }
            | DecodeError::TrailingBytes { what, .. }
            | DecodeError::NotCanonical { what }
            | DecodeError::InvalidUtf8 { what, .. }
            | DecodeError::Unknown { what, .. } => {
                if *what == DecodeError::UNNAMED {
                    *what = name;
                }
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn innermost_name_is_kept() {
        let refusal = DecodeError::NotCanonical { what: DecodeError::UNNAMED };
        assert_eq!(refusal.or_named("Rider.speed").or_named("World.riders").what(), "Rider.speed");
    }

    #[test]
    fn numbers_too_large_to_report_are_clamped() {
        let refusal = DecodeError::out_of_range("id", u128::MAX, 1, 8);
        assert_eq!(refusal, DecodeError::OutOfRange { what: "id", value: i64::MAX, min: 1, max: 8 });
        let refusal = DecodeError::out_of_range("id", i128::MIN, 1, 8);
        assert_eq!(refusal, DecodeError::OutOfRange { what: "id", value: i64::MIN, min: 1, max: 8 });
    }
}
