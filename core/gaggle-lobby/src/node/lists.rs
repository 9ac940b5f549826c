//! Lists of rooms that connections watch, and what they have been shown of them.
//!
//! A list is asked for again a moment after a change, not each time: a storm of joins makes one
//! message, not thousands. Of many lists it is a few at a time, so that no join waits for all.
//! Absent: rooms, sending.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::Micros;

use super::ConnectionId;
use crate::directory::{ListKey, Lookup};
use crate::id::RoomId;
use crate::label::Label;
use crate::message::server::{Listing, Rooms};
use crate::message::{Rejection, RejectionCode};

/// Lists that are asked for at once, and how long it is until the next ones are, where there are
/// more.
const AT_ONCE: usize = 16;
const TURN: Micros = Micros::from_millis(50);
/// Different lists that are watched from one address (of IPv6, from one /64). Anybody can make up
/// modes and builds.
const PER_ADDRESS_MAX: usize = 32;

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

    /// A connection watches this list from now on, instead of another. Gives back the question to be
    /// asked, unless it is under way.
    ///
    /// # Errors
    /// If as many different lists are watched from its place as may be.
    pub(super) fn watch(
        &mut self,
        connection: ConnectionId,
        place: u128,
        id: Option<u64>,
        key: &ListKey,
        refresh_at: Micros,
    ) -> Result<Option<Lookup>, Rejection> {
        if !self.may_watch(connection, place, key) {
            let text = format!("{PER_ADDRESS_MAX} different lists are watched from your address already");
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

    /// The questions that are due.
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
        // A new connection needs the whole list, changed or not.
        let stamp = if watched.new.is_empty() { watched.stamp } else { 0 };
        Some(Lookup::List { key: key.clone(), stamp })
    }

    /// The list as it is now, or that it has not changed.
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

/// Who is to be sent what of a list.
#[derive(Debug, Default, PartialEq, Eq)]
#[must_use]
pub(super) struct ListUpdate {
    /// What changed, for those who have the list.
    pub(super) change: Option<(Vec<ConnectionId>, Rooms)>,
    /// The whole list, for those who asked for it.
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
    fn list_under_way_is_asked_for_once() {
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
    fn many_lists_are_asked_for_in_turns() {
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
    fn place_watches_few_different_lists() {
        let mut lists = Lists::default();
        let mut watch = |connection: usize, number: usize| {
            lists.watch(ConnectionId(connection as u64), HERE, None, &key(number), SOON).is_ok()
        };
        assert!((0..PER_ADDRESS_MAX).all(|number| watch(number, number)));
        assert!(!watch(PER_ADDRESS_MAX, PER_ADDRESS_MAX));
        assert!(watch(PER_ADDRESS_MAX, 0), "a list that is watched already");
        assert!(watch(1, PER_ADDRESS_MAX), "instead of the one it watched");
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
