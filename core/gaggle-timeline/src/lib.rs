//! Lockstep and rollback netcode that exchanges inputs: one state machine without I/O.
//!
#![doc = include_str!("../README.md")]
//!
//! # Joining and leaving
//!
//! A match needs no waiting room: one peer creates it and plays at once, and others join while it
//! runs. A peer that leaves or is suspended does not stop the others; after a crash they wait until
//! the peer times out ([`timeout`](TimelineConfig::timeout), less the window). There is no host and
//! no server: the playing peers agree among themselves.
//!
//! ```
//! # use gaggle_kit::{Micros, Slot, State};
//! # use gaggle_link::sim::{Conditions, SimNet};
//! # use gaggle_link::{Endpoint, LinkConfig};
//! # use gaggle_timeline::{
//! #     Driver, Game, Incarnation, Inputs, MatchId, Session, SessionEvent, TickClock, Timeline,
//! #     TimelineConfig,
//! # };
//! # #[derive(Clone, Default, State)]
//! # struct Pond { ripples: [u32; 4] }
//! # impl Game for Pond {
//! #     type Input = u8;
//! #     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
//! #         for slot in 0..4 {
//! #             self.ripples[slot] += u32::from(inputs.get(Slot::at(slot)));
//! #         }
//! #     }
//! # }
//! # let mut world = SimNet::new(2, 7);
//! # world.set_all(Conditions::latency_ms(40));
//! # let [ana_id, ben_id] = [world.id(0), world.id(1)];
//! // `started_at` and a random nonce: when two matches meet, the younger joins the older.
//! let match_id = MatchId { started_at: 1_790_000_000, nonce: 0x5eed };
//! let config = TimelineConfig { slot_count: 4, match_id, ..TimelineConfig::default() };
//! // Incarnations are random, too: they distinguish a peer's stays.
//! let ana = Session::create(config.clone(), ana_id, 1, Incarnation(0xa11a))?;
//! let ben = Session::join(config, ben_id, 1, Incarnation(0xbe2))?;
//! let mut players = [Timeline::new(ana, Pond::default()), Timeline::new(ben, Pond::default())];
//! // ... the loop above, on each peer ...
//! # let link = |i| Endpoint::new(world.carrier(i), LinkConfig::default(), i as u64);
//! # let mut links = [0, 1].map(link);
//! # let mut exchanges = [Driver::default(), Driver::default()];
//! # let mut paces = [TickClock::new(60, Micros::ZERO), TickClock::new(60, Micros::ZERO)];
//! # let mut told = Vec::new();
//! # let mut run = |players: &mut [Timeline<Pond>; 2], millis: u64| {
//! #     for _ in 0..millis {
//! #         world.advance(Micros::from_millis(1));
//! #         for i in 0..2 {
//! #             let (now, timeline) = (world.local_now(i), &mut players[i]);
//! #             for _ in 0..paces[i].ticks_due(now, timeline.session().speed_ppm()) {
//! #                 exchanges[i].receive(now, &mut links[i], timeline.session_mut());
//! #                 for slot in timeline.session().local_slots() {
//! #                     timeline.session_mut().set_input(slot, 1).unwrap();
//! #                 }
//! #                 timeline.tick(now);
//! #                 exchanges[i].send(now, &mut links[i], timeline.session_mut());
//! #             }
//! #             while let Some(event) = timeline.session_mut().poll_event() {
//! #                 told.push((i, event));
//! #             }
//! #         }
//! #     }
//! # };
//! # run(&mut players, 100);
//! # assert!(players[0].game().ripples[0] > 0, "Ana plays before Ben is there");
//! # run(&mut players, 1_500);
//! # assert!(players[1].session().is_member());
//! # assert_eq!(players[1].session().local_slots().lowest(), Some(Slot::at(1)));
//! // Ben sees `SessionEvent::JoinProgress` go up, both see `SessionEvent::Joined`. Later:
//! players[1].session_mut().leave();
//! // ... the loop goes on until it is over; then the links may be closed ...
//! # run(&mut players, 500);
//! assert!(players[1].session().is_closed());
//! # let mut ana = told.iter().filter(|(i, _)| *i == 0);
//! # assert!(ana.any(|(_, event)| matches!(event, SessionEvent::Joined { .. })));
//! # assert!(told.iter().any(|(i, event)| *i == 0 && matches!(event, SessionEvent::Left { .. })));
//! # Ok::<(), gaggle_timeline::SessionError>(())
//! ```
//!
//! While joining a peer has no slots: [`Session::local_slots`] says for which slots to give input,
//! every tick. A page that was closed and is opened again uses [`Session::rejoin`] with its old
//! slots; [`Session::spectate`] joins without taking a slot. [`SessionEvent::BranchAbandoned`]
//! means that the frames played here since a partition were replaced by those of other peers.
//!
//! A program that keeps its state elsewhere fulfills [`Request`]s itself, without a [`Timeline`].

mod announce;
mod any_match;
mod bundle;
mod clock;
mod config;
mod desync;
mod driver;
mod entries;
mod event;
mod game;
mod gossip;
mod input_log;
mod inputs;
mod join;
mod lifecycle;
mod match_session;
mod membership;
mod packet;
mod peers;
mod question;
mod relay;
mod replay;
mod request;
mod roster;
mod roster_events;
mod runs;
mod scheduler;
#[cfg(feature = "seal")]
mod sealed;
mod session;
mod simulation;
mod snapshots;
mod stats;
mod sync_test;
mod tick_clock;
mod time_sync;
mod timeline;
mod transfer;
mod wire;
#[cfg(test)]
mod wire_vectors;

pub use announce::PROTOCOL_VERSION;
pub use any_match::Match;
pub use bundle::{BundleError, DesyncBundle, DesyncDiff};
pub use config::{
    CHECKSUM_INTERVAL_FRAMES_MAX, INPUT_DELAY_FRAMES_MAX, LatePolicy, PREDICTION_FRAMES_MAX, PeerSlots,
    Quorum, SessionError, SlowPolicy, TimelineConfig,
};
pub use driver::{Driver, MESSAGE_STREAM, TRANSFER_STREAM};
pub use event::{DesyncCause, PeerFault, RejectReason, SessionEvent};
pub use game::{Game, MatchStart};
pub use inputs::Inputs;
pub use match_session::MatchSession;
pub use question::{ANSWER_BYTES_MAX, CONTEXT_BYTES_MAX};
pub use replay::{
    Corruption, Divergence, Playback, Recorder, RecorderConfig, Replay, ReplayError, ReplayInfo,
};
pub use request::{Request, RequestStep, SimId};
pub use roster::{Incarnation, MatchId, RosterEntry, StreamId};
#[cfg(feature = "seal")]
pub use sealed::{RefusedInput, SealConfig, Sealed};
pub use session::{Session, Tick, Transmit};
pub use simulation::{Imported, Simulation};
pub use snapshots::{SNAPSHOTS_EXTRA, Snapshots};
pub use stats::{PeerStats, SessionStats};
pub use sync_test::{Nondeterminism, SyncTest, check_determinism};
pub use tick_clock::TickClock;
pub use timeline::{Timeline, shape_of};
pub use transfer::STATE_BYTES_MAX;
