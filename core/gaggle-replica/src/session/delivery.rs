//! What each link has to be told. The holder tells everybody; what has no rightful holder everybody
//! tells its heir; a deletion is told to whoever may know the object.

use super::Session;
use crate::ablation::Rule;
use crate::history::NEVER;
use crate::store::ObjectIndex;

impl Session {
    /// Whether this link has yet to be told about this object.
    #[inline]
    pub(super) fn wants(&self, link: usize, place: ObjectIndex) -> bool {
        // What changed in this tick is the rule, and hardly anybody can have been told.
        let object = &self.store[place];
        let of_this_tick = object.captured == self.tick
            && object.record.as_ref().is_some_and(|record| {
                record.version.authority == self.me.id && record.version.tick == self.tick && !record.gone
            });
        let state = &self.links[link];
        let out = &state.out[place as usize];
        if of_this_tick && state.present.is_some() && out.matters && out.newest != self.tick {
            return true;
        }
        self.wants_on_reflection(link, place)
    }

    fn wants_on_reflection(&self, link: usize, place: ObjectIndex) -> bool {
        let link = &self.links[link];
        let out = &link.out[place as usize];
        let object = &self.store[place];
        let (Some(record), Some(other)) = (object.record, link.present) else { return false };
        if self.spectator {
            return false;
        }
        let mine = record.version.authority == self.me.id;
        let value_told = !mine
            || record.gone
            || (!object.dirty
                && out.newest != NEVER
                && object.captured != NEVER
                && out.newest >= object.captured);
        if out.acked_stamp == object.stamp && value_told {
            return false;
        }
        let relayed = object.orphan
            && self.ablation.holds(Rule::StraysAreRelayed)
            && (!record.gone || self.ablation.holds(Rule::DeadStraysAreRelayed))
            && self.successor(object.id, &record) == Some(other.id);
        if record.gone {
            (out.owed || relayed) && self.ablation.holds(Rule::TombstonesAreOwed)
        } else {
            (mine && out.matters) || relayed || out.owed
        }
    }

    /// Whether an object of ours is kept from a link, because it does not matter there.
    pub(super) fn hides(&self, link: usize, place: ObjectIndex) -> bool {
        let mine = self.store[place].record.filter(|record| record.version.authority == self.me.id);
        mine.is_some_and(|record| !record.gone) && !self.links[link].out[place as usize].matters
    }

    /// Puts an object on the list of a link that has yet to be told about it.
    pub(super) fn refresh_link(&mut self, link: usize, place: ObjectIndex) {
        if self.links[link].out[place as usize].closing || self.wants(link, place) {
            self.links[link].make_due(place);
        }
    }

    /// The same for all links.
    pub(super) fn refresh(&mut self, place: ObjectIndex) {
        let object = &self.store[place];
        let Some(record) = object.record else { return };
        let mine = record.version.authority == self.me.id;
        if !mine && !object.orphan && object.owed == 0 {
            return;
        }
        for link in 0..self.links.len() {
            self.refresh_link(link, place);
        }
    }

    /// Notes whether a link is owed the world's record.
    pub(super) fn set_owed(&mut self, link: usize, place: ObjectIndex, owed: bool) {
        let out = &mut self.links[link].out[place as usize];
        if out.owed != owed {
            out.owed = owed;
            let count = &mut self.store[place].owed;
            *count = if owed { *count + 1 } else { *count - 1 };
        }
    }

    /// An object is gone: whoever may know it is owed that.
    pub(super) fn bury(&mut self, place: ObjectIndex) {
        let Some(record) = self.store[place].record else { return };
        let mine = record.version.authority == self.me.id;
        if !self.store[place].buried {
            self.store[place].buried = true;
            self.tombstones.push(place);
        }
        for link in 0..self.links.len() {
            if mine || self.links[link].out[place as usize].introduced {
                self.set_owed(link, place, true);
                self.refresh_link(link, place);
            }
        }
    }

    /// We do not tell about an object any more.
    pub(super) fn close_everywhere(&mut self, place: ObjectIndex) {
        for link in 0..self.links.len() {
            self.close(link, place);
        }
    }

    /// We do not tell a link about an object any more.
    pub(super) fn close(&mut self, link: usize, place: ObjectIndex) {
        let out = &mut self.links[link].out[place as usize];
        if out.handle.is_some() && !out.closing {
            out.closing = true;
            out.forget_acks();
            self.links[link].make_due(place);
        }
    }

    /// Forgets deletions that everybody knows and that are long past.
    pub(super) fn visit_graves(&mut self) {
        // A few at a time: nobody waits for it.
        for _ in 0..self.tombstones.len().min(16) {
            self.tombstone_cursor = (self.tombstone_cursor + 1) % self.tombstones.len().max(1);
            let Some(&place) = self.tombstones.get(self.tombstone_cursor) else { return };
            let object = &self.store[place];
            let gone = object.record.is_some_and(|record| record.gone);
            let old = self.now.since(object.changed_at) >= self.config.tombstone_ttl;
            let told = self.links.iter().all(|link| link.out[place as usize].handle.is_none());
            if gone && (!old || !told || object.owed > 0) {
                continue;
            }
            self.tombstones.swap_remove(self.tombstone_cursor);
            self.store[place].buried = false;
            if gone {
                self.tombstone_ranges.insert(self.store[place].id);
                self.forget_record(place);
            }
        }
    }

    /// The world has no record of an object any more.
    pub(super) fn forget_record(&mut self, place: ObjectIndex) {
        self.store.set_record(place, None);
        self.orphans.retain(|other| *other != place);
        self.locked.retain(|other| *other != place);
        self.dirty.retain(|other| *other != place);
        let object = &mut self.store[place];
        (object.orphan, object.inheriting, object.stray_listed, object.dirty) = (false, false, false, false);
        self.forget_unmentioned(place);
    }

    /// Gives up the place of an object nobody mentions and the world does not have.
    pub(super) fn forget_unmentioned(&mut self, place: ObjectIndex) {
        let object = &self.store[place];
        let tied = |link: &crate::link::Peer| {
            let out = &link.out[place as usize];
            out.handle.is_some() || out.owed || out.listed || out.phase != crate::link::Phase::Idle
        };
        if object.record.is_none() && object.mentions == 0 && !self.links.iter().any(tied) {
            for link in &mut self.links {
                link.out[place as usize] = Default::default();
            }
            let brought_by = self.store[place].brought_by;
            if let Some(link) = self.links.iter_mut().find(|link| Some(link.peer) == brought_by) {
                link.brought = link.brought.saturating_sub(1);
            }
            self.store.forget(place);
        }
    }
}
