//! All rooms of a lobby; a peer is in at most one of them.
//!
//! Every node has a directory and applies the same [log entries](LogEntry) in the same order, so
//! that all directories are equal; a single process applies its own. Nodes learn of changes through
//! [`Directory::poll_notice`]. Absent: connections, clocks, randomness.

pub mod command;
mod ended_rooms;
mod index;
mod joining;
mod leases;
mod mailboxes;
mod matchmaking;
mod snapshot;
mod unstored;

pub use command::{
    Command, Found, JoinedReply, ListKey, LogEntry, Lookup, Notice, Origin, QueuedSignal, Reply, RoomCopy,
};
pub use index::FindKey;
pub use matchmaking::Skill;
pub use snapshot::Snapshot;

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::{Micros, PeerId};

use crate::id::{NodeId, RoomId};
use crate::message::{Rejection, RejectionCode};
use crate::results::MatchRecord;
use crate::room::{Room, RoomAction};
use crate::rules::Rules;
use crate::view::{RoomUpdate, Verdict};
use command::{Act, Detach, Lease, MarkStored, QueueSignal};
use ended_rooms::EndedRooms;
use index::Index;
use leases::{Leases, Renewal};
use mailboxes::Mailboxes;
use matchmaking::Matchmaking;
use unstored::UnstoredMatches;

/// State of all rooms of a lobby.
#[derive(Debug)]
pub struct Directory {
    rules: Rules,
    rooms: BTreeMap<RoomId, Room>,
    index: Index,
    mailboxes: Mailboxes,
    matchmaking: Matchmaking,
    leases: Leases,
    notices: VecDeque<(NodeId, Notice)>,
    unstored: UnstoredMatches,
    ended: EndedRooms,
}

impl Directory {
    /// A directory without rooms.
    pub fn new(rules: Rules) -> Directory {
        Directory {
            rules,
            rooms: BTreeMap::new(),
            index: Index::default(),
            mailboxes: Mailboxes::default(),
            matchmaking: Matchmaking::default(),
            leases: Leases::default(),
            notices: VecDeque::new(),
            unstored: UnstoredMatches::default(),
            ended: EndedRooms::default(),
        }
    }

    /// Applies the next entry of the log, at its time. The reply is for the entry's origin.
    pub fn apply(&mut self, at: Micros, entry: &LogEntry) -> Reply {
        let done = match &entry.command {
            Command::Tick(_) => Ok(self.tick(at)),
            Command::Lease(lease) => Ok(self.lease(at, *lease)),
            Command::Attach(attach) => self.attach(at, attach),
            Command::Find(find) => self.find(at, find),
            Command::StopSearch(stop) => Ok(self.stop_search(at, *stop)),
            Command::Create(create) => {
                self.create(at, create.joiner.clone(), create.link, create.new.clone())
            }
            Command::Join(join) => self.join(at, join),
            Command::Act(act) => self.act(at, act),
            Command::Detach(detach) => Ok(self.detach(at, detach)),
            Command::QueueSignal(queue) => Ok(self.queue_signal(queue)),
            Command::MarkStored(stored) => Ok(self.mark_stored(at, stored)),
        };
        done.unwrap_or_else(Reply::Rejected)
    }

    /// Answers a query without changing anything.
    pub fn look_up(&self, lookup: &Lookup) -> Found {
        match lookup {
            Lookup::Room(room) => Found::Room(self.copy(*room)),
            Lookup::List { key, stamp } => self.index.list(key, *stamp),
        }
    }

    /// Next notice and the node it is for. Notices about one room are in order.
    pub fn poll_notice(&mut self) -> Option<(NodeId, Notice)> {
        self.notices.pop_front()
    }

    /// A decided match to be stored; confirm with [`MarkStored`]. Every node of a shared lobby gets
    /// it, in the same order. It is repeated if a node is lost before any node has confirmed: the
    /// lost one may have been the only one to store it.
    pub fn poll_record(&mut self) -> Option<MatchRecord> {
        self.unstored.poll()
    }

    /// Whether a match is decided and not confirmed as stored.
    pub fn is_unstored(&self, room: RoomId, round: u32) -> bool {
        let waits = |known: &Room| known.verdict(round) == Verdict::Pending;
        self.unstored.contains(room, round) || self.rooms.get(&room).is_some_and(waits)
    }

    /// When a [`Tick`](command::Tick) is due.
    pub fn poll_timeout(&self) -> Option<Micros> {
        self.index.next_deadline().into_iter().chain(self.leases.next_deadline()).min()
    }

    /// A room with all its state, for operators and tests.
    pub fn room(&self, id: RoomId) -> Option<&Room> {
        self.rooms.get(&id)
    }

    /// All rooms, by id.
    pub fn rooms(&self) -> impl Iterator<Item = &Room> {
        self.rooms.values()
    }

    /// How many rooms there are.
    pub fn room_count(&self) -> usize {
        self.rooms.len()
    }

    /// The room a peer has a reservation in.
    pub fn room_of(&self, peer: PeerId) -> Option<&Room> {
        self.index.room_of(peer).and_then(|id| self.rooms.get(&id))
    }

    /// All state, except notices and records that were not polled.
    pub fn snapshot(&self) -> Snapshot {
        Snapshot::of(self)
    }

