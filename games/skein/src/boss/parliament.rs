//! The Parliament: three owls with a third of the hit points each; the last one chases the leading
//! goose.
//!
//! Called by `boss`. Absent: hit points and phases of the boss.

use super::{Boss, Part, Zone, sway};
use crate::enemy::{Air, ring};
use crate::sky::{PX, at, toward};

/// Owls of the Parliament.
const OWLS: usize = 3;
/// Frames between two rings of an owl, and how many fewer per fallen owl.
const TURN: u32 = 96;
const QUICKER: u32 = 14;

/// Gives each owl a third of the hit points.
pub(super) fn begin(boss: &mut Boss) {
    for (nth, owl) in (0..).zip(&mut boss.parts[..OWLS]) {
        *owl = Part { x: 700, y: 90 + 85 * nth, hp: boss.full.div_ceil(OWLS as u16), state: 1, timer: 0 };
    }
}

/// One frame of it.
pub(super) fn step(boss: &mut Boss, air: &mut Air<'_>) {
    let fallen = boss.parts[..OWLS].iter().filter(|owl| owl.hp == 0).count() as u32;
    let hunted = air.geese.iter().find(|goose| goose.is_flying() && goose.wake.is_point());
    let hunted = hunted.map(crate::goose::Goose::spot).or(air.nearest(boss.spot()));
    for nth in 0..OWLS {
        let mut owl = boss.parts[nth];
        if owl.hp == 0 {
            continue;
        }
        let offset = nth as u16 * 130;
        let (mut x, mut y) = (
            500 + sway(36, boss.age.wrapping_add(offset), 360),
            90 + 80 * nth as i32 + sway(22, boss.age.wrapping_add(offset), 260),
        );
        if fallen == 2 {
            let row = hunted.map_or(180, |goose| goose.1 / PX);
            (x, y) = (430 + sway(90, boss.age, 420), row);
        }
        let step = if fallen == 2 { 2 } else { 3 };
        (owl.x, owl.y) = (toward(owl.x.into(), x, step) as i16, toward(owl.y.into(), y, step) as i16);
        boss.parts[nth] = owl;
        let turn = TURN - QUICKER * fallen;
        let due = boss.age.wrapping_add((turn / 3) as u16 * nth as u16);
        let own = Boss { age: due, ..*boss };
        if own.is_due(air, turn) {
            let open = air.random.below(22);
            ring(air.embers, at(owl.x.into(), owl.y.into()), open, 22, 3);
        }
    }
    (boss.x, boss.y) = middle(boss);
}

/// Place of the first owl left, which stands for the boss.
fn middle(boss: &Boss) -> (i32, i32) {
    let left = boss.parts[..OWLS].iter().filter(|owl| owl.hp > 0);
    left.map(Part::spot).next().unwrap_or(boss.spot())
}

/// Boxes that take damage: the owls left.
pub(super) fn spots(boss: &Boss, mut each: impl FnMut(Zone)) {
    for (nth, owl) in boss.parts[..OWLS].iter().enumerate().filter(|(_, owl)| owl.hp > 0) {
        each((owl.spot(), (14, 17), nth));
    }
}

/// Damages an owl. Returns how many hit points the boss loses.
pub(super) fn wound(boss: &mut Boss, part: usize, hurts: u16) -> u16 {
    let Some(owl) = boss.parts[..OWLS].get_mut(part) else { return 0 };
    let hurts = hurts.min(owl.hp);
    owl.hp -= hurts;
    if boss.parts[..OWLS].iter().all(|owl| owl.hp == 0) { boss.hp } else { hurts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difficulty::Difficulty;

    #[test]
    fn owls_share_hurts_and_last_one_ends_it() {
        let mut boss = Boss::of(3, Difficulty::of(1));
        assert_eq!(wound(&mut boss, 0, 9_999), 150);
        assert_eq!(wound(&mut boss, 0, 5), 0);
        wound(&mut boss, 1, 9_999);
        boss.hp = 3;
        assert_eq!(wound(&mut boss, 2, 9_999), 3);
        assert_eq!(wound(&mut boss, 9, 1), 0);
    }
}
