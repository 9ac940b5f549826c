//! Gander as a timeline's game: which inputs a tick asks for.
//!
//! Called by a timeline once a frame. Absent: the rules (`tick.rs`).

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
        // Input of a player without a goose cannot change the state. A tick that does not ask for
        // it is not rolled back when the prediction of it was wrong.
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
    fn state_stays_below_4_kib_on_wire_and_in_memory() {
        let bytes = encode_state(&Gander::new(Setup::default(), 1)).len();
        assert!(bytes < 4096, "{bytes} bytes on the wire");
        assert!(size_of::<Gander>() < 4096, "{} bytes in memory", size_of::<Gander>());
    }
}
