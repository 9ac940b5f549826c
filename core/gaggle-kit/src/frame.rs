//! Number of a simulation step.
//!
//! Engines and games use it. Absent: duration of a frame.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use bytemuck::{Pod, Zeroable};

/// A simulation step, counted from the start of a match.
///
/// Frame 0 is the state a match starts with. The input for frame *n* turns state *n* − 1 into state
/// *n*, so the first input is for frame 1. At 60 frames a second the counter lasts for more than
/// two years.
///
/// ```
/// use gaggle_kit::Frame;
/// let frame = Frame::START + 3;
/// assert_eq!(frame - Frame::START, 3);
/// assert_eq!(frame.to_string(), "f3");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Pod, Zeroable)]
#[repr(transparent)]
pub struct Frame(u32);

impl Frame {
    /// State before the first input.
    pub const START: Frame = Frame(0);
    /// Later than any frame of a match: stands for "no end yet".
    pub const NEVER: Frame = Frame(u32::MAX);

    /// The frame with this number.
    pub const fn new(number: u32) -> Frame {
        Frame(number)
    }

    /// Number of the frame.
    pub const fn number(self) -> u32 {
        self.0
    }

    /// The frame after this one; [`Frame::NEVER`] is its own successor.
    #[must_use]
    pub const fn next(self) -> Frame {
        Frame(self.0.saturating_add(1))
    }

    /// The frame before this one, or the start.
    #[must_use]
    pub const fn previous(self) -> Frame {
        Frame(self.0.saturating_sub(1))
    }

    /// An earlier frame, at least the start.
    #[must_use]
    pub const fn saturating_sub(self, frames: u32) -> Frame {
        Frame(self.0.saturating_sub(frames))
    }

    /// A later frame, at most [`Frame::NEVER`].
    #[must_use]
    pub const fn saturating_add(self, frames: u32) -> Frame {
        Frame(self.0.saturating_add(frames))
    }

    /// Number of frames since `earlier`; 0 if that is later.
    pub const fn since(self, earlier: Frame) -> u32 {
        self.0.saturating_sub(earlier.0)
    }

    /// Signed distance: positive if this frame is after `other`.
    pub const fn distance(self, other: Frame) -> i64 {
        self.0 as i64 - other.0 as i64
    }
}

/// A later frame, at most [`Frame::NEVER`]: frames invented by a peer must not overflow.
impl Add<u32> for Frame {
    type Output = Frame;
    fn add(self, frames: u32) -> Frame {
        self.saturating_add(frames)
    }
}

impl AddAssign<u32> for Frame {
    fn add_assign(&mut self, frames: u32) {
        *self = *self + frames;
    }
}

/// Number of frames in between, at least 0, like [`Frame::since`]. [`Frame::distance`] has a sign.
impl Sub for Frame {
    type Output = u32;
    fn sub(self, earlier: Frame) -> u32 {
        self.since(earlier)
    }
}

/// An earlier frame, at least the start.
impl Sub<u32> for Frame {
    type Output = Frame;
    fn sub(self, frames: u32) -> Frame {
        self.saturating_sub(frames)
    }
}

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if *self == Frame::NEVER { f.write_str("f∞") } else { write!(f, "f{}", self.0) }
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_are_signed_or_saturate_as_named() {
        let (early, late) = (Frame::new(3), Frame::new(10));
        assert_eq!(late - early, 7);
        assert_eq!(late.since(early), 7);
        assert_eq!(early.since(late), 0);
        assert_eq!(early.distance(late), -7);
        assert_eq!(early.saturating_sub(5), Frame::START);
        assert_eq!((early - late, early - 5), (0, Frame::START));
        assert_eq!((Frame::NEVER + 1, Frame::NEVER.next()), (Frame::NEVER, Frame::NEVER));
    }
}
