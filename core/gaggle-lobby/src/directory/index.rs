//! Ways to a room: by code, by member, by what is looked for, by node, by deadline.
//!
//! Everything here follows from the rooms themselves; [`Index::update`] is called after each change.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId};

use super::Reply;
use crate::id::{NodeId, PlayerId, RoomCode, RoomId};
use crate::label::Label;
use crate::message::server::Listing;
use crate::room::Room;
use crate::rules::Rules;

/// Rooms in one list. More than anybody scrolls through.
const LISTINGS_MAX: usize = 100;
/// Attempts to find a free code. With 50,000 rooms one in 1,280 is taken.
const CODE_ATTEMPTS: u64 = 64;

/// What must be the same for people to be put into one room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindKey {
    game: Label,
    mode: Label,
    build: Label,
}

impl FindKey {
    /// Game, mode and build.
    pub fn of(game: &Label, mode: &Label, build: &Label) -> FindKey {
        FindKey { game: game.clone(), mode: mode.clone(), build: build.clone() }
    }
}

/// Ways to a room.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: BTreeMap<RoomId, Entry>,
    by_code: BTreeMap<RoomCode, RoomId>,
    by_peer: BTreeMap<PeerId, RoomId>,
    seats_of: BTreeMap<PlayerId, usize>,
    by_node: BTreeMap<NodeId, BTreeSet<RoomId>>,
    deadlines: BTreeSet<(Micros, RoomId)>,
    /// Fewest free seats first: people are put where most people are.
    open: BTreeMap<FindKey, BTreeSet<(u8, RoomId)>>,
    listed: BTreeMap<Label, Listed>,
    stamp: u64,
}

/// The list of one game.
#[derive(Debug, Default)]
struct Listed {
    rooms: BTreeMap<RoomId, Listing>,
    /// When it changed last. A list that is empty is forgotten, and new when it is not any more.
    stamp: u64,
}

/// What the index holds about one room.
#[derive(Debug)]
struct Entry {
    key: FindKey,
    code: RoomCode,
    members: Vec<(PeerId, PlayerId)>,
    nodes: BTreeSet<NodeId>,
    deadline: Option<Micros>,
    open: Option<u8>,
}

impl Index {
    pub(super) fn room_of(&self, peer: PeerId) -> Option<RoomId> {
        self.by_peer.get(&peer).copied()
    }

    pub(super) fn room_by_code(&self, code: RoomCode) -> Option<RoomId> {
        self.by_code.get(&code).copied()
    }

    pub(super) fn has_code(&self, code: RoomCode) -> bool {
        self.by_code.contains_key(&code)
    }

