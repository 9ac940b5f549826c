//! Requests as texts, in the order in which every directory of a shared server takes them.
//!
//! A directory is a machine without chance or clock: the same entries make the same rooms everywhere. What orders
//! the entries, keeps them and hands them to everybody is the caller's affair.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use gaggle_kit::{Micros, PeerId};

use super::{Directory, JoinBy, Mail, Origin, Reply, Request, Wish};
use crate::MessageError;
use crate::id::{NodeId, RoomCode, RoomId, Seed, SessionId};
use crate::json::{Raw, Value, record, tagged};
use crate::label::{DisplayName, Label};
use crate::message::client::{OwnScore, Report};
use crate::node::{ConnectionId, NodeMessage};
use crate::room::{Act, Displace, Link, NewRoom, Newcomer};
use crate::ticket::Claims;
use crate::view::{Json, RatingChange, Verdict};

/// What a directory takes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// Time passed.
    Tick,
    /// A node asks.
    Request(Box<Request>),
}

impl Entry {
    /// The text to be kept. `now` is the clock of who writes it: times are written as waits, because others have
    /// other clocks.
    pub fn to_text(&self, now: Micros) -> String {
        let mut out = String::new();
        Logged::of(self, now).write(&mut out);
        out
    }

    /// What was written. `now` is the time of the entry.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn from_text(text: &str, now: Micros) -> Result<Entry, MessageError> {
        Logged::read(Raw::parse(text)?, "entry").and_then(|logged| logged.entry(now))
    }
}

impl Directory {
    /// Takes the next entry; the answer is for whoever wrote it.
    pub fn take_entry(&mut self, now: Micros, entry: Entry) -> Reply {
        match entry {
            Entry::Tick => {
                self.handle_timeout(now);
                Reply::Noted
            }
            Entry::Request(request) => self.handle_request(now, *request),
        }
    }
}

record! {
    /// Time passed.
    pub struct Tick {}
}

record! {
    /// See [`Request::Lease`].
    pub struct Lease {
        node: NodeId,
        epoch: u32,
        /// For how long.
        wait: Micros,
    }
}

record! {
    /// See [`Request::Attach`].
    pub struct Attach {
        origin: Origin,
        name: DisplayName,
        resume: Option<SessionId>,
        displace: Option<SessionId>,
        displace_anybody: bool,
        ticket: Option<Claims>,
        settings: Json,
    }
}

record! {
    /// See [`Request::Find`].
    pub struct Find {
        newcomer: Newcomer,
        link: Link,
        wish: Wish,
    }
}

record! {
    /// See [`Request::StopSearch`].
    pub struct StopSearch {
        peer: PeerId,
        link: Link,
        leave: bool,
    }
}

record! {
    /// See [`Request::Create`].
    pub struct Create {
        newcomer: Newcomer,
        link: Link,
        new: NewRoom,
    }
}

record! {
    /// See [`Request::Join`].
    pub struct Join {
        newcomer: Newcomer,
        link: Link,
        code: Option<RoomCode>,
        room: Option<RoomId>,
        build: Label,
    }
}

record! {
    /// See [`Request::Act`] and [`Act`].
    pub struct MemberAct {
        room: RoomId,
        peer: PeerId,
        link: Link,
        act: String,
        ready: bool,
        resting: bool,
        countdown_ms: Option<u32>,
        seed: Option<Seed>,
        settings: Json,
        locked: Option<bool>,
        private: Option<bool>,
        seats: Option<u8>,
        target: Option<PeerId>,
        name: Option<DisplayName>,
        palette: Option<u8>,
        report: Option<Report>,
        told: Option<OwnScore>,
    }
}

record! {
    /// See [`Request::Detach`].
    pub struct Detach {
        room: RoomId,
        peer: PeerId,
        link: Link,
        next_signal: u64,
        got: Option<u64>,
        mail: Vec<Mail>,
    }
}

record! {
    /// See [`Request::Mail`].
    pub struct Post {
        room: RoomId,
        to: PeerId,
        mail: Mail,
    }
}

record! {
    /// See [`Request::Stored`].
    pub struct Stored {
        room: RoomId,
        round: u32,
        verdict: Option<Verdict>,
        ratings: Vec<RatingChange>,
    }
}

record! {
    /// See [`Request::Look`].
    pub struct Look {
        room: RoomId,
    }
}

record! {
    /// See [`Request::List`].
    pub struct List {
        game: Label,
        mode: Label,
        build: Label,
        all: bool,
        stamp: u64,
    }
}

