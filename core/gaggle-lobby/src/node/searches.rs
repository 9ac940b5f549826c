//! Searches for players of similar skill: when each is repeated in the directory, and with which
//! range.
//!
//! Owned by [`Node`](super::Node). The range widens with time. Absent: ratings (storage has them),
//! matching.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::Micros;

use super::ConnectionId;
use crate::directory::Skill;
use crate::message::server::Searching;
use crate::players::LocalPlayers;
use crate::room::{JoinRequest, NewRoom};
use crate::rules::SearchRules;

/// Interval between repeats for one player; longer when many search. A match by another player's
/// request is notified, so repeats only widen the range.
const ASK_EVERY: Micros = Micros::from_millis(1_000);
const ASK_EVERY_MAX: Micros = Micros::from_millis(5_000);
/// Searches repeated at once, so that others need not wait; the rest is due at once.
const ASK_MAX: usize = 8;

/// The search of one connection.
#[derive(Debug)]
struct Search {
    /// Request it answers.
    id: Option<u64>,
    new: NewRoom,
    preferred_slot: u8,
    players: LocalPlayers,
    rating: i64,
    since: Micros,
    /// When to repeat it; none while the storage or the directory is asked.
    ask_at: Option<Micros>,
    /// Progress last sent to the client.
    told: Option<(u32, u32)>,
}

/// Parameters of a repeated search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asking {
    pub(super) id: Option<u64>,
    pub(super) new: NewRoom,
    pub(super) preferred_slot: u8,
    pub(super) players: LocalPlayers,
    pub(super) skill: Skill,
}

/// Searches of a node, at most one per connection.
#[derive(Debug, Default)]
pub(super) struct Searches {
    all: BTreeMap<ConnectionId, Search>,
    /// Due time of each search.
    due: BTreeSet<(Micros, ConnectionId)>,
}

impl Searches {
    /// Starts a search with a default rating, until storage returns another.
    pub(super) fn begin(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        joiner: &JoinRequest,
        new: NewRoom,
        rating: i64,
    ) {
        let (preferred_slot, players) = (joiner.preferred_slot, joiner.players);
        let search =
            Search { id, new, preferred_slot, players, rating, since: now, ask_at: None, told: None };
        self.all.insert(connection, search);
    }

    pub(super) fn contains(&self, connection: ConnectionId) -> bool {
        self.all.contains_key(&connection)
    }

    /// Whether a connection searches because of this request.
    pub(super) fn is_of(&self, connection: ConnectionId, id: Option<u64>) -> bool {
        self.all.get(&connection).is_some_and(|search| search.id == id)
    }

    /// Ends a search. Returns the request it answers.
    pub(super) fn remove(&mut self, connection: ConnectionId) -> Option<Option<u64>> {
        self.all.remove(&connection).map(|search| search.id)
    }

    /// Sets the rating from storage.
    pub(super) fn set_rating(&mut self, connection: ConnectionId, rating: Option<i64>) {
        if let Some(search) = self.all.get_mut(&connection) {
            search.rating = rating.unwrap_or(search.rating);
        }
    }

    /// When the next search is due.
    pub(super) fn due(&self) -> Option<Micros> {
        self.due.first().map(|(at, _)| *at)
    }

    /// A few of the searches that are due.
    #[must_use]
    pub(super) fn take_due(&mut self, now: Micros) -> Vec<ConnectionId> {
        let mut taken = Vec::new();
        for _ in 0..ASK_MAX {
            let Some(first) = self.due.first().copied().filter(|(at, _)| *at <= now) else { break };
            self.due.remove(&first);
            if self.all.get(&first.1).is_some_and(|search| search.ask_at == Some(first.0)) {
                taken.push(first.1);
            }
        }
        taken
    }

    /// Parameters for the directory now.
    #[must_use]
    pub(super) fn ask(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        rules: &SearchRules,
    ) -> Option<Asking> {
        let search = self.all.get_mut(&connection)?;
        search.ask_at = None;
        let patient = now.since(search.since) >= rules.patience;
        let skill = Skill { rating: search.rating, range: search.range(now, rules), patient };
        let (preferred_slot, players) = (search.preferred_slot, search.players);
        Some(Asking { id: search.id, new: search.new.clone(), preferred_slot, players, skill })
    }

    /// No match among the players searching: schedules a repeat. Returns the progress to send, if
    /// it changed.
    #[must_use]
    pub(super) fn wait(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        waiting: u32,
        rules: &SearchRules,
    ) -> Option<Searching> {
        let at = now + self.ask_again_after(connection);
        let search = self.all.get_mut(&connection)?;
        search.ask_at = Some(at);
        self.due.insert((at, connection));
        let (rating, range) = (search.rating, search.range(now, rules));
        let is_new = search.told.replace((range, waiting)) != Some((range, waiting));
        is_new.then_some(Searching { rating, range, waiting })
    }

