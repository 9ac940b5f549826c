//! Words people chose: names of games and modes, and the names players are shown by.
//!
//! A player's name appears on other players' screens, in logs and on the operator's page, so what could
//! break a line, hide or turn text around is refused here, once.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::MessageError;
use crate::json::{Raw, Value};

/// The name of a game, mode or build: up to 32 of `a-z 0-9 . _ -`, possibly none.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Label(Box<str>);

impl Label {
    /// Longest label, in bytes.
    pub const LENGTH_MAX: usize = 32;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether it is the empty label.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// The text is no label.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{shown}` cannot be a name: at most 32 small letters a-z, digits, `.`, `_` and `-`")]
pub struct ParseLabelError {
    shown: String,
}

impl ParseLabelError {
    /// Longer texts are cut off: they may come from anybody, and be shown to somebody else.
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

/// A label that is not given is the empty one.
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

/// The name a player is shown by: 1 to 24 visible characters.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DisplayName(Box<str>);

impl DisplayName {
    /// Longest name, in characters.
    pub const LENGTH_MAX: usize = 24;

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What of a text can be a name, if anything: the rest is left out.
    pub fn sanitized(text: &str) -> Option<DisplayName> {
        let mut marks = 0;
        let fits = |character: &char| {
            if is_forbidden(*character) {
                return false;
            }
            let most = marks_max(*character);
            marks = if most > 0 { marks + 1 } else { 0 };
            marks <= most
        };
        // Bounded before it is looked at.
        let seen = text.trim_start_matches(' ').chars().take(16 * DisplayName::LENGTH_MAX);
        let kept: String = seen.filter(fits).take(DisplayName::LENGTH_MAX).collect();
        kept.parse().ok()
    }
}

/// Why a text cannot be a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum NameError {
    /// Nothing, or nothing that can be seen.
    #[error("a name needs at least one visible character")]
    Empty,
    /// More than [`DisplayName::LENGTH_MAX`] characters.
    #[error("a name has at most 24 characters")]
    TooLong,
    /// A character that breaks, hides or turns text.
    #[error("a name cannot contain U+{:04X}", *.0 as u32)]
    Forbidden(char),
    /// More marks on one letter than its script needs.
    #[error("a name cannot stack so many marks on a letter")]
    TooManyMarks,
}

impl FromStr for DisplayName {
    type Err = NameError;

