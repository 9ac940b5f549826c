//! Sealed inputs: a referee decides per frame which inputs count. Inputs are opaque bytes.
#![doc = include_str!("../README.md")]

mod ablation;
mod checkpoint;
mod client;
mod clocks;
mod config;
#[cfg(test)]
mod harness;
mod hello;
mod journal;
mod lanes;
mod lineage;
mod log;
mod message;
mod packet;
#[cfg(test)]
mod reader_fields;
mod referee;
mod referee_room;
mod rice;
mod roster;
mod rows;
mod sealer;
mod shape;
mod slack;
mod transfer;

pub use checkpoint::ExtractError;
pub use client::{Client, ClientError, ClientEvent, ClientPhase, ClientTransmit, EntryError};
pub use config::{ConfigError, SealConfig};
pub use hello::{Build, PROTOCOL_VERSION};
pub use journal::{Damage, DamageReason, JournalError, Recovered, read_journal};
pub use lanes::LaneError;
pub use lineage::{Epoch, Lineage, TERMS_MAX, Term};
pub use log::{Cell, Log, LogError};
pub use message::{OverReason, STATE_BYTES_MAX};
pub use packet::ENTRIES_MAX;
pub use referee::{
    ConnectError, LinkId, MESSAGE_RATE, PIECE_RATE, Referee, RefereeEvent, RefereePhase, RefereeStats,
    Transmit,
};
pub use referee_room::{
    Admission, CloseReason, FORWARD_RATE, FORWARD_STREAM_MIN, Origin, RefereeRoom, RoomEvent, RoomPhase,
    RoomSetup, RoomTransmit,
};
pub use roster::{OutReason, RosterChange, RosterEvent, Row, StreamId};
pub use sealer::Fault;
pub use shape::{
    JOINS_PER_FRAME_MAX, PACKET_BYTES_MAX, SLOTS_MAX, STREAM_SLOTS_MAX, Shape, ShapeError, StreamSlots,
    VALUE_BYTES_MAX,
};
