//! Claiming, locking, releasing and deleting objects, and succession to orphans.
//! The session calls it for its game and at every tick. Absent: records of other peers.

use gaggle_kit::{Micros, Slot};

use super::Authority;
use crate::ablation::Rule;
use crate::config::ObjectError;
use crate::event::SessionEvent;
use crate::history::NEVER;
use crate::session::work::Work;
use crate::store::ObjectIndex;
use crate::version::Record;
use crate::{ObjectId, OnLeave};

/// Shortest time between two claims of a peer to one object.
const CLAIM_INTERVAL: Micros = Micros::from_millis(100);

impl Authority {
    /// Claims an object, unless a present member has locked or just claimed it.
    pub(crate) fn claim(&mut self, work: &mut Work<'_>, id: ObjectId) -> Result<(), ObjectError> {
        let place = work.objects.live(id)?;
        let Some(record) = work.objects[place].record else { return Err(ObjectError::Unknown { id }) };
        if record.version.authority == work.members.me().id {
            return Ok(());
        }
        Authority::check_claim(work, place, id, &record)?;
        let grace = work.objects.kinds()[usize::from(record.kind)].rules.claim_cooldown;
        let just_claimed = work.cx.now.since(work.objects[place].claims.claimed_at) < grace;
        if work.members.roster().contains(record.version.authority) && (record.held || just_claimed) {
            return Err(ObjectError::Locked { id });
        }
        self.raise_claim(work, place, false, None).then_some(()).ok_or(ObjectError::RateLimited { id })
    }

    /// Claims an object and locks it, unless a present member has. Beats every claim without a
    /// lock.
    pub(crate) fn lock(&mut self, work: &mut Work<'_>, id: ObjectId) -> Result<(), ObjectError> {
        let place = work.objects.live(id)?;
        let Some(record) = work.objects[place].record else { return Err(ObjectError::Unknown { id }) };
        let mine = record.version.authority == work.members.me().id;
        if mine && record.held {
            return Ok(());
        }
        Authority::check_claim(work, place, id, &record)?;
        if record.held && work.members.roster().contains(record.version.authority) {
            return Err(ObjectError::Locked { id });
        }
        self.raise_claim(work, place, true, None).then_some(()).ok_or(ObjectError::RateLimited { id })
    }

    /// Unlocks an object; this peer keeps authority until another claims it.
    pub(crate) fn release(work: &mut Work<'_>, id: ObjectId) -> Result<(), ObjectError> {
        let place = work.objects.live(id)?;
        match work.objects[place].record {
            Some(record) if record.version.authority == work.members.me().id => {
                Authority::unlock(work, place, record);
                Ok(())
            }
            _ => Err(ObjectError::NoAuthority { id }),
        }
    }

    fn unlock(work: &mut Work<'_>, place: ObjectIndex, record: Record) {
        if record.held {
            work.objects.set_record(place, Some(Record { held: false, ..record }));
            work.objects.change_stamp(place);
            work.objects.mark_dirty(place);
        }
    }

    /// Deletes an object, whatever its authority. Beats every claim made meanwhile.
    pub(crate) fn despawn(&mut self, work: &mut Work<'_>, id: ObjectId) -> Result<(), ObjectError> {
        let place = work.objects.live(id)?;
        let Some(record) = work.objects[place].record else { return Err(ObjectError::Unknown { id }) };
        if !work.view().may_hold(id, &record) {
            return Err(ObjectError::Forbidden { id });
        }
        self.delete(work, place).then_some(()).ok_or(ObjectError::RateLimited { id })
    }

    pub(crate) fn delete(&mut self, work: &mut Work<'_>, place: ObjectIndex) -> bool {
        if !self.raise_claim(work, place, true, None) {
            return false;
        }
        if let Some(record) = work.objects[place].record {
            work.objects.set_record(place, Some(Record { held: false, gone: true, ..record }));
        }
        work.objects[place].changed_at = work.cx.now;
        work.keep_tombstone(place);
        true
    }

    fn check_claim(
        work: &Work<'_>,
        place: ObjectIndex,
        id: ObjectId,
        record: &Record,
    ) -> Result<(), ObjectError> {
        if !work.members.is_member() {
            return Err(ObjectError::NotMember);
        }
        if !work.view().may_hold(id, record) {
            return Err(ObjectError::Forbidden { id });
        }
        let object = &work.objects[place];
        if object.claims.claimed_here != Micros::ZERO
            && work.cx.now.since(object.claims.claimed_here) < CLAIM_INTERVAL
        {
            return Err(ObjectError::RateLimited { id });
        }
        Ok(())
    }

