//! Who is senior to whom. A member has its number from whoever let it in, but says itself what it
//! is: so nobody who is known to have come after us, from a lobby or because it was somebody else
//! before, is believed to have been here before us, or before others we have known for a while.
//! Whoever is not believed is told so; the honest then come in again, as somebody new, with all
//! they have.

use gaggle_kit::{Micros, PeerId};

use super::{Met, Session};
use crate::event::{PeerFault, SessionEvent};
use crate::link::Peer;
use crate::message::{Hello, NUMBER_NONE};
use crate::{MemberId, MemberTag};

/// Members we remember to have met, and peers who came after us.
const MET_MAX: usize = 1_024;
/// Those who come at about the same time through different members may have numbers in any order.
/// After so many times as long as one waits for news of what was left, everybody knows whom anybody
/// knows.
const SETTLED_AFTER: u64 = 3;
/// So often one may say that it is whom it cannot be: the same hello may have been on its way
/// twice.
const DOUBTS_MAX: u32 = 4;
/// So often one peer may make us come in again: every time costs all others a look at everything.
const RENUMBERED_MAX: usize = 3;

/// By more the age of a session is corrected at once.
const AGE_ERROR_MAX: Micros = Micros::from_millis(250);
/// Otherwise by this part of the error a tick.
const AGE_SLOWLY: i64 = 16;
/// And back by so much a tick at most, in µs: less than a frame takes, so that it never goes back.
const AGE_BACK_US: i64 = 2_000;

impl Session {
    /// Says that a peer came after this machine became a member, if the caller knows, for instance
    /// from a lobby. It is believed to be junior to everybody here, whatever it says. Not any more
    /// once this machine had to come in again: it may itself be junior to whoever came after its
    /// machine.
    pub fn vouch_newcomer(&mut self, peer: PeerId) {
        if self.is_member() && self.stats.rejoins == 0 {
            self.note_newcomer(peer);
        }
    }

    /// Whether a peer is known to have come after this machine became a member.
    pub fn came_later(&self, peer: PeerId) -> bool {
        self.joiners.contains(&peer)
    }

    fn note_newcomer(&mut self, peer: PeerId) {
        if self.came_later(peer) {
            return;
        }
        if self.joiners.len() == MET_MAX {
            self.joiners.pop_front();
        }
        self.joiners.push_back(peer);
    }

    /// Learns from what a peer says about itself whether it came after us. That it says it is new
    /// proves nothing: it may have said so long before we hear it, and then both would take the
    /// other for the later one.
    pub(super) fn regard(&mut self, index: usize, hello: &Hello) {
        let peer = self.links[index].peer;
        // What it said before it can have known us may be older than we are: both would take the
        // other for the later one.
        let was_another = self
            .known_members
            .iter()
            .any(|met| met.answered_us && met.at == Some(peer) && met.member != hello.member);
        if self.is_member() && !hello.spectator && was_another {
            self.note_newcomer(peer);
        }
        if hello.member.join_order == NUMBER_NONE || self.came_later(peer) {
            return;
        }
        // The most senior says how old the session is.
        if self.age_by.is_none_or(|by| hello.member <= by) {
            let then = i64::from(hello.age_ms) * 1_000;
            let half = self.links[index].rtt.map_or(0, |rtt| rtt.get() / 2) as i64;
            if self.age_by != Some(hello.member) {
                self.age_at_start = then + half - self.ticked_for();
            }
            self.age_by = Some(hello.member);
            self.age_there = Some(then - i64::from(hello.tick) * self.config.send_interval.get() as i64);
        }
        if hello.highest <= self.claims_max() {
            self.highest = self.highest.max(hello.highest);
        }
    }

    /// How old the session was when this tick began: together with the tick it says how old it was
    /// when our ticks began to count, however late it arrives.
    pub(super) fn age_at_tick_ms(&self) -> u32 {
        let age = self.age_at_start + i64::from(self.tick) * self.config.send_interval.get() as i64;
        u32::try_from(age.max(0) / 1_000).unwrap_or(u32::MAX)
    }

    /// Compares our age of the session with that of the member who says it, as far as its packets
    /// tell the time there.
    pub(super) fn correct_age(&mut self) {
        let (Some(by), Some(age_there)) = (self.age_by, self.age_there) else { return };
        let is_theirs = |link: &&Peer| link.present.is_some_and(|present| present.id == by);
        let Some(link) = self.links.iter().find(is_theirs) else { return };
        let (Some(there), Some(rtt)) = (link.clock.now(self.now), link.rtt) else { return };
        let age = age_there + there + rtt.get() as i64 / 2;
        let error = age - self.ticked_for() - self.age_at_start;
        let leaps = error.unsigned_abs() > AGE_ERROR_MAX.get();
        self.age_at_start += if leaps { error } else { (error / AGE_SLOWLY).max(-AGE_BACK_US) };
    }

