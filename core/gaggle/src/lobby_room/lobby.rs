//! Lobby messages and their effects. The room calls it in every update. Absent: the match.

use gaggle_kit::{Micros, PeerId, Slot};
use gaggle_link::{Mesh, PathChanged};
use gaggle_lobby::client::{Client, ClientEvent, ClientOutput, LobbySocket, SocketEvent};
use gaggle_lobby::message::client::{Create, Find, Ice, Join, Leave};
use gaggle_lobby::view::{LeaveReason, Member, RawJson, RestChanged, RoomUpdate, RoomView};
use gaggle_lobby::{LocalPlayers, RejectionCode, ServerMessage};

use super::{LobbyAction, LobbyRoom};
use crate::config::{JoinTarget, StartMode};
use crate::event::RoomEvent;
use crate::platform::Platform;

/// How long a peer that left the room stays in the match: its last packets may arrive later than
/// the lobby's message.
const FAREWELL: Micros = Micros::from_millis(400);
/// The same for a suspended peer, which may send no packets any more: the match would stall.
const REST_FAREWELL: Micros = Micros::from_millis(100);
/// The same after the connection to the server was lost: the server does not know a peer until that
/// peer has reconnected, though its match never stopped.
const JUST_BACK: Micros = Micros::from_secs(2);
const COME_BACK_WITHIN: Micros = Micros::from_secs(60);

/// How long a joiner tries to get the match of suspended members, whose pages may not run.
const HAND_OVER: Micros = Micros::from_millis(800);

/// Least time between two requests for ICE servers.
const ICE_AGAIN: Micros = Micros::from_secs(30);