tagged! {
    /// An entry as it is written.
    pub enum Logged by "entry" {
        "tick" => Tick,
        "lease" => Lease,
        "attach" => Attach,
        "find" => Find,
        "stop_search" => StopSearch,
        "create" => Create,
        "join" => Join,
        "act" => MemberAct,
        "detach" => Detach,
        "mail" => Post,
        "stored" => Stored,
        "look" => Look,
        "list" => List,
    }
}

impl Logged {
    fn of(entry: &Entry, now: Micros) -> Logged {
        let request = match entry {
            Entry::Tick => return Tick {}.into(),
            Entry::Request(request) => (**request).clone(),
        };
        match request {
            Request::Lease { node, epoch, until } => Lease { node, epoch, wait: until.since(now) }.into(),
            Request::Attach { origin, name, resume, displace, ticket } => {
                let (ticket, settings) =
                    ticket.map_or((None, Json::default()), |(claims, json)| (Some(claims), json));
                let (displace, displace_anybody) = match displace {
                    Displace::Nobody => (None, false),
                    Displace::Session(session) => (Some(session), false),
                    Displace::Anybody => (None, true),
                };
                Attach { origin, name, resume, displace, displace_anybody, ticket, settings }.into()
            }
            Request::Find { newcomer, link, wish } => Find { newcomer, link, wish }.into(),
            Request::StopSearch { peer, link, leave } => StopSearch { peer, link, leave }.into(),
            Request::Create { newcomer, link, new } => Create { newcomer, link, new }.into(),
            Request::Join { newcomer, link, by, build } => {
                let (code, room) = match by {
                    JoinBy::Code(code) => (Some(code), None),
                    JoinBy::Room(room) => (None, Some(room)),
                };
                Join { newcomer, link, code, room, build }.into()
            }
            Request::Act { room, peer, link, act } => MemberAct::of(room, peer, link, act).into(),
            Request::Detach { room, peer, link, next_signal, got, mail } => {
                Detach { room, peer, link, next_signal, got, mail }.into()
            }
            Request::Mail { room, to, mail } => Post { room, to, mail }.into(),
            Request::Stored { room, round, verdict, ratings } => {
                Stored { room, round, verdict, ratings }.into()
            }
            Request::Look { room } => Look { room }.into(),
            Request::List { game, mode, build, all, stamp } => List { game, mode, build, all, stamp }.into(),
        }
    }

    fn entry(self, now: Micros) -> Result<Entry, MessageError> {
        let request = match self {
            Logged::Tick(_) => return Ok(Entry::Tick),
            Logged::Lease(Lease { node, epoch, wait }) => {
                Request::Lease { node, epoch, until: now.saturating_add(wait) }
            }
            Logged::Attach(attach) => {
                let Attach { origin, name, resume, displace, displace_anybody, ticket, settings } = attach;
                let displace = match displace {
                    _ if displace_anybody => Displace::Anybody,
                    Some(session) => Displace::Session(session),
                    None => Displace::Nobody,
                };
                Request::Attach {
                    origin,
                    name,
                    resume,
                    displace,
                    ticket: ticket.map(|claims| (claims, settings)),
                }
            }
            Logged::Find(Find { newcomer, link, wish }) => Request::Find { newcomer, link, wish },
            Logged::StopSearch(StopSearch { peer, link, leave }) => Request::StopSearch { peer, link, leave },
            Logged::Create(Create { newcomer, link, new }) => Request::Create { newcomer, link, new },
            Logged::Join(Join { newcomer, link, code, room, build }) => {
                let by = match (code, room) {
                    (Some(code), _) => JoinBy::Code(code),
                    (None, Some(room)) => JoinBy::Room(room),
                    (None, None) => return Err(MessageError::Missing { field: "code" }),
                };
                Request::Join { newcomer, link, by, build }
            }
            Logged::MemberAct(act) => {
                let (room, peer, link) = (act.room, act.peer, act.link);
                Request::Act { room, peer, link, act: act.act()? }
            }
            Logged::Detach(Detach { room, peer, link, next_signal, got, mail }) => {
                Request::Detach { room, peer, link, next_signal, got, mail }
            }
            Logged::Post(Post { room, to, mail }) => Request::Mail { room, to, mail },
            Logged::Stored(Stored { room, round, verdict, ratings }) => {
                Request::Stored { room, round, verdict, ratings }
            }
            Logged::Look(Look { room }) => Request::Look { room },
            Logged::List(List { game, mode, build, all, stamp }) => {
                Request::List { game, mode, build, all, stamp }
            }
        };
        Ok(Entry::Request(Box::new(request)))
    }
}

