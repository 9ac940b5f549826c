//! Replication of the game in one [`Session`](gaggle_replica::Session), which rooms and tests run.
//!
//! A craft is moved by its player's peer, in the frame of the button press. Everything else is the
//! leader's by [`Rules`]; the next leader continues from the state it received. Inputs go to the
//! leader, so that no press is lost. Absent: packets, clock, lobby.

mod census;
mod coop;
mod ghosts;
mod referee;
mod rules;
mod view;
mod watch;

use gaggle_kit::{Micros, State};
use gaggle_replica::{AuthorityPolicy, EventOptions, Kinds, ReplicaConfig, ValueWriter};

use crate::Setup;
use crate::bout::Bout;
use crate::craft::Craft;
use crate::field::SEATS;
use crate::mark::Mark;
use crate::pad::Pad;
use crate::rock::Rock;
use crate::shot::Shot;
use crate::standing::Standing;
use crate::weapons::{Egg, Hornet, Lantern, Puffball};

pub use coop::Coop;
pub use rules::Rules;

/// A pea was fired. Each noise is an event type of its own, so that its rate limit drops no other
/// noise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Fired(pub Mark);

/// A dash began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Dashed(pub Mark);

/// A craft collided with a wall or a rock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Bumped(pub Mark);

/// A mark of the rules. Only the leader's are accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Happening(pub Mark);

/// A player out of the round cheers. The leader rejects it from a player in the round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Cheer;

/// Least time between two cheers of one player.
const CHEER_INTERVAL: Micros = Micros::from_millis(600);
/// Least time between two shots, and between two bumps, of one craft.
const FIRE_INTERVAL: Micros = Micros::from_millis(120);
/// Least time between two dashes of one craft.
const DASH_INTERVAL: Micros = Micros::from_millis(200);

/// Kinds, events and values of the game; the room adds the input.
pub fn kinds() -> Kinds {
    Kinds::new()
        .with::<Craft>()
        .with::<Standing>()
        .with::<Rock>()
        .with::<Shot>()
        .with::<Puffball>()
        .with::<Hornet>()
        .with::<Lantern>()
        .with::<Egg>()
        .with_event::<Fired>("fired", EventOptions::DIRECT.with_min_interval(FIRE_INTERVAL))
        .with_event::<Dashed>("dashed", EventOptions::DIRECT.with_min_interval(DASH_INTERVAL))
        .with_event::<Bumped>("bumped", EventOptions::DIRECT.with_min_interval(FIRE_INTERVAL))
        .with_event::<Happening>("happening", EventOptions::DIRECT)
        .with_event::<Cheer>("cheer", EventOptions::APPROVED.with_min_interval(CHEER_INTERVAL))
        .with_value::<Bout>("bout", ValueWriter::Leader)
        .with_value::<Setup>("setup", ValueWriter::Leader)
}

/// [`kinds`] with the input, for a session without a room.
pub fn kinds_with_input() -> Kinds {
    kinds().with_input::<Pad>()
}

/// Authority policy of the game: [`Rules`].
pub fn policy() -> AuthorityPolicy {
    AuthorityPolicy::Custom(std::sync::Arc::new(Rules))
}

/// Objects one peer may spawn, those of the last minute's tombstones included. Six drakes fire at
/// most a dozen peas a second together, so honest play stays below half of it.
const THINGS_PER_PEER_MAX: usize = 2_000;

/// Session settings: 30 updates a second, because drakes turn quickly. Peas are short-lived, so
/// tombstones last no longer than a reconnect. `objects_max` fits what all peers may spawn, so
/// that no peer can use up the room of the others.
pub fn config() -> ReplicaConfig {
    let defaults = ReplicaConfig::default();
    ReplicaConfig {
        game_fingerprint: crate::FINGERPRINT,
        authority: policy(),
        send_interval: Micros::from_millis(33),
        succession_delay: Micros::from_millis(400),
        tombstone_ttl: defaults.reconnect_window,
        objects_per_peer_max: THINGS_PER_PEER_MAX,
        objects_max: THINGS_PER_PEER_MAX * SEATS,
        ..defaults
    }
}
