//! One WebRTC data channel without a socket, and STUN.
//!
#![doc = include_str!("../README.md")]

mod acks;
mod channel;
mod contain;
mod gate;
mod intake;
mod sctp;
pub mod stun;

pub use channel::{Certificate, Role, RtcChannel, RtcChannelError, RtcOutput};
pub use contain::is_contained;
