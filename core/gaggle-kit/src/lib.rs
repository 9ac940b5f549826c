//! The nouns every other crate speaks, and the means to compute the same thing on every machine.
//!
//! Nothing here reads a clock, draws from the system's entropy or allocates behind your back: time
//! and seeds are arguments, buffers are given. Nothing panics on remote bytes, and numbers from
//! anywhere neither panic nor behave differently in debug and release builds.
//!
//! - **Nouns**: [`Frame`], [`Slot`] and [`SlotSet`], [`PeerId`], [`Micros`], [`Input`].
//! - **Numbers**: [`Fixed`] point and [`Angle`] with roots, sines and directions; places and ways
//!   in the [`plane`]; [`Prng`], a generator that lives in the state it decides about
//!   ([`Mulberry32`] and [`Xorshift32`] for games that already use them).
//! - **States**: [`State`] with its derive: saved, sent, hashed ([`StateHasher`]), and explained
//!   when two machines disagree ([`diff`]).
//! - **Bytes**: [`ByteReader`] and [`ByteWriter`]; [`BitReader`] and [`BitWriter`], ranged integers
//!   and the [`Quantizer`] where a byte per field is too much; [`compress`] and [`decompress`] for
//!   whole states; [`DecodeError`] for everything that can be wrong.
//! - **Limits** on what remote peers may do: [`rate_limit`].
//!
//! A game in miniature: state, input, and a step that is the same everywhere.
//!
//! ```
//! use gaggle_kit::{Angle, Fixed16, Frame, Input, Prng, State, decode_state, diff, encode_state, state_hash};
//!
//! #[derive(Clone, Copy, PartialEq, Eq, Default, Input)]
//! struct Pad {
//!     #[input(range = -1..=1)]
//!     turn: i8,
//!     #[input(one_shot)]
//!     flap: bool,
//! }
//!
//! #[derive(Clone, State)]
//! struct Goose {
//!     position: [Fixed16; 2],
//!     heading: Angle,
//!     #[state(range = 0..=100)]
//!     energy: u8,
//! }
//!
//! #[derive(Clone, State)]
//! struct World {
//!     frame: Frame,
//!     random: Prng,
//!     #[state(max = 64)]
//!     geese: Vec<Goose>,
//! }
//!
//! fn step(world: &mut World, pads: &[Pad]) {
//!     world.frame = world.frame.next();
//!     for (goose, pad) in world.geese.iter_mut().zip(pads) {
//!         goose.heading += Angle::from_degrees(3) * i32::from(pad.turn);
//!         if pad.flap && goose.energy > 0 {
//!             goose.energy -= 1;
//!             let speed = Fixed16::lit("1.5");
//!             goose.position[0] += speed * goose.heading.cos();
//!             goose.position[1] += speed * goose.heading.sin();
//!         }
//!         if world.random.chance(1, 600) {
//!             goose.energy = 100;
//!         }
//!     }
//! }
//!
//! let goose = Goose { position: [Fixed16::ZERO; 2], heading: Angle::ZERO, energy: 100 };
//! let mut ours = World { frame: Frame::START, random: Prng::new(7), geese: vec![goose] };
//!
//! // Another machine gets the state as bytes, and the same inputs.
//! let mut theirs: World = decode_state(&encode_state(&ours))?;
//! for frame in 0..600 {
//!     let pads = [Pad { turn: 1, flap: frame % 7 == 0 }];
//!     step(&mut ours, &pads);
//!     step(&mut theirs, &pads);
//! }
//! assert_eq!(state_hash(&ours), state_hash(&theirs));
//!
//! // Had they come apart, the first question would be where.
//! theirs.geese[0].energy += 1;
//! assert_eq!(diff(&ours, &theirs).len(), 1);
//! # Ok::<(), gaggle_kit::DecodeError>(())
//! ```

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

/// For `derive(Pod)` on types with `#[state(pod)]`: the version this crate speaks.
pub use bytemuck;

#[cfg(target_endian = "big")]
compile_error!("values are copied between memory and wire as they are, which takes a little-endian machine");