    /// Time until the next repeat; varies per connection, so that searches that started together
    /// drift apart.
    fn ask_again_after(&self, connection: ConnectionId) -> Micros {
        let many = Micros::from_millis(self.all.len() as u64);
        let spread = Micros::from_millis(if many > ASK_EVERY { connection.0 % 64 * 4 } else { 0 });
        (if many > ASK_EVERY { ASK_EVERY + many } else { ASK_EVERY }).min(ASK_EVERY_MAX) + spread
    }
}

impl Search {
    fn range(&self, now: Micros, rules: &SearchRules) -> u32 {
        let seconds = now.since(self.since).get() / 1_000_000;
        let widened = u64::from(rules.range_per_second).saturating_mul(seconds);
        u64::from(rules.range).saturating_add(widened).min(u64::from(rules.range_max)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::{NetworkId, PlayerId, RoomCode, RoomId, Seed};
    use crate::label::Label;
    use crate::room::Source;
    use crate::rules::Rules;
    use crate::view::RawJson;

    fn begin(searches: &mut Searches, connection: u64) {
        let joiner = JoinRequest {
            peer: gaggle_kit::PeerId::from_u128(1),
            player: PlayerId::from_bytes([1; 16]),
            name: "Nia".parse().unwrap(),
            preferred_slot: 3,
            spectate: false,
            players: LocalPlayers::ONE,
            leave_current: false,
            source: Source { network: NetworkId(1), signed_in: false },
        };
        let new = NewRoom {
            id: RoomId::from_bytes([1; 16]),
            code: RoomCode::from_number(1),
            seed: Seed(1),
            game: Label::default(),
            mode: Label::default(),
            build: Label::default(),
            max_players: 2,
            private: false,
            drop_in: false,
            host_starts: false,
            matched: true,
            settings: RawJson::default(),
        };
        searches.begin(Micros::ZERO, ConnectionId(connection), Some(9), &joiner, new, 1_500);
    }

    #[test]
    fn range_widens_up_to_its_limit() {
        let (mut searches, rules) = (Searches::default(), Rules::default().search);
        begin(&mut searches, 1);
        let mut range = |seconds| {
            let asking = searches.ask(Micros::from_secs(seconds), ConnectionId(1), &rules);
            asking.map(|asking| asking.skill.range)
        };
        assert_eq!(range(0), Some(rules.range));
        assert_eq!(range(1), Some((rules.range + rules.range_per_second).min(rules.range_max)));
        assert_eq!(range(1_000_000), Some(rules.range_max));
    }

    #[test]
    fn client_receives_new_progress_and_search_repeats() {
        let (mut searches, rules) = (Searches::default(), Rules::default().search);
        begin(&mut searches, 1);
        searches.set_rating(ConnectionId(1), Some(1_600));
        let told = searches.wait(Micros::ZERO, ConnectionId(1), 3, &rules).unwrap();
        assert_eq!((told.rating, told.waiting), (1_600, 3));
        assert_eq!(searches.wait(Micros::ZERO, ConnectionId(1), 3, &rules), None);
        assert_eq!(searches.take_due(ASK_EVERY), [ConnectionId(1)]);
        assert!(searches.take_due(ASK_EVERY).is_empty());
    }

    #[test]
    fn ended_search_is_not_repeated() {
        let (mut searches, rules) = (Searches::default(), Rules::default().search);
        begin(&mut searches, 1);
        let _ = searches.wait(Micros::ZERO, ConnectionId(1), 1, &rules);
        assert!(searches.is_of(ConnectionId(1), Some(9)) && !searches.is_of(ConnectionId(1), None));
        assert_eq!(searches.remove(ConnectionId(1)), Some(Some(9)));
        assert!(searches.take_due(ASK_EVERY).is_empty());
        assert_eq!(searches.ask(ASK_EVERY, ConnectionId(1), &rules), None);
    }

    #[test]
    fn few_searches_are_repeated_at_once() {
        let (mut searches, rules) = (Searches::default(), Rules::default().search);
        for connection in 0..ASK_MAX as u64 + 1 {
            begin(&mut searches, connection);
            let _ = searches.wait(Micros::ZERO, ConnectionId(connection), 1, &rules);
        }
        assert_eq!(searches.take_due(ASK_EVERY_MAX).len(), ASK_MAX);
        assert_eq!(searches.take_due(ASK_EVERY_MAX).len(), 1);
    }
}
