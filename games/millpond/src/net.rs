//! The game between machines: everybody moves his boat and what he holds.
//!
//! Touching something takes it, holding it in tow keeps it, and what lies still is anybody's.
//! Nobody decides about things but whoever has them; what was brought and what is still wanted, the
//! [`Ledger`], is the lead's.
//!
//! [`Mill`] is one machine's part. It takes a [`Session`](gaggle_replica::Session), whoever moves
//! its packets.

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

/// A small noise of a boat: an oar, a bump, a rope. At most eight a second from each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Noise(pub Mark);

/// Something everybody should see and hear. Only the lead's word counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Happening(pub Mark);

/// What is shared. The room adds the input.
pub fn kinds() -> Kinds {
    Kinds::new()
        .with::<Boat>()
        .with::<Thing>()
        .with_event::<Noise>("noise", EventOptions::DIRECT.with_min_interval(Micros::from_millis(120)))
        .with_event::<Happening>("happening", EventOptions::DIRECT)
        .with_value::<Ledger>("ledger", ValueWriter::Leader)
}

/// [`kinds`] with the input, for a session that is run by hand.
pub fn kinds_with_input() -> Kinds {
    kinds().with_input::<Pad>()
}

/// Who may hold what.
pub fn policy() -> AuthorityPolicy {
    AuthorityPolicy::Custom(std::sync::Arc::new(Rules))
}

/// Things one peer may tell of first, those included that were deleted lately. A pond has four
/// hundred.
const THINGS_PER_PEER_MAX: usize = 2_000;

/// The settings of a session: twenty updates a second, and 5,000 bytes of them to each receiver, so
/// that four players hear 120 kbit/s at most. There is room for as many things as all together may
/// bring: nobody can fill the pond for the others.
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
