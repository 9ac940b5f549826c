//! What a transport tells the engine on top of it.

use gaggle_kit::PeerId;

use crate::Channel;

/// What happened, in order. For each peer: joined, messages, left; then perhaps joined again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event<'a> {
    /// This peer can be sent to, and sends from here on.
    Joined {
        /// Who.
        peer: PeerId,
    },
    /// This peer is gone; nothing more comes from it. Told once per [`Event::Joined`].
    Left {
        /// Who.
        peer: PeerId,
        /// Why.
        reason: LeftReason,
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
pub enum LeftReason {
    /// We ended it with [`Transport::disconnect`](crate::Transport::disconnect).
    Ours(Goodbye),
    /// The peer ended it and said why.
    Theirs(Goodbye),
    /// Nothing was heard of the peer for longer than the setting allows. If it is heard again, it joins again.
    Silent,
    /// The carrier lost its connection.
    Closed,
    /// The peer started anew under the same name. It joins again right after this.
    Restarted,
    /// The peer broke the protocol.
    Fault(PeerFault),
}

/// A reason to end a link, given by one side and shown to the other. Numbers below 16 are Gaggle's, the others are
/// the game's to define.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Goodbye(pub u8);

impl Goodbye {
    /// The player leaves.
    pub const LEAVING: Goodbye = Goodbye(0);
    /// The receiver is not wanted here.
    pub const REMOVED: Goodbye = Goodbye(1);
    /// There is no room for the receiver.
    pub const FULL: Goodbye = Goodbye(2);
    /// The two run different versions or settings.
    pub const INCOMPATIBLE: Goodbye = Goodbye(3);
    /// The receiver broke a rule of the engine above.
    pub const FAULT: Goodbye = Goodbye(4);
    /// The first number that is the game's.
    pub const GAME: Goodbye = Goodbye(16);
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
