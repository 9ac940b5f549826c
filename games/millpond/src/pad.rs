//! The input of one player: oars and a hand.
//!
//! The replica session sends it, [`Pond::row`](crate::Pond::row) reads it. Absent: key bindings.

use gaggle_kit::{DecodeError, Input};

/// Buttons held in a frame. The game detects presses of the hand itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// Turn left while moving forward slowly.
    pub left: bool,
    /// Turn right while moving forward slowly; with `left`: straight ahead.
    pub right: bool,
    /// Rows the boat forward.
    pub up: bool,
    /// Rows the boat backward.
    pub down: bool,
    /// Take the thing behind the boat in tow, or let it go.
    pub hand: bool,
}

impl Pad {
    /// No button held.
    pub const NONE: Pad = Pad { left: false, right: false, up: false, down: false, hand: false };

    /// Turn as −1, 0 or 1, clockwise positive.
    pub const fn turn(self) -> i32 {
        self.right as i32 - self.left as i32
    }
}

impl Input for Pad {
    const SIZE: usize = 1;

    fn write(&self, out: &mut [u8]) {
        let bits = [self.left, self.right, self.up, self.down, self.hand];
        out.copy_from_slice(&[(0..).zip(bits).map(|(at, bit)| u8::from(bit) << at).sum()]);
    }

    fn read(bytes: &[u8]) -> Result<Pad, DecodeError> {
        let bits = u8::read(bytes)?;
        if bits > 31 {
            return Err(DecodeError::OutOfRange { what: "pad", value: i64::from(bits), min: 0, max: 31 });
        }
        let bit = |at: u8| bits >> at & 1 != 0;
        Ok(Pad { left: bit(0), right: bit(1), up: bit(2), down: bit(3), hand: bit(4) })
    }

    /// Keeps a tap of the hand between two samples.
    fn merge(earlier: Pad, later: Pad) -> Pad {
        Pad { hand: earlier.hand || later.hand, ..later }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pad_round_trips_and_unknown_bits_are_rejected() {
        for bits in 0..=u8::MAX {
            match Pad::read(&[bits]) {
                Ok(pad) => {
                    let mut out = [0];
                    pad.write(&mut out);
                    assert_eq!(out, [bits]);
                }
                Err(_) => assert!(bits > 31),
            }
        }
    }
}
