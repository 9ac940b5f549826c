//! Joining, leaving and returning to rooms: hidden and closed pages, rejected joins, reservations
//! of other tabs. `Arcade` and the page call it. Absent: how a match is joined (`gaggle`).

use gaggle::lobby::{Rejection, RejectionCode};
use gaggle::{JoinTarget, Micros, RoomCode};

use super::{Arcade, Keeping, Screen};
use crate::cabinets::NAMES;
use crate::words::sentence;
use crate::{Choice, Notice};

/// Time after the opening of a page in which it takes over a reservation that an earlier page of
/// the same tab still has.
pub(super) const FOLLOWS_FOR: Micros = Micros::from_secs(10);

/// A requested room that rejected this player.
#[derive(Debug)]
pub(super) struct Refused {
    code: RoomCode,
    /// Whether the player wanted to spectate.
    watches: bool,
    heading: String,
    line: &'static str,
    can_watch: bool,
}

/// Choices after a rejection; the first only where spectating is possible. Their keys are no
/// letters of room codes, because those begin another code.
const REFUSED: [(&str, &str); 5] = [
    ("Space", "watch"),
    ("Enter", "try again"),
    ("A", "another code"),
    ("O", "open a room of your own"),
    ("Esc", "back"),
];

/// Notice for local players that are out of a match that others still play.
const OUT: Notice<'_> = Notice {
    seat: None,
    heading: "You are out of geese.",
    lines: &["The others fly on. The next egg wave brings you back."],
    keys: &[("N", "a new room of your own"), ("Esc", "pause")],
    warn: false,
    shade_percent: 0,
    touch: false,
    is_high: true,
    focus: None,
};

impl Arcade {
    /// The page lost the keyboard focus: releases all keys, and pauses a match without other
    /// players.
    pub fn blur(&mut self) {
        self.controls.release_all();
        let is_alone = !self.cabinet.room().has_company() && !self.is_in_lobby();
        if self.screen == Screen::Flying && is_alone && !self.is_watching() {
            self.pause();
            self.shelf.blurred_in_flight = true;
        }
    }

    /// The page is hidden. Browsers take the keyboard focus from it first.
    pub fn hide(&mut self) {
        self.controls.release_all();
        let is_blurred = self.screen == Screen::Paused && self.shelf.blurred_in_flight;
        if is_blurred || self.screen == Screen::Flying && !self.is_watching() {
            self.pause();
            self.shelf.hidden_in_flight = true;
        }
    }

    /// The page is visible again.
    pub fn show(&mut self) {
        if std::mem::take(&mut self.shelf.hidden_in_flight) && self.screen == Screen::Paused {
            self.fly_on();
        }
    }

    /// The page is closed or reloaded: leaves the match, so that no peer waits. The lobby keeps the
    /// reservation for a moment.
    pub fn close(&mut self) {
        self.cabinet.room_mut().close();
    }

    /// Takes over the reservation of another tab.
    pub(super) fn take_over(&mut self) {
        self.shelf.is_elsewhere = false;
        self.cabinet.room_mut().take_over();
    }

    /// Another page has the reservation. An earlier page of this tab gives it up without asking.
    pub(super) fn hear_elsewhere(&mut self) {
        let follows = self.shelf.follows_until.take().is_some_and(|until| self.now < until);
        if follows {
            self.take_over();
        } else {
            self.shelf.is_elsewhere = true;
        }
    }

    /// Handles Esc while joining: keeps playing alone.
    pub(super) fn stay_alone(&mut self) {
        self.inviting.close();
        self.cabinet.room_mut().leave();
        self.shelf.left_room();
    }

    pub(super) fn pause(&mut self) {
        self.cabinet.room_mut().suspend();
        self.shelf.blurred_in_flight = false;
        self.shelf.tabbed = None;
        self.screen = Screen::Paused;
    }

    pub(super) fn fly_on(&mut self) {
        self.cabinet.room_mut().resume();
        self.screen = Screen::Flying;
    }

    /// Makes a spectator join the same room as a player.
    pub(super) fn sit_down(&mut self) {
        if let Some(code) = self.room_code().and_then(|code| code.parse().ok()) {
            self.take_off(1, JoinTarget::Code(code));
        }
    }

    /// Opens a room for friends, with the invitation panel.
    pub(super) fn open_for_friends(&mut self) {
        self.take_off(1, JoinTarget::CreatePrivate);
        // The lobby of a room has the invitation itself.
        self.inviting.is_wanted = self.lobby.is_none();
    }

    /// Restarts in a new room of this player.
    pub(super) fn open_new_room(&mut self) {
        self.take_off(self.players, JoinTarget::CreatePrivate);
    }

