//! What the protocol reader in Python decodes each vector to, and JSON to compare it with.
//!
//! Tests of crates with vectors call it: they decode the same vector and write its fields down
//! again, so that a mistake of the reader and one of the documents must be made twice.
//! Absent: reading of JSON beyond one line per vector.

use std::fmt::Display;
use std::fs;

const EXPECTED: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tools/protocol-reader/expected.json");

/// Fields of a vector file (`core/gaggle-link/vectors/ack.hex`) as JSON without spaces.
///
/// # Panics
///
/// If the reader knows no such vector.
#[must_use]
pub fn fields_of(vector: &str) -> String {
    let text = fs::read_to_string(EXPECTED).unwrap_or_else(|error| panic!("{EXPECTED}: {error}"));
    let key = format!("\"{vector}\": ");
    let line = text.lines().find_map(|line| line.strip_prefix(&key));
    let line =
        line.unwrap_or_else(|| panic!("{vector} is not in expected.json; run the reader with --write"));
    line.trim_end_matches(',').replace(' ', "")
}

/// Items as a JSON list.
pub fn list<T: Display>(items: impl IntoIterator<Item = T>) -> String {
    let items: Vec<String> = items.into_iter().map(|item| item.to_string()).collect();
    format!("[{}]", items.join(","))
}

/// Bytes as JSON text of hexadecimal digits.
#[must_use]
pub fn hex_text(bytes: &[u8]) -> String {
    let digits: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("\"{digits}\"")
}

/// A value or `null`.
#[must_use]
pub fn or_null<T: Display>(value: Option<T>) -> String {
    value.map_or_else(|| "null".to_string(), |value| value.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_of_known_vector_are_read_without_spaces() {
        let fields = fields_of("core/gaggle-link/vectors/path-answer.hex");
        assert_eq!(fields, list([format!("{:?}", "answer"), 168_496_141.to_string()]));
        assert_eq!((hex_text(&[1, 0xff]), or_null::<u8>(None)), ("\"01ff\"".into(), "null".into()));
    }

    #[test]
    #[should_panic(expected = "core/none.hex is not in expected.json")]
    fn fields_of_unknown_vector_panic() {
        let _ = fields_of("core/none.hex");
    }
}
