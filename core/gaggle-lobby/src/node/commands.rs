//! What somebody asks for once it is known who they are: checked here as far as it does not need a room,
//! then passed on to the directory.

use gaggle_kit::{Micros, PeerId};

use super::answers::Asked;
use super::connection::{Phase, Stage, Waiting};
use super::limits::{LimitedAction, TOP_COUNT, TOP_COUNT_MAX};
use super::{ConnectionId, Node, NodeOutput, Query, too_fast};
use crate::directory::{Command, FindSpec, JoinBy};
use crate::id::RoomId;
use crate::label::DisplayName;
use crate::message::client::{Create, Find, GetLeaderboard, GetMyStats, Join, Profile, Start};
use crate::message::server::{Done, IceServers, Room};
use crate::message::{ClientMessage, Envelope, Rejection, RejectionCode};
use crate::players::LocalPlayers;
use crate::room::{Attachment, Displace, JoinRequest, NewRoom, RoomAction, check_settings};
use crate::view::RoomView;

impl Node {
    pub(super) fn handle_message(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        envelope: Envelope<ClientMessage>,
        bytes: usize,
    ) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        if let Phase::Known(session) = &mut known.phase {
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
        let done = match (&known.phase, message) {
            (Phase::New, ClientMessage::Hello(hello)) => return self.hello(now, connection, id, hello),
            (Phase::New, _) => out_of_order("say hello first"),
            (_, ClientMessage::Hello(_)) => out_of_order("you have said hello already"),
            (_, message) => self.command(now, connection, id, message),
        };
        if let Err(rejection) = done {
            self.refuse(now, connection, id, rejection);
        }
    }

    /// The directory has answered: takes up what was said meanwhile.
    pub(super) fn go_on(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(&connection) else { return };
        known.busy = false;
        self.take_up_waiting(now, connection);
    }

