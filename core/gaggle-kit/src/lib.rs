//! The nouns every other crate speaks, and the means to compute the same thing on every machine.
//!
//! Nothing here reads a clock, draws from the system's entropy or allocates behind your back:
//! time and seeds are arguments, buffers are given.

mod bytes;
mod decode;
mod frame;
mod hash;
mod input;
mod micros;
mod peer;
mod random;
mod slot;

pub use bytes::{BufferFull, ByteReader, ByteSink, ByteWriter, Varint, unzigzag, zigzag};
pub use decode::DecodeError;
pub use frame::Frame;
pub use hash::{StateHasher, fnv1a_32, fnv1a_64};
pub use input::Input;
pub use micros::Micros;
pub use peer::{ParsePeerIdError, PeerId};
pub use random::{Mulberry32, Prng, Xorshift32};
pub use slot::{Slot, SlotSet, SlotSetIter};
