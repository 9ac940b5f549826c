//! How strangers find each other: rooms, matchmaking, signalling, tickets, results.
//!
//! Everything here is a machine without sockets, clock or entropy; time and secrets are arguments.
//!
//! - [`message`] is what travels: JSON texts, documented with examples in PROTOCOL.md, section 5.
//! - [`client::Client`] is the client: it says hello, keeps its seat over lost connections, reloads
//!   and crashed servers, and shows the room as it is. Sockets natively and in the browser are
//!   built around it.
//! - [`room::Room`] has the rules of one room, [`directory::Directory`] is all rooms, and
//!   [`node::Node`] is one server process: connections, identities, limits, copies of rooms.
//! - [`Claims`], [`TicketSigner`] and [`TicketKey`] are tickets: they prove to peers and relays who
//!   may be in a room, and to a server that lost its memory who sat where.
//!
//! ```
//! use gaggle_lobby::{Envelope, ClientMessage, message::client::Find};
//!
//! // What a person can type into a WebSocket command-line client is what a client sends.
//! let typed = Envelope::<ClientMessage>::decode(r#"{ "type": "find", "game": "gander", "mode": "team" }"#)?;
//! let find = Find { game: "gander".parse().unwrap(), mode: "team".parse().unwrap(), ..Find::default() };
//! assert_eq!(typed, Envelope { id: None, message: find.into() });
//! # Ok::<(), gaggle_lobby::MessageError>(())
//! ```

pub mod client;
pub mod directory;
mod id;
mod json;
mod label;
pub mod message;
pub mod node;
mod players;
mod results;
pub mod room;
pub mod rules;
mod secret;
mod ticket;
pub mod view;
mod word;

pub use id::{
    NetworkId, NodeId, ParseIdError, ParseRoomCodeError, PlayerId, ResumeId, RoomCode, RoomId, Seed,
};
pub use json::MessageError;
pub use label::{DisplayName, Label, NameError, ParseLabelError};
pub use message::{ClientMessage, Envelope, Rejection, RejectionCode, ServerMessage};
pub use players::LocalPlayers;
pub use results::{MatchPlayer, MatchRecord, PlayerScore, ResultClaim};
pub use ticket::{Claims, TicketError, TicketKey, TicketSigner};
