//! One goose: the player's place in the flight, where it is and how it does.
//!
//! Moved by [`fly`] in every frame; wakes, falls and honks change it from their own files.
//! Absent: the other geese, enemies, the course of the run.

use gaggle_kit::State;

use crate::pad::Pad;
use crate::sky::{BOTTOM, LEFT, PX, RIGHT, Spot, TOP};
use crate::wake::Wake;

/// Players at most.
pub const SEATS: usize = 6;
/// Geese at most: the players' and two young ones.
pub const FLOCK: usize = 8;
/// Units a frame on one axis.
pub const SPEED: i32 = 576;
/// Units a frame on each axis of a diagonal.
pub const SPEED_DIAGONAL: i32 = 407;
/// Units a frame on one axis while tucked.
pub const TUCKED: i32 = 256;
/// Units a frame on each axis of a diagonal while tucked.
pub const TUCKED_DIAGONAL: i32 = 181;
/// Breath of a goose at most.
pub const BREATH_MAX: u16 = 960;
/// Breath of a goose that comes in.
pub const BREATH_START: u16 = 480;
/// Frames nothing hits a goose that comes in.
pub const SAFE_ENTERING: u16 = 120;
/// Frames nothing hits a goose that was caught, nor the catcher.
pub const SAFE_CAUGHT: u16 = 90;
/// Frames nothing hits a goose that honked.
pub const SAFE_HONK: u16 = 20;
/// The column in pixels at which a goose that comes in is steered.
const ENTERED: i32 = 48;

/// To which player a goose belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Seat {
    /// To none: no goose, or one that flies with the skein by itself.
    #[default]
    Free,
    /// To a player who is here.
    Person,
    /// To a player who left; the autopilot flies it until the next roost.
    Away,
    /// To none, on autopilot: it fills up a small skein.
    Young,
}

/// What a goose is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Flight {
    /// It is not in the run.
    #[default]
    None,
    /// It comes in from the left and is not steered yet.
    Entering,
    /// It flies and acts.
    Flying,
    /// It was hit and falls; the timer counts the frames.
    Falling,
    /// A spare takes its place in `timer` frames.
    Waiting,
    /// It is out until the next roost.
    Out,
}

/// A run in numbers, for the table at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Tally {
    /// Points of this player.
    pub score: u32,
    /// Geese this one caught.
    pub catches: u16,
    /// Times it was hit, by embers.
    pub burns: u16,
    /// Times it was hit, by bodies.
    pub bumps: u16,
    /// Times it was hit, by lightning.
    pub strikes: u16,
    /// Geese of this player that were not caught.
    pub lost: u16,
    /// Honks with breath.
    pub honks: u16,
    /// Frames at the point.
    pub point: u32,
}

impl Tally {
    /// Times it was hit.
    pub const fn falls(&self) -> u16 {
        self.burns.saturating_add(self.bumps).saturating_add(self.strikes)
    }
}

/// The ring of a honk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Ring {
    /// Frames since the honk; 0 is none.
    pub age: u8,
    /// It is one of two or more at once.
    pub chorus: bool,
    /// It has hurt what is in it.
    pub dealt: bool,
    /// The middle, in pixels.
    pub x: i16,
    /// The middle, in pixels.
    pub y: i16,
}

/// One goose of the flock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Goose {
    /// To which player it belongs.
    pub seat: Seat,
    /// What it is doing.
    pub flight: Flight,
    /// Frames, as the flight says.
    pub timer: u16,
    /// Frames nothing hits it.
    pub safe: u16,
    /// Its breast, in units.
    pub x: i32,
    /// Its breast, in units.
    pub y: i32,
    /// Units a frame down, of a falling one.
    pub fall: i16,
    /// What it can lead and honk with, 0 to 960.
    #[state(range = 0..=BREATH_MAX)]
    pub breath: u16,
    /// The buttons of the last frame, as [`Pad::bits`].
    pub held: u8,
    /// The end of the run was seen without the honk button held.
    pub released: bool,
    /// Where it flies in a V.
    pub wake: Wake,
    /// The ring of its honk.
    pub ring: Ring,
    /// Frames the place is kept for a player who left.
    pub kept: u16,
    /// Frames in which the player may say that the kept tally is not theirs.
    pub doubt: u8,
    /// Its run so far.
    pub tally: Tally,
}

