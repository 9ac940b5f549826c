//! The game, the same in a terminal and in a page.

use gaggle::{Game, Inputs, Slot, State};

/// Position of the rope's middle: the first player pulls it down to -600, the second up to 600.
#[derive(Clone, Debug, Default, State)]
pub(crate) struct TugOfWar {
    pub(crate) rope: i32,
}

impl Game for TugOfWar {
    type Input = bool; // pulling, or not

    fn tick(&mut self, inputs: &Inputs<'_, bool>) {
        let pull = |nth| i32::from(inputs.get(Slot::at(nth)));
        self.rope = (self.rope + pull(1) - pull(0)).clamp(-600, 600);
    }
}
