//! Who watches which list of rooms, and what they have been shown of it.
//!
//! A list is asked for again a moment after somebody joined or left, not each time: a storm of
//! joins makes one message, not thousands. If many different ones are watched it is a few at a
//! time, so that nobody who joins has to wait for all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use gaggle_kit::Micros;

use super::answers::Asked;
use super::limits::place;
use super::{ConnectionId, Node, NodeOutput, encode};
use crate::directory::Command;
use crate::id::RoomId;
use crate::label::Label;
use crate::message::client::SubscribeRooms;
use crate::message::server::{Listing, Rooms};
use crate::message::{Rejection, RejectionCode};

/// Lists that are asked for at once, and how long it is until the next ones are, where there are
/// more.
const AT_ONCE: usize = 16;
const TURN: Micros = Micros::from_millis(50);
/// Different lists that are watched from one address (of IPv6, from one /64). Anybody can make up
/// modes and builds.
const PER_ADDRESS_MAX: usize = 32;

/// What one can watch.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ListKey {
    game: Label,
    mode: Label,
    build: Label,
    all: bool,
}

/// Who watches what.
#[derive(Debug, Default)]
pub(super) struct Lists {
    watched: BTreeMap<ListKey, Watched>,
    by_connection: BTreeMap<ConnectionId, (ListKey, u128)>,
    /// How many connections of each place watch what.
    by_place: BTreeMap<u128, BTreeMap<ListKey, usize>>,
    refresh_at: Option<Micros>,
    /// With which the next turn begins, if this is not the last one.
    next: Option<ListKey>,
}

/// One list.
#[derive(Debug, Default)]
struct Watched {
    watchers: BTreeSet<ConnectionId>,
    stamp: u64,
    rooms: Vec<Listing>,
    is_asked: bool,
    /// Connections that have been shown nothing yet, and the `id` they asked with.
    new: BTreeMap<ConnectionId, Option<u64>>,
}

impl Lists {
    pub(super) fn due(&self) -> Option<Micros> {
        self.refresh_at
    }

    pub(super) fn remove(&mut self, connection: ConnectionId) {
        let Some((key, place)) = self.by_connection.remove(&connection) else { return };
        if let Some(counts) = self.by_place.get_mut(&place) {
            match counts.get_mut(&key) {
                Some(count) if *count > 1 => *count -= 1,
                _ => drop(counts.remove(&key)),
            }
            if counts.is_empty() {
                self.by_place.remove(&place);
            }
        }
        if let Some(watched) = self.watched.get_mut(&key) {
            watched.watchers.remove(&connection);
            watched.new.remove(&connection);
            if watched.watchers.is_empty() {
                self.watched.remove(&key);
            }
        }
        if self.watched.is_empty() {
            self.refresh_at = None;
        }
    }
}

impl Lists {
    /// Whether a connection of this place may watch this instead of what it watches.
    fn may_watch(&self, connection: ConnectionId, place: u128, key: &ListKey) -> bool {
        let Some(counts) = self.by_place.get(&place) else { return true };
        let own = self.by_connection.get(&connection).map(|(own, _)| own);
        let is_freed = own.is_some_and(|own| counts.get(own) == Some(&1));
        counts.contains_key(key) || counts.len() - usize::from(is_freed) < PER_ADDRESS_MAX
    }
}

impl Node {
    pub(super) fn watch_list(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        list: SubscribeRooms,
    ) -> Result<(), Rejection> {
        let Some(place) = self.connections.get(&connection).map(|known| place(known.address)) else {
            return Ok(());
        };
        let SubscribeRooms { game, mode, build, all } = list;
        let key = ListKey { game, mode, build, all };
        if !self.lists.may_watch(connection, place, &key) {
            let text = format!("{PER_ADDRESS_MAX} different lists are watched from your address already");
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        self.lists.remove(connection);
        *self.lists.by_place.entry(place).or_default().entry(key.clone()).or_default() += 1;
        self.lists.by_connection.insert(connection, (key.clone(), place));
        let watched = self.lists.watched.entry(key.clone()).or_default();
        watched.watchers.insert(connection);
        watched.new.insert(connection, id);
        self.lists.refresh_at.get_or_insert(now + self.rules.list_interval);
        self.ask_for_list(&key);
        Ok(())
    }

    pub(super) fn refresh_lists(&mut self, now: Micros) {
        if self.lists.refresh_at.is_none_or(|at| at > now) {
            return;
        }
        let watched = &self.lists.watched;
        let mut keys: Vec<ListKey> = match self.lists.next.take() {
            Some(next) => watched.range(next..).map(|(key, _)| key.clone()).take(AT_ONCE + 1).collect(),
            None => watched.keys().take(AT_ONCE + 1).cloned().collect(),
        };
        self.lists.next = if keys.len() > AT_ONCE { keys.pop() } else { None };
        let wait = if self.lists.next.is_some() { TURN } else { self.rules.list_interval };
        self.lists.refresh_at = Some(now + wait);
        keys.iter().for_each(|key| self.ask_for_list(key));
    }

    fn ask_for_list(&mut self, key: &ListKey) {
        let Some(watched) = self.lists.watched.get_mut(key).filter(|watched| !watched.is_asked) else {
            return;
        };
        watched.is_asked = true;
        // Somebody new needs the whole list, changed or not.
        let stamp = if watched.new.is_empty() { watched.stamp } else { 0 };
        let ListKey { game, mode, build, all } = key.clone();
        self.ask(Asked::List(key.clone()), Command::List { game, mode, build, all, stamp });
    }

    /// The list as it is now, or that it has not changed.
    pub(super) fn take_list(&mut self, key: &ListKey, stamp: u64, rooms: Option<Vec<Listing>>) {
        let Some(watched) = self.lists.watched.get_mut(key) else { return };
        watched.is_asked = false;
        watched.stamp = stamp;
        let Some(rooms) = rooms else { return };
        let new = std::mem::take(&mut watched.new);
        let change = difference(&key.game, &watched.rooms, &rooms);
        let old: Vec<ConnectionId> =
            watched.watchers.iter().filter(|watcher| !new.contains_key(watcher)).copied().collect();
        watched.rooms = rooms.clone();
        if let Some(change) = change {
            let text: Arc<str> = encode(None, change.into());
            for connection in old {
                self.outputs.push_back(NodeOutput::Send { connection, text: text.clone() });
            }
        }
        let whole = Rooms { game: key.game.clone(), whole: true, rooms, gone: Vec::new() };
        for (connection, id) in new {
            self.send(connection, id, whole.clone());
        }
    }

    /// The list could not be had; those who wait for it get it with the next refresh.
    pub(super) fn list_failed(&mut self, key: &ListKey) {
        if let Some(watched) = self.lists.watched.get_mut(key) {
            watched.is_asked = false;
        }
    }
}

fn difference(game: &Label, before: &[Listing], after: &[Listing]) -> Option<Rooms> {
    let before: BTreeMap<RoomId, &Listing> = before.iter().map(|listing| (listing.id, listing)).collect();
    let is_new = |listing: &&Listing| before.get(&listing.id) != Some(listing);
    let rooms: Vec<Listing> = after.iter().filter(is_new).cloned().collect();
    let present: BTreeSet<RoomId> = after.iter().map(|listing| listing.id).collect();
    let gone: Vec<RoomId> = before.keys().filter(|id| !present.contains(id)).copied().collect();
    let is_same = rooms.is_empty() && gone.is_empty();
    (!is_same).then(|| Rooms { game: game.clone(), whole: false, rooms, gone })
}
