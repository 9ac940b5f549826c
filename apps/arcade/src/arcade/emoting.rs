//! Emotes in a match: keys and taps that send them, received ones, and muting. `Arcade` calls it.
//! Absent: pictures of emotes (`emotes.rs`).

use gaggle::Slot;
use gaggle::lobby::PlayerId;
use gaggle_scene::Scene;

use super::{Arcade, Screen};
use crate::Notice;
use crate::emotes::{self, Emotes, Picked, Picker};

/// Emote panel that is open over the match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Open {
    #[default]
    Nothing,
    /// The eight emotes.
    Picker,
    /// The other players, to be muted.
    Mutes,
}

/// Emotes, and the open panel.
#[derive(Default)]
pub(super) struct Emoting {
    emotes: Emotes,
    open: Open,
}

impl Emoting {
    pub(super) fn clear(&mut self) {
        self.emotes.clear();
        self.open = Open::Nothing;
    }
}

impl Arcade {
    /// Takes emotes that other players sent.
    pub(super) fn hear_messages(&mut self) {
        while let Some((peer, bytes)) = self.cabinet.room_mut().poll_message() {
            let room = self.cabinet.room_mut().lobby_client().and_then(|lobby| lobby.room());
            let player = room.and_then(|room| room.member(peer)).map(|member| member.player);
            if let (Some(player), Some(seat)) = (player, self.cabinet.room().seat_of(peer)) {
                self.emoting.emotes.hear(self.now, player, seat, &bytes);
            }
        }
    }

    /// Whether emotes are possible: other players see them.
    pub(super) fn can_emote(&self) -> bool {
        let flies = self.screen == Screen::Flying && !self.is_board_up() && !self.is_watching();
        flies && self.cabinet.room().has_company()
    }

    /// Number of emotes on the screen.
    pub(super) fn emotes_shown(&self) -> usize {
        self.emoting.emotes.on_screen(self.now).len()
    }

    fn emote(&mut self, nth: usize) {
        let Some(seat) = self.cabinet.room().local_slots().lowest().map(Slot::index) else { return };
        if let Some(message) = self.emoting.emotes.send(self.now, seat, nth) {
            // A peer whose buffer is full misses the emote.
            let _ = self.cabinet.room_mut().send_message(None, &message);
        }
    }

    /// Handles a key in a match. True if it was an emote, or muting.
    pub(super) fn press_emote(&mut self, code: &str) -> bool {
        if !self.can_emote() {
            return false;
        }
        if code == "KeyE" {
            self.emoting.open = if self.emoting.open == Open::Mutes { Open::Nothing } else { Open::Mutes };
            return true;
        }
        let digit = code.strip_prefix("Digit").and_then(|digit| digit.parse::<usize>().ok());
        let Some(nth) = digit.and_then(|digit| digit.checked_sub(1)).filter(|nth| *nth < emotes::COUNT)
        else {
            return false;
        };
        if self.emoting.open == Open::Mutes {
            self.toggle_mute(nth);
        } else {
            self.emote(nth);
        }
        true
    }

    /// Handles a tap. True if it was on an emote panel.
    pub(super) fn tap_emotes(&mut self, x: i32, y: i32) -> bool {
        if !self.can_emote() {
            return false;
        }
        match self.emoting.open {
            Open::Nothing if self.touch.used && emotes::asks_for_picker(self.view, x, y) => {
                self.emoting.open = Open::Picker;
            }
            Open::Nothing => return false,
            Open::Picker => {
                let picked = Picker::of(self.view).picked_at(self.view, x, y);
                self.emoting.open = if picked == Some(Picked::Mutes) { Open::Mutes } else { Open::Nothing };
                if let Some(Picked::Emote(nth)) = picked {
                    self.emote(nth);
                }
            }
            Open::Mutes => {
                let view = self.view;
                match self.mutes(|notice, others| notice.key_at(view, x, y).filter(|nth| *nth < others)) {
                    Some(nth) => self.toggle_mute(nth),
                    None => self.emoting.open = Open::Nothing,
                }
            }
        }
        true
    }

    /// Whether a click on the open panel does something; none while none is open.
    pub(super) fn emotes_answer(&mut self, x: i32, y: i32) -> Option<bool> {
        let view = self.view;
        match self.emoting.open {
            _ if !self.can_emote() => None,
            Open::Nothing => None,
            Open::Picker => Some(Picker::of(view).picked_at(view, x, y).is_some()),
            Open::Mutes => Some(self.mutes(|notice, _| notice.key_at(view, x, y).is_some())),
        }
    }

    /// Closes the open panel. True if one was open.
    pub(super) fn close_emotes(&mut self) -> bool {
        std::mem::take(&mut self.emoting.open) != Open::Nothing
    }

    /// The other players of the room: account, slot, name.
    fn others(&mut self) -> Vec<(PlayerId, Option<usize>, String)> {
        let people = self.cabinet.room_mut().members();
        let Some(room) = self.cabinet.room_mut().lobby_client().and_then(|lobby| lobby.room()) else {
            return Vec::new();
        };
        let others = people.into_iter().filter(|person| !person.is_local && !person.slots.is_empty());
        let one = |person: gaggle::Member| {
            let player = room.member(person.peer)?.player;
            Some((player, person.slots.lowest().map(Slot::index), person.name))
        };
        others.filter_map(one).take(emotes::COUNT).collect()
    }

    fn toggle_mute(&mut self, nth: usize) {
        if let Some((player, seat, _)) = self.others().get(nth) {
            self.emoting.emotes.toggle(*player, *seat);
        }
    }

    fn mutes<T>(&mut self, tell: impl FnOnce(&Notice<'_>, usize) -> T) -> T {
        const DIGITS: [&str; emotes::COUNT] = ["1", "2", "3", "4", "5", "6", "7", "8"];
        let others = self.others();
        let lines: Vec<String> = others
            .iter()
            .map(|(player, _, name)| {
                let muted = self.emoting.emotes.is_muted(*player);
                format!("{name}: {}", if muted { "muted" } else { "shown" })
            })
            .collect();
        let rows = DIGITS.into_iter().zip(lines.iter().map(String::as_str));
        let keys: Vec<(&str, &str)> = rows.chain([("E", "done")]).collect();
        let notice = Notice { heading: "Whose emotes are shown?", keys: &keys, ..Notice::default() };
        tell(&self.fitting(notice), others.len())
    }

    pub(super) fn draw_emotes(&mut self, over: &mut Scene) {
        let (view, now) = (self.view, self.now);
        self.emoting.emotes.draw(over, view, now, |seat| self.cabinet.place_of(seat));
        if !self.can_emote() {
            return;
        }
        if self.touch.used {
            emotes::draw_corner(over, view);
        }
        match self.emoting.open {
            Open::Nothing => {}
            Open::Picker => Picker::of(view).draw(over, view),
            Open::Mutes => self.mutes(|notice, _| notice.draw(over, view)),
        }
    }
}
