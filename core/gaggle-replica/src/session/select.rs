//! Chooses what a receiver is told in a round: everything, if it fits its budget, else what has
//! become most urgent.

use super::Session;
use crate::interest::{Interest, ObjectRef, Receiver, Relevance};
use crate::link::Phase;
use crate::packet::HEADER_BYTES_MAX;
use crate::store::ObjectIndex;

/// What an introduction takes as a rule, besides the value.
const INTRO_BYTES: u32 = 9;
/// What the receiver does not know yet is more urgent than an update, but takes at most half of the
/// budget: what moves stays alive while a newcomer catches up.
const NEW_WEIGHT: u32 = 4;

/// An object that could be told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    priority: u32,
    place: ObjectIndex,
    /// What it will take, in 256ths of a byte.
    size: u32,
    is_new: bool,
    taken: bool,
}

/// In so many ticks everything is asked about once.
const ROUNDS: usize = 8;

impl Session {
    /// Chooses what a link is told in this round.
    pub(super) fn select(&mut self, index: usize, interest: &mut dyn Interest) {
        let mut candidates = std::mem::take(&mut self.round.candidates);
        let mut selected = std::mem::take(&mut self.links[index].selected);
        candidates.clear();
        selected.clear();
        let mut room = (self.links[index].budget - HEADER_BYTES_MAX as i64) * 256;
        if !self.select_plain(index, room, &mut selected) {
            self.gather(index, &mut candidates);
        }

        let needed: i64 = candidates.iter().map(|candidate| i64::from(candidate.size)).sum();
        let all_fit = needed <= room;
        if !all_fit {
            self.weigh(index, &mut candidates, interest);
        }
        if all_fit {
            for candidate in &candidates {
                if let Some(handle) = self.links[index].handle_of(candidate.place, self.tick) {
                    selected.push((handle, candidate.place));
                }
            }
            candidates.clear();
        }
        if let Some(urgent) =
            candidates.first_mut().filter(|urgent| room > 0 && room < i64::from(urgent.size))
        {
            // Nothing else would ever leave it enough. What it takes beyond the budget is missing
            // from the next ones.
            urgent.taken = true;
            room = 0;
            if let Some(handle) = self.links[index].handle_of(urgent.place, self.tick) {
                selected.push((handle, urgent.place));
            }
        }
        let mut room_for_new = room / 2;
        // What is new waits until everything else that is due had its turn, then takes what is
        // left.
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
                if let Some(handle) = self.links[index].handle_of(candidate.place, self.tick) {
                    selected.push((handle, candidate.place));
                }
            }
        }
        if !selected.is_sorted() {
            selected.sort_unstable();
        }
        self.links[index].selected = selected;
        self.links[index].selected_next = 0;
        self.round.candidates = candidates;
    }

    /// As a rule everything on the list has just changed, is known, and fits: then nothing more is
    /// to be looked at. Whether it was so.
    fn select_plain(&mut self, index: usize, room: i64, selected: &mut Vec<(u16, ObjectIndex)>) -> bool {
        let link = &self.links[index];
        if link.due.len() as i64 * i64::from(link.record_size) > room {
            return false;
        }
        for &place in &link.due {
            let out = &link.out[place as usize];
            match out.handle {
                Some(handle) if out.phase == Phase::Due && out.changed_tick == self.tick && out.known => {
                    selected.push((handle, place));
                }
                _ => {
                    selected.clear();
                    return false;
                }
            }
        }
        true
    }

    /// Everything that is due, and takes from the list what is not any more.
    fn gather(&mut self, index: usize, candidates: &mut Vec<Candidate>) {
        let record_size = self.links[index].record_size;
        let mut due = std::mem::take(&mut self.links[index].due);
        due.retain(|&place| {
            let out = &self.links[index].out[place as usize];
            let is_due = out.phase == Phase::Due;
            // What has just changed is wanted, as nearly all is.
            let wanted = is_due && (out.changed_tick == self.tick || self.wants(index, place));
            let out = &mut self.links[index].out[place as usize];
            if is_due && (wanted || out.closing) {
                let is_new = !out.known && wanted;
                let kind = if is_new { self.store.kind(place) } else { None };
                let size = kind.map_or(record_size, |kind| (INTRO_BYTES + kind.layout.whole_bytes()) << 8);
                candidates.push(Candidate { priority: 0, place, size, is_new, taken: false });
                return true;
            }
            if is_due {
                out.phase = Phase::Idle;
            }
            out.listed = false;
            if self.store[place].record.is_none() {
                self.round.dropped.push(place);
            }
            false
        });
        self.links[index].due = due;
        while let Some(place) = self.round.dropped.pop() {
            self.forget_unmentioned(place);
        }
    }

    /// Waiting makes urgent. The most urgent come first.
    fn weigh(&mut self, index: usize, candidates: &mut [Candidate], interest: &mut dyn Interest) {
        let Session { store, kinds, links, .. } = self;
        let link = &mut links[index];
        let Some(receiver) = link.receiver() else { return };
        for candidate in candidates.iter_mut() {
            let place = candidate.place;
            let asked = interest.weigh(&receiver, &ObjectRef { store, kinds, place });
            let kind = store.kind(place).map_or(1, |kind| u32::from(kind.rules.priority));
            let out = &mut link.out[place as usize];
            // What does not matter any more is closed at its turn; until then it hardly counts.
            let weight = u32::from(asked.unwrap_or(Relevance::MIN).get()).saturating_mul(kind).max(1);
            let weight = if candidate.is_new { weight.saturating_mul(NEW_WEIGHT) } else { weight };
            out.priority = out.priority.saturating_add(weight);
            candidate.priority = out.priority;
        }
        candidates.sort_unstable_by(|a, b| b.cmp(a));
    }

    /// Asks about some of our objects whether they matter to a link.
    pub(super) fn ask_interest(&mut self, index: usize, interest: &mut dyn Interest) {
        let Some(receiver) = self.links[index].receiver() else { return };
        // Somebody who has just come must not be told what is none of its business.
        let is_new = !std::mem::replace(&mut self.links[index].interest_known, true);
        let (first, step) = if is_new { (0, 1) } else { (self.tick as usize % ROUNDS, ROUNDS) };
        for place in (first..self.store.places()).step_by(step) {
            self.ask_interest_in(index, place as ObjectIndex, &receiver, interest);
        }
        for place in 0..self.fresh.len() {
            self.ask_interest_in(index, self.fresh[place], &receiver, interest);
        }
    }

    fn ask_interest_in(
        &mut self,
        index: usize,
        place: ObjectIndex,
        receiver: &Receiver,
        interest: &mut dyn Interest,
    ) {
        let Some(record) = self.store[place].record else { return };
        if record.gone || record.version.authority != self.me.id {
            return;
        }
        let seen = ObjectRef { store: &self.store, kinds: &self.kinds, place };
        let matters = interest.weigh(receiver, &seen).is_some();
        let out = &mut self.links[index].out[place as usize];
        if out.matters == matters {
            return;
        }
        out.matters = matters;
        if matters {
            self.refresh_link(index, place);
        } else {
            self.set_owed(index, place, false);
            self.close(index, place);
        }
    }
}
