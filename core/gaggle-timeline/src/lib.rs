//! Inputs travel: every machine runs the same game from the same inputs.
//!
//! A session is a pure state machine. It knows no socket and no clock: local input, packets and the
//! time come in, requests, packets and events go out.

mod announce;
mod clock;
mod config;
mod delay;
mod event;
mod exchange;
mod game;
mod inputs;
mod local;
mod pace;
mod packet;
mod question;
mod question_log;
mod remote;
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
pub use request::{Request, Sim};
pub use roster::{Incarnation, Row, StreamId};
pub use session::{Outgoing, Session, Tick};
pub use snapshots::{SNAPSHOTS_EXTRA, Snapshots};
pub use stats::{PeerStats, SessionStats};
pub use sync_test::{Nondeterminism, SyncTest, check_determinism};
pub use timeline::Timeline;