    /// Whether all local players are out of the match while others still play.
    pub(super) fn is_out(&self) -> bool {
        self.screen == Screen::Flying && !self.is_watching() && self.cabinet.standing().out
    }

    /// The notice for players that are out.
    pub(super) fn out(&self) -> Option<Notice<'static>> {
        self.is_out().then(|| self.fitting(OUT))
    }

    /// Handles the rejection by a requested room. If another game is played there, loads that game;
    /// otherwise focuses the field for codes and shows the reason.
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
        } else {
            let is_old = refusal.game.is_some();
            let heading = match is_old {
                true => "That room plays another version.".to_string(),
                false => sentence(&refusal.text),
            };
            let returns = self.shelf.returns_to.take() == Some(code);
            let line = match is_old {
                true => "Loading the page again may help.",
                // Any other room would be a room of strangers.
                false if returns => "You played there before.",
                false => "",
            };
            let can_watch =
                !watches && matches!(refusal.code, RejectionCode::RoomFull | RejectionCode::RoomStarted);
            self.leave_flight();
            self.menu.write_spent_code(&code.to_string());
            self.shelf.tabbed = None;
            self.shelf.refused = Some(Refused { code, watches, heading, line, can_watch });
        }
    }

    pub(super) fn is_refused(&self) -> bool {
        self.shelf.refused.is_some() && self.screen == Screen::Menu
    }

    /// The notice with the reason of the rejection and the choices.
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
            focus: self.shelf.tabbed,
            ..Notice::default()
        };
        Some(tell(&notice))
    }

    /// Handles a key while that notice is shown. True if the key was one of its choices; any other
    /// key goes to the menu, and the notice closes.
    pub(super) fn answer_refusal(&mut self, key: &str) -> bool {
        let chosen = |notice: &Notice<'_>| Some(notice.keys.get(notice.focus?)?.0.to_string());
        let chosen = self.with_refusal(chosen).flatten().filter(|_| matches!(key, "Enter" | "NumpadEnter"));
        let key = chosen.as_deref().unwrap_or(key);
        let Some(refused) = self.shelf.refused.take() else { return false };
        match key {
            "Space" if refused.can_watch => self.take_off(1, JoinTarget::Spectate(refused.code)),
            "Enter" | "NumpadEnter" if refused.watches => {
                self.take_off(1, JoinTarget::Spectate(refused.code));
            }
            "Enter" | "NumpadEnter" => self.take_off(self.players, JoinTarget::Code(refused.code)),
            "KeyA" | "A" => {
                self.menu.write_code("");
                self.choose(Choice::Code, self.touch.used);
            }
            "KeyO" | "O" => self.open_for_friends(),
            "Escape" | "Esc" => {}
            _ => return false,
        }
        true
    }

    /// Handles a tap or click on a key of one of these notices. True if it was on one.
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

    /// Whether the browser's Back leads to the menu: from a match, or from a panel over the menu.
    pub fn has_way_back(&self) -> bool {
        self.screen != Screen::Menu || self.shelf.shows_top
    }

    /// Handles the browser's Back: closes an open panel, or leaves a match for the menu, after a
    /// question if it is running. True if no further step back is possible now.
    pub fn go_back(&mut self) -> bool {
        match self.screen {
            Screen::Menu => {
                self.shelf.refused = None;
                return !std::mem::take(&mut self.shelf.shows_top);
            }
            _ if self.is_inviting() => self.close_invite(),
            Screen::Flying if !self.is_watching() && !self.is_board_up() && !self.is_in_lobby() => {
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

/// Whether a rejection means that the player cannot be in the requested room.
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

#[cfg(test)]
mod tests {
    use gaggle::NoNetwork;

    use super::*;
    use crate::{Opening, cabinets};

    fn open() -> Arcade {
        Arcade::new(Micros::ZERO, Opening::default(), &cabinets::gander(), NoNetwork::default())
    }

    /// A page whose player requested a room that rejects it.
    fn refused(wish: JoinTarget, why: RejectionCode) -> Arcade {
        let mut arcade = open();
        arcade.take_off(1, wish);
        arcade.hear_refusal(&Rejection::new(why, "there is no such room"));
        assert!(arcade.is_refused());
        arcade
    }

    fn code() -> RoomCode {
        "BCDFGH".parse().expect("a code")
    }

    /// Where a key of the notice is drawn.
    fn pixel_of(arcade: &Arcade, key: &str) -> (i32, i32) {
        let (x, view) = (arcade.view.width / 2, arcade.view);
        let row = |y: &i32| {
            let at =
                |notice: &Notice<'_>| notice.key_at(view, x, *y).is_some_and(|nth| notice.keys[nth].0 == key);
            arcade.with_refusal(at) == Some(true)
        };
        (x, (0..view.height).find(row).expect("it is drawn"))
    }

    fn tap(arcade: &mut Arcade, (x, y): (i32, i32), is_touch: bool) {
        arcade.pointer_down(1, x, y, is_touch);
        arcade.pointer_up(1);
    }

    #[test]
    fn tap_on_code_field_asks_for_code_on_every_screen() {
        for (width, height, ratio) in [(780, 1_688, 2.0), (1_688, 780, 2.0), (2_532, 1_170, 3.0)] {
            for stands_there in ["", "BCD", "BCDFGH"] {
                let mut arcade = open();
                arcade.resize(width, height, ratio);
                arcade.menu.write_code(stands_there);
                arcade.menu.press(crate::Key::Up);
                let field = arcade.menu.pixel_of(Choice::Code);
                tap(&mut arcade, field, true);
                assert_eq!(arcade.take_question(), Some("The room's six letters?"), "{width}×{height}");
                assert_eq!((arcade.field(), arcade.screen()), (stands_there, Screen::Menu));
                arcade.enter_text("jkl");
                assert_eq!((arcade.field(), arcade.screen()), ("JKL", Screen::Menu));
                assert!(arcade.toast().is_some_and(|toast| toast.contains("six letters")));
                arcade.enter_text("https://play.example.org/?room=JKLMNP");
                assert_eq!(
                    *arcade.cabinet().room().join_target(),
                    JoinTarget::Code("JKLMNP".parse().expect("a code"))
                );
                assert_eq!(arcade.screen(), Screen::Flying);
            }
        }
    }

    #[test]
    fn mouse_on_code_field_asks_nothing_and_joins_by_whole_code() {
        let mut arcade = open();
        let field = arcade.menu.pixel_of(Choice::Code);
        tap(&mut arcade, field, false);
        assert_eq!((arcade.take_question(), arcade.screen()), (None, Screen::Menu));
        arcade.menu.write_code("BCDFGH");
        tap(&mut arcade, field, false);
        assert_eq!(arcade.screen(), Screen::Flying);
    }

    #[test]
    fn refused_code_is_written_anew_by_touch() {
        for is_closed_first in [false, true] {
            let mut arcade = refused(JoinTarget::Code(code()), RejectionCode::NoSuchRoom);
            arcade.set_touch(true);
            let button = pixel_of(&arcade, if is_closed_first { "Esc" } else { "A" });
            tap(&mut arcade, button, true);
            if is_closed_first {
                assert_eq!(arcade.take_question(), None);
                let field = arcade.menu.pixel_of(Choice::Code);
                tap(&mut arcade, field, true);
            }
            assert!(arcade.take_question().is_some() && !arcade.is_refused());
            arcade.enter_text("JKLMNP");
            assert_eq!(
                *arcade.cabinet().room().join_target(),
                JoinTarget::Code("JKLMNP".parse().expect("a code"))
            );
        }
    }

    #[test]
    fn letter_after_refusal_begins_another_code() {
        // P and W are letters of codes.
        for (key, letter) in [("KeyP", "p"), ("KeyW", "w"), ("KeyJ", "j")] {
            let mut arcade = refused(JoinTarget::Code(code()), RejectionCode::RoomFull);
            arcade.key_down(key, letter);
            arcade.key_up(key);
            assert_eq!((arcade.screen(), arcade.menu.code()), (Screen::Menu, &*letter.to_ascii_uppercase()));
            arcade.key_down("KeyK", "k");
            assert_eq!(arcade.menu.code().len(), 2, "the next one is added");
        }
    }

    #[test]
    fn refused_watcher_who_tries_again_watches() {
        let mut arcade = refused(JoinTarget::Spectate(code()), RejectionCode::RoomLocked);
        arcade.key_down("Enter", "Enter");
        assert_eq!(*arcade.cabinet().room().join_target(), JoinTarget::Spectate(code()));
    }

    #[test]
    fn way_back_closes_leaderboard_and_help_first() {
        let mut arcade = open();
        assert!(!arcade.has_way_back());
        arcade.choose(Choice::Board, false);
        assert!(arcade.has_way_back());
        assert_eq!((arcade.go_back(), arcade.top_words()), (false, None));
        assert!(!arcade.has_way_back());
        arcade.take_off(1, JoinTarget::Matchmake);
        arcade.show_help();
        assert_eq!((arcade.go_back(), arcade.screen()), (false, Screen::Paused));
        assert_eq!((arcade.go_back(), arcade.screen()), (true, Screen::Menu));
    }
}
