//! One WebRTC data channel without a socket, and STUN: what a native peer and a relay have in
//! common.
//!
//! [`RtcChannel`] is fed with datagrams and time and says what to send; whoever has the sockets
//! runs it. [`stun`] asks where one is seen from, and answers that question.

mod acks;
mod channel;
mod contain;
mod gate;
mod intake;
mod sctp;
pub mod stun;

pub use channel::{Certificate, Role, RtcChannel, RtcChannelError, RtcOutput};
pub use contain::is_contained;
