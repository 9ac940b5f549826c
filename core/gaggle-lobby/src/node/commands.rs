//! What somebody asks for once it is known who they are: checked here as far as it does not need a room,
//! then passed on to the directory.

use gaggle_kit::{Micros, PeerId};

use super::answers::Asked;
use super::connection::{Phase, Stage, Waiting};
use super::limits::Doing;
use super::{ConnectionId, Node, Output, Query, too_fast};
use crate::directory::{JoinBy, Request, Wish};
use crate::id::RoomId;
use crate::label::DisplayName;
use crate::message::client::{Create, Find, Join, Mine, Profile, Start, Top};
use crate::message::server::{Done, IceServers, Room};
use crate::message::{ClientMessage, Envelope, Refusal, RefusalCode};
use crate::players::Players;
use crate::room::{Act, Displace, Link, NewRoom, Newcomer, check_settings};
use crate::view::RoomView;

/// Lines of the best, when nobody says how many.
const TOP_COUNT: u8 = 10;
const TOP_COUNT_MAX: u8 = 100;

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
        match (&known.phase, message) {
            (Phase::New, ClientMessage::Hello(hello)) => self.hello(now, connection, id, hello),
            (Phase::New, _) => {
                let refusal = Refusal::new(RefusalCode::OutOfOrder, "say hello first");
                self.refuse(now, connection, id, refusal);
            }
            (_, ClientMessage::Hello(_)) => {
                let refusal = Refusal::new(RefusalCode::OutOfOrder, "you have said hello already");
                self.refuse(now, connection, id, refusal);
            }
            (_, message) => {
                if let Err(refusal) = self.command(now, connection, id, message) {
                    self.refuse(now, connection, id, refusal);
                }
            }
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
    ) -> Result<(), Refusal> {
        match message {
            ClientMessage::Hello(_) => {}
            ClientMessage::Signal(signal) => self.signal(now, connection, id, signal),
            ClientMessage::TakeOver(_) => self.take_over(now, connection, id)?,
            ClientMessage::Find(find) => self.find(now, connection, id, find)?,
            ClientMessage::Create(create) => self.create(now, connection, id, create)?,
            ClientMessage::Join(join) => self.join(now, connection, id, join)?,
            ClientMessage::Leave(_) if self.leave_search(now, connection, id) => {}
            ClientMessage::Leave(leave) if leave.back => self.step_out(connection, id)?,
            ClientMessage::Leave(_) => self.act(now, connection, id, Act::Leave)?,
            ClientMessage::Ready(ready) => self.act(now, connection, id, Act::Ready(ready.ready))?,
            ClientMessage::Rest(rest) => self.act(now, connection, id, Act::Rest(rest.resting))?,
            ClientMessage::Start(Start { countdown_ms }) => {
                let act = Act::Start { countdown_ms: countdown_ms.unwrap_or(0), seed: self.secrets.seed() };
                self.act(now, connection, id, act)?;
            }
            ClientMessage::Finish(_) => self.act(now, connection, id, Act::Finish)?,
            ClientMessage::Settings(change) => {
                self.act(now, connection, id, Act::Settings(change.settings))?;
            }
            ClientMessage::Access(access) => {
                let (locked, private, seats) = (access.locked, access.private, access.seats);
                self.act(now, connection, id, Act::Access { locked, private, seats })?;
            }
            ClientMessage::Kick(kick) => self.act(now, connection, id, Act::Kick(kick.peer))?,
            ClientMessage::Host(host) => self.act(now, connection, id, Act::Host(host.peer))?,
            ClientMessage::Profile(profile) => self.profile(now, connection, id, profile)?,
            ClientMessage::Report(report) => {
                self.meter(now, connection, Doing::Report)?;
                self.act_unmetered(connection, id, Act::Report(report))?;
            }
            ClientMessage::OwnScore(score) => {
                self.meter(now, connection, Doing::Report)?;
                self.act_unmetered(connection, id, Act::Tell(score))?;
            }
            ClientMessage::Touch(_) => {
                self.meter(now, connection, Doing::Look)?;
                self.send(connection, id, Done {});
            }
            ClientMessage::RenewTicket(_) => {
                self.meter(now, connection, Doing::Look)?;
                self.own_room(connection)?;
                self.send_ticket(now, connection, id);
            }
            ClientMessage::Ice(_) => self.send_ice(now, connection, id)?,
            ClientMessage::Look(_) => {
                self.meter(now, connection, Doing::Look)?;
                let (room, ..) = self.own_room(connection)?;
                if let Some(copy) = self.rooms.get(&room) {
                    let room = copy.view.clone();
                    self.send(connection, id, Room { room });
                }
            }
            ClientMessage::List(list) => {
                self.meter(now, connection, Doing::Look)?;
                if list.game.is_empty() {
                    return Err(Refusal::new(RefusalCode::BadGame, "field game is missing"));
                }
                self.watch_list(now, connection, id, list)?;
            }
            ClientMessage::Unlist(_) => {
                self.lists.remove(connection);
                self.send(connection, id, Done {});
            }
            ClientMessage::Top(Top { game, mode, verified, count }) => {
                self.meter(now, connection, Doing::Look)?;
                self.rules.mode(&game, &mode)?;
                let count = count.unwrap_or(TOP_COUNT).min(TOP_COUNT_MAX);
                self.query(connection, id, Query::Top { game, mode, verified, count });
            }
            ClientMessage::Mine(Mine { game, mode }) => {
                self.meter(now, connection, Doing::Look)?;
                self.rules.mode(&game, &mode)?;
                if let Some(player) = self.session(connection).map(|session| session.player) {
                    self.query(connection, id, Query::Mine { player, game, mode });
                }
            }
        }
        Ok(())
    }

    /// TURN credentials cost the operator something: only members of a room, who have links to make, get them.
    fn send_ice(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> Result<(), Refusal> {
        self.meter(now, connection, Doing::Look)?;
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
    ) -> Result<(), Refusal> {
        self.may_enter()?;
        let mode = self.rules.mode(&find.game, &find.mode)?;
        let (seats, drop_in, is_by_skill) = (mode.seats(find.seats)?, mode.drop_in, mode.skill);
        check_settings(&self.rules, &find.settings)?;
        let Some(Caller { link, newcomer, address }) =
            self.caller(connection, id, (find.palette, find.players), find.switch, || find.clone().into())?
        else {
            return Ok(());
        };
        self.meter(now, connection, Doing::Find)?;
        let Find { game, mode, build, settings, .. } = find;
        let new = self.new_room(game, mode, build, seats, settings);
        let new = NewRoom { drop_in, matched: true, ..new };
        if is_by_skill && newcomer.switch {
            // Nobody can say when others will be found: whoever looks for them gives the seat up first.
            let Some((room, peer, link)) = self.own_room(connection).ok() else { return Ok(()) };
            let then = Box::new((Newcomer { switch: false, ..newcomer }, new));
            let request = Request::Act { room, peer, link, act: Act::Leave };
            self.ask_busy(connection, Asked::Seek { connection, id, then }, request);
            return Ok(());
        }
        if is_by_skill {
            self.begin_search(now, connection, id, &newcomer, new);
            return Ok(());
        }
        let aside = self.limits.set_room_aside(now, address, &self.rules);
        let wish = Wish { new, may_create: aside.is_some(), skill: None };
        let peer = newcomer.peer;
        self.ask_busy(
            connection,
            Asked::Enter { connection, id, peer, link, aside },
            Request::Find { newcomer, link, wish },
        );
        Ok(())
    }

    fn create(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        create: Create,
    ) -> Result<(), Refusal> {
        self.may_enter()?;
        let seats = self.rules.mode(&create.game, &create.mode)?.seats(create.seats)?;
        check_settings(&self.rules, &create.settings)?;
        let Some(Caller { link, newcomer, .. }) =
            self.caller(connection, id, (create.palette, create.players), create.switch, || {
                create.clone().into()
            })?
        else {
            return Ok(());
        };
        self.meter(now, connection, Doing::Create)?;
        let Create { game, mode, build, private, drop_in, settings, .. } = create;
        let new = NewRoom { private, drop_in, ..self.new_room(game, mode, build, seats, settings) };
        let peer = newcomer.peer;
        self.ask_busy(
            connection,
            Asked::Enter { connection, id, peer, link, aside: None },
            Request::Create { newcomer, link, new },
        );
        Ok(())
    }

    fn join(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        join: Join,
    ) -> Result<(), Refusal> {
        self.may_enter()?;
        let by = match (join.code, join.room) {
            (Some(code), _) => JoinBy::Code(code),
            (None, Some(room)) => JoinBy::Room(room),
            (None, None) => {
                return Err(Refusal::new(RefusalCode::BadMessage, "field code or room is missing"));
            }
        };
        // A page that was loaded again asks for its room before it hears that its seat was kept: nothing changes.
        if let Some(room) = self.own_place(connection, &by, &join).filter(|_| join.switch) {
            self.meter(now, connection, Doing::Join)?;
            self.tell_seat(now, connection, id, room, (false, true), Vec::new());
            return Ok(());
        }
        let Some(Caller { link, newcomer, .. }) =
            self.caller(connection, id, (join.palette, join.players), join.switch, || join.clone().into())?
        else {
            return Ok(());
        };
        self.meter(now, connection, Doing::Join)?;
        let newcomer = Newcomer { watch: join.watch, ..newcomer };
        let peer = newcomer.peer;
        let request = Request::Join { newcomer, link, by, build: join.build };
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
    fn take_over(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> Result<(), Refusal> {
        self.meter(now, connection, Doing::TakeOver)?;
        let Some(session) = self.session(connection) else { return Ok(()) };
        let (peer, link) = (session.peer, session.link);
        if session.stage == Stage::Home {
            let text = "no other tab or machine has this seat; there is nothing to take over";
            return Err(Refusal::new(RefusalCode::NotInRoom, text));
        }
        let origin = session.origin();
        let name = session.name.clone();
        let request =
            Request::Attach { origin, name, resume: None, displace: Displace::Anybody, ticket: None };
        self.ask_busy(connection, Asked::TakeOver { connection, id, peer, link, then: None }, request);
        Ok(())
    }

    fn profile(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        profile: Profile,
    ) -> Result<(), Refusal> {
        let Profile { name, palette } = profile;
        let name = name.map(|name| name.parse::<DisplayName>()).transpose();
        let name = name.map_err(|error| Refusal::new(RefusalCode::BadName, error.to_string()))?;
        let Some(session) = self.session_mut(connection) else { return Ok(()) };
        if let Some(name) = &name {
            session.name = name.clone();
        }
        if session.room.is_some() {
            return self.act(now, connection, id, Act::Profile { name, palette });
        }
        self.meter(now, connection, Doing::Change)?;
        self.send(connection, id, Done {});
        Ok(())
    }

    /// Asks for something to be done in one's own room.
    fn act(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        act: Act,
    ) -> Result<(), Refusal> {
        // Leaving is never too often.
        if act != Act::Leave {
            self.meter(now, connection, Doing::Change)?;
        }
        if act.needs_host() {
            self.meter_room(now, connection)?;
        }
        self.act_unmetered(connection, id, act)
    }

    /// Counts what a host does for the room as well: everybody gets a new ticket for most of it, and members who hand the role
    /// round would otherwise have as many made as all of them together may ask for.
    fn meter_room(&mut self, now: Micros, connection: ConnectionId) -> Result<(), Refusal> {
        let (room, peer, _) = self.own_room(connection)?;
        let rate = self.rules.rates.change;
        match self.rooms.get_mut(&room).filter(|copy| copy.view.host == peer) {
            Some(copy) => copy.acts.take(now, rate).map_err(too_fast),
            None => Ok(()),
        }
    }

    fn act_unmetered(&mut self, connection: ConnectionId, id: Option<u64>, act: Act) -> Result<(), Refusal> {
        let (room, peer, link) = self.own_room(connection)?;
        let round = match &act {
            Act::Report(report) => Some(report.round),
            _ => None,
        };
        let request = Request::Act { room, peer, link, act };
        self.ask_busy(connection, Asked::Act { connection, id, round }, request);
        Ok(())
    }

    /// Gives the seat up for a moment. Whoever comes back does so on another connection.
    fn step_out(&mut self, connection: ConnectionId, id: Option<u64>) -> Result<(), Refusal> {
        let (room, peer, link) = self.own_room(connection)?;
        let request = Request::Act { room, peer, link, act: Act::StepOut };
        self.ask_busy(connection, Asked::StepOut { connection, id, room }, request);
        Ok(())
    }

    fn query(&mut self, connection: ConnectionId, id: Option<u64>, query: Query) {
        let ask = self.remember(Asked::Query { connection, id });
        self.outputs.push_back(Output::Query { ask, query });
    }

    fn new_room(
        &mut self,
        game: crate::label::Label,
        mode: crate::label::Label,
        build: crate::label::Label,
        seats: u8,
        settings: crate::view::Json,
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
        (palette, players): (Option<u8>, Players),
        switch: bool,
        again: impl FnOnce() -> ClientMessage,
    ) -> Result<Option<Caller>, Refusal> {
        let Some(session) = self.session(connection) else { return Ok(None) };
        let (peer, player, link, name) = (session.peer, session.player, session.link, session.name.clone());
        let (origin, source) = (session.origin(), session.source);
        if self.is_searching(connection) {
            let text = "you are looking for others already: leave first";
            return Err(Refusal::new(RefusalCode::AlreadyInRoom, text));
        }
        if session.stage == Stage::Elsewhere {
            // The other connection may be gone by now.
            if self.by_peer.contains_key(&peer) {
                return Err(already_playing());
            }
            let request =
                Request::Attach { origin, name, resume: None, displace: Displace::Nobody, ticket: None };
            let then = Some(Box::new(Envelope { id, message: again() }));
            self.ask_busy(connection, Asked::TakeOver { connection, id, peer, link, then }, request);
            return Ok(None);
        }
        if let Some(room) = session.room.filter(|_| !switch) {
            let code = self.rooms.get(&room).map_or(String::new(), |copy| copy.view.code.to_string());
            let text = format!("you are in room {code}: leave it first, or ask to switch");
            return Err(Refusal::new(RefusalCode::AlreadyInRoom, text));
        }
        let switch = session.room.is_some();
        let address = self.connections.get(&connection).map(|known| known.address);
        let Some(address) = address else { return Ok(None) };
        let palette = palette.unwrap_or(0);
        let newcomer = Newcomer { peer, player, name, palette, watch: false, players, switch, source };
        Ok(Some(Caller { link, newcomer, address }))
    }

    fn may_enter(&self) -> Result<(), Refusal> {
        match self.draining {
            Some(reconnect_ms) => {
                let text = "this server is about to stop: come back and you will be sent to another";
                Err(Refusal { retry_ms: Some(reconnect_ms), ..Refusal::new(RefusalCode::Draining, text) })
            }
            None => Ok(()),
        }
    }

    pub(super) fn meter(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        doing: Doing,
    ) -> Result<(), Refusal> {
        let Some(known) = self.connections.get(&connection) else { return Ok(()) };
        let Phase::Known(session) = &known.phase else { return Ok(()) };
        self.limits.take(now, doing, session.player, known.address, &self.rules)
    }

    /// Asks the directory, and lets the connection wait for the answer.
    fn ask_busy(&mut self, connection: ConnectionId, asked: Asked, request: Request) {
        if let Some(known) = self.connections.get_mut(&connection) {
            known.busy = true;
        }
        self.ask(asked, request);
    }

    fn home(&self, connection: ConnectionId) -> Result<&super::Session, Refusal> {
        let session = self.session(connection).filter(|session| session.stage == Stage::Home);
        session.ok_or_else(already_playing)
    }

    fn own_room(&self, connection: ConnectionId) -> Result<(RoomId, PeerId, Link), Refusal> {
        let session = self.home(connection)?;
        match session.room {
            Some(room) => Ok((room, session.peer, session.link)),
            None => Err(Refusal::new(RefusalCode::NotInRoom, "you are in no room")),
        }
    }
}

/// Who wants to enter a room, and from where.
struct Caller {
    link: Link,
    newcomer: Newcomer,
    address: std::net::IpAddr,
}

fn already_playing() -> Refusal {
    let text = "another tab or machine with the same key is connected: take over or close it";
    Refusal::new(RefusalCode::AlreadyPlaying, text)
}
