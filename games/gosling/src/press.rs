//! A model of how players press: they choose a way after a junction and press shortly before the
//! next.
//!
//! Called by tests, tools and `trial`, which need many players. Absent: bots (`bots.rs`).

use gaggle_kit::Prng;

use crate::reed::Reed;
use crate::water::{EDGE, Way, opposite, ways};
use crate::{Gosling, Wish};

/// How a player presses. Times are in milliseconds, rates in presses per thousand seconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Manner {
    /// Time from a press to the junction it is for.
    pub lead: i32,
    /// Standard deviation of `lead`.
    pub spread: i32,
    /// Rate of presses without a reason.
    pub fidgets: u32,
    /// Rate of presses that turn back.
    pub backs: u32,
}

impl Manner {
    /// The usual player.
    pub const USUAL: Manner = Manner { lead: 220, spread: 120, fidgets: 350, backs: 120 };
    /// A player who plans.
    pub const CALM: Manner = Manner { lead: 280, spread: 120, fidgets: 200, backs: 60 };
    /// A player in a hurry.
    pub const FRANTIC: Manner = Manner { lead: 130, spread: 100, fidgets: 800, backs: 300 };
}

/// A modeled player, who presses for one slot.
#[derive(Debug, Clone)]
pub struct Presser {
    slot: usize,
    manner: Manner,
    random: Prng,
    wish: Wish,
    /// Next junction, frames before it at which to press, and the way to press.
    plan: Option<(u16, i32, Way)>,
    thought_about: u16,
}

impl Presser {
    /// The player of a slot. Equal seeds press alike.
    pub fn new(slot: usize, manner: Manner, seed: u64) -> Presser {
        let random = Prng::stream(seed, slot as u64);
        Presser { slot, manner, random, wish: Wish::default(), plan: None, thought_about: u16::MAX }
    }

    /// The slot whose player this is.
    pub const fn slot(&self) -> usize {
        self.slot
    }

    /// The wish in the next frame, from what is on the screen in this one.
    pub fn press(&mut self, game: &Gosling, reed: &Reed) -> Wish {
        let chick = &game.chicks[self.slot];
        if !chick.is_swimming() {
            (self.plan, self.thought_about) = (None, u16::MAX);
            // About as often as at junctions.
            if self.random.chance(1, 30) {
                let way = self.random.below(4) as Way;
                self.aim(way);
            }
            return self.wish;
        }
        let ahead = reed.ahead(chick.at.cell, chick.at.heading);
        let units = i32::from(ahead.cells) * i32::from(EDGE) - i32::from(chick.at.way);
        // Frames from the next one, in which a press counts, to the one that reaches the junction.
        let frames = units.div_euclid(i32::from(chick.speed().max(1)));
        if self.thought_about != ahead.cell {
            self.thought_about = ahead.cell;
            let exits = reed.exits(ahead.cell) & !(1 << opposite(ahead.heading));
            let nth = self.random.below(exits.count_ones().max(1)) as usize;
            let way = ways(exits).nth(nth).unwrap_or(ahead.heading);
            let lead = (self.manner.lead + self.manner.spread * self.gauss() / 1_000).max(-60);
            self.plan = Some((ahead.cell, (lead * 30 + 500).div_euclid(1_000), way));
        }
        if let Some((_, lead, way)) = self.plan
            && frames <= lead
        {
            self.plan = None;
            self.aim(way);
        }
        if self.random.chance(self.manner.fidgets, 30_000) {
            let turn = [0, 1, 3][self.random.below(3) as usize];
            self.aim((chick.at.heading + turn) & 3);
        }
        if self.random.chance(self.manner.backs, 30_000) {
            self.aim(opposite(chick.at.heading));
        }
        self.wish
    }

    /// Presses a way, unless it is wished already.
    fn aim(&mut self, way: Way) {
        if self.wish.direction() != way {
            self.wish = Wish::to(way);
        }
    }

    /// A nearly normal random number; 1,000 is the standard deviation.
    fn gauss(&mut self) -> i32 {
        let sum: i32 = (0..6).map(|_| self.random.below(1_000) as i32).sum();
        (sum - 3_000) * 1_414 / 1_000
    }
}
