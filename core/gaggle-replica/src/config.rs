//! The numbers of a session, and whether they make sense together.

use gaggle_kit::{Micros, Slot};
use thiserror::Error;

use crate::{AuthorityPolicy, ObjectId};

/// Numbers to tune. What has no sensible default (who plays, how the session begins) is an argument
/// of [`Session::new`](crate::Session::new) instead.
#[derive(Debug, Clone)]
pub struct ReplicaConfig {
    /// Which game and version this is. Peers with another number are refused.
    pub game_fingerprint: u64,
    /// Who may hold what. Default: the host alone.
    pub authority: AuthorityPolicy,
    /// Updates go out at most this often. Default 50 ms.
    pub send_interval: Micros,
    /// Largest packet. Default 1,000 bytes.
    pub packet_bytes_max: usize,
    /// Bytes a second to each receiver; inputs take half of them at most. Default 64,000.
    pub bytes_per_second: u32,
    /// An object without a rightful holder is taken by its heir after so long: what others know of
    /// it arrives before. Default 1 s.
    pub succession_delay: Micros,
    /// Whether the lead deletes what nobody who had a right to made, as far as it can tell: what
    /// somebody beside it says it made, and what was made beyond a split by whoever led there.
    /// Otherwise it takes it over, and so does everybody believe in it: then anybody can make
    /// objects, whatever the policy says. Means nothing under [`AuthorityPolicy::Anyone`]. Default
    /// true.
    pub despawn_unauthorized: bool,
    /// For so long a player who left can come back to what was frozen for it. Default 60 s.
    pub reconnect_window: Micros,
    /// For so long a deletion is remembered in full. At least
    /// [`reconnect_window`](ReplicaConfig::reconnect_window). Default 10 min.
    pub tombstone_ttl: Micros,
    /// Whether anybody looks: without, [`interpolated`](crate::Session::interpolated) does not
    /// smooth. Default true.
    pub smoothing: bool,
    /// Ticks of a sender's updates that are buffered before they are shown, at least, where a kind
    /// is played [in sequence](crate::Interpolation::Buffered). Fewer are shown sooner and stop
    /// more often. Default 2.
    pub playout_ticks_min: u32,
    /// The same, at most: where updates come unevenly, more are buffered. Default 8.
    pub playout_ticks_max: u32,
    /// Bytes of blobs this machine keeps at most. Default 16 MiB.
    pub blob_bytes_max: usize,
    /// Most objects, deleted and refused ones included. What goes beyond is not taken. Default
    /// 65,536.
    pub objects_max: usize,
    /// Most objects one peer may tell of first. Whoever brings more loses its link, so it must be
    /// more than a world has: a newcomer hears of everything from the host. Default 60,000, nearly
    /// as many as there are handles.
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

/// How a machine comes into a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum JoinMode {
    /// It is the first: plays at once, alone, and others join it.
    Create,
    /// It joins whoever it meets and is no member before. If all it meets join too, one of them
    /// founds the session.
    Join,
    /// All begin together, and somebody said in which order: the lowest number leads.
    Start(u32),
    /// It only looks on: is told everything, holds nothing, leads never, and nobody waits for it.
    /// Its player's number means nothing to the others.
    Spectate,
}

/// The caller asked for something that cannot be. Says what to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// A setting is out of its range.
    #[error("{setting} is {value}, choose {min} to {max}")]
    Setting {
        /// The field of [`ReplicaConfig`].
        setting: &'static str,
        /// Its value.
        value: u64,
        /// Smallest allowed.
        min: u64,
        /// Largest allowed.
        max: u64,
    },
    /// Slots of local players change only while there is no link.
    #[error("slots cannot change while peers are connected; change them before or between links")]
    Connected,
}

/// Why an object was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ObjectError {
    /// There is no such object, or not any more.
    #[error("{id} is not there")]
    Unknown {
        /// The object.
        id: ObjectId,
    },
    /// It is of another kind.
    #[error("{id} is of another kind")]
    KindMismatch {
        /// The object.
        id: ObjectId,
    },
    /// The kind was not named when the session began.
    #[error("the kind `{name}` is not among the session's kinds: add it to `Kinds` with `.with`")]
    UnknownKind {
        /// Its name.
        name: &'static str,
    },
    /// Only its holder can do this.
    #[error("{id} is held by somebody else: `touch` or `grab` it first")]
    NoAuthority {
        /// The object.
        id: ObjectId,
    },
    /// Somebody present holds it, or has just touched it.
    #[error("{id} is in somebody's hands: try again when it is let go")]
    Locked {
        /// The object.
        id: ObjectId,
    },
    /// The policy does not let this machine hold it.
    #[error("the policy does not let this machine hold {id}")]
    Forbidden {
        /// The object.
        id: ObjectId,
    },
    /// This machine is not a member yet.
    #[error("not admitted to the session yet: wait for `SessionEvent::Admitted`")]
    NotMember,
    /// It was claimed too often in too short a time.
    #[error("{id} was claimed too often, wait a moment")]
    RateLimited {
        /// The object.
        id: ObjectId,
    },
    /// There is no such player: a session has 255 slots.
    #[error("{slot} is beyond the 255 of a session; use 0 to 254")]
    UnknownSlot {
        /// Slot that no session has.
        slot: Slot,
    },
    /// There are as many objects as there may be.
    #[error("there are {max} objects already")]
    Full {
        /// [`ReplicaConfig::objects_max`].
        max: usize,
    },
}

/// Smallest packet that has room for a head and the largest record.
pub(crate) const PACKET_BYTES_MIN: u64 = 1_000;
/// Largest packet a link takes.
pub(crate) const PACKET_BYTES_MAX: u64 = 1_097;

impl ReplicaConfig {
    pub(crate) fn validate(&self) -> Result<(), SessionError> {
        let within = |setting, value: u64, min: u64, max: u64| {
            if (min..=max).contains(&value) {
                Ok(())
            } else {
                Err(SessionError::Setting { setting, value, min, max })
            }
        };
        within("interval (µs)", self.send_interval.get(), 1_000, 1_000_000)?;
        within("packet_bytes_max", self.packet_bytes_max as u64, PACKET_BYTES_MIN, PACKET_BYTES_MAX)?;
        within("bytes_per_second", self.bytes_per_second.into(), 1_000, 1_000_000_000)?;
        within("objects_max", self.objects_max as u64, 1, 1 << 24)?;
        within("objects_per_peer_max", self.objects_per_peer_max as u64, 1, 1 << 16)?;
        // Three buffers are played before anything is skipped, and values of 32 ticks are kept.
        within("playout_ticks_max", self.playout_ticks_max.into(), 1, 10)?;
        let most = self.playout_ticks_max.into();
        within("playout_ticks_min", self.playout_ticks_min.into(), 1, most)?;
        within("grave (µs)", self.tombstone_ttl.get(), self.reconnect_window.get(), u64::MAX)?;
        within("inherit_after (µs)", self.succession_delay.get(), 0, 60_000_000)
    }
}
