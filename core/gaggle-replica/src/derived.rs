//! What derived code calls, and nobody else.

use gaggle_kit::Micros;

pub use crate::rotation::{from_words as rotation_from_words, to_words as rotation_to_words};

/// So many milliseconds; none is never.
pub const fn millis(millis: Option<u64>) -> Micros {
    match millis {
        Some(millis) => Micros::from_millis(millis),
        None => Micros::MAX,
    }
}
