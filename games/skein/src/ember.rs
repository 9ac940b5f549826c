//! Enemy fire: kinds of embers, places, motion, and which geese they touch.
//!
//! Fired by enemies and bosses through [`Embers::fire`], turned to crumbs by honks. Absent: geese
//! other than as boxes, difficulty.

use gaggle_kit::bytemuck::{Pod, Zeroable};
use gaggle_kit::{Angle, State};

use crate::goose::{FLOCK, Goose};
use crate::sky::{HEIGHT, PX, Spot, WIDTH, boxed, polar};

/// Most embers in the air.
pub const EMBERS: usize = 600;
/// Half the box of a goose in which it can be hit, in units.
pub const HIT_HALF: i32 = 2 * PX;
/// Half the box of a goose in which an ember is grazed, in units.
pub const GRAZE_HALF: Spot = (10 * PX, 7 * PX);

/// A kind of ember.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Shot {
    /// A spark: small and quick.
    Spark = 1,
    /// A dart: small and the quickest.
    Dart = 2,
    /// An ember: of middling size.
    Ember = 3,
    /// A ring: slow.
    Ring = 4,
    /// A coal: large.
    Coal = 5,
}

impl Shot {
    /// The kind by its number in the state.
    pub const fn of(number: u8) -> Option<Shot> {
        match number {
            1 => Some(Shot::Spark),
            2 => Some(Shot::Dart),
            3 => Some(Shot::Ember),
            4 => Some(Shot::Ring),
            5 => Some(Shot::Coal),
            _ => None,
        }
    }

    /// Radius in pixels.
    pub const fn radius(self) -> i32 {
        match self {
            Shot::Spark | Shot::Dart => 1,
            Shot::Ember | Shot::Ring => 2,
            Shot::Coal => 3,
        }
    }

    /// Speed in units per frame, before the stage makes it faster.
    pub const fn speed(self) -> i32 {
        match self {
            Shot::Spark => 384,
            Shot::Dart => 512,
            Shot::Ember => 320,
            Shot::Ring => 224,
            Shot::Coal => 256,
        }
    }
}

/// One ember in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Pod, Zeroable, State)]
#[bytemuck(crate = "gaggle_kit::bytemuck")]
#[repr(C)]
#[state(pod)]
pub struct Ember {
    /// Column of its center, in units.
    pub x: i32,
    /// Row of its center, in units.
    pub y: i32,
    /// Speed to the right, in units per frame.
    pub vx: i16,
    /// Speed down, in units per frame.
    pub vy: i16,
    /// Kind as the number of a [`Shot`]; 0 is a free entry.
    pub kind: u8,
    /// Geese that grazed it, one bit each.
    pub grazed: u8,
    /// Turn per frame, in 65,536ths of a circle.
    pub curl: i8,
    /// Frames since it was fired, wrapping.
    pub age: u8,
}

impl Ember {
    /// Center in units.
    pub const fn spot(&self) -> Spot {
        (self.x, self.y)
    }
}

/// All embers in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Embers {
    /// Entries; free ones have kind 0.
    list: [Ember; EMBERS],
    /// Embers in the air.
    #[state(range = 0..=EMBERS as u16)]
    count: u16,
    /// Most embers in the air, by the number of players.
    #[state(range = 0..=EMBERS as u16)]
    limit: u16,
    /// Sixteenths by which embers are faster than their kind.
    quick: u8,
}

impl Default for Embers {
    fn default() -> Embers {
        Embers { list: [Ember::default(); EMBERS], count: 0, limit: EMBERS as u16, quick: 0 }
    }
}

impl Embers {
    /// Sets how many may be in the air, and by how many sixteenths they are faster.
    pub fn tune(&mut self, limit: u16, quick: u8) {
        self.limit = limit.min(EMBERS as u16);
        self.quick = quick;
    }

    /// Embers in the air.
    pub const fn count(&self) -> usize {
        self.count as usize
    }

    /// The embers in the air, in the order in which they are drawn.
    pub fn iter(&self) -> impl Iterator<Item = &Ember> {
        self.list.iter().filter(|ember| ember.kind != 0)
    }

    /// Fires one in a direction, unless the limit is reached.
    pub fn fire(&mut self, shot: Shot, from: Spot, angle: Angle) {
        self.curling(shot, from, angle, 0, 16);
    }

    /// Fires one that curls, at `pace` sixteenths of its speed.
    pub fn curling(&mut self, shot: Shot, from: Spot, angle: Angle, curl: i8, pace: i32) {
        if self.count >= self.limit {
            return;
        }
        let Some(free) = self.list.iter().position(|ember| ember.kind == 0) else { return };
        let speed = shot.speed() * (16 + i32::from(self.quick)) / 16 * pace / 16;
        let (vx, vy) = polar(angle, speed);
        let (vx, vy) = (vx as i16, vy as i16);
        let kind = shot as u8;
        self.list[free] = Ember { x: from.0, y: from.1, vx, vy, kind, grazed: 0, curl, age: 0 };
        self.count += 1;
    }

    /// Fires a fan of `count` around a direction, `apart` units of angle from one to the next.
    pub fn fan(&mut self, shot: Shot, from: Spot, middle: Angle, count: i32, apart: i32) {
        for nth in 0..count {
            let off = (2 * nth - (count - 1)) * apart / 2;
            self.fire(shot, from, turned(middle, off));
        }
    }

