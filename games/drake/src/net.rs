//! The game between machines: whoever leads referees, and everybody's craft is his own.
//!
//! A player's craft is moved on his own machine, in the same frame in which he presses a button,
//! and told to the others. Everything else, rocks, peas, eggs, who is hit and who has won, is the
//! lead's: see [`Rules`]. When the lead goes, the next one has all of it and goes on in the frame
//! it knows. What players do with their hands travels to the lead as inputs, so that no press is
//! lost.
//!
//! [`Coop`] is one machine's part. It takes a [`Session`](gaggle_replica::Session), whoever moves
//! its packets.

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

/// A pea was fired. Every small noise is an event of its own, so that no limit of one drops
/// another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Fired(pub Mark);

/// A dash began.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Dashed(pub Mark);

/// A craft ran into something.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Bumped(pub Mark);

/// Something everybody should see and hear. Only the lead's word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Happening(pub Mark);

/// A player who is out of the round cheers. The lead approves it: a player who still flies may not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Cheer;

/// Two cheers of one player are not told closer than this.
const CHEER_INTERVAL: Micros = Micros::from_millis(600);
/// Two shots of one craft are not told closer than this, nor are two bumps.
const FIRE_INTERVAL: Micros = Micros::from_millis(120);
/// The same for dashes.
const DASH_INTERVAL: Micros = Micros::from_millis(200);

/// What is shared. The room adds the input.
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

/// [`kinds`] with the input, for a session that is run by hand.
pub fn kinds_with_input() -> Kinds {
    kinds().with_input::<Pad>()
}

/// Who may hold what.
pub fn policy() -> AuthorityPolicy {
    AuthorityPolicy::Custom(std::sync::Arc::new(Rules))
}

/// Things one peer may tell of first, those included that were deleted within the last minute. Six
/// drakes spit a dozen peas a second at the very most, so honest play stays below half of it.
const THINGS_PER_PEER_MAX: usize = 2_000;

/// The settings of a session: thirty updates a second, since drakes turn quickly. Peas are soon
/// gone, so what is gone is remembered no longer than it takes to come back. There is room for as
/// many things as all together may bring: nobody can fill the coop for the others.
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
