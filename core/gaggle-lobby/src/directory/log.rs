//! Requests as texts, in the order in which every directory of a shared server takes them.
//!
//! A directory is a machine without chance or clock: the same entries make the same rooms
//! everywhere. What orders the entries, keeps them and hands them to everybody is the caller's
//! affair.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use gaggle_kit::{Micros, PeerId};

use super::{Command, Directory, FindSpec, JoinBy, Origin, QueuedSignal, Reply};
use crate::MessageError;
use crate::id::{NodeId, ResumeId, RoomCode, RoomId, Seed};
use crate::json::{Raw, Value, record, tagged};
use crate::label::{DisplayName, Label};
use crate::message::client::{OwnScore, Report};
use crate::node::{ConnectionId, NodeMessage};
use crate::room::{Attachment, Displace, JoinRequest, NewRoom, RoomAction};
use crate::ticket::Claims;
use crate::view::{RatingChange, RawJson, Verdict};

/// What a directory takes next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LogEntry {
    /// Time passed.
    Tick,
    /// A node asks.
    Command(Box<Command>),
}

impl LogEntry {
    /// The text to be kept. `now` is the clock of who writes it: times are written as waits,
    /// because others have other clocks.
    pub fn to_text(&self, now: Micros) -> String {
        let mut out = String::new();
        Logged::of(self, now).write(&mut out);
        out
    }

    /// What was written. `now` is the time of the entry.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn from_text(text: &str, now: Micros) -> Result<LogEntry, MessageError> {
        Logged::read(Raw::parse(text)?, "entry").and_then(|logged| logged.entry(now))
    }
}

impl Directory {
    /// Takes the next entry; the answer is for whoever wrote it.
    pub fn apply(&mut self, now: Micros, entry: LogEntry) -> Reply {
        match entry {
            LogEntry::Tick => {
                self.handle_timeout(now);
                Reply::Accepted
            }
            LogEntry::Command(request) => self.handle_request(now, *request),
        }
    }
}

record! {
    /// Time passed.
    pub struct Tick {}
}

record! {
    /// See [`Command::Lease`].
    pub struct Lease {
        node: NodeId,
        epoch: u32,
        /// For how long.
        wait: Micros,
    }
}

record! {
    /// See [`Command::Attach`].
    pub struct Attach {
        origin: Origin,
        name: DisplayName,
        resume: Option<ResumeId>,
        displace: Option<ResumeId>,
        displace_anybody: bool,
        ticket: Option<Claims>,
        settings: RawJson,
    }
}

record! {
    /// See [`Command::Find`].
    pub struct Find {
        newcomer: JoinRequest,
        link: Attachment,
        wish: FindSpec,
    }
}

record! {
    /// See [`Command::StopSearch`].
    pub struct StopSearch {
        peer: PeerId,
        link: Attachment,
        leave: bool,
    }
}

record! {
    /// See [`Command::Create`].
    pub struct Create {
        newcomer: JoinRequest,
        link: Attachment,
        new: NewRoom,
    }
}

record! {
    /// See [`Command::Join`].
    pub struct Join {
        newcomer: JoinRequest,
        link: Attachment,
        code: Option<RoomCode>,
        room: Option<RoomId>,
        build: Label,
    }
}

