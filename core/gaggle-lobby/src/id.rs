//! Identifiers of players, rooms, nodes and networks, with their text forms.
//!
//! Messages, tickets and logs use them. Absent: JSON syntax, where ids come from.

use std::fmt;
use std::str::FromStr;

use gaggle_kit::{Micros, PeerId, Slot, SlotSet};
use thiserror::Error;

use crate::MessageError;
use crate::json::{Raw, Value};
use crate::json::{write_hex, write_u64};

/// Account of a player, the same on all its devices. Ratings and results belong to a player,
/// reservations to a [`PeerId`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PlayerId([u8; 16]);

/// Identifies a room while it exists and in stored results.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomId([u8; 16]);

/// The text is not 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is not an id; give 32 hexadecimal digits")]
pub struct ParseIdError;

macro_rules! ids {
    ($($id:ident, $short:literal;)*) => {$(
        impl $id {
            /// Builds the id from its bytes.
            pub const fn from_bytes(bytes: [u8; 16]) -> $id {
                $id(bytes)
            }

            /// Bytes of the id, as in a ticket.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                &self.0
            }
        }

        impl FromStr for $id {
            type Err = ParseIdError;

            fn from_str(text: &str) -> Result<$id, ParseIdError> {
                text.parse::<PeerId>().map(|id| $id(*id.as_bytes())).map_err(|_| ParseIdError)
            }
        }

        impl fmt::Display for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:032x}", u128::from_be_bytes(self.0))
            }
        }

        impl fmt::Debug for $id {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($short, ":{:08x}…"), (u128::from_be_bytes(self.0) >> 96) as u32)
            }
        }

        impl Value for $id {
            fn read(raw: Raw<'_>, field: &'static str) -> Result<$id, MessageError> {
                PeerId::read(raw, field).map(|id| $id(*id.as_bytes()))
            }

            fn blank() -> $id {
                $id([0; 16])
            }

            fn write(&self, out: &mut String) {
                PeerId::from_bytes(self.0).write(out);
            }
        }
    )*};
}

ids! {
    PlayerId, "player";
    RoomId, "room";
}

impl Value for PeerId {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<PeerId, MessageError> {
        let id = raw.string().and_then(|text| text.parse().ok());
        id.ok_or(MessageError::Invalid { field, expected: "32 hexadecimal digits" })
    }

    fn blank() -> PeerId {
        PeerId::default()
    }

    fn write(&self, out: &mut String) {
        out.push('"');
        write_hex(self.to_u128(), 32, out);
        out.push('"');
    }
}

/// Written in whole microseconds.
impl Value for Micros {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Micros, MessageError> {
        u64::read(raw, field).map(Micros::new)
    }

    fn blank() -> Micros {
        Micros::ZERO
    }

    fn write(&self, out: &mut String) {
        write_u64(self.get(), out);
    }
}

impl Value for Slot {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<Slot, MessageError> {
        let slot = raw.u64().filter(|number| *number < SlotSet::COUNT_MAX as u64);
        slot.map(|number| Slot::at(number as usize))
            .ok_or(MessageError::Invalid { field, expected: "a slot from 0 to 63" })
    }

    fn blank() -> Slot {
        Slot::default()
    }

    fn write(&self, out: &mut String) {
        write_u64(u64::from(self.number()), out);
    }
}

/// Seed of a match's random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Default)]
pub struct Seed(pub u64);

/// Identifies one connection of a member. It is public: the secret resume token cannot be derived
/// from it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ResumeId(pub u64);

/// One server process of a shared lobby.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NodeId(pub u64);

/// Network of a member, as a keyed hash of its address: it distinguishes networks without naming
/// them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct NetworkId(pub u64);

