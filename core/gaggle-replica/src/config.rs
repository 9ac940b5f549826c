//! Settings of a session, their ranges, and the errors of its methods.
//!
//! The session validates them when it is made. Absent: session state.

use gaggle_kit::{Micros, OutOfRange, Slot};
use thiserror::Error;

use crate::{AuthorityPolicy, ObjectId};

/// Settings of a session. Parameters without a sensible default (the player, how the session
/// begins) are arguments of [`Session::new`](crate::Session::new) instead.
#[derive(Debug, Clone)]
pub struct ReplicaConfig {
    /// Identifies game and version. Peers with another number are rejected.
    pub game_fingerprint: u64,
    /// Which peer may have authority over an object. Default: the leader only.
    pub authority: AuthorityPolicy,
    /// Shortest time between two updates to a peer. Default 50 ms.
    pub send_interval: Micros,
    /// Largest packet in bytes. Default 1,000.
    pub packet_bytes_max: usize,
    /// Bytes per second to each receiver; inputs take at most half of them. Default 64,000.
    pub bytes_per_second: u32,
    /// Time before the successor takes an orphan, so that records still on their way arrive first.
    /// Default 1 s.
    pub succession_delay: Micros,
    /// Whether the leader despawns objects whose creator had no authority to spawn them, as far as
    /// it knows: those another peer claims to have spawned under this leader, and those spawned by
    /// the leader of another branch. If false, all peers accept them and the leader takes
    /// authority, so any peer can spawn objects whatever the policy. No effect under
    /// [`AuthorityPolicy::Anyone`]. Default true.
    pub despawn_unauthorized: bool,
    /// Time in which a player who left can return to the objects held for it. Default 60 s.
    pub reconnect_window: Micros,
    /// Time a tombstone is kept in full. At least
    /// [`reconnect_window`](ReplicaConfig::reconnect_window). Default 10 min.
    pub tombstone_ttl: Micros,
    /// Whether [`interpolated`](crate::Session::interpolated) smooths. Set it to false where
    /// nothing is displayed. Default true.
    pub smoothing: bool,
    /// Least number of a sender's ticks buffered before they are shown, for kinds that are
    /// [buffered](crate::Interpolation::Buffered). Fewer mean less delay and more pauses. Default
    /// 2.
    pub playout_ticks_min: u32,
    /// Most ticks buffered, where updates arrive unevenly. Default 8.
    pub playout_ticks_max: u32,
    /// Most bytes of blobs this peer keeps. Default 16 MiB.
    pub blob_bytes_max: usize,
    /// Most objects, tombstones and rejected ones included. Further ones are ignored. Default
    /// 65,536.
    pub objects_max: usize,
    /// Most objects one peer may introduce; a peer that introduces more is disconnected. Must
    /// exceed the number of objects, because a joiner receives all of them from the leader.
    /// Default 60,000, nearly the number of handles.
    pub objects_per_peer_max: usize,
}

impl Default for ReplicaConfig {
    fn default() -> ReplicaConfig {
        ReplicaConfig {
            game_fingerprint: 0,
            authority: AuthorityPolicy::default(),
            send_interval: Micros::from_millis(50),
            packet_bytes_max: 1_000,
            bytes_per_second: 64_000,
            succession_delay: Micros::from_secs(1),
            despawn_unauthorized: true,
            reconnect_window: Micros::from_secs(60),
            tombstone_ttl: Micros::from_secs(600),
            smoothing: true,
            playout_ticks_min: 2,
            playout_ticks_max: 8,
            blob_bytes_max: 16 << 20,
            objects_max: 65_536,
            objects_per_peer_max: 60_000,
        }
    }
}

