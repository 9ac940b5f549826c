//! The derives `State`, `Input`, `Kind` and `Field`.
//!
#![doc = include_str!("../README.md")]

mod attributes;
mod fields;
mod input;
mod kind;
mod kit_path;
mod state;

use proc_macro::TokenStream;
use syn::{DeriveInput, parse_macro_input};

/// Implements `State` field by field, for structs and enums.
///
/// An enum is encoded as the number of its variant, in the order of declaration, and the variant's
/// fields. On fields:
///
/// - `#[state(range = 0..=8)]`: `decode` rejects other values. For integers and fixed-point
///   numbers, and arrays, vectors and options of them.
/// - `#[state(max = 64)]`: `decode` rejects a `Vec`, `String`, map or set with more elements.
///   Without it the bytes are the bound: `decode` allocates nothing for missing elements.
/// - `#[state(skip)]`: computed from the rest, such as a cache. It is neither encoded, hashed nor
///   compared; `decode` makes it by `Default`.
///
/// On the type:
///
/// - `#[state(pod)]`: the value is encoded, decoded and hashed as the bytes it is in memory, which
///   is several times faster. Needs `bytemuck::Pod`, which checks that there is no padding and no
///   forbidden bit pattern. The bytes are the same as without, ranges are checked, and differences
///   still go by field.
/// - `#[state(crate = my::path::to::kit)]`: where `gaggle_kit` is, if it is renamed.
///
/// ```
/// use bytemuck::{Pod, Zeroable};
/// use gaggle_kit::{State, decode_state, diff, encode_state};
///
/// #[derive(Clone, Copy, Pod, Zeroable, State)]
/// #[repr(C)]
/// #[state(pod)]
/// struct Egg {
///     position: [i32; 2],
///     #[state(range = 0..=600)]
///     hatches_in: u16,
///     kind: u16,
/// }
///
/// #[derive(Clone, State)]
/// enum Phase {
///     Waiting,
///     Playing { wave: u8 },
/// }
///
/// #[derive(Clone, State)]
/// struct World {
///     phase: Phase,
///     #[state(max = 8)]
///     eggs: Vec<Egg>,
///     #[state(skip)]
///     eggs_by_column: Vec<u8>,
/// }
///
/// let egg = Egg { position: [1, 2], hatches_in: 600, kind: 0 };
/// let phase = Phase::Playing { wave: 1 };
/// let mut ours = World { phase, eggs: vec![egg], eggs_by_column: vec![0] };
/// let bytes = encode_state(&ours);
/// assert_eq!(bytes, [1, 1, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0x58, 0x02, 0, 0]);
///
/// let theirs: World = decode_state(&bytes)?;
/// assert!(theirs.eggs_by_column.is_empty());
/// ours.phase = Phase::Waiting;
/// ours.eggs[0].kind = 3;
/// assert_eq!(diff(&ours, &theirs), ["phase: Waiting vs Playing", "eggs[0].kind: 3 vs 0"]);
///
/// let bytes = [1, 1, 1, 1, 0, 0, 0, 2, 0, 0, 0, 0x59, 0x02, 0, 0];
/// let refusal = decode_state::<World>(&bytes).err().unwrap();
/// assert_eq!(refusal.to_string(), "Egg.hatches_in is 601, but may only be 0 to 600");
/// # Ok::<(), gaggle_kit::DecodeError>(())
/// ```
///
/// Attributes and types without a meaning do not compile:
///
/// ```compile_fail
/// #[derive(Clone, Copy, gaggle_kit::State)]
/// union Either { a: u32, b: i32 }
/// ```
/// ```compile_fail
/// #[derive(Clone, gaggle_kit::State)]
/// struct Rider { #[state(range)] speed: u8 }
/// ```
/// ```compile_fail
/// #[derive(Clone, gaggle_kit::State)]
/// struct Rider { #[state(ranje = 0..=8)] speed: u8 }
/// ```
/// ```compile_fail
/// #[derive(Clone, gaggle_kit::State)]
/// struct Rider { #[state(max = 8)] speed: u8 }
/// ```
/// ```compile_fail
/// #[derive(Clone, gaggle_kit::State)]
/// struct Rider { speed: f32 }
/// ```
/// ```compile_fail
/// #[derive(Clone, gaggle_kit::State)]
/// #[state(pod)]
/// struct Padded { a: u8, b: u32 }
/// ```
/// ```compile_fail
/// #[derive(Clone, gaggle_kit::State)]
/// struct Empty { #[state(skip)] cache: u8 }
/// #[derive(Clone, gaggle_kit::State)]
/// struct World { any_number_in_no_bytes: Vec<Empty> }
/// gaggle_kit::decode_state::<World>(&[]);
/// ```
#[proc_macro_derive(State, attributes(state))]
pub fn derive_state(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    state::expand(&item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `Input` field by field, for structs and enums.
///
/// An enum is written as the number of its variant, the variant's fields, and zeros up to the size
/// of the largest variant. On fields:
///
/// - `#[input(one_shot)]`: a press that counts once, on a `bool` or a set of bits. When two samples
///   share a frame it is kept from either; when one sample fills two frames it is cleared in the
///   second; when it is in two samples that follow each other, the key is still down, and
///   `begun_since` clears it in the second.
/// - `#[input(one_shot = 0b0011)]`: the same for some bits of an integer; the others are held
///   buttons.
/// - `#[input(range = -1..=1)]`: `read` rejects other values.
/// - `#[input(new_player)]`, on a `bool`: set by a room in the first inputs of a player whose slot
///   was another player's. A game then forgets what it kept in that slot.
///
/// `#[input(one_shot)]` on a variant makes that variant win over those that are not, and become the
/// default when repeated. `#[input(crate = my::path::to::kit)]` on the type says where `gaggle_kit`
/// is, if it is renamed.
///
/// ```
/// use gaggle_kit::{DecodeError, Input};
///
/// #[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Input)]
/// struct Pad {
///     #[input(range = -1..=1)]
///     steer: i8,
///     brake: bool,
///     #[input(one_shot)]
///     flap: bool,
/// }
///
/// let mut bytes = [0; Pad::SIZE];
/// let flap = Pad { steer: -1, brake: true, flap: true };
/// flap.write(&mut bytes);
/// assert_eq!(bytes, [0xff, 1, 1]);
/// assert_eq!(Pad::read(&bytes), Ok(flap));
/// let error = DecodeError::OutOfRange { what: "Pad.steer", value: 2, min: -1, max: 1 };
/// assert_eq!(Pad::read(&[2, 0, 0]), Err(error));
///
/// let glide = Pad { flap: false, ..flap };
/// assert_eq!(Pad::merge(flap, glide), flap);
/// assert_eq!(flap.repeat(), glide);
/// assert_eq!((flap.begun_since(glide), flap.begun_since(flap)), (flap, glide));
/// ```
///
/// Attributes and types without a meaning do not compile:
///
/// ```compile_fail
/// #[derive(Clone, Copy, PartialEq, Eq, Default, gaggle_kit::Input)]
/// struct Pad { #[input(one_shot = 3)] flap: bool }
/// ```
/// ```compile_fail
/// #[derive(Clone, Copy, PartialEq, Eq, Default, gaggle_kit::Input)]
/// struct Pad { #[input(one_shot)] name: Option<u8> }
/// ```
/// ```compile_fail
/// #[derive(Clone, Copy, gaggle_kit::Input)]
/// struct NoDefault { flap: bool }
/// ```
#[proc_macro_derive(Input, attributes(input))]
pub fn derive_input(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    input::expand(&item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `Kind`, a replicated object, field by field. `gaggle_replica::Kind` lists the
/// attributes of fields and types.
///
/// ```
/// use gaggle_replica::{Kind, Kinds};
///
/// #[derive(Kind)]
/// #[kind(interpolation = buffered)]
/// struct Ball {
///     #[kind(range = [0.0..=512.0, 0.0..=32.0, 0.0..=512.0], precision = 1.0 / 512.0)]
///     #[kind(moved_by = velocity)]
///     position: [f32; 3],
///     #[kind(range = -64.0..=64.0, precision = 1.0 / 32.0)]
///     velocity: [f32; 3],
///     #[kind(rotation = 9)]
///     rotation: [f32; 4],
/// }
///
/// let mut words = [0; 10];
/// let rotation = [0.0, 0.0, 0.0, 1.0];
/// let ball = Ball { position: [1.0, 2.0, 3.0], velocity: [0.0; 3], rotation };
/// ball.to_words(&mut words);
/// assert_eq!(words[..3], [512, 1024, 1536]);
/// assert_eq!(Ball::from_words(&words).position, ball.position);
/// let kinds = Kinds::new().with::<Ball>();
/// ```
///
/// Attributes and types without a meaning do not compile; an error about a number names the field
/// and what to write:
///
/// ```compile_fail
/// #[derive(gaggle_replica::Kind)]
/// struct NoRange { height: f32 }
/// ```
/// ```compile_fail
/// #[derive(gaggle_replica::Kind)]
/// struct NoPrecision { #[kind(range = 0.0..=10.0)] height: f32 }
/// ```
/// ```compile_fail,E0080
/// type Height = f32;
/// #[derive(gaggle_replica::Kind)]
/// struct NoRange { height: Height }
/// ```
/// ```compile_fail,E0080
/// type Height = f32;
/// #[derive(gaggle_replica::Kind)]
/// struct NoPrecision { #[kind(range = 0..=10)] height: Height }
/// ```
/// ```compile_fail
/// #[derive(gaggle_replica::Kind)]
/// struct TooFine { #[kind(range = 0.0..=1000000.0, precision = 0.001)] height: f32 }
/// gaggle_replica::Kinds::new().with::<TooFine>();
/// ```
/// ```compile_fail
/// #[derive(gaggle_replica::Kind)]
/// struct NoVelocity { #[kind(range = 0.0..=1.0, precision = 0.1, moved_by = speed)] height: f32 }
/// ```
/// ```compile_fail
/// #[derive(gaggle_replica::Kind)]
/// struct TooLarge { map: [u32; 230] }
/// gaggle_replica::Kinds::new().with::<TooLarge>();
/// ```
/// ```compile_fail
/// #[derive(gaggle_replica::Kind)]
/// struct Text { name: String }
/// ```
#[proc_macro_derive(Kind, attributes(kind))]
pub fn derive_kind(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    kind::expand(&item).unwrap_or_else(|error| error.to_compile_error()).into()
}

/// Implements `Field` for an enum without data, so that it can be a field of a replicated kind.
///
/// ```
/// use gaggle_replica::Field;
///
/// #[derive(Clone, Copy, PartialEq, Debug, Field)]
/// enum Gear { Idle, Forward, Reverse }
///
/// let mut words = [0];
/// Gear::Reverse.to_words(&[], &mut words);
/// assert_eq!(words, [2]);
/// assert_eq!(Gear::from_words(&[], &words), Gear::Reverse);
/// ```
///
/// ```compile_fail
/// #[derive(gaggle_replica::Field)]
/// enum Cargo { None, Eggs(u8) }
/// ```
#[proc_macro_derive(Field, attributes(kind))]
pub fn derive_field(item: TokenStream) -> TokenStream {
    let item = parse_macro_input!(item as DeriveInput);
    kind::expand_field(&item).unwrap_or_else(|error| error.to_compile_error()).into()
}
