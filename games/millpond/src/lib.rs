//! A pond full of things to push, stack, tow and trade, together.
//!
//! There is nothing to win against anybody. Things float where they are pushed, the race takes some
//! to the wheel, a gust moves the light ones; the mill wants crates, the tavern barrels, the dairy
//! its cheeses back, and the chapel its bell, for which it takes two. Whoever touches something has
//! it until it lies still; whoever has it in tow keeps it.
//!
//! This crate is the whole game without a screen. It reads no clock, draws all chance from a seed,
//! and computes with integers only.
//!
//! ```
//! use millpond::{Alone, Boat, Keeper, Pad, Pond};
//!
//! let mut hands = Alone::default();
//! let mut pond = Pond::alone(7, &mut hands);
//! pond.boats[0] = Some(Boat::moored(0));
//! let mut keeper = Keeper::default();
//! for _ in 0..600 {
//!     pond.frame += 1;
//!     pond.row(0, Pad { up: true, ..Pad::NONE }, &mut hands);
//!     pond.float(&mut hands);
//!     keeper.step(&mut pond, &mut hands, |_| true);
//! }
//! assert!(pond.floating.iter().any(|floating| floating.holder == 0), "something was in the way");
//! ```
//!
//! Over a network everybody moves his boat and what he holds: see [`net`].

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

/// Which rules these are: peers with another number play another game.
pub const FINGERPRINT: u64 = gaggle_kit::fnv1a_64(b"millpond 1");
