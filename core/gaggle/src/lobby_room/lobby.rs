//! What the lobby says, and what follows from it.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Mesh, PathChanged};
use gaggle_lobby::client::{Client, ClientEvent, ClientOutput, LobbySocket, SocketEvent};
use gaggle_lobby::message::client::{Create, Find, Ice, Join, Leave};
use gaggle_lobby::view::{LeaveReason, Member, RawJson, RestChanged, RoomUpdate, RoomView};
use gaggle_lobby::{LocalPlayers, RejectionCode, ServerMessage};

use super::{LobbyAction, LobbyRoom};
use crate::config::{JoinTarget, StartMode};
use crate::event::RoomEvent;
use crate::platform::Platform;

/// The lobby's word that a peer left may overtake its own goodbye to the match: so long it is
/// waited for.
const FAREWELL: Micros = Micros::from_millis(400);
/// The same for a player who looks away: its machine may not answer any more, so that the match
/// would stand still.
const REST_FAREWELL: Micros = Micros::from_millis(100);
/// A server that was lost knows no peer that has not come back to it. A peer missing just then is
/// waited for, because the match never stopped.
const JUST_BACK: Micros = Micros::from_secs(2);
const COME_BACK_WITHIN: Micros = Micros::from_secs(60);

/// For so long a player who comes to a room where everybody rests tries to get the match of those
/// who rest. Their machines may be asleep.
const HAND_OVER: Micros = Micros::from_millis(800);

/// No sooner are servers that help to find a way asked for again.
const ICE_AGAIN: Micros = Micros::from_secs(30);

impl<S, P: Platform> LobbyRoom<S, P> {
    /// Asks for the seat we wish for, at the price of one we have elsewhere if `switch`. Nothing
    /// waits for the answer.
    pub(super) fn ask_for_seat(&mut self, switch: bool) {
        if switch {
            self.tell_score();
        }
        let config = &self.config;
        let (game, mode, build, palette) =
            (config.game.clone(), config.mode.clone(), self.build_id.clone(), config.preferred_slot);
        let (seats, settings) = (Some(config.max_players), config.room_settings.clone());
        let players =
            LocalPlayers::new(config.local_players.min(LocalPlayers::MAX.into()) as u8).unwrap_or_default();
        let Some(client) = &mut self.lobby_client else { return };
        let asked = match &config.join {
            JoinTarget::Matchmake => {
                client.find(Find { game, mode, build, seats, players, palette, switch, settings })
            }
            JoinTarget::CreatePrivate => {
                let (drop_in, host_starts) = match config.start {
                    StartMode::DropIn => (true, false),
                    StartMode::HostStarts { join_late } => (join_late, join_late),
                };
                let private = true;
                client.create(Create {
                    game,
                    mode,
                    build,
                    seats,
                    players,
                    private,
                    drop_in,
                    host_starts,
                    palette,
                    switch,
                    settings,
                })
            }
            JoinTarget::Code(code) => {
                client.join(Join { code: Some(*code), build, players, palette, switch, ..Join::default() })
            }
            JoinTarget::Spectate(code) => {
                client.join(Join { code: Some(*code), build, switch, watch: true, ..Join::default() })
            }
            JoinTarget::Browse | JoinTarget::Offline => return,
        };
        self.seat_asked = Some(asked);
    }

    /// We have a seat that is not what we wish for.
    fn seek_elsewhere(&mut self) {
        match (&self.config.join, &mut self.lobby_client) {
            (JoinTarget::Browse | JoinTarget::Offline, Some(client)) => {
                client.leave(Leave::default());
            }
            _ => self.ask_for_seat(true),
        }
    }

    /// There is no seat as we wish for. One from before, which no player here uses, is of no use
    /// to us, and others wait for it.
    fn leave_unwished(&mut self) {
        if self.seat.is_none()
            && let Some(client) = self.lobby_client.as_mut().filter(|client| client.room().is_some())
        {
            client.leave(Leave::default());
        }
    }

