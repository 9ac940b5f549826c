//! Registry of a game's types: kinds of objects, remote events, values and an input in order of
//! registration, and their fingerprint. Games fill it, the session reads it. Absent: objects,
//! peers.

use std::any::TypeId;
use std::fmt;

use gaggle_kit::{DecodeError, Input, Micros, Shape, State, decode_state, fnv1a_64};

use crate::input_queue::INPUT_BYTES_MAX;
use crate::layout::{self, Layout, RECORD_BITS_MAX};
use crate::{Encoding, EventOptions, FieldShape, Kind, KindOptions, ValueWriter};

/// Most kinds of a game: their number is sent as a byte.
pub const KINDS_MAX: usize = 256;

/// Samples of up to this many bytes are decoded to find the shape of a type.
const SHAPE_BYTES: usize = 64;

/// Everything a game replicates. All peers register the same types in the same order.
///
/// ```
/// use gaggle_replica::{Kind, Kinds};
///
/// #[derive(Kind)]
/// struct Duck {
///     #[kind(range = 0.0..=64.0, precision = 0.01)]
///     place: [f32; 2],
/// }
///
/// let kinds = Kinds::new().with::<Duck>();
/// ```
#[derive(Debug, Clone, Default)]
pub struct Kinds {
    entries: Vec<KindEntry>,
    signals: Vec<SignalEntry>,
    values: Vec<ValueEntry>,
    input: Option<InputEntry>,
}

/// Part of a game that two peers must define alike.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum SchemaPart {
    /// Kind of objects of this name.
    Kind(&'static str),
    /// Remote event of this name.
    Event(&'static str),
    /// Value of this name.
    Value(&'static str),
    /// Type of the players' input.
    Input,
    /// Authority policy of the session.
    Authority,
    /// Interval between updates.
    Interval,
    /// Rest of the game, by the fingerprint it gives itself.
    Game,
}

impl fmt::Display for SchemaPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SchemaPart::Kind(name) => write!(f, "the kind `{name}`"),
            SchemaPart::Event(name) => write!(f, "the remote event `{name}`"),
            SchemaPart::Value(name) => write!(f, "the value `{name}`"),
            SchemaPart::Input => f.write_str("inputs"),
            SchemaPart::Authority => f.write_str("the policy"),
            SchemaPart::Interval => f.write_str("the interval"),
            SchemaPart::Game => f.write_str("the game's fingerprint"),
        }
    }
}

/// A registered type of remote events.
#[derive(Debug, Clone)]
pub(crate) struct SignalEntry {
    pub(crate) name: &'static str,
    pub(crate) rules: EventOptions,
    pub(crate) of: TypeId,
    pub(crate) check: Check,
    shape: u64,
}

/// A registered type of values.
#[derive(Debug, Clone)]
pub(crate) struct ValueEntry {
    pub(crate) name: &'static str,
    pub(crate) writer: ValueWriter,
    pub(crate) of: TypeId,
    pub(crate) check: Check,
    shape: u64,
}

/// The registered type of inputs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct InputEntry {
    of: TypeId,
    pub(crate) size: usize,
    pub(crate) check: Check,
    shape: u64,
}

/// Whether bytes decode to a value of a type.
pub(crate) type Check = fn(&[u8]) -> Result<(), DecodeError>;

/// A kind without its Rust type.
#[derive(Debug, Clone)]
pub(crate) struct KindEntry {
    pub(crate) name: &'static str,
    pub(crate) rules: KindOptions,
    fields: &'static [FieldShape],
    of: TypeId,
}

impl Kinds {
    /// A schema without any types.
    pub const fn new() -> Kinds {
        Kinds { entries: Vec::new(), signals: Vec::new(), values: Vec::new(), input: None }
    }

    /// Registers one more kind.
    ///
    /// A value takes at most 900 bytes, so that it fits a packet. Larger contents go into a
    /// [`Blob`](crate::Blob) that the object names; a kind that is too large does not compile:
    ///
    /// ```compile_fail,E0080
    /// # use gaggle_replica::{Kind, Kinds};
    /// #[derive(Kind)]
    /// struct Map {
    ///     words: [u32; 226],
    /// }
    /// let kinds = Kinds::new().with::<Map>();
    /// ```
    ///
    /// # Panics
    /// If the kind or another of its name is registered already, or there are more than
    /// [`KINDS_MAX`].
    #[must_use]
    pub fn with<K: Kind>(mut self) -> Kinds {
        const {
            assert!(
                layout::value_bits(K::FIELDS) <= RECORD_BITS_MAX,
                "a value must fit 900 bytes; put larger contents into a blob"
            );
            assert!(
                layout::velocities_fit(K::FIELDS),
                "`moved_by` names a field of numbers with as many elements, and both have one precision"
            );
            assert!(layout::jump_count(K::FIELDS) <= 64, "at most 64 discrete fields");
        }
        assert!(self.entries.len() < KINDS_MAX, "at most {KINDS_MAX} kinds");
        let twice = |entry: &KindEntry| entry.of == TypeId::of::<K>() || entry.name == K::NAME;
        assert!(!self.entries.iter().any(twice), "the kind `{}` is registered twice", K::NAME);
        self.entries.push(KindEntry {
            name: K::NAME,
            rules: K::RULES,
            fields: K::FIELDS,
            of: TypeId::of::<K>(),
        });
        self
    }

