//! Interest: which objects a receiver gets, and how often if the bandwidth is too small for all.
//! Games implement it; selection asks it. Absent: packets, authority.

#![expect(clippy::float_arithmetic, reason = "distances decide what is sent first, never what is sent")]

use gaggle_kit::{PeerId, Slot, SlotSet};

use crate::store::{ObjectIndex, ObjectStore};
use crate::{Kind, Kinds, MemberId, ObjectId};

/// Peer that receives updates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Receiver {
    /// Id of the peer.
    pub peer: PeerId,
    /// Slot of its player; of several the first.
    pub player: Slot,
    /// Slots of its other players; usually empty.
    pub extra_slots: SlotSet,
    /// Member id of its present stay.
    pub member: MemberId,
}

/// Weight of an object for a receiver: among objects that wait, twice the weight is sent twice as
/// often.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relevance(u16);

impl Relevance {
    /// Weight of 1, the largest of [`by_distance`](Relevance::by_distance).
    pub const ONE: Relevance = Relevance(256);
    /// Smallest weight of an object that is sent at all.
    pub const MIN: Relevance = Relevance(1);

    /// Weight in 256ths, at least one.
    pub const fn from_256ths(parts: u16) -> Relevance {
        Relevance(if parts == 0 { 1 } else { parts })
    }

    /// Full weight up to the distance `near`, then falling with the fourth power to a thirtieth:
    /// near objects are sent every tick, distant ones every few seconds.
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

/// An object, as an [`Interest`] sees it.
#[derive(Debug, Clone, Copy)]
pub struct ObjectRef<'a> {
    pub(crate) store: &'a ObjectStore,
    pub(crate) kinds: &'a Kinds,
    pub(crate) place: ObjectIndex,
}

impl ObjectRef<'_> {
    /// Id of the object.
    pub fn id(&self) -> ObjectId {
        self.store[self.place].id
    }

    /// Its value, if it is of this kind.
    pub fn get<K: Kind>(&self) -> Option<K> {
        let record = self.store[self.place].record?;
        let is_it = self.kinds.number_of::<K>() == Some(usize::from(record.kind)) && !record.gone;
        is_it.then(|| K::from_words(self.store.value(self.place)))
    }

    /// Its place: up to three elements of its first position, zero beyond.
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

/// Decides which objects a receiver gets and with what weight. Any function of a receiver and an
/// object implements it.
///
/// Called for an object when it is new, then about every eighth tick, and again whenever the
/// bandwidth does not suffice for all objects that wait.
pub trait Interest {
    /// Weight of an object for a receiver; `None` hides the object from it.
    fn weigh(&mut self, receiver: &Receiver, object: &ObjectRef<'_>) -> Option<Relevance>;
}

impl<F: FnMut(&Receiver, &ObjectRef<'_>) -> Option<Relevance>> Interest for F {
    fn weigh(&mut self, receiver: &Receiver, object: &ObjectRef<'_>) -> Option<Relevance> {
        self(receiver, object)
    }
}

/// An interest that gives every receiver every object, with the weight of its kind.
#[derive(Debug, Clone, Copy, Default)]
pub struct AllRelevant;

impl Interest for AllRelevant {
    fn weigh(&mut self, _: &Receiver, _: &ObjectRef<'_>) -> Option<Relevance> {
        Some(Relevance::ONE)
    }
}
