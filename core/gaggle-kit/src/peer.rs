//! Id of a peer.
//!
//! Every packet and message uses it. Absent: accounts and names of players.

use std::cmp::Ordering;
use std::fmt;
use std::str::FromStr;

use bytemuck::{Pod, Zeroable};
use thiserror::Error;

/// A peer in a match: 16 bytes, the same on every path and in every packet.
///
/// Printed as 32 hexadecimal digits; `Debug` shows the first four bytes, which distinguish the
/// peers of one room.
///
/// ```
/// use gaggle_kit::PeerId;
/// let peer = PeerId::from_u128(0xab);
/// assert_eq!(peer.to_string().parse(), Ok(peer));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
// Aligned so that it is copied as two words: byte arrays in enums have odd offsets, at which every
// copy stalls.
#[repr(C, align(8))]
pub struct PeerId([u8; 16]);

impl PeerId {
    /// An id from its encoded bytes.
    pub const fn from_bytes(bytes: [u8; 16]) -> PeerId {
        PeerId(bytes)
    }

    /// An id from a number, for tests and random generation.
    pub const fn from_u128(number: u128) -> PeerId {
        PeerId(number.to_be_bytes())
    }

    /// The bytes as encoded.
    pub const fn as_bytes(&self) -> &[u8; 16] {
        &self.0
    }

    /// The number for [`PeerId::from_u128`].
    #[inline]
    pub const fn to_u128(self) -> u128 {
        u128::from_be_bytes(self.0)
    }
}

/// In the order of the bytes. As one number that is two comparisons instead of a call; every packet
/// looks up its peer.
impl Ord for PeerId {
    #[inline]
    fn cmp(&self, other: &PeerId) -> Ordering {
        self.to_u128().cmp(&other.to_u128())
    }
}

impl PartialOrd for PeerId {
    #[inline]
    fn partial_cmp(&self, other: &PeerId) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The text is not 32 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error("this is not a peer id; give 32 hexadecimal digits")]
pub struct ParsePeerIdError;

impl FromStr for PeerId {
    type Err = ParsePeerIdError;

    fn from_str(text: &str) -> Result<PeerId, ParsePeerIdError> {
        let digits: &[u8; 32] = text.as_bytes().try_into().map_err(|_| ParsePeerIdError)?;
        let half = |digits: &[u8]| {
            let value = |digit: u8| char::from(digit).to_digit(16).map(u64::from);
            digits.iter().try_fold(0, |number, digit| Some(number << 4 | value(*digit)?))
        };
        // In two halves: a lobby parses one for every signal, and most processors have 64-bit
        // words.
        match (half(&digits[..16]), half(&digits[16..])) {
            (Some(high), Some(low)) => Ok(PeerId::from_u128(u128::from(high) << 64 | u128::from(low))),
            _ => Err(ParsePeerIdError),
        }
    }
}

impl fmt::Display for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.to_u128())
    }
}

impl fmt::Debug for PeerId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.to_u128();
        if number <= u128::from(u32::MAX) {
            write!(f, "peer:{number:x}")
        } else {
            write!(f, "peer:{:08x}…", (number >> 96) as u32)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn order_is_that_of_bytes() {
        let peers = [0, 1, 0x0100, u128::from(u64::MAX), 1 << 64, 1 << 120, u128::MAX].map(PeerId::from_u128);
        for (a, b) in peers.iter().flat_map(|a| peers.iter().map(move |b| (a, b))) {
            assert_eq!(a.cmp(b), a.as_bytes().cmp(b.as_bytes()));
        }
    }

    #[test]
    fn text_reads_back_and_malformed_text_is_rejected() {
        let peer = PeerId::from_u128(0x0123_4567_89ab_cdef_0011_2233_4455_6677);
        assert_eq!(peer.to_string(), "0123456789abcdef0011223344556677");
        assert_eq!("0123456789ABCDEF0011223344556677".parse(), Ok(peer));
        for bad in ["", "12", "+123456789abcdef0011223344556677", "0123456789abcdef00112233445566zz"] {
            assert_eq!(bad.parse::<PeerId>(), Err(ParsePeerIdError), "{bad}");
        }
        assert_eq!(format!("{peer:?}"), "peer:01234567…");
    }
}
