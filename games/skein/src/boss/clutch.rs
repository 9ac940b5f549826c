//! The Clutch: five fingers rise from the water, a fist strikes, and last the palm opens.
//!
//! Called by `boss`. Absent: hit points and phases of the boss.

use gaggle_kit::Angle;

use super::{Boss, PARTS, Part, Zone, sway};
use crate::ember::{Shot, turned};
use crate::enemy::Air;
use crate::sky::{PX, Spot, aim, at};

/// Column of each finger, and the row it rises to, in pixels.
const FINGERS: [(i16, i16); PARTS] = [(350, 250), (410, 190), (470, 130), (530, 200), (590, 265)];
/// Percentage of the hit points that the fingers have together; the palm has the rest.
const SHARE: u32 = 60;
/// Frames a finger stays under broken water before it rises, and frames the target is marked before
/// the fist closes.
const RISE: u8 = 30;
const MARK: u16 = 75;
/// Frames between two strikes of the fist.
const TURN: u16 = 300;

/// Gives each finger its share of the hit points.
pub(super) fn begin(boss: &mut Boss) {
    let each = u32::from(boss.full) * SHARE / 100 / PARTS as u32;
    for (finger, (x, _)) in boss.parts.iter_mut().zip(FINGERS) {
        *finger = Part { x, y: 330, hp: each as u16, state: 1, timer: 0 };
    }
    (boss.x, boss.y) = at(500, 400);
}

/// Whether the palm takes damage: all fingers are broken.
pub(super) fn is_open(boss: &Boss) -> bool {
    boss.parts.iter().all(|finger| finger.hp == 0)
}

/// One frame of it.
pub(super) fn step(boss: &mut Boss, air: &mut Air<'_>) {
    for nth in 0..PARTS {
        finger(boss, air, nth);
    }
    fist(boss, air);
    let row = if is_open(boss) { 180 + sway(60, boss.age, 480) } else { 400 };
    let turn = boss.age % TURN;
    if turn < MARK || is_open(boss) && turn > MARK + 20 {
        boss.approach(510, row, 420);
    }
    if is_open(boss) && boss.is_due(air, 24) {
        boss.turn = boss.turn.wrapping_add(2_300);
        for nth in 0..9 {
            let angle = turned(Angle::from_bits(boss.turn), nth * 65_536 / 9);
            air.embers.fire(Shot::Ember, palm(boss), angle);
        }
    }
}

/// One frame of a finger: it rises, sways, and fires fans at intervals of its own.
fn finger(boss: &mut Boss, air: &mut Air<'_>, nth: usize) {
    let mut finger = boss.parts[nth];
    if finger.hp == 0 {
        finger.y = (finger.y + 3).min(360);
        boss.parts[nth] = finger;
        return;
    }
    finger.timer = finger.timer.saturating_add(1);
    if finger.timer > RISE {
        let row = i32::from(FINGERS[nth].1) + sway(26, boss.age.wrapping_add(nth as u16 * 70), 330);
        finger.y = crate::sky::toward(finger.y.into(), row, 4) as i16;
    }
    boss.parts[nth] = finger;
    let own = Boss { age: boss.age.wrapping_add(nth as u16 * 32), ..*boss };
    if own.is_due(air, 100)
        && finger.y < 320
        && let Some(goose) = air.nearest(finger.spot())
    {
        air.embers.fan(Shot::Ember, finger.spot(), aim(finger.spot(), goose), 5, 2_000);
    }
}

/// From the second phase on, picks the place on which the fist will close: that of the leading
/// goose.
fn fist(boss: &mut Boss, air: &mut Air<'_>) {
    if boss.phase == 0 {
        return;
    }
    let turn = boss.age % TURN;
    if turn == 1 {
        let point = air.geese.iter().find(|goose| goose.is_flying() && goose.wake.is_point());
        let spot = point.map(crate::goose::Goose::spot).or(air.nearest(boss.spot()));
        // `turn` is free in these frames: it keeps the place, column and row in a byte each, in two
        // pixels.
        let (x, y) = spot.map_or((200, 180), |spot| (spot.0 / PX, spot.1 / PX));
        boss.turn = (x.clamp(0, 510) / 2) as u16 | ((y.clamp(0, 510) / 2) as u16) << 8;
    }
}

/// Place of the fist in units, and whether it is closed; `None` unless one is marked or closed.
pub(super) fn closing(boss: &Boss) -> Option<(Spot, bool)> {
    let turn = boss.age % TURN;
    let spot = at(i32::from(boss.turn & 0xff) * 2, i32::from(boss.turn >> 8) * 2);
    (boss.phase > 0 && !is_open(boss) && (2..MARK + 20).contains(&turn)).then_some((spot, turn >= MARK))
}

/// The place of the point, marked from this frame on.
pub(super) fn warning(boss: &Boss) -> Option<Spot> {
    closing(boss).map(|(spot, _)| spot).filter(|_| boss.age % TURN == 2)
}

/// The palm, in units.
pub(super) fn palm(boss: &Boss) -> Spot {
    (boss.x, boss.y)
}

/// Boxes that take damage: the finger tips, then the palm.
pub(super) fn spots(boss: &Boss, mut each: impl FnMut(Zone)) {
    for (nth, finger) in boss.parts.iter().enumerate().filter(|(_, finger)| finger.hp > 0) {
        each((finger.spot(), (10, 15), nth));
    }
    if is_open(boss) {
        each((palm(boss), (20, 26), 0));
    }
}

/// Boxes that hit geese: fingers, palm and the closed fist.
pub(super) fn bodies(boss: &Boss, mut each: impl FnMut(Zone)) {
    for (nth, finger) in boss.parts.iter().enumerate().filter(|(_, finger)| finger.hp > 0) {
        each(((finger.spot().0, finger.spot().1 + 20 * PX), (6, 26), nth));
    }
    if is_open(boss) {
        each((palm(boss), (20, 18), 0));
    }
    if let Some((spot, true)) = closing(boss) {
        each((spot, (22, 22), 0));
    }
}

/// Damages a finger or the palm. Returns how many hit points the boss loses.
pub(super) fn wound(boss: &mut Boss, part: usize, hurts: u16) -> u16 {
    if is_open(boss) {
        return hurts;
    }
    let Some(finger) = boss.parts.get_mut(part) else { return 0 };
    let hurts = hurts.min(finger.hp);
    finger.hp -= hurts;
    // One hit point stays for the palm, however the shares of the fingers were rounded.
    hurts.min(boss.hp.saturating_sub(1))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::difficulty::Difficulty;

    #[test]
    fn palm_opens_once_all_fingers_are_broken() {
        let mut boss = Boss::of(5, Difficulty::of(1));
        for part in 0..PARTS {
            assert!(!is_open(&boss));
            wound(&mut boss, part, 9_999);
        }
        assert!(is_open(&boss));
        let mut count = 0;
        spots(&boss, |_| count += 1);
        assert_eq!(count, 1);
    }

    #[test]
    fn fist_marks_before_it_closes() {
        let boss = Boss { phase: 1, age: 10, turn: 100 | 90 << 8, ..Boss::of(5, Difficulty::of(1)) };
        assert_eq!(closing(&boss), Some((at(200, 180), false)));
        assert_eq!(closing(&Boss { age: MARK, ..boss }), Some((at(200, 180), true)));
    }
}
