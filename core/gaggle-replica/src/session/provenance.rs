//! Whether the holder of a record ever had a right to it, by what this machine knows. What nobody
//! rightful made is not taken into the world and deleted by whoever would be its heir; whoever says
//! that somebody else holds what is rightfully held is contradicted.

use gaggle_kit::{Micros, PeerId};

use super::{Parted, Session};
use crate::ablation::Rule;
use crate::event::SessionEvent;
use crate::policy::ObjectInfo;
use crate::roster::RosterMember;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{MemberId, ObjectId};

/// For so long after somebody left it is believed that it made what only others know of. They
/// notice later than we, by seconds; whoever lies in the name of the one who left can do so in this
/// time.
const BEREAVED: Micros = Micros::from_secs(10);

/// So many objects in the name of somebody who left are believed of everybody who passes them on,
/// besides those it had said it would tell of and had not: what it made in its last seconds, which
/// others heard and we did not.
const LEGACIES_MAX: u32 = 256;

/// What a record is to this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Standing {
    /// It may be taken into the world, if it is above what is there.
    Permitted,
    /// Its holder has no right to it, and it is not ours to take.
    Refused,
    /// It would be ours to take, but nobody rightful made it.
    Disowned,
    /// We hold the object rightfully, and somebody who may not says that another does.
    Usurper,
    /// Who made the object says what it is, and somebody else said otherwise before: that one had
    /// only taken its name.
    Correction,
}

impl Session {
    /// What a record is to this machine, said by `sender` over a link.
    pub(super) fn provenance(
        &self,
        link: usize,
        sender: RosterMember,
        place: ObjectIndex,
        record: &Record,
    ) -> Standing {
        let policy = &self.config.authority;
        if policy.is_open() {
            return Standing::Permitted;
        }
        let object = &self.store[place];
        let id = object.id;
        let rightful = self.is_rightful(id, record);
        if let Some(world) = object.record {
            // By its constants an object is somebody's: whoever says they are others must have a
            // right to the object it is.
            let same = (world.kind, world.home) == (record.kind, record.home);
            let as_it_is = Record { kind: world.kind, home: world.home, ..*record };
            let may_change = rightful && self.is_rightful(id, &as_it_is);
            if !same && !may_change {
                let maker_says =
                    sender.id.tag == id.creator() && record.version.authority == sender.id && rightful;
                return match maker_says && !object.by_maker {
                    true => Standing::Correction,
                    false => Standing::Refused,
                };
            }
        }
        if rightful {
            return Standing::Permitted;
        }
        let inherits = self.successor(id, record) == Some(self.me.id);
        let is_ours_to_know = inherits || !self.roster.contains(record.version.authority);
        match object.record {
            Some(world) if self.is_usurped(id, sender, &world, record) => {
                match (world.version.authority == self.me.id, inherits) {
                    (true, _) => Standing::Usurper,
                    (false, true) => Standing::Permitted,
                    (false, false) => Standing::Refused,
                }
            }
            None if inherits && !record.gone => {
                match !self.config.despawn_unauthorized || self.is_credible(id, link, sender, record) {
                    true => Standing::Permitted,
                    false => Standing::Disowned,
                }
            }
            // What has no rightful holder is told its heir; nobody else has to hear of it first.
            None if !record.gone => Standing::Refused,
            _ if is_ours_to_know && self.is_borne_out(id, sender, object.record, record) => {
                Standing::Permitted
            }
            _ => Standing::Refused,
        }
    }

    /// Whether this machine would have made the object, and did not.
    pub(super) fn is_unmade(&self, id: ObjectId) -> bool {
        id.creator() == self.me.id.tag && id.counter() > self.objects_made
    }

    /// Whether a record would take an object from its rightful holder, by the word of somebody who
    /// may not hold it.
    fn is_usurped(&self, id: ObjectId, sender: RosterMember, world: &Record, record: &Record) -> bool {
        self.is_rightful(id, world)
            && self.is_above(id, record, world)
            && !self.config.authority.may_hold(sender, &ObjectInfo::of(id, world), &self.roster)
    }

    /// Somebody who left lately and had a right to an object until then.
    fn late_holder(&self, id: ObjectId, record: &Record) -> Option<&Parted> {
        let facts = ObjectInfo::of(id, record);
        self.departed.iter().find(|one| {
            one.present.id == record.version.authority
                && self.now.since(one.at) < BEREAVED
                && self.config.authority.may_hold(one.present, &facts, &self.roster.with(one.present))
        })
    }

