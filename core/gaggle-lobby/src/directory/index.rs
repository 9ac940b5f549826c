//! Indexes of the rooms: by code, member, find key, node, deadline.
//!
//! Derived from the rooms alone; [`Directory`](super::Directory) calls [`Index::update`] after each
//! change. Absent: rules of joining.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId};

use super::command::{Found, ListKey};
use crate::id::{NetworkId, NodeId, PlayerId, RoomCode, RoomId};
use crate::label::Label;
use crate::message::server::Listing;
use crate::players::LocalPlayers;
use crate::room::Room;
use crate::rules::Rules;

/// Rooms in one list.
const LISTINGS_MAX: usize = 100;
/// Attempts to find a free code. With 50,000 rooms, one code in 1,280 is taken.
const CODE_ATTEMPTS: u64 = 64;

/// Most rooms of one size that `find` examines, rejecting ones included. To hide all others, an
/// attacker would have to keep that many rooms open.
const LOOK: usize = 1_024;
/// An account or network may have created at most one in this many open rooms, though a few are
/// always allowed.
const SHARE: usize = 4;
const SHARE_MIN: usize = 4;

/// Properties that must be equal for `find` to put players into one room.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct FindKey {
    game: Label,
    mode: Label,
    build: Label,
}

impl FindKey {
    /// Key of a game, mode and build.
    pub fn of(game: &Label, mode: &Label, build: &Label) -> FindKey {
        FindKey { game: game.clone(), mode: mode.clone(), build: build.clone() }
    }

    /// Keys that match this one: any mode, any build, both, and itself.
    fn looked_for(&self) -> BTreeSet<FindKey> {
        let any = Label::default();
        let modes = [&any, &self.mode];
        let builds = [&any, &self.build];
        modes.into_iter().flat_map(|mode| builds.map(|build| FindKey::of(&self.game, mode, build))).collect()
    }
}

/// Indexes of the rooms.
#[derive(Debug, Default)]
pub(super) struct Index {
    entries: BTreeMap<RoomId, Entry>,
    by_code: BTreeMap<RoomCode, RoomId>,
    by_peer: BTreeMap<PeerId, RoomId>,
    seats_of: BTreeMap<PlayerId, usize>,
    by_node: BTreeMap<NodeId, BTreeSet<RoomId>>,
    deadlines: BTreeSet<(Micros, RoomId)>,
    /// Fewest free slots first, so that `find` fills rooms. Separate per room size, because a
    /// player is not put into a room smaller than requested, and per network for rooms of one
    /// network.
    open: BTreeMap<FindKey, BTreeMap<Place, BTreeSet<(u8, RoomId)>>>,
    /// Number of open rooms that players of any network may find, in all and by creator.
    open_count: usize,
    made_by_network: BTreeMap<NetworkId, usize>,
    made_by_player: BTreeMap<PlayerId, usize>,
    listings: BTreeMap<RoomId, Listing>,
    /// One list per find key; an empty mode or build matches any. The cost of a query is the length
    /// of its list, however many rooms or invented keys there are.
    lists: BTreeMap<FindKey, List>,
    stamp: u64,
    /// Rooms examined to build lists; counts work in tests.
    #[cfg(test)]
    listed_count: std::cell::Cell<usize>,
}

/// Rooms of one list.
#[derive(Debug, Default)]
struct List {
    rooms: BTreeSet<Rank>,
    /// `Index::stamp` at the last change. An empty list is dropped and gets a new stamp when it
    /// returns.
    stamp: u64,
}

/// Network an open room is limited to, if any, and the number of its slots.
type Place = (Option<NetworkId>, u8);

/// Joinable rooms first, among them those with most players.
type Rank = (IsShut, u8, RoomId);
type IsShut = bool;

