//! What an application learns from a session.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, PeerId, Slot};
use thiserror::Error;

use crate::{Blob, ObjectId, SchemaPart};

/// Something worth telling a game, a player or a log. Each happening is told once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// This machine became a member: it can spawn and claim.
    MembershipGranted,
    /// A player is present.
    Joined {
        /// Who.
        player: Slot,
        /// At which machine.
        peer: PeerId,
    },
    /// A player is gone.
    Left {
        /// Who.
        player: Slot,
        /// At which machine.
        peer: PeerId,
        /// It said so; else nothing was heard of it any more.
        graceful: bool,
    },
    /// Nothing was heard from a player for a while. [`Resumed`](SessionEvent::Resumed) or
    /// [`Left`](SessionEvent::Left) follows.
    Interrupted {
        /// Who.
        player: Slot,
        /// At which machine.
        peer: PeerId,
    },
    /// A player is heard again.
    Resumed {
        /// Who.
        player: Slot,
        /// At which machine.
        peer: PeerId,
    },
    /// Somebody else leads from now on: the host, where there is one.
    LeaderChanged {
        /// Who.
        player: Slot,
    },
    /// Somebody else's object is known from now on.
    Spawned {
        /// The object.
        id: ObjectId,
    },
    /// Somebody else deleted an object.
    Despawned {
        /// The object.
        id: ObjectId,
    },
    /// Nobody tells about this object any more: it exists, but is none of this player's business.
    InterestLost {
        /// The object.
        id: ObjectId,
    },
    /// A hidden object is told about again.
    InterestGained {
        /// The object.
        id: ObjectId,
    },
    /// Somebody else claimed what this machine held. Its changes since then are void.
    AuthorityLost {
        /// The object.
        id: ObjectId,
        /// Who has it.
        to: Slot,
    },
    /// An object came to this machine: inherited from somebody who left, or kept for its player.
    AuthorityGained {
        /// The object.
        id: ObjectId,
        /// Who had it.
        from: Slot,
    },
    /// Bytes that were fetched are here.
    BlobReceived {
        /// Their name.
        blob: Blob,
    },
    /// What is known of a player changed.
    ValueChanged {
        /// Whose.
        player: Slot,
        /// The name of the value, as in [`Kinds::with_value`](crate::Kinds::with_value).
        value: &'static str,
    },
    /// The lead did not grant a signal of this machine.
    EventRejected {
        /// The name of the signal, as in [`Kinds::with_event`](crate::Kinds::with_event).
        event: &'static str,
    },
    /// A peer plays by other rules and was refused; its link should be closed.
    Rejected {
        /// Who.
        peer: PeerId,
        /// Why.
        reason: RejectReason,
    },
    /// A peer did what no network can do to a packet; its link should be closed.
    PeerFault {
        /// Who.
        peer: PeerId,
        /// What.
        fault: PeerFault,
    },
}

/// Why a peer was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// Another version of the protocol.
    #[error("speaks version {theirs} of the replica protocol, this is version {ours}: update the older one")]
    Version {
        /// Ours.
        ours: u16,
        /// Theirs.
        theirs: u16,
    },
    /// It means something else by a part of the game.
    #[error("means something else by {part}: one of the two is another build of the game")]
    SchemaMismatch {
        /// Which part of ours it does not have as we do.
        part: SchemaPart,
    },
    /// Another game: it has parts that we do not have.
    #[error(
        "has another game, with parts that are unknown here (fingerprint {theirs:016x}, ours {ours:016x})"
    )]
    Game {
        /// Ours.
        ours: u64,
        /// Theirs.
        theirs: u64,
    },
    /// It says it is another player than it is.
    #[error("says it is {said}, but is {is}")]
    SlotMismatch {
        /// Who it says it is.
        said: Slot,
        /// Who it is.
        is: Slot,
    },
    /// It says it is a member, but may only look on.
    #[error("says it is a member, but may only look on")]
    NotAPlayer,
    /// It goes by the name of another member.
    #[error("goes by the name of another member")]
    TagTaken,
}

/// What only a peer can do, never the network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// Its packet or message cannot be read.
    #[error("sent what cannot be read: {0}")]
    Malformed(#[from] DecodeError),
    /// It acknowledged what was never sent.
    #[error("acknowledged packet {seq}, although the newest is {newest}")]
    AckBeyondSent {
        /// What it acknowledged.
        seq: u32,
        /// What was sent.
        newest: u32,
    },
    /// Its clock ran backwards.
    #[error("sent tick {tick} after tick {before}")]
    TickRegressed {
        /// The later packet's tick.
        tick: u32,
        /// The earlier packet's.
        before: u32,
    },
    /// It brought more objects than one peer may.
    #[error("brought more objects than the {max} one peer may")]
    TooManyObjects {
        /// [`ReplicaConfig::objects_per_peer_max`](crate::ReplicaConfig::objects_per_peer_max).
        max: usize,
    },
    /// It started anew again and again.
    #[error("started anew more than {max} times in one link")]
    TooManyRestarts {
        /// How often it may.
        max: u32,
    },
    /// It said something in another player's name.
    #[error("said something in another player's name")]
    Impersonation,
    /// It sent a signal nobody declared.
    #[error("sent a signal that is not among the session's kinds")]
    UnknownEvent,
    /// It sent a value nobody declared.
    #[error("sent a value that is not among the session's kinds")]
    UnknownValue,
    /// It said something although it only looks on.
    #[error("said something although it only looks on")]
    SpectatorWrote,
    /// It insisted on a number above those who were here before it.
    #[error("insisted on being senior to those who were here before it")]
    FalseJoinOrder,
    /// It became somebody else in the middle of a link.
    #[error("announced itself as somebody else")]
    IdentityChanged,
}

/// Events waiting to be read. An application that never reads loses the oldest, not its memory.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<SessionEvent>,
    lost: u64,
}

/// More than all objects of a large world appearing at once.
const EVENTS_MAX: usize = 1 << 17;

impl Events {
    pub(crate) fn push(&mut self, event: SessionEvent) {
        if self.queue.len() == EVENTS_MAX {
            self.queue.pop_front();
            self.lost += 1;
        }
        self.queue.push_back(event);
    }

    pub(crate) fn pop(&mut self) -> Option<SessionEvent> {
        self.queue.pop_front()
    }

    pub(crate) fn lost(&self) -> u64 {
        self.lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unread_events_are_bounded_and_counted() {
        let mut events = Events::default();
        for number in 0..EVENTS_MAX as u64 + 3 {
            events.push(SessionEvent::Spawned { id: ObjectId::from_bits(number) });
        }
        assert_eq!(events.lost(), 3);
        assert_eq!(events.pop(), Some(SessionEvent::Spawned { id: ObjectId::from_bits(3) }));
    }
}
