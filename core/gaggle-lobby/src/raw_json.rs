//! JSON values that pass through the lobby without being interpreted.
//!
//! Settings and signals are of this type. Absent: their content.

use crate::MessageError;
use crate::json::{Raw, Value, compact, write_string};

/// A JSON value that the lobby does not interpret: settings of a game, signals between peers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RawJson(Box<str>);

impl RawJson {
    /// Checks that the text is one JSON value, and removes white space.
    ///
    /// # Errors
    /// If it is not, or is nested more than 12 levels deep.
    pub fn new(text: &str) -> Result<RawJson, MessageError> {
        compact(Raw::parse(text)?, "value").map(RawJson)
    }

    /// Encodes a string as a JSON value.
    ///
    /// ```
    /// use gaggle_lobby::view::RawJson;
    /// let json = RawJson::string("a \"word\"\n");
    /// assert_eq!(json.as_str(), r#""a \"word\"\n""#);
    /// assert_eq!(json.to_text().as_deref(), Some("a \"word\"\n"));
    /// ```
    pub fn string(text: &str) -> RawJson {
        let mut out = String::with_capacity(text.len() + 2);
        write_string(text, &mut out);
        RawJson(out.into())
    }

    /// The string, if the value is one.
    pub fn to_text(&self) -> Option<String> {
        Raw::parse(&self.0).ok()?.string().map(|text| text.into_owned())
    }

    /// JSON text without white space between its parts.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is an object, as settings must be.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

/// The empty object.
impl Default for RawJson {
    fn default() -> RawJson {
        RawJson("{}".into())
    }
}

/// A missing value is the empty object.
impl Value for RawJson {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<RawJson, MessageError> {
        compact(raw, field).map(RawJson)
    }

    fn blank() -> RawJson {
        RawJson::default()
    }

    fn write(&self, out: &mut String) {
        out.push_str(&self.0);
    }

    fn missing() -> Option<RawJson> {
        Some(RawJson::default())
    }

    fn is_missing(&self) -> bool {
        &*self.0 == "{}"
    }
}
