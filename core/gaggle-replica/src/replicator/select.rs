//! Selection of what a peer gets in a tick: everything if it fits the bandwidth, else the most
//! urgent records. `select_round` calls it for every peer. Absent: bits, packets.

use super::Replicator;
use crate::interest::{Interest, ObjectRef, Receiver, Relevance};
use crate::packet::HEADER_BYTES_MAX;
use crate::session::work::Work;
use crate::store::ObjectIndex;

/// Usual size of an introduction, without the value.
const INTRO_BYTES: u32 = 9;
/// Weight of objects the receiver does not know yet: more urgent than an update, but limited to
/// half of the bandwidth, so that updates continue while a joiner catches up.
const NEW_WEIGHT: u32 = 4;

/// An object that could be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    priority: u32,
    place: ObjectIndex,
    /// Its expected size, in 256ths of a byte.
    size: u32,
    is_new: bool,
    taken: bool,
}

/// Ticks in which interest is evaluated once for every object.
const ROUNDS: usize = 8;

impl Replicator {
    /// Selects what a link gets in this tick.
    pub(crate) fn select(&mut self, work: &mut Work<'_>, index: usize, interest: &mut dyn Interest) {
        let mut candidates = std::mem::take(&mut self.candidates);
        let mut selected = work.peers[index].out.begin_selection();
        candidates.clear();
        let mut room = (work.peers[index].out.budget() - HEADER_BYTES_MAX as i64) * 256;
        if !Replicator::select_plain(work, index, room, &mut selected) {
            self.gather(work, index, &mut candidates);
        }

        let needed: i64 = candidates.iter().map(|candidate| i64::from(candidate.size)).sum();
        let all_fit = needed <= room;
        if !all_fit {
            Replicator::weigh(work, index, &mut candidates, interest);
        }
        if all_fit {
            for candidate in &candidates {
                if let Some(handle) = work.peers[index].out.handle_of(candidate.place, work.cx.tick) {
                    selected.push((handle, candidate.place));
                }
            }
            candidates.clear();
        }
        if let Some(urgent) =
            candidates.first_mut().filter(|urgent| room > 0 && room < i64::from(urgent.size))
        {
            // Otherwise it would never fit. The excess is subtracted from the next ticks.
            urgent.taken = true;
            room = 0;
            if let Some(handle) = work.peers[index].out.handle_of(urgent.place, work.cx.tick) {
                selected.push((handle, urgent.place));
            }
        }
        let mut room_for_new = room / 2;
        // Introductions wait until all other due objects had their turn, then take what is left.
        for second_turn in [false, true] {
            for candidate in &mut candidates {
                let size = i64::from(candidate.size);
                if candidate.taken || room < size {
                    continue;
                }
                if !second_turn && candidate.is_new && room_for_new < size {
                    continue;
                }
                candidate.taken = true;
                room -= size;
                room_for_new -= if candidate.is_new { size } else { 0 };
                if let Some(handle) = work.peers[index].out.handle_of(candidate.place, work.cx.tick) {
                    selected.push((handle, candidate.place));
                }
            }
        }
        if !selected.is_sorted() {
            selected.sort_unstable();
        }
        work.peers[index].out.select(selected);
        self.candidates = candidates;
    }

    /// The usual case: every listed object has just changed, is known, and fits, so nothing else is
    /// checked. Returns whether the case applied.
    fn select_plain(
        work: &Work<'_>,
        index: usize,
        room: i64,
        selected: &mut Vec<(u16, ObjectIndex)>,
    ) -> bool {
        let link = &work.peers[index];
        if !link.out.all_due_fit(room) {
            return false;
        }
        for &place in link.out.due() {
            let out = &link.out[place];
            match out.plain_handle(work.cx.tick) {
                Some(handle) if out.is_due() => selected.push((handle, place)),
                _ => {
                    selected.clear();
                    return false;
                }
            }
        }
        true
    }

    /// Gathers everything that is due, and removes other objects from the list.
    fn gather(&mut self, work: &mut Work<'_>, index: usize, candidates: &mut Vec<Candidate>) {
        let record_size = work.peers[index].out.record_size();
        let mut due = work.peers[index].out.take_due();
        due.retain(|&place| {
            let out = &work.peers[index].out[place];
            let is_due = out.is_due();
            // Nearly every object has just changed, and such an object is wanted.
            let wanted = is_due && (out.changed_in(work.cx.tick) || work.wants(index, place));
            let out = &mut work.peers[index].out[place];
            if is_due && (wanted || out.is_closing()) {
                let is_new = !out.is_known() && wanted;
                let kind = if is_new { work.objects.kind(place) } else { None };
                let size = kind.map_or(record_size, |kind| (INTRO_BYTES + kind.layout.whole_bytes()) << 8);
                candidates.push(Candidate { priority: 0, place, size, is_new, taken: false });
                return true;
            }
            out.take_off_list();
            if work.objects[place].record.is_none() {
                self.dropped.push(place);
            }
            false
        });
        work.peers[index].out.return_due(due);
        while let Some(place) = self.dropped.pop() {
            work.forget_unmentioned(place);
        }
    }

