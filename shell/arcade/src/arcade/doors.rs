//! How a page comes into a room, out of it and back: hidden and shown, closed and opened again, refused, out of the match.

use gaggle::lobby::{Rejection, RejectionCode};
use gaggle::{JoinTarget, Micros, RoomCode};

use super::{Arcade, Keeping, Screen};
use crate::Notice;
use crate::cabinets::NAMES;
use crate::words::sentence;

/// For so long after it was opened a page takes the seat over that an earlier page of its tab still has.
pub(super) const FOLLOWS_FOR: Micros = Micros::from_secs(10);

/// A room that was asked for and does not let us in.
#[derive(Debug)]
pub(super) struct Refused {
    code: RoomCode,
    heading: String,
    line: &'static str,
    can_watch: bool,
}

/// What can be done about it: the first only where one can look on.
const REFUSED: [(&str, &str); 4] =
    [("W", "watch"), ("Enter", "try again"), ("P", "open a room of your own"), ("Esc", "back")];

/// Out of the match while others are in it.
const OUT: Notice<'_> = Notice {
    seat: None,
    heading: "You are out of geese.",
    lines: &["The others fly on. The next egg wave brings you back."],
    keys: &[("N", "a new room of your own"), ("Esc", "pause")],
    warn: false,
    shade_percent: 0,
    touch: false,
    is_high: true,
};

impl Arcade {
    /// The page lost the keyboard: nothing is held, and a match alone waits.
    pub fn blur(&mut self) {
        self.controls.release_all();
        if self.screen == Screen::Flying && !self.cabinet.room().has_company() && !self.is_watching() {
            self.pause();
            self.shelf.blurred_in_flight = true;
        }
    }

    /// The page is hidden. Browsers take the keyboard from it first.
    pub fn hide(&mut self) {
        self.controls.release_all();
        let is_blurred = self.screen == Screen::Paused && self.shelf.blurred_in_flight;
        if is_blurred || self.screen == Screen::Flying && !self.is_watching() {
            self.pause();
            self.shelf.hidden_in_flight = true;
        }
    }

    /// The page is seen again.
    pub fn show(&mut self) {
        if std::mem::take(&mut self.shelf.hidden_in_flight) && self.screen == Screen::Paused {
            self.fly_on();
        }
    }

    /// The page is closed, or loaded again: says goodbye, so that no peer waits. The seat is kept for a moment.
    pub fn close(&mut self) {
        self.cabinet.room_mut().close();
    }

    /// The seat another tab has becomes ours.
    pub(super) fn take_over(&mut self) {
        self.shelf.is_elsewhere = false;
        self.cabinet.room_mut().take_over();
    }

    /// Another page has our seat. One that this tab had before gives it back without a question.
    pub(super) fn hear_elsewhere(&mut self) {
        let follows = self.shelf.follows_until.take().is_some_and(|until| self.now < until);
        if follows {
            self.take_over();
        } else {
            self.shelf.is_elsewhere = true;
        }
    }

    /// Esc while joining: what is on the screen is good enough.
    pub(super) fn stay_alone(&mut self) {
        self.inviting.close();
        self.cabinet.room_mut().leave();
        self.shelf.left_room();
    }

    pub(super) fn pause(&mut self) {
        self.cabinet.room_mut().suspend();
        self.shelf.blurred_in_flight = false;
        self.screen = Screen::Paused;
    }

    pub(super) fn fly_on(&mut self) {
        self.cabinet.room_mut().resume();
        self.screen = Screen::Flying;
    }

    /// Whoever looks on takes a seat in the same room.
    pub(super) fn sit_down(&mut self) {
        if let Some(code) = self.room_code().and_then(|code| code.parse().ok()) {
            self.take_off(1, JoinTarget::Code(code));
        }
    }

    /// Begins anew, in a room of one's own.
    pub(super) fn open_new_room(&mut self) {
        self.take_off(self.players, JoinTarget::CreatePrivate);
    }

    /// Those who play here are out of the match, and others are still in it.
    pub(super) fn is_out(&self) -> bool {
        self.screen == Screen::Flying && !self.is_watching() && self.cabinet.standing().out
    }

