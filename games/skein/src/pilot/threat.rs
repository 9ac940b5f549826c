//! Threats that could hit a goose in the next frames.
//!
//! Called by `pilot`. Absent: how to react.

use super::Skill;
use crate::Skein;
use crate::boss::RING_WIDTH;
use crate::ember::Shot;
use crate::enemy::{Enemy, Foe};
use crate::sky::{PX, Spot, at, boxed, polar, within};

/// Most threats considered.
const MOST: usize = 56;
/// Distances within which embers are considered, in pixels.
const SIGHT: (i32, i32) = (100, 74);
/// Half the box of a goose, in units.
const HALF: i32 = 2 * PX;

/// A threat that moves in a line.
#[derive(Debug, Clone, Copy, Default)]
struct Threat {
    at: Spot,
    way: Spot,
    half: Spot,
}

/// The threats around a goose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Threats {
    list: [Threat; MOST],
    count: usize,
}

/// Velocity of an enemy as a player would judge it.
fn way_of(enemy: &Enemy) -> Spot {
    match Foe::of(enemy.kind) {
        Some(Foe::Starling) => (-448, 0),
        Some(Foe::Moth) => (-360, 0),
        Some(Foe::Kite) => (-288, 0),
        Some(Foe::Stormcock) => (-128, 0),
        _ => (0, 0),
    }
}

impl Threats {
    /// Threats in sight of a goose, as they will be `lag` frames later.
    pub(super) fn around(game: &Skein, which: usize, lag: i32) -> Threats {
        let mut threats = Threats { list: [Threat::default(); MOST], count: 0 };
        let me = game.geese[which].spot();
        let bodies = game.enemies.iter().filter(|enemy| boxed(enemy.spot(), me, 90 * PX, 60 * PX));
        for enemy in bodies {
            let (across, down) = Foe::of(enemy.kind).map_or((0, 0), |foe| foe.traits().half);
            threats.add(Threat { at: enemy.spot(), way: way_of(enemy), half: (across * PX, down * PX) });
        }
        for bolt in game.bolts.iter().filter(|bolt| bolt.left > 0) {
            let spot = (i32::from(bolt.x) * PX, me.1);
            threats.add(Threat { at: spot, way: (0, 0), half: (9 * PX, 400 * PX) });
        }
        boss(game, me, &mut threats);
        for ember in game.embers.iter() {
            if !boxed(ember.spot(), me, SIGHT.0 * PX, SIGHT.1 * PX) {
                continue;
            }
            let radius = Shot::of(ember.kind).map_or(1, Shot::radius) * PX;
            let way = (ember.vx.into(), ember.vy.into());
            let threat = Threat { at: ember.spot(), way, half: (radius, radius) };
            // Threats that fly away do not matter.
            if nearest(&threat, me) < 62 * PX {
                threats.add(threat);
            }
        }
        for threat in &mut threats.list[..threats.count] {
            threat.at = (threat.at.0 + threat.way.0 * lag, threat.at.1 + threat.way.1 * lag);
        }
        threats
    }

    fn add(&mut self, threat: Threat) {
        if let Some(place) = self.list.get_mut(self.count) {
            *place = threat;
            self.count += 1;
        }
    }

    /// Smallest distance between boxes within `frames` frames; below 0 they overlap.
    pub(super) fn gap(&self, spot: Spot, frames: i32) -> i32 {
        let gaps = self.list[..self.count].iter().map(|threat| {
            let there = (threat.at.0 + threat.way.0 * frames, threat.at.1 + threat.way.1 * frames);
            ((there.0 - spot.0).abs() - threat.half.0).max((there.1 - spot.1).abs() - threat.half.1) - HALF
        });
        gaps.min().unwrap_or(i32::MAX)
    }

    /// Whether a threat comes close to a goose that flies on like this.
    pub(super) fn are_near(&self, from: Spot, way: Spot, skill: Skill) -> bool {
        [0, 6, 12, 18, 24].into_iter().any(|frames| {
            let flown = frames.min(skill.hold);
            self.gap((from.0 + way.0 * flown, from.1 + way.1 * flown), frames) < skill.reach * PX
        })
    }
}

/// Smallest distance of a threat from a place within 24 frames.
fn nearest(threat: &Threat, spot: Spot) -> i32 {
    let (x, y) = (i64::from(threat.at.0 - spot.0), i64::from(threat.at.1 - spot.1));
    let (vx, vy) = (i64::from(threat.way.0), i64::from(threat.way.1));
    let speed = vx * vx + vy * vy;
    let frames = if speed == 0 { 0 } else { (-(x * vx + y * vy) / speed).clamp(0, 24) };
    (x + vx * frames).abs().max((y + vy * frames).abs()) as i32
}

fn boss(game: &Skein, me: Spot, threats: &mut Threats) {
    if !game.boss.is_here() {
        return;
    }
    let way = if game.boss.kind == 2 { (-3 * PX, 0) } else { (0, 0) };
    game.boss.bodies(|(spot, half, _)| {
        if boxed(spot, me, (110 + half.0) * PX, (70 + half.1) * PX) {
            threats.add(Threat { at: spot, way, half: (half.0 * PX, half.1 * PX) });
        }
    });
    if let Some((spot, _)) = game.boss.fist() {
        threats.add(Threat { at: spot, way: (0, 0), half: (24 * PX, 24 * PX) });
    }
    if let Some(row) = game.boss.charge() {
        threats.add(Threat { at: (me.0, row), way: (0, 0), half: (700 * PX, 20 * PX) });
    }
}

/// Place to wait at while a ring of starlings closes.
pub(super) fn shelter(game: &Skein, which: usize) -> Option<Spot> {
    let (middle, radius, door) = game.boss.ring()?;
    let me = game.geese[which].spot();
    if within(me, middle, radius - 3 * RING_WIDTH) {
        // The ring never closes entirely, so its center is safe.
        let (x, y) =
            [(0, 0), (-24, -20), (-24, 20), (-40, 0), (20, -30), (20, 30), (0, -40), (0, 40)][which % 8];
        return Some((middle.0 + x * PX, middle.1 + y * PX));
    }
    let (x, y) = polar(door, (radius + 40) * PX);
    Some((middle.0 + x, middle.1 + y)).filter(|_| within(me, middle, radius + 30)).map(|spot| {
        let (left, top) = at(16, 40);
        (spot.0.max(left), spot.1.max(top))
    })
}
