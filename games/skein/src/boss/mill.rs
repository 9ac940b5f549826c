//! The Mill: burning sails. The axle takes damage in the first phase, then the lit window.
//!
//! Called by `boss`. Absent: hit points, phase changes.

use gaggle_kit::Angle;

use super::{Boss, Zone, sway};
use crate::ember::{Shot, turned};
use crate::enemy::Air;
use crate::sky::{PX, Spot, WIDTH, aim, at};

/// Pixels from the axle down to the window.
const WINDOW: i32 = 44;
/// Frames between two sails that come off.
const SAILS: u32 = 150;

/// Place that takes damage: the axle or the window.
pub(super) fn spot(boss: &Boss) -> Spot {
    let below = if boss.phase == 0 { 0 } else { WINDOW };
    (boss.x, boss.y + below * PX)
}

/// One frame of it.
pub(super) fn step(boss: &mut Boss, air: &mut Air<'_>) {
    boss.approach(520, 150 + sway(60, boss.age, 600), 512);
    let from = boss.spot();
    match boss.phase {
        0 => spokes(boss, air, from, 4, 8),
        1 => {
            spokes(boss, air, from, 3, 9);
            if boss.is_due(air, 100)
                && let Some(goose) = air.nearest(spot(boss))
            {
                air.embers.fan(Shot::Coal, spot(boss), aim(spot(boss), goose), 3, 2_600);
            }
        }
        _ => {
            spokes(boss, air, from, 3, 10);
            sails(boss, air);
        }
    }
}

/// Every `frames` frames fires `count` rings, one along each sail, and turns the sails.
fn spokes(boss: &mut Boss, air: &mut Air<'_>, from: Spot, count: i32, frames: u32) {
    if boss.is_due(air, frames) {
        boss.turn = boss.turn.wrapping_add(620);
        for nth in 0..count {
            let angle = turned(Angle::from_bits(boss.turn), nth * 65_536 / count);
            air.embers.fire(Shot::Ring, from, angle);
        }
    }
}

/// Sails come off and cross the sky in the row of a goose.
fn sails(boss: &mut Boss, air: &mut Air<'_>) {
    for sail in &mut boss.parts {
        if sail.state != 0 {
            sail.x -= 3;
            sail.timer = sail.timer.wrapping_add(3);
            sail.state = u8::from(sail.x > -30);
        }
    }
    if boss.is_due(air, SAILS) {
        let row = air.nearest(boss.spot()).map_or(180, |goose| goose.1 / PX);
        if let Some(sail) = boss.parts.iter_mut().find(|sail| sail.state == 0) {
            *sail = super::Part { x: WIDTH as i16 + 20, y: row as i16, hp: 0, state: 1, timer: 0 };
        }
    }
}

/// Boxes that hit geese: the tower, and sails that came off.
pub(super) fn bodies(boss: &Boss, mut each: impl FnMut(Zone)) {
    each(((boss.x + 4 * PX, boss.y + 40 * PX), (14, 50), 0));
    for (nth, sail) in boss.parts.iter().enumerate().filter(|(_, sail)| sail.state != 0) {
        each((at(sail.x.into(), sail.y.into()), (13, 8), nth));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_takes_damage_once_axle_is_broken() {
        let mut boss = Boss { kind: 2, ..Boss::default() };
        assert_eq!(spot(&boss), (0, 0));
        boss.phase = 1;
        assert_eq!(spot(&boss), (0, WINDOW * PX));
    }
}
