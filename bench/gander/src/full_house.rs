//! The busiest part of a match, recorded once and measured repeatedly.
//!
//! `main` records and repeats it. Absent: time.

use gander::bots::{Bot, Strength};
use gander::hern::Hern;
use gander::rider::{EGGS_EACH, RIDERS};
use gander::score::ENDLESS;
use gander::{Class, Gander, Mover, Pad, Rider, SEATS, Setup};

/// Riders kept in the game all the time.
const CROWD: usize = 14;

/// A first state, the buttons of all players, and the states that follow.
pub(crate) struct FullHouse {
    pub(crate) start: Gander,
    pub(crate) pads: Vec<[Pad; SEATS]>,
    pub(crate) states: Vec<Gander>,
}

impl FullHouse {
    /// Plays this many frames with bots and all places filled at the start.
    pub(crate) fn record(frames: usize) -> FullHouse {
        let setup = Setup { mounts: ENDLESS, first_wave: 43, ..Setup::default() };
        let mut game = Gander::new(setup, 5);
        let mut bots: Vec<Bot> = (0..SEATS).map(|seat| Bot::new(seat, Strength::Steady, 5)).collect();
        let mut step = |game: &mut Gander| {
            let mut pads = [Pad::NONE; SEATS];
            bots.iter_mut().for_each(|bot| pads[bot.seat()] = bot.play(game));
            game.step(&pads, [true; SEATS]);
            pads
        };
        for _ in 0..300 {
            step(&mut game);
        }
        fill(&mut game);
        let start = game;
        let mut pads = Vec::new();
        let mut states = Vec::new();
        for _ in 0..frames {
            pads.push(step(&mut game));
            states.push(game);
        }
        let riders = states.iter().map(count).sum::<usize>() / frames;
        assert!(riders >= 8, "only {riders} riders on average, a full house needs 8");
        FullHouse { start, pads, states }
    }
}

fn count(game: &Gander) -> usize {
    game.riders.iter().filter(|rider| rider.live).count()
}

fn fill(game: &mut Gander) {
    for number in 0..RIDERS.min(CROWD) {
        let x = number as i32 * 24 * gander::arena::PX;
        let y = (40 + number as i32 % 3 * 55) * gander::arena::PX;
        let mover = Mover { x, y, speed: 3, ..Mover::default() };
        game.riders[number] =
            Rider { live: true, class: Class::Wraith, eggs: EGGS_EACH, mover, ..Rider::default() };
    }
    for (number, hern) in game.herns.iter_mut().enumerate() {
        *hern = Hern::arriving(number % 2 == 0, 90 * gander::arena::PX, 1);
    }
}
