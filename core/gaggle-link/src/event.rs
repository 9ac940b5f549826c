//! Events of a transport, with close codes and faults.
//!
//! The engines read them. Absent: when events occur (`link.rs`).

use gaggle_kit::PeerId;

use crate::Channel;

/// An event. For each peer in order: connected, messages, disconnected; then perhaps connected
/// again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TransportEvent<'a> {
    /// This peer can be sent to, and sends from here on.
    Connected {
        /// Peer that connected.
        peer: PeerId,
    },
    /// This peer is gone and sends nothing more. Once per [`TransportEvent::Connected`].
    Disconnected {
        /// Peer that disconnected.
        peer: PeerId,
        /// Why it was disconnected.
        reason: DisconnectReason,
    },
    /// A message arrived.
    Message {
        /// Peer that sent it.
        peer: PeerId,
        /// Channel it was sent on.
        channel: Channel,
        /// Content, valid while the event is borrowed.
        bytes: &'a [u8],
    },
}

/// Why a peer is disconnected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum DisconnectReason {
    /// The local side called [`Transport::disconnect`](crate::Transport::disconnect).
    Local(CloseCode),
    /// The peer disconnected with this code.
    Remote(CloseCode),
    /// The peer was silent for longer than the timeout. If it is heard again, it connects again.
    Timeout,
    /// The carrier lost its connection.
    CarrierClosed,
    /// The peer restarted under the same id. It connects again right after this.
    Restarted,
    /// The peer violated the protocol.
    Fault(PeerFault),
}

/// Reason to close a link, sent to the other side. Numbers below 16 belong to Gaggle, the others to
/// the game.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct CloseCode(pub u8);

impl CloseCode {
    /// The player leaves.
    pub const LEAVING: CloseCode = CloseCode(0);
    /// The receiver was removed.
    pub const KICKED: CloseCode = CloseCode(1);
    /// The match or room is full.
    pub const FULL: CloseCode = CloseCode(2);
    /// Versions or settings differ.
    pub const INCOMPATIBLE: CloseCode = CloseCode(3);
    /// The receiver violated the engine's protocol.
    pub const PROTOCOL_ERROR: CloseCode = CloseCode(4);
    /// First number for games.
    pub const APP: CloseCode = CloseCode(16);
}

/// A protocol violation, which no correct implementation commits. It closes the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// It sent more stream data than it was granted memory for.
    #[error("sent more on its streams than it was granted")]
    Overflow,
    /// It announced a message larger than allowed.
    #[error("announced a message larger than allowed")]
    MessageTooLarge,
    /// It acknowledged packets that were never sent.
    #[error("acknowledged packets that were never sent")]
    AckBeyondSent,
    /// A packet of this link is malformed.
    #[error("sent a malformed packet")]
    Malformed,
}
