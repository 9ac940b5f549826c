//! First message of a link: identity of a peer, its schema, and its progress. The session writes
//! one for every start of a link. Absent: checks of it.

use gaggle_kit::{ByteReader, DecodeError, Slot, SlotSet};

use super::{NUMBER_NONE, PARTS_MAX, PROTOCOL_VERSION};
use crate::membership::Identity;
use crate::roster::{LOCAL_PLAYERS_MAX, RosterMember};
use crate::{MemberId, MemberTag};

/// A peer's statement at the start of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    /// Fingerprint of game, kinds and settings.
    pub(crate) fingerprint: u64,
    /// Epoch of this start of the link, and of the other side's start if it is known.
    pub(crate) epoch: u32,
    pub(crate) echo: u32,
    /// The join order is [`NUMBER_NONE`] for a peer that is no member yet.
    pub(crate) member: MemberId,
    /// Slot of the player at the sender; of several the first.
    pub(crate) player: Slot,
    /// Slots of the others, all after the first.
    pub(crate) extra_slots: SlotSet,
    /// The highest join order the sender knows.
    pub(crate) highest: u32,
    /// Age of the session in milliseconds.
    pub(crate) age_ms: u32,
    /// Present tick of the sender.
    pub(crate) tick: u32,
    /// Whether the sender knows no object.
    pub(crate) blank: bool,
    /// The sender does not accept the receiver's join order: the receiver must join again, as a new
    /// member.
    pub(crate) unknown: bool,
    /// The sender spectates and is never a member.
    pub(crate) spectator: bool,
    /// Number of objects the sender is about to introduce.
    pub(crate) objects: u32,
    /// Hashes of the fingerprint's parts, to find the one that differs.
    pub(crate) parts: Vec<u32>,
}

/// Slots of further players at one peer, in their only valid form: at least one, all after the
/// first, and none of a spectator.
fn read_extra_slots(r: &mut ByteReader<'_>, first: Slot, is_spectator: bool) -> Result<SlotSet, DecodeError> {
    let slots = SlotSet::from_bits(r.u64("extra slots")?);
    if is_spectator || slots.lowest().is_none_or(|lowest| lowest <= first) {
        return Err(DecodeError::NotCanonical { what: "extra slots" });
    }
    if slots.len() >= LOCAL_PLAYERS_MAX {
        let (count, max) = (slots.len() as u64, LOCAL_PLAYERS_MAX as u64 - 1);
        return Err(DecodeError::CountTooLarge { what: "extra slots", count, max });
    }
    Ok(slots)
}

impl Hello {
    /// Slots of the players at the sender.
    pub(crate) fn identity(&self) -> Identity {
        (self.player, self.extra_slots)
    }

    /// The sender as a member.
    pub(crate) fn present(&self) -> RosterMember {
        RosterMember { id: self.member, slot: self.player, extra_slots: self.extra_slots }
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        out.push(super::KIND_HELLO);
        out.extend_from_slice(&self.version.to_le_bytes());
        out.extend_from_slice(&self.fingerprint.to_le_bytes());
        for number in [
            self.epoch,
            self.echo,
            self.member.join_order,
            self.member.tag.0,
            self.highest,
            self.age_ms,
            self.tick,
            self.objects,
        ] {
            out.extend_from_slice(&number.to_le_bytes());
        }
        out.push(self.player.byte());
        let has_extra = !self.extra_slots.is_empty();
        let flags = [self.blank, self.spectator, self.unknown, has_extra];
        out.push((0..).zip(flags).map(|(bit, flag)| u8::from(flag) << bit).sum());
        if has_extra {
            out.extend_from_slice(&self.extra_slots.bits().to_le_bytes());
        }
        self.parts.iter().for_each(|part| out.extend_from_slice(&part.to_le_bytes()));
    }

