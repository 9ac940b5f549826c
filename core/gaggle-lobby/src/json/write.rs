//! JSON writer: fields go straight into a string.
//!
//! `record.rs` uses it. Absent: trees, pretty printing.

use super::record::Value;

/// Writes one object. Fields appear in the order of the calls.
pub(crate) struct ObjectWriter<'a> {
    out: &'a mut String,
    empty: bool,
}

impl<'a> ObjectWriter<'a> {
    pub(crate) fn new(out: &'a mut String) -> ObjectWriter<'a> {
        out.push('{');
        ObjectWriter { out, empty: true }
    }

    /// Writes a field, unless a missing field means the same.
    pub(crate) fn field<T: Value>(&mut self, name: &'static str, value: &T) {
        if value.is_missing() {
            return;
        }
        self.name(name);
        value.write(self.out);
    }

    /// Writes a string field that needs no escaping.
    pub(crate) fn word(&mut self, name: &'static str, word: &str) {
        self.name(name);
        self.out.push('"');
        self.out.push_str(word);
        self.out.push('"');
    }

    pub(crate) fn end(self) {
        self.out.push('}');
    }

    fn name(&mut self, name: &'static str) {
        if !self.empty {
            self.out.push(',');
        }
        self.empty = false;
        self.out.push('"');
        self.out.push_str(name);
        self.out.push_str("\":");
    }
}

/// Writes a string, escaped where necessary.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for piece in text.split_inclusive(is_special) {
        // Only the last character of a piece can be special.
        let mut plain = piece.chars();
        let Some(last) = plain.next_back().filter(|last| is_special(*last)) else {
            out.push_str(piece);
            continue;
        };
        out.push_str(plain.as_str());
        match last {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            control => {
                out.push_str("\\u00");
                write_hex(u128::from(u32::from(control)), 2, out);
            }
        }
    }
    out.push('"');
}

/// Whether a character cannot stand in a string as it is.
fn is_special(character: char) -> bool {
    character < ' ' || character == '"' || character == '\\'
}

/// Writes a number in decimal.
pub(crate) fn write_u64(mut number: u64, out: &mut String) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    push_ascii(&digits[at..], out);
}

/// Writes the lowest `digits` hexadecimal digits of a number, at most 32.
pub(crate) fn write_hex(number: u128, digits: usize, out: &mut String) {
    let mut text = [0; 32];
    for (at, byte) in number.to_be_bytes().into_iter().enumerate() {
        text[2 * at] = b"0123456789abcdef"[usize::from(byte >> 4)];
        text[2 * at + 1] = b"0123456789abcdef"[usize::from(byte & 0xf)];
    }
    push_ascii(&text[32 - digits..], out);
}

fn push_ascii(digits: &[u8], out: &mut String) {
    out.push_str(str::from_utf8(digits).expect("digits are ASCII"));
}

#[cfg(test)]
mod tests {
    use super::super::read::Raw;
    use super::*;

    #[test]
    fn written_object_reads_back() {
        for text in ["", "plain", "\"\\/\n\r\t\u{0}\u{1f}\u{7f}", "é🪿"] {
            let mut out = String::new();
            write_string(text, &mut out);
            assert_eq!(Raw::parse(&out).unwrap().string().as_deref(), Some(text), "{out}");
        }
        for number in [0, 9, 10, 1_234, u64::MAX] {
            let mut out = String::new();
            write_u64(number, &mut out);
            assert_eq!(out, number.to_string());
        }
        let mut out = String::new();
        write_hex(0xab, 4, &mut out);
        assert_eq!(out, "00ab");
    }
}