impl<S, P: Platform> LobbyRoom<S, P> {
    /// Requests the room that is wanted. Nothing waits for the answer.
    pub(super) fn request_reservation(&mut self, leave_current: bool) {
        if leave_current {
            self.tell_score();
        }
        let config = &self.config;
        let (game, mode, build) = (config.game.clone(), config.mode.clone(), self.build_id.clone());
        let preferred_slot = config.preferred_slot.map(Slot::byte);
        let (max_players, settings) = (Some(config.max_players), config.room_settings.clone());
        let players =
            LocalPlayers::new(config.local_players.min(LocalPlayers::MAX.into()) as u8).unwrap_or_default();
        let Some(client) = &mut self.lobby_client else { return };
        let asked = match &config.join {
            JoinTarget::Matchmake => client.find(Find {
                game,
                mode,
                build,
                max_players,
                players,
                preferred_slot,
                leave_current,
                settings,
            }),
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
                    max_players,
                    players,
                    private,
                    drop_in,
                    host_starts,
                    preferred_slot,
                    leave_current,
                    settings,
                })
            }
            JoinTarget::Code(code) => client.join(Join {
                code: Some(*code),
                build,
                players,
                preferred_slot,
                leave_current,
                ..Join::default()
            }),
            JoinTarget::Spectate(code) => client.join(Join {
                code: Some(*code),
                build,
                leave_current,
                spectate: true,
                ..Join::default()
            }),
            JoinTarget::Browse | JoinTarget::Offline => return,
        };
        self.connection.reservation_request = Some(asked);
    }

    /// The reservation is not for the configured room: requests that one.
    fn request_other_room(&mut self) {
        match (&self.config.join, &mut self.lobby_client) {
            (JoinTarget::Browse | JoinTarget::Offline, Some(client)) => {
                client.leave(Leave::default());
            }
            _ => self.request_reservation(true),
        }
    }

    /// The requested room was rejected. Gives up an earlier reservation that no local player uses,
    /// because other peers would wait for it.
    fn leave_unwanted(&mut self) {
        if self.reservation.is_none()
            && let Some(client) = self.lobby_client.as_mut().filter(|client| client.room().is_some())
        {
            client.leave(Leave::default());
        }
    }

    /// Moves messages between the socket and the client. [Actions](LobbyRoom::poll_action) may
    /// follow.
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
        if self.reservation.is_some() && self.ice.due.is_some_and(|at| at <= now) {
            self.ice.due = Some(now + ICE_AGAIN);
            self.ice.asked = Some(client.refresh_ice(Ice {}));
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

    /// The next action of the engine.
    pub(crate) fn poll_action(&mut self) -> Option<LobbyAction> {
        while let Some(event) = self.lobby_client.as_mut().and_then(Client::poll_event) {
            let action = self.handle_client_event(event);
            if action.is_some() {
                return action;
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

    fn handle_client_event(&mut self, event: ClientEvent) -> Option<LobbyAction> {
        match event {
            ClientEvent::SignInRejected(rejection) => {
                self.config.lobby.token = None;
                self.push(RoomEvent::SignInRejected(rejection));
            }
            ClientEvent::Connected { key, name, signed_in, .. } => {
                self.handle_welcome(key, signed_in.then_some(name.as_str()));
            }
            ClientEvent::Disconnected { .. } if self.connection.server_lost => {}
            ClientEvent::Disconnected { .. } => {
                self.connection.server_lost = true;
                self.push(RoomEvent::LobbyDisconnected);
            }
            ClientEvent::OpenedElsewhere { .. } => self.push(RoomEvent::OpenedElsewhere),
            // Another tab took over. To the others it is the same peer, and links of this one would
            // conflict with its links.
            ClientEvent::Closed(refusal) if refusal.code == RejectionCode::Replaced => {
                let action = self.lose_reservation(LeaveReason::ConnectionLost);
                self.push(RoomEvent::OpenedElsewhere);
                return action;
            }
            // This peer requested it itself, and will request it again.
            ClientEvent::Rejected { request, .. } if self.ice.asked == Some(request) => {
                self.ice.asked = None;
            }
            ClientEvent::Rejected { request, refusal } if self.is_too_early(request, refusal.code) => {}
            ClientEvent::Rejected { request, refusal } => {
                if self.connection.reservation_request == Some(request) {
                    self.leave_unwanted();
                }
                self.push(RoomEvent::RequestRejected { request: Some(request), rejection: refusal });
            }
            ClientEvent::Closed(rejection) => {
                self.push(RoomEvent::RequestRejected { request: None, rejection });
            }
            ClientEvent::RoomJoined { created, returned, .. } => {
                return self.accept_reservation(created, returned);
            }
            ClientEvent::RoomUpdated(event) => {
                self.handle_room_update(&event);
                if let RoomUpdate::StatusChanged(change) = &event {
                    let action = self.handle_status(change);
                    return Some(action.unwrap_or(LobbyAction::MembersChanged));
                }
                let me = self.me();
                let is_woken = matches!(event, RoomUpdate::RestChanged(RestChanged { peer, resting: false }) if Some(peer) == me);
                return Some(if is_woken { LobbyAction::Resumed } else { LobbyAction::MembersChanged });
            }
            ClientEvent::RoomLeft { reason, .. } => return self.lose_reservation(reason),
            ClientEvent::Signal { from, data } => {
                let text = data.to_text().filter(|_| !self.has_referee && !self.is_shunned(from));
                if let (Some(text), Some(mesh)) = (text, &mut self.mesh) {
                    // The mesh counts malformed signals; their sender runs other software.
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
            ClientEvent::Replied { request, answer } if self.ice.asked == Some(request) => {
                self.ice.asked = None;
                if let ServerMessage::IceServers(ice) = answer {
                    // Half of their lifetime, so that one answer may be lost.
                    self.ice.due = Some(self.now + ICE_AGAIN.max(Micros::from_secs(ice.ttl / 2)));
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

    fn handle_welcome(&mut self, key: Option<String>, signed_in_as: Option<&str>) {
        if let Some(name) = signed_in_as.filter(|_| !std::mem::replace(&mut self.connection.signed_in, true))
        {
            self.push(RoomEvent::SignedIn { name: name.to_string() });
        }
        if std::mem::take(&mut self.connection.server_lost) {
            self.connection.back_at = Some(self.now);
            self.push(RoomEvent::LobbyReconnected);
        }
        if let Some(key) = key {
            self.push(RoomEvent::GuestKey(key));
        }
    }

    fn handle_room_update(&mut self, event: &RoomUpdate) {
        self.learn_names();
        self.report_roles(event);
        match event {
            RoomUpdate::Joined(joined) => {
                self.leaving.retain(|(_, peer)| *peer != joined.member.peer);
                if let Some(mesh) = self.mesh.as_mut().filter(|_| !self.has_referee) {
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
            // The reservation waits for them; the match does not.
            RoomUpdate::Away(away) if away.intentional => self.schedule_removal(away.peer),
            RoomUpdate::Left(left) => self.schedule_removal(left.peer),
            RoomUpdate::ResultDecided(_) => self.push(RoomEvent::ResultStored),
            _ => {}
        }
    }

    /// A member left the room: removes it after a while.
    fn schedule_removal(&mut self, leaver: PeerId) {
        self.leaving.retain(|(_, peer)| *peer != leaver);
        let just_back = self.connection.back_at.is_some_and(|at| self.now.since(at) < JUST_BACK);
        let patience = if just_back { COME_BACK_WITHIN } else { FAREWELL };
        self.leaving.push((self.now + patience, leaver));
    }

    fn accept_reservation(&mut self, created: bool, returned: bool) -> Option<LobbyAction> {
        let client = self.lobby_client.as_ref()?;
        let (room, (_, peer)) = (client.room()?, client.identity()?);
        let (reservation, code, mode, round) = ((room.id, peer), room.code, room.mode.clone(), room.round);
        let (fits, inherited) = (self.fits(room), client.reused_slots());
        // The peer that created a room opens its match, even if others have joined before it knew.
        let watches = matches!(self.config.join, JoinTarget::Spectate(_));
        let is_host = |member: &Member| member.peer != peer && (watches || may_hand_over(member));
        let joins = !created && room.players().any(is_host);
        if self.reservation == Some(reservation) {
            // Only the connection to the lobby was lost: the match never stopped.
            self.connect_to_all();
            return Some(LobbyAction::MembersChanged);
        }
        if !fits {
            self.request_other_room();
            return None;
        }
        // A room joined by its code has the mode of that room.
        self.config.mode = mode;
        self.push(RoomEvent::RoomJoined { code, resumed: returned });
        if self.reservation.is_some() {
            self.mesh = None;
            self.inbox.values.forget(None);
        }
        (self.reservation, self.reused_slots, self.joins) = (Some(reservation), inherited, joins);
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

    /// Whether this is a room as it is wanted. An earlier reservation may be in another.
    fn fits(&self, room: &RoomView) -> bool {
        let config = &self.config;
        let is_wanted = match &config.join {
            JoinTarget::Matchmake => room.mode == config.mode,
            JoinTarget::CreatePrivate => room.private && room.mode == config.mode,
            JoinTarget::Code(code) | JoinTarget::Spectate(code) => room.code == *code,
            JoinTarget::Browse | JoinTarget::Offline => false,
        };
        is_wanted && room.game == config.game && room.build == self.build_id
    }

    fn lose_reservation(&mut self, reason: LeaveReason) -> Option<LobbyAction> {
        self.reservation.take()?;
        self.mesh = None;
        self.inbox.values.forget(None);
        self.push(RoomEvent::RoomLeft { reason });
        Some(LobbyAction::GoSolo)
    }

    /// Whether members that are not suspended play in the room, as far as the lobby has reported.
    pub(crate) fn has_others_awake(&self) -> bool {
        self.others().any(|member| !member.resting)
    }

    /// This peer is in the match: the suspended members that admitted it are not part of it.
    /// Removes their links and returns them.
    pub(crate) fn end_joining(&mut self) -> Vec<PeerId> {
        self.joins = false;
        let shunned = |member: &&Member| self.is_shunned(member.peer);
        let resting: Vec<PeerId> = self.others().filter(shunned).map(|member| member.peer).collect();
        self.leaving.retain(|(_, peer)| !resting.contains(peer));
        self.leaving.extend(resting.iter().map(|peer| (self.now + REST_FAREWELL, *peer)));
        resting
    }

    /// How long a join attempt may take. Suspended members are not waited for.
    pub(crate) fn join_timeout(&self) -> Micros {
        if self.has_referee {
            return self.config.join_timeout;
        }
        let watches = matches!(self.config.join, JoinTarget::Spectate(_));
        match (watches || self.has_others_awake(), self.others().any(may_hand_over)) {
            (true, _) => self.config.join_timeout,
            (false, true) => HAND_OVER,
            (false, false) => Micros::ZERO,
        }
    }

    /// Whether there should be no link to a member, because it is suspended and has no match to
    /// hand over.
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

    /// Whether other members have reservations in the room, as far as the lobby has reported.
    pub(crate) fn has_others(&self) -> bool {
        let room = self.lobby_client.as_ref().and_then(Client::room);
        self.me().zip(room).is_some_and(|(me, room)| has_other_player(room, me))
    }
}

/// A suspended member without connection to the server cannot hand over.
fn may_hand_over(member: &Member) -> bool {
    !(member.resting && member.away)
}

fn has_other_player(room: &RoomView, me: PeerId) -> bool {
    room.players().any(|member| member.peer != me)
}
