//! Differences between two states that should be equal, by field names.
//!
//! [`State::diff`](crate::State::diff) reports them for desync diagnostics. Absent: which states
//! are compared.

use std::fmt::{self, Debug, Display, Write};

/// One value that differs, passed to the callback of [`State::diff`](crate::State::diff).
///
/// ```
/// use gaggle_kit::FieldDiff;
/// let difference = FieldDiff { path: "riders[2].speed", left: &3, right: &4 };
/// assert_eq!(difference.to_string(), "riders[2].speed: 3 vs 4");
/// ```
#[derive(Clone, Copy)]
pub struct FieldDiff<'a> {
    /// Path of the value, such as `riders[2].speed`. Empty if the state is a single value.
    pub path: &'a str,
    /// Value of the left state.
    pub left: &'a dyn Display,
    /// Value of the right state.
    pub right: &'a dyn Display,
}

impl Display for FieldDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FieldDiff { path, left, right } = self;
        if path.is_empty() { write!(f, "{left} vs {right}") } else { write!(f, "{path}: {left} vs {right}") }
    }
}

impl Debug for FieldDiff<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// Path from the whole state to the value being compared.
///
/// ```
/// use gaggle_kit::FieldPath;
/// let mut path = FieldPath::new();
/// path.field("riders", |path| {
///     path.index(2, |path| {
///         path.field("speed", |path| assert_eq!(path.as_str(), "riders[2].speed"));
///     });
/// });
/// assert_eq!(path.as_str(), "");
/// ```
#[derive(Debug, Clone, Default)]
pub struct FieldPath {
    text: String,
}

impl FieldPath {
    /// Path of the whole state.
    pub const fn new() -> FieldPath {
        FieldPath { text: String::new() }
    }

    /// The path as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Appends a field name while `inside` runs.
    pub fn field(&mut self, name: &str, inside: impl FnOnce(&mut FieldPath)) {
        let dot = if self.text.is_empty() { "" } else { "." };
        self.down(format_args!("{dot}{name}"), inside);
    }

    /// Appends an index while `inside` runs.
    pub fn index(&mut self, index: usize, inside: impl FnOnce(&mut FieldPath)) {
        self.down(format_args!("[{index}]"), inside);
    }

    /// Appends a map key while `inside` runs.
    pub fn key(&mut self, key: &impl Debug, inside: impl FnOnce(&mut FieldPath)) {
        self.down(format_args!("[{key:?}]"), inside);
    }

    fn down(&mut self, step: fmt::Arguments<'_>, inside: impl FnOnce(&mut FieldPath)) {
        let here = self.text.len();
        self.text.write_fmt(step).expect("writing to a String cannot fail");
        inside(self);
        self.text.truncate(here);
    }
}
