//! State travels: whoever holds an object says what it is, and everybody else is told.
//!
//! A session is a pure state machine. It knows no socket and no clock: local changes, packets and the time
//! come in, packets, messages and events go out.
//!
//! - **Objects** are declared with the [`Kind`] derive: per field its range and precision, what moves it, what is constant. The
//!   quantised value is the truth on every machine; nothing is sent while nothing changes.
//! - **Who holds what** is a [`Policy`]: everybody, the host alone, or everybody its own and the host the rest. [`Session::touch`],
//!   [`grab`](Session::grab), [`release`](Session::release) and [`delete`](Session::delete); races end alike everywhere, and
//!   whoever lost one learns it. What leavers held is inherited; who returns has its own again; halves of a split become one.
//! - **What matters to whom** is an [`Interest`]; each receiver has a budget, and what waits becomes more urgent.
//! - **What is shown** is [`Session::shown`]: buffered or moved on to the present, errors fading instead of jumping.
//! - **Beside the objects**: inputs to the lead ([`sample_input`](Session::sample_input)), signals that happen once
//!   ([`signal`](Session::signal)), values of players ([`set_value`](Session::set_value)), contents larger than a packet
//!   ([`Blob`]), [`Rounds`].
//!
//! Two machines, with nothing between them but a function call:
//!
//! ```
//! use gaggle_kit::{Micros, PeerId};
//! use gaggle_replica::{Entry, Kind, Kinds, Player, Policy, Session, SessionConfig};
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
//! let config = SessionConfig { policy: Policy::Open, ..SessionConfig::default() };
//! let new = |number, entry| {
//!     // The last argument is a random number that a program draws.
//!     Session::new(config.clone(), Kinds::new().with::<Raft>(), Player::at(number), entry, 40 + u64::from(number))
//! };
//! let mut machines = [new(0, Entry::Found)?, new(1, Entry::Join)?];
//! machines[0].handle_linked(Micros::ZERO, peers[1]);
//! machines[1].handle_linked(Micros::ZERO, peers[0]);
//!
//! let raft = machines[0].spawn(&Raft { place: [10.0, 20.0], drift: [1.0, 0.0] })?;
//! for frame in 1..=120 {
//!     let now = Micros::from_millis(frame * 16);
//!     for me in 0..2 {
//!         // Half a second in, the other machine takes hold of the raft; from then on it says where it is.
//!         if me == 1 && frame == 30 {
//!             machines[1].touch(raft)?;
//!         }
//!         if machines[me].is_mine(raft) {
//!             machines[me].update(raft, |raft: &mut Raft| raft.place[0] += raft.drift[0] * 0.016)?;
//!         }
//!         machines[me].tick(now);
//!         let mut sent = Vec::new();
//!         while let Some(out) = machines[me].next_packet() {
//!             sent.push((out.reliable, out.bytes.to_vec()));
//!         }
//!         // A program hands these to a transport, see `Exchange`.
//!         for (reliable, bytes) in sent {
//!             match reliable {
//!                 true => machines[1 - me].handle_message(now, peers[me], &bytes),
//!                 false => machines[1 - me].handle_packet(now, peers[me], &bytes),
//!             }
//!         }
//!     }
//! }
//! assert_eq!(machines[0].holder(raft), Some(Player::at(1)));
//! assert!(machines[0].get::<Raft>(raft).is_some_and(|raft| raft.place[0] > 11.0));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
pub use kinds::{KINDS_MAX, Kinds, Part};
pub use message::PROTOCOL_VERSION;
pub use policy::{Facts, Policy, PolicyRules};
pub use roster::{Present, Roster};
pub use round::{Phase, RoundRules, RoundState, Rounds};
pub use session::{Arrival, Outgoing, Session, SessionStats};
pub use signal::{Petition, SIGNAL_BYTES_MAX, SIGNAL_OBJECTS_MAX, Signal, SignalError, SignalRules, To};
pub use value::{VALUE_BYTES_MAX, ValueError, Writer};
pub use version::Version;
