//! Input of a player in a frame: left, right, flap, and a bit for a player new to its slot.
//!
//! Sampled by pages, bots and demos; encoded by the timeline. Absent: keys and touch.

use gaggle_kit::{DecodeError, Input};

/// Buttons held in a frame. The rules find presses by comparing frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub struct Pad {
    /// Left is held.
    pub left: bool,
    /// Right is held.
    pub right: bool,
    /// Flap is held.
    pub flap: bool,
    /// The player is new to this slot, so a score kept in it belongs to another. Set by the room
    /// right after a player arrives.
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

    /// A pad that steers: −1 left, 0 neither, 1 right.
    pub const fn leaning(dir: i8) -> Pad {
        Pad { left: dir < 0, right: dir > 0, ..Pad::NONE }
    }

    /// This pad with flap set to `flap`.
    #[must_use]
    pub const fn flapping(self, flap: bool) -> Pad {
        Pad { flap, ..self }
    }

    /// Direction: −1, 0 or 1; both held is 0.
    #[inline]
    pub const fn dir(self) -> i8 {
        self.right as i8 - self.left as i8
    }

    /// Whether a button is held.
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

    /// A tap between two samples must not get lost; of the directions the later sample counts.
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
    fn pad_is_one_byte_and_unknown_bits_are_rejected() {
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
    fn tap_released_in_same_frame_survives() {
        assert_eq!(Pad::merge(Pad::FLAP, Pad::LEFT), Pad::LEFT.flapping(true));
    }
}
