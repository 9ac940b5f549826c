//! The two fields of the menu that are typed into: the player's name and the code of a room.

use super::{Choice, Menu};

/// The letters of room codes: no vowels, so that no code spells anything.
pub const CODE_LETTERS: &str = "BCDFGHJKLMNPQRSTVWXZ";
/// How many of them make a code.
pub const CODE_LENGTH: usize = 6;
/// How many letters a name has at most.
pub const NAME_LENGTH: usize = 24;

impl Menu {
    /// Something was typed or pasted. Whether it was taken: then it means nothing else.
    pub fn type_text(&mut self, text: &str) -> bool {
        match self.focus {
            Choice::Name => {
                let room = NAME_LENGTH.saturating_sub(self.name.chars().count());
                self.name.extend(text.chars().filter(|letter| !letter.is_control()).take(room));
                true
            }
            Choice::Code => {
                if std::mem::take(&mut self.is_code_spent) {
                    self.code.clear();
                }
                let room = CODE_LENGTH.saturating_sub(self.code.len());
                let letters = text.chars().map(|letter| letter.to_ascii_uppercase());
                self.code.extend(
                    letters.filter(|letter| CODE_LETTERS.chars().any(|known| known == *letter)).take(room),
                );
                true
            }
            _ => false,
        }
    }

    /// Backspace. Whether it was taken.
    pub fn erase(&mut self) -> bool {
        self.is_code_spent = false;
        match self.focus {
            Choice::Name => self.name.pop(),
            Choice::Code => self.code.pop(),
            _ => return false,
        };
        true
    }

    /// Empties the field that is written into.
    pub fn clear_field(&mut self) {
        match self.focus {
            Choice::Name => self.name.clear(),
            Choice::Code => self.code.clear(),
            _ => {}
        }
    }

    /// What stands in the field in focus.
    pub(crate) fn field(&self) -> &str {
        if self.focus == Choice::Name { &self.name } else { &self.code }
    }

    /// The letters of the code so far.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// A whole code, from the clipboard.
    pub fn write_code(&mut self, code: &str) {
        self.focus = Choice::Code;
        self.code.clear();
        self.type_text(code);
    }

    /// The code no room lets us in by, to be read and replaced.
    pub(crate) fn write_spent_code(&mut self, code: &str) {
        self.write_code(code);
        self.is_code_spent = true;
    }

    /// The name as it is written.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A name to begin with.
    pub fn set_name(&mut self, name: &str) {
        self.name = name.chars().filter(|letter| !letter.is_control()).take(NAME_LENGTH).collect();
    }
}
