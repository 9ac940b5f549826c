//! What the room tells: words in the corner, things to remember, rooms to choose from, how a match
//! ended.

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

/// How long something is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Keeping {
    /// As long as the browser lasts.
    Lasting,
    /// As long as this tab lasts.
    Tab,
}

/// Something the page should remember, or forget if there is no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Keep {
    /// Name of the parameter.
    pub name: &'static str,
    /// Value of the parameter, if it has one.
    pub value: Option<String>,
    /// For how long.
    pub keeping: Keeping,
}

/// How long a link is shown that has to be copied by hand.
const LINK_SHOWN: Micros = Micros::from_secs(20);
/// What is kept behind the code of a room where two play at this keyboard.
const TWO: &str = "2";
/// What the lobby calls a mode whose matches do not count: their results are kept apart from those
/// of the mode itself.
const TRIAL: &str = "-trial";
/// What is said of one at its end.
pub(super) const TRIAL_SAID: &str = "A trial: not on the real leaderboard.";
/// Rooms shown in the menu.
const ROOMS_SHOWN: usize = 12;

/// What is known of the world outside, and what the page should do about it.
#[derive(Debug, Default)]
pub(super) struct Shelf {
    pub(super) keeps: VecDeque<Keep>,
    /// What the page's own address should ask for: where we are, or nowhere.
    address: Option<Option<String>>,
    /// Text for the clipboard.
    pub(super) copy: Option<String>,
    /// The page should let the player choose a file.
    pub(super) wants_file: bool,
    /// The page should ask for a text in its own way.
    pub(super) ask_for_text: Option<&'static str>,
    /// The cabinet that is to be switched on in the place of this one.
    pub(super) wanted: Option<&'static str>,
    /// The page should fill the screen, or stop doing so.
    pub(super) fill: bool,
    /// The leaderboard is open over the menu.
    pub(super) shows_top: bool,
    /// A file for the player to keep.
    pub(super) download: Option<Download>,
    /// What the last difference between games left, if ours was the wrong one.
    pub(super) bundle: Option<Vec<u8>>,
    pub(super) rooms: Vec<RoomLine>,
    /// The best of the mode that is chosen, once the lobby has told them.
    pub(super) top: Option<Vec<LeaderboardEntry>>,
    pub(super) best: Option<u32>,
    pub(super) is_elsewhere: bool,
    /// Until when a seat that another page has is taken over without a question.
    pub(super) follows_until: Option<Micros>,
    /// The room that did not let us in.
    pub(super) refused: Option<Refused>,
    pub(super) hidden_in_flight: bool,
    /// The match waits because the page lost the keyboard.
    pub(super) blurred_in_flight: bool,
    /// The room this tab was in before it was loaded again.
    pub(super) returns_to: Option<RoomCode>,
    pub(super) joining_since: Option<Micros>,
    pub(super) help_page: usize,
    /// What Tab has chosen on the panel or notice that is open.
    pub(super) tabbed: Option<usize>,
    pub(super) rates: Rates,
    /// The match on the screen, or the next one, does not count: see
    /// [`Params::is_trial`](crate::Params::is_trial).
    pub(super) is_trial: bool,
    /// The server is out of reach.
    pub(super) server_lost: bool,
    /// A peer's game differs from ours.
    pub(super) disagrees: bool,
    /// How often that happened.
    pub(super) desyncs: u32,
    /// The end of the running match was told to the lobby.
    reported: bool,
    /// A match was over: the next frame that is not begins another.
    was_over: bool,
    told_name: String,
    /// How many left with a goodbye, and how many without.
    pub(super) partings: [u32; 2],
}