impl Goose {
    /// A goose that comes in from the left, in this row.
    #[must_use]
    pub fn entering(self, row: i32) -> Goose {
        Goose {
            flight: Flight::Entering,
            timer: 0,
            safe: SAFE_ENTERING,
            x: -28 * PX,
            y: row * PX,
            fall: 0,
            wake: Wake::NONE,
            ring: Ring::default(),
            held: 0,
            ..self
        }
    }

    /// Its breast, in units.
    pub const fn spot(&self) -> Spot {
        (self.x, self.y)
    }

    /// Whether a player is here for it.
    pub const fn is_person(&self) -> bool {
        matches!(self.seat, Seat::Person)
    }

    /// Whether the autopilot flies it.
    pub const fn is_guided(&self) -> bool {
        matches!(self.seat, Seat::Away | Seat::Young)
    }

    /// Whether it flies and can be steered.
    pub const fn is_flying(&self) -> bool {
        matches!(self.flight, Flight::Flying)
    }

    /// Whether it is in the air.
    pub const fn is_aloft(&self) -> bool {
        matches!(self.flight, Flight::Flying | Flight::Entering)
    }

    /// Whether something can hit it.
    pub const fn is_exposed(&self) -> bool {
        self.is_flying() && self.safe == 0
    }

    /// Whether it flies slowly and shoots narrowly.
    pub const fn is_tucked(&self) -> bool {
        Pad::of_bits(self.held).holds(Pad::TUCK)
    }
}

/// How far a goose moves in a frame with these buttons.
pub fn velocity(pad: Pad) -> Spot {
    let (x, y) = pad.way();
    let (straight, diagonal) =
        if pad.holds(Pad::TUCK) { (TUCKED, TUCKED_DIAGONAL) } else { (SPEED, SPEED_DIAGONAL) };
    let speed = if x != 0 && y != 0 { diagonal } else { straight };
    (x * speed, y * speed)
}

/// Keeps a place within the sky of the geese.
pub fn confined(spot: Spot) -> Spot {
    (spot.0.clamp(LEFT * PX, RIGHT * PX), spot.1.clamp(TOP * PX, BOTTOM * PX))
}

/// One frame of flight; `drift` is the pull of a wake on a goose that holds no vertical key.
pub fn fly(goose: &mut Goose, pad: Pad, drift: i32) {
    goose.safe = goose.safe.saturating_sub(1);
    match goose.flight {
        Flight::Entering => {
            goose.x += SPEED;
            if goose.x >= ENTERED * PX {
                goose.flight = Flight::Flying;
            }
        }
        Flight::Flying => {
            let (x, y) = velocity(pad);
            let y = if pad.way().1 == 0 { drift } else { y };
            (goose.x, goose.y) = confined((goose.x + x, goose.y + y));
        }
        Flight::None | Flight::Falling | Flight::Waiting | Flight::Out => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flying() -> Goose {
        let (x, y) = (200 * PX, 200 * PX);
        Goose { seat: Seat::Person, flight: Flight::Flying, x, y, ..Goose::default() }
    }

    #[test]
    fn diagonal_flight_is_not_faster() {
        let (x, y) = velocity(Pad::flying(1, 1));
        assert!(x * x + y * y <= SPEED * SPEED);
        let (x, y) = velocity(Pad::flying(1, -1).and(Pad::TUCK));
        assert!(x * x + y * y <= TUCKED * TUCKED);
    }

    #[test]
    fn goose_at_edge_stays_in_its_sky() {
        let mut goose = flying();
        (0..600).for_each(|_| fly(&mut goose, Pad::flying(1, 1), 0));
        assert_eq!(goose.spot(), (RIGHT * PX, BOTTOM * PX));
        (0..600).for_each(|_| fly(&mut goose, Pad::flying(-1, -1), 0));
        assert_eq!(goose.spot(), (LEFT * PX, TOP * PX));
    }

    #[test]
    fn goose_that_comes_in_is_steered_once_inside() {
        let mut goose = Goose::default().entering(100);
        let frames = (0..).take_while(|_| {
            fly(&mut goose, Pad::LEFT, 0);
            goose.flight == Flight::Entering
        });
        assert!(frames.count() < 60);
        assert!(goose.is_flying() && goose.safe > 60);
    }
}
