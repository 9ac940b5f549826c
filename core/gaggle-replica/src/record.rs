//! Header of a record in a packet: its object, its baseline, and its authority.
//!
//! The replicator writes it, intake reads it. Absent: selection of records, their effect.

use gaggle_kit::{BitReader, BitWriter, BufferFull, DecodeError, Slot};

use crate::history::SLOTS;
use crate::id::slot_of_byte;
use crate::sink::Sink;
use crate::{MemberId, MemberTag, ObjectId};

/// Form of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// A difference to the same ticks as the record before.
    Plain,
    /// A difference to the values in these slots, the newer first.
    Pair(u32, u32),
    /// A difference to the value in this slot.
    Single(u32),
    /// A whole value.
    Absolute,
    /// An object of the sender under a new handle.
    Intro,
    /// An object of the sender, with a change of its authority or lock.
    Authority,
    /// Record of another member, forwarded.
    Relay,
    /// The handle is not used any more.
    Close,
}

impl Form {
    pub(crate) fn write(self, w: &mut impl Sink) -> Result<(), BufferFull> {
        let (bits, count) = match self {
            Form::Plain => (0, 1),
            Form::Pair(newer, older) => (newer << 3 | older << 8 | 0b001, 13),
            Form::Single(slot) => (slot << 3 | 0b011, 8),
            Form::Absolute => (0b111, 3),
            Form::Intro => (0b00_101, 5),
            Form::Authority => (0b01_101, 5),
            Form::Relay => (0b10_101, 5),
            Form::Close => (0b11_101, 5),
        };
        w.bits(bits.into(), count)
    }

    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<Form, DecodeError> {
        const WHAT: &str = "form of a record";
        let slot = |r: &mut BitReader<'_>| r.bits("slot", SLOTS.ilog2()).map(|slot| slot as u32);
        if !r.bool(WHAT)? {
            return Ok(Form::Plain);
        }
        Ok(match r.bits(WHAT, 2)? {
            0b00 => Form::Pair(slot(r)?, slot(r)?),
            0b01 => Form::Single(slot(r)?),
            0b11 => Form::Absolute,
            _ => match r.bits(WHAT, 2)? {
                0b00 => Form::Intro,
                0b01 => Form::Authority,
                0b10 => Form::Relay,
                _ => Form::Close,
            },
        })
    }
}

/// Bits of the distance to the handle before, less 2, by class.
const GAP_BITS: [u32; 4] = [3, 6, 10, 17];

/// Writes a handle, given the one before it, which is −1 for the first.
#[inline]
pub(crate) fn write_handle(w: &mut impl Sink, before: i32, handle: u16) -> Result<(), BufferFull> {
    let gap = i32::from(handle) - before;
    if gap == 1 {
        return w.bits(0, 1);
    }
    let rest = (gap - 2) as u64;
    let class = GAP_BITS.iter().position(|bits| rest >> bits == 0).unwrap_or(3);
    w.bits(rest << 3 | (class as u64) << 1 | 1, 3 + GAP_BITS[class])
}

/// Reads what [`write_handle`] wrote.
pub(crate) fn read_handle(r: &mut BitReader<'_>, before: i32) -> Result<u16, DecodeError> {
    const WHAT: &str = "handle";
    let mut gap = 1;
    if r.bool(WHAT)? {
        let class = r.bits(WHAT, 2)? as usize;
        let rest = r.bits(WHAT, GAP_BITS[class])?;
        if class > 0 && rest >> GAP_BITS[class - 1] == 0 {
            return Err(DecodeError::NotCanonical { what: WHAT });
        }
        gap = rest as i32 + 2;
    }
    u16::try_from(before + gap).map_err(|_| DecodeError::out_of_range(WHAT, before + gap, 0, 65_535))
}

/// Authority of an object, sent when it changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AuthorityFields {
    pub(crate) hold: u32,
    pub(crate) seq: u32,
    pub(crate) held: bool,
    pub(crate) gone: bool,
    pub(crate) owner_claim: Option<Slot>,
}

impl AuthorityFields {
    pub(crate) fn write(&self, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        w.varint(u64::from(self.hold))?;
        w.varint(u64::from(self.seq))?;
        w.bool(self.held)?;
        w.bool(self.gone)?;
        write_player(w, self.owner_claim)
    }

    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<AuthorityFields, DecodeError> {
        Ok(AuthorityFields {
            hold: read_u32(r, "hold")?,
            seq: read_u32(r, "seq")?,
            held: r.bool("held")?,
            gone: r.bool("gone")?,
            owner_claim: read_player(r, "trust")?,
        })
    }
}

/// Facts of an object that are sent once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) kind: u8,
    pub(crate) id: ObjectId,
    pub(crate) home: Option<Slot>,
}

impl Identity {
    pub(crate) fn write(&self, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        w.bits(u64::from(self.kind), 8)?;
        w.bits(u64::from(self.id.creator().0), 32)?;
        w.varint(u64::from(self.id.counter()))?;
        write_player(w, self.home)
    }

    pub(crate) fn read(r: &mut BitReader<'_>, kinds: usize) -> Result<Identity, DecodeError> {
        let kind = r.bits("kind", 8)?;
        if kind >= kinds as u64 {
            return Err(DecodeError::Unknown { what: "kind", value: kind });
        }
        let creator = read_tag(r)?;
        let counter = read_u32(r, "counter")?;
        Ok(Identity { kind: kind as u8, id: ObjectId::new(creator, counter), home: read_player(r, "home")? })
    }
}

/// Authority of a forwarded record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Origin {
    pub(crate) holder: MemberId,
    pub(crate) player: Slot,
    pub(crate) tick: u32,
}

