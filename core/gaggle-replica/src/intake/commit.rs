//! Commit of a packet's records: stores them in their peer's table and resolves them.
//! `handle_packet` calls it after all of a packet was read. Absent: bits, sending.

use super::Intake;
use super::decode::{Arrival, Decoded, What};
use crate::ablation::Rule;
use crate::authority::Authority;
use crate::event::{PeerFault, SessionEvent};
use crate::history::NEVER;
use crate::peers::{Incoming, LinkRecord};
use crate::record::Identity;
use crate::session::work::Work;
use crate::store::ObjectIndex;
use crate::version::{Record, Version};

impl Intake {
    /// Commits decoded records: each goes into the peer's table, and the newest is resolved.
    pub(super) fn commit(
        &mut self,
        work: &mut Work<'_>,
        rules: &mut Authority,
        link: usize,
        arrival: Arrival,
    ) -> Result<(), PeerFault> {
        let Some(sender) = work.peers[link].present() else { return Ok(()) };
        let Arrival { tick, seq, .. } = arrival;
        for index in 0..self.decoder.records().len() {
            let read = self.decoder.records()[index];
            let Decoded { handle, what, kind, value } = read;
            let (authority, origin) = match what {
                What::Close { gone } => {
                    commit_close(work, link, handle, seq, gone);
                    continue;
                }
                What::Intro(_, authority) | What::Authority(authority) => (Some(authority), None),
                What::Relay(_, origin, authority) => (Some(authority), Some(origin)),
                What::Value => (None, None),
            };
            if let What::Intro(identity, told) | What::Relay(Some(identity), _, told) = what
                && !self.open(work, link, seq, &read, &identity, told.gone)?
            {
                continue;
            }
            work.cx.stats.updates_received += 1;
            let Some(incoming) =
                work.peers[link].inbound.at_mut(handle).filter(|it| it.is_open() && it.kind == kind)
            else {
                continue;
            };
            let store = work.objects.kind_mut(usize::from(kind));
            let words = self.decoder.words(value, store.layout.words);
            if origin.is_none() {
                if authority.is_none_or(|authority| !authority.gone) {
                    store.histories.put(&mut incoming.history, tick, words);
                }
                if let Some(authority) = authority
                    && incoming.authority.is_none_or(|(_, since)| since <= tick)
                {
                    incoming.authority = Some((authority, tick));
                }
                if incoming.newest == NEVER || incoming.newest < tick {
                    incoming.newest = tick;
                }
            }
            let Some(authority) = authority.or_else(|| incoming.authority_at(tick)) else { continue };
            let (holder, player, tick) = match origin.filter(|origin| origin.holder != sender.id) {
                Some(origin) => (origin.holder, origin.player, origin.tick),
                // A member's own record always has its own slot and tick.
                None => (sender.id, sender.slot, tick),
            };
            let (lock_seq, claim_seq) = (authority.hold, authority.seq);
            let record = Record {
                version: Version { lock_seq, claim_seq, authority: holder, tick },
                player,
                held: authority.held,
                owner_claim: authority.owner_claim,
                home: incoming.home,
                gone: authority.gone,
                kind,
            };
            if incoming.has_record_after(seq) && work.cx.ablation.holds(Rule::LaterWins) {
                continue;
            }
            incoming.record = Some((seq, record));
            store.values.get_mut(incoming.value)[..words.len()].copy_from_slice(words);
            let place = incoming.object;
            // A record of a present authority is accepted from no other peer, so resolving is worth
            // it only if the authority sent it.
            if holder != sender.id || !self.update_as_before(work, place, &record, value) {
                rules.resolve_handle(work, link, handle);
                Authority::answer(work, link, place, &record);
                if !work.cx.ablation.holds(Rule::RefusedAreKept)
                    && let Some(incoming) = work.peers[link].inbound.at_mut(handle)
                {
                    incoming.record = None;
                }
            }
        }
        Ok(())
    }

