//! What matters to whom: who is told about an object at all, and how soon when not everything fits.

#![expect(clippy::float_arithmetic, reason = "distances decide what is sent first, never what is sent")]

use gaggle_kit::{PeerId, Slot, SlotSet};

use crate::store::{ObjectIndex, ObjectStore};
use crate::{Kind, Kinds, MemberId, ObjectId};

/// Who is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver {
    /// The machine.
    pub peer: PeerId,
    /// Slot of the player at it; if there are several, of the first.
    pub player: Slot,
    /// Slots of the other players at it. Empty as a rule.
    pub extra_slots: SlotSet,
    /// This stay of the player.
    pub member: MemberId,
}

/// How much an object matters: among those that wait, twice the weight is told twice as often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relevance(u16);

impl Relevance {
    /// As much as anything.
    pub const ONE: Relevance = Relevance(256);
    /// As little as something that matters can.
    pub const MIN: Relevance = Relevance(1);

    /// So many 256ths, at least one.
    pub const fn from_256ths(parts: u16) -> Relevance {
        Relevance(if parts == 0 { 1 } else { parts })
    }

    /// Full weight up to a distance, then falling with its fourth power to a thirtieth: what is
    /// near is told every tick, what is far off every few seconds.
    ///
    /// ```
    /// use gaggle_replica::Relevance;
    /// assert_eq!(Relevance::by_distance(10.0, 50.0), Relevance::ONE);
    /// assert!(Relevance::by_distance(100.0, 50.0) < Relevance::ONE);
    /// assert_eq!(Relevance::by_distance(1_000.0, 50.0), Relevance::by_distance(9_000.0, 50.0));
    /// ```
    pub fn by_distance(distance: f64, near: f64) -> Relevance {
        let nearness = near / distance.max(near.abs()).max(1e-9);
        let square = nearness * nearness;
        Relevance::from_256ths((square * square * 256.0).clamp(8.0, 256.0) as u16)
    }

    pub(crate) const fn get(self) -> u16 {
        self.0
    }
}

/// An object, as whoever decides about interest sees it.
#[derive(Debug, Clone, Copy)]
pub struct ObjectRef<'a> {
    pub(crate) store: &'a ObjectStore,
    pub(crate) kinds: &'a Kinds,
    pub(crate) place: ObjectIndex,
}

impl ObjectRef<'_> {
    /// Which one.
    pub fn id(&self) -> ObjectId {
        self.store[self.place].id
    }

    /// What it is, if it is of this kind.
    pub fn get<K: Kind>(&self) -> Option<K> {
        let record = self.store[self.place].record?;
        let is_it = self.kinds.number_of::<K>() == Some(usize::from(record.kind)) && !record.gone;
        is_it.then(|| K::from_words(self.store.value(self.place)))
    }

    /// Where it is: up to three elements of its first position, zero beyond.
    pub fn position(&self) -> Option<[f64; 3]> {
        let layout = &self.store.kind(self.place)?.layout;
        let (first, count) = layout.position?;
        let value = self.store.value(self.place);
        let mut position = [0.0; 3];
        for (axis, place) in position.iter_mut().zip(first..first + count) {
            *axis = layout.axes[place].value_of(f64::from(*value.get(place)?));
        }
        Some(position)
    }
}

/// Decides what matters to whom. Any function of a receiver and an object does.
///
/// It is asked about an object when the object is new, then about every eighth tick, and again
/// whenever the budget is too small for all that waits.
pub trait Interest {
    /// How much an object matters to a receiver; none if it is not to be told at all.
    fn weigh(&mut self, receiver: &Receiver, object: &ObjectRef<'_>) -> Option<Relevance>;
}

impl<F: FnMut(&Receiver, &ObjectRef<'_>) -> Option<Relevance>> Interest for F {
    fn weigh(&mut self, receiver: &Receiver, object: &ObjectRef<'_>) -> Option<Relevance> {
        self(receiver, object)
    }
}

/// Everything matters to everybody, by the weight of its kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllRelevant;

impl Interest for AllRelevant {
    fn weigh(&mut self, _: &Receiver, _: &ObjectRef<'_>) -> Option<Relevance> {
        Some(Relevance::ONE)
    }
}
