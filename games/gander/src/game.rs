//! gander as a game for a timeline: which questions a frame asks about its players.

use gaggle_kit::Slot;
use gaggle_timeline::{Game, Inputs};

use crate::Gander;
use crate::flow::Phase;
use crate::pad::Pad;

impl Game for Gander {
    type Input = Pad;

    fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
        let present = std::array::from_fn(|seat| inputs.is_present(Slot::at(seat)));
        let over = self.wave.phase == Phase::Over;
        // Whoever is not in the saddle cannot change anything, so nobody has to know what he
        // pressed: a guess about him that turns out wrong costs no rollback.
        let pads = std::array::from_fn(|seat| {
            let player = &self.players[seat];
            let heard = over || (player.riding() && !player.appearing()) || player.doubted();
            if heard { inputs.get(Slot::at(seat)) } else { Pad::NONE }
        });
        self.step(&pads, present);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Setup;
    use gaggle_kit::encode_state;

    #[test]
    fn a_state_is_a_few_kilobytes() {
        let bytes = encode_state(&Gander::new(Setup::default(), 1)).len();
        assert!(bytes < 4096, "{bytes} bytes on the wire");
        assert!(size_of::<Gander>() < 4096, "{} bytes in memory", size_of::<Gander>());
    }
}