    /// Sorts candidates by urgency, the most urgent first. Waiting raises it.
    fn weigh(work: &mut Work<'_>, index: usize, candidates: &mut [Candidate], interest: &mut dyn Interest) {
        let Work { objects: store, schema, peers, .. } = work;
        let kinds = schema.kinds();
        let link = &mut peers[index];
        let Some(receiver) = link.receiver() else { return };
        for candidate in candidates.iter_mut() {
            let place = candidate.place;
            let asked = interest.weigh(&receiver, &ObjectRef { store, kinds, place });
            let kind = store.kind(place).map_or(1, |kind| u32::from(kind.rules.priority));
            // An object that interest excludes is closed at its turn; until then it hardly counts.
            let weight = u32::from(asked.unwrap_or(Relevance::MIN).get()).saturating_mul(kind).max(1);
            let weight = if candidate.is_new { weight.saturating_mul(NEW_WEIGHT) } else { weight };
            candidate.priority = link.out[place].raise_priority(weight);
        }
        candidates.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Evaluates interest of a link for some objects of this peer.
    pub(crate) fn ask_interest(work: &mut Work<'_>, index: usize, interest: &mut dyn Interest) {
        let Some(receiver) = work.peers[index].receiver() else { return };
        // A joiner must not get what interest excludes.
        let is_new = !work.peers[index].out.note_interest_known();
        let (first, step) = if is_new { (0, 1) } else { (work.cx.tick as usize % ROUNDS, ROUNDS) };
        for place in (first..work.objects.places()).step_by(step) {
            Replicator::ask_interest_in(work, index, place as ObjectIndex, &receiver, interest);
        }
        for place in 0..work.objects.fresh().len() {
            Replicator::ask_interest_in(work, index, work.objects.fresh()[place], &receiver, interest);
        }
    }

    fn ask_interest_in(
        work: &mut Work<'_>,
        index: usize,
        place: ObjectIndex,
        receiver: &Receiver,
        interest: &mut dyn Interest,
    ) {
        let Some(record) = work.objects[place].record else { return };
        if record.gone || record.version.authority != work.members.me().id {
            return;
        }
        let seen = ObjectRef { store: work.objects, kinds: work.schema.kinds(), place };
        let matters = interest.weigh(receiver, &seen).is_some();
        if !work.peers[index].out[place].set_matters(matters) {
            return;
        }
        if matters {
            work.refresh_link(index, place);
        } else {
            work.set_owed(index, place, false);
            work.close(index, place);
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_kit::Micros;

    use super::*;
    use crate::AuthorityPolicy;
    use crate::interest::AllRelevant;
    use crate::session::work::bench::Bench;

    /// A bench with this many objects that just changed, none of them known to the peer.
    fn bench(count: u32) -> Bench {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        bench.cx.note_now(Micros::from_secs(1));
        for counter in 1..=count {
            let place = bench.object(0, counter);
            assert!(bench.peers[0].out.note_changed(place, bench.cx.tick));
        }
        bench
    }

    fn selected(bench: &mut Bench, interest: &mut dyn Interest) -> Vec<ObjectIndex> {
        Replicator::default().select(&mut bench.work(), 0, interest);
        let out = &mut bench.peers[0].out;
        std::iter::from_fn(|| {
            let (_, place) = out.next_selected()?;
            out.skip_selected();
            Some(place)
        })
        .collect()
    }

    /// The peer has acknowledged all of these objects.
    fn make_known(bench: &mut Bench, places: &[ObjectIndex]) {
        for &place in places {
            let stamp = bench.objects[place].stamp;
            let out = &mut bench.peers[0].out;
            out.handle_of(place, 0);
            out[place].note_told(1, 0);
            assert!(out[place].handle_acked(1, true));
            out[place].note_record_acked(stamp);
            out.note_changed(place, bench.cx.tick);
        }
    }

    #[test]
    fn everything_is_selected_if_it_fits() {
        let mut bench = bench(3);
        bench.peers[0].out.earn(1_000, 1_000);
        assert_eq!(selected(&mut bench, &mut AllRelevant), [0, 1, 2]);
    }

    #[test]
    fn one_object_is_selected_however_small_budget_is() {
        let mut bench = bench(3);
        bench.peers[0].out.earn(HEADER_BYTES_MAX as i64 + 1, 1_000);
        assert_eq!(selected(&mut bench, &mut AllRelevant).len(), 1);
        bench.peers[0].out.spend(HEADER_BYTES_MAX + 1);
        assert_eq!(selected(&mut bench, &mut AllRelevant), [], "nothing is left");
    }

    #[test]
    fn relevant_object_is_selected_before_others() {
        let mut bench = bench(4);
        make_known(&mut bench, &[0, 1, 2, 3]);
        let record = i64::from(bench.peers[0].out.record_size() >> 8);
        bench.peers[0].out.earn(HEADER_BYTES_MAX as i64 + 2 * record, 1_000);
        let far = |place| bench_id(place);
        let near = [far(1), far(3)];
        let mut interest = |_: &Receiver, object: &ObjectRef<'_>| {
            Some(if near.contains(&object.id()) { Relevance::by_distance(1.0, 1.0) } else { Relevance::MIN })
        };
        assert_eq!(selected(&mut bench, &mut interest), [1, 3]);
    }

    fn bench_id(place: u32) -> crate::ObjectId {
        crate::ObjectId::new(crate::MemberTag(1), place + 1)
    }

    #[test]
    fn introductions_take_half_of_what_updates_could() {
        let mut bench = bench(12);
        let known = [6, 7, 8, 9, 10, 11];
        make_known(&mut bench, &known);
        let record = i64::from(bench.peers[0].out.record_size() >> 8);
        bench.peers[0].out.earn(HEADER_BYTES_MAX as i64 + 8 * record, 1_000);
        let selected = selected(&mut bench, &mut AllRelevant);
        let updates = selected.iter().filter(|place| known.contains(place)).count();
        assert!(updates >= 4 && updates < selected.len(), "{selected:?}");
    }

    #[test]
    fn object_outside_interest_is_closed() {
        let mut bench = bench(1);
        make_known(&mut bench, &[0]);
        let mut none = |_: &Receiver, _: &ObjectRef<'_>| None;
        Replicator::ask_interest(&mut bench.work(), 0, &mut none);
        let out = &bench.peers[0].out[0];
        assert!(!out.matters() && out.is_closing() && out.is_due());
    }
}