    pub(super) fn decode(r: &mut ByteReader<'_>) -> Result<Hello, DecodeError> {
        let version = r.u16("protocol version")?;
        if version != PROTOCOL_VERSION {
            // After its number, the hello of another version cannot be read.
            return Ok(Hello {
                version,
                fingerprint: 0,
                epoch: 0,
                echo: 0,
                member: MemberId::default(),
                player: Slot::at(0),
                extra_slots: SlotSet::EMPTY,
                highest: 0,
                age_ms: 0,
                tick: 0,
                blank: true,
                unknown: false,
                spectator: false,
                objects: 0,
                parts: Vec::new(),
            });
        }
        let fingerprint = r.u64("fingerprint")?;
        let (epoch, echo) = (r.u32("epoch")?, r.u32("echoed epoch")?);
        let member = MemberId { join_order: r.u32("join order")?, tag: MemberTag(r.u32("member's tag")?) };
        let (highest, age_ms) = (r.u32("highest join order")?, r.u32("age")?);
        let (tick, objects) = (r.u32("tick")?, r.u32("objects")?);
        let player = super::read_player(r)?;
        if epoch == 0 {
            return Err(DecodeError::Unknown { what: "epoch", value: 0 });
        }
        if member.tag.0 == 0 {
            return Err(DecodeError::Unknown { what: "member's tag", value: 0 });
        }
        let flags = r.u8("flags")?;
        if flags > 15 {
            return Err(DecodeError::Unknown { what: "flags", value: flags.into() });
        }
        let (blank, spectator, unknown) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0);
        if spectator && member.join_order != NUMBER_NONE {
            return Err(DecodeError::NotCanonical { what: "join order" });
        }
        let extra_slots =
            if flags & 8 == 0 { SlotSet::EMPTY } else { read_extra_slots(r, player, spectator)? };
        if r.remaining() > PARTS_MAX * 4 {
            let (count, max) = (r.remaining() as u64 / 4, PARTS_MAX as u64);
            return Err(DecodeError::CountTooLarge { what: "parts of the game", count, max });
        }
        let parts = (0..r.remaining() / 4).map(|_| r.u32("part of the game")).collect::<Result<_, _>>()?;
        Ok(Hello {
            version,
            fingerprint,
            epoch,
            echo,
            member,
            player,
            extra_slots,
            highest,
            age_ms,
            tick,
            blank,
            unknown,
            spectator,
            objects,
            parts,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;
    use crate::message::tests::{bytes_of, expect_vector, samples};
    use gaggle_testkit::protocol_reader::{fields_of, list};

    fn hello_with(extra_slots: SlotSet) -> Hello {
        let [Message::Hello(hello), ..] = samples() else { panic!("the first sample is a hello") };
        Hello { extra_slots, ..hello }
    }

    #[test]
    fn hello_of_three_players_matches_vector() {
        let extra = [5, 63].map(Slot::at).into_iter().collect();
        let message = Message::Hello(hello_with(extra));
        expect_vector(&message, include_str!("../../vectors/hello_extra_slots.hex"));
    }

    #[test]
    fn hello_of_spectator_matches_vector() {
        let member = MemberId { join_order: NUMBER_NONE, tag: MemberTag(0xc2c2_c2c2) };
        let message = Message::Hello(Hello { spectator: true, member, ..hello_with(SlotSet::EMPTY) });
        expect_vector(&message, include_str!("../../vectors/hello_spectator.hex"));
    }

    /// Fields of a hello in the words of tools/protocol-reader.
    fn fields(hello: &Hello) -> String {
        let extra = match hello.extra_slots.is_empty() {
            true => String::new(),
            false => format!(r#""extra_slots":{},"#, list(hello.extra_slots.iter().map(Slot::index))),
        };
        let numbers = [
            ("version", hello.version.into()),
            ("fingerprint", hello.fingerprint),
            ("epoch", hello.epoch.into()),
            ("echo", hello.echo.into()),
            ("join_order", hello.member.join_order.into()),
            ("tag", hello.member.tag.0.into()),
            ("highest", hello.highest.into()),
            ("age_ms", hello.age_ms.into()),
            ("tick", hello.tick.into()),
            ("objects", hello.objects.into()),
            ("slot", hello.player.byte().into()),
        ];
        let numbers: String =
            numbers.map(|(name, number): (_, u64)| format!(r#""{name}":{number},"#)).concat();
        let flags = [("blank", hello.blank), ("spectator", hello.spectator), ("unknown", hello.unknown)];
        let flags: String = flags.map(|(name, flag)| format!(r#""{name}":{flag},"#)).concat();
        format!(r#"[1,{{{numbers}{flags}{extra}"parts":{}}}]"#, list(&hello.parts))
    }

    #[test]
    fn hellos_have_fields_found_by_reader() {
        let vectors = [
            ("hello", include_str!("../../vectors/hello.hex")),
            ("hello_extra_slots", include_str!("../../vectors/hello_extra_slots.hex")),
            ("hello_spectator", include_str!("../../vectors/hello_spectator.hex")),
        ];
        for (name, vector) in vectors {
            let bytes = bytes_of(vector);
            let Ok(Message::Hello(hello)) = Message::decode(&bytes) else { panic!("{name} is a hello") };
            assert_eq!(fields(&hello), fields_of(&format!("core/gaggle-replica/vectors/{name}.hex")));
        }
    }

    #[test]
    fn hello_with_impossible_extra_slots_is_rejected() {
        let impossible = |hello: Hello| {
            let mut bytes = Vec::new();
            Message::Hello(hello).encode(&mut bytes);
            Message::decode(&bytes).unwrap_err()
        };
        let not_canonical = DecodeError::NotCanonical { what: "extra slots" };
        for before_first in [0, 2] {
            assert_eq!(impossible(hello_with(SlotSet::of(Slot::at(before_first)))), not_canonical);
        }
        let spectator = Hello {
            spectator: true,
            member: MemberId { join_order: NUMBER_NONE, tag: MemberTag(1) },
            ..hello_with(SlotSet::of(Slot::at(3)))
        };
        assert_eq!(impossible(spectator), not_canonical);
        let nine = impossible(hello_with((3..11).map(Slot::at).collect()));
        assert_eq!(nine, DecodeError::CountTooLarge { what: "extra slots", count: 8, max: 7 });
        // The flag without a slot.
        let mut bytes = Vec::new();
        Message::Hello(hello_with(SlotSet::of(Slot::at(3)))).encode(&mut bytes);
        bytes[45] = 0;
        assert_eq!(bytes[44], 8, "the flags come before");
        assert_eq!(Message::decode(&bytes).unwrap_err(), not_canonical);
    }
}
