//! Commands to a directory, what it replies, and what it tells nodes unasked.
//!
//! A node turns a client's message into a command once, validated and authenticated; the command
//! is what the log carries and what [`Directory::apply`](super::Directory::apply) takes.
//! Absent: connections, clocks (times are durations), chance (ids and seeds are in the command).

use gaggle_kit::{Micros, PeerId, Slot};

use super::matchmaking::Skill;
use crate::MessageError;
use crate::id::{NodeId, PlayerId, ResumeId, RoomCode, RoomId};
use crate::json::{Object, ObjectWriter, Record, record, tagged};
use crate::label::{DisplayName, Label};
use crate::message::Rejection;
use crate::room::{Attached, Attachment, Displace, JoinRequest, NewRoom, RoomAction, Source};
use crate::ticket::Claims;
use crate::view::{RatingChange, RawJson, RoomUpdate, RoomView, Verdict};

record! {
    /// The request an entry answers: its reply goes to this connection.
    #[derive(Copy)]
    pub struct Origin {
        /// Node of the connection.
        node: NodeId,
        /// Number of the connection at its node.
        connection: u64,
        /// The `id` the client gave its message.
        request: Option<u64>,
    }
}

/// What the log carries: every directory applies the same entries in the same order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// The request to be answered, if there is one.
    pub origin: Option<Origin>,
    /// What is to be done.
    pub command: Command,
}

impl LogEntry {
    /// An entry that answers no request.
    pub fn new(command: impl Into<Command>) -> LogEntry {
        LogEntry { origin: None, command: command.into() }
    }

    /// The text a log keeps.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(256);
        let mut object = ObjectWriter::new(&mut out);
        object.word("command", self.command.kind());
        object.field("origin", &self.origin);
        self.command.write_fields(&mut object);
        object.end();
        out
    }

    /// Reads what [`LogEntry::to_text`] wrote.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn from_text(text: &str) -> Result<LogEntry, MessageError> {
        let mut object = Object::empty();
        object.fill(text)?;
        let entry = LogEntry { origin: object.read("origin"), command: Command::read_fields(&object) };
        object.finish(entry)
    }
}

record! {
    /// Time passed: leases, reservations and countdowns end.
    pub struct Tick {}
}

record! {
    /// A node is alive.
    #[derive(Copy)]
    pub struct Lease {
        /// Node that is alive.
        node: NodeId,
        /// Which of its lives.
        epoch: u32,
        /// How long the directory waits for the next lease.
        ttl: Micros,
    }
}

record! {
    /// A peer that said hello, and the connection it did so on.
    #[derive(Copy)]
    pub struct Caller {
        /// Peer that is meant.
        peer: PeerId,
        /// The account of its player.
        player: PlayerId,
        /// Connection it did so on.
        link: Attachment,
        /// Network of the peer.
        source: Source,
    }
}

record! {
    /// A ticket whose signature was checked.
    pub struct ShownTicket {
        /// What it says.
        claims: Claims,
        /// The settings it was signed with; empty if the peer does not have them.
        settings: RawJson,
    }
}

record! {
    /// Gives a peer the reservation it has.
    pub struct Attach {
        /// Peer that is meant.
        caller: Caller,
        /// Display name of the peer.
        name: DisplayName,
        /// The connection it says it had before.
        resume: Option<ResumeId>,
        /// Whose connection may lose the reservation.
        displace: Displace,
        /// The ticket it showed.
        ticket: Option<ShownTicket>,
    }
}

record! {
    /// Puts a peer into the fullest open room, or into a new one.
    pub struct Find {
        /// Peer that joins.
        joiner: JoinRequest,
        /// Connection of the peer.
        link: Attachment,
        /// The room to be created if none fits.
        new: NewRoom,
        /// Whether it may be created.
        may_create: bool,
        /// Players of one's skill are wanted, not the fullest room.
        skill: Option<Skill>,
    }
}

record! {
    /// A peer no longer searches for players of its skill.
    #[derive(Copy)]
    pub struct StopSearch {
        /// Peer that is meant.
        peer: PeerId,
        /// Connection of the peer.
        link: Attachment,
        /// Also gives up a reservation that was found meanwhile.
        leave: bool,
    }
}

record! {
    /// Creates a room.
    pub struct Create {
        /// The peer that comes in first.
        joiner: JoinRequest,
        /// Connection of the peer.
        link: Attachment,
        /// Room to be created.
        new: NewRoom,
    }
}

record! {
    /// Puts a peer into this room, named by code or by id; the code counts if both are given.
    pub struct Join {
        /// Peer that joins.
        joiner: JoinRequest,
        /// Connection of the peer.
        link: Attachment,
        /// Code of the room.
        code: Option<RoomCode>,
        /// Id of the room.
        room: Option<RoomId>,
        /// Build of the peer's game.
        build: Label,
    }
}

record! {
    /// A member acts in its room.
    pub struct Act {
        /// Room of the member.
        room: RoomId,
        /// Peer that is meant.
        peer: PeerId,
        /// Connection of the peer.
        link: Attachment,
        /// What it does.
        action: RoomAction,
    }
}

record! {
    /// A member's connection is lost.
    pub struct Detach {
        /// Room of the member.
        room: RoomId,
        /// Peer that is meant.
        peer: PeerId,
        /// The lost connection.
        link: Attachment,
        /// Number of the next signal to the member.
        next_signal: u64,
        /// Number of the last signal from the member.
        got: Option<u64>,
        /// Signals sent lately that may not have arrived.
        mail: Vec<QueuedSignal>,
    }
}

