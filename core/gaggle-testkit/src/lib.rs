//! Tools that the tests of all crates share. A dev-dependency only, never published.
//!
//! Harnesses and benches call them: [`PacketScheduler`] and [`PacketPool`] carry messages between
//! simulated peers, [`mix_game!`] defines a game sensitive to every input, [`corpus!`] replays fuzz
//! corpora, [`seeds`] chooses seeds. Absent: sessions, sockets; randomness is an argument.

pub mod corpus;
mod mix;
mod packet_pool;
mod packet_scheduler;
pub mod seeds;

pub use mix::{mix, stir};
pub use packet_pool::PacketPool;
pub use packet_scheduler::{Delivery, LATE, NetConditions, Packet, PacketScheduler};