    /// Moves texts between the socket and the client. Then there may be
    /// [errands](LobbyRoom::poll_action).
    pub(crate) fn listen(&mut self) {
        self.tell_due_score();
        let now = self.now;
        self.ask_for_round_again();
        let Some(client) = &mut self.lobby_client else { return };
        while let Some(event) = self.platform.lobby().poll() {
            match event {
                SocketEvent::Opened => client.handle_open(now),
                SocketEvent::Text(text) => client.handle_text(now, &text),
                SocketEvent::Closed => client.handle_closed(now),
            }
        }
        client.handle_timeout(now);
        if self.seat.is_some() && self.ice_due.is_some_and(|at| at <= now) {
            self.ice_due = Some(now + ICE_AGAIN);
            self.ice_asked = Some(client.refresh_ice(Ice {}));
        }
        if self.mesh.as_mut().is_some_and(|mesh| mesh.wants_ticket(now)) {
            client.renew_ticket(now);
        }
        while let Some((peer, text)) = self.mesh.as_mut().and_then(Mesh::poll_signal) {
            client.send_signal(peer, RawJson::string(&text));
        }
        while let Some(change) = self.mesh.as_mut().and_then(Mesh::poll_path_change) {
            let PathChanged { peer, path, reason } = change;
            self.push(RoomEvent::PathChanged { peer, name: self.name(peer), path, reason });
        }
        self.carry_out();
    }

    /// What whoever plays has to do next.
    pub(crate) fn poll_action(&mut self) -> Option<LobbyAction> {
        while let Some(event) = self.lobby_client.as_mut().and_then(Client::poll_event) {
            let errand = self.hear(event);
            if errand.is_some() {
                return errand;
            }
        }
        self.carry_out();
        None
    }

    pub(super) fn carry_out(&mut self) {
        let Some(client) = &mut self.lobby_client else { return };
        while let Some(output) = client.poll_output() {
            match output {
                ClientOutput::Connect => self.platform.lobby().connect(),
                ClientOutput::Send(text) => self.platform.lobby().send(&text),
                ClientOutput::Disconnect => self.platform.lobby().disconnect(),
            }
        }
    }

    fn hear(&mut self, event: ClientEvent) -> Option<LobbyAction> {
        match event {
            ClientEvent::SignInRejected(rejection) => {
                self.config.lobby.token = None;
                self.push(RoomEvent::SignInRejected(rejection));
            }
            ClientEvent::Connected { key, name, signed_in, .. } => {
                self.hear_welcome(key, signed_in.then_some(name.as_str()));
            }
            ClientEvent::Disconnected { .. } if self.server_lost => {}
            ClientEvent::Disconnected { .. } => {
                self.server_lost = true;
                self.push(RoomEvent::LobbyDisconnected);
            }
            ClientEvent::OpenedElsewhere { .. } => self.push(RoomEvent::OpenedElsewhere),
            // Another tab took over. It is the same machine to the others, so that our links would
            // only be in its way.
            ClientEvent::Closed(refusal) if refusal.code == RejectionCode::Replaced => {
                let errand = self.lose_seat(LeaveReason::ConnectionLost);
                self.push(RoomEvent::OpenedElsewhere);
                return errand;
            }
            // Nobody asked for that but us, and we will again.
            ClientEvent::Rejected { request, .. } if self.ice_asked == Some(request) => {
                self.ice_asked = None;
            }
            ClientEvent::Rejected { request, refusal } if self.is_too_early(request, refusal.code) => {}
            ClientEvent::Rejected { request, refusal } => {
                if self.seat_asked == Some(request) {
                    self.leave_unwished();
                }
                self.push(RoomEvent::RequestRejected { request: Some(request), rejection: refusal });
            }
            ClientEvent::Closed(rejection) => {
                self.push(RoomEvent::RequestRejected { request: None, rejection });
            }
            ClientEvent::RoomJoined { created, returned, .. } => return self.take_seat(created, returned),
            ClientEvent::RoomUpdated(event) => {
                self.hear_room(&event);
                if let RoomUpdate::StatusChanged(change) = &event {
                    let action = self.hear_status(change);
                    return Some(action.unwrap_or(LobbyAction::MembersChanged));
                }
                let me = self.me();
                let is_woken = matches!(event, RoomUpdate::RestChanged(RestChanged { peer, resting: false }) if Some(peer) == me);
                return Some(if is_woken { LobbyAction::Resumed } else { LobbyAction::MembersChanged });
            }
            ClientEvent::RoomLeft { reason, .. } => return self.lose_seat(reason),
            ClientEvent::Signal { from, data } => {
                let text = data.to_text().filter(|_| !self.is_shunned(from));
                if let (Some(text), Some(mesh)) = (text, &mut self.mesh) {
                    // The mesh counts what is not a signal; its sender runs other software.
                    let _ = mesh.handle_signal(self.now, from, &text);
                }
            }
            ClientEvent::SignalsLost => self.connect_to_all(),
            ClientEvent::TicketRenewed => {
                let ticket = self.lobby_client.as_ref().and_then(Client::ticket);
                if let (Some(ticket), Some(mesh)) = (ticket, &mut self.mesh) {
                    mesh.set_ticket(self.now, ticket);
                }
            }
            ClientEvent::RoomListChanged => self.push(RoomEvent::RoomListChanged),
            ClientEvent::Replied { request, answer } if self.ice_asked == Some(request) => {
                self.ice_asked = None;
                if let ServerMessage::IceServers(ice) = answer {
                    // Half of the time they count, so that one answer may get lost.
                    self.ice_due = Some(self.now + ICE_AGAIN.max(Micros::from_secs(ice.ttl / 2)));
                    if let Some(mesh) = &mut self.mesh {
                        mesh.set_ice_servers(&ice.servers);
                    }
                }
            }
            ClientEvent::Replied { request, answer } => {
                self.push(RoomEvent::LobbyReply { request, answer: Box::new(answer) });
            }
            _ => {}
        }
        None
    }

