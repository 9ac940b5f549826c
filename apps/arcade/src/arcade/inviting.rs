//! State of the invitation panel, and what is done with its link. `Arcade` calls it. Absent:
//! drawing (`invite_panel.rs`).

use gaggle::Micros;
use gaggle_scene::Scene;

use super::{Arcade, Screen};
use crate::cabinets::NAMES;
use crate::pen::Rect;
use crate::{Invite, InviteChoice, room_line};

/// A room that opens later than this does not open the panel by itself: the player is already
/// playing.
const OPENS_WITHIN: Micros = Micros::from_secs(10);

/// The open invitation, and what the page must do with it.
#[derive(Default)]
pub(super) struct Inviting {
    /// The page's address without its query, such as `https://play.example.org/`.
    address: String,
    /// Whether the system has a share sheet.
    can_share: bool,
    /// Whether to open the panel once there is a room.
    pub(super) is_wanted: bool,
    panel: Option<Invite>,
    /// Members of the room when the panel was opened, if the match is paused behind it.
    waits_with: Option<usize>,
    /// Link for the share sheet.
    share: Option<String>,
}

impl Inviting {
    pub(super) fn new(address: String, can_share: bool) -> Inviting {
        Inviting { address, can_share, ..Inviting::default() }
    }

    pub(super) fn close(&mut self) {
        self.panel = None;
        self.waits_with = None;
        self.is_wanted = false;
    }
}

impl Arcade {
    /// Opens the panel. The match is paused behind it, unless others play in it.
    pub(super) fn invite(&mut self) {
        let Some(code) = self.room_code() else {
            self.toasts.push(None, "No room yet, no link.".to_string(), true);
            return;
        };
        let query = self.query(&format!("room={code}"));
        let Inviting { address, can_share, .. } = &self.inviting;
        let panel = Invite::new(code, format!("{address}?{query}"), *can_share);
        let is_alone = !self.cabinet.room().has_company() && !self.is_in_lobby();
        let waits = self.screen == Screen::Flying && is_alone && !self.is_watching();
        if waits {
            self.pause();
        }
        let members = self.member_count();
        self.shelf.tabbed = None;
        self.inviting.panel = Some(panel);
        self.inviting.waits_with = waits.then_some(members);
    }

    /// Query of a link to a part of this game.
    pub(super) fn query(&self, to: &str) -> String {
        let name = self.cabinet.about().name;
        // The first cabinet is opened without being named.
        if NAMES.first() == Some(&name) { to.to_string() } else { format!("game={name}&{to}") }
    }

    fn member_count(&mut self) -> usize {
        self.cabinet
            .room_mut()
            .lobby_client()
            .and_then(|lobby| lobby.room())
            .map_or(0, |room| room.members.len())
    }

    /// Opens the panel in a new room if the player asked for friends.
    pub(super) fn invite_if_wanted(&mut self) {
        let is_soon = self.now.since(self.took_off) < OPENS_WITHIN && self.screen == Screen::Flying;
        if std::mem::take(&mut self.inviting.is_wanted) && is_soon {
            self.invite();
        }
    }

    /// Resumes a match that was paused for the panel when a friend has joined. Called while the
    /// page is visible.
    pub(super) fn welcome(&mut self) {
        if let Some(members) = self.inviting.waits_with
            && self.member_count() > members
        {
            self.close_invite();
        }
    }

    pub(super) fn is_inviting(&self) -> bool {
        self.inviting.panel.is_some() && matches!(self.screen, Screen::Flying | Screen::Paused)
    }

    pub(super) fn close_invite(&mut self) {
        let waits = self.inviting.waits_with.is_some();
        self.shelf.tabbed = None;
        self.inviting.close();
        if waits && self.screen == Screen::Paused {
            self.fly_on();
        }
    }

    /// Handles a key while the panel is open. True if it has a meaning there; all others go to the
    /// match.
    pub(super) fn press_invite(&mut self, code: &str) -> bool {
        let tabbed = self.shelf.tabbed.and_then(|nth| self.inviting.panel.as_ref()?.nth(nth));
        let choice = match code {
            "Enter" | "NumpadEnter" => tabbed.unwrap_or(InviteChoice::Play),
            "Escape" => InviteChoice::Play,
            "KeyC" => InviteChoice::Copy,
            "KeyS" if self.inviting.can_share && self.screen == Screen::Paused => InviteChoice::Share,
            _ => return false,
        };
        self.take_invite(choice);
        true
    }

