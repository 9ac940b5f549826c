//! Computer player: a `Pad` per frame from what a player would see.
//!
//! Now and then it simulates a few options over the next second and keeps to the best. Strengths
//! differ in how often they do, how far ahead, in judging heights and in flapping. Called by pages,
//! tests and `attract.rs`. Absent: the state itself, only `Sight` of it.

use gaggle_kit::Prng;

use crate::Gander;
use crate::arena::{DROWN, FIRE, PX, apart, over_pit, wrap};
use crate::bots::sight::{Seen, Sight, Thing};
use crate::egg::EGG_TALL;
use crate::hern::Meeting;
use crate::mover::{LANCE, Mover, TALL};
use crate::pad::Pad;
use crate::pilot::Pilot;

/// Playing strength of a bot.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Strength {
    /// Slow to react and poor at judging heights.
    Fledgling,
    /// Plays like an average player.
    #[default]
    Steady,
    /// Rarely below its opponents.
    Sharp,
}

/// Parameters of a strength.
struct Skill {
    /// Mean frames between two looks at the screen.
    look: u8,
    /// Least frames between two flaps.
    gap: u8,
    /// Largest error of a height, in pixels.
    error: i32,
    /// Frames simulated ahead.
    horizon: i32,
    /// Distance it keeps from a lance it cannot beat, in pixels.
    berth: i32,
    /// Height above an opponent at which it counts on winning, in pixels.
    margin: i32,
}

const SKILL: [Skill; 3] = [
    Skill { look: 24, gap: 7, error: 10, horizon: 24, berth: 2, margin: 0 },
    Skill { look: 12, gap: 5, error: 4, horizon: 36, berth: 4, margin: 1 },
    Skill { look: 5, gap: 3, error: 0, horizon: 48, berth: 6, margin: 3 },
];

/// Values of outcomes: being unseated, winning a joust, an egg, an egg that hatches soon.
const UNSEATED: i32 = -6000;
const WIN: i32 = 1600;
const EGG: i32 = 1000;
const EGG_URGENT: i32 = 1400;

/// Option that a bot follows until its next look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Aim {
    /// Row for its feet.
    lane: i32,
    /// Direction: −1, 0 or 1.
    dir: i8,
    /// Fastest horizontal step.
    top: i8,
}

/// A computer player of one slot.
#[derive(Debug, Clone)]
pub struct Bot {
    seat: usize,
    strength: Strength,
    random: Prng,
    rest: u8,
    aim: Aim,
}

impl Bot {
    /// A bot for a slot. Equal seeds play alike.
    pub fn new(seat: usize, strength: Strength, seed: u64) -> Bot {
        let random = Prng::stream(seed, seat as u64);
        Bot { seat, strength, random, rest: 0, aim: Aim { lane: 100, dir: 1, top: 3 } }
    }

    /// Slot that it plays.
    pub fn seat(&self) -> usize {
        self.seat
    }

    /// Pad for the next frame, from the state of this one.
    pub fn play(&mut self, game: &Gander) -> Pad {
        let sight = Sight::of(game, self.seat);
        self.decide(&sight)
    }

    /// Pad for the next frame, from what it sees in this one.
    pub fn decide(&mut self, sight: &Sight) -> Pad {
        let skill = &SKILL[self.strength as usize];
        if sight.over {
            // Only a new press restarts the match, so it taps now and then.
            return Pad::FLAP.flapping(self.random.chance(1, 30));
        }
        let Some(me) = sight.me else {
            self.rest = 0;
            return Pad::NONE;
        };
        if self.rest == 0 {
            self.rest = skill.look / 2 + self.random.below(u32::from(skill.look)) as u8;
            self.aim = self.choose(&me, sight, skill);
            self.aim.lane += self.random.range(-skill.error..=skill.error);
        } else {
            self.rest -= 1;
        }
        fly(&me, self.aim, skill, sight)
    }

    /// Best of its options, by simulation of each.
    fn choose(&mut self, me: &Mover, sight: &Sight, skill: &Skill) -> Aim {
        let goal = goal(me, sight, skill);
        let here = me.y / PX;
        let lanes = [goal.lane, here, here - 24, here - 48, here + 30];
        let mut best = (i32::MIN, goal);
        // An open beak can be met head on by sinking to its height in time.
        if let Some(hern) = nearest(me, sight, |thing| matches!(thing, Thing::Hern { .. })) {
            let dir = if me.left == hern.left { if hern.left { 1 } else { -1 } } else { 0 };
            for lane in [(hern.y + LANCE) / PX + 1, (hern.y + LANCE) / PX - 6] {
                let aim = Aim { lane, dir, top: 1 };
                let liking = imagine(*me, aim, &goal, sight, skill);
                if liking > best.0 {
                    best = (liking, aim);
                }
            }
        }
        for (n, lane) in lanes.into_iter().enumerate() {
            for dir in [goal.dir, -goal.dir, 0] {
                if n > 0 && dir == 0 && goal.dir == 0 {
                    continue;
                }
                let top = if dir == goal.dir { goal.top } else { 4 };
                let aim = Aim { lane: lane.clamp(36, 188), dir, top };
                // The goal is tried first, so that it wins ties.
                let liking = imagine(*me, aim, &goal, sight, skill);
                if liking > best.0 {
                    best = (liking, aim);
                }
            }
        }
        best.1
    }
}

fn fly(me: &Mover, aim: Aim, skill: &Skill, sight: &Sight) -> Pad {
    Pilot { gap: skill.gap, top: aim.top }.fly(me, aim.lane, aim.dir, &sight.ground)
}