    /// Sets this peer as authority of an object, above every version ever seen. Fails if that were
    /// more claims than can have been made.
    pub(crate) fn raise_claim(
        &mut self,
        work: &mut Work<'_>,
        place: ObjectIndex,
        hold: bool,
        trust: Option<Slot>,
    ) -> bool {
        let claims_max = work.view().claims_max();
        let object = &work.objects[place];
        let Some(record) = object.record else { return false };
        let mut version = record.version;
        if work.cx.ablation.holds(Rule::ClaimsGoAboveAllSeen) {
            version.lock_seq = version.lock_seq.max(object.claims.top.0);
            version.claim_seq = version.claim_seq.max(object.claims.top.1);
        }
        if work.cx.ablation.holds(Rule::ClaimsGoAbove) {
            let count = if hold { &mut version.lock_seq } else { &mut version.claim_seq };
            *count = count.saturating_add(1);
        }
        if version.lock_seq > claims_max || version.claim_seq > claims_max {
            return false;
        }
        version.authority = work.members.me().id;
        version.tick = work.cx.tick + 1;
        let claimed =
            Record { version, player: work.members.me().slot, held: hold, owner_claim: trust, ..record };
        let shown = record.version.authority != work.members.me().id && work.before_change(place, false);
        work.objects.clear_history(place);
        work.objects.set_record(place, Some(claimed));
        if shown {
            work.after_change(place);
        }
        let object = &mut work.objects[place];
        object.claims.top =
            (object.claims.top.0.max(version.lock_seq), object.claims.top.1.max(version.claim_seq));
        object.captured = NEVER;
        object.claims.claimed_at = work.cx.now;
        object.claims.claimed_here = work.cx.now;
        object.changed_at = work.cx.now;
        object.hidden = false;
        work.cx.stats.claims += 1;
        work.objects.change_stamp(place);
        for link in work.peers.iter_mut() {
            link.out[place].forget_acks();
        }
        if hold {
            self.locked.push(place);
        }
        self.note_orphan(work, place);
        work.objects.mark_dirty(place);
        true
    }

    /// Once a tick: succession to orphans, deletion of the unauthorized, release of idle locks,
    /// premature records, old tombstones.
    pub(crate) fn tick(&mut self, work: &mut Work<'_>) {
        self.succeed_to_orphans(work);
        self.despawn_unauthorized(work);
        self.release_idle(work);
        self.resolve_premature(work);
        self.visit_tombstones(work);
    }

    fn succeed_to_orphans(&mut self, work: &mut Work<'_>) {
        let mut index = 0;
        while let Some(&place) = self.orphans.get(index) {
            let object = &mut work.objects[place];
            if !object.orphan {
                object.orphan_listed = false;
                self.orphans.swap_remove(index);
                continue;
            }
            index += 1;
            let object = &work.objects[place];
            let Some(record) = object.record.filter(|_| object.inheriting) else { continue };
            let on_leave = work.objects.kinds()[usize::from(record.kind)].rules.on_leave;
            let is_back = work.members.me().has_slot(record.player)
                || record.home.is_some_and(|slot| work.members.me().has_slot(slot));
            let holder = record.version.authority;
            let said_so = work.members.departed().iter().any(|one| one.goodbye && one.present.id == holder);
            let patience = match on_leave {
                OnLeave::Hold if !record.gone && !is_back => {
                    work.cx.config.reconnect_window.max(work.cx.config.succession_delay)
                }
                _ if said_so => Authority::farewell(work),
                _ => work.cx.config.succession_delay,
            };
            let waited = work.cx.now.since(object.orphan_since) >= patience;
            if waited && (!record.gone || work.cx.ablation.holds(Rule::SuccessorsTakeTombstones)) {
                self.succeed(work, place, &record, on_leave);
            }
        }
    }

    /// A member that announces its leave has sent everything to all peers. A record that another
    /// peer received later than this one arrives here within a round trip.
    fn farewell(work: &Work<'_>) -> Micros {
        let others = work.peers.members();
        let slowest = others.map(|link| link.playback.rtt().unwrap_or(work.cx.config.succession_delay)).max();
        let told = slowest
            .map_or(Micros::ZERO, |rtt| rtt + work.cx.config.send_interval + work.cx.config.send_interval);
        told.min(work.cx.config.succession_delay)
    }

