//! A whole directory as a text, so that whoever comes late need not read everything that ever
//! happened.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::{Micros, PeerId};

use super::index::Index;
use super::matchmaking::{Matchmaking, SearchTicket};
use super::{Directory, Lease, QueuedSignal};
use crate::MessageError;
use crate::id::{NodeId, RoomId};
use crate::json::{Raw, Value, record};
use crate::results::MatchRecord;
use crate::room::Room;
use crate::rules::Rules;

record! {
    /// A node that is alive, or was.
    pub struct StoredNode {
        node: NodeId,
        epoch: u32,
        /// None: it was taken for dead.
        until: Option<Micros>,
    }
}

record! {
    /// What waits for somebody who is away.
    pub struct StoredSignal {
        peer: PeerId,
        mail: Vec<QueuedSignal>,
    }
}

/// Everything a directory knows, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Snapshot {
    rooms: BTreeMap<RoomId, Room>,
    mail: BTreeMap<PeerId, VecDeque<QueuedSignal>>,
    seekers: Matchmaking,
    nodes: Vec<StoredNode>,
    unstored: VecDeque<MatchRecord>,
    ended: VecDeque<(Micros, RoomId)>,
}

record! {
    /// A room that ended.
    pub struct StoredEnd {
        room: RoomId,
        /// Until when tickets for it count.
        until: Micros,
    }
}

impl Snapshot {
    /// The text: a line for each node, room, seeker, mailbox, match that is not stored, and room
    /// that ended.
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
        for seeker in self.seekers.iter() {
            out.push_str("seeker ");
            seeker.write(&mut out);
            out.push('\n');
        }
        for (peer, mail) in &self.mail {
            out.push_str("mail ");
            StoredSignal { peer: *peer, mail: mail.iter().cloned().collect() }.write(&mut out);
            out.push('\n');
        }
        for record in &self.unstored {
            out.push_str("record ");
            record.write(&mut out);
            out.push('\n');
        }
        for (until, room) in &self.ended {
            out.push_str("ended ");
            StoredEnd { room: *room, until: *until }.write(&mut out);
            out.push('\n');
        }
        out
    }

    /// What was written.
    ///
    /// # Errors
    /// If it is no such text.
    pub fn from_text(text: &str) -> Result<Snapshot, MessageError> {
        let mut snapshot = Snapshot {
            rooms: BTreeMap::new(),
            mail: BTreeMap::new(),
            seekers: Matchmaking::default(),
            nodes: Vec::new(),
            unstored: VecDeque::new(),
            ended: VecDeque::new(),
        };
        for line in text.lines() {
            let (kind, rest) = line.split_once(' ').unwrap_or((line, ""));
            match kind {
                "node" => snapshot.nodes.push(StoredNode::read(Raw::parse(rest)?, "node")?),
                // JSON has no bare tab: it can stand between texts.
                "room" => {
                    let mut parts = rest.split('\t');
                    let head = parts.next().unwrap_or_default();
                    let version = parts.next().and_then(|version| version.parse().ok());
                    let version = version.ok_or(MessageError::Missing { field: "version" })?;
                    let room = Room::from_texts(head, version, parts)?;
                    snapshot.rooms.insert(room.view().id, room);
                }
                "mail" => {
                    let StoredSignal { peer, mail } = StoredSignal::read(Raw::parse(rest)?, "mail")?;
                    snapshot.mail.insert(peer, mail.into());
                }
                "seeker" => {
                    let seeker = SearchTicket::read(Raw::parse(rest)?, "seeker")?;
                    snapshot.seekers.insert(seeker);
                }
                "record" => snapshot.unstored.push_back(MatchRecord::read(Raw::parse(rest)?, "record")?),
                "ended" => {
                    let StoredEnd { room, until } = StoredEnd::read(Raw::parse(rest)?, "ended")?;
                    snapshot.ended.push_back((until, room));
                }
                _ => return Err(MessageError::UnknownKind { field: "line" }),
            }
        }
        Ok(snapshot)
    }
}

impl Directory {
    /// Everything that is known. Notices and records that were not polled are not part of it.
    pub fn snapshot(&self) -> Snapshot {
        let alive = self.nodes.iter().map(|(node, lease)| StoredNode {
            node: *node,
            epoch: lease.epoch,
            until: Some(lease.until),
        });
        let dead =
            self.dead.iter().map(|(node, epoch)| StoredNode { node: *node, epoch: *epoch, until: None });
        Snapshot {
            rooms: self.rooms.clone(),
            mail: self.mail.clone(),
            seekers: self.matchmaking.clone(),
            nodes: alive.chain(dead).collect(),
            unstored: self.unstored.clone(),
            ended: self.ended.clone(),
        }
    }

    /// The directory of which this is a snapshot.
    pub fn from_snapshot(rules: Rules, snapshot: Snapshot) -> Directory {
        let mut index = Index::default();
        snapshot.rooms.values().for_each(|room| index.update(room, &rules));
        let mut directory = Directory {
            index,
            rooms: snapshot.rooms,
            mail: snapshot.mail,
            matchmaking: snapshot.seekers,
            unstored: snapshot.unstored,
            has_ended: snapshot.ended.iter().map(|(_, room)| *room).collect(),
            ended: snapshot.ended,
            ..Directory::new(rules)
        };
        for StoredNode { node, epoch, until } in snapshot.nodes {
            match until {
                Some(until) => drop(directory.nodes.insert(node, Lease { epoch, until })),
                None => drop(directory.dead.insert(node, epoch)),
            }
        }
        directory
    }

    /// Whether a request changes nothing, so that any directory can answer it by itself.
    pub fn is_query(request: &super::Command) -> bool {
        matches!(request, super::Command::Look { .. } | super::Command::List { .. })
    }

    /// How many rooms there are.
    pub fn room_count(&self) -> usize {
        self.rooms.len()
    }
}
