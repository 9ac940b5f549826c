//! skein as a game for a timeline: which inputs a frame asks for.
//!
//! Called by the engine. Absent: rules.

use gaggle_kit::Slot;
use gaggle_timeline::{Game, Inputs, MatchStart};

use crate::course::Phase;
use crate::goose::SEATS;
use crate::pad::Pad;
use crate::{Goose, Setup, Skein};

impl Game for Skein {
    type Input = Pad;

    /// An empty sky of the room's mode, in which all players appear in the first frame.
    fn on_start(&mut self, start: &MatchStart<'_>) {
        *self = Skein::new(Setup::of(start.settings), start.seed);
    }

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
    use crate::Mode;
    use gaggle_kit::{SlotSet, encode_state};

    #[test]
    fn start_takes_mode_and_seed_from_room() {
        let started = |settings| {
            let mut game = Skein::new(Setup { stage: 4, ..Setup::default() }, 1);
            let slots = SlotSet::of(Slot::at(0));
            game.on_start(&MatchStart { seed: 7, round: 2, slots, settings });
            game
        };
        let flight = started("{}");
        assert_eq!(flight, Skein::new(Setup::default(), 7));
        let long = started(r#"{"mode": "long","slow":"off"}"#);
        assert_eq!(long.setup, Setup { mode: Mode::Long, ..Setup::default() });
    }

    #[test]
    fn state_has_at_most_sixteen_kilobytes() {
        let bytes = encode_state(&Skein::new(Setup::default(), 1)).len();
        assert!(bytes <= 16_384, "{bytes} bytes on the wire");
        assert!(size_of::<Skein>() <= 16_384, "{} bytes in memory", size_of::<Skein>());
    }
}
