//! Values that pass through: kept without white space and not too deep, so that they can stand
//! wherever the server puts them. A log of lines, an entry inside an entry and a message of events
//! wrap them in levels of their own.

use super::read::{DEPTH_MAX, Raw, plain_length};
use super::{MessageError, part};

/// Levels a value that passes through may have.
pub(crate) const PASSED_DEPTH_MAX: usize = 12;
/// Levels that the server itself puts around such a value, at most: a mail in a list in an entry,
/// settings in an event in a list in a message.
const WRAPPED_DEPTH_MAX: usize = 4;
const _: () = assert!(PASSED_DEPTH_MAX + WRAPPED_DEPTH_MAX <= DEPTH_MAX);

/// The text of a value, without the white space between its parts.
///
/// # Errors
/// If it has too many levels.
pub(crate) fn compact(raw: Raw<'_>, field: &'static str) -> Result<Box<str>, MessageError> {
    let text = raw.text();
    let bytes = text.as_bytes();
    // Nothing in a string is between parts, and most of what passes through is one.
    if bytes.first() == Some(&b'"') {
        return Ok(text.into());
    }
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
                out.push_str(part(text, kept..at));
                kept = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if kept == 0 {
        return Ok(text.into());
    }
    out.push_str(part(text, kept..));
    Ok(out.into())
}

/// Where a string that begins here is over. It is known to be well-formed.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    loop {
        at += plain_length(&bytes[at..]);
        match bytes[at] {
            b'"' => return at + 1,
            // Whatever is escaped, the byte after the backslash does not end the string.
            _ => at += 2,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_between_parts_is_left_out_and_in_strings_it_stays() {
        check("{ \"a b\" :\n\t[ 1 , \"\\\" \\\\\" ] }", r#"{"a b":[1,"\" \\"]}"#);
        check("[\r\n]", "[]");
        check(r#""a \" b""#, r#""a \" b""#);
        check("-1.5e3", "-1.5e3");
        check("{}", "{}");
    }

    #[test]
    fn what_could_not_be_wrapped_is_refused() {
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
