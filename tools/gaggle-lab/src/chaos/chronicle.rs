//! Confirmed rosters and states of all branches, against which peers are compared, and a run of the
//! surviving branch from recorded inputs alone.
//!
//! Frames form a tree, as branches fork and are abandoned; a joiner starts at a node of its donor.
//! Called by `machine.rs` and `company.rs`. Absent: sessions, packets.

use std::collections::BTreeMap;

use gaggle_kit::{ByteSink, Frame, Slot, SlotSet, StateHasher};
use gaggle_timeline::Inputs;

use super::broth::{MixGame, Press, SLOTS};
use super::presses::{Page, Presses};

/// Page of the stream in each slot.
pub(super) type Seating = [Page; SLOTS];

/// A node of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

impl Place {
    /// The root, before the first frame.
    pub(super) const START: Place = Place(u32::MAX);
}

#[derive(Debug)]
struct Confirmed {
    before: Place,
    frame: Frame,
    seating: Seating,
    digest: u64,
    by: usize,
}

#[derive(Debug, Default)]
pub(super) struct Chronicle {
    all: Vec<Confirmed>,
    known: BTreeMap<(u64, Frame), Place>,
    /// Newest node that any peer confirmed, by branch.
    newest: BTreeMap<u64, Place>,
}

impl Chronicle {
    fn at(&self, place: Place) -> Option<&Confirmed> {
        self.all.get(place.0 as usize)
    }

    pub(super) fn frame(&self, place: Place) -> Frame {
        self.at(place).map_or(Frame::START, |confirmed| confirmed.frame)
    }

    /// Hash over every confirmed state, in order of confirmation.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = StateHasher::new();
        for confirmed in &self.all {
            hasher.put(&confirmed.frame.number().to_le_bytes());
            hasher.put(&confirmed.digest.to_le_bytes());
        }
        hasher.finish()
    }

    /// Hash of the state at a node in a run from recorded inputs alone.
    pub(super) fn digest(&self, place: Place) -> Option<u64> {
        self.at(place).map(|confirmed| confirmed.digest)
    }

    /// Roster at a node.
    pub(super) fn seating(&self, place: Place) -> Option<Seating> {
        self.at(place).map(|confirmed| confirmed.seating)
    }

    /// Records that a peer confirmed the frame after `before`. An error if another peer of this
    /// branch confirmed it differently.
    pub(super) fn confirm(
        &mut self,
        by: usize,
        history: u64,
        before: Place,
        seating: Seating,
        digest: u64,
    ) -> Result<Place, String> {
        let frame = self.frame(before).next();
        if let Some(place) = self.known.get(&(history, frame)) {
            let known = &self.all[place.0 as usize];
            if (known.digest, known.seating) != (digest, seating) {
                return Err(format!("machines {} and {by} confirmed different states for {frame}", known.by));
            }
            return Ok(*place);
        }
        let place = Place(self.all.len() as u32);
        self.all.push(Confirmed { before, frame, seating, digest, by });
        self.known.insert((history, frame), place);
        Ok(place)
    }

    /// Records the newest frame of a peer of this branch.
    pub(super) fn note(&mut self, history: u64, place: Place) {
        let frame = self.frame(place);
        let newest = *self.newest.entry(history).or_insert(place);
        if self.frame(newest) < frame {
            self.newest.insert(history, place);
        }
    }

    /// Whether any peer was seen in a branch.
    pub(super) fn knows(&self, history: u64) -> bool {
        self.newest.contains_key(&history)
    }

    /// Node of a frame of a branch: in the branch itself or in one it forked from; for a branch
    /// without peers, on the path to `own`.
    pub(super) fn find(&self, history: u64, own: Place, frame: Frame) -> Option<Place> {
        self.before(self.newest.get(&history).copied().unwrap_or(own), frame)
    }

    /// Node of a frame on the path to another node.
    pub(super) fn before(&self, mut place: Place, frame: Frame) -> Option<Place> {
        while self.frame(place) > frame {
            place = self.all[place.0 as usize].before;
        }
        (self.frame(place) == frame).then_some(place)
    }

    /// Plays a path from the first frame on, with recorded inputs alone.
    pub(super) fn play(&self, place: Place, mut broth: MixGame, presses: &mut Presses) -> MixGame {
        let mut path = Vec::new();
        let mut at = place;
        while let Some(confirmed) = self.at(at) {
            path.push(confirmed);
            at = confirmed.before;
        }
        for confirmed in path.iter().rev() {
            let row = row_of(&confirmed.seating, confirmed.frame, presses);
            broth.tick_with(&Inputs::confirmed(confirmed.frame, &row, present(&confirmed.seating)));
        }
        broth
    }
}

/// Inputs of all players of a roster in a frame.
pub(super) fn row_of(seating: &Seating, frame: Frame, presses: &mut Presses) -> [Press; SLOTS] {
    seating.map(|page| presses.held(page, frame))
}

/// Occupied slots of a roster.
pub(super) fn present(seating: &Seating) -> SlotSet {
    (0..SLOTS).filter(|slot| seating[*slot] > 0).map(Slot::at).collect()
}