/// How a peer enters a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinMode {
    /// Creates the session: this peer plays at once, alone, and other peers join it.
    Create,
    /// Joins the session of the peers it connects to. If all of them are joining, too, one of them
    /// creates the session.
    Join,
    /// All peers start together in an order known beforehand: the peer with the lowest number is
    /// the leader.
    Start(u32),
    /// Spectates: receives everything, has no authority, never leads, and no peer waits for it. Its
    /// slot has no meaning for other peers.
    Spectate,
}

/// A request of the caller that was rejected. The text says what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A setting is out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// Slots of local players change only while no peer is connected.
    #[error("slots cannot change while peers are connected; change them before or between links")]
    Connected,
}

/// Why an object was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// The object does not exist, or was deleted.
    #[error("{id} does not exist; use ids that `iter_info` lists")]
    Unknown {
        /// Id that names no object.
        id: ObjectId,
    },
    /// The object is of another kind.
    #[error("{id} is of another kind; use the type it was spawned with")]
    KindMismatch {
        /// Object of another kind.
        id: ObjectId,
    },
    /// The kind was not registered when the session began.
    #[error("kind `{name}` is not registered; add it to `Kinds` with `.with`")]
    UnknownKind {
        /// Name of the kind.
        name: &'static str,
    },
    /// Only the peer with authority can do this.
    #[error("{id} is under another peer's authority; `claim` or `lock` it first")]
    NoAuthority {
        /// Object whose authority is another peer.
        id: ObjectId,
    },
    /// A present member has locked it or has just claimed it.
    #[error("{id} is locked or was just claimed by another player; retry later")]
    Locked {
        /// Object that cannot be claimed now.
        id: ObjectId,
    },
    /// The policy does not give this peer authority over it.
    #[error(
        "the authority policy does not let this peer have {id}; send a remote event to the leader instead"
    )]
    Forbidden {
        /// Object the policy denies.
        id: ObjectId,
    },
    /// This peer is not a member yet.
    #[error("not a member yet; wait for `SessionEvent::MembershipGranted`")]
    NotMember,
    /// It was claimed too often in too short a time.
    #[error("{id} was claimed too often; retry later")]
    RateLimited {
        /// Object claimed too often.
        id: ObjectId,
    },
    /// No such slot: a session has 255.
    #[error("{slot} is beyond the 255 of a session; use 0 to 254")]
    UnknownSlot {
        /// Slot that no session has.
        slot: Slot,
    },
    /// The session has as many objects as it may have.
    #[error("there are {max} objects already; despawn some or raise `objects_max`")]
    Full {
        /// Limit set by [`ReplicaConfig::objects_max`].
        max: usize,
    },
}

/// Smallest packet that has room for a header and the largest record, in bytes.
pub(crate) const PACKET_BYTES_MIN: u64 = 1_000;
/// Largest packet a link takes, in bytes.
pub(crate) const PACKET_BYTES_MAX: u64 = 1_097;

impl ReplicaConfig {
    pub(crate) fn validate(&self) -> Result<(), OutOfRange> {
        let within = OutOfRange::check;
        within("send_interval (µs)", self.send_interval.get(), 1_000, 1_000_000)?;
        within("packet_bytes_max", self.packet_bytes_max as u64, PACKET_BYTES_MIN, PACKET_BYTES_MAX)?;
        within("bytes_per_second", self.bytes_per_second.into(), 1_000, 1_000_000_000)?;
        within("objects_max", self.objects_max as u64, 1, 1 << 24)?;
        within("objects_per_peer_max", self.objects_per_peer_max as u64, 1, 1 << 16)?;
        // Up to three buffers are played before ticks are skipped, and values of 32 ticks are kept.
        within("playout_ticks_max", self.playout_ticks_max.into(), 1, 10)?;
        let most = self.playout_ticks_max.into();
        within("playout_ticks_min", self.playout_ticks_min.into(), 1, most)?;
        within("tombstone_ttl (µs)", self.tombstone_ttl.get(), self.reconnect_window.get(), u64::MAX)?;
        within("succession_delay (µs)", self.succession_delay.get(), 0, 60_000_000)
    }
}