impl Origin {
    pub(crate) fn write(&self, w: &mut BitWriter<'_>) -> Result<(), BufferFull> {
        w.varint(u64::from(self.holder.join_order))?;
        w.bits(u64::from(self.holder.tag.0), 32)?;
        w.bits(u64::from(self.player.byte()), 8)?;
        w.bits(u64::from(self.tick), 32)
    }

    pub(crate) fn read(r: &mut BitReader<'_>) -> Result<Origin, DecodeError> {
        let holder = MemberId { join_order: read_u32(r, "member")?, tag: read_tag(r)? };
        let player = r.bits("player", 8)?;
        let player =
            slot_of_byte(player as u8).ok_or(DecodeError::Unknown { what: "player", value: player })?;
        Ok(Origin { holder, player, tick: r.bits("tick", 32)? as u32 })
    }
}

fn write_player(w: &mut BitWriter<'_>, player: Option<Slot>) -> Result<(), BufferFull> {
    match player {
        None => w.bits(0, 1),
        Some(player) => w.bits(u64::from(player.byte()) << 1 | 1, 9),
    }
}

fn read_player(r: &mut BitReader<'_>, what: &'static str) -> Result<Option<Slot>, DecodeError> {
    if !r.bool(what)? {
        return Ok(None);
    }
    let number = r.bits(what, 8)?;
    slot_of_byte(number as u8).map(Some).ok_or(DecodeError::Unknown { what, value: number })
}

fn read_u32(r: &mut BitReader<'_>, what: &'static str) -> Result<u32, DecodeError> {
    let value = r.varint(what)?;
    u32::try_from(value).map_err(|_| DecodeError::out_of_range(what, value, 0, u64::from(u32::MAX)))
}

/// Tag 0 is never drawn: no object id has it.
fn read_tag(r: &mut BitReader<'_>) -> Result<MemberTag, DecodeError> {
    match r.bits("member's tag", 32)? {
        0 => Err(DecodeError::Unknown { what: "member's tag", value: 0 }),
        tag => Ok(MemberTag(tag as u32)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check<T: PartialEq + std::fmt::Debug>(
        value: &T,
        write: impl Fn(&T, &mut BitWriter<'_>) -> Result<(), BufferFull>,
        read: impl Fn(&mut BitReader<'_>) -> Result<T, DecodeError>,
    ) {
        let mut buffer = [0; 40];
        let mut w = BitWriter::new(&mut buffer);
        write(value, &mut w).unwrap();
        let bytes = w.finish().to_vec();
        let mut r = BitReader::new(&bytes);
        assert_eq!(read(&mut r).as_ref(), Ok(value));
        r.finish("record").unwrap();
        for cut in 0..bytes.len() {
            let mut r = BitReader::new(&bytes[..cut]);
            assert!(read(&mut r).is_err(), "{value:?} cut to {cut} bytes");
        }
    }

    #[test]
    fn record_forms_read_back() {
        for form in [
            Form::Plain,
            Form::Pair(31, 7),
            Form::Single(19),
            Form::Absolute,
            Form::Intro,
            Form::Authority,
            Form::Relay,
            Form::Close,
        ] {
            check(&form, |form, w| form.write(w), Form::read);
        }
    }

    #[test]
    fn handle_after_any_previous_handle_reads_back() {
        for before in [-1, 0, 7, 60_000] {
            for gap in [1, 2, 9, 10, 65, 66, 1_000, 1_025, 1_026, 5_000] {
                let handle = (before + gap) as u16;
                check(&handle, |handle, w| write_handle(w, before, *handle), |r| read_handle(r, before));
            }
        }
        let mut r = BitReader::new(&[0b1111_1111, 0xff, 0xff]);
        assert!(matches!(read_handle(&mut r, 60_000), Err(DecodeError::OutOfRange { what: "handle", .. })));
        let mut r = BitReader::new(&[0b011, 0]);
        assert_eq!(read_handle(&mut r, 3), Err(DecodeError::NotCanonical { what: "handle" }));
    }

    #[test]
    fn object_entry_reads_back() {
        let member = MemberId { join_order: 300, tag: MemberTag(0xfeed_beef) };
        let authority =
            AuthorityFields { hold: 5, seq: u32::MAX, held: true, gone: false, owner_claim: Slot::new(7) };
        check(&authority, AuthorityFields::write, AuthorityFields::read);
        let identity = Identity { kind: 3, id: ObjectId::new(member.tag, 1_000_000), home: Slot::new(0) };
        check(&identity, Identity::write, |r| Identity::read(r, 4));
        let origin = Origin { holder: member, player: Slot::at(9), tick: 0xdead_0001 };
        check(&origin, Origin::write, Origin::read);
    }

    #[test]
    fn zero_tag_is_neither_creator_nor_player() {
        let mut buffer = [0; 40];
        let mut w = BitWriter::new(&mut buffer);
        w.bits(0, 8).unwrap();
        w.bits(0, 32).unwrap();
        let refusal = Identity::read(&mut BitReader::new(&buffer), 1);
        assert_eq!(refusal, Err(DecodeError::Unknown { what: "member's tag", value: 0 }));
        let refusal = Identity::read(&mut BitReader::new(&[9; 20]), 4);
        assert_eq!(refusal, Err(DecodeError::Unknown { what: "kind", value: 9 }));
        let refusal = read_player(&mut BitReader::new(&[0xff, 0xff]), "trust");
        assert_eq!(refusal, Err(DecodeError::Unknown { what: "trust", value: 255 }));
    }
}
