//! Commands to a directory, its replies, and its notices to nodes.
//!
//! A node turns a client's message into a command once, validated and authenticated; the command is
//! what the log carries and what [`Directory::apply`](super::Directory::apply) takes. Absent:
//! connections, clocks (times are durations), randomness (ids and seeds are in the command).

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
    /// The request that an entry answers: its reply goes to this connection.
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
    /// Request to be answered; none for entries a node made by itself.
    pub origin: Option<Origin>,
    /// Change to apply to the directory.
    pub command: Command,
}

impl LogEntry {
    /// An entry that answers no request.
    pub fn new(command: impl Into<Command>) -> LogEntry {
        LogEntry { origin: None, command: command.into() }
    }

    /// The entry as the log stores it.
    pub fn to_text(&self) -> String {
        let mut out = String::with_capacity(256);
        let mut object = ObjectWriter::new(&mut out);
        object.word("command", self.command.kind());
        object.field("origin", &self.origin);
        self.command.write_fields(&mut object);
        object.end();
        out
    }

    /// Reads the text of [`LogEntry::to_text`].
    ///
    /// # Errors
    /// If the text is not an entry.
    pub fn from_text(text: &str) -> Result<LogEntry, MessageError> {
        let mut object = Object::empty();
        object.fill(text)?;
        let entry = LogEntry { origin: object.read("origin"), command: Command::read_fields(&object) };
        object.finish(entry)
    }
}

record! {
    /// Advances time: expires leases, reservations and countdowns.
    pub struct Tick {}
}

record! {
    /// Renews the lease of a node that is alive.
    #[derive(Copy)]
    pub struct Lease {
        /// Node that is alive.
        node: NodeId,
        /// Counts the restarts of the node.
        epoch: u32,
        /// How long the directory waits for the next lease.
        ttl: Micros,
    }
}

record! {
    /// A peer that sent `hello`, and its connection.
    #[derive(Copy)]
    pub struct Caller {
        /// Id of the peer.
        peer: PeerId,
        /// The account of its player.
        player: PlayerId,
        /// Connection that sent `hello`.
        link: Attachment,
        /// Network of the peer.
        source: Source,
    }
}

record! {
    /// A ticket whose signature was checked.
    pub struct ShownTicket {
        /// Content of the ticket.
        claims: Claims,
        /// The settings it was signed with; empty if the peer does not have them.
        settings: RawJson,
    }
}

record! {
    /// Attaches a connection to the reservation of its peer.
    pub struct Attach {
        /// Peer that connected.
        caller: Caller,
        /// Display name of the peer.
        name: DisplayName,
        /// Its previous connection, as the peer claims.
        resume: Option<ResumeId>,
        /// Which connections may lose the reservation to this one.
        displace: Displace,
        /// Ticket shown with `hello`.
        ticket: Option<ShownTicket>,
    }
}

record! {
    /// Joins the fullest open room, or creates one.
    pub struct Find {
        /// Peer that joins.
        joiner: JoinRequest,
        /// Connection of the peer.
        link: Attachment,
        /// The room to be created if none fits.
        new: NewRoom,
        /// Whether a room may be created.
        may_create: bool,
        /// Search for players of similar skill instead of the fullest room.
        skill: Option<Skill>,
    }
}

record! {
    /// Ends a search for players of similar skill.
    #[derive(Copy)]
    pub struct StopSearch {
        /// Peer that searched.
        peer: PeerId,
        /// Connection of the peer.
        link: Attachment,
        /// Also give up a reservation found meanwhile.
        leave: bool,
    }
}

record! {
    /// Creates a room.
    pub struct Create {
        /// Peer that joins first and becomes host.
        joiner: JoinRequest,
        /// Connection of the peer.
        link: Attachment,
        /// Room to be created.
        new: NewRoom,
    }
}

record! {
    /// Joins a room named by code or by id; the code counts if both are given.
    pub struct Join {
        /// Peer that joins.
        joiner: JoinRequest,
        /// Connection of the peer.
        link: Attachment,
        /// Code of the room.
        code: Option<RoomCode>,
        /// Id of the room.
        room: Option<RoomId>,
        /// Build of the joiner's game.
        build: Label,
    }
}

record! {
    /// A member acts in its room.
    pub struct Act {
        /// Room of the member.
        room: RoomId,
        /// Member that acts.
        peer: PeerId,
        /// Connection of the peer.
        link: Attachment,
        /// What the member does.
        action: RoomAction,
    }
}

record! {
    /// A member's connection is lost.
    pub struct Detach {
        /// Room of the member.
        room: RoomId,
        /// Member whose connection is lost.
        peer: PeerId,
        /// The lost connection.
        link: Attachment,
        /// Number of the next signal to the member.
        next_signal: u64,
        /// Number of the last signal from the member.
        got: Option<u64>,
        /// Recently sent signals that may not have arrived.
        mail: Vec<QueuedSignal>,
    }
}

record! {
    /// A signal for a member that is away.
    pub struct QueueSignal {
        /// Room of the member.
        room: RoomId,
        /// Member that receives the signal.
        to: PeerId,
        /// The signal to queue.
        signal: QueuedSignal,
    }
}

