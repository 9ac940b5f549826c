//! What can be wrong with bytes somebody else wrote.

use thiserror::Error;

/// Why bytes were refused. Every decoder of Gaggle answers with this or wraps it.
///
/// `what` names the thing that was being read, in the words of PROTOCOL.md.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum DecodeError {
    /// The bytes end too early.
    #[error("{what} is cut short: {needed} more bytes were needed and {left} are left")]
    Truncated {
        /// What was being read.
        what: &'static str,
        /// How many bytes were asked for, rounded up to whole ones.
        needed: usize,
        /// How many there were, rounded down to whole ones.
        left: usize,
    },
    /// A number lies outside what it may be.
    #[error("{what} is {value}, but may only be {min} to {max}")]
    OutOfRange {
        /// What was being read.
        what: &'static str,
        /// The value found.
        value: i64,
        /// Smallest allowed.
        min: i64,
        /// Largest allowed.
        max: i64,
    },
    /// A count is larger than the bound for it; nothing was allocated.
    #[error("{count} {what} announced, at most {max} are allowed")]
    CountTooLarge {
        /// What is counted.
        what: &'static str,
        /// The count found.
        count: u64,
        /// The bound.
        max: u64,
    },
    /// Bytes are left over after a complete value.
    #[error("{left} bytes follow after the end of {what}")]
    TrailingBytes {
        /// What ended.
        what: &'static str,
        /// How many bytes follow.
        left: usize,
    },
    /// The value has more than one encoding and this is not the one to be used.
    #[error("{what} is not written in its shortest form")]
    NotCanonical {
        /// What was being read.
        what: &'static str,
    },
    /// The bytes of a text are not UTF-8.
    #[error("{what} is not text from byte {position} on")]
    InvalidUtf8 {
        /// What was being read.
        what: &'static str,
        /// The first byte that is not.
        position: usize,
    },
    /// The bytes are complete but mean nothing.
    #[error("{what} has no meaning: {value}")]
    Unknown {
        /// What was being read.
        what: &'static str,
        /// The value found.
        value: u64,
    },
}

impl DecodeError {
    /// The name of a value that cannot know its own: an integer inside somebody's struct. Whoever
    /// reads the struct says more with [`DecodeError::or_named`].
    pub const UNNAMED: &'static str = "value";

    /// A number outside what it may be. Numbers beyond 64 bits signed are reported as the nearest.
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

    /// The name of what was being read.
    ///
    /// ```
    /// use gaggle_kit::ByteReader;
    /// let refusal = ByteReader::new(&[]).u16("port").unwrap_err();
    /// assert_eq!(refusal.what(), "port");
    /// assert_eq!(refusal.to_string(), "port is cut short: 2 more bytes were needed and 0 are left");
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

    /// The same refusal with a name, if it has none yet.
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
    fn the_innermost_name_stays() {
        let refusal = DecodeError::NotCanonical { what: DecodeError::UNNAMED };
        assert_eq!(refusal.or_named("Rider.speed").or_named("World.riders").what(), "Rider.speed");
    }

    #[test]
    fn numbers_too_large_to_report_are_reported_as_the_nearest() {
        let refusal = DecodeError::out_of_range("id", u128::MAX, 1, 8);
        assert_eq!(refusal, DecodeError::OutOfRange { what: "id", value: i64::MAX, min: 1, max: 8 });
        let refusal = DecodeError::out_of_range("id", i128::MIN, 1, 8);
        assert_eq!(refusal, DecodeError::OutOfRange { what: "id", value: i64::MIN, min: 1, max: 8 });
    }
}
