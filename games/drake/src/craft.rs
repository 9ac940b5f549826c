//! What a player steers: a drake, or the duckling that bailed out of one. Moved by whoever sits in
//! it and nobody else, so it answers in the same frame; what becomes of it is not decided here.

use gaggle_kit::{Angle, Fixed16, State};
use gaggle_replica::Kind;

use crate::field::{self, Vec2};
use crate::pad::Pad;
use crate::rock::Rock;
use crate::standing::Form;

/// Pixels from the middle of a drake to its edge.
pub const DRAKE_RADIUS: i32 = 6;
/// The same of a duckling.
pub const DUCKLING_RADIUS: i32 = 3;
/// Nothing a player steers is ever faster, in pixels a second.
pub const SPEED_MAX: i32 = 270;

/// A full turn takes 70 frames.
pub(crate) const TURN: u16 = 936;
/// A duckling turns on the spot.
pub(crate) const DUCKLING_TURN: u16 = 1_400;
/// Pixels a second, gained each frame of thrust.
const THRUST: Fixed16 = Fixed16::lit("4.4");
const DUCKLING_THRUST: Fixed16 = Fixed16::lit("2");
/// What is left of a velocity after a frame.
const DRAG: Fixed16 = Fixed16::lit("0.978");
const DUCKLING_DRAG: Fixed16 = Fixed16::lit("0.96");
/// Pixels a second but for a dash.
pub(crate) const CRUISE_MAX: i32 = 150;
/// A dash: this much at once, over the cruising speed for so many frames, and not again for so
/// long.
const DASH: Fixed16 = Fixed16::from_int(190);
/// Frames a dash lasts.
pub const DASH_FRAMES: u8 = 12;
pub(crate) const DASH_REST: u8 = 60;
/// Two presses within so many frames are a double tap.
const TAP_FRAMES: u8 = 14;
/// What is kept of a speed that meets a wall or a rock.
const BOUNCE: Fixed16 = Fixed16::lit("0.6");
/// Pixels a second that a rock shoves at least.
const SHOVE: Fixed16 = Fixed16::from_int(40);

/// A drake or a duckling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.35, snap_distance = 60.0, priority = 8)]
pub struct Craft {
    /// Position of the middle.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 16.0, moved_by = velocity)]
    pub place: Vec2,
    /// How fast, in pixels a second.
    #[kind(range = -512.0..=512.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Where its bill points.
    #[kind(angle = 9)]
    pub heading: Angle,
    /// Slot of its player.
    #[kind(constant)]
    pub seat: u8,
    /// Which life of that seat this is: a craft of an earlier one is only a memory.
    pub life: u8,
    /// Frames of its dash that are left.
    #[kind(range = 0..=12, step)]
    pub dash: u8,
    /// Whether it is under thrust.
    pub thrust: bool,
}

/// The hands on a craft: what they did lately. Nobody else needs to know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Hands {
    /// Frames since the turning button went down.
    tap: u8,
    /// Frames until the next dash.
    rest: u8,
    /// Whether the turning button was down in the last frame.
    held: bool,
}

impl Default for Hands {
    fn default() -> Hands {
        Hands { tap: TAP_FRAMES + 1, rest: 0, held: false }
    }
}

/// What a player did in a frame that others should hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deed {
    /// A dash began.
    pub dash: bool,
    /// It ran into something.
    pub bump: bool,
}

impl Craft {
    /// At the beginning of a life.
    pub fn hatched(seat: usize, life: u8) -> Craft {
        let place = field::nest(seat);
        let heading = field::direction(field::offset(place, field::MIDDLE));
        Craft { place, heading, seat: seat as u8, life, ..Craft::default() }
    }

    /// How large it is.
    pub fn radius(form: Form) -> i32 {
        if form == Form::Duckling { DUCKLING_RADIUS } else { DRAKE_RADIUS }
    }

    /// One frame in the hands of its player.
    pub fn step(
        &mut self,
        hands: &mut Hands,
        pad: Pad,
        form: Form,
        clockwise: bool,
        rocks: &[Option<Rock>],
    ) -> Deed {
        let turned_now = pad.turn && !hands.held;
        hands.held = pad.turn;
        let mut deed = Deed::default();
        self.dash = self.dash.saturating_sub(1);
        hands.rest = hands.rest.saturating_sub(1);
        if turned_now && hands.tap <= TAP_FRAMES && hands.rest == 0 && form == Form::Drake {
            deed.dash = true;
            (self.dash, hands.rest) = (DASH_FRAMES, DASH_REST);
            self.velocity = field::add(self.velocity, field::from_polar(self.heading, DASH));
        }
        hands.tap = if turned_now { 0 } else { (hands.tap + 1).min(TAP_FRAMES + 1) };
        self.fly(pad, form, clockwise);
        deed.bump = self.bump(form, rocks);
        deed
    }

    /// One frame in the nest, before a round begins: all it can do is look about.
    pub fn wait(&mut self, hands: &mut Hands, pad: Pad, clockwise: bool) {
        *hands = Hands { held: pad.turn, ..Hands::default() };
        self.thrust = false;
        self.velocity = [Fixed16::ZERO; 2];
        if pad.turn {
            self.turn(TURN, clockwise);
        }
    }