    /// Restores a directory from its snapshot.
    pub fn from_snapshot(rules: Rules, snapshot: Snapshot) -> Directory {
        snapshot.into_directory(rules)
    }

    fn tick(&mut self, now: Micros) -> Reply {
        while let Some((node, epoch)) = self.leases.expire(now) {
            self.expire_node(now, node, epoch);
        }
        while let Some(id) = self.index.due(now) {
            if let Some(room) = self.rooms.get_mut(&id) {
                room.expire(now, &self.rules);
            }
            self.publish(now, id);
        }
        Reply::Accepted
    }

    fn lease(&mut self, now: Micros, lease: Lease) -> Reply {
        match self.leases.renew(now, lease) {
            Renewal::Continued => Reply::Leased,
            Renewal::Expired => Reply::LeaseExpired,
            Renewal::Started { ended } => {
                if let Some(epoch) = ended {
                    self.expire_node(now, lease.node, epoch);
                }
                Reply::LeaseStarted
            }
        }
    }

    /// Marks members connected through this epoch of a node as away.
    fn expire_node(&mut self, now: Micros, node: NodeId, epoch: u32) {
        self.unstored.offer_again();
        for id in self.index.rooms_on(node) {
            if let Some(room) = self.rooms.get_mut(&id) {
                room.expire_node(now, node, epoch);
            }
            self.publish(now, id);
        }
    }

    fn act(&mut self, now: Micros, act: &Act) -> Result<Reply, Rejection> {
        let Act { room: id, peer, link, action } = act;
        let room = self.rooms.get_mut(id).and_then(|room| Some((room.reservation_of(*peer)?.link, room)));
        let Some((seat_link, room)) = room else {
            return Err(Rejection::new(RejectionCode::NotInRoom, "you are not in that room"));
        };
        if seat_link != Some(*link) {
            return Err(Rejection::new(RejectionCode::Replaced, "you are playing on another device"));
        }
        room.act(now, &self.rules, *peer, action.clone())?;
        let verdict = match action {
            RoomAction::Report(report) => Some(room.verdict(report.round)),
            _ => None,
        };
        self.publish(now, *id);
        Ok(Reply::Done { verdict })
    }

    fn detach(&mut self, now: Micros, detach: &Detach) -> Reply {
        let Detach { room, peer, link, next_signal, got, mail } = detach;
        let Some(known) = self.rooms.get_mut(room) else { return Reply::Accepted };
        if known.reservation_of(*peer).is_some_and(|seat| seat.link == Some(*link)) {
            known.detach(now, *peer, *link, *next_signal, *got);
            mail.iter().for_each(|signal| self.mailboxes.push(*peer, signal.clone(), &self.rules));
            self.publish(now, *room);
        }
        Reply::Accepted
    }

    /// A member that has returned meanwhile gets the signal at once.
    fn queue_signal(&mut self, queue: &QueueSignal) -> Reply {
        let QueueSignal { room, to, signal } = queue;
        let seat = self.rooms.get(room).and_then(|room| room.reservation_of(*to));
        match seat.map(|seat| seat.link) {
            Some(Some(link)) => self.notices.push_back((link.node, Notice::Signal(queue.clone()))),
            Some(None) => self.mailboxes.push(*to, signal.clone(), &self.rules),
            None => {}
        }
        Reply::Accepted
    }

    fn mark_stored(&mut self, now: Micros, stored: &MarkStored) -> Reply {
        let MarkStored { room, round, verdict, ratings } = stored;
        self.unstored.remove(*room, *round);
        if let Some(known) = self.rooms.get_mut(room) {
            known.set_stored(*round, *verdict, ratings.clone());
            self.publish(now, *room);
        }
        Reply::Accepted
    }

    /// Notifies the nodes of changes in a room and updates the index.
    fn publish(&mut self, now: Micros, id: RoomId) {
        let Some(room) = self.rooms.get_mut(&id) else { return };
        // A room opens by its creation, by being listed or unlocked again, or when members leave.
        if room.is_open() && !self.index.was_open(id) {
            let (founder, network) = room.founder();
            room.set_apart(room.is_mostly_of(network) && self.index.has_share(founder, network));
        }
        let mut nodes = self.index.nodes_of(id);
        let change = room.take_change();
        change.records.into_iter().for_each(|record| self.unstored.push(record));
        for event in &change.events {
            if let RoomUpdate::Left(left) = event {
                self.mailboxes.remove(left.peer);
            }
        }
        nodes.extend(room.links().map(|(_, link)| link.node));
        if !change.events.is_empty() || !change.links.is_empty() {
            let notice = Notice::Changed {
                room: id,
                version: room.view().version,
                events: change.events,
                links: change.links,
            };
            nodes.iter().for_each(|node| self.notices.push_back((*node, notice.clone())));
        }
        if room.is_over() {
            self.index.forget(id);
            self.rooms.remove(&id);
            self.ended.insert(now, now + self.rules.ticket_ttl, id);
        } else {
            self.index.update(room, &self.rules);
        }
    }

    fn copy(&self, id: RoomId) -> Option<Box<RoomCopy>> {
        let room = self.rooms.get(&id)?;
        Some(Box::new(RoomCopy { view: room.view().clone(), links: room.links().collect() }))
    }
}