record! {
    /// Confirms that a match is stored.
    pub struct MarkStored {
        /// Room of the match.
        room: RoomId,
        /// Number of the match in its room.
        round: u32,
        /// Verdict stored first; none if the storage did not return one.
        verdict: Option<Verdict>,
        /// Rating changes the match caused.
        ratings: Vec<RatingChange>,
    }
}

tagged! {
    /// Every change to a directory.
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
    /// Whether the reply may contain a room of which the node has no copy.
    pub fn may_join(&self) -> bool {
        matches!(self, Command::Attach(_) | Command::Find(_) | Command::Create(_) | Command::Join(_))
    }

    /// Whether a client requested it and can be asked to retry.
    pub fn is_client_request(&self) -> bool {
        !matches!(self, Command::Tick(_) | Command::Lease(_) | Command::Detach(_) | Command::MarkStored(_))
    }
}

record! {
    /// A signal that is not delivered yet.
    pub struct QueuedSignal {
        /// Peer that sent it.
        from: PeerId,
        /// Number under which it was sent on a connection that broke; none if never sent.
        n: Option<u64>,
        /// Content of the signal, not interpreted.
        data: RawJson,
    }
}

/// A query that changes nothing. Each node asks its own directory, outside the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lookup {
    /// One room with all its state.
    Room(RoomId),
    /// The list of rooms of a game.
    List {
        /// Selects the rooms of the list.
        key: ListKey,
        /// Stamp of the list the caller has.
        stamp: u64,
    },
}

/// Selects the rooms of a list.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ListKey {
    /// Rooms of this game only.
    pub game: Label,
    /// Only this mode, unless empty.
    pub mode: Label,
    /// Only this build, unless empty.
    pub build: Label,
    /// Also rooms that cannot be joined.
    pub all: bool,
}

/// Answer to a [`Lookup`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A room; none if it does not exist.
    Room(Option<Box<RoomCopy>>),
    /// The list of rooms.
    List {
        /// Stamp to pass with the next lookup.
        stamp: u64,
        /// The rooms; none if unchanged since the given stamp.
        rooms: Option<Vec<crate::message::server::Listing>>,
    },
}

/// A room as nodes cache it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomCopy {
    /// Room as its members see it.
    pub view: RoomView,
    /// Connections of the members.
    pub links: Vec<(PeerId, Attachment)>,
}

/// How a peer joined a room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JoinedReply {
    /// The room was created for this peer.
    pub created: bool,
    /// The peer had the reservation before.
    pub returned: bool,
    /// Slots of the peer that another player had before.
    pub reused_slots: Vec<Slot>,
    /// Whether signal numbering continues on this connection.
    pub attached: Attached,
    /// Signals queued while the peer was away.
    pub mail: Vec<QueuedSignal>,
}

impl JoinedReply {
    /// The reply for a peer that had the reservation before.
    pub fn kept(attached: Attached, mail: Vec<QueuedSignal>) -> JoinedReply {
        JoinedReply { created: false, returned: true, reused_slots: Vec::new(), attached, mail }
    }
}

/// Answer of a directory to a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reply {
    /// The lease is renewed.
    Leased,
    /// The lease starts: no peer is connected through it yet.
    LeaseStarted,
    /// The lease of this epoch had expired and its members are away now. The node must start a new
    /// epoch.
    LeaseExpired,
    /// The peer has a reservation.
    Joined {
        /// The room after the command.
        room: Box<RoomCopy>,
        /// How the peer joined it.
        seated: JoinedReply,
    },
    /// The peer has no reservation.
    NotInRoom {
        /// Why the shown ticket restored none.
        why: Option<Rejection>,
    },
    /// The search goes on: repeat it in a second.
    Searching {
        /// Players searching at the moment.
        waiting: u32,
    },
    /// The peer has a reservation that another connection uses.
    Elsewhere {
        /// Connection that uses it.
        link: Attachment,
        /// Room of the reservation.
        code: RoomCode,
    },
    /// The command was applied.
    Done {
        /// State of the match after a report.
        verdict: Option<Verdict>,
    },
    /// Accepted; no client waits for an answer.
    Accepted,
    /// The command was not applied.
    Rejected(Rejection),
}

/// News from a directory to a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Notice {
    /// A room changed that has or had a member connected to this node.
    Changed {
        /// The changed room.
        room: RoomId,
        /// Version of the room after the change.
        version: u64,
        /// Updates for its members.
        events: Vec<RoomUpdate>,
        /// Members whose connection changed.
        links: Vec<(PeerId, Option<Attachment>)>,
    },
    /// Another connection took over a reservation.
    Displaced {
        /// Peer of the reservation.
        peer: PeerId,
        /// The connection that lost it.
        session: ResumeId,
    },
    /// A search found a room for a player connected to this node.
    Found {
        /// Peer that searched.
        peer: PeerId,
        /// Connection that searched.
        session: ResumeId,
    },
    /// A signal for a member connected to this node.
    Signal(QueueSignal),
}