    /// Registers a type of remote events.
    ///
    /// # Panics
    /// If the type or another of its name is registered already, or there are more than 255.
    #[must_use]
    pub fn with_event<T: State + 'static>(mut self, name: &'static str, rules: EventOptions) -> Kinds {
        let twice = |entry: &SignalEntry| entry.of == TypeId::of::<T>() || entry.name == name;
        assert!(!self.signals.iter().any(twice), "the remote event `{name}` is registered twice");
        assert!(self.signals.len() < 255, "at most 255 types of remote events");
        let check = |bytes: &[u8]| decode_state::<T>(bytes).map(drop);
        let shape = Shape::of_state::<T>();
        self.signals.push(SignalEntry { name, rules, of: TypeId::of::<T>(), check, shape });
        self
    }

    /// Registers a type of values, one for every player.
    ///
    /// # Panics
    /// If the type or another of its name is registered already, or there are more than 255.
    #[must_use]
    pub fn with_value<T: State + 'static>(mut self, name: &'static str, writer: ValueWriter) -> Kinds {
        let twice = |entry: &ValueEntry| entry.of == TypeId::of::<T>() || entry.name == name;
        assert!(!self.values.iter().any(twice), "the value `{name}` is registered twice");
        assert!(self.values.len() < 255, "at most 255 types of values");
        let check = |bytes: &[u8]| decode_state::<T>(bytes).map(drop);
        let shape = Shape::of_state::<T>();
        self.values.push(ValueEntry { name, writer, of: TypeId::of::<T>(), check, shape });
        self
    }

    /// Registers the type of the players' input, which is sent to the leader.
    ///
    /// # Panics
    /// If an input is registered already, or it has more than 32 bytes.
    #[must_use]
    pub fn with_input<I: Input>(mut self) -> Kinds {
        assert!(self.input.is_none(), "an input is registered already");
        assert!(I::SIZE <= INPUT_BYTES_MAX, "an input must have at most {INPUT_BYTES_MAX} bytes");
        let check = |bytes: &[u8]| I::read(bytes).map(drop);
        let shape = Shape::of_input::<I>();
        self.input = Some(InputEntry { of: TypeId::of::<I>(), size: I::SIZE, check, shape });
        self
    }

    pub(crate) fn signals(&self) -> &[SignalEntry] {
        &self.signals
    }

    pub(crate) fn values(&self) -> &[ValueEntry] {
        &self.values
    }

    /// Number of a type of remote events.
    pub(crate) fn signal_number<T: 'static>(&self) -> Option<u8> {
        self.signals.iter().position(|entry| entry.of == TypeId::of::<T>()).map(|index| index as u8)
    }

    /// Number of a type of values.
    pub(crate) fn value_number<T: 'static>(&self) -> Option<u8> {
        self.values.iter().position(|entry| entry.of == TypeId::of::<T>()).map(|index| index as u8)
    }

    pub(crate) fn input(&self) -> Option<InputEntry> {
        self.input
    }

    /// Bytes of an input, if it is of this type.
    pub(crate) fn input_size<I: Input>(&self) -> Option<usize> {
        self.input.filter(|entry| entry.of == TypeId::of::<I>()).map(|entry| entry.size)
    }

    /// Number of a kind in order of registration.
    pub(crate) fn number_of<K: Kind>(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.of == TypeId::of::<K>())
    }

    pub(crate) fn entries(&self) -> &[KindEntry] {
        &self.entries
    }

    /// Equal for two peers if and only if they read every byte of an update, a remote event, a
    /// value or an input alike, as far as the types describe themselves: see [`State::shape`].
    pub fn fingerprint(&self) -> u64 {
        let mut text = Vec::new();
        self.parts().iter().for_each(|(_, hash)| put(&mut text, &hash.to_le_bytes()));
        fnv1a_64(&text)
    }

    /// All parts peers must define alike, each with its hash.
    pub(crate) fn parts(&self) -> Vec<(SchemaPart, u64)> {
        let hash = |sort: u8, name: &str, write: &dyn Fn(&mut Vec<u8>)| {
            let mut text = vec![sort];
            put(&mut text, name.as_bytes());
            write(&mut text);
            fnv1a_64(&text)
        };
        let kinds = self
            .entries
            .iter()
            .map(|kind| (SchemaPart::Kind(kind.name), hash(0, kind.name, &|text| kind.describe(text))));
        let signals = self.signals.iter().map(|signal| {
            let describe = |text: &mut Vec<u8>| {
                put(text, &[u8::from(signal.rules.needs_approval)]);
                put_type(text, signal.check, signal.shape);
            };
            (SchemaPart::Event(signal.name), hash(1, signal.name, &describe))
        });
        let values = self.values.iter().map(|value| {
            let describe = |text: &mut Vec<u8>| {
                put(text, &[u8::from(value.writer == ValueWriter::Leader)]);
                put_type(text, value.check, value.shape);
            };
            (SchemaPart::Value(value.name), hash(2, value.name, &describe))
        });
        let input = self.input.iter().map(|input| {
            let describe = |text: &mut Vec<u8>| put_type(text, input.check, input.shape);
            (SchemaPart::Input, hash(3, "", &describe))
        });
        kinds.chain(signals).chain(values).chain(input).collect()
    }
}

