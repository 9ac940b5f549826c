//! Tools that the tests of all crates share; harnesses and benches call it.
//!
#![doc = include_str!("../README.md")]

pub mod corpus;
mod mix;
mod packet_pool;
mod packet_scheduler;
pub mod protocol_reader;
pub mod seeds;

pub use mix::{mix, stir};
pub use packet_pool::PacketPool;
pub use packet_scheduler::{Delivery, LATE, NetConditions, Packet, PacketScheduler};
