//! The Murmuration: a swarm of starlings, of which only the pale one takes damage.
//!
//! Called by `boss`. Absent: hit points and phases of the boss.

use gaggle_kit::Angle;

use super::{Boss, sway};
use crate::ember::Shot;
use crate::enemy::Air;
use crate::sky::{PX, Spot, aim};

/// Half the width of the ring of starlings, in pixels.
pub const RING_WIDTH: i32 = 7;
/// Half the width of the gap in the ring, in units of angle.
pub const DOOR_HALF: i32 = 6_200;
/// Frames between two rings, and the frames of a turn in which the ring closes.
const TURN: u16 = 330;
const CLOSING: (u16, u16) = (70, 250);
/// Radius of the ring when it appears and when it is closed, in pixels.
const RADII: (i32, i32) = (210, 92);

/// One frame of it.
pub(super) fn step(boss: &mut Boss, air: &mut Air<'_>) {
    let age = boss.age;
    match boss.phase {
        // The swarm is a ribbon that passes and fires sparks.
        0 => {
            boss.approach(470 + sway(60, age, 600), 170 + sway(80, age, 520), 512);
            if boss.is_due(air, 36)
                && let Some(goose) = air.nearest(boss.spot())
            {
                air.embers.fan(Shot::Spark, boss.spot(), aim(boss.spot(), goose), 3, 2_400);
            }
        }
        // The swarm has the shape of a bird.
        1 => {
            boss.approach(490, 170 + sway(60, age, 640), 420);
            if boss.is_due(air, 48)
                && let Some(goose) = air.nearest(boss.spot())
            {
                air.embers.fan(Shot::Ember, boss.spot(), aim(boss.spot(), goose), 15, 1_500);
            }
        }
        // The swarm is a ring that closes around the geese.
        _ => {
            closing(boss, air);
            if boss.is_due(air, 40) && !is_closing(boss) {
                let middle = air.nearest(boss.spot()).map_or(Angle::HALF, |goose| aim(boss.spot(), goose));
                air.embers.fan(Shot::Spark, boss.spot(), middle, 5, 2_000);
            }
        }
    }
}

fn is_closing(boss: &Boss) -> bool {
    (CLOSING.0..CLOSING.1).contains(&(boss.age % TURN))
}

/// Moves the ring. Part 0 keeps it: center, radius as `hp`, direction of the gap as `state`.
fn closing(boss: &mut Boss, air: &mut Air<'_>) {
    let turn = boss.age % TURN;
    if turn == 1 {
        let goose = air.nearest(boss.spot()).unwrap_or((200 * PX, 180 * PX));
        let ring = &mut boss.parts[0];
        (ring.x, ring.y) = ((goose.0 / PX).clamp(120, 330) as i16, (goose.1 / PX).clamp(110, 250) as i16);
        ring.state = air.random.below(256) as u8;
        ring.hp = 0;
    }
    if is_closing(boss) {
        let (from, to) = CLOSING;
        let done = i32::from(turn - from) * (RADII.0 - RADII.1) / i32::from(to - from);
        boss.parts[0].hp = (RADII.0 - done) as u16;
        // The pale starling flies at the right edge of the ring, within reach of quills.
        let ring = boss.parts[0];
        boss.approach(i32::from(ring.x) + i32::from(ring.hp), ring.y.into(), 900);
    } else {
        boss.parts[0].hp = 0;
        boss.approach(450, 170 + sway(70, boss.age, 300), 640);
    }
}

/// Whether the ring, apart from its gap, is at this place.
pub(super) fn closes_on(boss: &Boss, spot: Spot) -> bool {
    let ring = boss.parts[0];
    if boss.phase != 2 || ring.hp == 0 {
        return false;
    }
    let middle = ring.spot();
    let (x, y) = (i64::from(spot.0 - middle.0), i64::from(spot.1 - middle.1));
    let far = (x * x + y * y).isqrt() as i32 / PX;
    let door = Angle::from_bits(u16::from(ring.state) << 8);
    let off = i32::from(door.delta_to(aim(middle, spot))).abs();
    (far - i32::from(ring.hp)).abs() <= RING_WIDTH && off > DOOR_HALF
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sky::at;

    #[test]
    fn ring_hits_beside_its_door_alone() {
        let mut boss = Boss { kind: 1, phase: 2, ..Boss::default() };
        boss.parts[0].x = 200;
        boss.parts[0].y = 180;
        boss.parts[0].hp = 100;
        boss.parts[0].state = 128;
        assert!(closes_on(&boss, at(300, 180)));
        assert!(!closes_on(&boss, at(100, 180)), "the door is at the left");
        assert!(!closes_on(&boss, at(200, 180)));
        boss.parts[0].hp = 0;
        assert!(!closes_on(&boss, at(300, 180)));
    }
}
