//! Goslings controlled by the tick: in each cell a bot weighs the exits and takes one.
//!
//! Called by `tick`. Bots read the state, so they cost no question. Absent: what a player cannot
//! see.

use gaggle_kit::{Prng, State};

use crate::chick::LOAD_MAX;
use crate::reed::{FAR, Reed};
use crate::round::nest_of;
use crate::water::{NOWHERE, Swimmer, Way, is_open, opposite, ways};
use crate::{Chick, Gosling, Mode};

/// How good a bot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub enum Strength {
    /// Takes an exit at random every other time, never turns back.
    Fledgling,
    /// Turns back from a pike in sight.
    #[default]
    Steady,
    /// Also brings loads home early, sees more and fears more.
    Sharp,
}

/// Numbers that tell the strengths apart. Values are those of exits: a crumb one tile away is 256.
struct Nerve {
    /// Of four junctions, those at which it takes an exit at random.
    careless: u32,
    /// Load with which it goes home.
    home: u8,
    /// Load with which it goes home if a pike is within ten tiles.
    home_early: u8,
    /// Value that a pike one tile away takes from an exit.
    fear: i32,
    /// Value of a pike or rival to hunt as a goose.
    hunt: i32,
    /// Value of a feather.
    feather: i32,
    /// How far it misjudges what an exit is worth.
    noise: u32,
}

/// Tuned together over 200 rounds: `gaggle-lab balance-gosling`.
const NERVES: [Nerve; 3] = [
    Nerve { careless: 2, home: 6, home_early: 6, fear: 1_600, hunt: 8_000, feather: 1_000, noise: 7_000 },
    Nerve { careless: 0, home: 6, home_early: 6, fear: 3_600, hunt: 60_000, feather: 6_000, noise: 3_300 },
    Nerve { careless: 0, home: 6, home_early: 5, fear: 9_000, hunt: 60_000, feather: 8_000, noise: 1_800 },
];

/// Value of an exit that leads home.
const HOME: i32 = 2_000;
/// Value that turning back at a junction costs.
const BACK: i32 = 120;
/// Distance, in cells, up to which a bot counts crumbs: eight tiles.
const LOOK: u8 = 4;
/// Distance, in cells, up to which pikes frighten: sixteen tiles.
const NEAR: u8 = 8;
/// Cells within which feathers, and a goose's prey, pull.
const PULL: u8 = 16;
/// How much better a goose likes a loaded rival than a pike.
const RIVAL: i32 = 4;

/// What a bot sees when it chooses.
pub(crate) struct Look<'a> {
    pub(crate) game: &'a Gosling,
    pub(crate) reed: &'a Reed,
    pub(crate) slot: usize,
    pub(crate) strength: Strength,
}