    /// The most frequent record: the next value of an object from its known authority.
    #[inline]
    fn update_as_before(
        &self,
        work: &mut Work<'_>,
        place: ObjectIndex,
        record: &Record,
        value: usize,
    ) -> bool {
        let object = &mut work.objects[place];
        let Some(world) = object.record else { return false };
        let as_before = world.version.same_claim(&record.version)
            && world.version.tick < record.version.tick
            && record.version.authority != work.members.me().id
            && (world.held, world.owner_claim, world.home, world.kind)
                == (record.held, record.owner_claim, record.home, record.kind)
            && !world.gone
            && !record.gone
            && !object.orphan
            && object.owed == 0
            && !object.hidden;
        if as_before {
            let shown = work.before_change(place, true);
            let object = &mut work.objects[place];
            object.record = Some(*record);
            object.stamp = object.stamp.wrapping_add(1).max(1);
            object.changed_at = work.cx.now;
            let words = work.objects.kinds()[usize::from(record.kind)].layout.words;
            work.objects.value_mut(place)[..words].copy_from_slice(self.decoder.words(value, words));
            if shown {
                work.after_change(place);
            }
        }
        as_before
    }

    /// A handle stands for an object from now on, unless the packet is older than its last closing.
    fn open(
        &self,
        work: &mut Work<'_>,
        link: usize,
        seq: u32,
        read: &Decoded,
        identity: &Identity,
        gone: bool,
    ) -> Result<bool, PeerFault> {
        let Decoded { handle, value, .. } = *read;
        let incoming = work.peers[link].inbound.at_mut_or_new(handle);
        if incoming.closed_in > seq {
            return Ok(false);
        }
        if incoming.is_open() {
            if incoming.is_of(identity) {
                incoming.opened_in = incoming.opened_in.min(seq - 1);
                if !gone {
                    let kind = work.objects.kind_mut(usize::from(identity.kind));
                    let (words, all) = (kind.layout.words, kind.layout.words_all());
                    kind.values.get_mut(incoming.value)[words..]
                        .copy_from_slice(self.decoder.words(value + words, all - words));
                }
                return Ok(true);
            }
            if incoming.opened_in >= seq || incoming.has_record_after(seq - 1) {
                return Ok(false);
            }
            close_incoming(work, link, handle);
        }
        let is_new = work.objects.find(identity.id).is_none();
        if is_new && work.peers[link].inbound.has_brought(work.cx.config.objects_per_peer_max) {
            return Err(PeerFault::TooManyObjects { max: work.cx.config.objects_per_peer_max });
        }
        let place = work.place_of(identity.id);
        let inbound = &work.peers[link].inbound;
        if let (Some(other), Some(incoming)) = (inbound.handle_of(place), inbound.of_object(place)) {
            if incoming.opened_in >= seq {
                return Ok(false);
            }
            close_incoming(work, link, other);
        }
        // Closing may have forgotten the object.
        let place = work.place_of(identity.id);
        work.objects[place].mentions += 1;
        if is_new {
            work.objects[place].brought_by = Some(work.peers[link].id);
            work.peers[link].inbound.note_brought();
        }
        let kind = work.objects.kind_mut(usize::from(identity.kind));
        let block = kind.values.take();
        let words = kind.layout.words_all();
        kind.values.get_mut(block).copy_from_slice(self.decoder.words(value, words));
        work.peers[link].inbound.open(handle, Incoming::opened(place, identity, seq, block));
        Ok(true)
    }
}

fn keep_refused(work: &mut Work<'_>, link: usize, refused: LinkRecord) {
    work.objects[refused.object].mentions += 1;
    if let Some(oldest) = work.peers[link].inbound.keep_refused(refused) {
        work.objects[oldest.object].mentions -= 1;
        work.forget_unmentioned(oldest.object);
    }
}

fn commit_close(work: &mut Work<'_>, link: usize, handle: u16, seq: u32, gone: bool) {
    let Some(incoming) = work.peers[link].inbound.at_mut(handle) else { return };
    incoming.closed_in = incoming.closed_in.max(seq);
    if !incoming.is_open() || incoming.has_record_after(seq) {
        return;
    }
    let (place, record) = (incoming.object, incoming.record);
    if gone
        && let Some((_, record)) = record.filter(|(_, record)| record.gone)
        && !work.objects[place].record.is_some_and(|world| world.says_the_same(&record))
    {
        // Rejected, and not to be sent again: it stays here to be resolved again.
        keep_refused(work, link, LinkRecord { object: place, record });
    }
    close_incoming(work, link, handle);
    if gone {
        return;
    }
    let Some(sender) = work.peers[link].present() else { return };
    let object = &mut work.objects[place];
    let told_by_sender =
        object.record.is_some_and(|world| !world.gone && world.version.authority == sender.id);
    if told_by_sender && !object.hidden {
        object.hidden = true;
        work.cx.emit(SessionEvent::InterestLost { id: object.id });
    }
}

