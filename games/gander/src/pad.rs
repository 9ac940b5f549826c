//! What a player can do: lean left, lean right, flap. And what a room says of him: whether he is
//! new to his seat.

use gaggle_kit::{DecodeError, Input};

/// Two buttons to steer and one to flap, all of them held rather than pressed: the game sees by
/// itself when one goes down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// Left key is held.
    pub left: bool,
    /// Right key is held.
    pub right: bool,
    /// Flap key is held.
    pub flap: bool,
    /// Whoever sits here is new to this seat: what is kept in it is not his. Rooms say so when he
    /// has just sat down.
    pub fresh: bool,
}

impl Pad {
    /// No key held.
    pub const NONE: Pad = Pad { left: false, right: false, flap: false, fresh: false };
    /// Only left held.
    pub const LEFT: Pad = Pad { left: true, ..Pad::NONE };
    /// Only right held.
    pub const RIGHT: Pad = Pad { right: true, ..Pad::NONE };
    /// Only flap held.
    pub const FLAP: Pad = Pad { flap: true, ..Pad::NONE };

    /// The pad that leans this way: −1, 0 or 1.
    pub const fn leaning(dir: i8) -> Pad {
        Pad { left: dir < 0, right: dir > 0, ..Pad::NONE }
    }

    /// This pad, and the wings down or up.
    #[must_use]
    pub const fn flapping(self, flap: bool) -> Pad {
        Pad { flap, ..self }
    }

    /// −1, 0 or 1. Both at once is neither.
    #[inline]
    pub const fn dir(self) -> i8 {
        self.right as i8 - self.left as i8
    }

    /// Whether anything is held.
    pub const fn any(self) -> bool {
        self.left || self.right || self.flap
    }
}

impl Input for Pad {
    const SIZE: usize = 1;

    fn write(&self, out: &mut [u8]) {
        let hands = u8::from(self.left) | u8::from(self.right) << 1 | u8::from(self.flap) << 2;
        out.copy_from_slice(&[hands | u8::from(self.fresh) << 3]);
    }

    fn read(bytes: &[u8]) -> Result<Pad, DecodeError> {
        let bits = u8::read(bytes)?;
        if bits > 15 {
            return Err(DecodeError::OutOfRange { what: "pad", value: i64::from(bits), min: 0, max: 15 });
        }
        Ok(Pad { left: bits & 1 != 0, right: bits & 2 != 0, flap: bits & 4 != 0, fresh: bits & 8 != 0 })
    }

    /// A tap must not get lost between two samples; of the stick, the later position counts.
    fn merge(earlier: Pad, later: Pad) -> Pad {
        Pad { flap: earlier.flap || later.flap, ..later }
    }

    fn mark_new_player(self) -> Pad {
        Pad { fresh: true, ..self }
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
                Err(error) => {
                    assert!(bits > 15);
                    assert_eq!(
                        error,
                        DecodeError::OutOfRange { what: "pad", value: i64::from(bits), min: 0, max: 15 }
                    );
                }
            }
        }
        assert!(Pad::read(&[]).is_err());
    }

    #[test]
    fn a_tap_survives_sharing_a_frame_with_a_release() {
        assert_eq!(Pad::merge(Pad::FLAP, Pad::LEFT), Pad::LEFT.flapping(true));
    }
}
