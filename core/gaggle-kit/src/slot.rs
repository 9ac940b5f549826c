//! Seats in a match.

use std::fmt;

use bytemuck::{Pod, Zeroable};

/// A seat in a match, 0 to 63. A peer may hold several (two players at one keyboard).
///
/// ```
/// use gaggle_kit::Slot;
/// let scores = [3, 0, 7];
/// assert_eq!(scores[Slot::at(2).index()], 7);
/// assert_eq!(Slot::new(64), None);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Slot(u8);

impl Slot {
    /// More seats than any match has.
    pub const COUNT_MAX: usize = 64;

    /// The seat with this number, or none from 64 on.
    pub const fn new(number: u8) -> Option<Slot> {
        if (number as usize) < Slot::COUNT_MAX { Some(Slot(number)) } else { None }
    }

    /// The seat with this number, for constants and tests.
    ///
    /// # Panics
    /// From 64 on.
    #[inline]
    pub const fn at(number: usize) -> Slot {
        assert!(number < Slot::COUNT_MAX, "slots are numbered 0 to 63");
        Slot(number as u8)
    }

    /// The seat's number.
    pub const fn number(self) -> u8 {
        self.0
    }

    /// The seat's number, for indexing.
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    const fn bit(self) -> u64 {
        1 << self.0
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

/// A set of seats, one bit each.
///
/// ```
/// use gaggle_kit::{Slot, SlotSet};
/// let seats: SlotSet = [Slot::at(3), Slot::at(1)].into_iter().collect();
/// assert_eq!(seats.lowest(), Some(Slot::at(1)));
/// assert_eq!(seats.iter().count(), 2);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct SlotSet(u64);

impl SlotSet {
    /// Nobody.
    pub const EMPTY: SlotSet = SlotSet(0);

    /// Seat *n* is in the set iff bit *n* is 1.
    pub const fn from_bits(bits: u64) -> SlotSet {
        SlotSet(bits)
    }

    /// Seats 0 up to but not including `count`.
    pub const fn first(count: usize) -> SlotSet {
        if count >= 64 { SlotSet(u64::MAX) } else { SlotSet((1 << count) - 1) }
    }

    /// Just this seat.
    pub const fn of(slot: Slot) -> SlotSet {
        SlotSet(slot.bit())
    }

    /// One bit per seat.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Whether the seat is in the set.
    pub const fn contains(self, slot: Slot) -> bool {
        self.0 & slot.bit() != 0
    }

    /// Adds a seat.
    pub const fn insert(&mut self, slot: Slot) {
        self.0 |= slot.bit();
    }

    /// Takes a seat out.
    pub const fn remove(&mut self, slot: Slot) {
        self.0 &= !slot.bit();
    }

    /// Seats in either set.
    #[must_use]
    pub const fn union(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 | other.0)
    }

    /// Seats in both sets.
    #[must_use]
    pub const fn intersection(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 & other.0)
    }

    /// Seats in this set and not in the other.
    #[must_use]
    pub const fn difference(self, other: SlotSet) -> SlotSet {
        SlotSet(self.0 & !other.0)
    }

    /// How many seats.
    pub const fn len(self) -> usize {
        self.0.count_ones() as usize
    }

    /// Whether there is none.
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The seat with the lowest number.
    pub const fn lowest(self) -> Option<Slot> {
        if self.0 == 0 { None } else { Some(Slot(self.0.trailing_zeros() as u8)) }
    }

    /// The seats, lowest first.
    pub const fn iter(self) -> SlotSetIter {
        SlotSetIter(self.0)
    }
}

/// The seats of a [`SlotSet`], lowest first.
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
    fn sets_hold_all_sixty_four_seats() {
        assert_eq!(SlotSet::first(64).len(), 64);
        assert_eq!(SlotSet::first(64).iter().last(), Some(Slot::at(63)));
        assert_eq!(SlotSet::first(0), SlotSet::EMPTY);
        assert_eq!(Slot::new(64), None);
    }

    #[test]
    fn set_algebra() {
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
