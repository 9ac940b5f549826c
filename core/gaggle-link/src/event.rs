//! What a transport tells the engine on top of it.

use gaggle_kit::PeerId;

use crate::Channel;

/// What happened, in order. For each peer: joined, messages, left; then perhaps joined again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportEvent<'a> {
    /// This peer can be sent to, and sends from here on.
    Connected {
        /// Who.
        peer: PeerId,
    },
    /// This peer is gone; nothing more comes from it. Told once per [`TransportEvent::Connected`].
    Disconnected {
        /// Who.
        peer: PeerId,
        /// Why.
        reason: DisconnectReason,
    },
    /// A message arrived.
    Message {
        /// Who sent it.
        peer: PeerId,
        /// How it travelled.
        channel: Channel,
        /// What was sent. Only for as long as the event is looked at.
        bytes: &'a [u8],
    },
}

/// Why a peer is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// We ended it with [`Transport::disconnect`](crate::Transport::disconnect).
    Local(CloseCode),
    /// The peer ended it and said why.
    Remote(CloseCode),
    /// Nothing was heard of the peer for longer than the setting allows. If it is heard again, it
    /// joins again.
    Timeout,
    /// The carrier lost its connection.
    CarrierClosed,
    /// The peer started anew under the same name. It joins again right after this.
    Restarted,
    /// The peer broke the protocol.
    Fault(PeerFault),
}

/// A reason to end a link, given by one side and shown to the other. Numbers below 16 are Gaggle's,
/// the others are the game's to define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CloseCode(pub u8);

impl CloseCode {
    /// The player leaves.
    pub const LEAVING: CloseCode = CloseCode(0);
    /// The receiver is not wanted here.
    pub const KICKED: CloseCode = CloseCode(1);
    /// There is no room for the receiver.
    pub const FULL: CloseCode = CloseCode(2);
    /// The two run different versions or settings.
    pub const INCOMPATIBLE: CloseCode = CloseCode(3);
    /// The receiver broke a rule of the engine above.
    pub const PROTOCOL_ERROR: CloseCode = CloseCode(4);
    /// The first number that is the game's.
    pub const APP: CloseCode = CloseCode(16);
}

/// What a peer did that no correct implementation does. Its link ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// It sent more on its streams than the memory it was granted.
    #[error("sent more on its streams than it was granted")]
    Overflow,
    /// It announced a message larger than allowed.
    #[error("announced a message larger than allowed")]
    MessageTooLarge,
    /// It acknowledged packets that were never sent.
    #[error("acknowledged packets that were never sent")]
    AckOfUnsent,
    /// A packet that belongs to this link can't be read.
    #[error("sent a packet that can't be read")]
    Malformed,
}
