//! People who look for others of their skill, until enough of them are found for a room.
//!
//! A player who looks asks again every few seconds with a range that has widened meanwhile, and is forgotten otherwise.
//! A match is made when one of them asks; the nodes of the others are told, and ask at once. They lie in order of their
//! rating, so that a question costs as much as the players near it, however many look.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId};

use super::index::FindKey;
use super::{Directory, Notice, Reply};
use crate::json::record;
use crate::room::{Attachment, JoinRequest, NewRoom, Room, RoomAction};

/// Who has not asked again after this time does not look any more.
const FORGOTTEN_AFTER: Micros = Micros::from_secs(15);
/// Players that are looked at for one question, the nearest first. Several tabs of one person count each.
const EXAMINED_MAX: usize = 256;

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
        newcomer: JoinRequest,
        /// On which connection.
        link: Attachment,
        /// What room would be made for them.
        new: NewRoom,
        /// Whom they look for.
        skill: Skill,
        /// When they are forgotten.
        until: Micros,
    }
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
        let peer = seeker.newcomer.peer;
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

    /// Those who fill the seats beside a player, the nearest in skill first: of several at one machine all or none. With
    /// how many seats are left.
    fn candidates(
        &self,
        seeker: &SearchTicket,
        may_enter: impl Fn(&SearchTicket) -> bool,
    ) -> (Vec<PeerId>, u8) {
        let Skill { rating, range, .. } = seeker.skill;
        let mut free = seeker.new.seats.saturating_sub(seeker.newcomer.players.count());
        let (mut others, mut people) = (Vec::new(), BTreeSet::from([seeker.newcomer.player]));
        let Some(pool) = self.pools.get(&pool_of(&seeker.new)) else { return (others, free) };
        let middle = (rating, PeerId::from_bytes([0; 16]));
        let mut below = pool.range(..middle).rev().peekable();
        let mut above = pool.range(middle..).peekable();
        for _ in 0..EXAMINED_MAX {
            let distance = |entry: Option<&&(i64, PeerId)>| entry.map(|(other, _)| other.abs_diff(rating));
            let is_below_nearer = match (distance(below.peek()), distance(above.peek())) {
                (Some(below), Some(above)) => below < above,
                (below, _) => below.is_some(),
            };
            let next = if is_below_nearer { below.next() } else { above.next() };
            let Some((other, peer)) = next.filter(|(other, _)| other.abs_diff(rating) <= u64::from(range))
            else {
                break;
            };
            let Some(known) = self.all.get(peer).filter(|_| free > 0) else { break };
            let players = known.newcomer.players.count();
            let is_near = other.abs_diff(rating) <= u64::from(known.skill.range);
            // Two tabs of one person are no match.
            if is_near && players <= free && may_enter(known) && people.insert(known.newcomer.player) {
                free -= players;
                others.push(*peer);
            }
        }
        (others, free)
    }

    fn count(&self, new: &NewRoom) -> u32 {
        let key = key_of(new);
        let pools = self.pools.range((key.clone(), 0)..=(key, u8::MAX));
        pools.map(|(_, pool)| pool.len() as u32).sum()
    }
}

impl Directory {
    /// Looks for people of one's skill. Who may not make a room goes on looking, and may be found by others.
    pub(super) fn search(
        &mut self,
        now: Micros,
        newcomer: JoinRequest,
        link: Attachment,
        new: NewRoom,
        may_create: bool,
        skill: Skill,
    ) -> Reply {
        // Somebody else's question may have brought a seat since the last one of this.
        if let Some(id) = self.index.room_of(newcomer.peer) {
            let seat = self.rooms.get(&id).and_then(|room| room.reservation_of(newcomer.peer));
            if seat.is_some_and(|seat| seat.link == Some(link)) {
                return self.seated_anew(id, newcomer.peer, false, false);
            }
        }
        if let Err(refusal) = self.check_newcomer(&newcomer, link) {
            // Whoever hears this looks no more.
            self.matchmaking.remove(newcomer.peer);
            return Reply::Rejected(refusal);
        }
        self.matchmaking.expire(now);
        self.matchmaking.remove(newcomer.peer);
        let seeker = SearchTicket { newcomer, link, new, skill, until: now + FORGOTTEN_AFTER };
        // Those who looked a moment ago may have a seat, or too many, by now.
        let may_enter = |other: &SearchTicket| self.check_newcomer(&other.newcomer, other.link).is_ok();
        let may_create = may_create && self.rooms.len() < self.rules.rooms_max;
        let others = may_create.then(|| self.matchmaking.candidates(&seeker, may_enter));
        let is_enough =
            |(others, free): &(Vec<PeerId>, u8)| !others.is_empty() && (*free == 0 || skill.patient);
        let Some((others, _)) = others.filter(is_enough) else {
            self.matchmaking.insert(seeker.clone());
            return Reply::Searching { waiting: self.matchmaking.count(&seeker.new) };
        };
        let SearchTicket { newcomer, link, new, .. } = seeker;
        let founder = newcomer.peer;
        let reply = self.create(now, newcomer, link, new);
        let Reply::Joined { room, .. } = &reply else { return reply };
        let id = room.view.id;
        for peer in others {
            let Some(SearchTicket { newcomer, link, .. }) = self.matchmaking.remove(peer) else { continue };
            if let Some(room) = self.rooms.get_mut(&id) {
                // There is a seat for each; a player who cannot have it goes on looking.
                let _ = room.enter(now, &self.rules, newcomer, link);
                self.notices.push_back((link.node, Notice::Found { peer, session: link.session }));
            }
        }
        self.publish(now, id);
        self.seated_anew(id, founder, true, false)
    }

    /// Somebody looks no more. If a seat was found meanwhile it is given up, or kept for who lost the connection.
    pub(super) fn stop_search(&mut self, now: Micros, peer: PeerId, link: Attachment, leave: bool) -> Reply {
        if self.matchmaking.all.get(&peer).is_some_and(|seeker| seeker.link == link) {
            self.matchmaking.remove(peer);
        }
        let Some(id) = self.index.room_of(peer) else { return Reply::Accepted };
        let has_seat = |room: &Room| room.reservation_of(peer).is_some_and(|seat| seat.link == Some(link));
        if !self.rooms.get(&id).is_some_and(has_seat) {
            return Reply::Accepted;
        }
        if leave {
            let _ = self.act(now, id, peer, link, RoomAction::Leave);
            return Reply::Accepted;
        }
        self.detach(now, id, peer, link, 1, None, Vec::new())
    }
}

fn pool_of(new: &NewRoom) -> (FindKey, u8) {
    (key_of(new), new.seats)
}

fn key_of(new: &NewRoom) -> FindKey {
    FindKey::of(&new.game, &new.mode, &new.build)
}
