//! Functions that derived code calls. Not for use by games. Absent: everything with state.

use gaggle_kit::Micros;

use crate::{Encoding, Field};

pub use crate::rotation::{from_words as rotation_from_words, to_words as rotation_to_words};

/// Duration of a number of milliseconds; `None` is never.
pub const fn millis(millis: Option<u64>) -> Micros {
    match millis {
        Some(millis) => Micros::from_millis(millis),
        None => Micros::MAX,
    }
}

/// Whether a field of this type can be sent without a range.
pub const fn needs_no_range<T: Field>() -> bool {
    T::AXIS.is_some() || matches!(T::ENCODING, Encoding::Opaque | Encoding::Angle { .. })
}

/// Whether a range of this type can do without a precision: numbers with a fraction cannot.
pub const fn needs_no_precision<T: Field>() -> bool {
    !matches!(T::RANGED, Some(Encoding::Continuous))
}