/// Numbers written as 16 hexadecimal digits, because many JSON readers are exact only up to 2⁵³.
macro_rules! hex_numbers {
    ($($number:ident, $short:literal;)*) => {$(
        impl fmt::Display for $number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, "{:016x}", self.0)
            }
        }

        impl fmt::Debug for $number {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!($short, ":{:x}"), self.0)
            }
        }

        impl Value for $number {
            fn read(raw: Raw<'_>, field: &'static str) -> Result<$number, MessageError> {
                let number = raw.string().as_deref().and_then(parse_hex_number).map($number);
                number.ok_or(MessageError::Invalid { field, expected: "16 hexadecimal digits" })
            }

            fn blank() -> $number {
                $number(0)
            }

            fn write(&self, out: &mut String) {
                out.push('"');
                write_hex(u128::from(self.0), 16, out);
                out.push('"');
            }
        }
    )*};
}

hex_numbers! {
    Seed, "seed";
    ResumeId, "session";
    NodeId, "node";
    NetworkId, "network";
}

fn parse_hex_number(text: &str) -> Option<u64> {
    // `from_str_radix` alone would accept a sign.
    let fits = text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    u64::from_str_radix(text, 16).ok().filter(|_| fits)
}

/// The six letters that players share to meet in a room.
///
/// Without vowels, so that codes spell no words: 20⁶ = 64 million codes. Lower case is read as
/// upper case.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RoomCode([u8; 6]);

impl RoomCode {
    /// Letters that codes consist of.
    pub const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

    /// The code for a number, modulo 64 million.
    pub fn from_number(mut number: u64) -> RoomCode {
        RoomCode(std::array::from_fn(|_| {
            let letter = RoomCode::LETTERS[(number % 20) as usize];
            number /= 20;
            letter
        }))
    }

    /// The code as text.
    pub fn as_str(&self) -> &str {
        str::from_utf8(&self.0).expect("codes are made of ASCII letters")
    }
}

/// The text is not six of the letters in [`RoomCode::LETTERS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is not a room code; give six letters of BCDFGHJKLMNPQRSTVWXZ")]
pub struct ParseRoomCodeError;

impl FromStr for RoomCode {
    type Err = ParseRoomCodeError;

    fn from_str(text: &str) -> Result<RoomCode, ParseRoomCodeError> {
        let letters: [u8; 6] = text.as_bytes().try_into().map_err(|_| ParseRoomCodeError)?;
        let letters = letters.map(|letter| letter.to_ascii_uppercase());
        if letters.iter().all(|letter| RoomCode::LETTERS.contains(letter)) {
            Ok(RoomCode(letters))
        } else {
            Err(ParseRoomCodeError)
        }
    }
}

impl fmt::Display for RoomCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl fmt::Debug for RoomCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Value for RoomCode {
    fn read(raw: Raw<'_>, field: &'static str) -> Result<RoomCode, MessageError> {
        let code = raw.string().and_then(|text| text.parse().ok());
        code.ok_or(MessageError::Invalid { field, expected: "six letters of BCDFGHJKLMNPQRSTVWXZ" })
    }

    fn blank() -> RoomCode {
        RoomCode([b'B'; 6])
    }

    fn write(&self, out: &mut String) {
        out.push('"');
        out.push_str(self.as_str());
        out.push('"');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_read_in_either_case_and_nothing_else() {
        let code = RoomCode::from_number(123_456_789);
        assert_eq!(code.as_str().parse(), Ok(code));
        assert_eq!(code.as_str().to_lowercase().parse(), Ok(code));
        for bad in ["", "BCDFG", "BCDFGHJ", "BCDFGA", "BCDFG1", "BCDFGé"] {
            assert_eq!(bad.parse::<RoomCode>(), Err(ParseRoomCodeError), "{bad}");
        }
    }

    #[test]
    fn neighboring_numbers_give_different_codes() {
        let codes: std::collections::BTreeSet<RoomCode> = (0..10_000).map(RoomCode::from_number).collect();
        assert_eq!(codes.len(), 10_000);
    }

    #[test]
    fn ids_print_short_in_logs_and_whole_on_wire() {
        let room: RoomId = "0123456789abcdef0011223344556677".parse().unwrap();
        assert_eq!(format!("{room:?}"), "room:01234567…");
        assert_eq!(room.to_string(), "0123456789abcdef0011223344556677");
        assert_eq!("0123".parse::<PlayerId>(), Err(ParseIdError));
    }
}