    /// Takes up what was said, until something has to be waited for again.
    pub(super) fn take_up_waiting(&mut self, now: Micros, connection: ConnectionId) {
        while let Some(known) = self.connections.get_mut(&connection).filter(|known| !known.must_wait())
            && let Some(Waiting { envelope, bytes }) = known.waiting.pop_front()
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
            ClientMessage::Signal(signal) => self.signal(now, connection, id, signal),
            ClientMessage::TakeOver(_) => self.take_over(now, connection, id)?,
            ClientMessage::Find(find) => self.find(now, connection, id, find)?,
            ClientMessage::Create(create) => self.create(now, connection, id, create)?,
            ClientMessage::Join(join) => self.join(now, connection, id, join)?,
            ClientMessage::Leave(_) if self.leave_search(now, connection, id) => {}
            ClientMessage::Leave(leave) if leave.back => self.step_out(connection, id)?,
            ClientMessage::Leave(_) => self.act(now, connection, id, RoomAction::Leave)?,
            ClientMessage::Ready(ready) => self.act(now, connection, id, RoomAction::Ready(ready.ready))?,
            ClientMessage::Rest(rest) => self.act(now, connection, id, RoomAction::Rest(rest.resting))?,
            ClientMessage::Start(Start { countdown_ms }) => {
                let act =
                    RoomAction::Start { countdown_ms: countdown_ms.unwrap_or(0), seed: self.secrets.seed() };
                self.act(now, connection, id, act)?;
            }
            ClientMessage::Finish(_) => self.act(now, connection, id, RoomAction::Finish)?,
            ClientMessage::Settings(change) => {
                self.act(now, connection, id, RoomAction::Settings(change.settings))?;
            }
            ClientMessage::Access(access) => {
                let (locked, private, seats) = (access.locked, access.private, access.seats);
                self.act(now, connection, id, RoomAction::Access { locked, private, seats })?;
            }
            ClientMessage::Kick(kick) => self.act(now, connection, id, RoomAction::Kick(kick.peer))?,
            ClientMessage::Host(host) => {
                self.act(now, connection, id, RoomAction::TransferHost(host.peer))?;
            }
            ClientMessage::Profile(profile) => self.profile(now, connection, id, profile)?,
            ClientMessage::Report(report) => {
                self.meter(now, connection, LimitedAction::Report)?;
                self.act_unmetered(connection, id, RoomAction::Report(report))?;
            }
            ClientMessage::OwnScore(score) => {
                self.meter(now, connection, LimitedAction::Report)?;
                self.act_unmetered(connection, id, RoomAction::Tell(score))?;
            }
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
                self.watch_list(now, connection, id, list)?;
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

    fn send_room(&mut self, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        let (room, ..) = self.own_room(connection)?;
        let Some(copy) = self.rooms.get(&room) else { return Ok(()) };
        let room = copy.view.clone();
        self.send(connection, id, Room { room });
        Ok(())
    }

    /// TURN credentials cost the operator something: only members of a room, who have links to make, get them.
    fn send_ice(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        self.meter(now, connection, LimitedAction::Look)?;
        self.own_room(connection)?;
        let player = self.home(connection)?.player;
        let servers = self.ice.servers(now, player);
        let (ttl, relay) = (self.ice.ttl_seconds(), self.ice.relay());
        self.send(connection, id, IceServers { servers, ttl, relay });
        Ok(())
    }

    fn find(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        find: Find,
    ) -> Result<(), Rejection> {
        self.may_enter()?;
        let mode = self.rules.mode(&find.game, &find.mode)?;
        let (seats, drop_in, is_by_skill) = (mode.players(find.seats)?, mode.drop_in, mode.skill);
        check_settings(&self.rules, &find.settings)?;
        let Some(Caller { link, newcomer, address }) =
            self.caller(connection, id, (find.palette, find.players), find.switch, || find.clone().into())?
        else {
            return Ok(());
        };
        self.meter(now, connection, LimitedAction::Find)?;
        let Find { game, mode, build, settings, .. } = find;
        let new = self.new_room(game, mode, build, seats, settings);
        let new = NewRoom { drop_in, matched: true, ..new };
        if is_by_skill && newcomer.switch {
            // Nobody can say when others will be found: whoever looks for them gives the seat up first.
            let Some((room, peer, link)) = self.own_room(connection).ok() else { return Ok(()) };
            let then = Box::new((JoinRequest { switch: false, ..newcomer }, new));
            let request = Command::Act { room, peer, link, act: RoomAction::Leave };
            self.ask_busy(connection, Asked::Seek { connection, id, then }, request);
            return Ok(());
        }
        if is_by_skill {
            self.begin_search(now, connection, id, &newcomer, new);
            return Ok(());
        }
        let aside = self.limits.set_room_aside(now, address, &self.rules);
        let wish = FindSpec { new, may_create: aside.is_some(), skill: None };
        let peer = newcomer.peer;
        self.ask_busy(
            connection,
            Asked::Enter { connection, id, peer, link, aside },
            Command::Find { newcomer, link, wish },
        );
        Ok(())
    }

    fn create(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        create: Create,
    ) -> Result<(), Rejection> {
        self.may_enter()?;
        let seats = self.rules.mode(&create.game, &create.mode)?.players(create.seats)?;
        check_settings(&self.rules, &create.settings)?;
        let Some(Caller { link, newcomer, .. }) =
            self.caller(connection, id, (create.palette, create.players), create.switch, || {
                create.clone().into()
            })?
        else {
            return Ok(());
        };
        self.meter(now, connection, LimitedAction::Create)?;
        let Create { game, mode, build, private, drop_in, settings, .. } = create;
        let new = NewRoom { private, drop_in, ..self.new_room(game, mode, build, seats, settings) };
        let peer = newcomer.peer;
        self.ask_busy(
            connection,
            Asked::Enter { connection, id, peer, link, aside: None },
            Command::Create { newcomer, link, new },
        );
        Ok(())
    }

    fn join(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        join: Join,
    ) -> Result<(), Rejection> {
        self.may_enter()?;
        let by = match (join.code, join.room) {
            (Some(code), _) => JoinBy::Code(code),
            (None, Some(room)) => JoinBy::Room(room),
            (None, None) => {
                return Err(Rejection::new(RejectionCode::BadMessage, "field code or room is missing"));
            }
        };
        // A page that was loaded again asks for its room before it hears that its seat was kept: nothing changes.
        if let Some(room) = self.own_place(connection, &by, &join).filter(|_| join.switch) {
            self.meter(now, connection, LimitedAction::Join)?;
            self.tell_seat(now, connection, id, room, (false, true), Vec::new());
            return Ok(());
        }
        let Some(Caller { link, newcomer, .. }) =
            self.caller(connection, id, (join.palette, join.players), join.switch, || join.clone().into())?
        else {
            return Ok(());
        };
        self.meter(now, connection, LimitedAction::Join)?;
        let newcomer = JoinRequest { watch: join.watch, ..newcomer };
        let peer = newcomer.peer;
        let request = Command::Join { newcomer, link, by, build: join.build };
        self.ask_busy(connection, Asked::Enter { connection, id, peer, link, aside: None }, request);
        Ok(())
    }

    /// The room that is asked for, if it is the one this connection has such a place in.
    fn own_place(&self, connection: ConnectionId, by: &JoinBy, join: &Join) -> Option<RoomView> {
        let session = self.home(connection).ok()?;
        let view = &self.rooms.get(&session.room?)?.view;
        let is_meant = match by {
            JoinBy::Code(code) => view.code == *code,
            JoinBy::Room(room) => view.id == *room,
        };
        let seats = view.member(session.peer)?.slots().len();
        let is_such = seats == if join.watch { 0 } else { join.players.count().into() };
        (is_meant && view.build == join.build && is_such).then(|| view.clone())
    }

    /// Takes the seat, or just the right to speak for the machine, from the connection that has it.
    fn take_over(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        self.meter(now, connection, LimitedAction::TakeOver)?;
        let Some(session) = self.session(connection) else { return Ok(()) };
        let (peer, link) = (session.peer, session.link);
        if session.stage == Stage::Home {
            let text = "no other tab or machine has this seat; there is nothing to take over";
            return Err(Rejection::new(RejectionCode::NotInRoom, text));
        }
        let origin = session.origin();
        let name = session.name.clone();
        let request =
            Command::Attach { origin, name, resume: None, displace: Displace::Always, ticket: None };
        self.ask_busy(connection, Asked::TakeOver { connection, id, peer, link, then: None }, request);
        Ok(())
    }

    fn profile(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        profile: Profile,
    ) -> Result<(), Rejection> {
        let Profile { name, palette } = profile;
        let name = name.map(|name| name.parse::<DisplayName>()).transpose();
        let name = name.map_err(|error| Rejection::new(RejectionCode::BadName, error.to_string()))?;
        let Some(session) = self.session_mut(connection) else { return Ok(()) };
        if let Some(name) = &name {
            session.name = name.clone();
        }
        if session.room.is_some() {
            return self.act(now, connection, id, RoomAction::Profile { name, palette });
        }
        self.meter(now, connection, LimitedAction::Change)?;
        self.send(connection, id, Done {});
        Ok(())
    }

    /// Asks for something to be done in one's own room.
    fn act(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        act: RoomAction,
    ) -> Result<(), Rejection> {
        // Leaving is never too often.
        if act != RoomAction::Leave {
            self.meter(now, connection, LimitedAction::Change)?;
        }
        if act.needs_host() {
            self.meter_room(now, connection)?;
        }
        self.act_unmetered(connection, id, act)
    }

    /// Counts what a host does for the room as well: everybody gets a new ticket for most of it, and members who hand the role
    /// round would otherwise have as many made as all of them together may ask for.
    fn meter_room(&mut self, now: Micros, connection: ConnectionId) -> Result<(), Rejection> {
        let (room, peer, _) = self.own_room(connection)?;
        let rate = self.rules.limits.change;
        match self.rooms.get_mut(&room).filter(|copy| copy.view.host == peer) {
            Some(copy) => copy.acts.take(now, rate).map_err(too_fast),
            None => Ok(()),
        }
    }

    fn act_unmetered(
        &mut self,
        connection: ConnectionId,
        id: Option<u64>,
        act: RoomAction,
    ) -> Result<(), Rejection> {
        let (room, peer, link) = self.own_room(connection)?;
        let round = match &act {
            RoomAction::Report(report) => Some(report.round),
            _ => None,
        };
        let request = Command::Act { room, peer, link, act };
        self.ask_busy(connection, Asked::Act { connection, id, round }, request);
        Ok(())
    }

    /// Gives the seat up for a moment. Whoever comes back does so on another connection.
    fn step_out(&mut self, connection: ConnectionId, id: Option<u64>) -> Result<(), Rejection> {
        let (room, peer, link) = self.own_room(connection)?;
        let request = Command::Act { room, peer, link, act: RoomAction::LeaveKeepingSlot };
        self.ask_busy(connection, Asked::StepOut { connection, id, room }, request);
        Ok(())
    }

    fn query(&mut self, connection: ConnectionId, id: Option<u64>, query: Query) {
        let ask = self.remember(Asked::Query { connection, id });
        self.outputs.push_back(NodeOutput::Query { ask, query });
    }

    fn new_room(
        &mut self,
        game: crate::label::Label,
        mode: crate::label::Label,
        build: crate::label::Label,
        seats: u8,
        settings: crate::view::RawJson,
    ) -> NewRoom {
        let (id, code, seed) = (self.secrets.room_id(), self.secrets.room_code(), self.secrets.seed());
        let (private, drop_in, matched) = (false, false, false);
        NewRoom { id, code, seed, game, mode, build, seats, private, drop_in, matched, settings }
    }

    /// Who wants to enter a room; none if something else has to be done first, after which the message is
    /// taken up again.
    fn caller(
        &mut self,
        connection: ConnectionId,
        id: Option<u64>,
        (palette, players): (Option<u8>, LocalPlayers),
        switch: bool,
        again: impl FnOnce() -> ClientMessage,
    ) -> Result<Option<Caller>, Rejection> {
        let Some(session) = self.session(connection) else { return Ok(None) };
        let (peer, player, link, name) = (session.peer, session.player, session.link, session.name.clone());
        let (origin, source) = (session.origin(), session.source);
        if self.is_searching(connection) {
            let text = "you are looking for others already: leave first";
            return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
        }
        if session.stage == Stage::Elsewhere {
            // The other connection may be gone by now.
            if self.by_peer.contains_key(&peer) {
                return Err(already_playing());
            }
            let request =
                Command::Attach { origin, name, resume: None, displace: Displace::Never, ticket: None };
            let then = Some(Box::new(Envelope { id, message: again() }));
            self.ask_busy(connection, Asked::TakeOver { connection, id, peer, link, then }, request);
            return Ok(None);
        }
        if let Some(room) = session.room.filter(|_| !switch) {
            let code = self.rooms.get(&room).map_or(String::new(), |copy| copy.view.code.to_string());
            let text = format!("you are in room {code}: leave it first, or ask to switch");
            return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
        }
        let switch = session.room.is_some();
        let address = self.connections.get(&connection).map(|known| known.address);
        let Some(address) = address else { return Ok(None) };
        let palette = palette.unwrap_or(0);
        let newcomer = JoinRequest { peer, player, name, palette, watch: false, players, switch, source };
        Ok(Some(Caller { link, newcomer, address }))
    }

    fn may_enter(&self) -> Result<(), Rejection> {
        match self.draining {
            Some(reconnect_ms) => {
                let text = "this server is about to stop: come back and you will be sent to another";
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
        let Some(known) = self.connections.get(&connection) else { return Ok(()) };
        let Phase::Known(session) = &known.phase else { return Ok(()) };
        self.limits.take(now, doing, session.player, known.address, &self.rules)
    }

    /// Asks the directory, and lets the connection wait for the answer.
    fn ask_busy(&mut self, connection: ConnectionId, asked: Asked, request: Command) {
        if let Some(known) = self.connections.get_mut(&connection) {
            known.busy = true;
        }
        self.ask(asked, request);
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

/// Who wants to enter a room, and from where.
struct Caller {
    link: Attachment,
    newcomer: JoinRequest,
    address: std::net::IpAddr,
}

fn already_playing() -> Rejection {
    let text = "another tab or machine with the same key is connected: take over or close it";
    Rejection::new(RejectionCode::AlreadyPlaying, text)
}
