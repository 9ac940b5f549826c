//! The nouns every other crate speaks, and the means to compute the same thing on every machine.
//!
//! Nothing here reads a clock, draws from the system's entropy or allocates behind your back:
//! time and seeds are arguments, buffers are given.

// Derived code names this crate from outside, and its own tests derive too.
extern crate self as gaggle_kit;

mod angle;
mod bits;
mod bytes;
mod decode;
mod difference;
mod fixed;
mod frame;
mod hash;
mod input;
mod micros;
mod peer;
mod quantise;
mod random;
mod slot;
mod state;

pub use angle::Angle;
pub use bits::{BitReader, BitWriter, bits_for};
pub use bytes::{BufferFull, ByteReader, ByteSink, ByteWriter, Varint, unzigzag, zigzag};
pub use decode::DecodeError;
pub use difference::{Difference, FieldPath};
pub use fixed::{Fixed, Fixed8, Fixed16, ParseFixedError};
pub use frame::Frame;
pub use hash::{StateHasher, fnv1a_32, fnv1a_64};
pub use input::{Input, OneShot};
pub use micros::Micros;
pub use peer::{ParsePeerIdError, PeerId};
pub use quantise::{Quantiser, QuantiserError};
pub use random::{Mulberry32, Prng, Xorshift32};
pub use slot::{Slot, SlotSet, SlotSetIter};
pub use state::{Bounded, InRange, State, decode_state, differences, encode_state, state_hash};

pub use gaggle_derive::{Input, State};

// What derived code calls.
#[doc(hidden)]
pub use state::pod;

/// For `derive(Pod)` on types with `#[state(pod)]`: the version this crate speaks.
pub use bytemuck;

#[cfg(target_endian = "big")]
compile_error!("values are copied between memory and wire as they are, which takes a little-endian machine");
