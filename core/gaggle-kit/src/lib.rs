//! Types all crates share, and arithmetic and encodings with the same bits on every machine.
//!
#![doc = include_str!("../README.md")]

// Derived code names this crate from outside, and its own tests derive too.
extern crate self as gaggle_kit;

mod angle;
mod bits;
mod bytes;
mod compress;
mod decode;
mod difference;
mod few;
mod fixed;
mod frame;
mod hash;
mod ice;
mod input;
mod micros;
mod out_of_range;
mod peer;
pub mod plane;
mod quantize;
mod random;
pub mod rate_limit;
mod shape;
mod slot;
mod state;
mod varint;
mod vec_map;

pub use angle::Angle;
pub use bits::{BitReader, BitWriter, bits_for};
pub use bytes::{BufferFull, ByteReader, ByteSink, ByteWriter};
pub use compress::{compress, decompress};
pub use decode::DecodeError;
pub use difference::{FieldDiff, FieldPath};
pub use few::insertion_sort;
pub use fixed::{Fixed, Fixed8, Fixed16, ParseFixedError};
pub use frame::Frame;
pub use hash::{StateHasher, fnv1a_32, fnv1a_64};
pub use ice::IceServer;
pub use input::{Input, OneShot};
pub use micros::Micros;
pub use out_of_range::OutOfRange;
pub use peer::{ParsePeerIdError, PeerId};
pub use quantize::{Quantizer, QuantizerError};
pub use random::{Mulberry32, Prng, Xorshift32};
pub use shape::Shape;
pub use slot::{Slot, SlotSet, SlotSetIter};
pub use state::{Bounded, InRange, State, decode_state, diff, encode_state, state_hash};
pub use varint::{Varint, unzigzag, zigzag};
pub use vec_map::{VecMap, VecSet};

pub use gaggle_derive::{Input, State};

// What derived code calls.
#[doc(hidden)]
pub use state::pod;

/// For `derive(Pod)` on types with `#[state(pod)]`: the version this crate uses.
pub use bytemuck;

#[cfg(target_endian = "big")]
compile_error!("values are copied between memory and wire as they are, which takes a little-endian machine");
