//! Requests of identified clients: each is checked as far as possible without its room, and becomes
//! one command for the log.
//!
//! `Node` calls it with every message. Absent: replies (`replies.rs`), rules of rooms.

use gaggle_kit::{Micros, PeerId};

use super::connection::{Phase, Procedure, Stage, Waiting};
use super::entering::{Entering, Goal, RoomRequest};
use super::limits::{LimitedAction, TOP_COUNT, TOP_COUNT_MAX, place};
use super::searches::Asking;
use super::signals::{self, Route};
use super::{ConnectionId, LobbyLimit, Node, NodeOutput, Purpose, Query, too_fast};
use crate::directory::{Command, ListKey, QueuedSignal, command};
use crate::id::RoomId;
use crate::label::DisplayName;
use crate::message::client::{GetLeaderboard, GetMyStats, Join, Profile, Signal, Start, SubscribeRooms};
use crate::message::server::{Done, IceServers, Room};
use crate::message::{ClientMessage, Envelope, Rejection, RejectionCode};
use crate::room::{
    Attachment, Displace, JoinRequest, Leave, LeaveKeepingSlot, RoomAction, SetProfile, StartMatch,
};
use crate::view::RoomView;

impl Node {
    pub(super) fn handle_message(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        envelope: Envelope<ClientMessage>,
        bytes: usize,
    ) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        if let Some(session) = known.session_mut() {
            session.touched_at = now;
        }
        if known.must_wait() {
            let id = envelope.id;
            if let Err(refusal) = known.wait(envelope, bytes) {
                self.refuse(now, connection, id, refusal);
            }
            return;
        }
        let Envelope { id, message } = envelope;
        let out_of_order = |text| Err(Rejection::new(RejectionCode::OutOfOrder, text));
        let done = match (known.phase(), message) {
            (Phase::New, ClientMessage::Hello(hello)) => return self.hello(now, connection, id, hello),
            (Phase::New, _) => out_of_order("send `hello` first"),
            (_, ClientMessage::Hello(_)) => out_of_order("`hello` was sent already"),
            (_, message) => self.command(now, connection, id, message),
        };
        if let Err(rejection) = done {
            self.refuse(now, connection, id, rejection);
        }
    }

    /// Handles waiting messages until one starts a new procedure.
    pub(super) fn handle_waiting(&mut self, now: Micros, connection: ConnectionId) {
        while let Some(known) = self.connections.get_mut(connection)
            && let Some(Waiting { envelope, bytes }) = known.pop_waiting()
        {
            self.handle_message(now, connection, envelope, bytes);
        }
    }

    fn command(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        message: ClientMessage,
    ) -> Result<(), Rejection> {
        match message {
            ClientMessage::Hello(_) => {}
            ClientMessage::Signal(signal) => self.signal(now, connection, signal)?,
            ClientMessage::TakeOver(_) => self.take_over(now, connection, id)?,
            ClientMessage::Find(find) => {
                self.may_enter()?;
                let request = RoomRequest::find(find, &self.rules, &mut self.secrets)?;
                self.ask_for_room(now, connection, id, request)?;
            }
            ClientMessage::Create(create) => {
                self.may_enter()?;
                let request = RoomRequest::create(create, &self.rules, &mut self.secrets)?;
                self.ask_for_room(now, connection, id, request)?;
            }
            ClientMessage::Join(join) => {
                self.may_enter()?;
                self.join(now, connection, id, join)?;
            }
            ClientMessage::Leave(_) if self.leave_search(now, connection, id) => {}
            ClientMessage::Leave(leave) if leave.keep_reservation => {
                self.act(now, connection, id, LeaveKeepingSlot {})?;
            }
            ClientMessage::Leave(_) => self.act(now, connection, id, Leave {})?,
            ClientMessage::Ready(ready) => self.act(now, connection, id, ready)?,
            ClientMessage::Rest(rest) => self.act(now, connection, id, rest)?,
            ClientMessage::Start(Start { countdown_ms }) => {
                let (countdown_ms, seed) = (countdown_ms.unwrap_or(0), self.secrets.seed());
                self.act(now, connection, id, StartMatch { countdown_ms, seed })?;
            }
            ClientMessage::Finish(finish) => self.act(now, connection, id, finish)?,
            ClientMessage::Settings(change) => self.act(now, connection, id, change)?,
            ClientMessage::Access(access) => self.act(now, connection, id, access)?,
            ClientMessage::Kick(kick) => self.act(now, connection, id, kick)?,
            ClientMessage::Host(host) => self.act(now, connection, id, host)?,
            ClientMessage::Profile(profile) => self.profile(now, connection, id, profile)?,
            ClientMessage::Report(report) => self.act(now, connection, id, report)?,
            ClientMessage::OwnScore(score) => self.act(now, connection, id, score)?,
            ClientMessage::KeepAlive(_) => {
                self.meter(now, connection, LimitedAction::Look)?;
                self.send(connection, id, Done {});
            }
            ClientMessage::RenewTicket(_) => {
                self.meter(now, connection, LimitedAction::Look)?;
                self.own_room(connection)?;
                self.send_ticket(now, connection, id);
            }
            ClientMessage::Ice(_) => self.send_ice(now, connection, id)?,
            ClientMessage::GetRoom(_) => {
                self.meter(now, connection, LimitedAction::Look)?;
                self.send_room(connection, id)?;
            }
            ClientMessage::SubscribeRooms(list) => {
                self.meter(now, connection, LimitedAction::Look)?;
                if list.game.is_empty() {
                    return Err(Rejection::new(RejectionCode::BadGame, "field game is missing"));
                }
                self.subscribe(now, connection, id, list)?;
            }
            ClientMessage::UnsubscribeRooms(_) => {
                self.lists.remove(connection);
                self.send(connection, id, Done {});
            }
            ClientMessage::GetLeaderboard(GetLeaderboard { game, mode, verified, count }) => {
                self.meter(now, connection, LimitedAction::Look)?;
                self.rules.mode(&game, &mode)?;
                let count = count.unwrap_or(TOP_COUNT).min(TOP_COUNT_MAX);
                self.query(connection, id, Query::Leaderboard { game, mode, verified, count });
            }
            ClientMessage::GetMyStats(GetMyStats { game, mode }) => {
                self.meter(now, connection, LimitedAction::Look)?;
                self.rules.mode(&game, &mode)?;
                if let Some(player) = self.session(connection).map(|session| session.player) {
                    self.query(connection, id, Query::PlayerStats { player, game, mode });
                }
            }
        }
        Ok(())
    }

    fn subscribe(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        list: SubscribeRooms,
    ) -> Result<(), Rejection> {
        let Some(known) = self.connections.get(connection) else { return Ok(()) };
        let SubscribeRooms { game, mode, build, all } = list;
        let (key, refresh_at) = (ListKey { game, mode, build, all }, now + self.rules.list_interval);
        let lookup = self.lists.watch(connection, place(known.address()), id, &key, refresh_at)?;
        lookup.into_iter().for_each(|lookup| self.outbox.push(NodeOutput::LookUp(lookup)));
        Ok(())
    }

    /// Forwards a signal to a member of the same room.
    fn signal(&mut self, now: Micros, connection: ConnectionId, signal: Signal) -> Result<(), Rejection> {
        let Node { rules, limits, rooms, connections, .. } = self;
        let Some(known) = connections.get_mut(connection) else { return Ok(()) };
        let route = signals::route(now, known, rooms, limits, rules, &signal)?;
        let Some(Route { from, room, local, link }) = route else { return Ok(()) };
        self.outbox.count(|stats| stats.signals += 1);
        let Signal { to, data, .. } = signal;
        if let Some(target) = local {
            self.send_signal(now, target, from, data);
            return Ok(());
        }
        let queue = command::QueueSignal { room, to, signal: QueuedSignal { from, n: None, data } };
        match link.filter(|link| link.node != self.lease.node()) {
            Some(Attachment { node, .. }) => {
                self.outbox.push(NodeOutput::Tell { node, message: queue.into() });
            }
            None => self.append(None, queue),
        }
        Ok(())
    }

    fn send_room(&mut self, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        let (room, ..) = self.own_room(connection)?;
        let Some(copy) = self.rooms.get(room) else { return Ok(()) };
        let room = copy.view().clone();
        self.send(connection, id, Room { room });
        Ok(())
    }

    /// TURN credentials cost the operator money: only members of a room, who need links, get them.
    fn send_ice(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        self.meter(now, connection, LimitedAction::Look)?;
        self.own_room(connection)?;
        let player = self.home(connection)?.player;
        let servers = self.ice.servers(now, player);
        let (ttl, relay) = (self.ice.ttl_seconds(), self.ice.relay());
        self.send(connection, id, IceServers { servers, ttl, relay });
        Ok(())
    }

    /// Handles a request to be in a room.
    fn ask_for_room(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        request: RoomRequest,
    ) -> Result<(), Rejection> {
        let joiner = self.joiner(connection, &request)?;
        self.meter(now, connection, request.action)?;
        self.enter(now, connection, id, Entering { joiner, goal: request.goal });
        Ok(())
    }

    fn join(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        join: Join,
    ) -> Result<(), Rejection> {
        // A reloaded page requests its room before it knows that its reservation was kept: nothing
        // changes.
        if let Some(room) = self.own_place(connection, &join).filter(|_| join.leave_current) {
            self.meter(now, connection, LimitedAction::Join)?;
            self.tell_joined(now, connection, id, room, (false, true), Vec::new());
            return Ok(());
        }
        self.ask_for_room(now, connection, id, RoomRequest::join(join)?)
    }

    /// Appends the command that lets a peer join a room, or what must happen before.
    pub(super) fn enter(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        entering: Entering,
    ) {
        let Some(session) = self.session(connection) else { return };
        let (peer, link) = (session.peer, session.link);
        if session.stage == Stage::Elsewhere {
            // The other connection may be closed by now.
            let attach = session.attach(Displace::Never);
            let then = Some(Box::new(entering));
            return self.begin(connection, id, Procedure::TakeOver { then }, attach);
        }
        if let (Goal::Search(_), Some(room)) = (&entering.goal, session.room) {
            // A search may take long: the reservation is given up first.
            let leave = command::Act { room, peer, link, action: Leave {}.into() };
            return self.begin(connection, id, Procedure::LeaveThenSearch(Box::new(entering)), leave);
        }
        if matches!(entering.goal, Goal::Search(_)) {
            return self.begin_search(now, connection, id, entering);
        }
        let may_create = matches!(entering.goal, Goal::Find(_)) && self.charge_room(now, connection);
        if let Some(command) = entering.command(link, may_create) {
            self.begin(connection, id, Procedure::Command, command);
        }
    }

    /// Repeats a search in the directory.
    pub(super) fn ask_for_others(&mut self, now: Micros, connection: ConnectionId) {
        if self.session(connection).is_none() || !self.searches.contains(connection) {
            return;
        }
        let may_create = self.charge_room(now, connection);
        let Some(asking) = self.searches.ask(now, connection, &self.rules.search) else { return };
        let Some(session) = self.session(connection) else { return };
        let Asking { id, new, preferred_slot, players, skill } = asking;
        let (peer, player, source, link) = (session.peer, session.player, session.source, session.link);
        let (name, spectate, leave_current) = (session.name.clone(), false, false);
        let joiner =
            JoinRequest { peer, player, name, preferred_slot, spectate, players, leave_current, source };
        let find = command::Find { joiner, link, new, may_create, skill: Some(skill) };
        self.append(self.origin(connection, id), find);
    }

    /// Ends a search on the client's request. False if there is none.
    fn leave_search(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> bool {
        let Some(asked) = self.stop_search(connection, true) else { return false };
        if asked.is_some() {
            let refusal = Rejection::new(RejectionCode::NotInRoom, "the search was ended");
            self.refuse(now, connection, asked, refusal);
        }
        self.send(connection, id, Done {});
        true
    }

    /// Ends a search and returns the request it answers. Without `leave`, for a lost connection, a
    /// reservation found meanwhile is kept for the peer.
    pub(super) fn stop_search(&mut self, connection: ConnectionId, leave: bool) -> Option<Option<u64>> {
        let id = self.searches.remove(connection)?;
        if let Some(session) = self.session(connection) {
            let (peer, link) = (session.peer, session.link);
            self.append(None, command::StopSearch { peer, link, leave });
        }
        Some(id)
    }

    /// Charges a room to the address of a connection that may create one. False if it may not.
    pub(super) fn charge_room(&mut self, now: Micros, connection: ConnectionId) -> bool {
        let Some(known) = self.connections.get(connection) else { return false };
        let charge = self.limits.charge_room(now, known.address());
        let may_create = charge.is_some();
        if let Some(charge) = charge {
            self.charges.entry(connection).or_default().push(charge);
        }
        may_create
    }

    /// Settles a charged room, which was created or not needed. Charges of one connection are
    /// interchangeable.
    pub(super) fn settle_charge(&mut self, connection: ConnectionId, is_created: bool) {
        let Some(charges) = self.charges.get_mut(&connection) else { return };
        let charge = charges.pop();
        if charges.is_empty() {
            self.charges.remove(&connection);
        }
        if let Some(charge) = charge.filter(|_| !is_created) {
            self.limits.refund_room(charge);
        }
    }

    /// The requested room, if this connection is in it in the requested role.
    fn own_place(&self, connection: ConnectionId, join: &Join) -> Option<RoomView> {
        let session = self.home(connection).ok()?;
        let view = self.rooms.get(session.room?)?.view();
        let is_meant = join.code.map_or(join.room == Some(view.id), |code| code == view.code);
        let slots = view.member(session.peer)?.slots().len();
        let is_such = slots == if join.spectate { 0 } else { join.players.count().into() };
        (is_meant && view.build == join.build && is_such).then(|| view.clone())
    }

    /// Takes over the reservation, or the role of speaking for the peer, from another connection.
    fn take_over(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        self.meter(now, connection, LimitedAction::TakeOver)?;
        let Some(session) = self.session(connection) else { return Ok(()) };
        if session.stage == Stage::Home {
            let text = "no other device of yours is in a room; there is nothing to take over";
            return Err(Rejection::new(RejectionCode::NotInRoom, text));
        }
        let attach = session.attach(Displace::Always);
        self.begin(connection, id, Procedure::TakeOver { then: None }, attach);
        Ok(())
    }

    fn profile(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        profile: Profile,
    ) -> Result<(), Rejection> {
        let Profile { name, preferred_slot } = profile;
        let name = name.map(|name| name.parse::<DisplayName>()).transpose();
        let name = name.map_err(|error| Rejection::new(RejectionCode::BadName, error.to_string()))?;
        let Some(session) = self.session_mut(connection) else { return Ok(()) };
        if let Some(name) = &name {
            session.name = name.clone();
        }
        if session.room.is_some() {
            return self.act(now, connection, id, SetProfile { name, preferred_slot });
        }
        self.meter(now, connection, LimitedAction::Change)?;
        self.send(connection, id, Done {});
        Ok(())
    }

    /// Performs a member's action in its room.
    fn act(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        action: impl Into<RoomAction>,
    ) -> Result<(), Rejection> {
        let action = action.into();
        match action {
            // Leaving is never rate limited.
            RoomAction::Leave(_) | RoomAction::LeaveKeepingSlot(_) => {}
            RoomAction::Report(_) | RoomAction::OwnScore(_) => {
                self.meter(now, connection, LimitedAction::Report)?;
            }
            _ => self.meter(now, connection, LimitedAction::Change)?,
        }
        if action.needs_host() {
            self.meter_room(now, connection)?;
        }
        let (room, peer, link) = self.own_room(connection)?;
        self.begin(connection, id, Procedure::Command, command::Act { room, peer, link, action });
        Ok(())
    }

    /// Charges a host's action to its room as well: most actions send all members a new ticket, and
    /// members could pass the role around to multiply their own limits.
    fn meter_room(&mut self, now: Micros, connection: ConnectionId) -> Result<(), Rejection> {
        let (room, peer, _) = self.own_room(connection)?;
        let rate = self.rules.limits.change;
        let Some(copy) = self.rooms.get_mut(room).filter(|copy| copy.view().host == peer) else {
            return Ok(());
        };
        let taken = copy.charge_host(now, &rate);
        taken.inspect_err(|_| self.limits.exceed(LobbyLimit::Change)).map_err(too_fast)
    }

    fn query(&mut self, connection: ConnectionId, id: Option<u64>, query: Query) {
        let purpose = Purpose::Request { connection, id };
        self.outbox.push(NodeOutput::Query { purpose, query });
    }

    /// The join request of the peer behind a connection.
    fn joiner(&self, connection: ConnectionId, request: &RoomRequest) -> Result<JoinRequest, Rejection> {
        let RoomRequest { preferred_slot, players, may_switch, spectate, .. } = *request;
        let session = self.session(connection).ok_or_else(already_playing)?;
        let (peer, player, source, name) =
            (session.peer, session.player, session.source, session.name.clone());
        if self.searches.contains(connection) {
            let text = "you are searching already; stop the search first";
            return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
        }
        if session.stage == Stage::Elsewhere && self.connections.speaker(peer).is_some() {
            return Err(already_playing());
        }
        if let Some(room) = session.room.filter(|_| !may_switch) {
            let code = self.rooms.get(room).map_or(String::new(), |copy| copy.view().code.to_string());
            let text = format!("you are in room {code} already; leave it first");
            return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
        }
        let leave_current = session.room.is_some();
        Ok(JoinRequest { peer, player, name, preferred_slot, spectate, players, leave_current, source })
    }

    fn may_enter(&self) -> Result<(), Rejection> {
        match self.draining {
            Some(reconnect_ms) => {
                let text = "the server is about to stop; reconnect to reach another one";
                Err(Rejection {
                    retry_after_ms: Some(reconnect_ms),
                    ..Rejection::new(RejectionCode::Draining, text)
                })
            }
            None => Ok(()),
        }
    }

    pub(super) fn meter(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        doing: LimitedAction,
    ) -> Result<(), Rejection> {
        let Some(known) = self.connections.get(connection) else { return Ok(()) };
        let Some(session) = known.session() else { return Ok(()) };
        self.limits.take(now, doing, session.player, known.address())
    }

    /// Appends a command for a connection, which waits for the reply.
    fn begin(
        &mut self,
        connection: ConnectionId,
        id: Option<u64>,
        procedure: Procedure,
        command: impl Into<Command>,
    ) {
        if let Some(known) = self.connections.get_mut(connection) {
            known.begin(procedure);
        }
        self.append(self.origin(connection, id), command);
    }

    fn home(&self, connection: ConnectionId) -> Result<&super::Session, Rejection> {
        let session = self.session(connection).filter(|session| session.stage == Stage::Home);
        session.ok_or_else(already_playing)
    }

    fn own_room(&self, connection: ConnectionId) -> Result<(RoomId, PeerId, Attachment), Rejection> {
        let session = self.home(connection)?;
        match session.room {
            Some(room) => Ok((room, session.peer, session.link)),
            None => Err(Rejection::new(RejectionCode::NotInRoom, "you are in no room")),
        }
    }
}

fn already_playing() -> Rejection {
    let text = "you are playing on another device; take over here or close it there";
    Rejection::new(RejectionCode::AlreadyPlaying, text)
}
