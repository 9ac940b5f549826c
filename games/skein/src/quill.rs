//! Quills, the shots of the geese: volleys and their flight.
//!
//! Fired by [`volley`] every eight frames; `enemy` and `boss` find which of them hit. Absent: what
//! a hit does.

use gaggle_kit::State;
use gaggle_kit::bytemuck::{Pod, Zeroable};

use crate::goose::{FLOCK, Goose, Seat};
use crate::sky::{HEIGHT, PX, Spot, WIDTH};

/// Most quills in the air.
pub const QUILLS: usize = 160;
/// Frames between two volleys of a goose.
pub const VOLLEY_FRAMES: u32 = 8;
/// Speed to the right, in units per frame.
pub const QUILL_SPEED: i32 = 2_048;
/// Difference of the vertical speeds of neighbors in a volley, in units per frame.
const SPREAD: i32 = 96;
/// The same for a tucked goose.
const SPREAD_TUCKED: i32 = 24;
/// Most quills of a volley.
const VOLLEY_MAX: u8 = 6;

/// One quill in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable, State)]
#[bytemuck(crate = "gaggle_kit::bytemuck")]
#[repr(C)]
#[state(pod)]
pub struct Quill {
    /// Column of its head, in units.
    pub x: i32,
    /// Row of its head, in units.
    pub y: i32,
    /// Speed down, in units per frame.
    pub vy: i16,
    /// Goose that fired it.
    pub seat: u8,
    /// 1 in the air, 0 for a free entry.
    pub kind: u8,
}

/// The quills in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Quills {
    /// Entries; free ones have kind 0.
    list: [Quill; QUILLS],
}

impl Default for Quills {
    fn default() -> Quills {
        Quills { list: [Quill::default(); QUILLS] }
    }
}

impl Quills {
    /// The quills in the air.
    pub fn iter(&self) -> impl Iterator<Item = &Quill> {
        self.list.iter().filter(|quill| quill.kind != 0)
    }

    /// Quills in the air, to find hits; set `kind` to 0 for those that hit.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut Quill> {
        self.list.iter_mut().filter(|quill| quill.kind != 0)
    }

    /// Fires one, if an entry is free.
    pub fn throw(&mut self, seat: usize, from: Spot, vy: i32) {
        if let Some(free) = self.list.iter_mut().find(|quill| quill.kind == 0) {
            *free = Quill { x: from.0, y: from.1, vy: vy as i16, seat: seat as u8, kind: 1 };
        }
    }

    /// Moves all, and drops those that left the sky.
    pub fn step(&mut self) {
        for quill in self.iter_mut() {
            quill.x += QUILL_SPEED;
            quill.y += i32::from(quill.vy);
            if quill.x > (WIDTH + 8) * PX || !(0..HEIGHT * PX).contains(&quill.y) {
                quill.kind = 0;
            }
        }
    }
}

/// Number of quills in a volley of a goose.
pub fn volley_of(goose: &Goose) -> u8 {
    match (goose.seat, goose.wake.is_point(), goose.breath) {
        (Seat::Young, ..) | (_, true, 0) => 1,
        (_, true, _) => (2 + goose.wake.followers).min(VOLLEY_MAX),
        _ => 2,
    }
}

/// Fires the volleys due in this frame; geese take turns, spread over the frames.
pub fn volley(quills: &mut Quills, geese: &[Goose; FLOCK], frame: u32) {
    for (which, goose) in geese.iter().enumerate() {
        let is_due = (frame.wrapping_add(3 * which as u32)).is_multiple_of(VOLLEY_FRAMES);
        if !goose.is_flying() || !is_due {
            continue;
        }
        let count = i32::from(volley_of(goose));
        let spread = if goose.is_tucked() { SPREAD_TUCKED } else { SPREAD };
        for nth in 0..count {
            let off = 2 * nth - (count - 1);
            quills.throw(which, (goose.x + 20 * PX, goose.y - PX + off * PX), off * spread / 2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::Flight;
    use crate::wake::Wake;

    fn goose(followers: u8, breath: u16) -> Goose {
        let wake = Wake { point: 0, followers, ..Wake::NONE };
        Goose { seat: Seat::Person, flight: Flight::Flying, breath, wake, ..Goose::default() }
    }

    #[test]
    fn volley_grows_with_followers_and_shrinks_without_breath() {
        let counts = [(0, 0), (1, 9), (3, 9), (7, 9), (3, 0)];
        let volleys = counts.map(|(followers, breath)| volley_of(&goose(followers, breath)));
        assert_eq!(volleys, [2, 3, 5, 6, 1]);
        assert_eq!(volley_of(&Goose { seat: Seat::Young, ..goose(3, 400) }), 1);
    }

    #[test]
    fn goose_throws_every_eighth_frame() {
        let mut geese = [Goose::default(); FLOCK];
        geese[1] = Goose { x: 100 * PX, y: 100 * PX, ..goose(0, 480) };
        let mut quills = Quills::default();
        (0..32).for_each(|frame| volley(&mut quills, &geese, frame));
        assert_eq!(quills.iter().count(), 8);
        (0..80).for_each(|_| quills.step());
        assert_eq!(quills.iter().count(), 0);
    }
}
