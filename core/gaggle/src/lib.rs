//! What a game depends on: the engine, its nouns, and [`Room`], the whole life of being online.
//!
//! A game is a value with a `tick` ([`Game`]). A [`Room`] plays it alone at once, finds others through the lobby, lets
//! them in and out while it runs, and tells what players should know. Sockets come from `gaggle-native` or
//! `gaggle-browser` behind the trait [`Outside`]; nothing here reads a clock.

mod config;
mod event;
mod nowhere;
mod online;
mod outside;
mod play;
mod recording;
mod room;

pub use config::{RoomConfig, Wish};
pub use event::{Event, Parting};
pub use nowhere::{Nowhere, Silence};
pub use online::{MakeLinks, Online};
pub use outside::{LinksSetup, LobbyNews, Outside};
pub use room::{Person, Room, Stage};

pub use gaggle_kit::{self as kit, Angle, Fixed, Frame, Input, Micros, PeerId, Prng, Slot, SlotSet, State};
pub use gaggle_link as link;
pub use gaggle_lobby::{self as lobby, ParseLabelError, RoomCode};
pub use gaggle_replica as replica;
pub use gaggle_timeline::{self as timeline, Game, Inputs, SessionConfig};
