//! The lobby of a room whose host starts, while it is shown: keys, taps, picture. And the input
//! delay that players choose there or in a pause. `Arcade` calls it. Absent: its panel.

use gaggle::Phase;
use gaggle_scene::Scene;

use super::{Arcade, Keeping, Screen};
use crate::cabinet::EngineReport;
use crate::lobby::{LobbyFacts, LobbyWish};
use crate::{HAS_LOBBY, Held, Key, delay};

impl Arcade {
    /// Whether the game has rooms whose host starts.
    pub(super) fn has_lobby(&self) -> bool {
        HAS_LOBBY && self.lobby.is_some()
    }

    /// Whether the room's lobby is shown instead of a match.
    pub(super) fn is_in_lobby(&self) -> bool {
        HAS_LOBBY && self.roosts && self.screen == Screen::Flying
    }

    /// Follows the room, and starts its match when it is due.
    pub(super) fn update_lobby(&mut self) {
        let Some(lobby) = self.lobby.as_mut().filter(|_| HAS_LOBBY) else { return };
        let Some(room) = self.cabinet.hosted() else { return };
        lobby.update(self.now, room);
        self.roosts = match self.cabinet.room().phase() {
            // The scores of the match before are read first.
            Phase::Lobby { .. } => lobby.is_open() && (self.roosts || !self.cabinet.standing().over),
            Phase::Suspended => self.roosts,
            _ => false,
        };
    }

    /// The player has read the scores. True if the room waits for its host to start the next match.
    pub(super) fn enter_lobby(&mut self) -> bool {
        let is_lobby = self.has_lobby() && matches!(self.cabinet.room().phase(), Phase::Lobby { .. });
        self.roosts = is_lobby && self.lobby.as_ref().is_some_and(|lobby| lobby.is_open());
        self.roosts
    }

    /// The match that the lobby waited for begins.
    pub(super) fn leave_lobby(&mut self) {
        if HAS_LOBBY && std::mem::take(&mut self.roosts) {
            self.shelf.begin_match();
            self.pressed = [Held::default(); 2];
            self.took_off = self.now;
        }
    }

    /// Handles the game's button in the lobby: the player is ready, or no longer.
    pub(super) fn honk_in_lobby(&mut self) {
        if let (true, Some(lobby), Some(room)) = (HAS_LOBBY, &mut self.lobby, self.cabinet.hosted()) {
            lobby.honk(room);
        }
    }

    /// Handles a key in the lobby.
    pub(super) fn press_lobby(&mut self, key: Key) {
        let (true, Some(lobby), Some(room)) = (HAS_LOBBY, &mut self.lobby, self.cabinet.hosted()) else {
            return;
        };
        let wish = lobby.press(key, room);
        self.take_lobby_wish(wish);
    }

    /// Handles a tap in the lobby. True if the lobby is shown.
    pub(super) fn tap_lobby(&mut self, x: i32, y: i32) -> bool {
        if !self.is_in_lobby() || self.has_way_out() && crate::Touch::leads_out(self.view, x, y) {
            return false;
        }
        let at = (self.view, x, y);
        let (Some(lobby), Some(room)) = (&mut self.lobby, self.cabinet.hosted()) else { return false };
        let wish = lobby.tap(at, self.touch.used, room);
        self.take_lobby_wish(wish);
        true
    }

    pub(super) fn is_lobby_button_at(&self, x: i32, y: i32) -> bool {
        HAS_LOBBY
            && self.lobby.as_ref().is_some_and(|lobby| lobby.is_button_at((self.view, x, y), self.touch.used))
    }

    fn take_lobby_wish(&mut self, wish: Option<LobbyWish>) {
        match wish {
            Some(LobbyWish::Delay) => self.next_delay(),
            Some(LobbyWish::Invite) => self.invite(),
            Some(LobbyWish::Leave) => self.go_home(),
            None => {}
        }
    }

    /// Draws the lobby's picture. False if it is not shown.
    pub(super) fn draw_roost(&mut self) -> bool {
        if !self.is_in_lobby() {
            return false;
        }
        let Some(lobby) = &self.lobby else { return false };
        // Up to 2^18 frames, an `f32` distinguishes parts of a frame.
        let time = (self.now.as_millis() * 60 / 1_000 % (1 << 18)) as f32;
        self.cabinet.draw_lobby(lobby.waiting(), time, self.calm, &mut self.scene);
        true
    }

    fn with_lobby<T>(&self, tell: impl FnOnce(&LobbyFacts<'_>) -> T) -> T {
        let chosen = self.chosen_delay();
        let (now, waits) = self.delay_now().unwrap_or_default();
        let (delay, cost) = (delay::words(chosen, now), delay::cost(chosen, now, waits));
        let (touch, action) = (self.touch.used, self.cabinet.about().action);
        tell(&LobbyFacts { delay: &delay, cost: &cost, touch, action })
    }

    /// Draws the lobby's panel.
    pub(super) fn draw_lobby(&self, over: &mut Scene) {
        if let (true, Some(lobby)) = (HAS_LOBBY, &self.lobby) {
            self.with_lobby(|facts| lobby.draw(over, self.view, facts));
        }
    }

    /// The lobby as text; none while it is not shown.
    pub fn lobby_words(&self) -> Option<String> {
        let lobby = self.lobby.as_ref().filter(|_| self.is_in_lobby())?;
        Some(self.with_lobby(|facts| lobby.words(facts)))
    }

    /// The delay that holds for this game: that of the address, or the player's choice.
    pub(super) fn chosen_delay(&self) -> Option<u32> {
        let chosen = || self.params.delay.or_else(|| self.delays.of(self.cabinet.about().name));
        if self.has_lobby() { chosen() } else { None }
    }

    /// Delay in effect, and whether all wait for late inputs; none for games without one.
    pub(super) fn delay_now(&self) -> Option<(u32, bool)> {
        match self.cabinet.room().report() {
            EngineReport::Timeline { input_delay, window, .. } => Some((input_delay, window == 0)),
            EngineReport::Shared { .. } => None,
        }
    }

    /// Gives the chosen delay to the session.
    pub(super) fn apply_delay(&mut self) {
        let chosen = self.chosen_delay();
        if let (Some(_), Some(room)) = (chosen, self.cabinet.hosted()) {
            room.set_input_delay(chosen);
        }
    }

    /// Takes the next input delay that the game permits, and keeps it for this player and game.
    pub(super) fn next_delay(&mut self) {
        let before = self.chosen_delay();
        if !HAS_LOBBY {
            return;
        }
        let Some(room) = self.cabinet.hosted() else { return };
        let mut chosen = delay::next(before);
        // Automatic is always possible.
        while !room.set_input_delay(chosen) && chosen.is_some() {
            chosen = delay::next(chosen);
        }
        self.params.delay = None;
        self.delays.set(self.cabinet.about().name, chosen);
        self.shelf.keep("delay", self.delays.kept(), Keeping::Lasting);
        if let (Some((now, waits)), false) = (self.delay_now(), self.is_in_lobby()) {
            let (words, cost) = (delay::words(chosen, now), delay::cost(chosen, now, waits));
            self.toasts.push(None, format!("Input delay: {words}. {cost}"), false);
        }
    }
}