/// What the index stores about one room.
#[derive(Debug)]
struct Entry {
    key: FindKey,
    code: RoomCode,
    members: Vec<(PeerId, PlayerId)>,
    nodes: BTreeSet<NodeId>,
    deadline: Option<Micros>,
    open: Option<(Place, u8)>,
    /// Creator and its network, if the room counts toward their share.
    made_by: Option<(Option<PlayerId>, NetworkId)>,
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

    /// A code no room uses, searched from `number` on.
    pub(super) fn free_code(&self, number: u64) -> Option<RoomCode> {
        // The golden ratio's step visits distant numbers, so that codes in use do not cluster.
        let step = |attempt: u64| number.wrapping_add(attempt.wrapping_mul(0x9e37_79b9_7f4a_7c15));
        (1..=CODE_ATTEMPTS)
            .map(|attempt| RoomCode::from_number(step(attempt)))
            .find(|code| !self.has_code(*code))
    }

    pub(super) fn seats_of(&self, player: PlayerId) -> usize {
        self.seats_of.get(&player).copied().unwrap_or(0)
    }

    /// Among open rooms with at least `seats` slots and enough free ones: the lowest rank, then the
    /// fullest. Rooms without a rank do not admit the player.
    pub(super) fn open_room<R: Ord + Default>(
        &self,
        key: &FindKey,
        max_players: u8,
        players: LocalPlayers,
        network: NetworkId,
        rank: impl Fn(RoomId) -> Option<R>,
    ) -> Option<RoomId> {
        let first = (players.count(), RoomId::from_bytes([0; 16]));
        let places = self.open.get(key)?;
        let mut best: Option<(R, (u8, RoomId))> = None;
        for kept_for in [None, Some(network)] {
            for (_, open) in places.range((kept_for, max_players)..=(kept_for, u8::MAX)) {
                for place in open.range(first..).take(LOOK) {
                    let Some(rank) = rank(place.1) else { continue };
                    // Rooms of one size are sorted: none after it is better.
                    let is_lowest = rank == R::default();
                    let ranked = (rank, *place);
                    if best.as_ref().is_none_or(|best| ranked < *best) {
                        best = Some(ranked);
                    }
                    if is_lowest {
                        break;
                    }
                }
            }
        }
        best.map(|(_, (_, id))| id)
    }

    /// Whether an account or network has created its share of the open rooms. `find` does not
    /// return further ones to other players.
    pub(super) fn has_share(&self, player: Option<PlayerId>, network: NetworkId) -> bool {
        let share = (self.open_count / SHARE).max(SHARE_MIN);
        let made = |count: Option<&usize>| count.copied().unwrap_or(0) >= share;
        made(player.and_then(|player| self.made_by_player.get(&player)))
            || made(self.made_by_network.get(&network))
    }