/// Writes the length first, so that no two lists of texts give the same bytes.
fn put(text: &mut Vec<u8>, part: &[u8]) {
    text.extend_from_slice(&(part.len() as u32).to_le_bytes());
    text.extend_from_slice(part);
}

/// Writes the shape a type states, and which of a few hundred byte samples it decodes. A type with
/// a handwritten codec states no shape of its parts, but a changed part or range changes what it
/// rejects.
fn put_type(text: &mut Vec<u8>, check: Check, shape: u64) {
    put(text, &shape.to_le_bytes());
    let fill = |pattern: u8, at: usize| match pattern {
        0..=7 => pattern,
        8 => u8::MAX,
        9 => 1 << (at % 8),
        _ => at as u8,
    };
    for pattern in 0..=10 {
        let bytes: [u8; SHAPE_BYTES] = std::array::from_fn(|at| fill(pattern, at));
        let is_taken = |length: usize| u8::from(check(&bytes[..length]).is_ok());
        let taken: Vec<u8> = (0..=SHAPE_BYTES).map(is_taken).collect();
        put(text, &taken);
    }
}

impl KindEntry {
    fn describe(&self, text: &mut Vec<u8>) {
        for field in self.fields {
            put(text, field.name.as_bytes());
            put(text, field.moved_by.unwrap_or_default().as_bytes());
            let (nature, bits) = match field.nature {
                Encoding::Continuous => (0, 0),
                Encoding::Discrete => (1, 0),
                Encoding::Angle { bits } => (2, bits),
                Encoding::Rotation { bits } => (3, bits),
                Encoding::Opaque => (4, 0),
            };
            put(text, &[nature, bits as u8, u8::from(field.constant)]);
            put(text, &(field.words as u64).to_le_bytes());
            put(text, field.means.as_bytes());
            for axis in field.axes {
                put(text, &axis.steps().0.to_le_bytes());
                put(text, &axis.steps().1.to_le_bytes());
                put(text, &axis.precision().to_bits().to_le_bytes());
            }
        }
        put(text, &[self.rules.on_leave as u8]);
    }

