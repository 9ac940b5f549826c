//! Objects whose authority is in question: orphans, locked ones, premature claims. The session asks
//! it at every record, tick and roster change. Absent: packets, budgets.

mod claims;
mod provenance;
mod resolve;
mod view;

use gaggle_kit::{Micros, PeerId};

use crate::ablation::Rule;
use crate::event::SessionEvent;
use crate::session::work::Work;
use crate::store::ObjectIndex;
use crate::tombstones::Visit;
use crate::version::Record;
use crate::{MemberId, ObjectId};

pub(crate) use provenance::{Claim, Resolution};
pub(crate) use view::MembershipView;

/// Objects that need a decision later.
#[derive(Debug, Default)]
pub(crate) struct Authority {
    /// Objects without a valid authority.
    orphans: Vec<ObjectIndex>,
    /// Objects this peer locked.
    locked: Vec<ObjectIndex>,
    /// Records that claim more than can have happened yet: peer and handle.
    premature: Vec<(PeerId, u16)>,
    premature_at: Micros,
    /// Objects whose creator had no authority, as far as known, with their first record and its
    /// time.
    unauthorized: Vec<(ObjectId, Record, Micros)>,
}

impl Authority {
    /// Notes an object whose creator had no authority. It is not deleted at once: another peer may
    /// know that the creator had authority.
    fn note_unauthorized(&mut self, work: &mut Work<'_>, place: ObjectIndex, record: Record) {
        let object = &mut work.objects[place];
        if !std::mem::replace(&mut object.claims.unauthorized, true) {
            self.unauthorized.push((object.id, record, work.cx.now));
        }
    }

    /// Deletes objects whose creator had no authority, so that peers that accepted them delete
    /// them, too.
    pub(crate) fn despawn_unauthorized(&mut self, work: &mut Work<'_>) {
        let mut index = 0;
        while let Some(&(id, record, since)) = self.unauthorized.get(index) {
            if work.cx.now.since(since) < work.cx.config.succession_delay
                || !work.cx.ablation.holds(Rule::UnauthorizedAreDespawned)
            {
                index += 1;
                continue;
            }
            let place = work.objects.find(id);
            if let Some(place) = place.filter(|&place| work.objects[place].record.is_some()) {
                // A member with a right to the object has sent it since: then other peers' records
                // count, too.
                self.unauthorized.swap_remove(index);
                work.objects[place].claims.unauthorized = false;
                self.resolve_object(work, place);
                continue;
            }
            if let Some(place) = place {
                let gone = Record { held: false, owner_claim: None, gone: true, ..record };
                work.objects.set_record(place, Some(gone));
                if !self.delete(work, place) {
                    // The new claim would exceed all possible counts: it is not made yet.
                    work.objects.set_record(place, None);
                    index += 1;
                    continue;
                }
                work.objects[place].claims.unauthorized = false;
                work.cx.stats.unauthorized_despawned += 1;
            }
            self.unauthorized.swap_remove(index);
        }
    }

    /// A member without a right to an object of this peer reports it as another's.
    fn contradict(&mut self, work: &mut Work<'_>, place: ObjectIndex) {
        if !work.cx.ablation.holds(Rule::ForgedAuthorityIsContradicted) {
            return;
        }
        if let Some(record) = work.objects[place].record {
            self.raise_claim(work, place, record.held, record.owner_claim);
        }
    }

    /// Deletes the objects of a peer that introduced more than allowed and lost its link, as far as
    /// they are still under its authority.
    pub(crate) fn despawn_flood(&mut self, work: &mut Work<'_>, peer: PeerId, member: MemberId) {
        for place in 0..work.objects.places() as ObjectIndex {
            let object = &work.objects[place];
            let theirs = |record: &Record| !record.gone && record.version.authority == member;
            let Some(record) = object.record.filter(theirs) else { continue };
            let id = object.id;
            if object.brought_by == Some(peer)
                && work.view().may_hold(id, &record)
                && self.delete(work, place)
            {
                work.cx.stats.unauthorized_despawned += 1;
                work.cx.emit(SessionEvent::Despawned { id });
            }
        }
    }

    /// The leader reports that an object was deleted long ago.
    pub(crate) fn handle_forgotten(&mut self, work: &mut Work<'_>, link: usize, id: ObjectId) {
        let sender = work.peers[link].present();
        let from_leader = sender.is_some() && sender == work.members.roster().leader();
        let Some(place) = work.objects.find(id).filter(|_| from_leader) else { return };
        let Some(record) = work.objects[place].record else { return };
        let mine = record.version.authority == work.members.me().id && work.view().may_hold(id, &record);
        if !record.gone {
            work.cx.emit(SessionEvent::Despawned { id });
            if mine && self.delete(work, place) {
                // Peers that got it from this one have to get its deletion from this one.
                return;
            }
        } else if work.objects[place].owed > 0 {
            return;
        }
        work.tombstones.forget(id);
        work.close_everywhere(place);
        for link in 0..work.peers.len() {
            work.set_owed(link, place, false);
        }
        self.forget_record(work, place);
    }

    /// A peer received a record in this peer's name: this peer sends its own.
    pub(crate) fn handle_ask(work: &mut Work<'_>, link: usize, id: ObjectId) {
        let is_present = work.peers[link].present().is_some();
        let Some(place) = work.objects.find(id).filter(|_| is_present) else { return };
        // Only a record of this peer's authority, and of interest to that peer.
        let mine = |record: Record| record.version.authority == work.members.me().id;
        if work.objects[place].record.is_some_and(mine) && !work.hides(link, place) {
            work.peers[link].out[place].forget_acks();
            work.set_owed(link, place, true);
            work.refresh_link(link, place);
        }
    }

    /// Visits a few tombstones and forgets those that are old and acknowledged.
    fn visit_tombstones(&mut self, work: &mut Work<'_>) {
        for _ in 0..work.tombstones.visits() {
            let Some(place) = work.tombstones.next() else { return };
            let visit = work.visit(place);
            work.tombstones.settle(visit);
            if visit != Visit::Keep {
                work.objects[place].tombstone_listed = false;
            }
            if matches!(visit, Visit::Forget(_)) {
                self.forget_record(work, place);
            }
        }
    }

    /// An object has no record any more.
    pub(crate) fn forget_record(&mut self, work: &mut Work<'_>, place: ObjectIndex) {
        work.objects.set_record(place, None);
        self.orphans.retain(|other| *other != place);
        self.locked.retain(|other| *other != place);
        work.objects.unlist(place);
        work.forget_unmentioned(place);
    }

    /// Objects this peer is about to take as their successor.
    #[cfg(test)]
    pub(crate) fn succeeding<'a>(
        &'a self,
        objects: &'a crate::store::ObjectStore,
    ) -> impl Iterator<Item = ObjectIndex> + 'a {
        self.orphans.iter().copied().filter(|&place| objects[place].inheriting)
    }
}
