//! Delivery modes of a message.
//!
//! [`Transport`](crate::Transport) takes it. Absent: how messages are delivered.

use crate::DATAGRAM_BYTES_MAX;

/// How a message is delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// May be lost or overtaken; arrives whole or not at all. Sent at once. At most
    /// [`Channel::UNRELIABLE_BYTES_MAX`] bytes.
    Unreliable,
    /// Arrives exactly once, and in order within the stream of this number. May be large: it is
    /// fragmented and paced. Streams do not wait for each other, so give a large transfer its own
    /// stream.
    Reliable(u8),
}

impl Channel {
    /// Bytes of the largest unreliable message: a datagram minus the link's header, the same on
    /// every path.
    pub const UNRELIABLE_BYTES_MAX: usize = DATAGRAM_BYTES_MAX - 3;
}