/// Best place and direction if there were no dangers.
fn goal(me: &Mover, sight: &Sight, skill: &Skill) -> Aim {
    let urgent = nearest(me, sight, |thing| matches!(thing, Thing::Egg { urgent: true, .. }));
    let egg = nearest(me, sight, |thing| matches!(thing, Thing::Egg { .. }));
    let rider = nearest(me, sight, |thing| matches!(thing, Thing::Rider(_) | Thing::Rival));
    let fetch = urgent.or(match (egg, rider) {
        (Some(egg), Some(rider)) if distance(me, &egg) > distance(me, &rider) + 60 * PX => None,
        (egg, _) => egg,
    });
    if let Some(egg) = fetch {
        let lane =
            if matches!(egg.thing, Thing::Egg { down: true, .. }) { egg.y / PX } else { egg.y / PX + 4 };
        return reach(me, wrap(egg.x + egg.vx * 16), lane, 4);
    }
    match rider {
        Some(rider) => {
            let above = 9 + skill.margin;
            reach(me, wrap(rider.x + rider.vx * 12), (rider.y + rider.vy * 8) / PX - above, 4)
        }
        // Nothing to do: waits above the middle of the fen.
        None => Aim { lane: 100, dir: 0, top: 2 },
    }
}

fn reach(me: &Mover, x: i32, lane: i32, top: i8) -> Aim {
    let dx = apart(me.x, x);
    let dir = if dx.abs() < 4 * PX { 0 } else { dx.signum() as i8 };
    // A goose at full speed would fly past a near target.
    let top = if dx.abs() < 36 * PX { top.min(2) } else { top };
    Aim { lane, dir, top }
}

/// Value of following `aim` for the next frames.
fn imagine(mut me: Mover, aim: Aim, goal: &Aim, sight: &Sight, skill: &Skill) -> i32 {
    let mut liking = 0;
    let mut done = 0_u64;
    for frame in 1..=skill.horizon {
        let pad = fly(&me, aim, skill, sight);
        me.step(pad, &sight.ground, None);
        // Later outcomes are less certain.
        let weight = 64 - frame;
        if me.y > DROWN * PX {
            return liking + UNSEATED * weight / 64;
        }
        for (n, seen) in sight.things().iter().enumerate() {
            if done & 1 << n != 0 {
                continue;
            }
            match meet(&me, seen, frame, sight, skill) {
                Some(value) if value < 0 => return liking + value * weight / 64,
                Some(value) => {
                    liking += value * weight / 64;
                    done |= 1 << n;
                }
                None => {}
            }
        }
    }
    if let Some(x) = sight.hand
        && apart(x, me.x).abs() < 30 * PX
        && me.y > (FIRE - 50) * PX
    {
        liking += UNSEATED / 4;
    }
    if over_pit(me.x) && me.y > (FIRE - 34) * PX && !me.grounded {
        liking += UNSEATED / 4;
    }
    liking + outlook(&me, goal, sight)
}

/// Value of meeting `seen` after `frame` frames, if they meet.
fn meet(me: &Mover, seen: &Seen, frame: i32, sight: &Sight, skill: &Skill) -> Option<i32> {
    let x = wrap(seen.x + seen.vx * frame);
    let dx = apart(me.x, x).abs();
    match seen.thing {
        Thing::Rider(_) | Thing::Rival => {
            if sight.safe {
                return None;
            }
            // An opponent flaps again soon, so a fall is not extrapolated for long.
            let y = seen.y + seen.vy * frame.min(14);
            let below = me.y - y;
            let berth = skill.berth * PX;
            if dx >= 16 * PX + berth || below.abs() >= TALL + berth {
                return None;
            }
            if below < -skill.margin * PX {
                return (dx < 16 * PX && below.abs() < TALL).then_some(WIN);
            }
            Some(UNSEATED)
        }
        Thing::Egg { urgent, down } => {
            let y = if down { seen.y } else { seen.y + seen.vy * frame.min(20) };
            let near = dx < 11 * PX && y > me.y - TALL && y - EGG_TALL < me.y;
            near.then_some(if urgent { EGG_URGENT } else { EGG })
        }
        Thing::Hern { .. } => {
            if sight.safe {
                return None;
            }
            let hern = seen.as_hern(seen.x + seen.vx * frame);
            match hern.meets(me) {
                Some(Meeting::Killed) => Some(WIN),
                Some(Meeting::Struck) => Some(UNSEATED),
                None => None,
            }
        }
    }
}

/// Value of the final position: near the goal, and above opponents nearby.
fn outlook(me: &Mover, goal: &Aim, sight: &Sight) -> i32 {
    let mut liking = -(me.y / PX - goal.lane).abs() * 2;
    if goal.dir != 0 {
        liking += i32::from(goal.dir) * me.vx() * 30 / PX;
    }
    for seen in sight.things() {
        if matches!(seen.thing, Thing::Rider(_) | Thing::Rival) {
            let dx = apart(me.x, seen.x + seen.vx * 24).abs();
            let below = (me.y - seen.y) / PX;
            if dx < 60 * PX && below > -4 && below < 60 {
                liking -= 120 + below * 2;
            }
        }
    }
    liking
}

fn distance(me: &Mover, seen: &Seen) -> i32 {
    apart(me.x, seen.x).abs() + (me.y - seen.y).abs()
}

fn nearest(me: &Mover, sight: &Sight, wanted: impl Fn(Thing) -> bool) -> Option<Seen> {
    sight.things().iter().filter(|seen| wanted(seen.thing)).min_by_key(|seen| distance(me, seen)).copied()
}
