//! Encoded entries of all streams, as a part that knows no input type reads and stores them.
//!
//! `InputLog` implements it, the membership machine and gossip use it. Absent: what an entry means,
//! who agrees on it.

use gaggle_kit::{DecodeError, Frame};

use crate::roster::StreamId;

/// Inputs of entries, by frame and stream.
pub(crate) trait Entries {
    /// Appends the value of a held entry. Values of one stream all have the same size.
    fn write(&self, stream: StreamId, frame: Frame, out: &mut Vec<u8>);

    /// Whether a held entry has this value.
    fn equals(&self, stream: StreamId, frame: Frame, value: &[u8]) -> bool;

    /// Stores the value of the next entry of a run, or of the first one of a new run.
    ///
    /// # Errors
    /// If the value is not an input's encoding. Nothing is stored then.
    fn store(&mut self, stream: StreamId, frame: Frame, value: &[u8]) -> Result<(), DecodeError>;

    /// Drops entries after `last`.
    fn cut(&mut self, stream: StreamId, last: Frame);

    /// Drops all entries of this stream.
    fn forget(&mut self, stream: StreamId);
}