    /// Whether the room was open at its last update.
    pub(super) fn was_open(&self, id: RoomId) -> bool {
        self.entries.get(&id).is_some_and(|entry| entry.open.is_some())
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

    /// A room whose deadline has passed. It is returned again only after an update.
    pub(super) fn due(&mut self, now: Micros) -> Option<RoomId> {
        let first = self.deadlines.first().copied().filter(|(at, _)| *at <= now)?;
        self.deadlines.remove(&first);
        if let Some(entry) = self.entries.get_mut(&first.1) {
            entry.deadline = None;
        }
        Some(first.1)
    }

    pub(super) fn list(&self, key: &ListKey, stamp: u64) -> Found {
        let ListKey { game, mode, build, all } = key;
        let list = self.lists.get(&FindKey::of(game, mode, build));
        let current = list.map_or(0, |list| list.stamp);
        if stamp == current && stamp != 0 {
            return Found::List { stamp, rooms: None };
        }
        let ranks = list.into_iter().flat_map(|list| &list.rooms);
        #[cfg(test)]
        let ranks = ranks.inspect(|_| self.listed_count.set(self.listed_count.get() + 1));
        let fitting = ranks.take_while(|(is_shut, ..)| *all || !is_shut).take(LISTINGS_MAX);
        let rooms = fitting.filter_map(|(.., id)| self.listings.get(id)).cloned().collect();
        Found::List { stamp: current, rooms: Some(rooms) }
    }

    /// Indexes a room that is new or has changed.
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
            open: room.is_open().then(|| ((room.reserved_for(), view.max_players), view.free_slots())),
            made_by: (room.is_open() && !room.is_apart()).then(|| room.founder()),
            members,
        };
        let known = self.entries.remove(&id);
        self.relist(&entry.key, id, listing);
        if let Some(known) = known {
            self.take_out(id, &known);
        }
        self.by_code.insert(entry.code, id);
        for (peer, player) in &entry.members {
            let before = self.by_peer.insert(*peer, id);
            // In a release build a violation harms this one peer instead of the whole server.
            debug_assert_eq!(before, None, "a peer is in one room");
            *self.seats_of.entry(*player).or_default() += 1;
        }
        for node in &entry.nodes {
            self.by_node.entry(*node).or_default().insert(id);
        }
        self.deadlines.extend(entry.deadline.map(|at| (at, id)));
        if let Some((place, free)) = entry.open {
            let places = self.open.entry(entry.key.clone()).or_default();
            places.entry(place).or_default().insert((free, id));
        }
        if let Some((player, network)) = entry.made_by {
            self.open_count += 1;
            *self.made_by_network.entry(network).or_default() += 1;
            player.into_iter().for_each(|player| *self.made_by_player.entry(player).or_default() += 1);
        }
        self.entries.insert(id, entry);
    }

    /// Removes a room that ended.
    pub(super) fn forget(&mut self, id: RoomId) {
        let Some(entry) = self.entries.remove(&id) else { return };
        self.take_out(id, &entry);
        self.relist(&entry.key, id, None);
    }

    /// Updates the lists that contain the room.
    fn relist(&mut self, key: &FindKey, id: RoomId, listing: Option<Listing>) {
        if self.listings.get(&id) == listing.as_ref() {
            return;
        }
        self.stamp += 1;
        let before = self.listings.remove(&id).as_ref().map(rank);
        let after = listing.as_ref().map(rank);
        for key in key.looked_for() {
            let mut list = self.lists.remove(&key).unwrap_or_default();
            list.stamp = self.stamp;
            if let Some(before) = &before {
                list.rooms.remove(before);
            }
            list.rooms.extend(after);
            if !list.rooms.is_empty() {
                self.lists.insert(key, list);
            }
        }
        self.listings.extend(listing.map(|listing| (id, listing)));
    }

    fn take_out(&mut self, id: RoomId, entry: &Entry) {
        self.by_code.remove(&entry.code);
        for (peer, player) in &entry.members {
            if self.by_peer.get(peer) == Some(&id) {
                self.by_peer.remove(peer);
            }
            count_down(&mut self.seats_of, player);
        }
        for node in &entry.nodes {
            remove_from(&mut self.by_node, node, &id);
        }
        if let Some(at) = entry.deadline {
            self.deadlines.remove(&(at, id));
        }
        if let Some((place, free)) = entry.open
            && let Some(places) = self.open.get_mut(&entry.key)
        {
            remove_from(places, &place, &(free, id));
            if places.is_empty() {
                self.open.remove(&entry.key);
            }
        }
        if let Some((player, network)) = entry.made_by {
            self.open_count -= 1;
            count_down(&mut self.made_by_network, &network);
            player.into_iter().for_each(|player| count_down(&mut self.made_by_player, &player));
        }
    }
}

fn rank(listing: &Listing) -> Rank {
    (!listing.open, listing.max_players.saturating_sub(listing.players), listing.id)
}

/// Decrements the count of a key and removes the key at zero.
fn count_down<K: Ord>(counts: &mut BTreeMap<K, usize>, key: &K) {
    match counts.get_mut(key) {
        Some(count) if *count > 1 => *count -= 1,
        _ => drop(counts.remove(key)),
    }
}