    pub(crate) fn layout(&self, interval: Micros) -> Layout {
        Layout::new(self.fields, interval)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Debug, PartialEq, State)]
    struct Bang(u8);

    #[derive(Clone, Debug, PartialEq, State)]
    struct Louder(u8, bool);

    // Encoded to the same four bytes, each valid for every type.
    #[derive(Clone, Debug, PartialEq, State)]
    struct Place {
        x: u16,
        y: u16,
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct Turned {
        y: u16,
        x: u16,
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct Signed {
        x: i16,
        y: i16,
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct Within<T: State> {
        it: T,
    }

    // Limits that none of the sampled values reach.
    #[derive(Clone, Debug, PartialEq, State)]
    struct Low(#[state(range = 0..=300)] u16, #[state(max = 40)] String);

    #[derive(Clone, Debug, PartialEq, State)]
    struct High(#[state(range = 0..=301)] u16, #[state(max = 40)] String);

    #[derive(Clone, Debug, PartialEq, State)]
    struct Long(#[state(range = 0..=300)] u16, #[state(max = 41)] String);

    #[derive(Clone, Debug, PartialEq, State)]
    enum Tree {
        Leaf(u16),
        Fork(Box<Tree>, Box<Tree>),
    }

    #[derive(Clone, Debug, PartialEq, State)]
    enum Bush {
        Leaf(i16),
        Fork(Box<Bush>, Box<Bush>),
    }

    #[derive(Clone, Debug, PartialEq, State)]
    struct Named(String);

    #[derive(Clone, Debug, PartialEq, State)]
    enum Choice {
        One,
        Two,
    }

    #[derive(Clone, Debug, PartialEq, State)]
    enum Wider {
        One,
        Two,
        Three,
    }

    /// All types have the same name, as when a build changes a type and keeps its name.
    #[test]
    fn shape_that_differs_changes_fingerprint() {
        fn both<T: State + 'static>() -> [u64; 2] {
            let kinds = Kinds::new();
            let (signal, value) = (kinds.clone(), kinds);
            [
                signal.with_event::<T>("it", EventOptions::DIRECT).fingerprint(),
                value.with_value::<T>("it", ValueWriter::Leader).fingerprint(),
            ]
        }
        let all = [
            both::<Place>(),
            both::<Turned>(),
            both::<Signed>(),
            both::<i32>(),
            both::<Within<Place>>(),
            both::<Within<Signed>>(),
            both::<Within<Within<Place>>>(),
            both::<Within<Within<Signed>>>(),
            both::<Low>(),
            both::<High>(),
            both::<Long>(),
            both::<Tree>(),
            both::<Bush>(),
            both::<Bang>(),
            both::<Louder>(),
            both::<Named>(),
            both::<Choice>(),
            both::<Wider>(),
            both::<u32>(),
            both::<Option<u32>>(),
            both::<Vec<u16>>(),
            both::<Vec<u32>>(),
        ];
        let mut apart: Vec<u64> = all.into_iter().flatten().collect();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), 2 * all.len());
        assert_eq!(both::<Louder>(), both::<Louder>());
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Input)]
    struct Pad {
        x: i8,
        y: i8,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Input)]
    struct Twisted {
        y: i8,
        x: i8,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Input)]
    struct Unsigned {
        x: u8,
        y: u8,
    }

    #[test]
    fn input_that_differs_changes_fingerprint() {
        let kinds = [
            Kinds::new(),
            Kinds::new().with_input::<Pad>(),
            Kinds::new().with_input::<Twisted>(),
            Kinds::new().with_input::<Unsigned>(),
            Kinds::new().with_input::<[i8; 2]>(),
            Kinds::new().with_input::<(i8, i8)>(),
            Kinds::new().with_input::<u16>(),
        ];
        let mut apart = kinds.each_ref().map(Kinds::fingerprint).to_vec();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), kinds.len());
    }

    #[derive(crate::Field)]
    enum Gear {
        Forward,
        Reverse,
    }

    #[derive(crate::Field)]
    enum Raeg {
        Reverse,
        Forward,
    }

    /// A kind `boat` with one field `it`.
    macro_rules! boats {
        ($($name:ident { $(#[$range:meta])? $of:ty })*) => {$(
            #[derive(Kind)]
            #[kind(name = "boat")]
            struct $name {
                $(#[$range])?
                it: $of,
            }
        )*};
    }

    boats! {
        Geared { Gear }
        Backwards { Raeg }
        Switched { bool }
        Byte { u8 }
        Short { i16 }
        Word { u32 }
        SignedWord { i32 }
        Wide { u64 }
        Pointer { crate::ObjectId }
        Loose { Option<crate::ObjectId> }
        Two { [u32; 2] }
        Few { #[kind(range = 0..=9)] u8 }
        Nine { #[kind(range = 0..=9)] u32 }
    }

    #[test]
    fn field_that_differs_changes_fingerprint() {
        fn of<K: Kind>() -> u64 {
            Kinds::new().with::<K>().fingerprint()
        }
        let all = [
            of::<Geared>(),
            of::<Backwards>(),
            of::<Switched>(),
            of::<Byte>(),
            of::<Short>(),
            of::<Word>(),
            of::<SignedWord>(),
            of::<Wide>(),
            of::<Pointer>(),
            of::<Loose>(),
            of::<Two>(),
            of::<Few>(),
        ];
        let mut apart = all.to_vec();
        apart.sort_unstable();
        apart.dedup();
        assert_eq!(apart.len(), all.len());
        assert_eq!(of::<Few>(), of::<Nine>(), "the container of ten numbers does not matter");
    }
}
