//! Room lists that connections subscribe to, and what each was sent.
//!
//! Owned by [`Node`](super::Node). A list is queried a moment after a change, so that a burst of
//! joins causes one message, and only a few lists at a time, so that no join waits for all of them.
//! Absent: rooms, sending.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::Micros;

use super::ConnectionId;
use crate::directory::{ListKey, Lookup};
use crate::id::RoomId;
use crate::label::Label;
use crate::message::server::{Listing, Rooms};
use crate::message::{Rejection, RejectionCode};

/// Lists queried at once; further ones follow in the next batch.
const AT_ONCE: usize = 16;
const TURN: Micros = Micros::from_millis(50);
/// Different lists per address (IPv6: per /64). Modes and builds in a query can be invented freely.
const PER_ADDRESS_MAX: usize = 32;

/// Subscriptions of all connections.
#[derive(Debug, Default)]
pub(super) struct Lists {
    watched: BTreeMap<ListKey, Watched>,
    by_connection: BTreeMap<ConnectionId, (ListKey, u128)>,
    /// Connections per address group and list.
    by_place: BTreeMap<u128, BTreeMap<ListKey, usize>>,
    refresh_at: Option<Micros>,
    /// First list of the next batch, if this one is not the last.
    next: Option<ListKey>,
}

/// One subscribed list.
#[derive(Debug, Default)]
struct Watched {
    watchers: BTreeSet<ConnectionId>,
    stamp: u64,
    rooms: Vec<Listing>,
    is_asked: bool,
    /// Connections that were sent nothing yet, with the `id` of their request.
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
    /// Whether a connection of this address group may subscribe to this list instead of its current
    /// one.
    fn may_watch(&self, connection: ConnectionId, place: u128, key: &ListKey) -> bool {
        let Some(counts) = self.by_place.get(&place) else { return true };
        let own = self.by_connection.get(&connection).map(|(own, _)| own);
        let is_freed = own.is_some_and(|own| counts.get(own) == Some(&1));
        counts.contains_key(key) || counts.len() - usize::from(is_freed) < PER_ADDRESS_MAX
    }

    /// Subscribes a connection to a list instead of its current one. Returns the lookup to make,
    /// unless one is pending.
    ///
    /// # Errors
    /// If its address group has [`PER_ADDRESS_MAX`] different lists.
    pub(super) fn watch(
        &mut self,
        connection: ConnectionId,
        place: u128,
        id: Option<u64>,
        key: &ListKey,
        refresh_at: Micros,
    ) -> Result<Option<Lookup>, Rejection> {
        if !self.may_watch(connection, place, key) {
            let text = format!(
                "{PER_ADDRESS_MAX} different room lists are in use from your network; \
             try again later"
            );
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        self.remove(connection);
        *self.by_place.entry(place).or_default().entry(key.clone()).or_default() += 1;
        self.by_connection.insert(connection, (key.clone(), place));
        let watched = self.watched.entry(key.clone()).or_default();
        watched.watchers.insert(connection);
        watched.new.insert(connection, id);
        self.refresh_at.get_or_insert(refresh_at);
        Ok(self.ask(key))
    }

    /// Lookups that are due.
    #[must_use]
    pub(super) fn refresh(&mut self, now: Micros, interval: Micros) -> Vec<Lookup> {
        if self.refresh_at.is_none_or(|at| at > now) {
            return Vec::new();
        }
        let mut keys: Vec<ListKey> = match self.next.take() {
            Some(next) => self.watched.range(next..).map(|(key, _)| key.clone()).take(AT_ONCE + 1).collect(),
            None => self.watched.keys().take(AT_ONCE + 1).cloned().collect(),
        };
        self.next = if keys.len() > AT_ONCE { keys.pop() } else { None };
        self.refresh_at = Some(now + if self.next.is_some() { TURN } else { interval });
        keys.iter().filter_map(|key| self.ask(key)).collect()
    }

    fn ask(&mut self, key: &ListKey) -> Option<Lookup> {
        let watched = self.watched.get_mut(key).filter(|watched| !watched.is_asked)?;
        watched.is_asked = true;
        // A new subscriber needs the whole list, changed or not.
        let stamp = if watched.new.is_empty() { watched.stamp } else { 0 };
        Some(Lookup::List { key: key.clone(), stamp })
    }

    /// Takes the answer to a lookup; none if unchanged.
    pub(super) fn take(&mut self, key: &ListKey, stamp: u64, rooms: Option<Vec<Listing>>) -> ListUpdate {
        let Some(watched) = self.watched.get_mut(key) else { return ListUpdate::default() };
        watched.is_asked = false;
        watched.stamp = stamp;
        let Some(rooms) = rooms else { return ListUpdate::default() };
        let new = std::mem::take(&mut watched.new);
        let is_old = |watcher: &&ConnectionId| !new.contains_key(watcher);
        let change = difference(&key.game, &watched.rooms, &rooms);
        let change = change.map(|change| (watched.watchers.iter().filter(is_old).copied().collect(), change));
        watched.rooms.clone_from(&rooms);
        let whole = Rooms { game: key.game.clone(), whole: true, rooms, gone: Vec::new() };
        ListUpdate { change, whole: new.into_iter().map(|(to, id)| (to, id, whole.clone())).collect() }
    }
}

/// What to send about a list, and to which connections.
#[derive(Debug, Default, PartialEq, Eq)]
#[must_use]
pub(super) struct ListUpdate {
    /// Changes, for connections that have the list.
    pub(super) change: Option<(Vec<ConnectionId>, Rooms)>,
    /// The whole list, for new subscribers with their request.
    pub(super) whole: Vec<(ConnectionId, Option<u64>, Rooms)>,
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

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Micros = Micros::from_secs(1);
    const HERE: u128 = 1;

