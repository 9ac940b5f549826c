//! Fingerprint of a type's encoding, by which two builds know that they agree on its meaning.
//!
//! `State` and `Input` describe themselves to it. Absent: values.

use std::fmt::{self, Debug, Write};

use crate::{Input, State};

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// Fingerprint of a type's encoding: names, widths and limits of all its parts. Builds with
/// different shapes may be able to decode each other's bytes and would still misinterpret them.
///
/// ```
/// use gaggle_kit::{Shape, State};
///
/// #[derive(Clone, State)]
/// struct Splash {
///     x: u16,
///     y: u16,
/// }
///
/// #[derive(Clone, State)]
/// struct Turned {
///     y: u16,
///     x: u16,
/// }
///
/// assert_ne!(Shape::of_state::<Splash>(), Shape::of_state::<Turned>());
/// ```
#[derive(Debug, Clone)]
pub struct Shape {
    hash: u64,
    /// Types being described, the outermost first, so that a recursive type is described once.
    within: Vec<&'static str>,
}

impl Shape {
    /// Shape of a state or a part of one.
    pub fn of_state<T: State>() -> u64 {
        Shape::of(T::shape)
    }

    /// Shape of an input.
    pub fn of_input<I: Input>() -> u64 {
        Shape::of(I::shape)
    }

    fn of(describe: fn(&mut Shape)) -> u64 {
        let mut shape = Shape { hash: FNV_START, within: Vec::new() };
        describe(&mut shape);
        shape.hash
    }

    /// Adds a word, such as the name of a field.
    pub fn word(&mut self, word: &str) {
        self.number(word.len() as u64);
        self.put(word.as_bytes());
    }

    /// Adds a number, such as a count of elements.
    pub fn number(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }

    /// Adds the limits of a value.
    pub fn range(&mut self, range: &dyn Debug) {
        write!(self, "{range:?};").expect("writing to a hash cannot fail");
    }

    /// Adds a type with parts of its own, under a unique name that is not part of the shape. A type
    /// within itself is described once.
    pub fn within(&mut self, name: &'static str, describe: fn(&mut Shape)) {
        match self.within.iter().position(|outer| *outer == name) {
            Some(outer) => self.number(outer as u64),
            None => {
                self.within.push(name);
                describe(self);
                self.within.pop();
            }
        }
    }

    fn put(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.hash = (self.hash ^ u64::from(*byte)).wrapping_mul(FNV_PRIME);
        }
    }
}

impl Write for Shape {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes());
        Ok(())
    }
}
