//! Room events: messages in the corner, values to store, open rooms, results of matches. `Arcade`
//! calls it. Absent: how rooms work (`gaggle`).

use std::collections::VecDeque;

use gaggle::lobby::message::client::{GetLeaderboard, GetMyStats, SubscribeRooms};
use gaggle::lobby::message::server::LeaderboardEntry;
use gaggle::lobby::{Label, RoomCode, ServerMessage};
use gaggle::{JoinTarget, LeaveCause, Micros, RoomEvent};

use super::doors::{Refused, is_about_room};
use super::rates::Rates;
use super::{Arcade, Download, Screen};
use crate::words::line_for;
use crate::{RoomLine, keep_places};

/// How long a value is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// Until the browser's storage is cleared.
    Lasting,
    /// As long as this tab exists.
    Tab,
}

/// A value the page must store, or delete if there is none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// Name of the stored value.
    pub name: &'static str,
    /// The value, or none to delete it.
    pub value: Option<String>,
    /// How long to store it.
    pub keeping: Keeping,
}

/// How long a link is shown that must be copied by hand.
const LINK_SHOWN: Micros = Micros::from_secs(20);
/// Suffix of a stored room code if two players play at this keyboard.
const TWO: &str = "2";
/// Suffix of a mode whose matches do not count, so that the lobby stores their results separately.
const TRIAL: &str = "-trial";
/// Message at the end of such a match.
pub(super) const TRIAL_SAID: &str = "A trial: not on the real leaderboard.";
/// Most rooms shown in the menu.
const ROOMS_SHOWN: usize = 12;

/// State of the network and the lobby, and requests to the page.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) keeps: VecDeque<Keep>,
    /// Query for the page's address: the current room, or none.
    address: Option<Option<String>>,
    /// Text for the clipboard.
    pub(super) copy: Option<String>,
    /// Whether the page must let the player choose a file.
    pub(super) wants_file: bool,
    /// Prompt for a text that the page must ask for.
    pub(super) ask_for_text: Option<&'static str>,
    /// Cabinet that is to be opened instead of this one.
    pub(super) wanted: Option<&'static str>,
    /// Whether the page must enter or leave full screen.
    pub(super) fill: bool,
    /// Whether the leaderboard is open over the menu.
    pub(super) shows_top: bool,
    /// A file for the player to save.
    pub(super) download: Option<Download>,
    /// Bundle of the last desync in which the local state was wrong.
    pub(super) bundle: Option<Vec<u8>>,
    pub(super) rooms: Vec<RoomLine>,
    /// Best results of the chosen mode, once the lobby has sent them.
    pub(super) top: Option<Vec<LeaderboardEntry>>,
    pub(super) best: Option<u32>,
    pub(super) is_elsewhere: bool,
    /// Until when a reservation of another page is taken over without asking.
    pub(super) follows_until: Option<Micros>,
    /// The room that rejected this player.
    pub(super) refused: Option<Refused>,
    pub(super) hidden_in_flight: bool,
    /// Whether the match is paused because the page lost the keyboard focus.
    pub(super) blurred_in_flight: bool,
    /// The room this tab was in before it was reloaded.
    pub(super) returns_to: Option<RoomCode>,
    pub(super) joining_since: Option<Micros>,
    pub(super) help_page: usize,
    /// Element that Tab has focused on the open panel or notice.
    pub(super) tabbed: Option<usize>,
    pub(super) rates: Rates,
    /// Whether the shown match, or the next one, does not count: see
    /// [`Params::is_trial`](crate::Params::is_trial).
    pub(super) is_trial: bool,
    /// Whether the lobby cannot be reached.
    pub(super) server_lost: bool,
    /// Whether a peer's state differs from the local one.
    pub(super) disagrees: bool,
    /// Number of desyncs.
    pub(super) desyncs: u32,
    /// Whether the end of the running match was reported to the lobby.
    reported: bool,
    /// Whether a match was over: the next frame that is not over begins another.
    was_over: bool,
    told_name: String,
    /// Number of players that left, and of players that timed out.
    pub(super) partings: [u32; 2],
}

/// The stored room, and the number of local players there.
pub(super) fn read_room(kept: &str) -> (Option<RoomCode>, usize) {
    let (code, players) = kept.strip_suffix(TWO).map_or((kept, 1), |code| (code, 2));
    (code.parse().ok(), players)
}

impl Shelf {
    pub(super) fn begin_match(&mut self) {
        (self.reported, self.was_over, self.disagrees) = (false, false, false);
    }

    pub(super) fn left_room(&mut self) {
        self.keep("room", None, Keeping::Tab);
        self.address = Some(None);
    }

    pub(super) fn keep(&mut self, name: &'static str, value: Option<String>, keeping: Keeping) {
        self.keeps.push_back(Keep { name, value, keeping });
    }
}

