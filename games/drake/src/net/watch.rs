//! Plausibility check of one remote craft: position, speed and turning it reports.
//!
//! `Referee` steps it each frame and asks it about each report. Absent: why a craft moved, hits.

use gaggle_kit::{Angle, Fixed16};

use crate::craft::{CRUISE_MAX, Craft, DASH_FRAMES, DASH_REST, DUCKLING_TURN, SPEED_MAX, TURN};
use crate::field::{self, RATE, Vec2};
use crate::standing::Form;

/// Frames of flight a report may be late by on a very bad link, also when its player learns late
/// what happened to it.
const FRAMES_MAX: u16 = 90;
/// The same during a countdown: the player may not know yet that it must wait.
const WAITING_FRAMES_MAX: u16 = 45;
/// Pixels for rounding and for the push of a rock.
const SLACK: Fixed16 = Fixed16::from_int(12);
/// Bound of the mean speed, in pixels per second: the cruising speed plus a dash as often as one
/// is possible.
const FLIGHT: i32 = CRUISE_MAX + (SPEED_MAX - CRUISE_MAX) * DASH_FRAMES as i32 / DASH_REST as i32;
/// The same of a duckling, with room for the push of rocks.
const PADDLING: i32 = 80;
/// 5 % above the rules, because clocks differ.
const TOLERANCE: (i32, i32) = (21, 20);
/// Turn that rounding can add in either direction, in 1/65,536 of a circle.
const TURN_SLACK: i32 = 512;
/// A full circle: after a long silence any heading is possible.
const TURN_MAX: i32 = 1 << 16;

/// Bounds on the motion of one craft since its last report.
#[derive(Debug, Clone, Copy)]
pub(super) struct Watch {
    /// Life, position and heading of the last report.
    last: Option<(u8, Vec2, Angle)>,
    /// Pixels it may have flown since.
    credit: Fixed16,
    /// How far it may have turned since, in 1/65,536 of a circle.
    turns: i32,
    /// Turning direction of all crafts, and for how many frames.
    clockwise: (bool, u16),
    /// Frames it has been a duckling.
    paddles: u16,
}

impl Default for Watch {
    fn default() -> Watch {
        let credit = per_frame(FLIGHT) * i32::from(FRAMES_MAX);
        Watch { last: None, credit, turns: TURN_MAX, clockwise: (false, 0), paddles: 0 }
    }
}

/// Distance allowed per frame at a speed, with the tolerance.
fn per_frame(speed: i32) -> Fixed16 {
    Fixed16::from_ratio(speed * TOLERANCE.0, RATE * TOLERANCE.1)
}

impl Watch {
    /// Adds the allowance of one frame.
    pub(super) fn step(&mut self, form: Form, waits: bool, clockwise: bool) {
        let duckling = form == Form::Duckling;
        self.paddles = if duckling { self.paddles.saturating_add(1) } else { 0 };
        let same = self.clockwise.0 == clockwise;
        self.clockwise = (clockwise, if same { self.clockwise.1.saturating_add(1) } else { 0 });
        // A new duckling keeps the speed of its drake for a while.
        let gained = per_frame(if self.paddles > FRAMES_MAX { PADDLING } else { FLIGHT });
        let most = gained * i32::from(if waits { WAITING_FRAMES_MAX } else { FRAMES_MAX });
        self.credit = (self.credit + gained).min(most);
        let turn = i32::from(if duckling { DUCKLING_TURN } else { TURN });
        self.turns = (self.turns + turn * TOLERANCE.0 / TOLERANCE.1).min(TURN_MAX);
    }

    /// Starts a life at a known position.
    pub(super) fn begin(&mut self, craft: &Craft) {
        let last = Some((craft.life, craft.place, craft.heading));
        *self = Watch { last, credit: Fixed16::ZERO, turns: 0, ..*self };
    }

    /// Forgets all reports: after a change of leader or of who steers.
    pub(super) fn forget(&mut self) {
        *self = Watch::default();
    }

    /// Whether the report is possible after the last one. Position and heading of the first report
    /// are accepted.
    pub(super) fn allows(&mut self, craft: &Craft) -> bool {
        let speed = field::length(craft.velocity);
        let last = self.last.replace((craft.life, craft.place, craft.heading));
        let Some((_, place, heading)) = last.filter(|(life, ..)| *life == craft.life) else {
            return speed <= Fixed16::from_int(SPEED_MAX) + SLACK;
        };
        // The slack is granted once, not per report: a debt that the allowance repays.
        self.credit -= field::length(field::offset(place, craft.place));
        self.turns -= self.turned(heading, craft.heading);
        let allowed = self.credit >= -SLACK && self.turns >= -TURN_SLACK;
        self.credit = self.credit.max(-SLACK);
        self.turns = self.turns.max(-TURN_SLACK);
        allowed && speed <= Fixed16::from_int(SPEED_MAX) + SLACK
    }

