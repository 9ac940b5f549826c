//! Search for players of similar skill, until a room can be filled.
//!
//! [`Directory::apply`] calls it. A searching player repeats its request with a wider range, and
//! expires otherwise; a request can complete a match. Tickets are sorted by rating, so the cost
//! grows only with the players nearby. Absent: ratings, clocks.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use gaggle_kit::{Micros, PeerId};

use super::command::{Act, Detach, Find, StopSearch};
use super::index::FindKey;
use super::{Directory, Notice, Reply};
use crate::json::record;
use crate::message::Rejection;
use crate::room::{Attachment, JoinRequest, Leave, NewRoom, Room};

/// A ticket expires this long after its last request.
const FORGOTTEN_AFTER: Micros = Micros::from_secs(15);
/// Tickets examined per request. Several devices of one player count each.
const EXAMINED_MAX: usize = 256;
/// Of these, the nearest in skill. The rest continues where the previous request stopped, so that
/// players who match no one hide those behind them only for a few requests.
const NEAREST: usize = 64;

record! {
    /// Skill that a player searches for in others.
    #[derive(Copy)]
    pub struct Skill {
        /// Own rating of the player.
        rating: i64,
        /// Largest accepted rating difference.
        range: u32,
        /// Accepts fewer players than the room has slots.
        patient: bool,
    }
}

record! {
    /// A searching player.
    pub struct SearchTicket {
        /// Peer that searches.
        joiner: JoinRequest,
        /// Connection that searches.
        link: Attachment,
        /// The room to create for a match.
        new: NewRoom,
        /// Skill it searches for.
        skill: Skill,
        /// When the ticket expires.
        until: Micros,
        /// Range examined so far; none once all tickets in range were examined.
        passed: Option<Passed>,
    }
}

record! {
    /// An examined interval of tickets around a rating, both ends included.
    #[derive(Copy)]
    pub struct Passed {
        /// Rating of the lowest ticket.
        low: i64,
        /// Peer of the lowest ticket.
        lowest: PeerId,
        /// Rating of the highest ticket.
        high: i64,
        /// Peer of the highest ticket.
        highest: PeerId,
    }
}

impl Passed {
    /// The empty interval around a rating.
    fn none(rating: i64) -> Passed {
        let peer = PeerId::from_bytes([0; 16]);
        Passed { low: rating, lowest: peer, high: rating, highest: peer }
    }
}

/// Tickets that fill the slots beside a player.
struct MatchGroup {
    others: Vec<PeerId>,
    free_slots: u8,
    passed: Option<Passed>,
}

/// All searching players.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Matchmaking {
    all: BTreeMap<PeerId, SearchTicket>,
    /// Tickets that can match each other, by rating.
    pools: BTreeMap<(FindKey, u8), BTreeSet<(i64, PeerId)>>,
    expiry: BTreeSet<(Micros, PeerId)>,
}

impl Matchmaking {
    /// All tickets, by peer.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SearchTicket> {
        self.all.values()
    }

    /// Adds a ticket; replaces the earlier one of the same peer.
    pub(super) fn insert(&mut self, ticket: SearchTicket) {
        let peer = ticket.joiner.peer;
        self.remove(peer);
        self.pools.entry(pool_of(&ticket.new)).or_default().insert((ticket.skill.rating, peer));
        self.expiry.insert((ticket.until, peer));
        self.all.insert(peer, ticket);
    }

    fn remove(&mut self, peer: PeerId) -> Option<SearchTicket> {
        let ticket = self.all.remove(&peer)?;
        self.expiry.remove(&(ticket.until, peer));
        let pool = pool_of(&ticket.new);
        if let Some(members) = self.pools.get_mut(&pool) {
            members.remove(&(ticket.skill.rating, peer));
            if members.is_empty() {
                self.pools.remove(&pool);
            }
        }
        Some(ticket)
    }

    /// Removes expired tickets.
    fn expire(&mut self, now: Micros) {
        while let Some((_, peer)) = self.expiry.first().copied().filter(|(until, _)| *until <= now) {
            self.remove(peer);
        }
    }

    /// Tickets that fill the slots beside a player, the nearest in skill first; a ticket for
    /// several local players is taken whole or not at all.
    fn group(&self, ticket: &SearchTicket, may_enter: impl Fn(&SearchTicket) -> bool) -> MatchGroup {
        let Skill { rating, range, .. } = ticket.skill;
        let free_slots = ticket.new.max_players.saturating_sub(ticket.joiner.players.count());
        let mut group = MatchGroup { others: Vec::new(), free_slots, passed: None };
        let Some(pool) = self.pools.get(&pool_of(&ticket.new)) else { return group };
        let mut people = BTreeSet::from([ticket.joiner.player]);
        let mut at = Passed::none(rating);
        for (from, count) in [(None, NEAREST), (ticket.passed, EXAMINED_MAX - NEAREST)] {
            at = from.unwrap_or(at);
            let mut near = outward(pool, rating, at);
            for _ in 0..count {
                let next = near.next().filter(|(other, ..)| other.abs_diff(rating) <= u64::from(range));
                // All tickets in range were examined: the next request starts over.
                let Some((other, peer, passed)) = next else { return group };
                at = passed;
                let Some(known) = self.all.get(&peer).filter(|_| group.free_slots > 0) else {
                    return group;
                };
                let players = known.joiner.players.count();
                let is_near = other.abs_diff(rating) <= u64::from(known.skill.range);
                // Two devices of one player are no match.
                if is_near
                    && players <= group.free_slots
                    && may_enter(known)
                    && people.insert(known.joiner.player)
                {
                    group.free_slots -= players;
                    group.others.push(peer);
                }
            }
        }
        MatchGroup { passed: Some(at), ..group }
    }

    fn count(&self, new: &NewRoom) -> u32 {
        let key = key_of(new);
        let pools = self.pools.range((key.clone(), 0)..=(key, u8::MAX));
        pools.map(|(_, pool)| pool.len() as u32).sum()
    }
}

