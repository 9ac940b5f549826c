//! One match of gander on this machine: players at the keys, bots in the seats that should not be empty.

use gander::bots::{Bot, Strength};
use gander::player::SEATS;
use gander::{Gander, Mode, Pad, Phase, Setup};

/// A match that runs here and nowhere else.
#[derive(Debug)]
pub struct Flight {
    game: Gander,
    before: Gander,
    bots: Vec<Bot>,
    /// Seats played at this machine.
    local: usize,
}

impl Flight {
    /// One or two players at this machine.
    pub fn solo(mode: Mode, players: usize, seed: u64) -> Flight {
        let game = Gander::new(Setup { mode, ..Setup::default() }, seed);
        Flight { game, before: game, bots: Vec::new(), local: players.clamp(1, 2) }
    }

    /// Bots among themselves, for whoever is watching.
    pub fn attract(seed: u64) -> Flight {
        let setup = Setup { mounts: gander::score::ENDLESS, first_wave: 2, ..Setup::default() };
        let game = Gander::new(setup, seed);
        let bots = (0..3).map(|seat| Bot::new(seat, Strength::Steady, seed + seat as u64)).collect();
        Flight { game, before: game, bots, local: 0 }
    }

    /// One frame. The keys are those of the local players.
    pub fn tick(&mut self, keys: [Pad; 2]) {
        self.before = self.game;
        let mut pads = [Pad::NONE; SEATS];
        let mut present = [false; SEATS];
        for (seat, pad) in keys.into_iter().take(self.local).enumerate() {
            (pads[seat], present[seat]) = (pad, true);
        }
        for bot in &mut self.bots {
            (pads[bot.seat()], present[bot.seat()]) = (bot.play(&self.game), true);
        }
        self.game.step(&pads, present);
    }

    /// The game now, and a frame ago.
    pub fn states(&self) -> (&Gander, &Gander) {
        (&self.game, &self.before)
    }

    /// Which seats are played here.
    pub fn own(&self) -> [bool; SEATS] {
        std::array::from_fn(|seat| seat < self.local)
    }

    /// Nobody has a goose left.
    pub fn is_over(&self) -> bool {
        self.game.wave.phase == Phase::Over
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bots_keep_the_attract_mode_alive() {
        let mut flight = Flight::attract(7);
        for _ in 0..60 * 60 {
            flight.tick([Pad::NONE; 2]);
        }
        let (game, _) = flight.states();
        assert!(game.players.iter().any(|player| player.score > 0), "nobody did anything in a minute");
        assert!(!flight.is_over());
    }

    #[test]
    fn two_at_one_keyboard_have_a_goose_each() {
        let mut flight = Flight::solo(Mode::Versus, 2, 1);
        for frame in 0..600 {
            flight.tick([Pad::RIGHT.flapping(frame % 20 < 5), Pad::LEFT.flapping(frame % 15 < 5)]);
        }
        let (game, _) = flight.states();
        assert_eq!(flight.own(), [true, true, false, false]);
        assert!(game.players[1].mover.x != game.players[0].mover.x);
    }
}
