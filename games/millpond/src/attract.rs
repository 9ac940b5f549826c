//! A pond with bots for the title screen; the arcade steps and draws it.
//!
//! Absent: players, sounds.

use gaggle_scene::Scene;

use crate::boat::Boat;
use crate::bots::Bot;
use crate::keeper::Keeper;
use crate::pond::{Alone, Pond};
use crate::stage::{Audience, Stage};

/// Number of boats on the pond.
const CREW: usize = 4;

/// A pond of bots.
#[derive(Debug, Clone)]
pub struct Attract {
    pond: Pond,
    hands: Alone,
    keeper: Keeper,
    bots: [Bot; CREW],
}

impl Attract {
    /// A full pond with bots; equal seeds show the same.
    pub fn new(seed: u64) -> Attract {
        let mut hands = Alone::default();
        let mut pond = Pond::alone(seed, &mut hands);
        for seat in 0..CREW {
            pond.boats[seat] = Some(Boat::moored(seat));
        }
        let bots = std::array::from_fn(|seat| Bot::new(seat, seed));
        Attract { pond, hands, keeper: Keeper::default(), bots }
    }

    /// State of the pond now.
    pub fn pond(&self) -> &Pond {
        &self.pond
    }
    /// Advances the pond by one frame.
    pub fn step(&mut self) {
        self.pond.frame = self.pond.frame.wrapping_add(1);
        for (seat, bot) in self.bots.iter_mut().enumerate() {
            let pad = bot.play(&self.pond);
            self.pond.row(seat, pad, &mut self.hands);
        }
        self.pond.float(&mut self.hands);
        self.keeper.step(&mut self.pond, &mut self.hands, |_| true);
    }

    /// Draws the pond around the first boat, as [`Stage::draw`] but without sounds.
    pub fn draw(&self, stage: &mut Stage, between: f32, calm: bool, scene: &mut Scene) {
        let audience = Audience { calm, plain: true, follow: Some(0), ..Audience::default() };
        stage.draw(&self.pond, between, &audience, scene);
        scene.cues.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::WISHES;
    use crate::thing::Sort;

    #[test]
    fn bots_deliver_and_pond_stays_full() {
        let mut attract = Attract::new(4);
        let mut brought = 0;
        let mut days = 0;
        for _ in 0..60 * 60 * 4 {
            attract.step();
            let ledger = &attract.pond().ledger;
            brought = brought.max(ledger.brought.iter().map(|count| u32::from(*count)).sum());
            days = days.max(ledger.day);
        }
        let pond = attract.pond();
        assert!(brought >= 3 || days > 0, "{:?}", pond.ledger);
        let count = pond.floating.len();
        assert!((crate::pond::THINGS - 20..=crate::pond::THINGS + 40).contains(&count), "{count}");
        assert!(pond.floating.iter().filter(|floating| floating.thing.sort == Sort::Bell).count() <= 1);
        assert_eq!(WISHES.len(), pond.ledger.brought.len());
    }
}