impl Directory {
    /// Searches for players of similar skill. A player who may not create a room keeps searching
    /// and can be found by others.
    pub(super) fn search(&mut self, now: Micros, find: &Find, skill: Skill) -> Result<Reply, Rejection> {
        let Find { joiner, link, new, may_create, .. } = find;
        let peer = joiner.peer;
        // Another player's search may have matched this one meanwhile.
        let own = self.room_of(peer).and_then(|room| Some((room.view().id, room.reservation_of(peer)?)));
        if let Some((id, _)) = own.filter(|(_, seat)| seat.link == Some(*link)) {
            return self.joined_anew(id, peer, false, false);
        }
        let known = self.matchmaking.remove(peer);
        self.check_joiner(joiner, *link)?;
        self.matchmaking.expire(now);
        let is_same =
            |known: &SearchTicket| (pool_of(&known.new), known.skill.rating) == (pool_of(new), skill.rating);
        let passed = known.filter(|known| known.until > now).filter(is_same).and_then(|known| known.passed);
        let until = now + FORGOTTEN_AFTER;
        let (joiner, new) = (joiner.clone(), new.clone());
        let mut ticket = SearchTicket { joiner, link: *link, new, skill, until, passed };
        // A ticket may be outdated: its player may have joined rooms since.
        let may_enter = |other: &SearchTicket| self.check_joiner(&other.joiner, other.link).is_ok();
        let may_create = *may_create && self.rooms.len() < self.rules.rooms_max;
        let group = may_create.then(|| self.matchmaking.group(&ticket, may_enter));
        ticket.passed = group.as_ref().map_or(passed, |group| group.passed);
        let is_enough =
            |group: &MatchGroup| !group.others.is_empty() && (group.free_slots == 0 || skill.patient);
        let Some(MatchGroup { others, .. }) = group.filter(is_enough) else {
            self.matchmaking.insert(ticket.clone());
            return Ok(Reply::Searching { waiting: self.matchmaking.count(&ticket.new) });
        };
        let SearchTicket { joiner, link, new, .. } = ticket;
        let reply = self.create(now, joiner, link, new)?;
        let Reply::Joined { room, .. } = &reply else { return Ok(reply) };
        let id = room.view.id;
        for peer in others {
            let Some(SearchTicket { joiner, link, .. }) = self.matchmaking.remove(peer) else { continue };
            if let Some(room) = self.rooms.get_mut(&id) {
                // There is a slot for each; a player who cannot take it keeps searching.
                let _ = room.enter(now, &self.rules, joiner, link);
                self.notices.push_back((link.node, Notice::Found { peer, session: link.session }));
            }
        }
        self.publish(now, id);
        self.joined_anew(id, peer, true, false)
    }

    /// Ends a search. A reservation found meanwhile is given up, or kept for a peer that lost its
    /// connection.
    pub(super) fn stop_search(&mut self, now: Micros, stop: StopSearch) -> Reply {
        let StopSearch { peer, link, leave } = stop;
        if self.matchmaking.all.get(&peer).is_some_and(|ticket| ticket.link == link) {
            self.matchmaking.remove(peer);
        }
        let has_seat = |room: &&Room| room.reservation_of(peer).is_some_and(|seat| seat.link == Some(link));
        let Some(room) = self.room_of(peer).filter(has_seat).map(|room| room.view().id) else {
            return Reply::Accepted;
        };
        if leave {
            let _ = self.act(now, &Act { room, peer, link, action: Leave {}.into() });
            return Reply::Accepted;
        }
        self.detach(now, &Detach { room, peer, link, next_signal: 1, got: None, mail: Vec::new() })
    }
}

/// Tickets outside the examined interval, nearest first, each with the interval extended to it.
fn outward(
    pool: &BTreeSet<(i64, PeerId)>,
    rating: i64,
    mut passed: Passed,
) -> impl Iterator<Item = (i64, PeerId, Passed)> {
    let mut below = pool.range(..(passed.low, passed.lowest)).rev().peekable();
    let beyond = (Bound::Excluded((passed.high, passed.highest)), Bound::Unbounded);
    let mut above = pool.range(beyond).peekable();
    std::iter::from_fn(move || {
        let distance = |entry: Option<&&(i64, PeerId)>| entry.map(|(other, _)| other.abs_diff(rating));
        let is_below_nearer = match (distance(below.peek()), distance(above.peek())) {
            (Some(below), Some(above)) => below < above,
            (below, _) => below.is_some(),
        };
        let (other, peer) = *if is_below_nearer { below.next() } else { above.next() }?;
        if is_below_nearer {
            (passed.low, passed.lowest) = (other, peer);
        } else {
            (passed.high, passed.highest) = (other, peer);
        }
        Some((other, peer, passed))
    })
}

fn pool_of(new: &NewRoom) -> (FindKey, u8) {
    (key_of(new), new.max_players)
}

fn key_of(new: &NewRoom) -> FindKey {
    FindKey::of(&new.game, &new.mode, &new.build)
}