    /// What those are told.
    pub(super) fn out(&self) -> Option<Notice<'static>> {
        self.is_out().then(|| self.fitting(OUT))
    }

    /// The room we wanted to be in does not let us in. If another game is played there, that one is fetched; else the player
    /// is back at the field for codes and reads why.
    pub(super) fn hear_refusal(&mut self, refusal: &Rejection) {
        let (code, watches) = match *self.cabinet.room().join_target() {
            JoinTarget::Code(code) => (code, false),
            JoinTarget::Spectate(code) => (code, true),
            _ => return,
        };
        if self.screen != Screen::Flying || !is_about_room(refusal.code) {
            return;
        }
        let about = self.cabinet.about();
        let other = NAMES.iter().position(|name| {
            *name != about.name && refusal.game.as_ref().is_some_and(|game| game.as_str() == *name)
        });
        if let Some(nth) = other {
            let to = format!("{}={code}", if watches { "watch" } else { "room" });
            self.shelf.keep("goto", Some(to), Keeping::Tab);
            self.ask_for(nth);
        } else if self.shelf.returns_to == Some(code) {
            // Nobody has asked for it but the page: any other room will do, and the game goes on.
            self.shelf.left_room();
            self.cabinet.room_mut().join(JoinTarget::Matchmake);
        } else {
            let is_old = refusal.game.is_some();
            let heading = match is_old {
                true => "That room plays another version.".to_string(),
                false => sentence(&refusal.text),
            };
            let line = if is_old { "Loading the page again may help." } else { "" };
            let can_watch =
                !watches && matches!(refusal.code, RejectionCode::RoomFull | RejectionCode::RoomStarted);
            self.leave_flight();
            self.menu.write_code(&code.to_string());
            self.shelf.refused = Some(Refused { code, heading, line, can_watch });
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.shelf.refused.is_some() && self.screen == Screen::Menu
    }

    /// Why we are not in the room we asked for, and what can be done.
    pub(super) fn with_refusal<T>(&self, tell: impl FnOnce(&Notice<'_>) -> T) -> Option<T> {
        let refused = self.shelf.refused.as_ref().filter(|_| self.screen == Screen::Menu)?;
        let keys = if refused.can_watch { &REFUSED[..] } else { &REFUSED[1..] };
        let code = format!("Room {}. {}", refused.code, refused.line);
        let notice = Notice {
            heading: &refused.heading,
            lines: &[&code],
            keys,
            warn: true,
            shade_percent: 40,
            touch: self.touch.used,
            ..Notice::default()
        };
        Some(tell(&notice))
    }

    /// A key while that is on the screen. Whether it was meant for it; any other goes to the menu, and it is gone.
    pub(super) fn answer_refusal(&mut self, key: &str) -> bool {
        let Some(refused) = self.shelf.refused.take() else { return false };
        match key {
            "KeyW" | "W" if refused.can_watch => self.take_off(1, JoinTarget::Spectate(refused.code)),
            "Enter" | "NumpadEnter" => self.take_off(1, JoinTarget::Code(refused.code)),
            "KeyP" | "P" => self.take_off(1, JoinTarget::CreatePrivate),
            "Escape" | "Esc" => {}
            _ => return false,
        }
        true
    }

    /// A finger or the mouse, where a key is drawn on one of these notices. Whether it was on one.
    pub(super) fn tap_doors(&mut self, x: i32, y: i32) -> bool {
        let view = self.view;
        let tapped =
            |notice: &Notice<'_>| notice.key_at(view, x, y).map(|nth| notice.keys[nth].0.to_string());
        if let Some(key) = self.with_refusal(tapped) {
            self.answer_refusal(key.as_deref().unwrap_or("Esc"));
            return true;
        }
        match self.out().and_then(|notice| tapped(&notice)).as_deref() {
            Some("N") => self.open_new_room(),
            Some(_) => self.pause(),
            None => return false,
        }
        true
    }

    /// The browser's way back: out of a match into the menu, which a running match asks about. Whether there is nothing to
    /// go back from.
    pub fn go_back(&mut self) -> bool {
        match self.screen {
            Screen::Menu => {
                self.shelf.refused = None;
                return true;
            }
            Screen::Flying
                if self.cabinet.room().has_company() && !self.is_watching() && !self.is_board_up() =>
            {
                self.pause();
            }
            Screen::Help => self.screen = self.behind,
            Screen::Replay | Screen::Flying | Screen::Paused => self.take_key_home(),
        }
        self.screen == Screen::Menu
    }

    fn take_key_home(&mut self) {
        match self.screen {
            Screen::Replay => self.wind(crate::Key::Escape),
            _ => self.go_home(),
        }
    }
}

/// Whether a refusal says that one cannot be in the room one asked for.
pub(super) fn is_about_room(code: RejectionCode) -> bool {
    matches!(
        code,
        RejectionCode::NoSuchRoom
            | RejectionCode::RoomFull
            | RejectionCode::RoomLocked
            | RejectionCode::RoomStarted
            | RejectionCode::RoomFinished
            | RejectionCode::Kicked
            | RejectionCode::BadGame
    )
}
