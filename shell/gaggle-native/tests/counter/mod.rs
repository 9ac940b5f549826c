//! A minimal game for two: it counts presses.

use gaggle::{Game, Inputs, Slot, State};

/// Presses of all players, summed.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct Counter {
    pub(crate) presses: [u32; 2],
}

impl Game for Counter {
    type Input = u8;

    fn tick(&mut self, inputs: &Inputs<'_, u8>) {
        for slot in 0..2 {
            self.presses[slot] += u32::from(inputs.get(Slot::at(slot)));
        }
    }
}
