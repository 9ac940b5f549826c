//! A network in virtual time, from one seed: what tests run on, and what makes a good network feel
//! like a bad one.
//!
//! [`SimNet`] holds peers and time, [`Conditions`] say what happens to datagrams in one direction,
//! [`SimCarrier`] is what a peer's link runs on. Nothing here waits: simulated minutes take as long
//! as computing them.

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
