//! Text form of a whole directory.
//!
//! A starting node reads it instead of the whole log. Absent: log, storage.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::{Micros, PeerId};

use super::ended_rooms::EndedRooms;
use super::index::Index;
use super::leases::Leases;
use super::mailboxes::Mailboxes;
use super::matchmaking::{Matchmaking, SearchTicket};
use super::unstored::UnstoredMatches;
use super::{Directory, QueuedSignal};
use crate::MessageError;
use crate::id::{NodeId, RoomId};
use crate::json::{Raw, Value, record};
use crate::results::MatchRecord;
use crate::room::Room;
use crate::rules::Rules;

record! {
    /// A node that is alive, or whose epoch expired.
    pub struct StoredNode {
        node: NodeId,
        epoch: u32,
        /// End of the lease; none if expired.
        until: Option<Micros>,
    }
}

record! {
    /// A signal queued for a member that is away.
    pub struct StoredSignal {
        peer: PeerId,
        mail: Vec<QueuedSignal>,
    }
}

/// All state of a directory at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    rooms: BTreeMap<RoomId, Room>,
    mailboxes: Mailboxes,
    matchmaking: Matchmaking,
    nodes: Vec<StoredNode>,
    unstored: VecDeque<MatchRecord>,
    ended: EndedRooms,
}

record! {
    /// An ended room.
    pub struct StoredEnd {
        room: RoomId,
        /// When its last ticket expires.
        until: Micros,
    }
}

impl Snapshot {
    /// One line for each node, room, search ticket, mailbox, unstored match and ended room.
    pub fn to_text(&self) -> String {
        let mut out = String::new();
        for node in &self.nodes {
            out.push_str("node ");
            node.write(&mut out);
            out.push('\n');
        }
        for room in self.rooms.values() {
            out.push_str("room ");
            out.push_str(&room.head_text());
            out.push('\t');
            room.view().version.write(&mut out);
            for (_, member) in room.member_texts() {
                out.push('\t');
                out.push_str(&member);
            }
            out.push('\n');
        }
        for seeker in self.matchmaking.iter() {
            out.push_str("seeker ");
            seeker.write(&mut out);
            out.push('\n');
        }
        for (peer, mail) in self.mailboxes.iter() {
            out.push_str("mail ");
            StoredSignal { peer, mail: mail.iter().cloned().collect() }.write(&mut out);
            out.push('\n');
        }
        for record in &self.unstored {
            out.push_str("record ");
            record.write(&mut out);
            out.push('\n');
        }
        for (until, room) in self.ended.iter() {
            out.push_str("ended ");
            StoredEnd { room, until }.write(&mut out);
            out.push('\n');
        }
        out
    }

    /// Reads the text of [`Snapshot::to_text`].
    ///
    /// # Errors
    /// If the text is not a snapshot.
    pub fn from_text(text: &str) -> Result<Snapshot, MessageError> {
        let mut snapshot = Snapshot {
            rooms: BTreeMap::new(),
            mailboxes: Mailboxes::default(),
            matchmaking: Matchmaking::default(),
            nodes: Vec::new(),
            unstored: VecDeque::new(),
            ended: EndedRooms::default(),
        };
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "node" => snapshot.nodes.push(StoredNode::read(Raw::parse(rest)?, "node")?),
                // JSON contains no bare tab: it can separate texts.
                "room" => {
                    let mut parts = rest.split('\t');
                    let head = parts.next().ok_or(MessageError::Missing { field: "room" })?;
                    let version = parts.next().and_then(|version| version.parse().ok());
                    let version = version.ok_or(MessageError::Missing { field: "version" })?;
                    let room = Room::from_texts(head, version, parts)?;
                    snapshot.rooms.insert(room.view().id, room);
                }
                "mail" => {
                    let StoredSignal { peer, mail } = StoredSignal::read(Raw::parse(rest)?, "mail")?;
                    snapshot.mailboxes.insert(peer, mail);
                }
                "seeker" => {
                    let seeker = SearchTicket::read(Raw::parse(rest)?, "seeker")?;
                    snapshot.matchmaking.insert(seeker);
                }
                "record" => snapshot.unstored.push_back(MatchRecord::read(Raw::parse(rest)?, "record")?),
                "ended" => {
                    let StoredEnd { room, until } = StoredEnd::read(Raw::parse(rest)?, "ended")?;
                    snapshot.ended.insert(Micros::ZERO, until, room);
                }
                _ => return Err(MessageError::UnknownKind { field: "line" }),
            }
        }
        Ok(snapshot)
    }

    /// Copies the state of a directory.
    pub(super) fn of(directory: &Directory) -> Snapshot {
        let nodes = directory.leases.iter().map(|(node, epoch, until)| StoredNode { node, epoch, until });
        Snapshot {
            rooms: directory.rooms.clone(),
            mailboxes: directory.mailboxes.clone(),
            matchmaking: directory.matchmaking.clone(),
            nodes: nodes.collect(),
            unstored: directory.unstored.all().clone(),
            ended: directory.ended.clone(),
        }
    }

    /// The directory with this state.
    pub(super) fn into_directory(self, rules: Rules) -> Directory {
        let mut index = Index::default();
        self.rooms.values().for_each(|room| index.update(room, &rules));
        let mut leases = Leases::default();
        for StoredNode { node, epoch, until } in self.nodes {
            leases.insert(node, epoch, until);
        }
        Directory {
            index,
            leases,
            rooms: self.rooms,
            mailboxes: self.mailboxes,
            matchmaking: self.matchmaking,
            unstored: UnstoredMatches::restored(self.unstored),
            ended: self.ended,
            ..Directory::new(rules)
        }
    }
}
