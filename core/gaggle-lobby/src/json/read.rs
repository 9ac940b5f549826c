//! JSON reader. A [`Raw`] is a slice of text known to be one well-formed value, so reading its
//! parts cannot fail on syntax.
//!
//! `record.rs` uses it. Absent: meaning of fields.

use std::borrow::Cow;
use std::cell::Cell;

use super::MessageError;
use super::record::Value;

/// Deepest nesting: the scanner recurses, and no message needs more.
pub(super) const DEPTH_MAX: usize = 16;
/// Most fields of one object, with reserve for later versions.
const FIELDS_MAX: usize = 32;

/// One well-formed JSON value as it stands in the text, without surrounding white space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Raw<'a>(&'a str);

impl<'a> Raw<'a> {
    /// Checks that the text is one JSON value and nothing else.
    pub(crate) fn parse(text: &'a str) -> Result<Raw<'a>, MessageError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_space();
        let value = scanner.value(0)?;
        scanner.skip_space();
        if scanner.at < text.len() {
            return Err(scanner.wrong("the end of the text"));
        }
        Ok(value)
    }

    /// The value as JSON text.
    pub(crate) fn text(self) -> &'a str {
        self.0
    }

    pub(crate) fn is_null(self) -> bool {
        self.0 == "null"
    }

    pub(crate) fn is_object(self) -> bool {
        self.0.starts_with('{')
    }

    pub(crate) fn bool(self) -> Option<bool> {
        match self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// A whole number without sign, fraction or exponent.
    pub(crate) fn u64(self) -> Option<u64> {
        self.0.parse().ok()
    }

    /// A whole number without fraction or exponent.
    pub(crate) fn i64(self) -> Option<i64> {
        self.0.parse().ok()
    }

    /// The string with escapes resolved; borrowed if there are none.
    pub(crate) fn string(self) -> Option<Cow<'a, str>> {
        let inner = self.quoted()?;
        if !inner.contains('\\') {
            return Some(Cow::Borrowed(inner));
        }
        unescape(inner).map(Cow::Owned)
    }

    /// What is between the quotes of a string, escapes included.
    fn quoted(self) -> Option<&'a str> {
        self.0.strip_prefix('"')?.strip_suffix('"')
    }

    /// The fields, if it is an object within [`FIELDS_MAX`] and without duplicates.
    pub(crate) fn object(self, field: &'static str) -> Result<Object<'a>, MessageError> {
        if !self.is_object() {
            return Err(MessageError::Invalid { field, expected: "an object" });
        }
        let mut object = Object::empty();
        object.scan(&mut Scanner::new(self.0))?;
        Ok(object)
    }

    /// The items, if it is an array.
    pub(crate) fn items(self) -> Option<Items<'a>> {
        if !self.0.starts_with('[') {
            return None;
        }
        let mut scanner = Scanner::new(self.0);
        scanner.at = 1;
        Some(Items { scanner })
    }
}

/// The items of an array.
pub(crate) struct Items<'a> {
    scanner: Scanner<'a>,
}

impl<'a> Iterator for Items<'a> {
    type Item = Raw<'a>;

    fn next(&mut self) -> Option<Raw<'a>> {
        self.scanner.skip_space();
        if matches!(self.scanner.peek(), Some(b',')) {
            self.scanner.at += 1;
            self.scanner.skip_space();
        }
        if matches!(self.scanner.peek(), Some(b']')) {
            return None;
        }
        // The whole array was checked before, so this does not fail.
        self.scanner.value(0).ok()
    }
}

/// Fields of an object, as names and raw values.
#[derive(Debug)]
pub(crate) struct Object<'a> {
    fields: [(&'a str, Raw<'a>); FIELDS_MAX],
    count: usize,
    /// First error found in a field.
    error: Cell<Option<MessageError>>,
}