    /// Number of buttons of the panel.
    pub(super) fn invite_buttons(&self) -> usize {
        self.inviting.panel.as_ref().map_or(0, Invite::count)
    }

    /// Handles a tap while the panel is open.
    pub(super) fn tap_invite(&mut self, x: i32, y: i32) {
        let view = self.view;
        if let Some(choice) = self.inviting.panel.as_ref().and_then(|panel| panel.choice_at(view, x, y)) {
            self.take_invite(choice);
        }
    }

    pub(super) fn is_invite_button_at(&self, x: i32, y: i32) -> bool {
        self.inviting.panel.as_ref().is_some_and(|panel| panel.choice_at(self.view, x, y).is_some())
    }

    fn take_invite(&mut self, choice: InviteChoice) {
        match choice {
            InviteChoice::Play => self.close_invite(),
            InviteChoice::Copy => self.copy_link(),
            InviteChoice::Share => {
                self.inviting.share = self.inviting.panel.as_ref().map(|panel| panel.link().to_string());
            }
        }
    }

    /// A link for the system's share sheet, which the page must open.
    pub fn take_share(&mut self) -> Option<String> {
        self.inviting.share.take()
    }

    /// The open invitation as text.
    pub fn invite_words(&self) -> Option<String> {
        self.inviting.panel.as_ref().filter(|_| self.is_inviting()).map(Invite::words)
    }

    pub(super) fn draw_invite(&self, over: &mut Scene) {
        if let Some(panel) = &self.inviting.panel {
            panel.draw(over, self.view, self.touch.used, self.shelf.tabbed);
        }
    }

    /// The room's code and the place of that line, where it disturbs no player. None while another
    /// text is shown there.
    pub(super) fn room_line(&mut self) -> Option<(String, Rect)> {
        if self.is_board_up() || self.toasts.current().is_some() || self.is_inviting() {
            return None;
        }
        // Includes the mode, if there are several.
        let modes = self.cabinet.about().modes;
        let mode = if modes.len() > 1 { modes[self.menu.mode].1 } else { "" };
        let text = match (self.room_code(), self.is_watching(), self.touch.used) {
            (None, ..) => mode.to_string(),
            (Some(code), true, false) => {
                format!("{mode}   watching {code}   Enter takes a seat   C invites   Esc home")
            }
            (Some(code), true, true) => format!("{mode}   watching {code}   tap to take a seat"),
            (Some(code), false, false) if self.can_emote() => {
                format!("{mode}   room {code}   C invites   1-8 emotes   E mutes")
            }
            (Some(code), false, false) => format!("{mode}   room {code}   C invites friends"),
            (Some(code), false, true) => format!("{mode}   room {code}   invite"),
        };
        let text = text.trim().to_string();
        if text.is_empty() {
            return None;
        }
        // On a phone held sideways, thumbs are at both sides of it.
        let is_flat = self.view.width >= self.view.height;
        let between = (is_flat && self.has_thumbs()).then(|| self.touch.free());
        let place = room_line::place(self.view, &text, between, self.touch.used);
        Some((text, place))
    }

    pub(super) fn draw_room_line(&mut self, over: &mut Scene) {
        if let Some((text, place)) = self.room_line() {
            room_line::draw(over, self.view, &text, place);
        }
    }

    /// Whether a tap at a pixel of the screen opens the invitation.
    pub(super) fn asks_to_invite(&mut self, x: i32, y: i32) -> bool {
        let shown = self.screen == Screen::Flying && !self.is_in_lobby();
        let shown = shown && !self.is_joining_shown() && !self.is_watching();
        if !shown || self.room_code().is_none() {
            return false;
        }
        let scale = self.view.word_scale;
        self.room_line().is_some_and(|(_, place)| place.contains(x.div_euclid(scale), y.div_euclid(scale)))
    }
}
