//! One goose: whose it is, where it is, and its condition.
//!
//! Moved by [`fly`] in every frame; wakes, falls and honks change it from their own files. Absent:
//! the other geese, enemies, the course of the run.

use gaggle_kit::State;

use crate::pad::Pad;
use crate::sky::{BOTTOM, LEFT, PX, RIGHT, Spot, TOP};
use crate::wake::Wake;

/// Most players of a run.
pub const SEATS: usize = 6;
/// Most geese: one per player and two young ones.
pub const FLOCK: usize = 8;
/// Speed along one axis, in units per frame.
pub const SPEED: i32 = 576;
/// Speed along each axis of a diagonal.
pub const SPEED_DIAGONAL: i32 = 407;
/// Speed along one axis while tucked.
pub const TUCKED: i32 = 256;
/// Speed along each axis of a diagonal while tucked.
pub const TUCKED_DIAGONAL: i32 = 181;
/// Most breath of a goose.
pub const BREATH_MAX: u16 = 960;
/// Breath of an entering goose.
pub const BREATH_START: u16 = 480;
/// Frames for which an entering goose cannot be hit.
pub const SAFE_ENTERING: u16 = 120;
/// Frames for which neither a caught goose nor its catcher can be hit.
pub const SAFE_CAUGHT: u16 = 90;
/// Frames for which a honking goose cannot be hit.
pub const SAFE_HONK: u16 = 20;
/// Column from which an entering goose is steered, in pixels.
const ENTERED: i32 = 48;

/// What kind of player a goose has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Seat {
    /// None: no goose, or one that flies on by itself.
    #[default]
    Free,
    /// A player who is present.
    Person,
    /// A player who left; the autopilot flies it until the next roost.
    Away,
    /// None, on autopilot: it fills up a small flock.
    Young,
}

/// State of a goose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Flight {
    /// It is not in the run.
    #[default]
    None,
    /// It enters from the left and is not steered yet.
    Entering,
    /// It flies and can act.
    Flying,
    /// It was hit and falls; `timer` counts the frames.
    Falling,
    /// A spare goose replaces it in `timer` frames.
    Waiting,
    /// It is out until the next roost.
    Out,
}

/// Statistics of a player, for the table at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Tally {
    /// Points of this player.
    pub score: u32,
    /// Geese that it caught.
    pub catches: u16,
    /// Times it was hit, by embers.
    pub burns: u16,
    /// Times it was hit, by bodies.
    pub bumps: u16,
    /// Times it was hit, by lightning.
    pub strikes: u16,
    /// Geese of this player that were lost.
    pub lost: u16,
    /// Honks with enough breath.
    pub honks: u16,
    /// Frames in the lead of a V.
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
    /// Frames since the honk; 0 if there is none.
    pub age: u8,
    /// Whether it is one of two or more at the same time.
    pub chorus: bool,
    /// Whether it has damaged the enemies in it.
    pub dealt: bool,
    /// Column of its center, in pixels.
    pub x: i16,
    /// Row of its center, in pixels.
    pub y: i16,
}

/// One goose of the flock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Goose {
    /// What kind of player it has.
    pub seat: Seat,
    /// State of the goose.
    pub flight: Flight,
    /// Frames in or left of this state.
    pub timer: u16,
    /// Frames for which it cannot be hit.
    pub safe: u16,
    /// Column of its breast, in units.
    pub x: i32,
    /// Row of its breast, in units.
    pub y: i32,
    /// Speed of its fall, in units per frame.
    pub fall: i16,
    /// Breath, which leading and honking cost, 0 to 960.
    #[state(range = 0..=BREATH_MAX)]
    pub breath: u16,
    /// Buttons of the last frame, as [`Pad::bits`].
    pub held: u8,
    /// Whether the honk button was released since the end of the run.
    pub released: bool,
    /// Place in a V.
    pub wake: Wake,
    /// The ring of its honk.
    pub ring: Ring,
    /// Frames for which the place is kept for a player who left.
    pub kept: u16,
    /// Frames in which the player may say that the kept statistics belong to another.
    pub doubt: u8,
    /// Statistics so far.
    pub tally: Tally,
}

impl Goose {
    /// A goose that enters from the left, in this row.
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

    /// Place of its breast, in units.
    pub const fn spot(&self) -> Spot {
        (self.x, self.y)
    }

    /// Whether a present player has it.
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

/// Velocity with these buttons, in units per frame.
pub fn velocity(pad: Pad) -> Spot {
    let (x, y) = pad.way();
    let (straight, diagonal) =
        if pad.holds(Pad::TUCK) { (TUCKED, TUCKED_DIAGONAL) } else { (SPEED, SPEED_DIAGONAL) };
    let speed = if x != 0 && y != 0 { diagonal } else { straight };
    (x * speed, y * speed)
}

/// Clamps a place to the area of the geese.
pub fn confined(spot: Spot) -> Spot {
    (spot.0.clamp(LEFT * PX, RIGHT * PX), spot.1.clamp(TOP * PX, BOTTOM * PX))
}

/// Flies for one frame. `drift` is the pull of a wake on a goose that holds no vertical key.
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
