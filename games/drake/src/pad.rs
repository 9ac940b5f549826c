//! The input of one player: two buttons.
//!
//! The replica session sends it, `Drake::steer` and the referee read it. Absent: key bindings.

use gaggle_kit::{DecodeError, Input};

/// Buttons held in a frame. The game detects presses and double taps itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// Turn; pressed twice quickly: dash.
    pub turn: bool,
    /// Fly and fire.
    pub fire: bool,
}

impl Pad {
    /// No button held.
    pub const NONE: Pad = Pad { turn: false, fire: false };
    /// Only the turn button held.
    pub const TURN: Pad = Pad { turn: true, fire: false };
    /// Only the fire button held.
    pub const FIRE: Pad = Pad { turn: false, fire: true };

    /// Whether a button is held.
    pub const fn any(self) -> bool {
        self.turn || self.fire
    }
}

impl Input for Pad {
    const SIZE: usize = 1;

    fn write(&self, out: &mut [u8]) {
        out.copy_from_slice(&[u8::from(self.turn) | u8::from(self.fire) << 1]);
    }

    fn read(bytes: &[u8]) -> Result<Pad, DecodeError> {
        let bits = u8::read(bytes)?;
        if bits > 3 {
            return Err(DecodeError::OutOfRange { what: "pad", value: i64::from(bits), min: 0, max: 3 });
        }
        Ok(Pad { turn: bits & 1 != 0, fire: bits & 2 != 0 })
    }

    /// Keeps a tap of the fire button between two samples.
    fn merge(earlier: Pad, later: Pad) -> Pad {
        Pad { turn: later.turn, fire: earlier.fire || later.fire }
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
                Err(_) => assert!(bits > 3),
            }
        }
    }
}
