//! Netcode that replicates state: objects, authority over them, and their display.
//!
#![doc = include_str!("../README.md")]

// Derived code names this crate from outside; the tests of this crate derive as well.
extern crate self as gaggle_replica;

mod ablation;
mod authority;
mod axis;
mod blob;
mod blob_store;
mod codec;
mod config;
#[doc(hidden)]
pub mod derived;
mod driver;
mod event;
mod field;
mod history;
mod id;
mod id_table;
mod input_queue;
mod input_relay;
mod intake;
mod interest;
mod kind;
mod kinds;
mod layout;
mod membership;
mod message;
mod packet;
mod peers;
mod playout;
mod policy;
mod pool;
mod reciprocal;
mod record;
mod remote_event;
mod remote_events;
mod replicator;
mod residual;
mod roster;
mod rotation;
mod round;
mod schema;
mod sent;
mod session;
mod sink;
mod smoothing;
mod store;
mod tombstone_ranges;
mod tombstones;
mod value;
mod value_table;
mod version;

pub use axis::Axis;
pub use blob::{BLOB_BYTES_MAX, Blob, BlobError};
pub use config::{JoinMode, ObjectError, ReplicaConfig, SessionError};
pub use driver::{BLOB_STREAM, Driver, MESSAGE_STREAM};
pub use event::{PeerFault, RejectReason, SessionEvent};
pub use field::{Direction, Encoding, Field, FieldShape};
pub use gaggle_derive::{Field, Kind};
pub use id::{MemberId, MemberTag, ObjectId};
pub use interest::{AllRelevant, Interest, ObjectRef, Receiver, Relevance};
pub use kind::{Interpolation, Kind, KindOptions, OnLeave};
pub use kinds::{KINDS_MAX, Kinds, SchemaPart};
pub use message::PROTOCOL_VERSION;
pub use policy::{AuthorityPolicy, AuthorityRules, ObjectInfo};
pub use remote_event::{
    EVENT_BYTES_MAX, EVENT_OBJECTS_MAX, EventError, EventOptions, EventRequest, RemoteEvent, Target,
};
pub use roster::{Roster, RosterMember};
pub use round::{RoundConfig, RoundPhase, RoundState, Rounds};
pub use session::{PeerIdentity, Session, SessionStats, SyncProgress, Transmit};
pub use value::{VALUE_BYTES_MAX, ValueError, ValueWriter};
pub use version::Version;
