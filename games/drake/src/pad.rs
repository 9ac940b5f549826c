//! What a player can do: two buttons.

use gaggle_kit::{DecodeError, Input};

/// Two buttons, held rather than pressed: the game sees by itself when one goes down, and when one
/// goes down twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// Turn; twice in quick succession: dash.
    pub turn: bool,
    /// Fly and fire.
    pub fire: bool,
}

impl Pad {
    /// No key held.
    pub const NONE: Pad = Pad { turn: false, fire: false };
    /// Only turn held.
    pub const TURN: Pad = Pad { turn: true, fire: false };
    /// Fly and fire.
    pub const FIRE: Pad = Pad { turn: false, fire: true };

    /// Whether anything is held.
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

    /// A tap must not get lost between two samples.
    fn merge(earlier: Pad, later: Pad) -> Pad {
        Pad { turn: later.turn, fire: earlier.fire || later.fire }
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
                Err(_) => assert!(bits > 3),
            }
        }
    }
}