record! {
    /// See [`Command::Act`] and [`RoomAction`].
    pub struct MemberAct {
        room: RoomId,
        peer: PeerId,
        link: Attachment,
        act: String,
        ready: bool,
        resting: bool,
        countdown_ms: Option<u32>,
        seed: Option<Seed>,
        settings: RawJson,
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
    /// See [`Command::Detach`].
    pub struct Detach {
        room: RoomId,
        peer: PeerId,
        link: Attachment,
        next_signal: u64,
        got: Option<u64>,
        mail: Vec<QueuedSignal>,
    }
}

record! {
    /// See [`Command::Mail`].
    pub struct Post {
        room: RoomId,
        to: PeerId,
        mail: QueuedSignal,
    }
}

record! {
    /// See [`Command::Stored`].
    pub struct Stored {
        room: RoomId,
        round: u32,
        verdict: Option<Verdict>,
        ratings: Vec<RatingChange>,
    }
}

record! {
    /// See [`Command::Look`].
    pub struct Look {
        room: RoomId,
    }
}

record! {
    /// See [`Command::List`].
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
    fn of(entry: &LogEntry, now: Micros) -> Logged {
        let request = match entry {
            LogEntry::Tick => return Tick {}.into(),
            LogEntry::Command(request) => (**request).clone(),
        };
        match request {
            Command::Lease { node, epoch, until } => Lease { node, epoch, wait: until.since(now) }.into(),
            Command::Attach { origin, name, resume, displace, ticket } => {
                let (ticket, settings) =
                    ticket.map_or((None, RawJson::default()), |(claims, json)| (Some(claims), json));
                let (displace, displace_anybody) = match displace {
                    Displace::Never => (None, false),
                    Displace::OnlyFrom(session) => (Some(session), false),
                    Displace::Always => (None, true),
                };
                Attach { origin, name, resume, displace, displace_anybody, ticket, settings }.into()
            }
            Command::Find { newcomer, link, wish } => Find { newcomer, link, wish }.into(),
            Command::StopSearch { peer, link, leave } => StopSearch { peer, link, leave }.into(),
            Command::Create { newcomer, link, new } => Create { newcomer, link, new }.into(),
            Command::Join { newcomer, link, by, build } => {
                let (code, room) = match by {
                    JoinBy::Code(code) => (Some(code), None),
                    JoinBy::Room(room) => (None, Some(room)),
                };
                Join { newcomer, link, code, room, build }.into()
            }
            Command::Act { room, peer, link, act } => MemberAct::of(room, peer, link, act).into(),
            Command::Detach { room, peer, link, next_signal, got, mail } => {
                Detach { room, peer, link, next_signal, got, mail }.into()
            }
            Command::Mail { room, to, mail } => Post { room, to, mail }.into(),
            Command::Stored { room, round, verdict, ratings } => {
                Stored { room, round, verdict, ratings }.into()
            }
            Command::Look { room } => Look { room }.into(),
            Command::List { game, mode, build, all, stamp } => List { game, mode, build, all, stamp }.into(),
        }
    }

