//! Everything a game depends on: `Room` over its engines, and the types below it.
//!
#![doc = include_str!("../README.md")]
//!
//! [`RoomEvent`] is for players. Each layer below has events and faults of its own for callers that
//! use it alone: [`timeline::SessionEvent`], [`replica::SessionEvent`], [`link::TransportEvent`],
//! and a `PeerFault` each. A room handles all of them.

mod any_room;
mod config;
mod engine;
mod event;
mod input_context;
mod lobby_room;
mod messages;
mod phase;
mod platform;
mod room;
mod saved_states;
#[cfg(feature = "testing")]
pub mod testing;
mod world;

pub use any_room::AnyRoom;
pub use config::{JoinTarget, RoomConfig, StartMode, WorldConfig};
pub use engine::{Engine, GameEngine, Requests, StateShape, WorldEngine};
pub use event::{LeaveCause, PeerRejection, RoomEvent};
pub use input_context::InputContext;
#[cfg(feature = "values")]
pub use lobby_room::VALUES_BYTES_MAX;
pub use lobby_room::{HostCommand, Member, NotHost};
pub use messages::MESSAGE_BYTES_MAX;
pub use phase::{Phase, Stall};
pub use platform::{ConnectMesh, MeshSetup, NoLobby, NoMesh, NoNetwork, Online, OnlineConfig, Platform};
pub use room::{GameRoom, RequestRoom, Room, WorldRoom};
pub use saved_states::{SavedStates, Simulate};
pub use world::World;

pub use gaggle_kit::{self as kit, Angle, Fixed, Frame, Input, Micros, PeerId, Prng, Slot, SlotSet, State};
pub use gaggle_link::{self as link, LinkStats, Path, PathReason, SendError};
pub use gaggle_lobby::client::ClientConfig;
pub use gaggle_lobby::view::{LeaveReason, RawJson};
pub use gaggle_lobby::{self as lobby, Label, ParseLabelError, Rejection, RoomCode};
pub use gaggle_replica as replica;
pub use gaggle_timeline::{
    self as timeline, DesyncBundle, DesyncCause, Game, Inputs, MatchStart, SessionError, SlowPolicy,
    TimelineConfig, check_determinism,
};

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

/// Code of the guide, compiled and run.
#[cfg(doctest)]
mod guide {
    #[doc = include_str!("../../../docs/guide/desyncs.md")]
    struct Desyncs;
    #[doc = include_str!("../../../docs/guide/input-delay.md")]
    struct InputDelay;
    #[doc = include_str!("../../../docs/guide/own-state.md")]
    struct OwnState;
    #[doc = include_str!("../../../docs/guide/questions.md")]
    struct Questions;
    #[doc = include_str!("../../../docs/guide/random-match.md")]
    struct RandomMatch;
    #[doc = include_str!("../../../docs/guide/ranked-play.md")]
    struct RankedPlay;
    #[doc = include_str!("../../../docs/guide/ready-screens.md")]
    struct ReadyScreens;
    #[doc = include_str!("../../../docs/guide/replica.md")]
    struct Replica;
    #[doc = include_str!("../../../docs/guide/rooms.md")]
    struct Rooms;
    #[cfg(feature = "seal")]
    #[doc = include_str!("../../../docs/guide/sealed.md")]
    struct Sealed;
    #[doc = include_str!("../../../docs/guide/spectators-and-replays.md")]
    struct SpectatorsAndReplays;
    #[doc = include_str!("../../../docs/guide/testing.md")]
    struct Testing;
    #[doc = include_str!("../../../docs/guide/timeline.md")]
    struct Timeline;
    #[doc = include_str!("../../../docs/guide/your-own-loop.md")]
    struct YourOwnLoop;
}
