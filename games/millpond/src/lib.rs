//! Rules, pictures, bots and networking of the game millpond; the arcade runs it.
//!
#![doc = include_str!("../README.md")]

pub mod attract;
pub mod boat;
pub mod bots;
pub mod goal;
pub mod howto;
pub mod keeper;
pub mod ledger;
pub mod mark;
pub mod net;
pub mod pad;
pub mod pond;
pub mod stage;
pub mod thing;
pub mod water;

pub use boat::Boat;
pub use keeper::Keeper;
pub use ledger::{Ledger, WISHES};
pub use mark::{Mark, Marks, What};
pub use pad::Pad;
pub use pond::{Alone, Floating, Hands, Pond, THINGS};
pub use thing::{Sort, Thing};
pub use water::SEATS;

/// Peers with another fingerprint play by other rules and are rejected.
pub const FINGERPRINT: u64 = gaggle_kit::fnv1a_64(b"millpond 1");