    fn entry(self, now: Micros) -> Result<LogEntry, MessageError> {
        let request = match self {
            Logged::Tick(_) => return Ok(LogEntry::Tick),
            Logged::Lease(Lease { node, epoch, wait }) => {
                Command::Lease { node, epoch, until: now.saturating_add(wait) }
            }
            Logged::Attach(attach) => {
                let Attach { origin, name, resume, displace, displace_anybody, ticket, settings } = attach;
                let displace = match displace {
                    _ if displace_anybody => Displace::Always,
                    Some(session) => Displace::OnlyFrom(session),
                    None => Displace::Never,
                };
                Command::Attach {
                    origin,
                    name,
                    resume,
                    displace,
                    ticket: ticket.map(|claims| (claims, settings)),
                }
            }
            Logged::Find(Find { newcomer, link, wish }) => Command::Find { newcomer, link, wish },
            Logged::StopSearch(StopSearch { peer, link, leave }) => Command::StopSearch { peer, link, leave },
            Logged::Create(Create { newcomer, link, new }) => Command::Create { newcomer, link, new },
            Logged::Join(Join { newcomer, link, code, room, build }) => {
                let by = match (code, room) {
                    (Some(code), _) => JoinBy::Code(code),
                    (None, Some(room)) => JoinBy::Room(room),
                    (None, None) => return Err(MessageError::Missing { field: "code" }),
                };
                Command::Join { newcomer, link, by, build }
            }
            Logged::MemberAct(act) => {
                let (room, peer, link) = (act.room, act.peer, act.link);
                Command::Act { room, peer, link, act: act.act()? }
            }
            Logged::Detach(Detach { room, peer, link, next_signal, got, mail }) => {
                Command::Detach { room, peer, link, next_signal, got, mail }
            }
            Logged::Post(Post { room, to, mail }) => Command::Mail { room, to, mail },
            Logged::Stored(Stored { room, round, verdict, ratings }) => {
                Command::Stored { room, round, verdict, ratings }
            }
            Logged::Look(Look { room }) => Command::Look { room },
            Logged::List(List { game, mode, build, all, stamp }) => {
                Command::List { game, mode, build, all, stamp }
            }
        };
        Ok(LogEntry::Command(Box::new(request)))
    }
}

impl MemberAct {
    fn of(room: RoomId, peer: PeerId, link: Attachment, act: RoomAction) -> MemberAct {
        let mut written = MemberAct { room, peer, link, ..Value::blank() };
        written.act = match act {
            RoomAction::Leave => "leave",
            RoomAction::LeaveKeepingSlot => "step_out",
            RoomAction::IdleTimeout => "silent",
            RoomAction::Ready(ready) => {
                written.ready = ready;
                "ready"
            }
            RoomAction::Rest(resting) => {
                written.resting = resting;
                "rest"
            }
            RoomAction::Start { countdown_ms, seed } => {
                (written.countdown_ms, written.seed) = (Some(countdown_ms), Some(seed));
                "start"
            }
            RoomAction::Finish => "finish",
            RoomAction::Settings(settings) => {
                written.settings = settings;
                "settings"
            }
            RoomAction::Access { locked, private, seats } => {
                (written.locked, written.private, written.seats) = (locked, private, seats);
                "access"
            }
            RoomAction::Kick(target) => {
                written.target = Some(target);
                "kick"
            }
            RoomAction::TransferHost(target) => {
                written.target = Some(target);
                "host"
            }
            RoomAction::Profile { name, palette } => {
                (written.name, written.palette) = (name, palette);
                "profile"
            }
            RoomAction::Report(report) => {
                written.report = Some(report);
                "report"
            }
            RoomAction::Tell(score) => {
                written.told = Some(score);
                "tell"
            }
        }
        .into();
        written
    }

    fn act(self) -> Result<RoomAction, MessageError> {
        let target = self.target.ok_or(MessageError::Missing { field: "target" });
        Ok(match self.act.as_str() {
            "leave" => RoomAction::Leave,
            "step_out" => RoomAction::LeaveKeepingSlot,
            "silent" => RoomAction::IdleTimeout,
            "ready" => RoomAction::Ready(self.ready),
            "rest" => RoomAction::Rest(self.resting),
            "start" => RoomAction::Start {
                countdown_ms: self.countdown_ms.unwrap_or(0),
                seed: self.seed.ok_or(MessageError::Missing { field: "seed" })?,
            },
            "finish" => RoomAction::Finish,
            "settings" => RoomAction::Settings(self.settings),
            "access" => RoomAction::Access { locked: self.locked, private: self.private, seats: self.seats },
            "kick" => RoomAction::Kick(target?),
            "host" => RoomAction::TransferHost(target?),
            "profile" => RoomAction::Profile { name: self.name, palette: self.palette },
            "tell" => RoomAction::Tell(self.told.ok_or(MessageError::Missing { field: "told" })?),
            "report" => RoomAction::Report(self.report.ok_or(MessageError::Missing { field: "report" })?),
            _ => return Err(MessageError::UnknownKind { field: "act" }),
        })
    }
}

record! {
    /// See [`NodeMessage::Signal`].
    pub struct Signal {
        room: RoomId,
        to: PeerId,
        mail: QueuedSignal,
    }
}

record! {
    /// See [`NodeMessage::Probe`].
    pub struct Probe {
        peer: PeerId,
        session: ResumeId,
        from: NodeId,
        connection: u64,
    }
}

record! {
    /// See [`NodeMessage::ProbeResult`].
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
            NodeMessage::ProbeResult { connection, alive } => {
                Probed { connection: connection.0, alive }.into()
            }
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
                NodeMessage::ProbeResult { connection: ConnectionId(connection), alive }
            }
        })
    }
}