    /// Moves all, and drops those that left the sky.
    pub fn step(&mut self) {
        let mut count = 0;
        for ember in &mut self.list {
            if ember.kind == 0 {
                continue;
            }
            ember.age = ember.age.wrapping_add(1);
            if ember.curl != 0 && ember.age.is_multiple_of(4) {
                curl(ember);
            }
            ember.x += i32::from(ember.vx);
            ember.y += i32::from(ember.vy);
            let inside = (-12 * PX..(WIDTH + 24) * PX).contains(&ember.x)
                && (-12 * PX..(HEIGHT + 8) * PX).contains(&ember.y);
            if inside {
                count += 1;
            } else {
                ember.kind = 0;
            }
        }
        self.count = count;
    }

    /// Removes all that meet a condition, and calls with their places.
    pub fn take(&mut self, mut goes: impl FnMut(&Ember) -> bool, mut taken: impl FnMut(Spot)) {
        for ember in self.list.iter_mut().filter(|ember| ember.kind != 0) {
            if goes(ember) {
                ember.kind = 0;
                self.count = self.count.saturating_sub(1);
                taken(ember.spot());
            }
        }
    }

    /// Calls with each goose touched, as its place in the flock, and whether the ember only grazed
    /// it. An ember that hits is removed.
    pub fn touch(&mut self, geese: &[Goose; FLOCK], mut touched: impl FnMut(usize, bool)) {
        let mut exposed = [(0, (0, 0)); FLOCK];
        let mut count = 0;
        for (which, goose) in geese.iter().enumerate().filter(|(_, goose)| goose.is_exposed()) {
            exposed[count] = (which, goose.spot());
            count += 1;
        }
        let mut hit = 0_u8;
        for ember in self.list.iter_mut().filter(|ember| ember.kind != 0) {
            let reach = Shot::of(ember.kind).map_or(1, Shot::radius) * PX;
            for &(which, spot) in &exposed[..count] {
                let bit = 1 << which;
                if hit & bit != 0 || !boxed(spot, ember.spot(), GRAZE_HALF.0 + reach, GRAZE_HALF.1 + reach) {
                    continue;
                }
                if boxed(spot, ember.spot(), HIT_HALF + reach, HIT_HALF + reach) {
                    hit |= bit;
                    ember.kind = 0;
                    self.count = self.count.saturating_sub(1);
                    touched(which, false);
                    break;
                }
                if ember.grazed & bit == 0 {
                    ember.grazed |= bit;
                    touched(which, true);
                }
            }
        }
    }
}

/// Turns a direction by this many units.
pub fn turned(angle: Angle, units: i32) -> Angle {
    Angle::from_bits((i32::from(angle.to_bits()) + units) as u16)
}

/// Turns the velocity once for four frames, which loses less to rounding.
fn curl(ember: &mut Ember) {
    // A full turn is 411,775 / 65,536 times the radius; times four frames, over sixteen bits of
    // angle.
    let share = i32::from(ember.curl) * 4 * 411_775 / 65_536;
    let (vx, vy) = (i32::from(ember.vx), i32::from(ember.vy));
    let by = |part: i32| (part * share + 0x8000) >> 16;
    ember.vx = (vx - by(vy)) as i16;
    ember.vy = (vy + by(vx)) as i16;
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::{Flight, Seat};
    use crate::sky::at;

    #[test]
    fn ember_above_limit_is_left_out() {
        let mut embers = Embers::default();
        (0..EMBERS + 5).for_each(|_| embers.fire(Shot::Ring, at(300, 100), Angle::ZERO));
        assert_eq!((embers.count(), embers.iter().count()), (EMBERS, EMBERS));
        embers.tune(10, 0);
        embers.take(|_| true, |_| {});
        (0..20).for_each(|_| embers.fire(Shot::Ring, at(300, 100), Angle::ZERO));
        assert_eq!(embers.count(), 10);
    }

    #[test]
    fn ember_that_left_frees_its_place() {
        let mut embers = Embers::default();
        embers.fire(Shot::Dart, at(630, 100), Angle::ZERO);
        (0..30).for_each(|_| embers.step());
        assert_eq!((embers.count(), embers.iter().count()), (0, 0));
    }

    #[test]
    fn ember_grazes_once_and_hits_within_its_box() {
        let mut geese = [Goose::default(); FLOCK];
        let (x, y) = at(200, 100);
        geese[2] = Goose { seat: Seat::Person, flight: Flight::Flying, x, y, ..Goose::default() };
        let mut embers = Embers::default();
        embers.fire(Shot::Ember, at(208, 100), Angle::HALF);
        let mut seen = Vec::new();
        for _ in 0..10 {
            embers.step();
            embers.touch(&geese, |which, grazed| seen.push((which, grazed)));
        }
        assert_eq!(seen, [(2, true), (2, false)]);
        assert_eq!(embers.count(), 0);
    }

    #[test]
    fn curling_way_turns_and_keeps_its_pace() {
        let mut embers = Embers::default();
        embers.curling(Shot::Ember, at(600, 180), Angle::HALF, 28, 16);
        (0..200).for_each(|_| embers.step());
        let ember = embers.iter().next().expect("still there");
        let speed = i32::from(ember.vx).pow(2) + i32::from(ember.vy).pow(2);
        assert!(ember.vy < -100, "{ember:?}");
        assert!((speed - 320 * 320).abs() < 320 * 40, "{ember:?}");
    }
}
