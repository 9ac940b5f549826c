//! Old Hern: flowers of fire from an open throat, coals at the leading goose, and a charge.
//!
//! Called by `boss`. Absent: hit points and phases of the boss.

use gaggle_kit::Angle;

use super::{Boss, Zone, sway};
use crate::ember::{Shot, turned};
use crate::enemy::Air;
use crate::sky::{PX, Spot, aim, at};

/// Ends of the steps of a turn of the third phase, in frames: the mark, the charge, the way back
/// (beak shut so far), and the open throat.
const MARK: u16 = 60;
const CHARGE: u16 = 110;
const BACK: u16 = 190;
const TURN: u16 = 490;
/// Arms of a flower of shots, and the angle between two.
const ARMS: i32 = 14;
const APART: i32 = 2_300;

/// Whether the beak is shut, so that no shot does damage.
pub(super) fn is_shut(boss: &Boss) -> bool {
    boss.phase == 2 && boss.age % TURN < BACK
}

/// Whether it charges, or marks the row of its charge.
pub(super) fn is_charging(boss: &Boss) -> bool {
    boss.phase == 2 && boss.age % TURN < CHARGE
}

/// The beak that shuts at this frame.
pub(super) fn warning(boss: &Boss) -> Option<Spot> {
    (boss.phase == 2 && boss.age % TURN == 1).then(|| boss.spot())
}

/// The throat, in units.
pub(super) fn throat(boss: &Boss) -> Spot {
    (boss.x - 50 * PX, boss.y)
}

/// One frame of it.
pub(super) fn step(boss: &mut Boss, air: &mut Air<'_>) {
    let turn = boss.age % TURN;
    if boss.phase == 2 && turn < BACK {
        charge(boss, air, turn);
        return;
    }
    boss.approach(480, 165 + sway(46, boss.age, 720), 512);
    let frames = if boss.phase == 0 { 30 } else { 36 };
    if boss.is_due(air, frames) {
        petals(boss, air);
    }
    if boss.phase > 0 && boss.is_due(air, 120) {
        let from = throat(boss);
        let point = air.geese.iter().find(|goose| goose.is_flying() && goose.wake.is_point());
        let Some(spot) = point.map(crate::goose::Goose::spot).or(air.nearest(from)) else { return };
        for row in -1..=1 {
            for nth in 0..5 {
                let angle = turned(aim(from, spot), row * 1_900);
                air.embers.curling(Shot::Coal, from, angle, 0, 16 + nth * 2);
            }
        }
    }
}

/// Fires a flower: arms of embers and arms of rings that curl in opposite directions, two arms left
/// out.
fn petals(boss: &mut Boss, air: &mut Air<'_>) {
    boss.turn = boss.turn.wrapping_add(5);
    let from = throat(boss);
    let open = i32::from(boss.turn) % ARMS;
    for arm in 0..ARMS {
        let angle = turned(Angle::HALF, (2 * arm - (ARMS - 1)) * APART / 2);
        if arm != open && arm != (open + 1) % ARMS {
            let (shot, curl) =
                if boss.turn.is_multiple_of(2) { (Shot::Ember, 28) } else { (Shot::Ring, -28) };
            air.embers.curling(shot, from, angle, curl, 16);
        }
    }
}

/// One frame of a charge: the mark, the flight across the sky, the way back.
fn charge(boss: &mut Boss, air: &mut Air<'_>, turn: u16) {
    match turn {
        ..MARK => {
            let row = air.nearest(boss.spot()).map_or(180, |goose| goose.1 / PX);
            boss.approach(500, row.clamp(80, 280), 300);
        }
        MARK..CHARGE => boss.x -= 1_900,
        _ => boss.approach(480, 160, 1_400),
    }
}

/// Box that takes damage: the throat, while it is open.
pub(super) fn spots(boss: &Boss, mut each: impl FnMut(Zone)) {
    if !is_shut(boss) {
        // Four pixels of tolerance, as in gander.
        each((throat(boss), (14, 16), 0));
    }
}

/// Boxes that hit geese: head and breast.
pub(super) fn bodies(boss: &Boss, mut each: impl FnMut(Zone)) {
    each(((boss.x - 20 * PX, boss.y - 6 * PX), (26, 12), 0));
    if !is_charging(boss) {
        each((add(boss.spot(), at(70, 80)), (50, 40), 0));
    }
}

fn add(a: Spot, b: Spot) -> Spot {
    (a.0 + b.0, a.1 + b.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shut_beak_takes_no_damage() {
        let boss = Boss { kind: 4, phase: 2, age: 10, ..Boss::default() };
        let mut count = 0;
        spots(&boss, |_| count += 1);
        assert_eq!(count, 0);
        spots(&Boss { age: BACK, ..boss }, |_| count += 1);
        assert_eq!(count, 1);
    }
}
