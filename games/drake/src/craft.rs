//! The craft of a player: a drake, or the duckling that bailed out of one.
//!
//! Its player's peer steps it, so that a button acts in the same frame; `bots` and `net::watch`
//! use its constants. Absent: hits, points, lives.

use gaggle_kit::{Angle, Fixed16, State};
use gaggle_replica::Kind;

use crate::field::{self, Vec2};
use crate::pad::Pad;
use crate::rock::Rock;
use crate::standing::Form;

/// Pixels from a drake's center to its edge.
pub const DRAKE_RADIUS: i32 = 6;
/// Pixels from a duckling's center to its edge.
pub const DUCKLING_RADIUS: i32 = 3;
/// Bound of every craft's speed, in pixels per second.
pub const SPEED_MAX: i32 = 270;

/// Turn of a drake per frame, in 1/65,536 of a circle: a full turn takes 70 frames.
pub(crate) const TURN: u16 = 936;
/// Turn of a duckling per frame, in 1/65,536 of a circle.
pub(crate) const DUCKLING_TURN: u16 = 1_400;
/// Gain of speed per frame of thrust, in pixels per second.
const THRUST: Fixed16 = Fixed16::lit("4.4");
const DUCKLING_THRUST: Fixed16 = Fixed16::lit("2");
/// Share of the velocity left after a frame.
const DRAG: Fixed16 = Fixed16::lit("0.978");
const DUCKLING_DRAG: Fixed16 = Fixed16::lit("0.96");
/// Bound of the speed without a dash, in pixels per second.
pub(crate) const CRUISE_MAX: i32 = 150;
/// Gain of speed when a dash begins, in pixels per second.
const DASH: Fixed16 = Fixed16::from_int(190);
/// Frames in which a dash lifts the cruising bound.
pub const DASH_FRAMES: u8 = 12;
/// Frames from a dash to the next possible one.
pub(crate) const DASH_REST: u8 = 60;
/// Two presses within this many frames are a double tap.
const TAP_FRAMES: u8 = 14;
/// Share of the speed kept after a collision with a wall or a rock.
const BOUNCE: Fixed16 = Fixed16::lit("0.6");
/// Least speed away from a rock after a collision, in pixels per second.
const SHOVE: Fixed16 = Fixed16::from_int(40);

/// Position and motion of a drake or a duckling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 0.35, snap_distance = 60.0, priority = 8)]
pub struct Craft {
    /// Position of the center.
    #[kind(range = 0.0..=384.0, precision = 1.0 / 16.0, moved_by = velocity)]
    pub place: Vec2,
    /// Velocity in pixels per second.
    #[kind(range = -512.0..=512.0, precision = 1.0 / 4.0)]
    pub velocity: Vec2,
    /// Direction of its bill.
    #[kind(angle = 9)]
    pub heading: Angle,
    /// Slot of its player.
    #[kind(constant)]
    pub seat: u8,
    /// Life of the seat it belongs to; a craft of an earlier life is ignored.
    pub life: u8,
    /// Frames left of its dash.
    #[kind(range = 0..=12, step)]
    pub dash: u8,
    /// Whether its player holds the fire button.
    pub thrust: bool,
}

/// Recent button presses of one player, which are not sent to other peers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, State)]
pub struct Hands {
    /// Frames since the turn button went down.
    tap: u8,
    /// Frames until the next dash is possible.
    rest: u8,
    /// Whether the turn button was down in the last frame.
    held: bool,
}

impl Default for Hands {
    fn default() -> Hands {
        Hands { tap: TAP_FRAMES + 1, rest: 0, held: false }
    }
}

/// Actions of one frame that other peers should hear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Deed {
    /// A dash began.
    pub dash: bool,
    /// The craft collided with a wall or a rock.
    pub bump: bool,
}

impl Craft {
    /// A craft at its nest, at the start of a life.
    pub fn hatched(seat: usize, life: u8) -> Craft {
        let place = field::nest(seat);
        let heading = field::direction(field::offset(place, field::MIDDLE));
        Craft { place, heading, seat: seat as u8, life, ..Craft::default() }
    }

    /// Pixels from the center to the edge.
    pub fn radius(form: Form) -> i32 {
        if form == Form::Duckling { DUCKLING_RADIUS } else { DRAKE_RADIUS }
    }

    /// One frame of a round.
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

    /// One frame of the countdown: the craft can only turn, and stays at its nest.
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

    /// Pushes the craft out of walls and rocks. Returns whether it collided.
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
        // A rock near a wall may have pushed the craft through it.
        field::keep_inside(&mut self.place, &mut self.velocity, radius, BOUNCE);
        met
    }

    /// One frame without an update from its player: it keeps its velocity.
    pub fn coast(&mut self) {
        self.place = field::moved(self.place, self.velocity);
        field::keep_inside(&mut self.place, &mut self.velocity, DUCKLING_RADIUS, BOUNCE);
    }

    /// Tip of its bill, where peas start.
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
    fn button_acts_in_same_frame() {
        let before = Craft { place: field::MIDDLE, ..Craft::hatched(0, 1) };
        let (turned, _) = flown([Pad::TURN].into_iter());
        assert_ne!(turned.heading, before.heading);
        let (pushed, _) = flown([Pad::FIRE].into_iter());
        assert_ne!(pushed.place, before.place);
    }

    #[test]
    fn double_tap_starts_dash_and_slow_taps_do_not() {
        let taps =
            |gap: usize| (0..40).map(move |frame| Pad { turn: frame == 2 || frame == 2 + gap, fire: false });
        let (fast, deeds) = flown(taps(6).take(10));
        assert_eq!(deeds.iter().filter(|deed| deed.dash).count(), 1);
        assert!(field::length(fast.velocity) > Fixed16::from_int(CRUISE_MAX));
        let (_, deeds) = flown(taps(20));
        assert!(deeds.iter().all(|deed| !deed.dash));
    }

    #[test]
    fn random_buttons_never_exceed_speed_limit() {
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