    /// Whether somebody who is not here may have said what is said in its name of an object we
    /// know: it held it before, or had a right to it until it left. Whoever may hold the object
    /// itself need not borrow a name.
    fn is_borne_out(
        &self,
        id: ObjectId,
        sender: RosterMember,
        world: Option<Record>,
        record: &Record,
    ) -> bool {
        let holder = record.version.authority;
        let Some(world) = world.filter(|_| self.ablation.holds(Rule::NamesAreBorneOut)) else { return true };
        self.roster.contains(holder)
            || holder == world.version.authority
            || self.config.authority.may_hold(sender, &ObjectInfo::of(id, &world), &self.roster)
            || self.late_holder(id, record).is_some()
    }

    /// Whether the holder of an object that we hear of for the first time may have had a right to
    /// it.
    fn is_credible(&self, id: ObjectId, link: usize, sender: RosterMember, record: &Record) -> bool {
        let (policy, facts) = (&self.config.authority, ObjectInfo::of(id, record));
        let holder = record.version.authority;
        if let Some(late) = self.late_holder(id, record) {
            return self.links[link].legacies < late.unheard.saturating_add(LEGACIES_MAX);
        }
        // What was kept for us while we were away: the lead knows, or whoever may hold it without
        // us.
        let before_us =
            |holder: RosterMember| policy.may_hold(holder, &facts, &self.roster.without(self.me.id));
        !self.is_leader()
            && (self.roster.leader() == Some(sender) || self.roster.of_member(holder).is_some_and(before_us))
    }

    /// Notes what nobody rightful made. It is not deleted at once: somebody may know better.
    pub(super) fn disown(&mut self, place: ObjectIndex, record: Record) {
        let object = &mut self.store[place];
        if !std::mem::replace(&mut object.unauthorized, true) {
            self.unauthorized.push((object.id, record, self.now));
        }
    }

    /// Deletes what nobody rightful made, so that those who believe in it do not any more.
    pub(super) fn bury_disowned(&mut self) {
        let mut index = 0;
        while let Some(&(id, record, since)) = self.unauthorized.get(index) {
            if self.now.since(since) < self.config.succession_delay
                || !self.ablation.holds(Rule::DisownedAreBuried)
            {
                index += 1;
                continue;
            }
            let place = self.store.find(id);
            if let Some(place) = place.filter(|&place| self.store[place].record.is_some()) {
                // Somebody who has a right to it told of it since: what others said of it counts as
                // well.
                self.unauthorized.swap_remove(index);
                self.store[place].unauthorized = false;
                self.judge_all(place);
                continue;
            }
            if let Some(place) = place {
                let gone = Record { held: false, owner_claim: None, gone: true, ..record };
                self.store.set_record(place, Some(gone));
                if !self.delete_place(place) {
                    // There were more claims than there can have been: not yet.
                    self.store.set_record(place, None);
                    index += 1;
                    continue;
                }
                self.store[place].unauthorized = false;
                self.stats.unauthorized_despawned += 1;
            }
            self.unauthorized.swap_remove(index);
        }
    }

    /// Somebody who may not says that what we rightfully hold is another's: we say again that it is
    /// ours.
    pub(super) fn contradict(&mut self, place: ObjectIndex) {
        if !self.ablation.holds(Rule::UsurpersAreContradicted) {
            return;
        }
        if let Some(record) = self.store[place].record {
            self.raise_claim(place, record.held, record.owner_claim);
        }
    }

    /// Somebody brought more objects than there may be and lost its link for it: what it still
    /// holds of them goes, too.
    pub(super) fn bury_flood(&mut self, peer: PeerId, member: MemberId) {
        for place in 0..self.store.places() as ObjectIndex {
            let object = &self.store[place];
            let theirs = |record: &Record| !record.gone && record.version.authority == member;
            let Some(record) = object.record.filter(theirs) else { continue };
            let id = object.id;
            if object.brought_by == Some(peer) && self.may_hold(id, &record) && self.delete_place(place) {
                self.stats.unauthorized_despawned += 1;
                self.events.push(SessionEvent::Despawned { id });
            }
        }
    }
}