    /// Whether a member may be who it says.
    pub(super) fn is_believable(&self, index: usize, member: MemberId) -> bool {
        let link = &self.links[index];
        let known = self.known_members.iter().any(|met| met.member == member && met.at == Some(link.peer));
        if known || !self.is_member() {
            return true;
        }
        // There are never more members than there can be claims.
        if member.join_order > self.claims_max() || !self.came_later(link.peer) {
            return member.join_order <= self.claims_max();
        }
        let lead = self.roster.leader().map(|lead| lead.id);
        let settled = Micros::new(self.config.succession_delay.get() * SETTLED_AFTER);
        let counts =
            |other: MemberId, since: Micros| Some(other) == lead || link.greeted_at.since(since) >= settled;
        let is_behind = |other: MemberId, since: Micros| member > other || !counts(other, since);
        let welcomed =
            |link: &Peer| link.present.filter(|_| !link.spectator).map(|p| (p.id, link.welcomed_at));
        is_behind(self.me.id, self.admitted_at)
            && self.links.iter().filter_map(welcomed).all(|(other, since)| is_behind(other, since))
    }

    /// A peer says it is a member it cannot be.
    pub(super) fn doubt(&mut self, index: usize) {
        let link = &mut self.links[index];
        link.doubts += 1;
        if link.doubts > DOUBTS_MAX {
            let peer = link.peer;
            return self.fault(peer, PeerFault::FalseJoinOrder);
        }
        self.greet_with(index, true);
    }

    /// Whether this machine is to do as a peer says who does not know it under its number.
    pub(super) fn is_doubted_by(&self, index: usize, hello: &Hello) -> bool {
        let link = &self.links[index];
        hello.unknown
            && self.is_member()
            && hello.echo == link.epoch
            && hello.member.join_order != NUMBER_NONE
            && !self.came_later(link.peer)
            && self.doubted_by.iter().filter(|by| **by == link.peer).count() < RENUMBERED_MAX
    }

    /// Comes in again, as somebody new, let in by the peer that did not know us. What we held is
    /// left to whoever is its heir.
    pub(super) fn stand_down(&mut self, peer: PeerId, highest: u32) {
        for index in 0..self.dirty.len() {
            // What nobody was told yet is no part of what we said in this tick.
            let place = self.dirty[index];
            let (tick, me) = (self.tick + 1, self.me.id);
            if let Some(record) = self.store[place].record.filter(|record| record.version.authority == me) {
                let version = crate::version::Version { tick, ..record.version };
                self.store.set_record(place, Some(crate::version::Record { version, ..record }));
            }
        }
        for asked in std::mem::take(&mut self.signals.asked) {
            let signal = self.kinds.signals()[usize::from(asked.kind)].name;
            self.events.push(SessionEvent::EventRejected { event: signal });
        }
        self.roster.remove(self.me.id);
        self.me.id = MemberId { join_order: NUMBER_NONE, tag: MemberTag(self.random.next_u32() | 1) };
        self.joiners.clear();
        self.known_members.iter_mut().for_each(|met| (met.at, met.answered_us) = (None, false));
        self.age_by = None;
        self.highest = highest;
        self.renumbered_by = Some(peer);
        self.doubted_by.push(peer);
        self.stats.rejoins += 1;
        let peers: Vec<PeerId> = self.links.iter().map(|link| link.peer).collect();
        for peer in peers {
            self.renew_link(peer);
        }
        self.roster_changed();
    }

    /// Whether a member lets us in: whoever said that it does not know us, while there is a link to
    /// it, else anybody.
    pub(super) fn is_let_in_by(&self, peer: PeerId) -> bool {
        let sponsor = self.renumbered_by.filter(|sponsor| self.link_of(*sponsor).is_some());
        sponsor.is_none_or(|sponsor| sponsor == peer)
    }

    /// Notes a member we have met, which said who it is in answer to us, or before. Whether it is
    /// the first time.
    pub(super) fn note_met(&mut self, member: MemberId, peer: PeerId, in_answer: bool) -> bool {
        let before = self.known_members.iter().position(|met| met.member.tag == member.tag);
        let known = before.and_then(|index| self.known_members.remove(index));
        if self.known_members.len() == MET_MAX {
            self.known_members.pop_front();
        }
        let answered_us = in_answer || known.is_some_and(|met| met.answered_us);
        self.known_members.push_back(Met { member, at: self.is_member().then_some(peer), answered_us });
        known.is_none()
    }

    /// Whether somebody else goes, or went, by this name.
    pub(super) fn is_name_of_another(&self, tag: MemberTag, peer: PeerId) -> bool {
        let is_taken =
            |link: &Peer| link.peer != peer && link.present.is_some_and(|other| other.id.tag == tag);
        let was_taken = |met: &Met| met.member.tag == tag && met.at.is_some_and(|at| at != peer);
        self.me.id.tag == tag || self.links.iter().any(is_taken) || self.known_members.iter().any(was_taken)
    }
}
