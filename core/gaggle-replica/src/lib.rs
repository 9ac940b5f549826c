//! State travels: whoever holds an object says what it is, and everybody else is told.
//!
//! A session is a pure state machine. It knows no socket and no clock: local changes, packets and the time
//! come in, packets, messages and events go out.

// Derived code names this crate from outside, and its own tests derive too.
extern crate self as gaggle_replica;

mod axis;
mod blob;
mod codec;
mod config;
#[doc(hidden)]
pub mod derived;
mod event;
mod exchange;
mod field;
mod forgotten;
mod history;
mod id;
mod id_table;
mod input_queue;
mod interest;
mod kind;
mod kinds;
mod ladder;
mod layout;
mod link;
mod message;
mod packet;
mod playout;
mod policy;
mod pool;
mod quotient;
mod record;
mod roster;
mod rotation;
mod round;
mod rule;
mod sent;
mod session;
mod signal;
mod sink;
mod store;
mod value;
mod version;

pub use axis::Axis;
pub use blob::{BLOB_BYTES_MAX, Blob, BlobError};
pub use config::{Entry, ObjectError, SessionConfig, SessionError};
pub use event::{Event, PeerFault, Refusal};
pub use exchange::{BLOB_STREAM, Exchange, MESSAGE_STREAM};
pub use field::{Direction, Field, FieldShape, Nature};
pub use gaggle_derive::{Field, Kind};
pub use id::{Member, MemberTag, ObjectId, Player};
pub use interest::{Everything, Interest, Receiver, Seen, Weight};
pub use kind::{Kind, KindRules, OnLeave, Playout};
pub use kinds::{KINDS_MAX, Kinds};
pub use message::PROTOCOL_VERSION;
pub use policy::{Facts, Policy, PolicyRules};
pub use roster::{Present, Roster};
pub use round::{Phase, RoundRules, RoundState, Rounds};
pub use session::{Arrival, Outgoing, Session, SessionStats};
pub use signal::{Petition, SIGNAL_BYTES_MAX, SIGNAL_OBJECTS_MAX, Signal, SignalError, SignalRules, To};
pub use value::{VALUE_BYTES_MAX, ValueError, Writer};
pub use version::Version;
