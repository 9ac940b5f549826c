//! Input of a player: four directions, the honk and the tuck.
//!
//! Sent by the engine, made by pages and bots. Absent: what it does to a goose.

use gaggle_kit::{DecodeError, Input};

/// Bits that are used, and so the largest value sent.
const BITS: u8 = 0x7f;

/// Buttons that a player holds in a frame; the game detects presses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// From the lowest bit: left, right, up, down, honk, tuck, new player.
    bits: u8,
}

impl Pad {
    /// No button held.
    pub const NONE: Pad = Pad { bits: 0 };
    /// Fly to the left.
    pub const LEFT: Pad = Pad { bits: 1 };
    /// Fly to the right.
    pub const RIGHT: Pad = Pad { bits: 2 };
    /// Fly up the screen.
    pub const UP: Pad = Pad { bits: 4 };
    /// Fly down the screen.
    pub const DOWN: Pad = Pad { bits: 8 };
    /// The honk button.
    pub const HONK: Pad = Pad { bits: 16 };
    /// Fly slowly and shoot narrowly.
    pub const TUCK: Pad = Pad { bits: 32 };
    /// The player of this slot is new: rooms set it after a join.
    pub const FRESH: Pad = Pad { bits: 64 };

    /// Pad for a direction: −1, 0 or 1 on each axis.
    pub const fn flying(x: i32, y: i32) -> Pad {
        let across = if x < 0 {
            1
        } else if x > 0 {
            2
        } else {
            0
        };
        let down = if y < 0 {
            4
        } else if y > 0 {
            8
        } else {
            0
        };
        Pad { bits: across | down }
    }

    /// Buttons of both pads.
    #[must_use]
    pub const fn and(self, other: Pad) -> Pad {
        Pad { bits: self.bits | other.bits }
    }

    /// Adds the buttons of another pad if `held`.
    #[must_use]
    pub const fn with(self, other: Pad, held: bool) -> Pad {
        if held { self.and(other) } else { self }
    }

    /// Whether all buttons of another pad are held.
    pub const fn holds(self, other: Pad) -> bool {
        self.bits & other.bits == other.bits
    }

    /// Direction on each axis: −1, 0 or 1. Opposite buttons cancel.
    pub const fn way(self) -> (i32, i32) {
        (
            (self.bits & 2 != 0) as i32 - (self.bits & 1 != 0) as i32,
            (self.bits & 8 != 0) as i32 - (self.bits & 4 != 0) as i32,
        )
    }

    /// The buttons as a byte of the state.
    pub const fn bits(self) -> u8 {
        self.bits
    }

    /// The buttons from a byte of the state; bits without a button are left out.
    pub const fn of_bits(bits: u8) -> Pad {
        Pad { bits: bits & BITS }
    }
}

impl Input for Pad {
    const SIZE: usize = 1;

    fn write(&self, out: &mut [u8]) {
        out.copy_from_slice(&[self.bits]);
    }

    fn read(bytes: &[u8]) -> Result<Pad, DecodeError> {
        let bits = u8::read(bytes)?;
        if bits > BITS {
            let (min, max) = (0, i64::from(BITS));
            return Err(DecodeError::OutOfRange { what: "pad", value: i64::from(bits), min, max });
        }
        Ok(Pad { bits })
    }

    /// A short press of the honk survives; of the directions, the later ones count.
    fn merge(earlier: Pad, later: Pad) -> Pad {
        later.with(Pad::HONK, earlier.holds(Pad::HONK))
    }

    fn mark_new_player(self) -> Pad {
        self.and(Pad::FRESH)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pad_is_one_byte_and_unknown_bit_is_rejected() {
        for bits in 0..=u8::MAX {
            match Pad::read(&[bits]) {
                Ok(pad) => {
                    let mut out = [0];
                    pad.write(&mut out);
                    assert_eq!(out, [bits]);
                }
                Err(error) => {
                    assert!(bits > BITS, "{error}");
                }
            }
        }
        assert!(Pad::read(&[]).is_err());
    }

    #[test]
    fn short_honk_survives_sharing_frame_with_release() {
        assert_eq!(Pad::merge(Pad::HONK.and(Pad::LEFT), Pad::UP), Pad::UP.and(Pad::HONK));
    }

    #[test]
    fn opposite_directions_cancel() {
        assert_eq!(Pad::LEFT.and(Pad::RIGHT).and(Pad::DOWN).way(), (0, 1));
        assert_eq!(Pad::flying(-1, 1), Pad::LEFT.and(Pad::DOWN));
    }
}
