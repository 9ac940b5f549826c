//! People who look for others of their skill, until enough of them are found for a room.
//!
//! A player who looks asks again every few seconds with a range that has widened meanwhile, and is
//! forgotten otherwise. A match is made when one of them asks; the nodes of the others are told,
//! and ask at once. They lie in order of their rating, so that a question costs as much as the
//! players near it, however many look.

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

/// Who has not asked again after this time does not look any more.
const FORGOTTEN_AFTER: Micros = Micros::from_secs(15);
/// Players that are looked at for one question. Several tabs of one person count each.
const EXAMINED_MAX: usize = 256;
/// Of these, the nearest in skill. The others follow where the question before ended, so that
/// players without a match hide those behind them for a few questions at most.
const NEAREST: usize = 64;

record! {
    /// Whom somebody wants to play with.
    #[derive(Copy)]
    pub struct Skill {
        /// One's own rating.
        rating: i64,
        /// How far from it the others may be.
        range: u32,
        /// Fewer people than there are seats would do, too.
        patient: bool,
    }
}

record! {
    /// Somebody who looks for others.
    pub struct SearchTicket {
        /// Who.
        joiner: JoinRequest,
        /// On which connection.
        link: Attachment,
        /// What room would be made for them.
        new: NewRoom,
        /// Whom they look for.
        skill: Skill,
        /// When they are forgotten.
        until: Micros,
        /// Up to where its last question looked; none if it looked at all who are near.
        passed: Option<Passed>,
    }
}

record! {
    /// A part of those who look, around a rating: all between two of them, who belong to it.
    #[derive(Copy)]
    pub struct Passed {
        /// The rating of the lowest.
        low: i64,
        /// The machine of the lowest.
        lowest: PeerId,
        /// The rating of the highest.
        high: i64,
        /// The machine of the highest.
        highest: PeerId,
    }
}

impl Passed {
    /// The part around a rating before the first is passed.
    fn none(rating: i64) -> Passed {
        let peer = PeerId::from_bytes([0; 16]);
        Passed { low: rating, lowest: peer, high: rating, highest: peer }
    }
}

/// Who fills the seats beside a player.
struct Company {
    others: Vec<PeerId>,
    seats_free: u8,
    passed: Option<Passed>,
}

/// All who look.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Matchmaking {
    all: BTreeMap<PeerId, SearchTicket>,
    /// Those who can be matched with each other, by rating.
    pools: BTreeMap<(FindKey, u8), BTreeSet<(i64, PeerId)>>,
    expiry: BTreeSet<(Micros, PeerId)>,
}

impl Matchmaking {
    /// Everybody who looks.
    pub(super) fn iter(&self) -> impl Iterator<Item = &SearchTicket> {
        self.all.values()
    }

    /// Adds a player, in the place of what it asked before.
    pub(super) fn insert(&mut self, seeker: SearchTicket) {
        let peer = seeker.joiner.peer;
        self.remove(peer);
        self.pools.entry(pool_of(&seeker.new)).or_default().insert((seeker.skill.rating, peer));
        self.expiry.insert((seeker.until, peer));
        self.all.insert(peer, seeker);
    }

    fn remove(&mut self, peer: PeerId) -> Option<SearchTicket> {
        let seeker = self.all.remove(&peer)?;
        self.expiry.remove(&(seeker.until, peer));
        let pool = pool_of(&seeker.new);
        if let Some(members) = self.pools.get_mut(&pool) {
            members.remove(&(seeker.skill.rating, peer));
            if members.is_empty() {
                self.pools.remove(&pool);
            }
        }
        Some(seeker)
    }

    /// Forgets those who have not asked again.
    fn expire(&mut self, now: Micros) {
        while let Some((_, peer)) = self.expiry.first().copied().filter(|(until, _)| *until <= now) {
            self.remove(peer);
        }
    }

