//! Whether a craft flies as a craft can. A player moves his own, so he could put it anywhere; whoever referees does not let him.

use gaggle_kit::Fixed16;

use crate::craft::{Craft, SPEED_MAX};
use crate::field::{self, RATE, Vector};

/// Frames of flight somebody may be behind with telling, on the worst of lines.
const FRAMES_MAX: i32 = 90;
/// Pixels that rounding and being shoved by a rock can add.
const SLACK: Fixed16 = Fixed16::from_int(12);
/// Pixels from the nest at which a life begins, later news considered.
const NEST_REACH: i32 = 120;

/// What is known of how far one craft can have come.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Watch {
    /// Where it was last said to be, and in which life.
    last: Option<(u8, Vector)>,
    /// Pixels it can have flown since.
    credit: Fixed16,
}

impl Watch {
    /// A frame passes.
    pub(super) fn step(&mut self) {
        let most = Fixed16::from_int(SPEED_MAX) * FRAMES_MAX / RATE;
        self.credit = (self.credit + Fixed16::from_int(SPEED_MAX) / RATE).min(most);
    }

    /// Forgets everything: another machine referees, or somebody else steers.
    pub(super) fn forget(&mut self) {
        *self = Watch::default();
    }

    /// Whether this is how somebody could have flown. `fresh` tells that this life began while we watched.
    pub(super) fn allows(&mut self, craft: &Craft, fresh: bool) -> bool {
        let speed = field::length(craft.velocity);
        if speed > Fixed16::from_int(SPEED_MAX) + SLACK {
            return false;
        }
        let allowed = match self.last {
            Some((life, place)) if life == craft.life => {
                let flown = field::length(field::way(place, craft.place));
                // The slack is there once, not with every word: it is owed until time has paid it back.
                self.credit -= flown;
                let allowed = self.credit >= -SLACK;
                self.credit = self.credit.max(-SLACK);
                allowed
            }
            _ if fresh => field::near(craft.place, field::nest(usize::from(craft.seat)), NEST_REACH),
            _ => true,
        };
        self.last = Some((craft.life, craft.place));
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::Hands;
    use crate::pad::Pad;
    use crate::standing::Form;

    #[test]
    fn honest_flight_is_allowed_however_unevenly_it_is_told() {
        let (mut craft, mut hands) = (Craft::hatched(0, 1), Hands::default());
        let mut watch = Watch::default();
        for frame in 0_u32..6_000 {
            let bits = frame.wrapping_mul(2_654_435_761) >> 28;
            craft.step(&mut hands, Pad { turn: bits & 1 != 0, fire: bits & 6 != 0 }, Form::Drake, true, &[]);
            watch.step();
            // Told every other frame, with a silence of a second now and then.
            if frame % 2 == 0 && frame % 400 > 60 {
                assert!(watch.allows(&craft, true), "frame {frame}");
            }
        }
    }

    #[test]
    fn a_leap_is_not_allowed_and_neither_is_a_lie_about_speed() {
        let craft = Craft::hatched(0, 1);
        let mut watch = Watch::default();
        assert!(watch.allows(&craft, true));
        (0..3).for_each(|_| watch.step());
        let leap = Craft { place: field::add(craft.place, [Fixed16::from_int(60), Fixed16::ZERO]), ..craft };
        assert!(!watch.allows(&leap, true));
        let fast = Craft { velocity: [Fixed16::from_int(400), Fixed16::ZERO], ..craft };
        assert!(!Watch::default().allows(&fast, false));
        let elsewhere = Craft { place: field::nest(1), life: 2, ..craft };
        assert!(!watch.allows(&elsewhere, true), "a life begins at its own nest");
    }

    #[test]
    fn twice_the_speed_is_found_out_within_a_second() {
        let mut craft = Craft::hatched(0, 1);
        let mut watch = Watch::default();
        assert!(watch.allows(&craft, true));
        let found = (0..60).any(|frame| {
            craft.place[0] += Fixed16::from_int(9) * if frame / 20 % 2 == 0 { 1 } else { -1 };
            watch.step();
            !watch.allows(&craft, true)
        });
        assert!(found);
    }
}
