//! Touch, mouse, Tab and typed text: their meaning on each screen.
//!
//! The page calls it through [`Arcade`]. Absent: effects of keys, which `arcade.rs` has.

use gaggle::RoomCode;

use super::{Arcade, Screen};
use crate::{CODE_LENGTH, Choice, Key, NAME_LENGTH, Notice, Scrubber, Touch};

impl Arcade {
    /// Notes whether the player uses touch or a keyboard, which changes the drawing.
    pub(super) fn set_touch(&mut self, touch: bool) {
        if std::mem::replace(&mut self.touch.used, touch) != touch {
            self.resize(self.view.width, self.view.height, self.ratio);
        }
        self.board.touch = touch;
        self.menu.set_touch(touch);
        self.shelf.help_page = self.shelf.help_page.min(self.help_pages() - 1);
    }

    /// A notice for this screen: with keys, or with buttons for touch.
    pub(super) fn fitting<'a>(&self, notice: Notice<'a>) -> Notice<'a> {
        Notice { touch: self.touch.used, ..notice }
    }

    /// Handles the start of a touch or mouse press at a pixel of the screen.
    pub fn pointer_down(&mut self, finger: i32, x: i32, y: i32, is_touch: bool) {
        if is_touch != self.touch.used {
            self.set_touch(is_touch);
        }
        if self.is_inviting() {
            self.tap_invite(x, y);
            return;
        }
        if self.screen == Screen::Menu && std::mem::take(&mut self.shelf.shows_top) {
            return;
        }
        if self.asks_to_invite(x, y) {
            self.invite();
            return;
        }
        if self.tap_lobby(x, y) || self.tap_emotes(x, y) {
            return;
        }
        if self.screen == Screen::Flying && self.is_joining_shown() && self.asks_to_stay_alone(x, y) {
            self.stay_alone();
            return;
        }
        if let Some(nth) = self.elsewhere().and_then(|notice| notice.key_at(self.view, x, y)) {
            match nth {
                0 => self.take_over(),
                _ => self.take_key(Key::Escape),
            }
            return;
        }
        if self.tap_doors(x, y) {
            return;
        }
        if self.is_still_key_at(x, y) {
            self.take_key(Key::Escape);
            return;
        }
        match self.screen {
            Screen::Menu => {
                if let Some(choice) = self.menu.click(x, y) {
                    self.choose(choice, is_touch);
                }
            }
            _ if self.has_way_out() && Touch::leads_out(self.view, x, y) => self.take_key(Key::Escape),
            Screen::Paused => self.tap_paused(x, y),
            Screen::Help => self.take_key(match (y > self.view.height * 7 / 8, x < self.view.width / 2) {
                (true, _) => Key::Escape,
                (false, true) => Key::Left,
                (false, false) => Key::Right,
            }),
            Screen::Replay => self.scrub(finger, x, y),
            Screen::Flying if self.is_board_up() => {
                if let Some(choice) = self.board.click(x, y) {
                    self.choose_after(choice);
                }
            }
            Screen::Flying if is_touch && self.is_watching() => self.sit_down(),
            Screen::Flying if is_touch => self.pointer_move(finger, x, y, true),
            Screen::Flying => {}
        }
    }

    fn is_still_key_at(&mut self, x: i32, y: i32) -> bool {
        let Some(still) = self.standing_still() else { return false };
        self.fitting(still.notice()).key_at(self.view, x, y).is_some()
    }

    /// Whether the exit button is drawn: on touch screens, where no other button leads to the menu.
    pub(super) fn has_way_out(&self) -> bool {
        let shown = match self.screen {
            Screen::Flying => !self.is_board_up(),
            Screen::Help | Screen::Replay => true,
            Screen::Menu | Screen::Paused => false,
        };
        shown && self.touch.used
    }

    /// A tap on a line of a paused match chooses it; anywhere else resumes.
    fn tap_paused(&mut self, x: i32, y: i32) {
        let notice = self.paused();
        self.take_paused(notice.key_at(self.view, x, y).map(|nth| notice.keys[nth].0));
    }

    /// Handles the choice of a line of a paused match, by its key.
    pub(super) fn take_paused(&mut self, key: Option<&str>) {
        match key {
            Some("Esc") => self.go_home(),
            Some("M") => self.turn_sound(),
            Some("H") => self.show_help(),
            Some("S") => self.save_replay(),
            Some("X") => self.save_bundle(),
            Some("C") => self.invite(),
            Some("D") => self.next_delay(),
            _ => self.fly_on(),
        }
    }

    /// Handles a move of a finger or the mouse.
    pub fn pointer_move(&mut self, finger: i32, x: i32, y: i32, is_touch: bool) {
        if self.screen == Screen::Flying && is_touch {
            self.touch.set(finger, x, y);
        }
        if !is_touch {
            self.points = self.answers_click(x, y);
        }
        if self.scrubs == Some(finger)
            && let Some(tape) = self.cabinet.tape()
        {
            tape.jump_to(Scrubber::new(self.view).frame_across(x, tape.position().1));
        }
    }

    /// Handles the end of a touch or mouse press.
    pub fn pointer_up(&mut self, finger: i32) {
        self.touch.lift(finger);
        self.scrubs = self.scrubs.filter(|scrubs| *scrubs != finger);
    }

    /// Whether the mouse is over a clickable element: the page shows a hand cursor there.
    pub fn points(&self) -> bool {
        self.points
    }

    /// Whether a click at a pixel of the screen would do something. In the menu, that element is
    /// framed.
    fn answers_click(&mut self, x: i32, y: i32) -> bool {
        // In the order of `pointer_down`: only the topmost element is clicked.
        let view = self.view;
        let answers = |notice: &Notice<'_>| notice.key_at(view, x, y).is_some();
        if self.is_inviting() {
            return self.is_invite_button_at(x, y);
        }
        if self.asks_to_invite(x, y) || self.screen == Screen::Menu && self.shelf.shows_top {
            return true;
        }
        if self.is_in_lobby() {
            return self.is_lobby_button_at(x, y);
        }
        if let Some(answer) = self.emotes_answer(x, y) {
            return answer;
        }
        if self.elsewhere().is_some_and(|notice| answers(&notice)) {
            return true;
        }
        if let Some(answer) = self.with_refusal(answers) {
            self.menu.hover(-1, -1);
            return answer;
        }
        if self.out().is_some_and(|notice| answers(&notice)) {
            return true;
        }
        match self.screen {
            Screen::Menu => self.menu.hover(x, y),
            Screen::Help => true,
            Screen::Paused => self.paused().key_at(self.view, x, y).is_some(),
            Screen::Replay => Scrubber::new(self.view).answers(x, y),
            Screen::Flying if self.is_board_up() => self.board.is_button_at(x, y),
            Screen::Flying => {
                self.is_still_key_at(x, y) || self.is_joining_shown() && self.asks_to_stay_alone(x, y)
            }
        }
    }

    /// Handles Tab, or Shift+Tab: focuses the next or previous element. After the last one of the
    /// menu, and in a match, the browser handles it; in panels Esc leads out.
    pub(super) fn take_tab(&mut self) -> bool {
        let back = self.controls.has_shift();
        let count = if self.is_inviting() {
            self.invite_buttons()
        } else if self.screen == Screen::Paused {
            self.paused().keys.len()
        } else {
            self.with_refusal(|notice| notice.keys.len()).unwrap_or(0)
        };
        match self.screen {
            _ if count > 0 => {
                let from = self.shelf.tabbed.unwrap_or(if back { 0 } else { count - 1 });
                self.shelf.tabbed = Some((from + if back { count - 1 } else { 1 }) % count);
                true
            }
            Screen::Menu if self.shelf.shows_top => true,
            Screen::Menu => self.menu.tab(back),
            Screen::Help => {
                self.take_key(if back { Key::Left } else { Key::Right });
                true
            }
            Screen::Flying if self.is_board_up() => {
                self.take_key(if back { Key::Left } else { Key::Right });
                true
            }
            _ => false,
        }
    }

    /// Handles letters for the name or the code. True if they were used.
    pub(super) fn type_into_menu(&mut self, code: &str, text: &str) -> bool {
        if code == "KeyW"
            && let Some(choice) = self.menu.watch()
        {
            self.choose(choice, false);
            return true;
        }
        if code == "Backspace" {
            return self.menu.erase();
        }
        let is_letter = text.chars().count() == 1 && !text.chars().any(char::is_control);
        is_letter && self.menu.type_text(text)
    }

    /// Replaces the text of the focused field with text from elsewhere than a keyboard.
    pub fn enter_text(&mut self, text: &str) {
        self.menu.clear_field();
        if self.menu.focus() == Choice::Code {
            // Links are pasted there, too.
            self.paste(text);
            if self.menu.code().len() < CODE_LENGTH {
                self.note("A code has six letters, no vowels.");
            }
            self.choose(Choice::Code, false);
            return;
        }
        for letter in text.chars().take(NAME_LENGTH) {
            self.menu.type_text(letter.encode_utf8(&mut [0; 4]));
        }
        if self.menu.focus() == Choice::Name {
            self.tell_name();
        }
    }

    /// Handles text from the clipboard: for the focused field, or a room code or link in any place.
    pub fn paste(&mut self, text: &str) {
        if self.screen != Screen::Menu {
            return;
        }
        let text = text.trim();
        // By single characters: a search for words would add the standard library's string searcher
        // to the page.
        let mut words = text.split(|letter: char| letter != '=' && !letter.is_ascii_alphanumeric());
        let code = words.find_map(|word| word.strip_prefix("room=")).unwrap_or(text);
        if let Ok(code) = code.get(..CODE_LENGTH.min(code.len())).unwrap_or_default().parse::<RoomCode>()
            && self.menu.focus() != Choice::Name
        {
            self.menu.write_code(&code.to_string());
        } else {
            self.menu.type_text(text);
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle::lobby::{Rejection, RejectionCode};
    use gaggle::{JoinTarget, Micros, NoNetwork};

    use super::*;
    use crate::{Opening, cabinets};

    fn open() -> Arcade {
        let mut arcade =
            Arcade::new(Micros::ZERO, Opening::default(), &cabinets::gander(), NoNetwork::default());
        arcade.resize(1_280, 720, 1.0);
        arcade
    }

    fn refuse(arcade: &mut Arcade) {
        arcade.choose(Choice::Play, false);
        arcade.cabinet.room_mut().join(JoinTarget::Code("BCDFGH".parse().expect("a code")));
        arcade.hear(&gaggle::RoomEvent::RequestRejected {
            request: None,
            rejection: Rejection::new(RejectionCode::RoomFull, "full"),
        });
        assert!(arcade.is_refused());
    }

    /// Over the keys of a notice the cursor is a hand; over the menu behind it, it is not.
    #[test]
    fn pointer_over_refusal_is_hand_on_its_keys_only() {
        let mut arcade = open();
        let behind = arcade.menu.pixel_of(Choice::Play);
        arcade.pointer_move(1, behind.0, behind.1, false);
        assert!(arcade.points());
        refuse(&mut arcade);
        arcade.pointer_move(1, behind.0, behind.1, false);
        assert!(!arcade.points(), "the notice is over it");
        let (view, x) = (arcade.view, arcade.view.width / 2);
        let mut hands = 0;
        for y in 0..view.height {
            let is_key = arcade.with_refusal(|notice| notice.key_at(view, x, y).is_some()) == Some(true);
            arcade.pointer_move(1, x, y, false);
            assert_eq!(arcade.points(), is_key, "row {y}");
            hands += i32::from(is_key);
        }
        assert!(hands > 50, "{hands} rows");
    }

    #[test]
    fn tab_in_pause_moves_focus_that_enter_takes() {
        let mut arcade = open();
        arcade.choose(Choice::Play, false);
        arcade.pause();
        for _ in 0..4 {
            assert!(arcade.key_down("Tab", "Tab"), "the browser must not have it");
            arcade.key_up("Tab");
        }
        assert!(arcade.paused_words().ends_with("In focus: how to play."), "{}", arcade.paused_words());
        arcade.key_down("Enter", "Enter");
        arcade.key_up("Enter");
        assert_eq!(arcade.screen(), Screen::Help);
        assert!(arcade.key_down("Tab", "Tab"));
        assert_eq!(arcade.shelf.help_page, 1, "it turns the page");
        arcade.key_down("Escape", "Escape");
        arcade.fly_on();
        arcade.pause();
        arcade.key_down("Enter", "Enter");
        assert_eq!(arcade.screen(), Screen::Flying, "another pause begins without it");
    }

    #[test]
    fn tab_on_refusal_moves_focus_that_enter_takes() {
        let mut arcade = open();
        refuse(&mut arcade);
        arcade.key_down("ShiftLeft", "Shift");
        assert!(arcade.key_down("Tab", "Tab") && arcade.is_refused());
        arcade.key_up("ShiftLeft");
        let words = arcade.notice_words().unwrap_or_default();
        assert!(words.ends_with("In focus: back."), "{words}");
        arcade.key_down("Enter", "Enter");
        assert_eq!((arcade.is_refused(), arcade.screen()), (false, Screen::Menu));
    }
}
