//! Slots of players, and sets of them. Engines, lobby and games number players by them. Absent:
//! peers, players' identities.

use std::fmt;

use bytemuck::{Pod, Zeroable};

/// Numbered position of one player in a match, 0 to 1,023. A peer may have several (two players at
/// one keyboard). Types for fewer players have limits of their own: a [`SlotSet`] 64, a world of
/// replicated objects 255.
///
/// ```
/// use gaggle_kit::Slot;
/// let scores = [3, 0, 7];
/// assert_eq!(scores[Slot::at(2).index()], 7);
/// assert_eq!(Slot::new(1_024), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot(u16);

impl Slot {
    /// More slots than any match has.
    pub const COUNT_MAX: usize = 1_024;

    /// The slot with this number, or none from 1,024 on.
    pub const fn new(number: u16) -> Option<Slot> {
        if (number as usize) < Slot::COUNT_MAX { Some(Slot(number)) } else { None }
    }

    /// The slot with this number, for constants and tests.
    ///
    /// # Panics
    /// From 1,024 on.
    #[inline]
    pub const fn at(number: usize) -> Slot {
        assert!(number < Slot::COUNT_MAX, "slots are numbered 0 to 1,023");
        Slot(number as u16)
    }

    /// The slot's number, from 0.
    pub const fn number(self) -> u16 {
        self.0
    }

    /// The slot's number, for indexing.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The slot's number where encodings have one byte for it. From 255 on it is 255, which stands
    /// for no slot and is rejected by decoders.
    pub const fn byte(self) -> u8 {
        if self.0 < u8::MAX as u16 { self.0 as u8 } else { u8::MAX }
    }

    const fn bit(self) -> u64 {
        if self.index() < SlotSet::COUNT_MAX { 1 << self.0 } else { 0 }
    }
}

impl fmt::Display for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.0)
    }
}

impl fmt::Debug for Slot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A set of the slots 0 to 63, one bit each. Slots from 64 on are in no set.
///
/// ```
/// use gaggle_kit::{Slot, SlotSet};
/// let slots: SlotSet = [Slot::at(3), Slot::at(1)].into_iter().collect();
/// assert_eq!(slots.lowest(), Some(Slot::at(1)));
/// assert_eq!(slots.iter().count(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct SlotSet(u64);

impl SlotSet {
    /// Slots a set can hold: 0 to 63.
    pub const COUNT_MAX: usize = 64;

    /// The set without slots.
    pub const EMPTY: SlotSet = SlotSet(0);

    /// Slot *n* is in the set iff bit *n* is 1.
    pub const fn from_bits(bits: u64) -> SlotSet {
        SlotSet(bits)
    }

    /// Slots 0 up to but not including `count`.
    pub const fn first(count: usize) -> SlotSet {
        if count >= SlotSet::COUNT_MAX { SlotSet(u64::MAX) } else { SlotSet((1 << count) - 1) }
    }

    /// A set of this slot alone.
    pub const fn of(slot: Slot) -> SlotSet {
        SlotSet(slot.bit())
    }

    /// One bit per slot.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the slot is in the set.
    pub const fn contains(self, slot: Slot) -> bool {
        self.0 & slot.bit() != 0
    }

    /// Adds a slot, 0 to 63.
    pub const fn insert(&mut self, slot: Slot) {
        self.0 |= slot.bit();
    }

    /// Removes a slot, if it is in the set.
    pub const fn remove(&mut self, slot: Slot) {
        self.0 &= !slot.bit();
    }

    /// Slots in either set.
    #[must_use]
    pub const fn union(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 | other.0)
    }

    /// Slots in both sets.
    #[must_use]
    pub const fn intersection(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 & other.0)
    }

    /// Slots in this set and not in the other.
    #[must_use]
    pub const fn difference(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 & !other.0)
    }

    /// Number of slots, 0 to 64.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether no slot is in the set.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The slot with the lowest number.
    pub const fn lowest(self) -> Option<Slot> {
        if self.0 == 0 { None } else { Some(Slot(self.0.trailing_zeros() as u16)) }
    }

    /// The slots, lowest first.
    pub const fn iter(self) -> SlotSetIter {
        SlotSetIter(self.0)
    }
}

/// The slots of a [`SlotSet`], lowest first.
#[derive(Debug, Clone)]
pub struct SlotSetIter(u64);

impl Iterator for SlotSetIter {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        let slot = SlotSet(self.0).lowest()?;
        self.0 &= self.0 - 1;
        Some(slot)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.count_ones() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for SlotSetIter {}

impl IntoIterator for SlotSet {
    type Item = Slot;
    type IntoIter = SlotSetIter;
    fn into_iter(self) -> SlotSetIter {
        self.iter()
    }
}

impl FromIterator<Slot> for SlotSet {
    fn from_iter<T: IntoIterator<Item = Slot>>(slots: T) -> SlotSet {
        slots.into_iter().fold(SlotSet::EMPTY, |set, slot| set.union(SlotSet::of(slot)))
    }
}

impl fmt::Debug for SlotSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.iter().map(Slot::number)).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_holds_all_sixty_four_slots() {
        assert_eq!(SlotSet::first(64).len(), 64);
        assert_eq!(SlotSet::first(64).iter().last(), Some(Slot::at(63)));
        assert_eq!(SlotSet::first(0), SlotSet::EMPTY);
    }

    #[test]
    fn slot_from_64_on_is_in_no_set() {
        let beyond = Slot::at(64);
        assert!(SlotSet::of(beyond).is_empty() && !SlotSet::first(64).contains(beyond));
        let mut all = SlotSet::first(64);
        all.insert(beyond);
        all.remove(Slot::at(1_023));
        assert_eq!(all, SlotSet::first(64));
        assert_eq!((Slot::new(1_023), Slot::new(1_024)), (Some(Slot::at(1_023)), None));
    }

    #[test]
    fn slot_byte_from_255_on_stands_for_no_slot() {
        let bytes = [0, 254, 255, 256, 1_023].map(|number| Slot::at(number).byte());
        assert_eq!(bytes, [0, 254, 255, 255, 255]);
    }

    #[test]
    fn sets_unite_intersect_and_differ() {
        let mut a = SlotSet::from_bits(0b0110);
        let b = SlotSet::from_bits(0b0011);
        assert_eq!(a.union(b).bits(), 0b0111);
        assert_eq!(a.intersection(b).bits(), 0b0010);
        assert_eq!(a.difference(b).bits(), 0b0100);
        a.remove(Slot::at(1));
        a.insert(Slot::at(0));
        assert_eq!(format!("{a:?}"), "{0, 2}");
    }
}