/// The room that was kept, and how many played there.
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
    /// What the page should remember next.
    pub fn next_keep(&mut self) -> Option<Keep> {
        self.shelf.keeps.pop_front()
    }

    /// Query the page's address should have from now on, if it changed: a reload, or a friend with
    /// this address, means the room on the screen. See
    /// [`Params::moved`](crate::Params::moved).
    pub fn take_address(&mut self) -> Option<Option<String>> {
        self.shelf.address.take()
    }

    /// Whether the page should let the player choose a replay, for [`Arcade::open_replay`].
    pub fn take_wants_file(&mut self) -> bool {
        std::mem::take(&mut self.shelf.wants_file)
    }

    /// Whether the page should fill the screen, or stop doing so.
    pub fn take_fill(&mut self) -> bool {
        std::mem::take(&mut self.shelf.fill)
    }

    /// What the address of a link asks for; the link should go to the clipboard, and
    /// [`Arcade::copied`] says whether it did.
    pub fn take_copy(&mut self) -> Option<String> {
        self.shelf.copy.take()
    }

    /// A question the page should put to the player, whose answer goes to [`Arcade::enter_text`].
    pub fn take_question(&mut self) -> Option<&'static str> {
        self.shelf.ask_for_text.take()
    }

    /// What stands in the field it is about.
    pub fn field(&self) -> &str {
        self.menu.field()
    }

    /// The cabinet the page should open in the place of this one; if it cannot, see
    /// [`Arcade::miss`].
    pub fn take_wanted(&mut self) -> Option<&'static str> {
        self.shelf.wanted.take()
    }

    /// What the page should give to the player as a file.
    pub fn take_download(&mut self) -> Option<Download> {
        self.shelf.download.take()
    }

    /// The six letters of the room we are in.
    pub(super) fn room_code(&mut self) -> Option<String> {
        let room = self.cabinet.room_mut().lobby_client()?.room()?;
        Some(room.code.to_string())
    }

    /// What the lobby calls the mode that is chosen.
    pub(super) fn mode_label(&self) -> Label {
        let (label, _) = self.cabinet.about().modes[self.menu.mode];
        let trial = if self.shelf.is_trial { TRIAL } else { "" };
        // What a cabinet calls itself and its modes is made of small letters.
        format!("{label}{trial}").parse().unwrap_or_default()
    }

    /// What is said in the corner right now.
    pub fn toast(&self) -> Option<&str> {
        self.toasts.current()
    }

    /// Everything that is said in the corner right now, the newest first.
    pub fn toasts(&self) -> impl Iterator<Item = &str> {
        self.toasts.texts()
    }

    /// Asks for what the menu shows: open rooms, the best, one's own best.
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

    /// Tells the lobby what the player is called, if that changed.
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

    /// A link to whatever of this game.
    pub(super) fn copy(&mut self, to: &str) {
        self.shelf.copy = Some(self.query(to));
    }

    /// What became of [`Arcade::take_copy`]: the link is on the clipboard, or has to be copied by
    /// hand.
    pub fn copied(&mut self, link: &str, done: bool) {
        if done {
            self.toasts.push(None, "Link copied. Send it to a friend.".to_string(), false);
        } else {
            // A shown link needs no scheme; the clipboard has it.
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
        // The menu says by itself how the lobby is.
        let is_shown = self.screen == Screen::Menu
            && matches!(event, RoomEvent::LobbyDisconnected | RoomEvent::LobbyReconnected);
        let watches = matches!(self.cabinet.room().join_target(), JoinTarget::Spectate(_));
        let are_two = self.players > 1;
        let is_shown = is_shown || self.is_about_old_room(event);
        // News of a flight are none in the menu; what the lobby refuses is.
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
                self.listen_anew();
                self.invite_if_wanted();
            }
            RoomEvent::RequestRejected { rejection: refusal, .. } => self.hear_refusal(refusal),
            RoomEvent::RoomListChanged => self.list_rooms(),
            RoomEvent::ResultStored => self.look_around(),
            // The room has a seat left, but not two.
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

    /// Whether it says that the room asked for lets no player in: see [`Arcade::hear_refusal`].
    fn is_about_old_room(&self, event: &RoomEvent) -> bool {
        let wish = self.cabinet.room().join_target().clone();
        // What a notice says needs no other words.
        matches!(event, RoomEvent::RequestRejected { rejection: refusal, .. } if is_about_room(refusal.code))
            && (self.is_refused()
                || self.screen == Screen::Flying
                    && matches!(wish, JoinTarget::Code(_) | JoinTarget::Spectate(_)))
    }

    /// We are in a room: remembered in case the page is reloaded, unless we only look on.
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

    /// We have a seat where matches count: takes it as everybody else does.
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

    /// Tells the lobby how a match ended, once, and that another one begins.
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