impl MemberAct {
    fn of(room: RoomId, peer: PeerId, link: Link, act: Act) -> MemberAct {
        let mut written = MemberAct { room, peer, link, ..Value::blank() };
        written.act = match act {
            Act::Leave => "leave",
            Act::StepOut => "step_out",
            Act::FallSilent => "silent",
            Act::Ready(ready) => {
                written.ready = ready;
                "ready"
            }
            Act::Rest(resting) => {
                written.resting = resting;
                "rest"
            }
            Act::Start { countdown_ms, seed } => {
                (written.countdown_ms, written.seed) = (Some(countdown_ms), Some(seed));
                "start"
            }
            Act::Finish => "finish",
            Act::Settings(settings) => {
                written.settings = settings;
                "settings"
            }
            Act::Access { locked, private, seats } => {
                (written.locked, written.private, written.seats) = (locked, private, seats);
                "access"
            }
            Act::Kick(target) => {
                written.target = Some(target);
                "kick"
            }
            Act::Host(target) => {
                written.target = Some(target);
                "host"
            }
            Act::Profile { name, palette } => {
                (written.name, written.palette) = (name, palette);
                "profile"
            }
            Act::Report(report) => {
                written.report = Some(report);
                "report"
            }
            Act::Tell(score) => {
                written.told = Some(score);
                "tell"
            }
        }
        .into();
        written
    }

    fn act(self) -> Result<Act, MessageError> {
        let target = self.target.ok_or(MessageError::Missing { field: "target" });
        Ok(match self.act.as_str() {
            "leave" => Act::Leave,
            "step_out" => Act::StepOut,
            "silent" => Act::FallSilent,
            "ready" => Act::Ready(self.ready),
            "rest" => Act::Rest(self.resting),
            "start" => Act::Start {
                countdown_ms: self.countdown_ms.unwrap_or(0),
                seed: self.seed.ok_or(MessageError::Missing { field: "seed" })?,
            },
            "finish" => Act::Finish,
            "settings" => Act::Settings(self.settings),
            "access" => Act::Access { locked: self.locked, private: self.private, seats: self.seats },
            "kick" => Act::Kick(target?),
            "host" => Act::Host(target?),
            "profile" => Act::Profile { name: self.name, palette: self.palette },
            "tell" => Act::Tell(self.told.ok_or(MessageError::Missing { field: "told" })?),
            "report" => Act::Report(self.report.ok_or(MessageError::Missing { field: "report" })?),
            _ => return Err(MessageError::UnknownKind { field: "act" }),
        })
    }
}

record! {
    /// See [`NodeMessage::Signal`].
    pub struct Signal {
        room: RoomId,
        to: PeerId,
        mail: Mail,
    }
}

record! {
    /// See [`NodeMessage::Probe`].
    pub struct Probe {
        peer: PeerId,
        session: SessionId,
        from: NodeId,
        connection: u64,
    }
}

record! {
    /// See [`NodeMessage::Probed`].
    pub struct Probed {
        connection: u64,
        alive: bool,
    }
}

tagged! {
    /// What nodes tell each other, as it is written.
    pub enum LoggedMessage by "tell" {
        "signal" => Signal,
        "probe" => Probe,
        "probed" => Probed,
    }
}

impl NodeMessage {
    /// The text to send to another node.
    pub fn to_text(&self) -> String {
        let logged: LoggedMessage = match self.clone() {
            NodeMessage::Signal { room, to, mail } => Signal { room, to, mail }.into(),
            NodeMessage::Probe { peer, session, from, connection } => {
                Probe { peer, session, from, connection: connection.0 }.into()
            }
            NodeMessage::Probed { connection, alive } => Probed { connection: connection.0, alive }.into(),
        };
        let mut out = String::new();
        logged.write(&mut out);
        out
    }

    /// What another node said.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn from_text(text: &str) -> Result<NodeMessage, MessageError> {
        Ok(match LoggedMessage::read(Raw::parse(text)?, "message")? {
            LoggedMessage::Signal(Signal { room, to, mail }) => NodeMessage::Signal { room, to, mail },
            LoggedMessage::Probe(Probe { peer, session, from, connection }) => {
                NodeMessage::Probe { peer, session, from, connection: ConnectionId(connection) }
            }
            LoggedMessage::Probed(Probed { connection, alive }) => {
                NodeMessage::Probed { connection: ConnectionId(connection), alive }
            }
        })
    }
}
