//! Inputs travel: every machine runs the same game from the same inputs.
//!
//! A session is a pure state machine. It knows no socket and no clock: local input, packets and the
//! time come in, requests, packets and events go out. With a window of 0 frames it is lockstep, with
//! more it is rollback, and a game that asks questions about inputs instead of reading them rolls back
//! only when an answer changes.
//!
//! What you need, in the order you will meet it:
//!
//! - [`Game`]: your state and its `tick`, which reads players through [`Inputs`];
//! - [`check_determinism`] and [`SyncTest`]: whether it bears this, before anybody plays;
//! - [`Session`] (who plays, by [`SessionConfig`] and [`Seat`]) inside a [`Timeline`] with your game;
//! - [`Exchange`]: the session over any [`gaggle_link::Transport`];
//! - [`Pace`]: when to tick, bent by [`Session::speed_ppm`].
//!
//! The loop of a program is four lines, whatever the transport:
//!
//! ```
//! # use gaggle_kit::{Micros, Slot};
//! # use gaggle_link::Transport;
//! # use gaggle_timeline::{Exchange, Game, Pace, Timeline};
//! fn frame<G: Game>(
//!     now: Micros,
//!     pressed: G::Input,
//!     timeline: &mut Timeline<G>,
//!     transport: &mut impl Transport,
//!     exchange: &mut Exchange,
//!     pace: &mut Pace,
//! ) {
//!     exchange.receive(now, transport, timeline.session_mut());
//!     for _ in 0..pace.ticks_due(now, timeline.session().speed_ppm()) {
//!         timeline.session_mut().set_input(Slot::at(0), pressed).expect("slot 0 is ours");
//!         timeline.tick(now);
//!     }
//!     exchange.send(now, transport, timeline.session_mut());
//! }
//! ```
//!
//! Whoever keeps its state elsewhere leaves [`Timeline`] out and fulfils [`Request`]s itself.

mod announce;
mod clock;
mod config;
mod delay;
mod event;
mod exchange;
mod game;
mod inputs;
mod local;
#[allow(dead_code, reason = "the session takes it over piece by piece")]
mod membership;
mod pace;
mod packet;
mod question;
mod question_log;
mod remote;
mod replay;
mod request;
mod roster;
mod session;
mod snapshots;
mod stats;
mod sync_test;
mod table;
mod time_sync;
mod timeline;

pub use announce::PROTOCOL_VERSION;
pub use config::{
    CHECK_INTERVAL_FRAMES_MAX, INPUT_DELAY_FRAMES_MAX, LatePolicy, Seat, SessionConfig, SessionError,
    WINDOW_FRAMES_MAX,
};
pub use event::{DesyncCause, Event, PeerFault, Refusal};
pub use exchange::{Exchange, MESSAGE_STREAM};
pub use game::Game;
pub use inputs::Inputs;
pub use pace::Pace;
pub use question::{ANSWER_BYTES_MAX, CONTEXT_BYTES_MAX};
pub use replay::{Damage, Divergence, Playback, Recorder, RecorderConfig, Replay, ReplayError, ReplayInfo};
pub use request::{Request, Sim};
pub use roster::{Incarnation, Row, StreamId};
pub use session::{Outgoing, Session, Tick};
pub use snapshots::{SNAPSHOTS_EXTRA, Snapshots};
pub use stats::{PeerStats, SessionStats};
pub use sync_test::{Nondeterminism, SyncTest, check_determinism};
pub use timeline::Timeline;

#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
