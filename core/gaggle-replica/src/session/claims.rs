//! Who holds what: touching, grabbing, letting go, deleting, and inheriting what others left.

use gaggle_kit::Micros;

use super::Session;
use crate::ablation::Rule;
use crate::config::ObjectError;
use crate::event::SessionEvent;
use crate::history::NEVER;
use crate::policy::ObjectInfo;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{MemberId, ObjectId, OnLeave, Player};

/// A machine claims one object at most this often.
const CLAIM_INTERVAL: Micros = Micros::from_millis(100);
/// No more claims of an object than this can have been made, and so many more every second: a liar
/// who jumps ahead locks an object for seconds, not for ever.
const CLAIMS_BASE: u64 = 1_024;
const CLAIMS_PER_SECOND: u64 = 256;
/// Clocks of two machines differ by no more than this.
const CLAIMS_SLACK: Micros = Micros::from_secs(5);

impl Session {
    /// Takes an object to act on it: for whoever bumps into something.
    ///
    /// # Errors
    /// If somebody present holds it or has just touched it, or this machine may not.
    pub fn claim(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        let place = self.live(id)?;
        let Some(record) = self.store[place].record else { return Err(ObjectError::Unknown { id }) };
        if record.version.authority == self.me.id {
            return Ok(());
        }
        self.check_claim(place, id, &record)?;
        let grace = self.store.kinds[usize::from(record.kind)].rules.claim_cooldown;
        let just_claimed = self.now.since(self.store[place].claimed_at) < grace;
        if self.roster.contains(record.version.authority) && (record.held || just_claimed) {
            return Err(ObjectError::Locked { id });
        }
        self.raise_claim(place, false, None).then_some(()).ok_or(ObjectError::RateLimited { id })
    }

    /// Takes an object and holds on to it: nobody can touch it until it is let go. Beats everybody
    /// who only touched it.
    ///
    /// # Errors
    /// If somebody present holds on to it, or this machine may not.
    pub fn lock(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        let place = self.live(id)?;
        let Some(record) = self.store[place].record else { return Err(ObjectError::Unknown { id }) };
        let mine = record.version.authority == self.me.id;
        if mine && record.held {
            return Ok(());
        }
        self.check_claim(place, id, &record)?;
        if record.held && self.roster.contains(record.version.authority) {
            return Err(ObjectError::Locked { id });
        }
        self.raise_claim(place, true, None).then_some(()).ok_or(ObjectError::RateLimited { id })
    }

    /// Lets go of a grabbed object. This machine goes on to answer for it until somebody else
    /// claims it.
    ///
    /// # Errors
    /// If it is somebody else's.
    pub fn release(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        let place = self.live(id)?;
        match self.store[place].record {
            Some(record) if record.version.authority == self.me.id => {
                self.let_go(place, record);
                Ok(())
            }
            _ => Err(ObjectError::NoAuthority { id }),
        }
    }

    fn let_go(&mut self, place: ObjectIndex, record: Record) {
        if record.held {
            self.store.set_record(place, Some(Record { held: false, ..record }));
            self.change_stamp(place);
            self.make_dirty(place);
        }
    }

    /// Deletes an object, whoever holds it. It beats every touch of it anybody makes meanwhile.
    ///
    /// # Errors
    /// If it is not there, or this machine may not.
    pub fn despawn(&mut self, id: ObjectId) -> Result<(), ObjectError> {
        let place = self.live(id)?;
        let Some(record) = self.store[place].record else { return Err(ObjectError::Unknown { id }) };
        if !self.may_hold(id, &record) {
            return Err(ObjectError::Forbidden { id });
        }
        self.delete_place(place).then_some(()).ok_or(ObjectError::RateLimited { id })
    }

    pub(super) fn delete_place(&mut self, place: ObjectIndex) -> bool {
        if !self.raise_claim(place, true, None) {
            return false;
        }
        if let Some(record) = self.store[place].record {
            self.store.set_record(place, Some(Record { held: false, gone: true, ..record }));
        }
        self.store[place].changed_at = self.now;
        self.bury(place);
        true
    }

    fn check_claim(&self, place: ObjectIndex, id: ObjectId, record: &Record) -> Result<(), ObjectError> {
        if !self.is_member() {
            return Err(ObjectError::NotMember);
        }
        if !self.may_hold(id, record) {
            return Err(ObjectError::Forbidden { id });
        }
        let object = &self.store[place];
        if object.claimed_here != Micros::ZERO && self.now.since(object.claimed_here) < CLAIM_INTERVAL {
            return Err(ObjectError::RateLimited { id });
        }
        Ok(())
    }

    /// Whether this machine may hold an object.
    pub(super) fn may_hold(&self, id: ObjectId, record: &Record) -> bool {
        self.is_member() && self.config.authority.may_hold(self.me, &ObjectInfo::of(id, record), &self.roster)
    }

    /// Whether the holder of a record is present and may hold the object.
    pub(super) fn is_rightful(&self, id: ObjectId, record: &Record) -> bool {
        let holder = self.roster.of_member(record.version.authority);
        holder.is_some_and(|holder| {
            self.config.authority.may_hold(holder, &ObjectInfo::of(id, record), &self.roster)
        })
    }

    /// Who is to take an object without a rightful holder.
    pub(super) fn successor(&self, id: ObjectId, record: &Record) -> Option<MemberId> {
        self.config.authority.successor(&ObjectInfo::of(id, record), &self.roster).map(|present| present.id)
    }

