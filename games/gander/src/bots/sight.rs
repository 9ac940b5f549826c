//! The screen as data: all that a bot may base its decisions on.
//!
//! Called by `bot.rs`. Absent: timers, minds and random numbers of the state.

use crate::arena::PX;
use crate::clutch::ClutchPhase;
use crate::egg::{EGGS, EggPhase};
use crate::hern::{HERNS, Hern, HernPhase};
use crate::ledges::Ground;
use crate::mover::Mover;
use crate::player::SEATS;
use crate::rider::RIDERS;
use crate::{Gander, Mode};

/// Kind of a visible thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A rider of class 0 to 2.
    Rider(u8),
    /// Another knight, where knights can unseat each other.
    Rival,
    /// An egg, or a hatchling.
    Egg {
        /// It lies on ground or is a hatchling.
        down: bool,
        /// It shows cracks or is a hatchling.
        urgent: bool,
    },
    /// A Hern that crosses the fen.
    Hern {
        /// Whether its beak is open.
        open: bool,
    },
}

/// One visible thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// Kind of the thing.
    pub thing: Thing,
    /// Horizontal middle, in sub-pixels.
    pub x: i32,
    /// Height of the feet, of an egg's bottom or of a Hern's throat, in sub-pixels.
    pub y: i32,
    /// Horizontal speed, in sub-pixels a frame.
    pub vx: i32,
    /// Downward speed, in sub-pixels a frame.
    pub vy: i32,
    /// Whether it faces left.
    pub left: bool,
}

impl Seen {
    /// The Hern this thing looks like, at `x`.
    pub(crate) fn as_hern(&self, x: i32) -> Hern {
        let open = matches!(self.thing, Thing::Hern { open: true });
        Hern { phase: HernPhase::Crossing, x, y: self.y, left: self.left, open, ..Hern::default() }
    }
}

const SEEN_MAX: usize = RIDERS + EGGS + HERNS + SEATS;

/// The screen as the player of one slot sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// Goose of the player, while it rides one.
    pub me: Option<Mover>,
    /// Whether the player's knight cannot be touched.
    pub safe: bool,
    /// Ledges and bridges that bear weight.
    pub ground: Ground,
    /// Horizontal place of the Clutch, while it shows.
    pub hand: Option<i32>,
    /// Whether the match is over.
    pub over: bool,
    things: [Seen; SEEN_MAX],
    count: usize,
}

impl Sight {
    /// Screen for the player in `seat`.
    pub fn of(game: &Gander, seat: usize) -> Sight {
        let player = &game.players[seat];
        let nothing = Seen { thing: Thing::Rival, x: 0, y: 0, vx: 0, vy: 0, left: false };
        let hand = !matches!(game.clutch.phase, ClutchPhase::Hidden | ClutchPhase::Sinking);
        let mut sight = Sight {
            me: player.riding().then_some(player.mover),
            safe: player.safe > 0,
            ground: game.ground(),
            hand: hand.then_some(game.clutch.x),
            over: game.wave.phase == crate::Phase::Over,
            things: [nothing; SEEN_MAX],
            count: 0,
        };
        for rider in game.riders.iter().filter(|rider| rider.tangible()) {
            sight.add_goose(Thing::Rider(rider.class as u8), &rider.mover);
        }
        if game.setup.mode == Mode::Versus {
            for (other, rival) in game.players.iter().enumerate() {
                if other != seat && rival.tangible() {
                    sight.add_goose(Thing::Rival, &rival.mover);
                }
            }
        }
        for egg in game.eggs.iter().filter(|egg| egg.phase != EggPhase::None) {
            let down = egg.phase != EggPhase::Falling;
            let urgent = egg.cracked() || egg.phase == EggPhase::Hatchling;
            let thing = Thing::Egg { down, urgent };
            sight.add(Seen {
                thing,
                x: egg.x,
                y: egg.y,
                vx: i32::from(egg.vx),
                vy: i32::from(egg.vy),
                left: false,
            });
        }
        for hern in game.herns.iter().filter(|hern| hern.tangible()) {
            let vx = if hern.left { -2 * PX } else { 2 * PX };
            let thing = Thing::Hern { open: hern.open };
            sight.add(Seen { thing, x: hern.x, y: hern.y, vx, vy: 0, left: hern.left });
        }
        sight
    }

    fn add_goose(&mut self, thing: Thing, mover: &Mover) {
        let Mover { x, y, left, .. } = *mover;
        self.add(Seen { thing, x, y, vx: mover.vx(), vy: i32::from(mover.vy), left });
    }

    fn add(&mut self, seen: Seen) {
        if let Some(place) = self.things.get_mut(self.count) {
            *place = seen;
            self.count += 1;
        }
    }

    /// Visible riders, rivals, eggs and Herns.
    pub fn things(&self) -> &[Seen] {
        &self.things[..self.count]
    }
}
