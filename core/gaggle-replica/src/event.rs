//! Events of a session for its game, and their bounded queue. Every part emits events, `poll_event`
//! returns them. Absent: their causes.

use std::collections::VecDeque;

use gaggle_kit::{DecodeError, PeerId, Slot};
use thiserror::Error;

use crate::{Blob, ObjectId, SchemaPart};

/// An event for a game, a player or a log. Each event is emitted once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SessionEvent {
    /// This peer became a member: it can spawn and claim.
    MembershipGranted,
    /// A player is present.
    Joined {
        /// Player that joined.
        player: Slot,
        /// Peer the player is at.
        peer: PeerId,
    },
    /// A player left.
    Left {
        /// Player that left.
        player: Slot,
        /// Peer the player was at.
        peer: PeerId,
        /// True if it announced that it leaves, false if the link closed or timed out.
        graceful: bool,
    },
    /// No packet of a player arrived for 2.2 s. [`Resumed`](SessionEvent::Resumed) or
    /// [`Left`](SessionEvent::Left) follows.
    Interrupted {
        /// Player that fell silent.
        player: Slot,
        /// Peer the player is at.
        peer: PeerId,
    },
    /// Packets of an interrupted player arrive again.
    Resumed {
        /// Player that is back.
        player: Slot,
        /// Peer the player is at.
        peer: PeerId,
    },
    /// Another member is the leader from now on.
    LeaderChanged {
        /// Slot of the new leader.
        player: Slot,
    },
    /// An object of another peer became known.
    Spawned {
        /// Object that became known.
        id: ObjectId,
    },
    /// Another peer deleted an object.
    Despawned {
        /// Object that was deleted.
        id: ObjectId,
    },
    /// An object exists, but no peer sends it to this one any more: interest excludes it.
    InterestLost {
        /// Object that is hidden.
        id: ObjectId,
    },
    /// A hidden object is sent to this peer again.
    InterestGained {
        /// Object that is visible again.
        id: ObjectId,
    },
    /// Another peer claimed an object of this one. Changes made here since then are void.
    AuthorityLost {
        /// Object whose authority was lost.
        id: ObjectId,
        /// Player that has it now.
        to: Slot,
    },
    /// This peer got authority over an object, as the successor of a peer that left or because it
    /// was held for its player.
    AuthorityGained {
        /// Object that was gained.
        id: ObjectId,
        /// Player that had it before.
        from: Slot,
    },
    /// A blob that was fetched has arrived.
    BlobReceived {
        /// Blob that is complete.
        blob: Blob,
    },
    /// A value of a player changed.
    ValueChanged {
        /// Player the value belongs to.
        player: Slot,
        /// Name of the value, as in [`Kinds::with_value`](crate::Kinds::with_value).
        value: &'static str,
    },
    /// The leader rejected a remote event of this peer.
    EventRejected {
        /// Name of the event, as in [`Kinds::with_event`](crate::Kinds::with_event).
        event: &'static str,
    },
    /// A peer is incompatible or not admitted and was rejected; close its link.
    Rejected {
        /// Peer that was rejected.
        peer: PeerId,
        /// Reason of the rejection.
        reason: RejectReason,
    },
    /// A peer sent what no network fault can explain; close its link.
    PeerFault {
        /// Peer at fault.
        peer: PeerId,
        /// What it did.
        fault: PeerFault,
    },
}

/// Why a peer was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum RejectReason {
    /// It uses another version of the protocol.
    #[error("speaks replica protocol {theirs}, this peer {ours}; update the older one")]
    Version {
        /// Version of this peer.
        ours: u16,
        /// Version of the other peer.
        theirs: u16,
    },
    /// A part of its game is defined differently.
    #[error("defines {part} differently; use the same build of the game")]
    SchemaMismatch {
        /// Part of this peer's game that differs.
        part: SchemaPart,
    },
    /// It plays another game, with parts that this one does not have.
    #[error(
        "plays another game with unknown parts (fingerprint {theirs:016x}, local {ours:016x}); run the same game"
    )]
    Game {
        /// Fingerprint of this peer.
        ours: u64,
        /// Fingerprint of the other peer.
        theirs: u64,
    },
    /// It claims the slot of another player.
    #[error("claims to be {said}, but is {is}")]
    SlotMismatch {
        /// Slot it claims.
        said: Slot,
        /// Slot it has.
        is: Slot,
    },
    /// It claims to be a member, but may only spectate.
    #[error("claims to be a member, but may only spectate")]
    NotAPlayer,
    /// It uses the member id of another peer.
    #[error("uses the member id of another peer")]
    TagTaken,
}

/// A provable violation: no network can cause it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum PeerFault {
    /// Its packet or message is malformed.
    #[error("sent malformed data: {0}")]
    Malformed(#[from] DecodeError),
    /// It acknowledged a packet that was never sent.
    #[error("acknowledged packet {seq}, although the newest is {newest}")]
    AckBeyondSent {
        /// Packet it acknowledged.
        seq: u32,
        /// Newest packet that was sent.
        newest: u32,
    },
    /// Its tick number went backwards.
    #[error("sent tick {tick} after tick {before}")]
    TickRegressed {
        /// Tick of the later packet.
        tick: u32,
        /// Tick of the earlier packet.
        before: u32,
    },
    /// It introduced more objects than one peer may.
    #[error("introduced more than the {max} objects allowed for one peer")]
    TooManyObjects {
        /// Limit set by
        /// [`ReplicaConfig::objects_per_peer_max`](crate::ReplicaConfig::objects_per_peer_max).
        max: usize,
    },
    /// It restarted too often in one link.
    #[error("restarted more than {max} times in one link")]
    TooManyRestarts {
        /// Restarts allowed in one link.
        max: u32,
    },
    /// It sent a message in another player's name.
    #[error("sent data in another player's name")]
    Impersonation,
    /// It sent a remote event of an unregistered type.
    #[error("sent a remote event of a type that is not registered")]
    UnknownEvent,
    /// It sent a value of an unregistered type.
    #[error("sent a value of a type that is not registered")]
    UnknownValue,
    /// It sent game data although it only spectates.
    #[error("sent game data although it only spectates")]
    SpectatorWrote,
    /// It insisted on a place in join order before members that joined earlier.
    #[error("claimed to have joined before earlier members")]
    FalseJoinOrder,
    /// It changed its identity within one link.
    #[error("changed its identity within one link")]
    IdentityChanged,
}

/// Events not read yet. If the application never reads, the oldest are dropped and memory stays
/// bounded.
#[derive(Debug, Default)]
pub(crate) struct Events {
    queue: VecDeque<SessionEvent>,
    lost: u64,
}

/// Capacity of the queue: more than the objects of a large world that appear at once.
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
