//! Names chosen by people: of games and modes, and display names of players.
//!
//! Messages and settings carry them. A display name is shown to other players, in logs and on the
//! operator's page, so characters that could break a line, hide text or change its direction are
//! rejected here. Absent: sessions, rooms.

mod marks;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::MessageError;
use crate::json::{Raw, Value};
use marks::{Stack, is_mark};

/// Name of a game, mode or build: up to 32 of `a-z 0-9 . _ -`, possibly empty.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Label(Box<str>);

impl Label {
    /// Longest label, in bytes.
    pub const LENGTH_MAX: usize = 32;

    /// The label as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the empty label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The text is not a label.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{shown}` cannot be a name; use at most 32 small letters a-z, digits, `.`, `_` and `-`")]
pub struct ParseLabelError {
    shown: String,
}

impl ParseLabelError {
    /// Longer texts are cut off: they are untrusted and shown to other players.
    const SHOWN_MAX: usize = 48;

    fn new(text: &str) -> ParseLabelError {
        let mut escaped = text.escape_default();
        let mut shown: String = escaped.by_ref().take(ParseLabelError::SHOWN_MAX).collect();
        if escaped.next().is_some() {
            shown.push('…');
        }
        ParseLabelError { shown }
    }
}

impl FromStr for Label {
    type Err = ParseLabelError;

    fn from_str(text: &str) -> Result<Label, ParseLabelError> {
        let fits = text.len() <= Label::LENGTH_MAX;
        if fits && text.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'_' | b'-')) {
            Ok(Label(text.into()))
        } else {
            Err(ParseLabelError::new(text))
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A missing label is the empty one.
impl Value for Label {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Label, MessageError> {
        let label = raw.string().and_then(|text| text.parse().ok());
        label.ok_or(MessageError::Invalid { field, expected: "at most 32 of a-z 0-9 . _ -" })
    }

    fn blank() -> Label {
        Label::default()
    }

    fn write(&self, out: &mut String) {
        out.push('"');
        out.push_str(&self.0);
        out.push('"');
    }

    fn missing() -> Option<Label> {
        Some(Label::default())
    }

    fn is_missing(&self) -> bool {
        self.0.is_empty()
    }
}

/// Display name of a player: 1 to 24 visible characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DisplayName(Box<str>);

impl DisplayName {
    /// Longest name, in characters.
    pub const LENGTH_MAX: usize = 24;

    /// The name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// A valid name made of the permitted characters of `text`, if any are left.
    pub fn sanitized(text: &str) -> Option<DisplayName> {
        let mut stack = Stack::default();
        let fits = |character: &char| !is_forbidden(*character) && stack.admits(*character);
        // Bounds the work on untrusted text.
        let seen = text.trim_start_matches(' ').chars().take(16 * DisplayName::LENGTH_MAX);
        let kept: String = seen.filter(fits).take(DisplayName::LENGTH_MAX).collect();
        kept.parse().ok()
    }
}

/// Why a text is not a display name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// No visible character.
    #[error("a name needs at least one visible character")]
    Empty,
    /// More than [`DisplayName::LENGTH_MAX`] characters.
    #[error("a name has at most 24 characters")]
    TooLong,
    /// A character that breaks, hides or reverses text.
    #[error("a name cannot contain U+{:04X}", *.0 as u32)]
    Forbidden(char),
    /// More marks on one letter than its script needs.
    #[error("a name cannot stack so many marks on a letter")]
    TooManyMarks,
}

impl FromStr for DisplayName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<DisplayName, NameError> {
        // Bounds the work on untrusted text: a character has at most four bytes.
        let text = text.trim_matches(' ');
        if text.len() > 4 * DisplayName::LENGTH_MAX || text.chars().count() > DisplayName::LENGTH_MAX {
            return Err(NameError::TooLong);
        }
        if let Some(bad) = text.chars().find(|&c| is_forbidden(c)) {
            return Err(NameError::Forbidden(bad));
        }
        let mut stack = Stack::default();
        if !text.chars().all(|character| stack.admits(character)) {
            return Err(NameError::TooManyMarks);
        }
        if !text.chars().any(|c| c != ' ' && !is_mark(c)) {
            return Err(NameError::Empty);
        }
        Ok(DisplayName(text.into()))
    }
}

impl fmt::Display for DisplayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for DisplayName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl Value for DisplayName {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<DisplayName, MessageError> {
        let name = raw.string().and_then(|text| text.parse().ok());
        name.ok_or(MessageError::Invalid { field, expected: "a name of 1 to 24 visible characters" })
    }

    fn blank() -> DisplayName {
        DisplayName("".into())
    }

    fn write(&self, out: &mut String) {
        crate::json::write_string(&self.0, out);
    }
}