    fn succeed(&mut self, work: &mut Work<'_>, place: ObjectIndex, record: &Record, on_leave: OnLeave) {
        let id = work.objects[place].id;
        if on_leave == OnLeave::Despawn && !record.gone {
            if self.delete(work, place) {
                work.cx.stats.inherited += 1;
                work.cx.emit(SessionEvent::Despawned { id });
            }
            return;
        }
        let from_other = !work.members.me().has_slot(record.player);
        let trust = (work.cx.config.authority.is_open() && from_other).then_some(record.player);
        if !self.raise_claim(work, place, false, trust) {
            return;
        }
        work.cx.stats.inherited += 1;
        if record.gone {
            work.keep_tombstone(place);
        } else {
            work.cx.emit(SessionEvent::AuthorityGained { id, from: record.player });
        }
    }

    /// Unlocks objects that have not changed for a while.
    fn release_idle(&mut self, work: &mut Work<'_>) {
        let mut index = 0;
        while let Some(&place) = self.locked.get(index) {
            let object = &work.objects[place];
            match object.record {
                Some(record) if record.held && record.version.authority == work.members.me().id => {
                    let rest = work.objects.kinds()[usize::from(record.kind)].rules.idle_release;
                    if work.cx.now.since(object.changed_at) < rest {
                        index += 1;
                        continue;
                    }
                    Authority::unlock(work, place, record);
                }
                _ => {}
            }
            self.locked.swap_remove(index);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;

    fn setup(policy: AuthorityPolicy, authority: usize) -> (Bench, Authority, ObjectId) {
        let mut bench = Bench::new(policy, 3);
        let place = bench.object(authority, 1);
        bench.cx.note_now(Micros::from_secs(9));
        let id = bench.objects[place].id;
        (bench, Authority::default(), id)
    }

    fn record(bench: &Bench, id: ObjectId) -> Record {
        bench.objects[bench.objects.find(id).unwrap()].record.unwrap()
    }

    #[test]
    fn claim_goes_above_all_versions_seen() {
        let (mut bench, mut authority, id) = setup(AuthorityPolicy::Anyone, 1);
        let place = bench.objects.find(id).unwrap();
        bench.objects[place].claims.top = (3, 8);
        authority.claim(&mut bench.work(), id).unwrap();
        let version = record(&bench, id).version;
        assert_eq!((version.lock_seq, version.claim_seq), (3, 9));
        assert_eq!(version.authority, bench.member(0).id);
        assert_eq!(bench.cx.stats.claims, 1);
    }

    #[test]
    fn locked_object_is_claimed_after_release() {
        let (mut bench, mut authority, id) = setup(AuthorityPolicy::Anyone, 1);
        let place = bench.objects.find(id).unwrap();
        let held = Record { held: true, ..record(&bench, id) };
        bench.objects.set_record(place, Some(held));
        assert_eq!(authority.claim(&mut bench.work(), id), Err(ObjectError::Locked { id }));
        assert_eq!(authority.lock(&mut bench.work(), id), Err(ObjectError::Locked { id }));
        bench.objects.set_record(place, Some(Record { held: false, ..held }));
        authority.lock(&mut bench.work(), id).unwrap();
        Authority::release(&mut bench.work(), id).unwrap();
        assert!(!record(&bench, id).held);
    }

    #[test]
    fn despawn_without_right_is_forbidden() {
        let (mut bench, mut authority, id) = setup(AuthorityPolicy::Leader, 0);
        let me = bench.members.me().id;
        bench.members.roster_mut().remove(me);
        assert_eq!(authority.despawn(&mut bench.work(), id), Err(ObjectError::Forbidden { id }));
        let me = bench.members.me();
        bench.members.roster_mut().insert(me);
        authority.despawn(&mut bench.work(), id).unwrap();
        assert!(record(&bench, id).gone && bench.tombstones.visits() == 1);
    }

    #[test]
    fn orphan_is_taken_after_succession_delay() {
        let (mut bench, mut authority, id) = setup(AuthorityPolicy::Leader, 1);
        let place = bench.objects.find(id).unwrap();
        authority.note_orphan(&mut bench.work(), place);
        authority.tick(&mut bench.work());
        assert_eq!(record(&bench, id).version.authority, bench.member(1).id);
        bench.cx.note_now(Micros::from_secs(11));
        authority.tick(&mut bench.work());
        assert_eq!(record(&bench, id).version.authority, bench.member(0).id);
        assert_eq!(bench.cx.stats.inherited, 1);
    }

    #[test]
    fn idle_lock_is_released() {
        let (mut bench, mut authority, id) = setup(AuthorityPolicy::Anyone, 0);
        authority.lock(&mut bench.work(), id).unwrap();
        authority.tick(&mut bench.work());
        assert!(record(&bench, id).held);
        bench.cx.note_now(Micros::from_secs(600));
        authority.tick(&mut bench.work());
        assert!(!record(&bench, id).held);
    }
}
