//! The two ways a message can travel.

use crate::DATAGRAM_BYTES_MAX;

/// How a message is to travel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Channel {
    /// May be lost or overtaken; arrives whole or not at all. Goes out at once. At most
    /// [`Channel::UNRELIABLE_BYTES_MAX`] bytes.
    Unreliable,
    /// Arrives exactly once, and in order within the stream of this number. May be large: it is
    /// fragmented and paced. Streams do not wait for each other, so a large transfer gets a stream
    /// of its own and never holds up a small message on another.
    Reliable(u8),
}

impl Channel {
    /// Bytes of the largest unreliable message: what a datagram holds less the link's header, the
    /// same on every path.
    pub const UNRELIABLE_BYTES_MAX: usize = DATAGRAM_BYTES_MAX - 3;
}