    /// Those who fill the seats beside a player, the nearest in skill first: of several at one
    /// machine all or none.
    fn company(&self, seeker: &SearchTicket, may_enter: impl Fn(&SearchTicket) -> bool) -> Company {
        let Skill { rating, range, .. } = seeker.skill;
        let seats_free = seeker.new.seats.saturating_sub(seeker.joiner.players.count());
        let mut company = Company { others: Vec::new(), seats_free, passed: None };
        let Some(pool) = self.pools.get(&pool_of(&seeker.new)) else { return company };
        let mut people = BTreeSet::from([seeker.joiner.player]);
        let mut at = Passed::none(rating);
        for (from, count) in [(None, NEAREST), (seeker.passed, EXAMINED_MAX - NEAREST)] {
            at = from.unwrap_or(at);
            let mut near = outward(pool, rating, at);
            for _ in 0..count {
                let next = near.next().filter(|(other, ..)| other.abs_diff(rating) <= u64::from(range));
                // All who are near were looked at: the next question begins anew.
                let Some((other, peer, passed)) = next else { return company };
                at = passed;
                let Some(known) = self.all.get(&peer).filter(|_| company.seats_free > 0) else {
                    return company;
                };
                let players = known.joiner.players.count();
                let is_near = other.abs_diff(rating) <= u64::from(known.skill.range);
                // Two tabs of one person are no match.
                if is_near
                    && players <= company.seats_free
                    && may_enter(known)
                    && people.insert(known.joiner.player)
                {
                    company.seats_free -= players;
                    company.others.push(peer);
                }
            }
        }
        Company { passed: Some(at), ..company }
    }

    fn count(&self, new: &NewRoom) -> u32 {
        let key = key_of(new);
        let pools = self.pools.range((key.clone(), 0)..=(key, u8::MAX));
        pools.map(|(_, pool)| pool.len() as u32).sum()
    }
}

impl Directory {
    /// Searches for players of one's skill. A player who may not create a room goes on searching,
    /// and may be found by others.
    pub(super) fn search(&mut self, now: Micros, find: &Find, skill: Skill) -> Result<Reply, Rejection> {
        let Find { joiner, link, new, may_create, .. } = find;
        let peer = joiner.peer;
        // Another player's search may have brought a reservation since the last one of this.
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
        let mut seeker = SearchTicket { joiner, link: *link, new, skill, until, passed };
        // Those who searched a moment ago may have a reservation, or too many, by now.
        let may_enter = |other: &SearchTicket| self.check_joiner(&other.joiner, other.link).is_ok();
        let may_create = *may_create && self.rooms.len() < self.rules.rooms_max;
        let company = may_create.then(|| self.matchmaking.company(&seeker, may_enter));
        seeker.passed = company.as_ref().map_or(passed, |company| company.passed);
        let is_enough =
            |company: &Company| !company.others.is_empty() && (company.seats_free == 0 || skill.patient);
        let Some(Company { others, .. }) = company.filter(is_enough) else {
            self.matchmaking.insert(seeker.clone());
            return Ok(Reply::Searching { waiting: self.matchmaking.count(&seeker.new) });
        };
        let SearchTicket { joiner, link, new, .. } = seeker;
        let reply = self.create(now, joiner, link, new)?;
        let Reply::Joined { room, .. } = &reply else { return Ok(reply) };
        let id = room.view.id;
        for peer in others {
            let Some(SearchTicket { joiner, link, .. }) = self.matchmaking.remove(peer) else { continue };
            if let Some(room) = self.rooms.get_mut(&id) {
                // There is a slot for each; a player who cannot have it goes on searching.
                let _ = room.enter(now, &self.rules, joiner, link);
                self.notices.push_back((link.node, Notice::Found { peer, session: link.session }));
            }
        }
        self.publish(now, id);
        self.joined_anew(id, peer, true, false)
    }

    /// A peer no longer searches. A reservation found meanwhile is given up, or kept for a peer that
    /// lost the connection.
    pub(super) fn stop_search(&mut self, now: Micros, stop: StopSearch) -> Reply {
        let StopSearch { peer, link, leave } = stop;
        if self.matchmaking.all.get(&peer).is_some_and(|seeker| seeker.link == link) {
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

/// Those beyond some who were passed, the nearest first, each with who is passed then.
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
    (key_of(new), new.seats)
}

fn key_of(new: &NewRoom) -> FindKey {
    FindKey::of(&new.game, &new.mode, &new.build)
}
