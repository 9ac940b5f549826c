//! JSON as the lobby needs it: checked in one pass, read by borrowing, written straight into a
//! string.
//!
//! Values a message carries for others (settings, signals) pass through without white space, never
//! built into a tree. Depth, fields and items are bounded before anything is allocated.
//!
//! What it does not do: floating-point numbers (they pass through unread), trees, streaming.

mod compact;
mod read;
mod record;
mod write;

pub(crate) use compact::compact;
pub(crate) use read::{Object, Raw};
pub(crate) use record::{Record, Value, record, record_of, tagged};
pub(crate) use write::{ObjectWriter, write_hex, write_string, write_u64};

use std::slice::SliceIndex;

use thiserror::Error;

/// Why a text was refused as a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The text is longer than any message may be; it was not looked at.
    #[error("{length} bytes are too long for a message, at most {max} are allowed")]
    TooLong {
        /// Bytes received.
        length: usize,
        /// Bytes allowed.
        max: usize,
    },
    /// The text is not JSON.
    #[error("not JSON: {expected} expected at byte {at}")]
    NotJson {
        /// What would have been right there.
        expected: &'static str,
        /// Where, in bytes from the start.
        at: usize,
    },
    /// The `type` (or `event`) names nothing we know.
    #[error("{field} names nothing known")]
    UnknownKind {
        /// The field that tells the kind.
        field: &'static str,
    },
    /// A field is not there.
    #[error("field {field} is missing")]
    Missing {
        /// Its name.
        field: &'static str,
    },
    /// A field is there and holds something else than it should.
    #[error("field {field} must be {expected}")]
    Invalid {
        /// Its name.
        field: &'static str,
        /// What it should be.
        expected: &'static str,
    },
}

/// A part of a text, of which every caller knows that it is there. A range in brackets would drag
/// the words for a part that is not into every page, tables of what can be printed included.
fn part(text: &str, range: impl SliceIndex<str, Output = str>) -> &str {
    text.get(range).unwrap_or_default()
}
