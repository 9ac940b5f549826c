//! Interest by distance: a receiver's updates come from around its boat first.
//!
//! `Mill` rebuilds it each frame, the replica session asks it. Absent: what is sent.

#![expect(clippy::float_arithmetic, reason = "distances decide the order of updates, never their content")]

use gaggle_replica::{Interest, ObjectRef, Receiver, Relevance};

use crate::pond::Pond;
use crate::water::SEATS;

/// Pixels around a boat with the highest relevance: about what a screen shows.
const NEAR: f64 = 230.0;

/// Positions of all boats, by seat.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nearness {
    boats: [Option<[f64; 2]>; SEATS],
}

impl Nearness {
    /// Positions of the boats now.
    pub fn of(pond: &Pond) -> Nearness {
        Nearness { boats: pond.boats.map(|boat| boat.map(|boat| boat.place.map(|part| part.to_f64()))) }
    }
}

impl Interest for Nearness {
    fn weigh(&mut self, receiver: &Receiver, object: &ObjectRef<'_>) -> Option<Relevance> {
        let boat = self.boats.get(receiver.player.index()).copied().flatten();
        let (Some([x, y]), Some([right, down, _])) = (boat, object.position()) else {
            return Some(Relevance::ONE);
        };
        Some(Relevance::by_distance(f64::hypot(right - x, down - y), NEAR))
    }
}
