//! What nodes ask a directory, what it answers, and what it tells them unasked.

use gaggle_kit::{Micros, PeerId, Slot};

use super::matchmaking::Skill;
use crate::id::{NodeId, PlayerId, ResumeId, RoomCode, RoomId};
use crate::json::record;
use crate::label::{DisplayName, Label};
use crate::message::Rejection;
use crate::message::server::Listing;
use crate::room::{Attached, Attachment, Displace, JoinRequest, NewRoom, RoomAction, Source};
use crate::ticket::Claims;
use crate::view::{RatingChange, RawJson, RoomUpdate, RoomView, Verdict};

record! {
    /// Who asks, and on which connection.
    #[derive(Copy)]
    pub struct Origin {
        /// The machine.
        peer: PeerId,
        /// The person.
        player: PlayerId,
        /// The connection.
        link: Attachment,
        /// Where the machine is.
        source: Source,
    }
}

record! {
    /// What somebody looks for, and the room to be made if there is none.
    pub struct FindSpec {
        /// The room to be made.
        new: NewRoom,
        /// Whether it may be made.
        may_create: bool,
        /// Not the fullest room, but people of one's skill.
        skill: Option<Skill>,
    }
}

impl FindSpec {
    /// Whether a room is what is looked for.
    pub(super) fn fits(&self, room: &RoomView) -> bool {
        (&room.game, &room.mode, &room.build) == (&self.new.game, &self.new.mode, &self.new.build)
    }
}

/// How a room is named.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum JoinBy {
    /// By its letters.
    Code(RoomCode),
    /// By its id.
    Room(RoomId),
}

record! {
    /// A signal on its way.
    pub struct QueuedSignal {
        /// From whom.
        from: PeerId,
        /// The number it was sent with over a connection that broke; none if it was never sent.
        n: Option<u64>,
        /// What is said.
        data: RawJson,
    }
}

/// What a node asks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// Keep me alive until then.
    Lease {
        /// Me.
        node: NodeId,
        /// Which of my lives.
        epoch: u32,
        /// Until when.
        until: Micros,
    },
    /// Somebody said hello: give them the seat they have.
    Attach {
        /// Who.
        origin: Origin,
        /// What they are called.
        name: DisplayName,
        /// The connection they say they had before.
        resume: Option<ResumeId>,
        /// From whom they may take it.
        displace: Displace,
        /// A ticket that was checked, and the settings it was signed with; empty ones if they do
        /// not have them.
        ticket: Option<(Claims, RawJson)>,
    },
    /// Seat somebody in the fullest open room, or in a new one.
    Find {
        /// Whom.
        newcomer: JoinRequest,
        /// On which connection.
        link: Attachment,
        /// What they look for.
        wish: FindSpec,
    },
    /// Somebody looks for people of their skill no more.
    StopSearch {
        /// Who.
        peer: PeerId,
        /// On which connection.
        link: Attachment,
        /// Also gives up a seat that was found meanwhile.
        leave: bool,
    },
    /// Make a room.
    Create {
        /// For whom.
        newcomer: JoinRequest,
        /// On which connection.
        link: Attachment,
        /// The room.
        new: NewRoom,
    },
    /// Seat somebody in this room.
    Join {
        /// Whom.
        newcomer: JoinRequest,
        /// On which connection.
        link: Attachment,
        /// Which room.
        by: JoinBy,
        /// The build of their game.
        build: Label,
    },
    /// A member does something.
    Act {
        /// In which room.
        room: RoomId,
        /// Who.
        peer: PeerId,
        /// On which connection.
        link: Attachment,
        /// What.
        act: RoomAction,
    },
    /// A member's connection is lost.
    Detach {
        /// In which room.
        room: RoomId,
        /// Whose.
        peer: PeerId,
        /// Which connection.
        link: Attachment,
        /// The number of the next signal to the member.
        next_signal: u64,
        /// The number of the last signal that came from it.
        got: Option<u64>,
        /// What was sent to it lately and may not have arrived.
        mail: Vec<QueuedSignal>,
    },
    /// A signal for a member that is away.
    Mail {
        /// In which room.
        room: RoomId,
        /// To whom.
        to: PeerId,
        /// What.
        mail: QueuedSignal,
    },
    /// A match is stored.
    Stored {
        /// Of which room.
        room: RoomId,
        /// Which of its matches.
        round: u32,
        /// What it counts as: what was stored first. None if who stored it did not say.
        verdict: Option<Verdict>,
        /// How the ratings moved.
        ratings: Vec<RatingChange>,
    },
    /// Show me a room.
    Look {
        /// Which.
        room: RoomId,
    },
    /// Show me the list of rooms of a game.
    List {
        /// Which game.
        game: Label,
        /// Only this mode, unless empty.
        mode: Label,
        /// Only this build, unless empty.
        build: Label,
        /// Also rooms one cannot join.
        all: bool,
        /// The stamp of the list I have.
        stamp: u64,
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
        /// The room, right after; none if that was its end.
        room: Option<Box<RoomCopy>>,
        /// After a report: where the match stands.
        verdict: Option<Verdict>,
    },
    /// It is noted.
    Accepted,
    /// A room, or none.
    Room(Option<Box<RoomCopy>>),
    /// The list of rooms.
    Listings {
        /// To be given when asked again.
        stamp: u64,
        /// The rooms; none if nothing changed since the stamp that was given.
        rooms: Option<Vec<Listing>>,
    },
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
    Signal {
        /// In which room.
        room: RoomId,
        /// To whom.
        to: PeerId,
        /// What.
        mail: QueuedSignal,
    },
}