/// Characters that names may not contain: control, line-breaking, direction-changing, invisible,
/// private-use, noncharacters, enclosing marks, and characters as wide as a word (phrases in one
/// character, long dashes, cuneiform, some Tamil and Javanese signs).
fn is_forbidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character,
            '\u{2800}' | '\u{2e3a}' | '\u{2e3b}' | '\u{fdf0}'..='\u{fdff}' | '\u{12000}'..='\u{1254f}'
            | '\u{bf3}'..='\u{bfa}' | '\u{102a}' | '\u{a9c1}'..='\u{a9cd}' | '\u{a9de}' | '\u{a9df}'
            | '\u{11fd5}'..='\u{11fff}'
            | '\u{600}'..='\u{605}' | '\u{6dd}' | '\u{70f}' | '\u{890}' | '\u{891}' | '\u{8e2}'
            | '\u{110bd}' | '\u{110cd}' | '\u{13430}'..='\u{1345f}' | '\u{16fe4}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d159}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}' | '\u{e0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sanitized_text_is_valid_name_or_none() {
        let cleaned = |text: &str| DisplayName::sanitized(text).map(|name| name.to_string());
        assert_eq!(cleaned(" Nia ").as_deref(), Some("Nia"));
        assert_eq!(cleaned("N\u{202e}i\u{0}a\n").as_deref(), Some("Nia"));
        assert_eq!(cleaned("e\u{301}\u{301}\u{301}\u{301}x").as_deref(), Some("e\u{301}\u{301}x"));
        assert_eq!(cleaned(&"goose ".repeat(100_000)).as_deref(), Some("goose goose goose goose"));
        assert_eq!((cleaned(""), cleaned("\u{200b}\u{301} ")), (None, None));
    }

    #[test]
    fn ordinary_names_of_many_scripts_pass() {
        for name in
            ["Nia", "O'Brien 2", "Jürgen", "Łukasz", "Ελένη", "Дарья", "美咲", "محمد", "🪿🎮", "e\u{301}"]
                .into_iter()
                .chain(["ស្ត្រី", "သင်္ဘော", "བསྒྲུབས", "कार्त्स्न्य", "ᄒ\u{1161}\u{11ab}", "ಶ್ರೀಕಾಂತ್"])
                .chain(["กี่", "สมชาย", "مُحَمَّد", "מֹשֶׁה", "अनुष्का", "ज़िंदगी", "கௌரி", "ひ\u{3099}"])
        {
            assert_eq!(name.parse::<DisplayName>().map(|n| n.to_string()), Ok(name.to_string()));
        }
        assert_eq!("  spaced  ".parse::<DisplayName>().unwrap().as_str(), "spaced");
    }

    #[test]
    fn misleading_names_are_rejected() {
        for (name, why) in [
            ("", NameError::Empty),
            ("   ", NameError::Empty),
            ("\u{301}", NameError::Empty),
            ("line\nbreak", NameError::Forbidden('\n')),
            ("bell\u{7}", NameError::Forbidden('\u{7}')),
            ("\u{202e}nimda", NameError::Forbidden('\u{202e}')),
            ("a\u{2066}b\u{2069}", NameError::Forbidden('\u{2066}')),
            ("zero\u{200b}width", NameError::Forbidden('\u{200b}')),
            ("\u{3164}", NameError::Forbidden('\u{3164}')),
            ("tag\u{e0041}", NameError::Forbidden('\u{e0041}')),
            ("a\u{a0}b", NameError::Forbidden('\u{a0}')),
            ("z\u{300}\u{301}\u{302}", NameError::TooManyMarks),
            ("ก\u{e47}\u{e47}\u{e47}", NameError::TooManyMarks),
            ("ا\u{64e}\u{651}\u{670}", NameError::TooManyMarks),
            ("\u{e47}\u{e47}", NameError::Empty),
            ("\u{2800}", NameError::Forbidden('\u{2800}')),
            ("\u{fdfd}", NameError::Forbidden('\u{fdfd}')),
            ("\u{1242b}", NameError::Forbidden('\u{1242b}')),
            ("क\u{941}\u{941}\u{941}\u{941}", NameError::TooManyMarks),
            ("ක\u{dd2}\u{dd2}\u{dd2}\u{dd2}", NameError::TooManyMarks),
            ("᭚\u{1b34}\u{1b34}\u{1b34}\u{1b34}", NameError::TooManyMarks),
            ("ཀ\u{f90}\u{f90}\u{f90}\u{f90}", NameError::TooManyMarks),
            ("ᄀ\u{11a8}\u{11a8}\u{11a8}", NameError::TooManyMarks),
            ("x\u{1e944}\u{1e945}\u{1e946}", NameError::TooManyMarks),
            ("x\u{11134}\u{11134}\u{11134}\u{11134}", NameError::TooManyMarks),
            ("ក្ក្ក្ក្ក្ក", NameError::TooManyMarks),
            ("ಕ್ಕ್ಕ್ಕ್ಕ್ಕ", NameError::TooManyMarks),
            ("\u{1d159}", NameError::Forbidden('\u{1d159}')),
            ("\u{13441}", NameError::Forbidden('\u{13441}')),
            ("\u{605}1234", NameError::Forbidden('\u{605}')),
            ("\u{bf5}", NameError::Forbidden('\u{bf5}')),
            ("\u{a9c5}", NameError::Forbidden('\u{a9c5}')),
            ("\u{102a}", NameError::Forbidden('\u{102a}')),
            ("a name that is far too long", NameError::TooLong),
        ] {
            assert_eq!(name.parse::<DisplayName>(), Err(why), "{name:?}");
        }
    }

    #[test]
    fn labels_are_plain_words() {
        assert_eq!("gander-2.1_b".parse::<Label>().unwrap().as_str(), "gander-2.1_b");
        let long = "x".repeat(33);
        for (bad, shown) in
            [("Gander", "Gander"), ("a b", "a b"), ("ü", r"\u{fc}"), ("a\nb", r"a\nb"), (&long, &long)]
        {
            let error = bad.parse::<Label>().unwrap_err();
            let text = format!(
                "`{shown}` cannot be a name; use at most 32 small letters a-z, digits, `.`, `_` and `-`"
            );
            assert_eq!(error.to_string(), text);
        }
        let hostile = "\u{202e}".repeat(100_000).parse::<Label>().unwrap_err().to_string();
        assert!(hostile.starts_with(r"`\u{202e}\u{202e}") && hostile.len() < 150, "{hostile}");
    }
}
