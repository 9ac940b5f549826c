//! State each peer still has to get: the authority sends to all peers, an orphan goes to its
//! successor, a deletion to peers that may know the object. Every part that changes a record calls
//! it. Absent: bandwidth, packets.

use crate::ablation::Rule;
use crate::authority::MembershipView;
use crate::peers::Peer;
use crate::session::work::Work;
use crate::store::{ObjectIndex, ObjectStore};
use crate::tombstones::Visit;

impl MembershipView<'_> {
    /// Whether an object still has to be sent to a peer.
    #[inline]
    pub(crate) fn wants(&self, objects: &ObjectStore, peer: &Peer, place: ObjectIndex) -> bool {
        // Most calls concern an object that changed in this tick, which hardly any peer has
        // received.
        let object = &objects[place];
        let of_this_tick = object.captured == self.cx.tick
            && object.record.as_ref().is_some_and(|record| {
                record.version.authority == self.members.me().id
                    && record.version.tick == self.cx.tick
                    && !record.gone
            });
        let out = &peer.out[place];
        if of_this_tick && peer.present().is_some() && out.matters() && !out.has_newest(self.cx.tick) {
            return true;
        }
        self.wants_on_reflection(objects, peer, place)
    }

    fn wants_on_reflection(&self, objects: &ObjectStore, peer: &Peer, place: ObjectIndex) -> bool {
        let out = &peer.out[place];
        let object = &objects[place];
        let (Some(record), Some(other)) = (object.record, peer.present()) else { return false };
        if self.members.is_spectator() {
            return false;
        }
        let mine = record.version.authority == self.members.me().id;
        let value_told = !mine || record.gone || (!object.dirty && out.has_value_since(object.captured));
        if out.has_record(object.stamp) && value_told {
            return false;
        }
        let relayed = object.orphan
            && self.cx.ablation.holds(Rule::OrphansAreRelayed)
            && (!record.gone || self.cx.ablation.holds(Rule::OrphanTombstonesAreRelayed))
            && self.successor(object.id, &record) == Some(other.id);
        if record.gone {
            (out.is_owed() || relayed) && self.cx.ablation.holds(Rule::TombstonesAreOwed)
        } else {
            (mine && out.matters()) || relayed || out.is_owed()
        }
    }

    /// Whether interest hides an object of this peer from another.
    pub(crate) fn hides(&self, objects: &ObjectStore, peer: &Peer, place: ObjectIndex) -> bool {
        let mine = objects[place].record.filter(|record| record.version.authority == self.members.me().id);
        mine.is_some_and(|record| !record.gone) && !peer.out[place].matters()
    }
}