/// A handle of the other side is closed.
pub(crate) fn close_incoming(work: &mut Work<'_>, link: usize, handle: u16) {
    let Some(mut incoming) = work.peers[link].inbound.close(handle) else { return };
    let kind = work.objects.kind_mut(usize::from(incoming.kind));
    kind.values.give(incoming.value);
    kind.histories.clear(&mut incoming.history);
    work.objects[incoming.object].mentions -= 1;
    work.forget_unmentioned(incoming.object);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::intake::Decoder;
    use crate::record::AuthorityFields;
    use crate::session::work::bench::Bench;
    use crate::{AuthorityPolicy, MemberTag, ObjectId};

    fn intro(handle: u16, counter: u32, gone: bool) -> Decoded {
        let id = ObjectId::new(MemberTag(2), counter);
        let told = AuthorityFields { hold: 0, seq: 1, held: false, gone, owner_claim: None };
        Decoded { handle, what: What::Intro(Identity { kind: 0, id, home: None }, told), kind: 0, value: 0 }
    }

    fn commit(bench: &mut Bench, intake: &mut Intake, seq: u32, read: Decoded) -> Result<(), PeerFault> {
        intake.decoder = Decoder::of(vec![read], vec![7]);
        let arrival = Arrival { seq, tick: seq, records: 1, inputs: None };
        intake.commit(&mut bench.work(), &mut Authority::default(), 0, arrival)
    }

    #[test]
    fn introduced_object_is_in_world_and_counted() {
        let (mut bench, mut intake) = (Bench::new(AuthorityPolicy::Anyone, 2), Intake::default());
        commit(&mut bench, &mut intake, 1, intro(0, 1, false)).unwrap();
        let place = bench.objects.live(ObjectId::new(MemberTag(2), 1)).expect("it is there");
        assert_eq!((bench.objects.value(place), bench.peers[0].inbound.has_brought(1)), (&[7][..], true));
        assert_eq!(bench.objects[place].mentions, 1);
    }

    #[test]
    fn closed_handle_hides_object_of_its_authority() {
        let (mut bench, mut intake) = (Bench::new(AuthorityPolicy::Anyone, 2), Intake::default());
        commit(&mut bench, &mut intake, 1, intro(0, 1, false)).unwrap();
        let close = Decoded { handle: 0, what: What::Close { gone: false }, kind: 0, value: 0 };
        commit(&mut bench, &mut intake, 2, close).unwrap();
        let place = bench.objects.live(ObjectId::new(MemberTag(2), 1)).expect("it is there");
        assert!(bench.objects[place].hidden && bench.objects[place].mentions == 0);
    }

    #[test]
    fn peer_beyond_object_limit_is_at_fault() {
        let (mut bench, mut intake) = (Bench::new(AuthorityPolicy::Anyone, 2), Intake::default());
        bench.cx.config.objects_per_peer_max = 1;
        commit(&mut bench, &mut intake, 1, intro(0, 1, false)).unwrap();
        let fault = commit(&mut bench, &mut intake, 2, intro(1, 2, false));
        assert_eq!(fault, Err(PeerFault::TooManyObjects { max: 1 }));
    }

    #[test]
    fn introduction_older_than_close_is_ignored() {
        let (mut bench, mut intake) = (Bench::new(AuthorityPolicy::Anyone, 2), Intake::default());
        commit(&mut bench, &mut intake, 1, intro(0, 1, false)).unwrap();
        let close = Decoded { handle: 0, what: What::Close { gone: true }, kind: 0, value: 0 };
        commit(&mut bench, &mut intake, 5, close).unwrap();
        commit(&mut bench, &mut intake, 3, intro(0, 2, false)).unwrap();
        assert!(bench.objects.find(ObjectId::new(MemberTag(2), 2)).is_none());
    }
}
