//! Tools that the tests of all crates share. A dev-dependency only, never published.
//!
//! Test harnesses and benches call it: [`PacketScheduler`] and [`PacketPool`] carry messages
//! between simulated peers, [`mix_game!`] makes a game that notices every difference, [`corpus!`]
//! replays fuzz corpora, [`seeds`] chooses and reports seeds.
//! Absent: sessions, engines, sockets. Chance comes in as an argument, so that one seed repeats a
//! run.

pub mod corpus;
mod mix;
mod packet_pool;
mod packet_scheduler;
pub mod seeds;

pub use mix::{mix, stir};
pub use packet_pool::PacketPool;
pub use packet_scheduler::{Delivery, LATE, NetConditions, Packet, PacketScheduler};