impl Work<'_> {
    /// Puts an object on the list of a peer that still needs it.
    pub(crate) fn refresh_link(&mut self, link: usize, place: ObjectIndex) {
        if self.peers[link].out[place].is_closing()
            || self.view().wants(self.objects, &self.peers[link], place)
        {
            self.peers[link].out.make_due(place);
        }
    }

    /// As `refresh_link`, for all peers.
    pub(crate) fn refresh(&mut self, place: ObjectIndex) {
        let object = &self.objects[place];
        let Some(record) = object.record else { return };
        let mine = record.version.authority == self.members.me().id;
        if !mine && !object.orphan && object.owed == 0 {
            return;
        }
        for link in 0..self.peers.len() {
            self.refresh_link(link, place);
        }
    }

    /// Notes whether a peer must get the present record.
    pub(crate) fn set_owed(&mut self, link: usize, place: ObjectIndex, owed: bool) {
        if self.peers[link].out[place].set_owed(owed) {
            let count = &mut self.objects[place].owed;
            *count = if owed { *count + 1 } else { *count - 1 };
        }
    }

    /// An object was deleted: peers that may know it must get its tombstone.
    pub(crate) fn keep_tombstone(&mut self, place: ObjectIndex) {
        let Some(record) = self.objects[place].record else { return };
        let mine = record.version.authority == self.members.me().id;
        if !self.objects[place].tombstone_listed {
            self.objects[place].tombstone_listed = true;
            self.tombstones.push(place);
        }
        for link in 0..self.peers.len() {
            if mine || self.peers[link].out[place].was_introduced() {
                self.set_owed(link, place, true);
                self.refresh_link(link, place);
            }
        }
    }

    /// Stops sending an object to any peer.
    pub(crate) fn close_everywhere(&mut self, place: ObjectIndex) {
        for link in 0..self.peers.len() {
            self.close(link, place);
        }
    }

    /// Stops sending an object to a peer.
    pub(crate) fn close(&mut self, link: usize, place: ObjectIndex) {
        self.peers[link].out.close(place);
    }

    /// Frees the index of an object that no link mentions and that has no record.
    pub(crate) fn forget_unmentioned(&mut self, place: ObjectIndex) {
        let object = &self.objects[place];
        let tied = |link: &Peer| link.out[place].is_tied();
        if object.record.is_none() && object.mentions == 0 && !self.peers.iter().any(tied) {
            for link in self.peers.iter_mut() {
                link.out.forget(place);
            }
            let brought_by = self.objects[place].brought_by;
            if let Some(link) = self.peers.iter_mut().find(|link| Some(link.id) == brought_by) {
                link.inbound.note_forgotten();
            }
            self.objects.forget(place);
        }
    }

    /// The same as [`MembershipView::wants`], by index of the peer.
    #[inline]
    pub(crate) fn wants(&self, link: usize, place: ObjectIndex) -> bool {
        self.view().wants(self.objects, &self.peers[link], place)
    }

    /// The same as [`MembershipView::hides`], by index of the peer.
    pub(crate) fn hides(&self, link: usize, place: ObjectIndex) -> bool {
        self.view().hides(self.objects, &self.peers[link], place)
    }

    /// Makes a peer get every tombstone that is remembered.
    pub(crate) fn owe_tombstones(&mut self, link: usize) {
        for place in 0..self.objects.places() as ObjectIndex {
            if self.objects[place].record.is_some_and(|record| record.gone) {
                self.set_owed(link, place, true);
            }
        }
    }

    /// Resets what a peer got and still has to get; objects referenced only by it are forgotten.
    pub(crate) fn release(&mut self, link: usize) {
        for place in 0..self.peers[link].out.places() as ObjectIndex {
            self.set_owed(link, place, false);
        }
        for refused in self.peers[link].inbound.take_refused() {
            self.objects[refused.object].mentions -= 1;
            self.forget_unmentioned(refused.object);
        }
        self.peers[link].out.forget_all();
        for place in 0..self.objects.places() as ObjectIndex {
            let object = &self.objects[place];
            if object.record.is_none() && self.objects.find(object.id) == Some(place) {
                self.forget_unmentioned(place);
            }
        }
    }

    /// Whether a tombstone stays, which it does until it is old and every peer has it.
    pub(crate) fn visit(&self, place: ObjectIndex) -> Visit {
        let object = &self.objects[place];
        let is_old = self.cx.now.since(object.changed_at) >= self.cx.config.tombstone_ttl;
        let is_told = self.peers.iter().all(|peer| peer.out[place].handle().is_none());
        match object.record.is_some_and(|record| record.gone) {
            true if !is_old || !is_told || object.owed > 0 => Visit::Keep,
            true => Visit::Forget(object.id),
            false => Visit::Revived,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;
    use crate::tombstones::Visit;
    use crate::version::Record;

    #[test]
    fn own_object_is_wanted_by_every_peer() {
        let mut bench = Bench::new(AuthorityPolicy::Leader, 3);
        let place = bench.object(0, 1);
        let mut work = bench.work();
        assert!(work.wants(0, place) && work.wants(1, place));
        assert!(work.peers[1].out[place].set_matters(false));
        assert!(!work.wants(1, place) && work.hides(1, place) && !work.hides(0, place));
        work.refresh(place);
        assert_eq!((work.peers[0].out.due().len(), work.peers[1].out.due().len()), (1, 0));
    }

    #[test]
    fn object_of_present_authority_is_not_relayed() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 3);
        let place = bench.object(1, 1);
        let mut work = bench.work();
        assert!(!work.wants(0, place) && !work.wants(1, place));
        work.set_owed(1, place, true);
        work.set_owed(1, place, true);
        assert!(work.wants(1, place) && work.objects[place].owed == 1);
    }

    #[test]
    fn deletion_is_owed_to_peers_that_know_object() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 3);
        let (place, record) = (bench.object(1, 1), bench.record(1));
        bench.objects.set_record(place, Some(Record { gone: true, ..record }));
        bench.peers[1].out[place].note_told(1, 1);
        let mut work = bench.work();
        work.keep_tombstone(place);
        assert!(!work.wants(0, place) && work.wants(1, place));
        assert_eq!((work.tombstones.visits(), work.visit(place)), (1, Visit::Keep));
    }

    #[test]
    fn unmentioned_object_without_record_is_forgotten() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = bench.object(1, 1);
        let id = bench.objects[place].id;
        let mut work = bench.work();
        work.forget_unmentioned(place);
        assert!(work.objects.find(id).is_some(), "the replica has the object");
        work.objects.set_record(place, None);
        work.forget_unmentioned(place);
        assert!(work.objects.find(id).is_none());
    }
}
