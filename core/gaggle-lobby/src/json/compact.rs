//! Values that pass through the server: white space removed, depth bounded.
//!
//! Settings and signals pass through it before they are embedded in messages and log entries.
//! Absent: meaning of the values.

use super::MessageError;
use super::read::{DEPTH_MAX, Raw, plain_length};

/// Deepest nesting of a value that passes through.
pub(crate) const PASSED_DEPTH_MAX: usize = 12;
/// Levels the server adds around such a value at most: a signal in a list in an entry, settings in
/// an event in a list in a message.
const WRAPPED_DEPTH_MAX: usize = 4;
const _: () = assert!(PASSED_DEPTH_MAX + WRAPPED_DEPTH_MAX <= DEPTH_MAX);

/// Text of a value without white space between its parts.
///
/// # Errors
/// If it is nested too deep.
pub(crate) fn compact(raw: Raw<'_>, field: &'static str) -> Result<Box<str>, MessageError> {
    let text = raw.text();
    let bytes = text.as_bytes();
    // Strings contain no white space between parts, and most such values are one string.
    if bytes.first() == Some(&b'"') {
        return Ok(text.into());
    }
    let broken = MessageError::Invalid { field, expected: "JSON" };
    let (mut out, mut kept, mut at, mut depth) = (String::new(), 0, 0, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at) - 1,
            b'{' | b'[' => {
                depth += 1;
                if depth > PASSED_DEPTH_MAX {
                    return Err(MessageError::Invalid { field, expected: "a value of at most 12 levels" });
                }
            }
            b'}' | b']' => depth -= 1,
            b' ' | b'\t' | b'\n' | b'\r' => {
                out.push_str(text.get(kept..at).ok_or(broken)?);
                kept = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if kept == 0 {
        return Ok(text.into());
    }
    out.push_str(text.get(kept..).ok_or(broken)?);
    Ok(out.into())
}

/// Position after the string that starts at `start`. The string is known to be well-formed.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at += plain_length(&bytes[at..]);
        match bytes[at] {
            b'"' => return at + 1,
            // The byte after a backslash never ends the string.
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_is_removed_outside_strings_only() {
        check("{ \"a b\" :\n\t[ 1 , \"\\\" \\\\\" ] }", r#"{"a b":[1,"\" \\"]}"#);
        check("[\r\n]", "[]");
        check(r#""a \" b""#, r#""a \" b""#);
        check("-1.5e3", "-1.5e3");
        check("{}", "{}");
    }

    #[test]
    fn value_too_deep_to_wrap_is_rejected() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        check(&deep(12), &deep(12));
        let expected = "a value of at most 12 levels";
        for levels in [13, 16] {
            let text = deep(levels);
            let refused = compact(Raw::parse(&text).unwrap(), "settings");
            assert_eq!(refused, Err(MessageError::Invalid { field: "settings", expected }));
        }
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(compact(Raw::parse(text).unwrap(), "data").as_deref(), Ok(expected));
    }
}
