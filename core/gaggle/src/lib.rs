//! What a game depends on: the engines, their nouns, and [`Room`], the whole life of being online.
//!
//! A game is a value with a `tick` ([`Game`]), or a [`World`] of objects that are moved by whoever holds them. A [`Room`] plays
//! the one, a [`SharedRoom`] the other, alone at once; it finds others through the lobby, lets
//! them in and out while it runs, and tells what players should know. Sockets come from `gaggle-native` or
//! `gaggle-browser` behind the trait [`Platform`]; nothing here reads a clock.
//!
//! [`Event`] is what players should know, in words. Each layer below has events and faults of its own for whoever builds on
//! it alone, under its own name: [`timeline::Event`] and [`timeline::PeerFault`], [`replica::Event`] and
//! [`replica::PeerFault`], [`link::Event`] and [`link::PeerFault`]. A room hears all of them, so its game need not.

mod config;
mod event;
mod held;
mod lounge;
mod mailbox;
mod platform;
mod play;
mod recording;
mod room;
mod shared;
mod world;

pub use config::{RoomConfig, SharedConfig, Wish};
pub use event::{Event, Parting, Rejection};
pub use lounge::Person;
pub use mailbox::MESSAGE_BYTES_MAX;
pub use platform::{ConnectMesh, MeshSetup, NoLobby, NoMesh, NoNetwork, Online, OnlineConfig, Platform};
pub use room::{Room, Stage, Waiting};
pub use shared::SharedRoom;
pub use world::World;

pub use gaggle_kit::{self as kit, Angle, Fixed, Frame, Input, Micros, PeerId, Prng, Slot, SlotSet, State};
pub use gaggle_link::{self as link, LinkStats, Path, PathReason, SendError};
pub use gaggle_lobby::client::ClientConfig;
pub use gaggle_lobby::view::LeaveReason;
pub use gaggle_lobby::{self as lobby, Label, ParseLabelError, Refusal, RoomCode};
pub use gaggle_replica as replica;
pub use gaggle_timeline::{
    self as timeline, Bundle, DesyncCause, Game, Inputs, SessionConfig, SessionError, check_determinism,
};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

#[cfg(doctest)]
#[doc = include_str!("../../../docs/RECIPES.md")]
struct Recipes;
