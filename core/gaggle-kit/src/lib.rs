//! The nouns every other crate speaks, and the means to compute the same thing on every machine.
//!
//! Nothing here reads a clock, draws from the system's entropy or allocates behind your back:
//! time and seeds are arguments, buffers are given.

mod decode;
mod frame;
mod input;
mod micros;
mod peer;
mod slot;

pub use decode::DecodeError;
pub use frame::Frame;
pub use input::Input;
pub use micros::Micros;
pub use peer::{ParsePeerIdError, PeerId};
pub use slot::{Slot, SlotSet, SlotSetIter};
