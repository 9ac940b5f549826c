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
        /// How many bytes (or bits, in a bit reader) were asked for.
        needed: usize,
        /// How many there were.
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
    TooMany {
        /// What is counted.
        what: &'static str,
        /// The count found.
        count: u64,
        /// The bound.
        max: u64,
    },
    /// Bytes are left over after a complete value.
    #[error("{left} bytes follow after the end of {what}")]
    Trailing {
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
    /// The bytes are complete but mean nothing.
    #[error("{what} has no meaning: {value}")]
    Unknown {
        /// What was being read.
        what: &'static str,
        /// The value found.
        value: u64,
    },
}
