//! The kinds a game replicates, in the order it names them, and the fingerprint by which peers know that they name
//! the same.

use std::any::TypeId;

use gaggle_kit::{Micros, fnv1a_64};

use crate::layout::{self, Layout, RECORD_BITS_MAX};
use crate::{FieldShape, Kind, KindRules, Nature};

/// Most kinds a game can have: their number travels as a byte.
pub const KINDS_MAX: usize = 256;

/// What a game replicates. Every peer names the same kinds in the same order.
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
}

/// A kind, without its type.
#[derive(Debug, Clone)]
pub(crate) struct KindEntry {
    pub(crate) name: &'static str,
    pub(crate) rules: KindRules,
    fields: &'static [FieldShape],
    of: TypeId,
}

impl Kinds {
    /// None yet.
    pub const fn new() -> Kinds {
        Kinds { entries: Vec::new() }
    }

    /// These and one more.
    ///
    /// # Panics
    /// If the kind or another of its name is named already, or there are more than [`KINDS_MAX`].
    #[must_use]
    pub fn with<K: Kind>(mut self) -> Kinds {
        const {
            assert!(
                layout::value_bits(K::FIELDS) <= RECORD_BITS_MAX,
                "a value must fit 900 bytes: put what is large into a blob"
            );
            assert!(
                layout::velocities_fit(K::FIELDS),
                "`moved_by` names a field of numbers with as many elements, and both have one precision"
            );
            assert!(layout::jump_count(K::FIELDS) <= 64, "at most 64 fields that do not glide");
        }
        assert!(self.entries.len() < KINDS_MAX, "at most {KINDS_MAX} kinds");
        let twice = |entry: &KindEntry| entry.of == TypeId::of::<K>() || entry.name == K::NAME;
        assert!(!self.entries.iter().any(twice), "the kind `{}` is named twice", K::NAME);
        self.entries.push(KindEntry {
            name: K::NAME,
            rules: K::RULES,
            fields: K::FIELDS,
            of: TypeId::of::<K>(),
        });
        self
    }

    /// The number of a kind.
    pub(crate) fn number_of<K: Kind>(&self) -> Option<usize> {
        self.entries.iter().position(|entry| entry.of == TypeId::of::<K>())
    }

    pub(crate) fn entries(&self) -> &[KindEntry] {
        &self.entries
    }

    /// A number that two peers share if and only if they mean the same by every byte of an update.
    pub fn fingerprint(&self) -> u64 {
        let mut text = Vec::new();
        for entry in &self.entries {
            put(&mut text, entry.name.as_bytes());
            for field in entry.fields {
                put(&mut text, field.name.as_bytes());
                put(&mut text, field.moved_by.unwrap_or_default().as_bytes());
                let (nature, bits) = match field.nature {
                    Nature::Number => (0, 0),
                    Nature::Count => (1, 0),
                    Nature::Turn { bits } => (2, bits),
                    Nature::Rotation { bits } => (3, bits),
                    Nature::Opaque => (4, 0),
                };
                put(&mut text, &[nature, bits as u8, u8::from(field.constant), field.words as u8]);
                for axis in field.axes {
                    put(&mut text, &axis.steps().0.to_le_bytes());
                    put(&mut text, &axis.steps().1.to_le_bytes());
                    put(&mut text, &axis.precision().to_bits().to_le_bytes());
                }
            }
            put(&mut text, &[entry.rules.on_leave as u8]);
        }
        fnv1a_64(&text)
    }
}

/// With the length before it, so that no two lists of texts are the same bytes.
fn put(text: &mut Vec<u8>, part: &[u8]) {
    text.extend_from_slice(&(part.len() as u32).to_le_bytes());
    text.extend_from_slice(part);
}

impl KindEntry {
    pub(crate) fn layout(&self, interval: Micros) -> Layout {
        Layout::new(self.fields, interval)
    }
}
