//! Replication of the game in one [`Session`](gaggle_replica::Session), which rooms and tests run.
//!
//! Each peer moves its boat and the things it is authority of: touching claims a thing, towing
//! locks it, and a thing at rest is released. The [`Ledger`] is the leader's. Absent: packets,
//! clock, lobby.

mod mill;
mod nearness;
mod rules;
mod watch;

use gaggle_kit::{Micros, State};
use gaggle_replica::{AuthorityPolicy, EventOptions, Kinds, ReplicaConfig, ValueWriter};

use crate::boat::Boat;
use crate::ledger::Ledger;
use crate::mark::Mark;
use crate::pad::Pad;
use crate::thing::Thing;
use crate::water::SEATS;

pub use mill::Mill;
pub use nearness::Nearness;
pub use rules::Rules;

/// A noise of a boat: stroke, collision, rope. At most eight a second per boat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Noise(pub Mark);

/// A mark of the rules. Only the leader's are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Happening(pub Mark);

/// Kinds, events and values of the game; the room adds the input.
pub fn kinds() -> Kinds {
    Kinds::new()
        .with::<Boat>()
        .with::<Thing>()
        .with_event::<Noise>("noise", EventOptions::DIRECT.with_min_interval(Micros::from_millis(120)))
        .with_event::<Happening>("happening", EventOptions::DIRECT)
        .with_value::<Ledger>("ledger", ValueWriter::Leader)
}

/// [`kinds`] with the input, for a session without a room.
pub fn kinds_with_input() -> Kinds {
    kinds().with_input::<Pad>()
}

/// Authority policy of the game: [`Rules`].
pub fn policy() -> AuthorityPolicy {
    AuthorityPolicy::Custom(std::sync::Arc::new(Rules))
}

/// Objects one peer may spawn, recent tombstones included. A full pond has four hundred.
const THINGS_PER_PEER_MAX: usize = 2_000;

/// Session settings: 20 updates a second and 5,000 bytes of them per second and receiver, so that
/// each of four players receives at most 120 kbit/s. `objects_max` fits what all peers may spawn,
/// so that no peer can use up the room of the others.
pub fn config() -> ReplicaConfig {
    ReplicaConfig {
        game_fingerprint: crate::FINGERPRINT,
        authority: policy(),
        bytes_per_second: 5_000,
        succession_delay: Micros::from_millis(400),
        objects_per_peer_max: THINGS_PER_PEER_MAX,
        objects_max: THINGS_PER_PEER_MAX * SEATS,
        ..ReplicaConfig::default()
    }
}
