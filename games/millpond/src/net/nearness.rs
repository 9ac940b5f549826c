//! What matters to whom: what is near his boat.

#![expect(clippy::float_arithmetic, reason = "distances decide what is told first, never what is told")]

use gaggle_replica::{Interest, ObjectRef, Receiver, Relevance};

use crate::pond::Pond;
use crate::water::SEATS;

/// Pixels around a boat within which everything is told as soon as it moves: what its screen shows.
const NEAR: f64 = 230.0;

/// Where everybody's boat is.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nearness {
    boats: [Option<[f64; 2]>; SEATS],
}

impl Nearness {
    /// By where boats are now.
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