    fn from_str(text: &str) -> Result<DisplayName, NameError> {
        // Bounded before it is looked at: a character has at most four bytes.
        let text = text.trim_matches(' ');
        if text.len() > 4 * DisplayName::LENGTH_MAX || text.chars().count() > DisplayName::LENGTH_MAX {
            return Err(NameError::TooLong);
        }
        if let Some(bad) = text.chars().find(|&c| is_forbidden(c)) {
            return Err(NameError::Forbidden(bad));
        }
        let mut marks = 0;
        for character in text.chars() {
            let most = marks_max(character);
            marks = if most > 0 { marks + 1 } else { 0 };
            if marks > most {
                return Err(NameError::TooManyMarks);
            }
        }
        if !text.chars().any(|c| c != ' ' && marks_max(c) == 0) {
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

/// Control, line-breaking, direction-changing, invisible, private and unassigned-by-design characters, and those as wide as a word: phrases in
/// one character, long dashes, cuneiform.
fn is_forbidden(character: char) -> bool {
    character.is_control()
        || (character.is_whitespace() && character != ' ')
        || matches!(character,
            '\u{2800}' | '\u{2e3a}' | '\u{2e3b}' | '\u{fdf0}'..='\u{fdff}' | '\u{12000}'..='\u{1254f}' | '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{3164}' | '\u{ffa0}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
            | '\u{e000}'..='\u{f8ff}' | '\u{feff}' | '\u{fff0}'..='\u{ffff}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{10ffff}')
}

/// How many marks may follow each other up to this one: none if it is no mark. Scripts of India write a dot, a vowel and a nasal onto one
/// letter.
fn marks_max(character: char) -> usize {
    if is_indic_mark(character) {
        3
    } else if is_combining(character) {
        2
    } else {
        0
    }
}

/// Vowel signs and the like of Devanagari to Malayalam, whose blocks of 128 are laid out alike, of Sinhala, Burmese and Khmer.
fn is_indic_mark(character: char) -> bool {
    let number = character as u32;
    match number {
        0x900..=0xd7f => {
            matches!(number & 0x7f, 0..=3 | 0x3a..=0x3c | 0x3e..=0x4d | 0x4f | 0x51..=0x57 | 0x62 | 0x63)
        }
        0xd80..=0xdff => matches!(number & 0x7f, 1..=3 | 0x4a..=0x5f | 0x72 | 0x73),
        _ => matches!(number, 0x102b..=0x103e | 0x1056..=0x1059 | 0x17b6..=0x17d3),
    }
}

/// Marks that are drawn onto the character before them: of all scripts, of Hebrew, Arabic, Syriac, Thaana and N'Ko, of Thai, Lao and
/// Tibetan, of Vedic, Kana and old Cyrillic.
fn is_combining(character: char) -> bool {
    matches!(character,
        '\u{300}'..='\u{36f}' | '\u{483}'..='\u{489}' | '\u{1ab0}'..='\u{1aff}' | '\u{1dc0}'..='\u{1dff}'
        | '\u{20d0}'..='\u{20ff}' | '\u{fe00}'..='\u{fe0f}' | '\u{fe20}'..='\u{fe2f}'
        | '\u{591}'..='\u{5bd}' | '\u{5bf}' | '\u{5c1}' | '\u{5c2}' | '\u{5c4}' | '\u{5c5}' | '\u{5c7}'
        | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}' | '\u{670}' | '\u{6d6}'..='\u{6dc}' | '\u{6df}'..='\u{6e4}'
        | '\u{6e7}' | '\u{6e8}' | '\u{6ea}'..='\u{6ed}' | '\u{711}' | '\u{730}'..='\u{74a}' | '\u{7a6}'..='\u{7b0}'
        | '\u{7eb}'..='\u{7f3}' | '\u{7fd}' | '\u{8ca}'..='\u{8e1}' | '\u{8e3}'..='\u{8ff}'
        | '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}' | '\u{eb1}' | '\u{eb4}'..='\u{ebc}'
        | '\u{ec8}'..='\u{ece}' | '\u{f18}' | '\u{f19}' | '\u{f35}' | '\u{f37}' | '\u{f39}' | '\u{f71}'..='\u{f84}'
        | '\u{f86}' | '\u{f87}' | '\u{1cd0}'..='\u{1ce8}' | '\u{302a}'..='\u{302f}' | '\u{3099}' | '\u{309a}'
        | '\u{a66f}'..='\u{a672}' | '\u{a674}'..='\u{a67d}' | '\u{a69e}' | '\u{a69f}' | '\u{a8e0}'..='\u{a8f1}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_any_text_a_name_is_left_or_nothing() {
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
                .chain(["กี่", "สมชาย", "مُحَمَّد", "מֹשֶׁה", "अनुष्का", "ज़िंदगी", "கௌரி", "ひ\u{3099}"])
        {
            assert_eq!(name.parse::<DisplayName>().map(|n| n.to_string()), Ok(name.to_string()));
        }
        assert_eq!("  spaced  ".parse::<DisplayName>().unwrap().as_str(), "spaced");
    }

    #[test]
    fn names_that_could_fool_or_break_a_screen_are_refused() {
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
            let text =
                format!("`{shown}` cannot be a name: at most 32 small letters a-z, digits, `.`, `_` and `-`");
            assert_eq!(error.to_string(), text);
        }
        let hostile = "\u{202e}".repeat(100_000).parse::<Label>().unwrap_err().to_string();
        assert!(hostile.starts_with(r"`\u{202e}\u{202e}") && hostile.len() < 150, "{hostile}");
    }
}
