//! What was confirmed in every branch: roster by frame, and the state a straight run comes to.
//!
//! Branches fork and are abandoned, so frames form a tree: each knows the one before it. A joiner
//! starts at the node of its donor. In the end the surviving branch is walked back to the first
//! frame and played again from the inputs that the harness recorded.
//! Absent: sessions, packets.

use std::collections::BTreeMap;

use gaggle_kit::{ByteSink, Frame, Slot, SlotSet, StateHasher};
use gaggle_timeline::Inputs;

use super::broth::{MixGame, Press, SLOTS};
use super::presses::{Page, Presses};

/// Whose stream sat in each slot.
pub(super) type Seating = [Page; SLOTS];

/// A place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place(u32);

impl Place {
    /// Before the first frame.
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
    /// By branch, the newest node any of its peers confirmed.
    newest: BTreeMap<u64, Place>,
}

impl Chronicle {
    fn at(&self, place: Place) -> Option<&Confirmed> {
        self.all.get(place.0 as usize)
    }

    pub(super) fn frame(&self, place: Place) -> Frame {
        self.at(place).map_or(Frame::START, |confirmed| confirmed.frame)
    }

    /// Hash over every confirmed state, in the order in which they were confirmed.
    pub(super) fn hash(&self) -> u64 {
        let mut hasher = StateHasher::new();
        for confirmed in &self.all {
            hasher.put(&confirmed.frame.number().to_le_bytes());
            hasher.put(&confirmed.digest.to_le_bytes());
        }
        hasher.finish()
    }

    /// The digest of a straight run at a place.
    pub(super) fn digest(&self, place: Place) -> Option<u64> {
        self.at(place).map(|confirmed| confirmed.digest)
    }

    /// Who sat where at a place.
    pub(super) fn seating(&self, place: Place) -> Option<Seating> {
        self.at(place).map(|confirmed| confirmed.seating)
    }

    /// A peer confirmed the frame after `before`. Other peers of this branch must have confirmed
    /// the same.
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

    /// A machine in this history stands there.
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
    /// without peers, on the way to `own`.
    pub(super) fn find(&self, history: u64, own: Place, frame: Frame) -> Option<Place> {
        self.before(self.newest.get(&history).copied().unwrap_or(own), frame)
    }

    /// The place of a frame on the way to another place.
    pub(super) fn before(&self, mut place: Place, frame: Frame) -> Option<Place> {
        while self.frame(place) > frame {
            place = self.all[place.0 as usize].before;
        }
        (self.frame(place) == frame).then_some(place)
    }

    /// Plays everything up to a place, from the first frame of all, with nothing but what was
    /// pressed.
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

/// What everybody in a seating held.
pub(super) fn row_of(seating: &Seating, frame: Frame, presses: &mut Presses) -> [Press; SLOTS] {
    seating.map(|page| presses.held(page, frame))
}

/// Occupied slots of a roster.
pub(super) fn present(seating: &Seating) -> SlotSet {
    (0..SLOTS).filter(|slot| seating[*slot] > 0).map(Slot::at).collect()
}