impl<'a> Object<'a> {
    /// An object to be filled by [`Object::fill`]: it is large, and moving it takes as long as
    /// parsing most messages.
    pub(crate) fn empty() -> Object<'a> {
        Object { fields: [("", Raw("")); FIELDS_MAX], count: 0, error: Cell::new(None) }
    }

    /// Parses the text as one JSON object and stores its fields.
    pub(crate) fn fill(&mut self, text: &'a str) -> Result<(), MessageError> {
        let mut scanner = Scanner::new(text);
        scanner.skip_space();
        if scanner.peek() != Some(b'{') {
            return Err(scanner.wrong("an object"));
        }
        self.scan(&mut scanner)?;
        scanner.skip_space();
        if scanner.at < text.len() {
            return Err(scanner.wrong("the end of the text"));
        }
        Ok(())
    }

    /// The value of a field; `null` counts as missing.
    pub(crate) fn get(&self, name: &str) -> Option<Raw<'a>> {
        let (_, value) = self.fields[..self.count].iter().find(|(known, _)| *known == name)?;
        Some(*value).filter(|value| !value.is_null())
    }

    /// Reads a field. On a wrong type it returns a placeholder and stores the error for
    /// [`Object::finish`]. An optional field has an optional type.
    pub(crate) fn read<T: Value>(&self, field: &'static str) -> T {
        let value = match self.get(field) {
            Some(raw) => T::read(raw, field),
            None => T::missing().ok_or(MessageError::Missing { field }),
        };
        value.unwrap_or_else(|error| {
            self.fail(error);
            T::blank()
        })
    }

    /// The string of a required field, borrowed if possible; empty on error, which
    /// [`Object::finish`] reports.
    pub(crate) fn word(&self, field: &'static str) -> Cow<'a, str> {
        let word = match self.get(field) {
            Some(raw) => raw.string().ok_or(MessageError::Invalid { field, expected: "a string" }),
            None => Err(MessageError::Missing { field }),
        };
        word.unwrap_or_else(|error| {
            self.fail(error);
            Cow::Borrowed("")
        })
    }

    /// Stores an error, unless there is one already.
    pub(crate) fn fail(&self, error: MessageError) {
        self.error.set(self.error.get().or(Some(error)));
    }

    /// The record, or the first error of its fields.
    pub(crate) fn finish<T>(&self, record: T) -> Result<T, MessageError> {
        match self.error.get() {
            Some(error) => Err(error),
            None => Ok(record),
        }
    }

    fn scan(&mut self, scanner: &mut Scanner<'a>) -> Result<(), MessageError> {
        let object = self;
        scanner.fields(0, |scanner, key, value| {
            let key = key.quoted().ok_or(scanner.wrong("a name"))?;
            // An escaped name such as `\u0074ype` serves only to be read differently by two
            // parsers.
            if key.contains('\\') {
                return Err(scanner.wrong("names without escapes"));
            }
            if object.count == FIELDS_MAX {
                return Err(scanner.wrong("at most 32 fields"));
            }
            if object.fields[..object.count].iter().any(|(known, _)| *known == key) {
                return Err(scanner.wrong("each field once"));
            }
            object.fields[object.count] = (key, value);
            object.count += 1;
            Ok(())
        })
    }
}