    /// How far the heading has turned in the one possible direction; in either direction while its
    /// player may not know the present one.
    fn turned(&self, before: Angle, after: Angle) -> i32 {
        let (clockwise, since) = self.clockwise;
        let way = after.to_bits().wrapping_sub(before.to_bits());
        let way = i32::from(if clockwise { way } else { way.wrapping_neg() });
        match TURN_MAX - way {
            back if back <= TURN_SLACK || since < FRAMES_MAX => way.min(back),
            _ => way,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::craft::Hands;
    use crate::pad::Pad;

    /// A watch that has seen a life begin, and its craft.
    fn watched() -> (Watch, Craft) {
        let (craft, mut watch) = (Craft::hatched(0, 1), Watch::default());
        (0..FRAMES_MAX).for_each(|_| watch.step(Form::Drake, false, true));
        watch.begin(&craft);
        (watch, craft)
    }

    /// Whether a false report in every frame is found within `frames`, after a pause that saved up
    /// allowance.
    fn is_found_within(frames: u32, mut lie: impl FnMut(u32, &mut Craft)) -> bool {
        let (mut watch, mut craft) = watched();
        (0..FRAMES_MAX).for_each(|_| watch.step(Form::Drake, false, true));
        (0..frames).any(|frame| {
            lie(frame, &mut craft);
            watch.step(Form::Drake, false, true);
            !watch.allows(&craft)
        })
    }

    #[test]
    fn honest_flight_with_uneven_reports_is_allowed() {
        for seed in 1_u32..5 {
            let (mut watch, mut craft) = watched();
            let mut hands = Hands::default();
            let mut dashes = 0;
            for frame in 0_u32..6_000 {
                let bits = frame.wrapping_mul(2_654_435_761).wrapping_mul(seed) >> 28;
                // Straight across at full speed with as many dashes as possible, and random turns.
                let turn = if frame % 600 < 300 { frame % 12 == 0 } else { bits & 1 != 0 };
                let deed = craft.step(&mut hands, Pad { turn, fire: bits != 0 }, Form::Drake, true, &[]);
                dashes += u32::from(deed.dash);
                watch.step(Form::Drake, false, true);
                // Reported every other frame, with occasional silences of a second.
                if frame % 2 == 0 && frame % 400 > 60 {
                    assert!(watch.allows(&craft), "frame {frame}");
                }
            }
            assert!(dashes > 30, "{dashes}");
        }
    }

    #[test]
    fn bailing_out_and_reversed_turning_are_allowed() {
        let (mut watch, mut craft) = watched();
        let mut hands = Hands::default();
        for frame in 0_u32..4_000 {
            // What is true; the player learns it half a second later.
            let so = |frame: u32| {
                let form = if frame % 900 < 500 { Form::Drake } else { Form::Duckling };
                (form, frame % 700 < 350)
            };
            let (known_form, known_way) = so(frame.saturating_sub(30));
            let pad = Pad { turn: frame % 90 < 60, fire: frame % 50 < 40 };
            craft.step(&mut hands, pad, known_form, known_way, &[]);
            let (form, clockwise) = so(frame);
            watch.step(form, false, clockwise);
            assert!(watch.allows(&craft), "frame {frame}");
        }
    }

    #[test]
    fn leap_and_excessive_speed_are_rejected() {
        let (mut watch, craft) = watched();
        (0..3).for_each(|_| watch.step(Form::Drake, false, true));
        let leap = Craft { place: field::add(craft.place, [Fixed16::from_int(60), Fixed16::ZERO]), ..craft };
        assert!(!watch.allows(&leap));
        let fast = Craft { velocity: [Fixed16::from_int(400), Fixed16::ZERO], ..craft };
        assert!(!Watch::default().allows(&fast));
        let (mut watch, _) = watched();
        let elsewhere = Craft { place: field::nest(1), ..craft };
        assert!(!watch.allows(&elsewhere), "a life begins at its own nest");
    }

    #[test]
    fn endless_dash_is_rejected() {
        let dashing = |frame: u32, craft: &mut Craft| {
            let ahead = Fixed16::from_ratio(SPEED_MAX - 10, RATE);
            craft.place[0] += ahead * if (frame / 60).is_multiple_of(2) { 1 } else { -1 };
        };
        assert!(is_found_within(300, dashing));
        assert!(!is_found_within(3_000, |frame, craft| {
            let ahead = Fixed16::from_ratio(CRUISE_MAX, RATE);
            craft.place[0] += ahead * if (frame / 60).is_multiple_of(2) { 1 } else { -1 };
        }));
    }

    #[test]
    fn turn_too_fast_or_wrong_way_is_rejected() {
        let turn = |units: u16| {
            move |_: u32, craft: &mut Craft| {
                craft.heading = Angle::from_bits(craft.heading.to_bits().wrapping_add(units));
            }
        };
        assert!(is_found_within(120, turn(2 * TURN)));
        assert!(is_found_within(10, turn(TURN.wrapping_neg())));
        assert!(is_found_within(10, turn(1 << 15)));
        assert!(!is_found_within(3_000, turn(TURN)));
    }

    #[test]
    fn duckling_at_drake_speed_is_rejected() {
        let (mut watch, mut craft) = watched();
        (0..2 * FRAMES_MAX).for_each(|_| watch.step(Form::Duckling, false, true));
        let found = (0..240).any(|frame| {
            craft.place[0] +=
                Fixed16::from_ratio(CRUISE_MAX, RATE) * if frame / 60 % 2 == 0 { 1 } else { -1 };
            watch.step(Form::Duckling, false, true);
            !watch.allows(&craft)
        });
        assert!(found);
    }
}
