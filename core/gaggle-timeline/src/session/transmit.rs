//! What a session hands to its transport.

use gaggle_kit::PeerId;
use gaggle_link::Channel;

/// Something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// Peer to send it to.
    pub to: PeerId,
    /// How: what may get lost, and what must arrive in the order of its stream.
    pub channel: Channel,
    /// Bytes to send, whole.
    pub bytes: &'a [u8],
}

impl Transmit<'_> {
    /// Whether it must arrive.
    pub fn is_reliable(&self) -> bool {
        self.channel != Channel::Unreliable
    }
}