/// Finds where values end, checking their syntax.
struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Scanner<'a> {
    fn new(text: &'a str) -> Scanner<'a> {
        Scanner { text, at: 0 }
    }

    fn wrong(&self, expected: &'static str) -> MessageError {
        MessageError::NotJson { expected, at: self.at }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn skip_space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, expected: &'static str) -> Result<(), MessageError> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(expected));
        }
        self.at += 1;
        Ok(())
    }

    fn value(&mut self, depth: usize) -> Result<Raw<'a>, MessageError> {
        if depth > DEPTH_MAX {
            return Err(self.wrong("at most 16 levels"));
        }
        let start = self.at;
        match self.peek() {
            Some(b'{') => self.fields(depth, |_, _, _| Ok(()))?,
            Some(b'[') => self.array(depth)?,
            Some(b'"') => self.string()?,
            Some(b't') => self.word("true")?,
            Some(b'f') => self.word("false")?,
            Some(b'n') => self.word("null")?,
            Some(b'-' | b'0'..=b'9') => self.number()?,
            _ => return Err(self.wrong("a value")),
        }
        self.raw_from(start)
    }

    /// The text from a position up to here. The scanner stops between characters only; if it did
    /// not, the text would be rejected.
    fn raw_from(&self, start: usize) -> Result<Raw<'a>, MessageError> {
        self.text.get(start..self.at).map(Raw).ok_or(self.wrong("whole characters"))
    }

    fn fields(
        &mut self,
        depth: usize,
        mut found: impl FnMut(&Scanner<'a>, Raw<'a>, Raw<'a>) -> Result<(), MessageError>,
    ) -> Result<(), MessageError> {
        self.expect(b'{', "an object")?;
        self.skip_space();
        if self.peek() == Some(b'}') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_space();
            let start = self.at;
            self.string()?;
            let key = self.raw_from(start)?;
            self.skip_space();
            self.expect(b':', "a colon")?;
            self.skip_space();
            let value = self.value(depth + 1)?;
            found(self, key, value)?;
            self.skip_space();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            return self.expect(b'}', "a comma or the end of the object");
        }
    }

    fn array(&mut self, depth: usize) -> Result<(), MessageError> {
        self.expect(b'[', "an array")?;
        self.skip_space();
        if self.peek() == Some(b']') {
            self.at += 1;
            return Ok(());
        }
        loop {
            self.skip_space();
            self.value(depth + 1)?;
            self.skip_space();
            if self.peek() == Some(b',') {
                self.at += 1;
                continue;
            }
            return self.expect(b']', "a comma or the end of the array");
        }
    }

    fn string(&mut self) -> Result<(), MessageError> {
        self.expect(b'"', "a string")?;
        loop {
            self.at += plain_length(&self.text.as_bytes()[self.at..]);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.wrong("no bare control character")),
                None => return Err(self.wrong("the end of the string")),
            }
        }
        self.at += 1;
        Ok(())
    }

    fn escape(&mut self) -> Result<(), MessageError> {
        let rest = &self.text.as_bytes()[self.at + 1..];
        self.at += match rest {
            [b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
            [b'u', digits @ ..] if digits.iter().take(4).filter(|d| d.is_ascii_hexdigit()).count() == 4 => 6,
            _ => return Err(self.wrong("an escape sequence")),
        };
        Ok(())
    }

    fn word(&mut self, word: &'static str) -> Result<(), MessageError> {
        if !self.text.as_bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.wrong(word));
        }
        self.at += word.len();
        Ok(())
    }

    fn number(&mut self) -> Result<(), MessageError> {
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits()?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits()?;
        }
        Ok(())
    }

    fn digits(&mut self) -> Result<(), MessageError> {
        let start = self.at;
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        if self.at == start { Err(self.wrong("a digit")) } else { Ok(()) }
    }
}

/// Number of bytes from here that need no unescaping. Most traffic is the inside of strings, so
/// this works on chunks that compilers vectorize.
pub(super) fn plain_length(bytes: &[u8]) -> usize {
    let is_special = |byte: u8| byte < 0x20 || byte == b'"' || byte == b'\\';
    let (blocks, _) = bytes.as_chunks::<64>();
    let has_special = |block: &[u8; 64]| block.iter().fold(false, |found, byte| found | is_special(*byte));
    let plain = 64 * blocks.iter().take_while(|block| !has_special(block)).count();
    plain + bytes[plain..].iter().take_while(|byte| !is_special(**byte)).count()
}

/// Resolves the escapes of a checked string; none if it contains half a surrogate pair.
fn unescape(inner: &str) -> Option<String> {
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        out.push_str(plain);
        let mut letters = escape.chars();
        let kind = letters.next()?;
        rest = letters.as_str();
        out.push(match kind {
            'u' => {
                let (character, left) = unescape_unicode(rest)?;
                rest = left;
                character
            }
            'b' => '\u{8}',
            'f' => '\u{c}',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            other => other,
        });
    }
    out.push_str(rest);
    Some(out)
}

/// Reads the digits after `\u`, and the second half of a surrogate pair if the first is one.
fn unescape_unicode(text: &str) -> Option<(char, &str)> {
    let (first, rest) = unit(text)?;
    if !(0xd800..0xe000).contains(&first) {
        return Some((char::from_u32(first)?, rest));
    }
    let (second, rest) = unit(rest.strip_prefix("\\u")?)?;
    if first >= 0xdc00 || !(0xdc00..0xe000).contains(&second) {
        return None;
    }
    let point = 0x1_0000 + ((first - 0xd800) << 10) + (second - 0xdc00);
    Some((char::from_u32(point)?, rest))
}

