//! Kinds of replicated objects and their options. Games derive them. Absent: objects, packets.

use gaggle_kit::Micros;

use crate::FieldShape;

/// A kind of replicated object. Implement it by derive.
///
/// ```
/// use gaggle_kit::{Angle, Fixed16};
/// use gaggle_replica::{Field, Kind};
///
/// #[derive(Clone, Copy, PartialEq, Debug, Field)]
/// enum Gear {
///     Idle,
///     Forward,
///     Reverse,
/// }
///
/// #[derive(Clone, PartialEq, Debug, Kind)]
/// #[kind(smoothing = 0.25, snap_distance = 40.0)]
/// struct Boat {
///     #[kind(range = 0.0..=1024.0, precision = 1.0 / 64.0, moved_by = velocity)]
///     position: [Fixed16; 2],
///     #[kind(range = -32.0..=32.0, precision = 1.0 / 16.0)]
///     velocity: [Fixed16; 2],
///     #[kind(angle = 10)]
///     heading: Angle,
///     gear: Gear,
///     #[kind(range = 0..=100)]
///     fuel: u8,
///     #[kind(constant)]
///     paint: u8,
/// }
/// ```
///
/// Attributes of a field:
///
/// - `range = a..=b, precision = p` for `f32` and `Fixed`: its range and the largest step it is
///   sent in. For an array one range, or one for each element in brackets.
/// - `range = a..=b` for integers.
/// - `moved_by = velocity` on a position: the named field is its velocity in units a second.
///   Such positions take the fewest bits.
/// - `angle = bits` on an `Angle`, or on an `f32` in radians.
/// - `rotation = bits` on a quaternion `[f32; 4]` (x, y, z, w).
/// - `constant`: sent once, when the object becomes known.
/// - `step`: shown as received, without interpolation.
///
/// Attributes of the type: `smoothing`, `snap_distance`, `priority`,
/// `interpolation = extrapolated | buffered`, `on_leave = transfer | hold | despawn`,
/// `claim_cooldown_ms`, `idle_release_ms`, `name = "…"`, `crate = path`: see [`KindOptions`].
#[diagnostic::on_unimplemented(message = "`{Self}` is not a replicated kind", note = "derive `Kind` for it")]
pub trait Kind: Sized + 'static {
    /// Name by which peers recognize it.
    const NAME: &'static str;
    /// Its fields, those that change most often first.
    const FIELDS: &'static [FieldShape];
    /// Options of this kind.
    const RULES: KindOptions = KindOptions::DEFAULT;

    /// Writes the words of all fields.
    fn to_words(&self, words: &mut [i32]);

    /// The value these words stand for.
    fn from_words(words: &[i32]) -> Self;

    /// The value to display: continuous fields from `shown`, the others from `words`.
    fn from_interpolated(words: &[i32], shown: &[f64]) -> Self;
}

/// How objects of a kind are replicated and shown. All peers have the same options for a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindOptions {
    /// Weight of its updates against those of other kinds when bandwidth does not suffice.
    pub priority: u16,
    /// When received values are shown.
    pub interpolation: Interpolation,
    /// Fraction of the display error removed per 1/60 s, 0 to 1. 1 shows the received value at
    /// once.
    pub smoothing: f32,
    /// Distance from which an error is removed at once, in units of the first position.
    pub snap_distance: f32,
    /// What happens to an object when its authority leaves.
    pub on_leave: OnLeave,
    /// Time after a claim in which other peers cannot claim the object.
    pub claim_cooldown: Micros,
    /// Time without a change after which its authority releases it. [`Micros::MAX`]: never.
    pub idle_release: Micros,
}

impl KindOptions {
    /// Options of a kind that sets none.
    pub const DEFAULT: KindOptions = KindOptions {
        priority: 1,
        interpolation: Interpolation::Extrapolated,
        smoothing: 0.25,
        snap_distance: f32::INFINITY,
        on_leave: OnLeave::Transfer,
        claim_cooldown: Micros::from_millis(250),
        idle_release: Micros::from_millis(500),
    };
}

impl Default for KindOptions {
    fn default() -> KindOptions {
        KindOptions::DEFAULT
    }
}

/// When received values are shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Interpolation {
    /// The newest value, extrapolated by its velocity to the present. Low delay, and briefly wrong
    /// when an object changes direction.
    Extrapolated,
    /// A few ticks late, between two received values. Never wrong; deletions and remote events
    /// about an object are delayed with its motion. The delay is a setting:
    /// [`playout_ticks_min`](crate::ReplicaConfig::playout_ticks_min).
    Buffered,
}

/// What happens to an object when its authority leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLeave {
    /// The successor takes it.
    Transfer,
    /// It stays as it is until its player returns or
    /// [`reconnect_window`](crate::ReplicaConfig::reconnect_window) has passed; then the successor
    /// takes it.
    Hold,
    /// It is deleted with its authority.
    Despawn,
}