/// Removes an item from the set of a key, and the key with its last item.
fn remove_from<K: Ord, T: Ord>(sets: &mut BTreeMap<K, BTreeSet<T>>, key: &K, item: &T) {
    if let Some(set) = sets.get_mut(key) {
        set.remove(item);
        if set.is_empty() {
            sets.remove(key);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{ResumeId, Seed};
    use crate::room::{Attachment, JoinRequest, NewRoom, Source};
    use crate::view::RawJson;

    #[test]
    fn list_query_costs_its_length() {
        let mut index = Index::default();
        for number in 0..5_000 {
            index.update(&room(number, if number % 2 == 0 { "duel" } else { "team" }), &Rules::default());
        }
        // One mode without rooms, and one that does not exist.
        for (mode, build, length) in
            [("", "", 100), ("duel", "", 100), ("duel", "b1", 100), ("x", "", 0), ("", "y", 0)]
        {
            index.listed_count.set(0);
            let (_, rooms) = list(&index, mode, build, 0);
            assert_eq!(rooms.map(|rooms| rooms.len()), Some(length), "{mode} {build}");
            assert!(index.listed_count.get() <= 100, "{} rooms for {mode} {build}", index.listed_count.get());
        }
        let (stamp, _) = list(&index, "duel", "", 0);
        index.listed_count.set(0);
        assert_eq!(list(&index, "duel", "", stamp), (stamp, None));
        assert_eq!(index.listed_count.get(), 0, "nothing has changed");
    }

    #[test]
    fn room_change_touches_only_its_lists() {
        let mut index = Index::default();
        index.update(&room(1, "duel"), &Rules::default());
        index.update(&room(2, "team"), &Rules::default());
        let (duel, _) = list(&index, "duel", "", 0);
        let (any, _) = list(&index, "", "", 0);
        index.update(&room(3, "team"), &Rules::default());
        assert_eq!(list(&index, "duel", "", duel), (duel, None));
        assert_eq!(list(&index, "", "b1", any).1.map(|rooms| rooms.len()), Some(3));
        index.forget(room(1, "duel").view().id);
        assert_eq!(list(&index, "duel", "", duel), (0, Some(Vec::new())), "an empty list is dropped");
        assert_eq!(list(&index, "", "", any).1.map(|rooms| rooms.len()), Some(2));
    }

    fn list(index: &Index, mode: &str, build: &str, stamp: u64) -> (u64, Option<Vec<Listing>>) {
        let key = ListKey { game: label("pond"), mode: label(mode), build: label(build), all: false };
        let found = index.list(&key, stamp);
        let Found::List { stamp, rooms } = found else { panic!("{found:?}") };
        (stamp, rooms)
    }

    fn room(number: u64, mode: &str) -> Room {
        let mut id = [0; 16];
        id[..8].copy_from_slice(&number.to_be_bytes());
        let founder = JoinRequest {
            peer: PeerId::from_u128(u128::from(number) + 1),
            player: PlayerId::from_bytes(id),
            name: "Nia".parse().unwrap(),
            preferred_slot: 0,
            spectate: false,
            players: LocalPlayers::ONE,
            leave_current: false,
            source: Source { network: NetworkId(number), signed_in: false },
        };
        let new = NewRoom {
            id: RoomId::from_bytes(id),
            code: RoomCode::from_number(number),
            seed: Seed(number),
            game: label("pond"),
            mode: label(mode),
            build: label("b1"),
            max_players: 4,
            private: false,
            drop_in: true,
            host_starts: false,
            matched: false,
            settings: RawJson::default(),
        };
        let link = Attachment { node: NodeId(1), epoch: 1, session: ResumeId(1) };
        Room::create(Micros::from_secs(1), new, founder, link)
    }

    fn label(text: &str) -> Label {
        if text.is_empty() { Label::default() } else { text.parse().unwrap() }
    }
}