    fn hear_welcome(&mut self, key: Option<String>, signed_in_as: Option<&str>) {
        if let Some(name) = signed_in_as.filter(|_| !std::mem::replace(&mut self.signed_in, true)) {
            self.push(RoomEvent::SignedIn { name: name.to_string() });
        }
        if std::mem::take(&mut self.server_lost) {
            self.back_at = Some(self.now);
            self.push(RoomEvent::LobbyReconnected);
        }
        if let Some(key) = key {
            self.push(RoomEvent::GuestKey(key));
        }
    }

    fn hear_room(&mut self, event: &RoomUpdate) {
        self.learn_names();
        self.report_roles(event);
        match event {
            RoomUpdate::Joined(joined) => {
                self.leaving.retain(|(_, peer)| *peer != joined.member.peer);
                if let Some(mesh) = &mut self.mesh {
                    mesh.add_peer(self.now, joined.member.peer);
                }
            }
            RoomUpdate::RestChanged(RestChanged { peer, resting }) if Some(*peer) != self.me() => {
                self.leaving.retain(|(_, leaver)| leaver != peer);
                if !resting {
                    self.connect_to(*peer);
                } else if self.is_shunned(*peer) {
                    self.leaving.push((self.now + REST_FAREWELL, *peer));
                }
            }
            RoomUpdate::Returned(returned) => {
                self.leaving.retain(|(_, peer)| *peer != returned.peer);
                self.connect_to(returned.peer);
            }
            // The seat waits for them, but nobody else does.
            RoomUpdate::Away(away) if away.left => self.schedule_removal(away.peer),
            RoomUpdate::Left(left) => self.schedule_removal(left.peer),
            RoomUpdate::ResultDecided(_) => self.push(RoomEvent::ResultStored),
            _ => {}
        }
    }

    /// Somebody left the room: lets go of them after a while.
    fn schedule_removal(&mut self, leaver: PeerId) {
        self.leaving.retain(|(_, peer)| *peer != leaver);
        let just_back = self.back_at.is_some_and(|at| self.now.since(at) < JUST_BACK);
        let patience = if just_back { COME_BACK_WITHIN } else { FAREWELL };
        self.leaving.push((self.now + patience, leaver));
    }

