//! Packets and messages that a session hands to its transport.
//!
//! `Driver` sends them. Absent: links, queues.

use gaggle_kit::PeerId;
use gaggle_link::Channel;

/// One packet or message to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// Peer to send it to.
    pub to: PeerId,
    /// Channel: unreliable, or a reliable stream.
    pub channel: Channel,
    /// Bytes of one whole packet or message.
    pub bytes: &'a [u8],
}

impl Transmit<'_> {
    /// Whether it must be sent reliably.
    pub fn is_reliable(&self) -> bool {
        self.channel != Channel::Unreliable
    }
}