    fn turn(&mut self, units: u16, clockwise: bool) {
        let units = if clockwise { units } else { units.wrapping_neg() };
        self.heading = Angle::from_bits(self.heading.to_bits().wrapping_add(units));
    }

    fn fly(&mut self, pad: Pad, form: Form, clockwise: bool) {
        let duckling = form == Form::Duckling;
        if pad.turn {
            self.turn(if duckling { DUCKLING_TURN } else { TURN }, clockwise);
        }
        self.thrust = pad.fire;
        if pad.fire {
            let thrust = if duckling { DUCKLING_THRUST } else { THRUST };
            self.velocity = field::add(self.velocity, field::from_polar(self.heading, thrust));
        }
        let drag = if duckling { DUCKLING_DRAG } else { DRAG };
        self.velocity = self.velocity.map(|part| part * drag);
        let speed_max = if self.dash > 0 { SPEED_MAX - 10 } else { CRUISE_MAX };
        self.velocity = field::clamp_length(self.velocity, Fixed16::from_int(speed_max));
        self.place = field::moved(self.place, self.velocity);
    }

    /// Off walls and rocks. Says whether it met one.
    fn bump(&mut self, form: Form, rocks: &[Option<Rock>]) -> bool {
        let radius = Craft::radius(form);
        let mut met = field::keep_inside(&mut self.place, &mut self.velocity, radius, BOUNCE);
        for rock in rocks.iter().flatten() {
            let reach = radius + rock.size.radius();
            if !field::is_within(self.place, rock.place, reach) {
                continue;
            }
            met = true;
            let out = field::direction(field::offset(rock.place, self.place));
            self.place = field::add(rock.place, field::from_polar(out, Fixed16::from_int(reach)));
            let speed = (field::length(self.velocity) * BOUNCE).max(SHOVE);
            self.velocity = field::add(field::from_polar(out, speed), rock.velocity);
        }
        // A rock at the wall must not push anybody through it.
        field::keep_inside(&mut self.place, &mut self.velocity, radius, BOUNCE);
        met
    }

    /// One frame of which nothing is known yet: it goes on as it went.
    pub fn coast(&mut self) {
        self.place = field::moved(self.place, self.velocity);
        field::keep_inside(&mut self.place, &mut self.velocity, DUCKLING_RADIUS, BOUNCE);
    }

    /// The tip of its bill.
    pub fn bill(&self) -> Vec2 {
        field::add(self.place, field::from_polar(self.heading, Fixed16::from_int(DRAKE_RADIUS + 2)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rock::Size;

    fn flown(pads: impl Iterator<Item = Pad>) -> (Craft, Vec<Deed>) {
        let mut craft = Craft { place: field::MIDDLE, ..Craft::hatched(0, 1) };
        let mut hands = Hands::default();
        let deeds = pads.map(|pad| craft.step(&mut hands, pad, Form::Drake, true, &[])).collect();
        (craft, deeds)
    }

    #[test]
    fn a_button_answers_in_the_same_frame() {
        let before = Craft { place: field::MIDDLE, ..Craft::hatched(0, 1) };
        let (turned, _) = flown([Pad::TURN].into_iter());
        assert_ne!(turned.heading, before.heading);
        let (pushed, _) = flown([Pad::FIRE].into_iter());
        assert_ne!(pushed.place, before.place);
    }

    #[test]
    fn a_double_tap_is_a_dash_and_two_slow_taps_are_not() {
        let taps =
            |gap: usize| (0..40).map(move |frame| Pad { turn: frame == 2 || frame == 2 + gap, fire: false });
        let (fast, deeds) = flown(taps(6).take(10));
        assert_eq!(deeds.iter().filter(|deed| deed.dash).count(), 1);
        assert!(field::length(fast.velocity) > Fixed16::from_int(CRUISE_MAX));
        let (_, deeds) = flown(taps(20));
        assert!(deeds.iter().all(|deed| !deed.dash));
    }

    #[test]
    fn nothing_a_player_does_is_faster_than_the_rules_allow() {
        let (mut craft, mut hands) = (Craft::hatched(3, 1), Hands::default());
        for frame in 0_u32..4_000 {
            let before = craft.place;
            let bits = frame.wrapping_mul(2_654_435_761) >> 29;
            craft.step(
                &mut hands,
                Pad { turn: bits & 1 != 0, fire: bits & 2 != 0 },
                Form::Drake,
                frame % 999 < 500,
                &[],
            );
            let moved = field::length(field::offset(before, craft.place));
            assert!(moved * field::RATE <= Fixed16::from_int(SPEED_MAX), "{moved:?} in frame {frame}");
            assert!(field::inside(craft.place));
        }
    }

    #[test]
    fn rock_pushes_out_colliding_craft() {
        let mut craft = Craft { place: field::MIDDLE, ..Craft::hatched(0, 1) };
        let rock = Rock {
            place: field::add(field::MIDDLE, [Fixed16::from_int(8), Fixed16::ZERO]),
            size: Size::Large,
            ..Rock::default()
        };
        let deed = craft.step(&mut Hands::default(), Pad::NONE, Form::Drake, true, &[Some(rock)]);
        assert!(
            deed.bump && !field::is_within(craft.place, rock.place, DRAKE_RADIUS + Size::Large.radius() - 1)
        );
        assert!(craft.velocity[0] < Fixed16::ZERO);
    }
}