    fn take_seat(&mut self, created: bool, returned: bool) -> Option<LobbyAction> {
        let client = self.lobby_client.as_ref()?;
        let (room, (_, peer)) = (client.room()?, client.identity()?);
        let (seat, code, mode, round) = ((room.id, peer), room.code, room.mode.clone(), room.round);
        let (fits, inherited) = (self.fits(room), client.reused_slots());
        // Whoever the room was made for begins, also if others have followed before we heard of it.
        let watches = matches!(self.config.join, JoinTarget::Spectate(_));
        let is_host = |member: &Member| member.peer != peer && (watches || may_hand_over(member));
        let joins = !created && room.players().any(is_host);
        if self.seat == Some(seat) {
            // Only the connection to the lobby was lost: the match never stopped.
            self.connect_to_all();
            return Some(LobbyAction::MembersChanged);
        }
        if !fits {
            self.seek_elsewhere();
            return None;
        }
        // Whoever comes by a code plays as it is played there.
        self.config.mode = mode;
        self.push(RoomEvent::RoomJoined { code, resumed: returned });
        if self.seat.is_some() {
            self.mesh = None;
            self.inbox.values.forget(None);
        }
        (self.seat, self.reused_slots, self.joins) = (Some(seat), inherited, joins);
        self.links_renewed_for = round;
        self.results.forget_score();
        self.learn_names();
        self.open_links();
        if self.is_waiting() {
            self.joins = false;
            return Some(LobbyAction::EnterLobby);
        }
        Some(if joins { LobbyAction::JoinMatch } else { LobbyAction::OpenMatch })
    }

    /// Whether this is a room as we wish for. A seat from before may be in another.
    fn fits(&self, room: &RoomView) -> bool {
        let config = &self.config;
        let is_wished = match &config.join {
            JoinTarget::Matchmake => room.mode == config.mode,
            JoinTarget::CreatePrivate => room.private && room.mode == config.mode,
            JoinTarget::Code(code) | JoinTarget::Spectate(code) => room.code == *code,
            JoinTarget::Browse | JoinTarget::Offline => false,
        };
        is_wished && room.game == config.game && room.build == self.build_id
    }

    fn lose_seat(&mut self, reason: LeaveReason) -> Option<LobbyAction> {
        self.seat.take()?;
        self.mesh = None;
        self.inbox.values.forget(None);
        self.push(RoomEvent::RoomLeft { reason });
        Some(LobbyAction::GoSolo)
    }

    /// Whether others play in the room and look at it, as far as the lobby said.
    pub(crate) fn has_others_awake(&self) -> bool {
        self.others().any(|member| !member.resting)
    }

    /// We are in the match: those who let us in and rest have no part in it any more. Lets go of
    /// them, and says who they are.
    pub(crate) fn end_joining(&mut self) -> Vec<PeerId> {
        self.joins = false;
        let shunned = |member: &&Member| self.is_shunned(member.peer);
        let resting: Vec<PeerId> = self.others().filter(shunned).map(|member| member.peer).collect();
        self.leaving.retain(|(_, peer)| !resting.contains(peer));
        self.leaving.extend(resting.iter().map(|peer| (self.now + REST_FAREWELL, *peer)));
        resting
    }

    /// How long an attempt to come into a match may take. Those who rest are not waited for.
    pub(crate) fn join_timeout(&self) -> Micros {
        let watches = matches!(self.config.join, JoinTarget::Spectate(_));
        match (watches || self.has_others_awake(), self.others().any(may_hand_over)) {
            (true, _) => self.config.join_timeout,
            (false, true) => HAND_OVER,
            (false, false) => Micros::ZERO,
        }
    }

    /// Whether there should be no link to a member: it rests, and there is nothing it could hand
    /// over.
    pub(crate) fn is_shunned(&self, peer: PeerId) -> bool {
        // A spectator waits for no peer.
        let watches = matches!(self.config.join, JoinTarget::Spectate(_));
        let rests = self.others().any(|member| member.peer == peer && member.resting);
        rests && !watches && (!self.joins || self.has_others_awake())
    }

    fn others(&self) -> impl Iterator<Item = &Member> {
        let (me, room) = (self.me(), self.lobby_client.as_ref().and_then(Client::room));
        room.into_iter().flat_map(RoomView::players).filter(move |member| Some(member.peer) != me)
    }

    /// Whether others have seats in the room, as far as the lobby said.
    pub(crate) fn has_others(&self) -> bool {
        let room = self.lobby_client.as_ref().and_then(Client::room);
        self.me().zip(room).is_some_and(|(me, room)| is_somebody_else(room, me))
    }
}

/// A player who rests and whom the server cannot reach either is asleep.
fn may_hand_over(member: &Member) -> bool {
    !(member.resting && member.away)
}

fn is_somebody_else(room: &RoomView, me: PeerId) -> bool {
    room.players().any(|member| member.peer != me)
}
