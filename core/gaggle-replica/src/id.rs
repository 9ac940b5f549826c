//! Identifiers of objects and of members. All parts and the game use them. Absent: what they refer
//! to.

use std::fmt;

use gaggle_kit::Slot;

/// Id of an object, the same on every peer and never reused. Consists of the tag of the member that
/// created it and a counter, so creating one needs no coordination.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId(u64);

impl ObjectId {
    /// Id of the `counter`th object this member creates.
    pub const fn new(creator: MemberTag, counter: u32) -> ObjectId {
        ObjectId((creator.0 as u64) << 32 | counter as u64)
    }

    /// Id with these bits, as they are sent.
    pub const fn from_bits(bits: u64) -> ObjectId {
        ObjectId(bits)
    }

    /// Bits of the id, as they are sent.
    pub const fn to_bits(self) -> u64 {
        self.0
    }

    /// Tag of the member that created it.
    pub const fn creator(self) -> MemberTag {
        MemberTag((self.0 >> 32) as u32)
    }

    /// Position among the objects of its creator.
    pub const fn counter(self) -> u32 {
        self.0 as u32
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}.{}", self.creator().0, self.counter())
    }
}

impl fmt::Debug for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "object:{self}")
    }
}

/// The slot for a byte of the wire: 0 to 254, none for 255.
pub(crate) const fn slot_of_byte(byte: u8) -> Option<Slot> {
    if byte == u8::MAX { None } else { Slot::new(byte as u16) }
}

/// Random number that distinguishes one stay of a player from all others.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MemberTag(pub u32);

impl fmt::Debug for MemberTag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:08x}", self.0)
    }
}

/// One stay of a player: a player that leaves and returns is another member. Ordered by join order,
/// then tag; the lowest present leads. Equal join orders arise only while a group is partitioned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct MemberId {
    /// One more than the highest join order the admitting peer knew.
    pub join_order: u32,
    /// Distinguishes members of equal join order.
    pub tag: MemberTag,
}

impl fmt::Debug for MemberId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "member {}:{:?}", self.join_order, self.tag)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn object_id_contains_its_creator() {
        let id = ObjectId::new(MemberTag(0xabcd), 7);
        assert_eq!((id.creator(), id.counter()), (MemberTag(0xabcd), 7));
        assert_eq!(ObjectId::from_bits(id.to_bits()), id);
        assert_eq!(format!("{id:?}"), "object:0000abcd.7");
    }

    #[test]
    fn join_order_is_number_then_tag() {
        let member = |number, tag| MemberId { join_order: number, tag: MemberTag(tag) };
        assert!(member(1, 9) < member(2, 0));
        assert!(member(1, 3) < member(1, 4));
    }
}
