//! A network in virtual time, from one seed, for tests and for impairing real networks.
//!
//! [`SimNet`] has peers and time, [`Conditions`] describe one direction, [`SimCarrier`] carries a
//! peer's links. Nothing waits: simulated minutes take as long as computing them. Absent: real
//! clocks, sockets.

mod carrier;
mod chance;
mod clock;
mod conditions;
mod network;
mod settings;
pub(crate) mod shaper;
mod world;

pub use carrier::SimCarrier;
pub use chance::Chance;
pub use conditions::{Burst, Conditions, WIRE_OVERHEAD_BYTES};
pub use settings::SettingError;
pub use world::{NetChange, SimNet, SimStats};
