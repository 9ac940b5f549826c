//! skein as a game for a timeline: which inputs a frame asks for.
//!
//! Called by the engine. Absent: rules.

use gaggle_kit::Slot;
use gaggle_timeline::{Game, Inputs};

use crate::course::Phase;
use crate::goose::SEATS;
use crate::pad::Pad;
use crate::{Goose, Skein};

impl Game for Skein {
    type Input = Pad;

    fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
        let present = std::array::from_fn(|seat| inputs.is_present(Slot::at(seat)));
        let is_over = self.course.phase == Phase::Over;
        // The input of a goose that cannot act is not asked for: it never holds the others up.
        let pads: [Pad; SEATS] = std::array::from_fn(|seat| {
            let goose: &Goose = &self.geese[seat];
            let is_heard = is_over || goose.is_flying() || goose.doubt > 0;
            if is_heard { inputs.get(Slot::at(seat)) } else { Pad::NONE }
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
    fn state_has_at_most_sixteen_kilobytes() {
        let bytes = encode_state(&Skein::new(Setup::default(), 1)).len();
        assert!(bytes <= 16_384, "{bytes} bytes on the wire");
        assert!(size_of::<Skein>() <= 16_384, "{} bytes in memory", size_of::<Skein>());
    }
}
