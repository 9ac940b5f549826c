//! What is on the screen: all that a bot may base its decisions on. No timers, no minds, no dice.

use crate::arena::PX;
use crate::clutch::ClutchPhase;
use crate::egg::{EGGS, EggPhase};
use crate::hern::{HERNS, Hern, HernPhase};
use crate::ledges::Ground;
use crate::mover::Mover;
use crate::player::SEATS;
use crate::rider::RIDERS;
use crate::{Gander, Mode};

/// What a thing looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    /// A rider of this class, 0 to 2.
    Rider(u8),
    /// Another knight who can be unseated, and can unseat.
    Rival,
    /// An egg, or a hatchling.
    Egg {
        /// It lies or stands.
        down: bool,
        /// It will be a rider soon, or is one.
        urgent: bool,
    },
    /// A Hern that hunts.
    Hern {
        /// With its beak open.
        open: bool,
    },
}

/// Something on the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen {
    /// What it is.
    pub thing: Thing,
    /// Where, in sub-pixels: feet, bottom, or a Hern's throat.
    pub x: i32,
    /// Height of the middle.
    pub y: i32,
    /// How it moves, in sub-pixels a frame.
    pub vx: i32,
    /// How it moves.
    pub vy: i32,
    /// Whether it looks left.
    pub left: bool,
}

impl Seen {
    /// A Hern as it looks, if it were at `x`.
    pub(crate) fn as_hern(&self, x: i32) -> Hern {
        let open = matches!(self.thing, Thing::Hern { open: true });
        Hern { phase: HernPhase::Crossing, x, y: self.y, left: self.left, open, ..Hern::default() }
    }
}

const SEEN_MAX: usize = RIDERS + EGGS + HERNS + SEATS;

/// The screen as one seat sees it.
#[derive(Debug, Clone, Copy)]
pub struct Sight {
    /// The goose under us, or none while we have none.
    pub me: Option<Mover>,
    /// Nobody can touch us, nor we anybody.
    pub safe: bool,
    /// What can be stood on.
    pub ground: Ground,
    /// Where a hand shows above the fire.
    pub hand: Option<i32>,
    /// The match is over.
    pub over: bool,
    things: [Seen; SEEN_MAX],
    count: usize,
}

impl Sight {
    /// What the player in `seat` sees now.
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

    /// Everything that moves or lies about.
    pub fn things(&self) -> &[Seen] {
        &self.things[..self.count]
    }
}