/// Reads four hexadecimal digits; returns what follows them.
fn unit(text: &str) -> Option<(u32, &str)> {
    let (digits, rest) = text.split_at_checked(4)?;
    Some((u32::from_str_radix(digits, 16).ok()?, rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn well_formed_values_are_found_whole() {
        for text in
            ["null", "true", "-0.5e+10", "\"\\u00e9\\n\"", "[]", "[1, [2,{}]]", "{\"a\":{\"b\":[]}}", "0"]
        {
            assert_eq!(Raw::parse(&format!(" {text}\n")), Ok(Raw(text)), "{text}");
        }
    }

    #[test]
    fn malformed_text_names_position() {
        check("", "a value", 0);
        check("{", "a string", 1);
        check("{\"a\" 1}", "a colon", 5);
        check("{\"a\":1,}", "a string", 7);
        check("[1 2]", "a comma or the end of the array", 3);
        check("01", "the end of the text", 1);
        check("1.", "a digit", 2);
        check("\"a\nb\"", "no bare control character", 2);
        check("\"\\x\"", "an escape sequence", 1);
        check("\"\\u12g4\"", "an escape sequence", 1);
        check("\"open", "the end of the string", 5);
        check("truth", "true", 0);
        check("1 1", "the end of the text", 2);
    }

    #[test]
    fn deep_nesting_is_rejected_before_stack_overflow() {
        let deep = "[".repeat(100_000);
        check(&deep, "at most 16 levels", 17);
        let fine = format!("{}{}", "[".repeat(16), "]".repeat(16));
        assert!(Raw::parse(&fine).is_ok());
    }

    #[test]
    fn strings_resolve_escapes_and_reject_lone_surrogates() {
        let read = |text| Raw::parse(text).unwrap().string().map(Cow::into_owned);
        assert_eq!(read(r#""plain""#), Some("plain".into()));
        assert_eq!(read(r#""a\"\\\/\b\f\n\r\t""#), Some("a\"\\/\u{8}\u{c}\n\r\t".into()));
        assert_eq!(read(r#""\u00e9\ud83e\udebf""#), Some("é🪿".into()));
        for half in [r#""\ud83e""#, r#""\udebf""#, r#""\ud83e\u0041""#, r#""\ud83ex""#] {
            assert_eq!(read(half), None, "{half}");
        }
    }

    #[test]
    fn object_with_duplicate_or_excess_fields_is_rejected() {
        assert!(Object::empty().fill(r#"{"a":1,"a":2}"#).is_err());
        assert!(Object::empty().fill(r#"{"\u0061":2}"#).is_err());
        let many: Vec<String> = (0..33).map(|n| format!("\"f{n}\":{n}")).collect();
        assert!(Object::empty().fill(&format!("{{{}}}", many.join(","))).is_err());
        assert!(Object::empty().fill(&format!("{{{}}}", many[1..].join(","))).is_ok());
    }

    #[test]
    fn string_of_every_length_ends_at_its_quote() {
        for length in 0..40 {
            for special in ["\"", "\\", "\n", "\u{1f}", ""] {
                let plain: String = "aé~ \u{7f}🪿z".chars().cycle().take(length).collect();
                let text = format!("{plain}{special}aaaaaaaaaaaaaaaa");
                let expected = if special.is_empty() { text.len() } else { plain.len() };
                assert_eq!(plain_length(text.as_bytes()), expected, "{text:?}");
            }
        }
    }

    #[test]
    fn array_yields_its_items() {
        let items: Vec<&str> =
            Raw::parse("[ 1,{\"a\":[2]} , \"]\"]").unwrap().items().unwrap().map(Raw::text).collect();
        assert_eq!(items, ["1", "{\"a\":[2]}", "\"]\""]);
        assert_eq!(Raw::parse("[]").unwrap().items().unwrap().count(), 0);
    }

    fn check(text: &str, expected: &'static str, at: usize) {
        assert_eq!(Raw::parse(text), Err(MessageError::NotJson { expected, at }), "{text:.20}");
    }
}
