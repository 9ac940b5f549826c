//! What the bytes of a type mean, as one number: by it two builds know that they mean the same.

use std::fmt::{self, Debug, Write};

use crate::{Input, State};

const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;

/// What the bytes of a type mean: names, widths and limits of everything in it, as one number. Two
/// builds in which a type has another shape may be able to read each other's bytes, and would still
/// misunderstand them.
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
    /// The types that are being described, the outermost first: one of them within itself is
    /// described already.
    within: Vec<&'static str>,
}

impl Shape {
    /// The shape of a part of a state.
    pub fn of_state<T: State>() -> u64 {
        Shape::of(T::shape)
    }

    /// The shape of an input.
    pub fn of_input<I: Input>() -> u64 {
        Shape::of(I::shape)
    }

    fn of(describe: fn(&mut Shape)) -> u64 {
        let mut shape = Shape { hash: FNV_START, within: Vec::new() };
        describe(&mut shape);
        shape.hash
    }

    /// A word of the description, such as the name of a field.
    pub fn word(&mut self, word: &str) {
        self.number(word.len() as u64);
        self.put(word.as_bytes());
    }

    /// A number of the description, such as how many elements there are.
    pub fn number(&mut self, number: u64) {
        self.put(&number.to_le_bytes());
    }

    /// The limits of a value.
    pub fn range(&mut self, range: &dyn Debug) {
        write!(self, "{range:?};").expect("a hash takes whatever comes");
    }

    /// A type with parts of its own, by a name that tells it from all others; the name is no part
    /// of its shape. What lies within itself is described once.
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
