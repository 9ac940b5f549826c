//! Crumbs of moonlight: pickups worth points, which honks make of embers.
//!
//! Dropped by honks, moths and bosses, moved by [`Crumbs::step`]. Absent: scores.

use gaggle_kit::State;

use crate::goose::{FLOCK, Goose};
use crate::sky::{PX, Spot, within};

/// Most crumbs in the air.
pub const CRUMBS: usize = 64;
/// Points of a crumb, before the factor of the V.
pub const CRUMB_POINTS: u32 = 10;
/// Units per step of a place: a crumb counts in sixteenths of a pixel.
const STEP: i32 = PX / 16;
/// Drift to the left per frame, in steps.
const DRIFT: i16 = 12;
/// Speed of a crumb that a goose attracts, in units per frame.
const DRAWN: i32 = 1_280;
/// Distances at which a goose attracts a crumb, and takes it, in pixels.
const REACH: i32 = 40;
const TAKEN: i32 = 10;

/// One crumb of moonlight.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Crumb {
    /// Its column in sixteenths of a pixel.
    pub x: i16,
    /// Its row in sixteenths of a pixel.
    pub y: i16,
    /// Frames since it appeared, 1 to 255; 0 is a free entry.
    pub age: u8,
}

impl Crumb {
    /// Its place, in units.
    pub fn spot(&self) -> Spot {
        (i32::from(self.x) * STEP, i32::from(self.y) * STEP)
    }
}

/// The crumbs in the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Crumbs {
    /// Entries; free ones have age 0.
    list: [Crumb; CRUMBS],
}

impl Default for Crumbs {
    fn default() -> Crumbs {
        Crumbs { list: [Crumb::default(); CRUMBS] }
    }
}

impl Crumbs {
    /// The crumbs in the air.
    pub fn iter(&self) -> impl Iterator<Item = &Crumb> {
        self.list.iter().filter(|crumb| crumb.age != 0)
    }

    /// Drops a crumb, if an entry is free.
    pub fn drop_at(&mut self, spot: Spot) {
        if let Some(free) = self.list.iter_mut().find(|crumb| crumb.age == 0) {
            *free = Crumb { x: (spot.0 / STEP) as i16, y: (spot.1 / STEP) as i16, age: 1 };
        }
    }

    /// Moves crumbs for one frame: they drift, fly to near geese, and are taken.
    pub fn step(&mut self, geese: &[Goose; FLOCK], mut taken: impl FnMut(usize, Spot)) {
        for crumb in self.list.iter_mut().filter(|crumb| crumb.age != 0) {
            crumb.age = crumb.age.saturating_add(1);
            let spot = crumb.spot();
            let Some((which, goose)) = nearest(geese, spot) else {
                crumb.x -= DRIFT;
                if crumb.x < -64 {
                    crumb.age = 0;
                }
                continue;
            };
            let (x, y) = (goose.x - spot.0, goose.y - spot.1);
            let far = x.abs().max(y.abs()).max(1);
            let step = DRAWN.min(far);
            crumb.x += (x * step / far / STEP) as i16;
            crumb.y += (y * step / far / STEP) as i16;
            if within(goose.spot(), crumb.spot(), TAKEN) {
                crumb.age = 0;
                taken(which, spot);
            }
        }
    }
}

/// Goose that attracts a crumb at this place.
fn nearest(geese: &[Goose; FLOCK], spot: Spot) -> Option<(usize, &Goose)> {
    let flying = geese.iter().enumerate().filter(|(_, goose)| goose.is_flying());
    flying
        .filter(|(_, goose)| within(goose.spot(), spot, REACH))
        .min_by_key(|(_, goose)| (goose.x - spot.0).abs() + (goose.y - spot.1).abs())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::goose::{Flight, Seat};
    use crate::sky::at;

    fn goose(x: i32, y: i32) -> Goose {
        Goose { seat: Seat::Person, flight: Flight::Flying, x: x * PX, y: y * PX, ..Goose::default() }
    }

    #[test]
    fn crumb_near_goose_flies_to_it() {
        let mut geese = [Goose::default(); FLOCK];
        geese[3] = goose(100, 100);
        let mut crumbs = Crumbs::default();
        crumbs.drop_at(at(130, 110));
        let mut taken = Vec::new();
        (0..20).for_each(|_| crumbs.step(&geese, |which, _| taken.push(which)));
        assert_eq!((taken, crumbs.iter().count()), (vec![3], 0));
    }

    #[test]
    fn crumb_far_from_geese_drifts_out() {
        let mut crumbs = Crumbs::default();
        (0..CRUMBS + 3).for_each(|_| crumbs.drop_at(at(60, 100)));
        assert_eq!(crumbs.iter().count(), CRUMBS);
        (0..120).for_each(|_| crumbs.step(&[Goose::default(); FLOCK], |_, _| {}));
        assert_eq!(crumbs.iter().count(), 0);
    }
}
