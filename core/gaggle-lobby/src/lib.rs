//! Rooms, matchmaking, signaling, tickets and results, without sockets.
//!
#![doc = include_str!("../README.md")]

pub mod client;
pub mod directory;
mod id;
mod json;
mod label;
pub mod message;
pub mod node;
mod players;
mod raw_json;
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
pub use ticket::{Claims, TicketError, TicketFlags, TicketKey, TicketSigner};
