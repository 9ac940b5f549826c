//! Searches for players of one's skill: when to ask the directory for each, and with which range.
//!
//! The range widens with time. Absent: ratings (storage knows them), who is found.

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::Micros;

use super::ConnectionId;
use crate::directory::Skill;
use crate::message::server::Searching;
use crate::players::LocalPlayers;
use crate::room::{JoinRequest, NewRoom};
use crate::rules::SearchRules;

/// How often the directory is asked for one player: more rarely the more players look. It tells by
/// itself when others are found, so that only the range widens later.
const ASK_EVERY: Micros = Micros::from_millis(1_000);
const ASK_EVERY_MAX: Micros = Micros::from_millis(5_000);
/// Players asked for at one go: others have to wait meanwhile. What is left is due at once.
const ASK_MAX: usize = 8;

/// The search of one connection.
#[derive(Debug)]
struct Search {
    /// The request it answers.
    id: Option<u64>,
    new: NewRoom,
    palette: u8,
    players: LocalPlayers,
    rating: i64,
    since: Micros,
    /// None while the directory, or before that storage, is being asked.
    ask_at: Option<Micros>,
    /// What the client was told last.
    told: Option<(u32, u32)>,
}

/// What the directory is asked for one search.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Asking {
    pub(super) id: Option<u64>,
    pub(super) new: NewRoom,
    pub(super) palette: u8,
    pub(super) players: LocalPlayers,
    pub(super) skill: Skill,
}

/// The searches of a node, at most one for a connection.
#[derive(Debug, Default)]
pub(super) struct Searches {
    all: BTreeMap<ConnectionId, Search>,
    /// When to ask for each of them.
    due: BTreeSet<(Micros, ConnectionId)>,
}

impl Searches {
    /// Begins a search, with a rating that counts until storage says another.
    pub(super) fn begin(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        joiner: &JoinRequest,
        new: NewRoom,
        rating: i64,
    ) {
        let (palette, players) = (joiner.palette, joiner.players);
        let search = Search { id, new, palette, players, rating, since: now, ask_at: None, told: None };
        self.all.insert(connection, search);
    }

    pub(super) fn contains(&self, connection: ConnectionId) -> bool {
        self.all.contains_key(&connection)
    }

    /// Whether a connection searches, by this request.
    pub(super) fn is_of(&self, connection: ConnectionId, id: Option<u64>) -> bool {
        self.all.get(&connection).is_some_and(|search| search.id == id)
    }

    /// Ends a search. Gives back the request it answers.
    pub(super) fn remove(&mut self, connection: ConnectionId) -> Option<Option<u64>> {
        self.all.remove(&connection).map(|search| search.id)
    }

    /// Storage knows the rating.
    pub(super) fn set_rating(&mut self, connection: ConnectionId, rating: Option<i64>) {
        if let Some(search) = self.all.get_mut(&connection) {
            search.rating = rating.unwrap_or(search.rating);
        }
    }

    /// When the directory is asked next.
    pub(super) fn due(&self) -> Option<Micros> {
        self.due.first().map(|(at, _)| *at)
    }

    /// Some of the searches for which the directory is to be asked now.
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

    /// What the directory is asked now.
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
        let (palette, players) = (search.palette, search.players);
        Some(Asking { id: search.id, new: search.new.clone(), palette, players, skill })
    }

    /// So many search and none fits: asks again later. Gives back what the client is told, if that
    /// is new.
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

    /// How long until the directory is asked again. Those who began together do not ask together
    /// for ever.
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
            palette: 3,
            watch: false,
            players: LocalPlayers::ONE,
            switch: false,
            source: Source { network: NetworkId(1), signed_in: false },
        };
        let new = NewRoom {
            id: RoomId::from_bytes([1; 16]),
            code: RoomCode::from_number(1),
            seed: Seed(1),
            game: Label::default(),
            mode: Label::default(),
            build: Label::default(),
            seats: 2,
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
    fn client_is_told_what_is_new_and_asked_for_again() {
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
    fn ended_search_is_not_asked_for() {
        let (mut searches, rules) = (Searches::default(), Rules::default().search);
        begin(&mut searches, 1);
        let _ = searches.wait(Micros::ZERO, ConnectionId(1), 1, &rules);
        assert!(searches.is_of(ConnectionId(1), Some(9)) && !searches.is_of(ConnectionId(1), None));
        assert_eq!(searches.remove(ConnectionId(1)), Some(Some(9)));
        assert!(searches.take_due(ASK_EVERY).is_empty());
        assert_eq!(searches.ask(ASK_EVERY, ConnectionId(1), &rules), None);
    }

    #[test]
    fn few_searches_are_asked_for_at_once() {
        let (mut searches, rules) = (Searches::default(), Rules::default().search);
        for connection in 0..ASK_MAX as u64 + 1 {
            begin(&mut searches, connection);
            let _ = searches.wait(Micros::ZERO, ConnectionId(connection), 1, &rules);
        }
        assert_eq!(searches.take_due(ASK_EVERY_MAX).len(), ASK_MAX);
        assert_eq!(searches.take_due(ASK_EVERY_MAX).len(), 1);
    }
}