impl<'a> Look<'a> {
    /// The view of the bot in a slot.
    pub(crate) fn of(game: &'a Gosling, reed: &'a Reed, slot: usize) -> Look<'a> {
        let strength = game.setup.strength.unwrap_or(match slot % 3 {
            0 => Strength::Steady,
            1 => Strength::Fledgling,
            _ => Strength::Sharp,
        });
        Look { game, reed, slot, strength }
    }

    fn chick(&self) -> &Chick {
        &self.game.chicks[self.slot]
    }

    fn nerve(&self) -> &'static Nerve {
        &NERVES[self.strength as usize]
    }

    /// The way a bot takes at a cell it reaches.
    pub(crate) fn steer(&self, cell: u16, heading: Way, random: &mut Prng) -> Way {
        let exits = self.reed.exits(cell);
        if exits.count_ones() > 2 {
            return self.choose(cell, Some(heading), random);
        }
        let on = self.reed.bend(cell, heading);
        let is_afraid = self.strength != Strength::Fledgling && self.chick().goose == 0;
        if is_afraid
            && self.sees_pike(Swimmer::at(cell, on))
            && !self.sees_pike(Swimmer::at(cell, opposite(heading)))
        {
            return opposite(heading);
        }
        on
    }

    /// The exit of most value.
    pub(crate) fn choose(&self, cell: u16, heading: Option<Way>, random: &mut Prng) -> Way {
        let exits = self.reed.exits(cell);
        let back = heading.map(opposite);
        let ahead = back.map_or(exits, |back| exits & !(1 << back));
        if ahead != 0 && random.chance(self.nerve().careless, 4) {
            return ways(ahead).nth(random.below(ahead.count_ones()) as usize).unwrap_or(0);
        }
        let looks_back = self.strength != Strength::Fledgling || ahead == 0;
        ways(if looks_back { exits } else { ahead })
            .max_by_key(|way| {
                let back = if Some(*way) == back { BACK } else { 0 };
                // Random, so that a bot misjudges exits and does not always take the same of two.
                self.value(cell, *way) - back + random.below(self.nerve().noise) as i32
            })
            .unwrap_or(0)
    }

    fn value(&self, cell: u16, way: Way) -> i32 {
        let (chick, nerve) = (self.chick(), self.nerve());
        let start = self.reed.next(cell, way);
        let mut value = 0;
        let danger = self.nearest_pike(cell, start);
        if chick.goose == 0 {
            value -= danger.map_or(0, |tiles| nerve.fear / i32::from(tiles));
            value += self
                .game
                .feathers
                .list
                .iter()
                .map(|feather| self.pull(cell, start, feather.cell, nerve.feather))
                .sum::<i32>();
        } else {
            for pike in self.game.pikes.iter().filter(|pike| pike.is_out) {
                value += self.pull(cell, start, self.reed.near(pike.at), nerve.hunt);
            }
            if self.strength != Strength::Fledgling {
                let rivals = self.game.chicks.iter().enumerate();
                let rivals = rivals.filter(|(slot, rival)| {
                    rival.is_prey() && rival.load >= 4 && self.game.are_rivals(self.slot, *slot)
                });
                for (_, rival) in rivals {
                    value += self.pull(cell, start, self.reed.near(rival.at), nerve.hunt * RIVAL);
                }
            }
        }
        let is_near = danger.is_some_and(|tiles| tiles <= 10);
        let home = if is_near { nerve.home_early } else { nerve.home };
        let nest = self.home(cell);
        let (far, then) = (self.reed.distance(cell, nest), self.reed.distance(start, nest));
        let is_last_chance = chick.load > 0 && u16::from(far) * 16 + 60 > self.game.clock.left;
        if (chick.load >= home || is_last_chance) && then < far {
            value += HOME;
        }
        if chick.load < LOAD_MAX {
            // On the way home crumbs are hardly worth a detour.
            value += self.crumbs(cell, way, 0) / if chick.load >= home { 8 } else { 1 };
        }
        value
    }

    /// The nest a bot brings its crumbs to.
    fn home(&self, cell: u16) -> u16 {
        if self.game.setup.mode == Mode::Free {
            let nests = self.reed.nests().iter().zip(self.game.rests);
            let open =
                nests.min_by_key(|(nest, rest)| (u16::from(*rest > 60), self.reed.distance(cell, **nest)));
            return open.map_or(cell, |(nest, _)| *nest);
        }
        nest_of(self.game.setup.mode, self.chick().brood, self.slot, self.reed.nests())
    }

    /// Value of the crumbs up to eight tiles behind an exit: 256 each, divided by the tiles to it.
    fn crumbs(&self, cell: u16, way: Way, cells: u8) -> i32 {
        let next = self.reed.next(cell, way);
        let worth = |tile: u16, tiles: i32| if self.game.crumbs.has(tile) { 256 / tiles } else { 0 };
        let tiles = 2 * i32::from(cells);
        let mut sum =
            worth(self.reed.tile_beside(cell, way), tiles + 1) + worth(self.reed.tile_of(next), tiles + 2);
        if cells + 1 < LOOK {
            for on in ways(self.reed.exits(next)).filter(|on| *on != opposite(way)) {
                sum += self.crumbs(next, on, cells + 1);
            }
        }
        sum
    }

    /// Value that something at a cell adds to an exit: less with distance, 0 if it leads elsewhere.
    fn pull(&self, cell: u16, start: u16, target: u16, worth: i32) -> i32 {
        if target == NOWHERE || worth == 0 {
            return 0;
        }
        let then = self.reed.distance(start, target);
        if then > PULL || then >= self.reed.distance(cell, target) {
            0
        } else {
            worth / (2 * i32::from(then) + 2)
        }
    }

    /// Tiles to the nearest pike that an exit leads to and that does not swim away.
    fn nearest_pike(&self, cell: u16, start: u16) -> Option<u8> {
        let mut nearest = FAR;
        for pike in self.game.pikes.iter().filter(|pike| pike.bites()) {
            let then = self.reed.distance(start, pike.at.cell);
            if then < NEAR && then < nearest && then < self.reed.distance(cell, pike.at.cell) {
                let comes = self.reed.distance(self.reed.next(pike.at.cell, pike.at.heading), cell)
                    <= self.reed.distance(pike.at.cell, cell);
                nearest = if comes { then } else { nearest };
            }
        }
        (nearest < FAR).then(|| 2 * nearest + 2)
    }

    /// Whether a pike is straight ahead, no wall between, up to six tiles away.
    fn sees_pike(&self, at: Swimmer) -> bool {
        let mut cell = at.cell;
        for _ in 0..=3 {
            let is_here = |pike: &crate::Pike| {
                pike.bites() && (pike.at.cell == cell || self.reed.near(pike.at) == cell)
            };
            if cell != at.cell && self.game.pikes.iter().any(is_here) {
                return true;
            }
            if !is_open(self.reed.exits(cell), at.heading) {
                return false;
            }
            cell = self.reed.next(cell, at.heading);
        }
        false
    }
}
