//! What a kind of object is, and the settings that come with it.

use gaggle_kit::Micros;

use crate::FieldShape;

/// A kind of replicated object. Derive it.
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
/// What is written on a field:
///
/// - `range = a..=b, precision = p` for `f32` and `Fixed`: where it may lie and how finely it is
///   told. For an array one range, or one for each element in brackets.
/// - `range = a..=b` for integers.
/// - `moved_by = velocity` on a position: the named field is its velocity in units a second.
///   Positions that are told this way cost the least.
/// - `angle = bits` on an `Angle`, or on an `f32` in radians.
/// - `rotation = bits` on a quaternion `[f32; 4]` (x, y, z, w).
/// - `constant`: told once, when the object becomes known.
/// - `step`: shown as received, never between two values.
///
/// On the type: `smoothing`, `snap_distance`, `priority`,
/// `interpolation = extrapolated | buffered`, `on_leave = transfer | hold | despawn`,
/// `claim_cooldown_ms`, `idle_release_ms`, `name = "…"`, `crate = path`: see [`KindOptions`].
#[diagnostic::on_unimplemented(message = "`{Self}` is no replicated kind", note = "derive `Kind` for it")]
pub trait Kind: Sized + 'static {
    /// By which peers recognise it.
    const NAME: &'static str;
    /// Its fields, those that change first.
    const FIELDS: &'static [FieldShape];
    /// How objects of this kind are treated.
    const RULES: KindOptions = KindOptions::DEFAULT;

    /// Writes the words of all fields.
    fn to_words(&self, words: &mut [i32]);

    /// The value of these words.
    fn from_words(words: &[i32]) -> Self;

    /// The value to show: gliding fields from `shown`, the others from `words`.
    fn from_interpolated(words: &[i32], shown: &[f64]) -> Self;
}

/// How objects of a kind are treated. Every machine has the same rules for a kind.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct KindOptions {
    /// How much an update of it is worth against those of other kinds when not everything fits.
    pub priority: u16,
    /// When received values are shown.
    pub interpolation: Interpolation,
    /// Which part of an error of what is shown is taken away in a sixtieth of a second. 1 shows the
    /// truth at once.
    pub smoothing: f32,
    /// From which distance on an error is taken away at once, in units of the first position.
    pub snap_distance: f32,
    /// What becomes of it when its holder leaves.
    pub on_leave: OnLeave,
    /// For so long after somebody touched it others cannot.
    pub claim_cooldown: Micros,
    /// After so long without a change whoever holds it lets go. [`Micros::MAX`]: never.
    pub idle_release: Micros,
}

impl KindOptions {
    /// What holds where a kind says nothing.
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
    /// The newest, moved on by its velocity to the present. Quick, and wrong for a moment when
    /// something turns.
    Extrapolated,
    /// In sequence, a few ticks behind, between two received values. Never wrong, and late;
    /// deletions and what is said of an object come as late as its motion. How many ticks is a
    /// setting: [`playout_ticks_min`](crate::ReplicaConfig::playout_ticks_min).
    Buffered,
}

/// What becomes of an object when its holder leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum OnLeave {
    /// The heir takes it.
    Transfer,
    /// It stays as it is until its player is back or the ticket has run out; then the heir takes
    /// it.
    Hold,
    /// It goes with its holder.
    Despawn,
}