    /// No hold and no seq above this can be honest yet.
    pub(super) fn claims_max(&self) -> u32 {
        let seconds = (self.session_age() + CLAIMS_SLACK).get() / 1_000_000;
        u32::try_from(CLAIMS_BASE + CLAIMS_PER_SECOND * seconds).unwrap_or(u32::MAX)
    }

    /// Puts this machine's name on an object, above everything ever seen of it. Not, if that were
    /// more claims than can have been made.
    pub(super) fn raise_claim(&mut self, place: ObjectIndex, hold: bool, trust: Option<Player>) -> bool {
        let claims_max = self.claims_max();
        let object = &self.store[place];
        let Some(record) = object.record else { return false };
        let mut version = record.version;
        if self.ablation.holds(Rule::ClaimsGoAboveAllSeen) {
            version.lock_seq = version.lock_seq.max(object.top.0);
            version.claim_seq = version.claim_seq.max(object.top.1);
        }
        if self.ablation.holds(Rule::ClaimsGoAbove) {
            let count = if hold { &mut version.lock_seq } else { &mut version.claim_seq };
            *count = count.saturating_add(1);
        }
        if version.lock_seq > claims_max || version.claim_seq > claims_max {
            return false;
        }
        version.authority = self.me.id;
        version.tick = self.tick + 1;
        let claimed = Record { version, player: self.me.slot, held: hold, owner_claim: trust, ..record };
        let shown = record.version.authority != self.me.id && self.before_change(place, false);
        self.store.clear_history(place);
        self.store.set_record(place, Some(claimed));
        if shown {
            self.after_change(place);
        }
        let object = &mut self.store[place];
        object.top = (object.top.0.max(version.lock_seq), object.top.1.max(version.claim_seq));
        object.captured = NEVER;
        object.claimed_at = self.now;
        object.claimed_here = self.now;
        object.changed_at = self.now;
        object.hidden = false;
        self.stats.claims += 1;
        self.change_stamp(place);
        for link in &mut self.links {
            link.out[place as usize].forget_acks();
        }
        if hold {
            self.locked.push(place);
        }
        self.note_stray(place);
        self.make_dirty(place);
        true
    }

    /// Everything about holding the object has to be told anew.
    pub(super) fn change_stamp(&mut self, place: ObjectIndex) {
        let object = &mut self.store[place];
        object.stamp = object.stamp.wrapping_add(1).max(1);
    }

    /// Takes over what nobody rightfully holds any more, lets go of what rests, and judges again
    /// what came too soon.
    pub(super) fn keep_house(&mut self) {
        self.inherit();
        self.bury_disowned();
        self.rest();
        self.judge_again_what_came_too_soon();
        self.visit_graves();
    }

    fn inherit(&mut self) {
        let mut index = 0;
        while let Some(&place) = self.orphans.get(index) {
            let object = &mut self.store[place];
            if !object.orphan {
                object.stray_listed = false;
                self.orphans.swap_remove(index);
                continue;
            }
            index += 1;
            let object = &self.store[place];
            let Some(record) = object.record.filter(|_| object.inheriting) else { continue };
            let on_leave = self.store.kinds[usize::from(record.kind)].rules.on_leave;
            let is_back = [Some(record.player), record.home].contains(&Some(self.me.slot));
            let holder = record.version.authority;
            let said_so = self.departed.iter().any(|one| one.goodbye && one.present.id == holder);
            let patience = match on_leave {
                OnLeave::Hold if !record.gone && !is_back => {
                    self.config.reconnect_window.max(self.config.succession_delay)
                }
                _ if said_so => self.farewell(),
                _ => self.config.succession_delay,
            };
            let waited = self.now.since(object.stray_since) >= patience;
            if waited && (!record.gone || self.ablation.holds(Rule::HeirsTakeTombstones)) {
                self.inherit_one(place, &record, on_leave);
            }
        }
    }

    /// Whoever says goodbye told everybody what it had to tell: what somebody else got of it later
    /// than we is here within a round trip, or there is nobody else.
    fn farewell(&self) -> Micros {
        let others = self.links.iter().filter(|link| link.present.is_some() && !link.spectator);
        let slowest = others.map(|link| link.rtt.unwrap_or(self.config.succession_delay)).max();
        let told =
            slowest.map_or(Micros::ZERO, |rtt| rtt + self.config.send_interval + self.config.send_interval);
        told.min(self.config.succession_delay)
    }

    fn inherit_one(&mut self, place: ObjectIndex, record: &Record, on_leave: OnLeave) {
        let id = self.store[place].id;
        if on_leave == OnLeave::Despawn && !record.gone {
            if self.delete_place(place) {
                self.stats.inherited += 1;
                self.events.push(SessionEvent::Despawned { id });
            }
            return;
        }
        let from_other = record.player != self.me.slot;
        let trust = (self.config.authority.is_open() && from_other).then_some(record.player);
        if !self.raise_claim(place, false, trust) {
            return;
        }
        self.stats.inherited += 1;
        if record.gone {
            self.bury(place);
        } else {
            self.events.push(SessionEvent::AuthorityGained { id, from: record.player });
        }
    }

    /// Lets go of grabbed objects that have not changed for a while.
    fn rest(&mut self) {
        let mut index = 0;
        while let Some(&place) = self.locked.get(index) {
            let object = &self.store[place];
            match object.record {
                Some(record) if record.held && record.version.authority == self.me.id => {
                    let rest = self.store.kinds[usize::from(record.kind)].rules.idle_release;
                    if self.now.since(object.changed_at) < rest {
                        index += 1;
                        continue;
                    }
                    self.let_go(place, record);
                }
                _ => {}
            }
            self.locked.swap_remove(index);
        }
    }
}
