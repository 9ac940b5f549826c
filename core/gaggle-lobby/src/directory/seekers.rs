//! People who look for others of their skill, until enough of them are found for a room.
//!
//! Whoever looks asks again every second with a range that has widened meanwhile, and is forgotten when it does
//! not. A match is made when somebody asks; the others of it hear of their seat when they ask next.

#![allow(unreachable_pub, reason = "records declare themselves public")]

use std::collections::{BTreeMap, BTreeSet};

use gaggle_kit::{Micros, PeerId};

use super::index::FindKey;
use super::{Directory, Reply};
use crate::id::PlayerId;
use crate::json::record;
use crate::room::{Act, Link, NewRoom, Newcomer, Room};

/// Who has not asked again after this time does not look any more.
const FORGOTTEN_AFTER: Micros = Micros::from_secs(4);

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
    pub struct Seeker {
        /// Who.
        newcomer: Newcomer,
        /// On which connection.
        link: Link,
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
pub(super) struct Seekers(pub(super) BTreeMap<PeerId, Seeker>);

impl Seekers {
    /// Those a match can be made of, the nearest in skill first.
    fn candidates(&self, seeker: &Seeker, may_enter: impl Fn(&Seeker) -> bool) -> Vec<PeerId> {
        let key = key_of(&seeker.new);
        let Skill { rating, range, .. } = seeker.skill;
        let distance = |other: &Seeker| other.skill.rating.abs_diff(rating);
        let mut others: Vec<(u64, PlayerId, PeerId)> = self
            .0
            .values()
            .filter(|other| key_of(&other.new) == key && other.new.seats == seeker.new.seats)
            .filter(|other| distance(other) <= u64::from(range.min(other.skill.range)))
            // Two tabs of one person are no match.
            .filter(|other| other.newcomer.player != seeker.newcomer.player && may_enter(other))
            .map(|other| (distance(other), other.newcomer.player, other.newcomer.peer))
            .collect();
        others.sort_unstable();
        let mut people = BTreeSet::new();
        others.retain(|(_, player, _)| people.insert(*player));
        others.into_iter().map(|(.., peer)| peer).collect()
    }

    fn count(&self, new: &NewRoom) -> u32 {
        let key = key_of(new);
        self.0.values().filter(|other| key_of(&other.new) == key).count() as u32
    }
}

impl Directory {
    /// Looks for people of one's skill. Who may not make a room goes on looking, and may be found by others.
    pub(super) fn search(
        &mut self,
        now: Micros,
        newcomer: Newcomer,
        link: Link,
        new: NewRoom,
        may_create: bool,
        skill: Skill,
    ) -> Reply {
        // Somebody else's question may have brought a seat since the last one of this.
        if let Some(id) = self.index.room_of(newcomer.peer) {
            let seat = self.rooms.get(&id).and_then(|room| room.seat_of(newcomer.peer));
            if seat.is_some_and(|seat| seat.link == Some(link)) {
                return self.seated_anew(id, newcomer.peer, false, false);
            }
        }
        if let Err(refusal) = self.check_newcomer(&newcomer, link) {
            // Whoever hears this looks no more.
            self.seekers.0.remove(&newcomer.peer);
            return Reply::Refused(refusal);
        }
        self.seekers.0.retain(|_, seeker| seeker.until > now);
        let seeker = Seeker { newcomer, link, new, skill, until: now + FORGOTTEN_AFTER };
        // Those who looked a moment ago may have a seat, or too many, by now.
        let may_enter = |other: &Seeker| self.check_newcomer(&other.newcomer, other.link).is_ok();
        let mut others = self.seekers.candidates(&seeker, may_enter);
        let mut seats = seeker.new.seats.saturating_sub(seeker.newcomer.players.count());
        // Those who find seats together: of several at one machine all or none.
        others.retain(|peer| {
            let left =
                self.seekers.0.get(peer).and_then(|other| seats.checked_sub(other.newcomer.players.count()));
            seats = left.unwrap_or(seats);
            left.is_some()
        });
        let is_enough = !others.is_empty() && (seats == 0 || skill.patient);
        if !is_enough || !may_create || self.rooms.len() >= self.rules.rooms_max {
            let waiting = self.seekers.count(&seeker.new)
                + u32::from(!self.seekers.0.contains_key(&seeker.newcomer.peer));
            self.seekers.0.insert(seeker.newcomer.peer, seeker);
            return Reply::Searching { waiting };
        }
        self.seekers.0.remove(&seeker.newcomer.peer);
        let Seeker { newcomer, link, new, .. } = seeker;
        let founder = newcomer.peer;
        let reply = self.create(now, newcomer, link, new);
        let Reply::Seated { room, .. } = &reply else { return reply };
        let id = room.view.id;
        for peer in others {
            let Some(Seeker { newcomer, link, .. }) = self.seekers.0.remove(&peer) else { continue };
            if let Some(room) = self.rooms.get_mut(&id) {
                // There is a seat for each; whoever cannot have it goes on looking.
                let _ = room.enter(now, &self.rules, newcomer, link);
            }
        }
        self.publish(id);
        self.seated_anew(id, founder, true, false)
    }

    /// Somebody looks no more. If a seat was found meanwhile it is given up, or kept for who lost the connection.
    pub(super) fn stop_search(&mut self, now: Micros, peer: PeerId, link: Link, leave: bool) -> Reply {
        if self.seekers.0.get(&peer).is_some_and(|seeker| seeker.link == link) {
            self.seekers.0.remove(&peer);
        }
        let Some(id) = self.index.room_of(peer) else { return Reply::Noted };
        let has_seat = |room: &Room| room.seat_of(peer).is_some_and(|seat| seat.link == Some(link));
        if !self.rooms.get(&id).is_some_and(has_seat) {
            return Reply::Noted;
        }
        if leave {
            let _ = self.act(now, id, peer, link, Act::Leave);
            return Reply::Noted;
        }
        self.detach(now, id, peer, link, 1, None, Vec::new())
    }
}

fn key_of(new: &NewRoom) -> FindKey {
    FindKey::of(&new.game, &new.mode, &new.build)
}