    /// A code nobody uses, starting the search from a number.
    pub(super) fn free_code(&self, number: u64) -> Option<RoomCode> {
        // The golden ratio's step visits numbers far apart, so that codes in use cannot sit side by side.
        let step = |attempt: u64| number.wrapping_add(attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (1..=CODE_ATTEMPTS)
            .map(|attempt| RoomCode::from_number(step(attempt)))
            .find(|code| !self.has_code(*code))
    }

    pub(super) fn seats_of(&self, player: PlayerId) -> usize {
        self.seats_of.get(&player).copied().unwrap_or(0)
    }

    /// Open rooms, the fullest first.
    pub(super) fn open_rooms(&self, key: &FindKey) -> Vec<RoomId> {
        // Only somebody who was sent away from rooms looks further than the first: a few are enough.
        self.open.get(key).into_iter().flatten().map(|(_, id)| *id).take(8).collect()
    }

    /// Nodes that have a copy of the room.
    pub(super) fn nodes_of(&self, id: RoomId) -> BTreeSet<NodeId> {
        self.entries.get(&id).map(|entry| entry.nodes.clone()).unwrap_or_default()
    }

    pub(super) fn rooms_on(&self, node: NodeId) -> Vec<RoomId> {
        self.by_node.get(&node).into_iter().flatten().copied().collect()
    }

    pub(super) fn next_deadline(&self) -> Option<Micros> {
        self.deadlines.first().map(|(at, _)| *at)
    }

    /// A room whose deadline is over. It is not named again until it is updated.
    pub(super) fn due(&mut self, now: Micros) -> Option<RoomId> {
        let first = self.deadlines.first().copied().filter(|(at, _)| *at <= now)?;
        self.deadlines.remove(&first);
        if let Some(entry) = self.entries.get_mut(&first.1) {
            entry.deadline = None;
        }
        Some(first.1)
    }

    pub(super) fn list(&self, game: &Label, mode: &Label, build: &Label, all: bool, stamp: u64) -> Reply {
        let listed = self.listed.get(game);
        let current = listed.map_or(0, |listed| listed.stamp);
        if stamp == current && stamp != 0 {
            return Reply::Listings { stamp, rooms: None };
        }
        let fits = |listing: &&Listing| {
            (mode.is_empty() || listing.mode == *mode)
                && (build.is_empty() || listing.build == *build)
                && (all || listing.open)
        };
        let listed = listed.into_iter().flat_map(|listed| listed.rooms.values()).filter(fits);
        let mut rooms: Vec<Listing> = listed.cloned().collect();
        // Those one can join first, and among them those with most people.
        rooms.sort_by_key(|listing| (!listing.open, listing.seats - listing.players, listing.id));
        rooms.truncate(LISTINGS_MAX);
        Reply::Listings { stamp: current, rooms: Some(rooms) }
    }

    /// Brings everything in line with a room that is new or has changed.
    pub(super) fn update(&mut self, room: &Room, rules: &Rules) {
        let view = room.view();
        let id = view.id;
        let listing = room.listing();
        let members: Vec<(PeerId, PlayerId)> =
            view.members.iter().map(|member| (member.peer, member.player)).collect();
        let entry = Entry {
            key: FindKey::of(&view.game, &view.mode, &view.build),
            code: view.code,
            nodes: room.links().map(|(_, link)| link.node).collect(),
            deadline: room.deadline(rules),
            open: room.is_open().then(|| view.seats_free()),
            members,
        };
        let known = self.entries.remove(&id);
        let listed_before = self.listed.get(&view.game).and_then(|listed| listed.rooms.get(&id));
        if listed_before != listing.as_ref() {
            match listing {
                Some(listing) => {
                    self.stamp += 1;
                    let listed = self.listed.entry(view.game.clone()).or_default();
                    listed.stamp = self.stamp;
                    listed.rooms.insert(id, listing);
                }
                None => self.unlist(&view.game, id),
            }
        }
        if let Some(known) = known {
            self.take_out(id, &known);
        }
        self.by_code.insert(entry.code, id);
        for (peer, player) in &entry.members {
            let before = self.by_peer.insert(*peer, id);
            // Where it is not true after all it is one person's trouble, and should not be everybody's.
            debug_assert_eq!(before, None, "nobody is in two rooms");
            *self.seats_of.entry(*player).or_default() += 1;
        }
        for node in &entry.nodes {
            self.by_node.entry(*node).or_default().insert(id);
        }
        self.deadlines.extend(entry.deadline.map(|at| (at, id)));
        if let Some(free) = entry.open {
            self.open.entry(entry.key.clone()).or_default().insert((free, id));
        }
        self.entries.insert(id, entry);
    }

    /// Forgets a room that is over.
    pub(super) fn forget(&mut self, id: RoomId) {
        let Some(entry) = self.entries.remove(&id) else { return };
        self.take_out(id, &entry);
        self.unlist(&entry.key.game, id);
    }

    fn unlist(&mut self, game: &Label, id: RoomId) {
        let Some(listed) = self.listed.get_mut(game) else { return };
        if listed.rooms.remove(&id).is_some() {
            self.stamp += 1;
            listed.stamp = self.stamp;
        }
        if listed.rooms.is_empty() {
            self.listed.remove(game);
        }
    }

    fn take_out(&mut self, id: RoomId, entry: &Entry) {
        self.by_code.remove(&entry.code);
        for (peer, player) in &entry.members {
            if self.by_peer.get(peer) == Some(&id) {
                self.by_peer.remove(peer);
            }
            let seats = self.seats_of.get_mut(player).expect("every member is counted");
            *seats -= 1;
            if *seats == 0 {
                self.seats_of.remove(player);
            }
        }
        for node in &entry.nodes {
            remove_from(&mut self.by_node, node, &id);
        }
        if let Some(at) = entry.deadline {
            self.deadlines.remove(&(at, id));
        }
        if let Some(free) = entry.open {
            remove_from(&mut self.open, &entry.key, &(free, id));
        }
    }
}

/// Takes an item out of the set under a key, and the set with its last item.
fn remove_from<K: Ord, T: Ord>(sets: &mut BTreeMap<K, BTreeSet<T>>, key: &K, item: &T) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(item);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}