record! {
    /// A signal for a member that is away.
    pub struct QueueSignal {
        /// Room of the member.
        room: RoomId,
        /// Peer that is meant.
        to: PeerId,
        /// What it is sent.
        signal: QueuedSignal,
    }
}

record! {
    /// A match is stored.
    pub struct MarkStored {
        /// Room of the member.
        room: RoomId,
        /// Which of its matches.
        round: u32,
        /// What was stored first; none if the storage did not say.
        verdict: Option<Verdict>,
        /// How ratings moved.
        ratings: Vec<RatingChange>,
    }
}

tagged! {
    /// What a directory is told to do.
    #[allow(missing_docs, reason = "each variant is the record of its name")]
    pub enum Command by "command" {
        "tick" => Tick,
        "lease" => Lease,
        "attach" => Attach,
        "find" => Find,
        "stop_search" => StopSearch,
        "create" => Create,
        "join" => Join,
        "act" => Act,
        "detach" => Detach,
        "queue_signal" => QueueSignal,
        "mark_stored" => MarkStored,
    }
}

impl Command {
    /// Whether the reply may bring a room its node has no copy of.
    pub fn may_join(&self) -> bool {
        matches!(self, Command::Attach(_) | Command::Find(_) | Command::Create(_) | Command::Join(_))
    }

    /// Whether a client asked for it, who can be told to try again.
    pub fn is_client_request(&self) -> bool {
        !matches!(self, Command::Tick(_) | Command::Lease(_) | Command::Detach(_) | Command::MarkStored(_))
    }
}

record! {
    /// A signal on its way.
    pub struct QueuedSignal {
        /// Peer that sent it.
        from: PeerId,
        /// The number it was sent with over a connection that broke; none if it was never sent.
        n: Option<u64>,
        /// What it says.
        data: RawJson,
    }
}

/// A question to a directory. It changes nothing, so that each node asks its own directory and no
/// log carries it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// One whole room.
    Room(RoomId),
    /// The list of rooms of a game.
    List {
        /// Which list it is.
        key: ListKey,
        /// The stamp of the list one has.
        stamp: u64,
    },
}

/// Which rooms a list has.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListKey {
    /// Rooms of this game.
    pub game: Label,
    /// Only this mode, unless empty.
    pub mode: Label,
    /// Only this build, unless empty.
    pub build: Label,
    /// Also rooms that cannot be joined.
    pub all: bool,
}

/// The answer to a [`Lookup`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A room, or none.
    Room(Option<Box<RoomCopy>>),
    /// The list of rooms.
    List {
        /// To be given when asked again.
        stamp: u64,
        /// The rooms; none if nothing changed since the stamp that was given.
        rooms: Option<Vec<crate::message::server::Listing>>,
    },
}

/// A room as nodes keep it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomCopy {
    /// What members see.
    pub view: RoomView,
    /// Where their connections are.
    pub links: Vec<(PeerId, Attachment)>,
}

/// How somebody was seated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedReply {
    /// The room was made for them.
    pub created: bool,
    /// They had the seat before.
    pub returned: bool,
    /// Those of their seats that were somebody else's last.
    pub inherited: Vec<Slot>,
    /// Whether signals go on where they stopped.
    pub attached: Attached,
    /// Signals that waited for them.
    pub mail: Vec<QueuedSignal>,
}

impl JoinedReply {
    /// For somebody who has the seat already.
    pub fn kept(attached: Attached, mail: Vec<QueuedSignal>) -> JoinedReply {
        JoinedReply { created: false, returned: true, inherited: Vec::new(), attached, mail }
    }
}

/// What a directory answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The lease goes on.
    Leased,
    /// The lease begins: nobody is connected through it yet.
    LeaseStarted,
    /// This life of the node was taken for dead: whoever was connected through it is away now.
    /// Begin another.
    LeaseExpired,
    /// They have a seat.
    Joined {
        /// The room, right after.
        room: Box<RoomCopy>,
        /// How.
        seated: JoinedReply,
    },
    /// They have none.
    NotInRoom {
        /// Why a ticket they showed brings them none.
        why: Option<Rejection>,
    },
    /// They look for people of their skill: ask again in a second.
    Searching {
        /// How many do.
        waiting: u32,
    },
    /// They have one, and another connection is using it.
    Elsewhere {
        /// That connection.
        link: Attachment,
        /// In which room.
        code: RoomCode,
    },
    /// It is done.
    Done {
        /// After a report: where the match stands.
        verdict: Option<Verdict>,
    },
    /// It is noted.
    Accepted,
    /// It was not done.
    Rejected(Rejection),
}

/// What a directory tells a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// Something happened in a room that has, or had, a member connected here.
    Changed {
        /// Which room.
        room: RoomId,
        /// Its version after it.
        version: u64,
        /// What members see.
        events: Vec<RoomUpdate>,
        /// Whose connection is where now.
        links: Vec<(PeerId, Option<Attachment>)>,
    },
    /// Another connection took this one's seat.
    Displaced {
        /// Whose.
        peer: PeerId,
        /// The connection that lost it.
        session: ResumeId,
    },
    /// A player connected here who looks for others has a seat with them.
    Found {
        /// Who.
        peer: PeerId,
        /// The connection that looks.
        session: ResumeId,
    },
    /// A signal for a member connected here.
    Signal(QueueSignal),
}
