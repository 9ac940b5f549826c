//! Who looks for people of their skill: asks storage for a rating, and then the directory again and
//! again, with a range that widens.

use gaggle_kit::{Micros, PeerId};

use super::answers::Asked;
use super::{ConnectionId, Node, NodeOutput, Query};
use crate::directory::{Command, FindSpec, Reply, Skill};
use crate::id::ResumeId;
use crate::message::server::{Done, Searching};
use crate::message::{Rejection, RejectionCode, ServerMessage};
use crate::players::LocalPlayers;
use crate::room::{JoinRequest, NewRoom};

/// How often the directory is asked for one player: more rarely the more players look. It tells by
/// itself when others are found, so that only the range widens later.
const ASK_EVERY: Micros = Micros::from_millis(1_000);
const ASK_EVERY_MAX: Micros = Micros::from_millis(5_000);
/// Players asked for at one go: others have to wait meanwhile. What is left is due at once.
const ASK_MAX: usize = 8;

/// Somebody who looks for others.
#[derive(Debug)]
pub(super) struct Search {
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

impl Node {
    /// Begins to look; the rating is asked for first.
    pub(super) fn begin_search(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        newcomer: &JoinRequest,
        new: NewRoom,
    ) {
        let query =
            Query::PlayerStats { player: newcomer.player, game: new.game.clone(), mode: new.mode.clone() };
        let (rating, palette, players) = (self.rules.search.rating_start, newcomer.palette, newcomer.players);
        let search = Search { id, new, palette, players, rating, since: now, ask_at: None, told: None };
        self.searches.insert(connection, search);
        let ask = self.remember(Asked::Rating { connection });
        self.outputs.push_back(NodeOutput::Query { ask, query });
    }

    /// Storage knows the rating, or does not.
    pub(super) fn rated(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        answer: Result<ServerMessage, Rejection>,
    ) {
        let Some(search) = self.searches.get_mut(&connection) else { return };
        match answer {
            Ok(ServerMessage::MyStats(mine)) => {
                search.rating = mine.rating.unwrap_or(search.rating);
                self.ask_for_others(now, connection);
            }
            Ok(_) => {}
            Err(refusal) => {
                let id = search.id;
                self.searches.remove(&connection);
                self.refuse(now, connection, id, refusal);
            }
        }
    }

    /// Asks for those whose time has come.
    pub(super) fn go_on_searching(&mut self, now: Micros) {
        for _ in 0..ASK_MAX {
            let Some(first) = self.searches_due.first().copied().filter(|(at, _)| *at <= now) else { break };
            self.searches_due.remove(&first);
            if self.searches.get(&first.1).is_some_and(|search| search.ask_at == Some(first.0)) {
                self.ask_for_others(now, first.1);
            }
        }
    }

    /// The directory has found others for a player: asks which, now.
    pub(super) fn found(&mut self, now: Micros, peer: PeerId, session: ResumeId) {
        let Some(connection) = self.by_peer.get(&peer).copied() else { return };
        if self.session(connection).is_some_and(|known| known.link.session == session) {
            self.ask_for_others(now, connection);
        }
    }

    /// How long until the directory is asked again for this player. Those who began together do not
    /// ask together for ever.
    fn ask_again_after(&self, connection: ConnectionId) -> Micros {
        let many = Micros::from_millis(self.searches.len() as u64);
        let spread = Micros::from_millis(if many > ASK_EVERY { connection.0 % 64 * 4 } else { 0 });
        (if many > ASK_EVERY { ASK_EVERY + many } else { ASK_EVERY }).min(ASK_EVERY_MAX) + spread
    }

    fn ask_for_others(&mut self, now: Micros, connection: ConnectionId) {
        let Some(session) = self.session(connection) else { return };
        let (peer, player, link, name) = (session.peer, session.player, session.link, session.name.clone());
        let source = session.source;
        let range = self.search_range(now, connection);
        let patience = self.rules.search.patience;
        let Some(address) = self.connections.get(&connection).map(|known| known.address) else { return };
        if !self.searches.contains_key(&connection) {
            return;
        }
        let aside = self.limits.set_room_aside(now, address, &self.rules);
        let Some(search) = self.searches.get_mut(&connection) else { return };
        search.ask_at = None;
        let (palette, players) = (search.palette, search.players);
        let switch = false;
        let newcomer = JoinRequest { peer, player, name, palette, watch: false, players, switch, source };
        let skill = Skill { rating: search.rating, range, patient: now.since(search.since) >= patience };
        let (new, id) = (search.new.clone(), search.id);
        let wish = FindSpec { new, may_create: aside.is_some(), skill: Some(skill) };
        self.ask(Asked::Search { connection, id, peer, link, aside }, Command::Find { newcomer, link, wish });
    }

    fn search_range(&self, now: Micros, connection: ConnectionId) -> u32 {
        let rules = &self.rules.search;
        let seconds =
            self.searches.get(&connection).map_or(0, |search| now.since(search.since).get() / 1_000_000);
        let widened = u64::from(rules.range_per_second).saturating_mul(seconds);
        u64::from(rules.range).saturating_add(widened).min(u64::from(rules.range_max)) as u32
    }

    /// The directory has answered: not yet, a seat, or no.
    pub(super) fn searched(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        peer: PeerId,
        link: crate::room::Attachment,
        reply: Reply,
    ) {
        let range = self.search_range(now, connection);
        // Whoever stopped looking has told the directory so, and what it found meanwhile is given
        // back by that.
        let Some(search) = self.searches.get_mut(&connection).filter(|search| search.id == id) else {
            return;
        };
        match reply {
            Reply::Searching { waiting } => {
                if search.told.replace((range, waiting)) != Some((range, waiting)) {
                    let rating = search.rating;
                    self.send(connection, id, Searching { rating, range, waiting });
                }
                let at = now + self.ask_again_after(connection);
                if let Some(search) = self.searches.get_mut(&connection) {
                    search.ask_at = Some(at);
                    self.searches_due.insert((at, connection));
                }
            }
            Reply::Joined { room, seated } => {
                self.searches.remove(&connection);
                self.seat(now, connection, id, peer, link, *room, seated);
            }
            Reply::Rejected(refusal) => {
                self.searches.remove(&connection);
                self.refuse(now, connection, id, refusal);
            }
            _ => {}
        }
    }

    /// Looks no more, because the client says so.
    pub(super) fn leave_search(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>) -> bool {
        let Some(search) = self.searches.get(&connection) else { return false };
        let asked = search.id;
        self.stop_search(connection, true);
        if asked.is_some() {
            self.refuse(
                now,
                connection,
                asked,
                Rejection::new(RejectionCode::NotInRoom, "you stopped looking"),
            );
        }
        self.send(connection, id, Done {});
        true
    }

    /// Looks no more. Without `leave` a seat that was found meanwhile waits for who lost the
    /// connection.
    pub(super) fn stop_search(&mut self, connection: ConnectionId, leave: bool) {
        if self.searches.remove(&connection).is_none() {
            return;
        }
        let Some(session) = self.session(connection) else { return };
        let (peer, link) = (session.peer, session.link);
        self.ask(Asked::Nothing, Command::StopSearch { peer, link, leave });
    }

    /// Whether somebody is looking.
    pub(super) fn is_searching(&self, connection: ConnectionId) -> bool {
        self.searches.contains_key(&connection)
    }
}
