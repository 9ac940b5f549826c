//! The messages of the reliable channel.

use gaggle_kit::{ByteReader, DecodeError};

use crate::{Member, MemberTag, ObjectId, Player};

/// Version of everything the replica engine puts on the wire.
pub const PROTOCOL_VERSION: u16 = 1;

const KIND_HELLO: u8 = 1;
const KIND_FORGOTTEN: u8 = 2;
const KIND_ASK: u8 = 3;

/// The number of somebody who is no member yet.
pub(crate) const NUMBER_NONE: u32 = u32::MAX;

/// Who somebody is, by which rules it plays, and how far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hello {
    pub(crate) version: u16,
    /// Game, kinds and settings.
    pub(crate) fingerprint: u64,
    /// This start of the link, and the other side's start if it is known.
    pub(crate) epoch: u32,
    pub(crate) echo: u32,
    /// The number is [`NUMBER_NONE`] for who is not admitted yet.
    pub(crate) member: Member,
    pub(crate) player: Player,
    /// The highest member number the sender knows.
    pub(crate) highest: u32,
    /// How long ago the session was founded.
    pub(crate) age_ms: u32,
    /// The sender's tick.
    pub(crate) tick: u32,
    /// The sender knows of no object.
    pub(crate) blank: bool,
    /// How many objects the sender is about to introduce.
    pub(crate) objects: u32,
}

/// A message of the reliable channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Message {
    Hello(Hello),
    /// The object was deleted so long ago that only this is left of it.
    Forgotten(ObjectId),
    /// Somebody says this is how you left the object: is it?
    Ask(ObjectId),
}

impl Message {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Message::Hello(hello) => {
                out.push(KIND_HELLO);
                out.extend_from_slice(&hello.version.to_le_bytes());
                out.extend_from_slice(&hello.fingerprint.to_le_bytes());
                for number in [
                    hello.epoch,
                    hello.echo,
                    hello.member.number,
                    hello.member.tag.0,
                    hello.highest,
                    hello.age_ms,
                    hello.tick,
                    hello.objects,
                ] {
                    out.extend_from_slice(&number.to_le_bytes());
                }
                out.push(hello.player.number());
                out.push(u8::from(hello.blank));
            }
            Message::Forgotten(id) | Message::Ask(id) => {
                let forgotten = matches!(self, Message::Forgotten(_));
                out.push(if forgotten { KIND_FORGOTTEN } else { KIND_ASK });
                out.extend_from_slice(&id.to_bits().to_le_bytes());
            }
        }
    }

    pub(crate) fn decode(bytes: &[u8]) -> Result<Message, DecodeError> {
        let mut r = ByteReader::new(bytes);
        let message = match r.u8("message kind")? {
            KIND_HELLO => {
                let hello = Hello::decode(&mut r)?;
                if hello.version != PROTOCOL_VERSION {
                    return Ok(Message::Hello(hello));
                }
                Message::Hello(hello)
            }
            KIND_FORGOTTEN => Message::Forgotten(ObjectId::from_bits(r.u64("object")?)),
            KIND_ASK => Message::Ask(ObjectId::from_bits(r.u64("object")?)),
            kind => return Err(DecodeError::Unknown { what: "message kind", value: kind.into() }),
        };
        r.finish("message")?;
        Ok(message)
    }
}

impl Hello {
    fn decode(r: &mut ByteReader<'_>) -> Result<Hello, DecodeError> {
        let version = r.u16("protocol version")?;
        if version != PROTOCOL_VERSION {
            // What another version says after its number is not ours to judge.
            return Ok(Hello {
                version,
                fingerprint: 0,
                epoch: 0,
                echo: 0,
                member: Member::default(),
                player: Player::at(0),
                highest: 0,
                age_ms: 0,
                tick: 0,
                blank: true,
                objects: 0,
            });
        }
        let fingerprint = r.u64("fingerprint")?;
        let (epoch, echo) = (r.u32("epoch")?, r.u32("echoed epoch")?);
        let member = Member { number: r.u32("member's number")?, tag: MemberTag(r.u32("member's tag")?) };
        let (highest, age_ms) = (r.u32("highest number")?, r.u32("age")?);
        let (tick, objects) = (r.u32("tick")?, r.u32("objects")?);
        let player = r.u8("player")?;
        let player =
            Player::new(player).ok_or(DecodeError::Unknown { what: "player", value: player.into() })?;
        if epoch == 0 {
            return Err(DecodeError::Unknown { what: "epoch", value: 0 });
        }
        if member.tag.0 == 0 {
            return Err(DecodeError::Unknown { what: "member's tag", value: 0 });
        }
        let blank = r.bool("blank")?;
        Ok(Hello { version, fingerprint, epoch, echo, member, player, highest, age_ms, tick, blank, objects })
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    fn samples() -> [Message; 3] {
        [
            Message::Hello(Hello {
                version: PROTOCOL_VERSION,
                fingerprint: 0x0102_0304_0506_0708,
                epoch: 0xa0,
                echo: 0xb1,
                member: Member { number: 3, tag: MemberTag(0xc2c2_c2c2) },
                player: Player::at(2),
                highest: 5,
                age_ms: 61_000,
                tick: 1_220,
                blank: false,
                objects: 400,
            }),
            Message::Forgotten(ObjectId::new(MemberTag(7), 9)),
            Message::Ask(ObjectId::new(MemberTag(8), 10)),
        ]
    }

    #[test]
    fn messages_round_trip_and_every_truncation_is_an_error() {
        for message in samples() {
            let mut bytes = Vec::new();
            message.encode(&mut bytes);
            assert_eq!(Message::decode(&bytes), Ok(message));
            for length in 0..bytes.len() {
                assert!(Message::decode(&bytes[..length]).is_err(), "{length} of {} bytes", bytes.len());
            }
            bytes.push(0);
            assert!(Message::decode(&bytes).is_err(), "something follows");
        }
    }

    #[test]
    fn another_version_is_recognised_whatever_follows() {
        match Message::decode(&[KIND_HELLO, 9, 0]) {
            Ok(Message::Hello(hello)) => assert_eq!(hello.version, 9),
            other => panic!("{other:?}"),
        }
    }
}
