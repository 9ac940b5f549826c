//! The honk: a ring that turns embers to crumbs, and the chorus of two or more.
//!
//! Called by `tick` after the geese moved. Absent: buttons other than the honk.

use crate::Skein;
use crate::boss::Zone;
use crate::cue::{Kind, Mark};
use crate::goose::{FLOCK, Ring, SAFE_HONK};
use crate::score::{award, reward};
use crate::sky::{PX, at, within};

/// Breath that a honk costs: a third of the most.
pub const COST: u16 = 320;
/// Frames for which a ring grows.
const GROWTH: i32 = 12;
/// Radius at the start and at the end, and at the end of a chorus, in pixels.
const RADII: (i32, i32, i32) = (8, 64, 96);
/// Hit points that enemies in a ring lose.
const HURTS: u16 = 24;
/// Most frames and pixels between two honks of a chorus.
const CHORUS_FRAMES: u8 = 20;
const CHORUS_REACH: i32 = 128;
/// Points for each goose of a chorus.
const CHORUS_POINTS: u32 = 500;

/// Radius of a ring in pixels; `None` once it has stopped growing.
pub fn radius(ring: &Ring) -> Option<i32> {
    let age = i32::from(ring.age);
    let last = if ring.chorus { RADII.2 } else { RADII.1 };
    (1..=GROWTH).contains(&age).then(|| RADII.0 + (last - RADII.0) * age / GROWTH)
}

/// Grows rings, and lets geese honk whose button went down.
pub(crate) fn step(game: &mut Skein, pressed: [bool; FLOCK]) {
    for goose in &mut game.geese {
        let ring = &mut goose.ring;
        if ring.age > 0 {
            ring.age += 1;
        }
        if ring.age > CHORUS_FRAMES + 1 {
            *ring = Ring::default();
        }
    }
    for which in (0..FLOCK).filter(|which| pressed[*which]) {
        if game.geese[which].is_flying() {
            honk(game, which);
        }
    }
    for which in 0..FLOCK {
        clear(game, which);
    }
}

fn honk(game: &mut Skein, which: usize) {
    let spot = game.geese[which].spot();
    let Some(breath) = game.geese[which].breath.checked_sub(COST) else {
        game.mark(Mark::at(Kind::Peep, which, spot));
        return;
    };
    let goose = &mut game.geese[which];
    goose.breath = breath;
    goose.safe = goose.safe.max(SAFE_HONK);
    goose.tally.honks = goose.tally.honks.saturating_add(1);
    goose.ring = Ring { age: 1, x: (spot.0 / PX) as i16, y: (spot.1 / PX) as i16, ..Ring::default() };
    let mut is_chorus = false;
    for other in (0..FLOCK).filter(|other| *other != which) {
        let ring = &mut game.geese[other].ring;
        let middle = at(ring.x.into(), ring.y.into());
        if ring.age == 0 || ring.age > CHORUS_FRAMES + 1 || !within(middle, spot, CHORUS_REACH) {
            continue;
        }
        is_chorus = true;
        if !ring.chorus {
            *ring = Ring { chorus: true, age: ring.age.min(4), ..*ring };
            award(game, other, CHORUS_POINTS);
        }
    }
    if is_chorus {
        game.geese[which].ring.chorus = true;
        award(game, which, CHORUS_POINTS);
    }
    game.mark(Mark::at(Kind::Honk, which, spot).worth(is_chorus.into()));
}

/// Applies a ring to what is in its radius.
fn clear(game: &mut Skein, which: usize) {
    let ring = game.geese[which].ring;
    let Some(radius) = radius(&ring) else { return };
    let middle = at(ring.x.into(), ring.y.into());
    let crumbs = &mut game.crumbs;
    game.embers.take(|ember| within(ember.spot(), middle, radius), |spot| crumbs.drop_at(spot));
    if i32::from(ring.age) < GROWTH || ring.dealt {
        return;
    }
    game.geese[which].ring.dealt = true;
    for struck in game.enemies.blast(which, HURTS, |spot| within(spot, middle, radius)) {
        reward(game, &struck);
    }
    let mut parts = Vec::new();
    game.boss.spots(|(spot, half, part): Zone| {
        if within(spot, middle, radius + half.0) {
            parts.push(part);
        }
    });
    for part in parts {
        let change = game.boss.wound(part, HURTS);
        crate::course::boss_changed(game, change);
    }
}
