//! State travels: whoever holds an object says what it is, and everybody else is told.
//!
//! A session is a pure state machine. It knows no socket and no clock: local changes, packets and
//! the time come in, packets, messages and events go out.
//!
//! - **Objects** are declared with the [`Kind`] derive: per field its range and precision, what
//!   moves it, what is constant. The quantised value is the truth on every machine; nothing is sent
//!   while nothing changes.
//! - **Who holds what** is a [`AuthorityPolicy`]: everybody, the host alone, or everybody its own
//!   and the host the rest. [`Session::claim`], [`lock`](Session::lock),
//!   [`release`](Session::release) and [`despawn`](Session::despawn); races end alike everywhere,
//!   and whoever lost one learns it. What leavers held is inherited; who returns has its own again;
//!   halves of a split become one.
//! - **What matters to whom** is an [`Interest`]; each receiver has a budget, and what waits
//!   becomes more urgent.
//! - **What is shown** is [`Session::interpolated`]: buffered or moved on to the present, errors
//!   fading instead of jumping.
//! - **Beside the objects**: inputs to the lead ([`set_input`](Session::set_input)), signals that
//!   happen once ([`send_event`](Session::send_event)), values of players
//!   ([`set_value`](Session::set_value)), contents larger than a packet ([`Blob`]), [`Rounds`].
//!
//! Two machines, with nothing between them but a function call:
//!
//! ```
//! use gaggle_kit::{Micros, PeerId, Slot};
//! use gaggle_replica::{JoinMode, Kind, Kinds, AuthorityPolicy, Session, ReplicaConfig};
//!
//! #[derive(Clone, PartialEq, Debug, Kind)]
//! struct Raft {
//!     #[kind(range = 0.0..=100.0, precision = 0.01, moved_by = drift)]
//!     place: [f32; 2],
//!     #[kind(range = -5.0..=5.0, precision = 0.01)]
//!     drift: [f32; 2],
//! }
//!
//! let peers = [PeerId::from_u128(1), PeerId::from_u128(2)];
//! let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..ReplicaConfig::default() };
//! let new = |number, entry| {
//!     // The last argument is a random number that a program draws.
//!     Session::new(config.clone(), Kinds::new().with::<Raft>(), Slot::at(number), entry, 40 + number as u64)
//! };
//! let mut machines = [new(0, JoinMode::Create)?, new(1, JoinMode::Join)?];
//! machines[0].handle_connected(Micros::ZERO, peers[1]);
//! machines[1].handle_connected(Micros::ZERO, peers[0]);
//!
//! let raft = machines[0].spawn(&Raft { place: [10.0, 20.0], drift: [1.0, 0.0] })?;
//! for frame in 1..=120 {
//!     let now = Micros::from_millis(frame * 16);
//!     for me in 0..2 {
//!         // Half a second in, the other machine takes hold of the raft; from then on it says where it is.
//!         if me == 1 && frame == 30 {
//!             machines[1].claim(raft)?;
//!         }
//!         if machines[me].has_authority(raft) {
//!             machines[me].modify(raft, |raft: &mut Raft| raft.place[0] += raft.drift[0] * 0.016)?;
//!         }
//!         machines[me].tick(now);
//!         let mut sent = Vec::new();
//!         while let Some(out) = machines[me].poll_transmit() {
//!             sent.push((out.reliable, out.bytes.to_vec()));
//!         }
//!         // A program hands these to a transport, see `Driver`.
//!         for (reliable, bytes) in sent {
//!             match reliable {
//!                 true => machines[1 - me].handle_message(now, peers[me], &bytes),
//!                 false => machines[1 - me].handle_packet(now, peers[me], &bytes),
//!             }
//!         }
//!     }
//! }
//! assert_eq!(machines[0].authority(raft), Some(Slot::at(1)));
//! assert!(machines[0].get::<Raft>(raft).is_some_and(|raft| raft.place[0] > 11.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

// Derived code names this crate from outside, and its own tests derive too.
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
pub use session::{Session, SessionStats, SyncProgress, Transmit};
pub use value::{VALUE_BYTES_MAX, ValueError, ValueWriter};
pub use version::Version;