    fn key(number: usize) -> ListKey {
        let mode = format!("m{number}").parse().unwrap();
        ListKey { game: "pond".parse().unwrap(), mode, build: Label::default(), all: false }
    }

    #[test]
    fn pending_list_is_queried_once() {
        let mut lists = Lists::default();
        let asked = lists.watch(ConnectionId(1), HERE, Some(5), &key(1), SOON).unwrap();
        assert_eq!(asked, Some(Lookup::List { key: key(1), stamp: 0 }));
        assert_eq!(lists.watch(ConnectionId(2), HERE, None, &key(1), SOON).unwrap(), None);
        assert_eq!(lists.refresh(SOON, SOON), []);
        let update = lists.take(&key(1), 9, Some(Vec::new()));
        let to: Vec<_> = update.whole.iter().map(|(to, id, _)| (to.0, *id)).collect();
        assert_eq!((to, update.change), (vec![(1, Some(5)), (2, None)], None));
        assert_eq!(lists.refresh(SOON + SOON, SOON), [Lookup::List { key: key(1), stamp: 9 }]);
    }

    #[test]
    fn many_lists_are_queried_in_batches() {
        let mut lists = Lists::default();
        for number in 0..AT_ONCE + 4 {
            let place = number as u128;
            let _ = lists.watch(ConnectionId(place as u64), place, None, &key(number), SOON).unwrap();
            let _ = lists.take(&key(number), 1, Some(Vec::new()));
        }
        assert_eq!(lists.refresh(SOON, SOON).len(), AT_ONCE);
        assert_eq!(lists.due(), Some(SOON + TURN));
        assert_eq!(lists.refresh(SOON + TURN, SOON).len(), 4);
    }

    #[test]
    fn address_group_watches_few_different_lists() {
        let mut lists = Lists::default();
        let mut watch = |connection: usize, number: usize| {
            lists.watch(ConnectionId(connection as u64), HERE, None, &key(number), SOON).is_ok()
        };
        assert!((0..PER_ADDRESS_MAX).all(|number| watch(number, number)));
        assert!(!watch(PER_ADDRESS_MAX, PER_ADDRESS_MAX));
        assert!(watch(PER_ADDRESS_MAX, 0), "a list that is in use already");
        assert!(watch(1, PER_ADDRESS_MAX), "instead of its current list");
    }

    #[test]
    fn list_without_watchers_is_forgotten() {
        let mut lists = Lists::default();
        let _ = lists.watch(ConnectionId(1), HERE, None, &key(1), SOON).unwrap();
        lists.remove(ConnectionId(1));
        assert_eq!((lists.due(), lists.watched.len(), lists.by_place.len()), (None, 0, 0));
        assert_eq!(lists.take(&key(1), 1, Some(Vec::new())), ListUpdate::default());
    }
}
