//! gosling as a game for a timeline.
//!
//! Called by the engine. Absent: rules.

use gaggle_timeline::{Game, Inputs};

use crate::{Gosling, Wish, tick};

impl Game for Gosling {
    type Input = Wish;

    fn tick(&mut self, inputs: &Inputs<'_, Wish>) {
        tick::step(self, inputs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mode, Setup};
    use gaggle_kit::encode_state;

    #[test]
    fn state_has_at_most_four_kilobytes() {
        let game = Gosling::new(Setup::of(Mode::Great), 1);
        let bytes = encode_state(&game).len();
        assert!(bytes <= 4_096, "{bytes} bytes on the wire");
        assert!(size_of::<Gosling>() <= 4_608, "{} bytes in memory", size_of::<Gosling>());
    }
}
