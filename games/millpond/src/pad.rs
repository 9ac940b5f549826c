//! What a player can do: row, turn, and one more thing.

use gaggle_kit::{DecodeError, Input};

/// Oars and a hand. Held rather than pressed: the game sees by itself when the hand closes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// Turn left, and forward a little.
    pub left: bool,
    /// Turn right, and forward a little. Both at once: forward.
    pub right: bool,
    /// Rows the boat forward.
    pub up: bool,
    /// Rows the boat backward.
    pub down: bool,
    /// Take what is behind the boat in tow, or let it go.
    pub hand: bool,
}

impl Pad {
    /// No key held.
    pub const NONE: Pad = Pad { left: false, right: false, up: false, down: false, hand: false };

    /// −1, 0 or 1.
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

    /// A tap of the hand must not get lost between two samples.
    fn merge(earlier: Pad, later: Pad) -> Pad {
        Pad { hand: earlier.hand || later.hand, ..later }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pad_is_one_byte_and_unknown_buttons_are_refused() {
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