impl Arcade {
    /// Next value the page must store.
    pub fn next_keep(&mut self) -> Option<Keep> {
        self.shelf.keeps.pop_front()
    }

    /// New query for the page's address, if it changed: a reload, or a friend with this address,
    /// joins the shown room. See [`Params::moved`](crate::Params::moved).
    pub fn take_address(&mut self) -> Option<Option<String>> {
        self.shelf.address.take()
    }

    /// Whether the page must let the player choose a replay, for [`Arcade::open_replay`].
    pub fn take_wants_file(&mut self) -> bool {
        std::mem::take(&mut self.shelf.wants_file)
    }

    /// Whether the page must enter or leave full screen.
    pub fn take_fill(&mut self) -> bool {
        std::mem::take(&mut self.shelf.fill)
    }

    /// Query of a link that the page must copy to the clipboard; it reports the result to
    /// [`Arcade::copied`].
    pub fn take_copy(&mut self) -> Option<String> {
        self.shelf.copy.take()
    }

    /// A question the page must ask the player; the answer goes to [`Arcade::enter_text`].
    pub fn take_question(&mut self) -> Option<&'static str> {
        self.shelf.ask_for_text.take()
    }

    /// Current text of the field that the question is about.
    pub fn field(&self) -> &str {
        self.menu.field()
    }

    /// The cabinet the page must open instead of this one; if that fails, it calls
    /// [`Arcade::miss`].
    pub fn take_wanted(&mut self) -> Option<&'static str> {
        self.shelf.wanted.take()
    }

    /// A file the page must give to the player.
    pub fn take_download(&mut self) -> Option<Download> {
        self.shelf.download.take()
    }

    /// Code of the current room.
    pub(super) fn room_code(&mut self) -> Option<String> {
        let room = self.cabinet.room_mut().lobby_client()?.room()?;
        Some(room.code.to_string())
    }

    /// Name of the chosen mode for the lobby.
    pub(super) fn mode_label(&self) -> Label {
        let (label, _) = self.cabinet.about().modes[self.menu.mode];
        let trial = if self.shelf.is_trial { TRIAL } else { "" };
        // Cabinet and mode names consist of characters that labels allow.
        format!("{label}{trial}").parse().unwrap_or_default()
    }

    /// The message in the corner.
    pub fn toast(&self) -> Option<&str> {
        self.toasts.current()
    }

    /// All messages in the corner, the newest first.
    pub fn toasts(&self) -> impl Iterator<Item = &str> {
        self.toasts.texts()
    }

    /// Requests data of the menu: open rooms, leaderboard, the player's best result.
    pub(super) fn look_around(&mut self) {
        let (build, mode) = (self.cabinet.room().build_id().clone(), self.mode_label());
        let game: Label = self.cabinet.about().name.parse().unwrap_or_default();
        let Some(lobby) = self.cabinet.room_mut().lobby_client() else { return };
        lobby.subscribe_rooms(SubscribeRooms {
            game: game.clone(),
            build,
            all: true,
            ..SubscribeRooms::default()
        });
        lobby.leaderboard(GetLeaderboard {
            game: game.clone(),
            mode: mode.clone(),
            count: Some(9),
            ..GetLeaderboard::default()
        });
        lobby.my_stats(GetMyStats { game, mode });
    }

    /// Sends the player's name to the lobby, if it changed.
    pub(super) fn tell_name(&mut self) {
        let name = self.menu.name().trim().to_string();
        if !name.is_empty() && name != self.shelf.told_name {
            self.cabinet.room_mut().set_name(&name);
            self.shelf.keep("name", Some(name.clone()), Keeping::Lasting);
            self.shelf.told_name = name;
        }
    }

    pub(super) fn copy_link(&mut self) {
        match self.room_code() {
            Some(code) => self.copy(&format!("room={code}")),
            None => self.toasts.push(None, "No room yet, no link.".to_string(), true),
        }
    }

    /// Copies a link to a part of this game.
    pub(super) fn copy(&mut self, to: &str) {
        self.shelf.copy = Some(self.query(to));
    }

    /// Result of [`Arcade::take_copy`]: the link is on the clipboard, or must be copied by hand.
    pub fn copied(&mut self, link: &str, done: bool) {
        if done {
            self.toasts.push(None, "Link copied. Send it to a friend.".to_string(), false);
        } else {
            // The shown link needs no scheme, unlike the copied one.
            let short = ["https://", "http://"].iter().find_map(|scheme| link.strip_prefix(scheme));
            let short = short.unwrap_or(link);
            self.toasts.push_for(LINK_SHOWN, format!("No clipboard here. The link: {short}"));
        }
    }

    pub(super) fn hear_room(&mut self) {
        while let Some(event) = self.cabinet.room_mut().poll_event() {
            self.hear(&event);
        }
        let joining = self.is_joining();
        self.shelf.joining_since = joining.then(|| self.shelf.joining_since.unwrap_or(self.now));
    }

    pub(super) fn hear(&mut self, event: &RoomEvent) {
        let has_company = self.cabinet.room().has_company();
        // The menu itself shows the state of the lobby.
        let is_shown = self.screen == Screen::Menu
            && matches!(event, RoomEvent::LobbyDisconnected | RoomEvent::LobbyReconnected);
        let watches = matches!(self.cabinet.room().join_target(), JoinTarget::Spectate(_));
        let are_two = self.players > 1;
        let is_shown = is_shown || self.is_about_old_room(event);
        // Messages about a match are not shown in the menu; rejections by the lobby are.
        let is_over = self.screen == Screen::Menu && !matches!(event, RoomEvent::RequestRejected { .. });
        let line = line_for(event, has_company, watches, are_two).filter(|_| !is_shown && !is_over);
        if let Some(mut line) = line {
            if self.touch.used && matches!(event, RoomEvent::SpectatingStarted) {
                line.text = "You look on. Tap to take a seat.".to_string();
            }
            let seat = match event {
                RoomEvent::PlayerJoined { peer, .. }
                | RoomEvent::PlayerLeft { peer, .. }
                | RoomEvent::PlayerInterrupted { peer, .. }
                | RoomEvent::PlayerResumed { peer, .. }
                | RoomEvent::LeaderChanged { peer, .. } => self.cabinet.room().seat_of(*peer),
                _ => None,
            };
            self.toasts.push(seat, line.text, line.warn);
        }
        match event {
            RoomEvent::GuestKey(key) => {
                self.shelf.keep("key", Some(key.clone()), Keeping::Lasting);
            }
            RoomEvent::RoomJoined { code, .. } => {
                self.shelf.returns_to = None;
                self.shelf.follows_until = None;
                self.shelf.is_elsewhere = false;
                self.sit_at(code.to_string());
            }
            RoomEvent::RoomLeft { .. } => {
                self.inviting.close();
                self.shelf.left_room();
                if matches!(self.cabinet.room().join_target(), JoinTarget::Spectate(_))
                    && self.screen != Screen::Menu
                {
                    self.leave_flight();
                }
            }
            RoomEvent::PlayerLeft { cause: parting, .. } => {
                self.shelf.partings[usize::from(*parting == LeaveCause::TimedOut)] += 1;
            }
            RoomEvent::OpenedElsewhere => self.hear_elsewhere(),
            RoomEvent::LobbyDisconnected => self.shelf.server_lost = true,
            RoomEvent::LobbyReconnected => self.shelf.server_lost = false,
            RoomEvent::DesyncDetected { .. } => {
                self.shelf.disagrees = true;
                self.shelf.desyncs += 1;
            }
            RoomEvent::DesyncRecovered { .. } => {
                self.shelf.disagrees = false;
                self.keep_bundle();
            }
            RoomEvent::BranchAbandoned => self.keep_bundle(),
            RoomEvent::MatchJoined | RoomEvent::SpectatingStarted => {
                self.leave_lobby();
                self.listen_anew();
                self.invite_if_wanted();
            }
            RoomEvent::RequestRejected { rejection: refusal, .. } => self.hear_refusal(refusal),
            RoomEvent::RoomListChanged => self.list_rooms(),
            RoomEvent::ResultStored => self.look_around(),
            // The room has one free slot, but not two.
            RoomEvent::JoinFailed if are_two => self.cabinet.room_mut().join(JoinTarget::CreatePrivate),
            RoomEvent::LobbyReply { answer, .. } => match &**answer {
                ServerMessage::Leaderboard(list) => self.shelf.top = Some(list.entries.clone()),
                ServerMessage::MyStats(own) => {
                    self.shelf.best = own.best.as_ref().and_then(|best| u32::try_from(best.score).ok());
                }
                _ => {}
            },
            _ => {}
        }
    }

    /// Whether an event means that the requested room rejects all players: see
    /// [`Arcade::hear_refusal`].
    fn is_about_old_room(&self, event: &RoomEvent) -> bool {
        let wish = self.cabinet.room().join_target().clone();
        // A notice already shows it.
        matches!(event, RoomEvent::RequestRejected { rejection: refusal, .. } if is_about_room(refusal.code))
            && (self.is_refused()
                || self.screen == Screen::Flying
                    && matches!(wish, JoinTarget::Code(_) | JoinTarget::Spectate(_)))
    }

    /// Handles joining a room: stores it for a reload, unless this player spectates.
    fn sit_at(&mut self, code: String) {
        let mode = self
            .cabinet
            .room_mut()
            .lobby_client()
            .and_then(|lobby| lobby.room())
            .map(|room| room.mode.clone());
        let mode = mode.as_ref().map_or("", Label::as_str);
        let (label, is_trial) = mode.strip_suffix(TRIAL).map_or((mode, false), |label| (label, true));
        let nth = self.cabinet.about().modes.iter().position(|(name, _)| *name == label);
        self.menu.mode = nth.unwrap_or(self.menu.mode);
        self.shelf.is_trial = is_trial;
        let watches = matches!(self.cabinet.room().join_target(), JoinTarget::Spectate(_));
        if self.params.is_trial() && !is_trial && !watches {
            self.count_again(&code);
        } else if watches {
            self.shelf.address = Some(Some(format!("watch={code}")));
        } else {
            self.shelf.address = Some(Some(format!("room={code}")));
            let two = if self.players == 2 { TWO } else { "" };
            self.shelf.keep("room", Some(code + two), Keeping::Tab);
        }
    }

    /// Has a slot in a room where matches count: restarts as a counted match.
    fn count_again(&mut self, code: &str) {
        self.params.end_trial();
        let text = "Matches count here: no bots, lives or level.";
        self.toasts.push(None, text.to_string(), true);
        if let Ok(code) = code.parse() {
            self.take_off(self.players, JoinTarget::Code(code));
        }
    }

    fn list_rooms(&mut self) {
        let Some(lobby) = self.cabinet.room_mut().lobby_client() else { return };
        let mode = |mode: &str| match mode.strip_suffix(TRIAL) {
            Some(mode) => format!("{mode}, a trial"),
            None => mode.to_string(),
        };
        let line = |listing: &gaggle::lobby::message::server::Listing| RoomLine {
            code: listing.code.to_string(),
            mode: mode(listing.mode.as_str()),
            players: listing.players,
            seats: listing.max_players,
            watchers: listing.spectators,
            open: listing.open,
        };
        let listed = lobby.room_list().take(ROOMS_SHOWN).map(line).collect();
        keep_places(&mut self.shelf.rooms, listed);
        self.menu.set_rooms(&self.shelf.rooms);
    }

    /// Reports the end of a match to the lobby, once, and the beginning of another.
    pub(super) fn report_end(&mut self) {
        let over = self.cabinet.standing().over;
        if !over && std::mem::take(&mut self.shelf.was_over) {
            self.shelf.reported = false;
            self.cabinet.room_mut().start_round();
        }
        self.shelf.was_over = over;
        if let Some((points, level)) = self.cabinet.own_score().filter(|_| !over) {
            self.cabinet.room_mut().set_score(points, Some(level.max(1)));
        }
        if over && !self.shelf.reported && self.cabinet.report_result() {
            self.shelf.reported = true;
            self.look_around();
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle::{Frame, NoNetwork, PeerId};

    use super::*;
    use crate::{Opening, cabinets};

    #[test]
    fn differing_games_agree_again_after_recovery() {
        let (peer, name, frame) = (PeerId::from_u128(7), "Hob".to_string(), Frame::new(60));
        let mut arcade =
            Arcade::new(Micros::ZERO, Opening::default(), &cabinets::gander(), NoNetwork::default());
        arcade.hear(&RoomEvent::DesyncDetected { peer, name: name.clone(), frame });
        assert!(arcade.shelf.disagrees);
        arcade.hear(&RoomEvent::DesyncRecovered { peer, name, frame });
        assert_eq!((arcade.shelf.disagrees, arcade.shelf.desyncs), (false, 1));
        assert_eq!(arcade.shelf.bundle, None, "ours was not the wrong one");
    }

    #[test]
    fn late_news_of_flight_are_not_told_in_menu() {
        let (peer, name, frame) = (PeerId::from_u128(7), "Hob".to_string(), Frame::new(60));
        let news = RoomEvent::DesyncDetected { peer, name, frame };
        let mut arcade =
            Arcade::new(Micros::ZERO, Opening::default(), &cabinets::gander(), NoNetwork::default());
        arcade.hear(&news);
        assert_eq!((arcade.screen, arcade.toast()), (Screen::Menu, None));
        arcade.screen = Screen::Flying;
        arcade.hear(&news);
        assert!(arcade.toast().is_some(), "in a match it is told");
    }

    #[test]
    fn what_differed_can_be_saved_once() {
        let mut arcade =
            Arcade::new(Micros::ZERO, Opening::default(), &cabinets::gander(), NoNetwork::default());
        arcade.screen = Screen::Paused;
        let offers = |arcade: &mut Arcade| arcade.paused().keys.iter().any(|(key, _)| *key == "X");
        assert!(!offers(&mut arcade), "there is nothing");
        arcade.shelf.bundle = Some(vec![7]);
        assert!(offers(&mut arcade));
        arcade.key_down("KeyX", "x");
        let file = arcade.take_download().map(|file| (file.kind, file.bytes));
        assert_eq!((file, offers(&mut arcade)), (Some(("desync", vec![7])), false));
    }
}
