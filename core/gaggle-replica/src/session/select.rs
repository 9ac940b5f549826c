//! Chooses what a receiver is told in a round: everything, if it fits its budget, else what has become most urgent.

use super::Session;
use crate::link::Phase;
use crate::packet::HEADER_BYTES_MAX;
use crate::store::Place;

/// What an introduction takes as a rule, besides the value.
const INTRO_BYTES: u32 = 9;
/// What the receiver does not know yet is more urgent than an update, but takes at most half of the budget: what moves stays
/// alive while a newcomer catches up.
const NEW_WEIGHT: u32 = 4;

/// An object that could be told about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Candidate {
    priority: u32,
    place: Place,
    /// What it will take, in 256ths of a byte.
    size: u32,
    is_new: bool,
}

impl Session {
    /// Chooses what a link is told in this round.
    pub(super) fn select(&mut self, index: usize) {
        self.round.selected.clear();
        self.round.next = 0;
        let mut candidates = std::mem::take(&mut self.round.candidates);
        candidates.clear();
        self.gather(index, &mut candidates);

        let mut room = (self.links[index].budget - HEADER_BYTES_MAX as i64) * 256;
        let needed: i64 = candidates.iter().map(|candidate| i64::from(candidate.size)).sum();
        let all_fit = needed <= room;
        if !all_fit {
            self.weigh(index, &mut candidates);
        }
        let mut room_for_new = room / 2;
        for candidate in &candidates {
            let size = i64::from(candidate.size);
            if !all_fit {
                if room < size {
                    break;
                }
                if candidate.is_new && room_for_new < size {
                    continue;
                }
                room -= size;
                room_for_new -= if candidate.is_new { size } else { 0 };
            }
            let link = &mut self.links[index];
            let out = &mut link.out[candidate.place as usize];
            if out.handle.is_none() {
                out.handle = link.handles.take(self.tick);
                (out.closed_in, out.told_in) = (0, 0);
            }
            if let Some(handle) = out.handle {
                self.round.selected.push((handle, candidate.place));
            }
        }
        self.round.selected.sort_unstable();
        self.round.candidates = candidates;
    }

    /// Everything that is due, and takes from the list what is not any more.
    fn gather(&mut self, index: usize, candidates: &mut Vec<Candidate>) {
        let record_size = self.links[index].record_size;
        let mut due = std::mem::take(&mut self.links[index].due);
        due.retain(|&place| {
            let is_due = self.links[index].out[place as usize].phase == Phase::Due;
            let wanted = is_due && self.wants(index, place);
            let object = &self.store[place];
            let out = &mut self.links[index].out[place as usize];
            if is_due && (wanted || out.closing) {
                // What changed after this tick was taken is told in the next.
                if !(wanted && object.dirty) {
                    let is_new = !out.known && wanted;
                    let size = match self.store.kind(place) {
                        Some(kind) if is_new => (INTRO_BYTES + kind.layout.whole_bytes()) << 8,
                        _ => record_size,
                    };
                    candidates.push(Candidate { priority: 0, place, size, is_new });
                }
                return true;
            }
            if is_due {
                out.phase = Phase::Idle;
            }
            out.listed = false;
            if object.record.is_none() {
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
    fn weigh(&mut self, index: usize, candidates: &mut [Candidate]) {
        for candidate in candidates.iter_mut() {
            let out = &mut self.links[index].out[candidate.place as usize];
            let weight = u32::from(out.weight.max(1)) << 8;
            let weight = if candidate.is_new { weight.saturating_mul(NEW_WEIGHT) } else { weight };
            out.priority = out.priority.saturating_add(weight);
            candidate.priority = out.priority;
        }
        candidates.sort_unstable_by(|a, b| b.cmp(a));
    }
}
