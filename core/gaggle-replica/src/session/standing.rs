//! Whether the holder of a record ever had a right to it, by what this machine knows. What nobody rightful made is not taken into
//! the world and deleted by whoever would be its heir; whoever says that somebody else holds what is rightfully
//! held is contradicted.

use gaggle_kit::{Micros, PeerId};

use super::{Parted, Session};
use crate::event::Event;
use crate::policy::Facts;
use crate::roster::Present;
use crate::rule::Rule;
use crate::store::Place;
use crate::version::Record;
use crate::{Member, ObjectId};

/// For so long after somebody left it is believed that it made what only others know of. They notice later than we, by
/// seconds; whoever lies in the name of the one who left can do so in this time.
const BEREAVED: Micros = Micros::from_secs(10);

/// So many objects in the name of somebody who left are believed of everybody who passes them on, besides those it had said it would tell
/// of and had not: what it made in its last seconds, which others heard and we did not.
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
    /// Who made the object says what it is, and somebody else said otherwise before: that one had only taken its name.
    Correction,
}

impl Session {
    /// What a record is to this machine, said by `sender` over a link.
    pub(super) fn standing(&self, link: usize, sender: Present, place: Place, record: &Record) -> Standing {
        let policy = &self.config.policy;
        if policy.is_open() {
            return Standing::Permitted;
        }
        let object = &self.store[place];
        let id = object.id;
        let rightful = self.is_rightful(id, record);
        if let Some(world) = object.record {
            // By its constants an object is somebody's: whoever says they are others must have a right to the object it is.
            let same = (world.kind, world.home) == (record.kind, record.home);
            let as_it_is = Record { kind: world.kind, home: world.home, ..*record };
            let may_change = rightful && self.is_rightful(id, &as_it_is);
            if !same && !may_change {
                let maker_says =
                    sender.member.tag == id.creator() && record.version.holder == sender.member && rightful;
                return match maker_says && !object.by_maker {
                    true => Standing::Correction,
                    false => Standing::Refused,
                };
            }
        }
        if rightful {
            return Standing::Permitted;
        }
        let inherits = self.heir(id, record) == Some(self.me.member);
        let is_ours_to_know = inherits || !self.roster.contains(record.version.holder);
        match object.record {
            Some(world) if self.is_usurped(id, sender, &world, record) => {
                match (world.version.holder == self.me.member, inherits) {
                    (true, _) => Standing::Usurper,
                    (false, true) => Standing::Permitted,
                    (false, false) => Standing::Refused,
                }
            }
            None if inherits && !record.gone => {
                match !self.config.buries || self.is_credible(id, link, sender, record) {
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
        id.creator() == self.me.member.tag && id.counter() > self.objects_made
    }

    /// Whether a record would take an object from its rightful holder, by the word of somebody who may not hold it.
    fn is_usurped(&self, id: ObjectId, sender: Present, world: &Record, record: &Record) -> bool {
        self.is_rightful(id, world)
            && self.is_above(id, record, world)
            && !self.config.policy.may(sender, &Facts::of(id, world), &self.roster)
    }

    /// Somebody who left lately and had a right to an object until then.
    fn late_holder(&self, id: ObjectId, record: &Record) -> Option<&Parted> {
        let facts = Facts::of(id, record);
        self.parted.iter().find(|one| {
            one.present.member == record.version.holder
                && self.now.since(one.at) < BEREAVED
                && self.config.policy.may(one.present, &facts, &self.roster.with(one.present))
        })
    }

    /// Whether somebody who is not here may have said what is said in its name of an object we know: it held it before, or had a right
    /// to it until it left. Whoever may hold the object itself need not borrow a name.
    fn is_borne_out(&self, id: ObjectId, sender: Present, world: Option<Record>, record: &Record) -> bool {
        let holder = record.version.holder;
        let Some(world) = world.filter(|_| self.without.holds(Rule::NamesAreBorneOut)) else { return true };
        self.roster.contains(holder)
            || holder == world.version.holder
            || self.config.policy.may(sender, &Facts::of(id, &world), &self.roster)
            || self.late_holder(id, record).is_some()
    }

    /// Whether the holder of an object that we hear of for the first time may have had a right to it.
    fn is_credible(&self, id: ObjectId, link: usize, sender: Present, record: &Record) -> bool {
        let (policy, facts) = (&self.config.policy, Facts::of(id, record));
        let holder = record.version.holder;
        if let Some(late) = self.late_holder(id, record) {
            return self.links[link].legacies < late.unheard.saturating_add(LEGACIES_MAX);
        }
        // What was kept for us while we were away: the lead knows, or whoever may hold it without us.
        let before_us = |holder: Present| policy.may(holder, &facts, &self.roster.without(self.me.member));
        !self.is_lead()
            && (self.roster.lead() == Some(sender) || self.roster.of_member(holder).is_some_and(before_us))
    }

    /// Notes what nobody rightful made. It is not deleted at once: somebody may know better.
    pub(super) fn disown(&mut self, place: Place, record: Record) {
        let object = &mut self.store[place];
        if !std::mem::replace(&mut object.disowned, true) {
            self.disowned.push((object.id, record, self.now));
        }
    }

    /// Deletes what nobody rightful made, so that those who believe in it do not any more.
    pub(super) fn bury_disowned(&mut self) {
        let mut index = 0;
        while let Some(&(id, record, since)) = self.disowned.get(index) {
            if self.now.since(since) < self.config.inherit_after
                || !self.without.holds(Rule::DisownedAreBuried)
            {
                index += 1;
                continue;
            }
            let place = self.store.find(id);
            if let Some(place) = place.filter(|&place| self.store[place].record.is_some()) {
                // Somebody who has a right to it told of it since: what others said of it counts as well.
                self.disowned.swap_remove(index);
                self.store[place].disowned = false;
                self.judge_all(place);
                continue;
            }
            if let Some(place) = place {
                let gone = Record { held: false, trust: None, gone: true, ..record };
                self.store.set_record(place, Some(gone));
                if !self.delete_place(place) {
                    // There were more claims than there can have been: not yet.
                    self.store.set_record(place, None);
                    index += 1;
                    continue;
                }
                self.store[place].disowned = false;
                self.stats.buried += 1;
            }
            self.disowned.swap_remove(index);
        }
    }

    /// Somebody who may not says that what we rightfully hold is another's: we say again that it is ours.
    pub(super) fn contradict(&mut self, place: Place) {
        if !self.without.holds(Rule::UsurpersAreContradicted) {
            return;
        }
        if let Some(record) = self.store[place].record {
            self.claim(place, record.held, record.trust);
        }
    }

    /// Somebody brought more objects than there may be and lost its link for it: what it still holds of them goes, too.
    pub(super) fn bury_flood(&mut self, peer: PeerId, member: Member) {
        for place in 0..self.store.places() as Place {
            let object = &self.store[place];
            let theirs = |record: &Record| !record.gone && record.version.holder == member;
            let Some(record) = object.record.filter(theirs) else { continue };
            let id = object.id;
            if object.brought_by == Some(peer) && self.may_hold(id, &record) && self.delete_place(place) {
                self.stats.buried += 1;
                self.events.push(Event::Deleted { id });
            }
        }
    }
}
