//! JSON for the lobby: checked in one pass, read by borrowing, written straight into a string.
//!
//! Messages, the log and snapshots use it. Settings and signals pass through without white space
//! and are never built into a tree. Depth, fields and items are bounded before anything is
//! allocated. Absent: floating-point numbers, trees, streaming.

mod compact;
mod read;
mod record;
mod write;

pub(crate) use compact::compact;
pub(crate) use read::{Object, Raw};
pub(crate) use record::{Record, Value, json_name, record, record_of, tagged};
pub(crate) use write::{ObjectWriter, write_hex, write_string, write_u64};

use thiserror::Error;

/// Why a text is not a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum MessageError {
    /// The text is longer than a message may be; it was not parsed.
    #[error("the message has {length} bytes, at most {max} are allowed")]
    TooLong {
        /// Length in bytes.
        length: usize,
        /// Largest length in bytes.
        max: usize,
    },
    /// The text is not JSON.
    #[error("not JSON: {expected} expected at byte {at}")]
    NotJson {
        /// What was expected at this position.
        expected: &'static str,
        /// Position in bytes from the start.
        at: usize,
    },
    /// The `type` (or `event`) is unknown.
    #[error("{field} is unknown")]
    UnknownKind {
        /// Field that names the kind.
        field: &'static str,
    },
    /// A required field is missing.
    #[error("field {field} is missing")]
    Missing {
        /// Name of the field.
        field: &'static str,
    },
    /// A field has a wrong value.
    #[error("field {field} must be {expected}")]
    Invalid {
        /// Name of the field.
        field: &'static str,
        /// What the field must be.
        expected: &'static str,
    },
}
