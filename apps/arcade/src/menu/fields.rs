//! The two text fields of the menu: the player's name and a room code. `Menu` owns them. Absent:
//! drawing.

use super::{Choice, Menu};

/// Letters of room codes: no vowels, so that codes spell no words.
pub const CODE_LETTERS: &str = "BCDFGHJKLMNPQRSTVWXZ";
/// Letters of a code.
pub const CODE_LENGTH: usize = 6;
/// Most letters of a name.
pub const NAME_LENGTH: usize = 24;

impl Menu {
    /// Handles typed or pasted text. True if a field used it.
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

    /// Handles Backspace. True if a field used it.
    pub fn erase(&mut self) -> bool {
        self.is_code_spent = false;
        match self.focus {
            Choice::Name => self.name.pop(),
            Choice::Code => self.code.pop(),
            _ => return false,
        };
        true
    }

    /// Clears the field that is being edited.
    pub fn clear_field(&mut self) {
        match self.focus {
            Choice::Name => self.name.clear(),
            Choice::Code => self.code.clear(),
            _ => {}
        }
    }

    /// Text of the focused field.
    pub(crate) fn field(&self) -> &str {
        if self.focus == Choice::Name { &self.name } else { &self.code }
    }

    /// The letters of the code so far.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// Sets a whole code, from the clipboard.
    pub fn write_code(&mut self, code: &str) {
        self.focus = Choice::Code;
        self.code.clear();
        self.type_text(code);
    }

    /// Shows the code of a room that rejected the player, to be read and replaced.
    pub(crate) fn write_spent_code(&mut self, code: &str) {
        self.write_code(code);
        self.is_code_spent = true;
    }

    /// The name as it is being edited.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sets the initial name.
    pub fn set_name(&mut self, name: &str) {
        self.name = name.chars().filter(|letter| !letter.is_control()).take(NAME_LENGTH).collect();
    }
}
