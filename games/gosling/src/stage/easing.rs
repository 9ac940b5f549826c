//! Corrections as they are shown: a gosling that is suddenly in other water swims there, back to
//! the cell where it turned otherwise and on, never through reeds.
//!
//! Followed by the stage with every picture. Absent: why a state was corrected.

use crate::water::Swimmer;
use crate::{Gosling, Reed, SEATS};

/// Frames a correction takes.
const FRAMES: u32 = 4;
/// Units a frame beyond which a gosling did not swim: a little more than a goose.
const REACH: i32 = 960;
/// Frames without a picture after which nothing is eased.
const GAP_MAX: u32 = 8;
/// Units a gosling is corrected by at most; what is farther away was caught, or is another one.
const FAR: i32 = 12_288;

/// A place in units.
type Place = (i32, i32);

/// A gosling on its way to where it is.
#[derive(Debug, Clone, Copy)]
struct Correction {
    since: u32,
    /// Where it was shown, and the cell it goes back to.
    from: Place,
    corner: Place,
}

/// What was shown last, and what is on its way.
#[derive(Debug, Clone)]
pub(super) struct Easing {
    frame: u32,
    seed: u32,
    shown: [Option<Swimmer>; SEATS],
    corrections: [Option<Correction>; SEATS],
}

impl Default for Easing {
    fn default() -> Easing {
        Easing { frame: 0, seed: 0, shown: [None; SEATS], corrections: [None; SEATS] }
    }
}

fn apart(one: Place, other: Place) -> i32 {
    (one.0 - other.0).abs() + (one.1 - other.1).abs()
}

impl Easing {
    /// Compares this state with the one shown before.
    pub(super) fn follow(&mut self, now: &Gosling, reed: &Reed) {
        let passed = now.frame.wrapping_sub(self.frame);
        if passed == 0 && self.seed == now.seed {
            return;
        }
        let is_next = self.seed == now.seed && passed <= GAP_MAX;
        (self.frame, self.seed) = (now.frame, now.seed);
        for (slot, chick) in now.chicks.iter().enumerate() {
            let at = chick.is_swimming().then_some(chick.at);
            let correction = &mut self.corrections[slot];
            if correction.is_some_and(|correction| now.frame.wrapping_sub(correction.since) > FRAMES) {
                *correction = None;
            }
            if let (Some(was), Some(at), true) = (self.shown[slot], at, is_next) {
                let far = apart(reed.place(was), reed.place(at));
                if far > REACH * passed as i32
                    && far <= FAR
                    && let Some(cell) = shared(reed, was, at)
                {
                    // What it was shown for a frame of swimming counts as shown.
                    let since = now.frame.wrapping_sub(1);
                    let corner = reed.place(Swimmer::at(cell, 0));
                    *correction = Some(Correction { since, from: reed.place(was), corner });
                }
            } else {
                *correction = None;
            }
            self.shown[slot] = at;
        }
    }

    /// Where a gosling is shown that is at a place, so many frames after the first; none if it was
    /// not corrected.
    pub(super) fn place(&self, slot: usize, time: f32, at: (f32, f32)) -> Option<(f32, f32)> {
        let Correction { since, from, corner } = self.corrections[slot]?;
        let part = (time - (since % (1 << 18)) as f32) / FRAMES as f32;
        if !(0.0..1.0).contains(&part) {
            return None;
        }
        let [from, corner] = [from, corner].map(super::Moment::pixels);
        let length = |one: (f32, f32), other: (f32, f32)| (one.0 - other.0).hypot(one.1 - other.1);
        let (back, on) = (length(from, corner), length(corner, at));
        let swum = (back + on) * part;
        let between = |one: (f32, f32), other: (f32, f32), part: f32| {
            (one.0 + (other.0 - one.0) * part, one.1 + (other.1 - one.1) * part)
        };
        Some(if swum < back {
            between(from, corner, swum / back.max(0.01))
        } else {
            between(corner, at, (swum - back) / on.max(0.01))
        })
    }
}

/// The cell through which water leads from one swimmer's place to the other's.
fn shared(reed: &Reed, one: Swimmer, other: Swimmer) -> Option<u16> {
    let ends = |at: Swimmer| [at.cell, reed.next(at.cell, at.heading)];
    ends(one).into_iter().find(|cell| ends(other).contains(cell))
}

#[cfg(test)]
mod tests {
    use super::super::Moment;
    use super::*;
    use crate::water::{EDGE, ways};
    use crate::{Chick, Setup, Swim};

    /// A state with one gosling at a place.
    fn with(game: &Gosling, frame: u32, at: Swimmer) -> Gosling {
        let mut game = game.clone();
        game.frame = frame;
        game.chicks[0] = Chick { swim: Swim::Swimming, at, seat: crate::Seat::Person, ..Chick::default() };
        game
    }

    #[test]
    fn correction_leads_through_corner_and_ends() {
        let game = Gosling::new(Setup::default(), 5);
        let reed = game.reed();
        let cell = reed.junctions()[0];
        let mut exits = ways(reed.exits(cell));
        let (wrong, right) = (exits.next().expect("an exit"), exits.next().expect("another"));
        let swum = |heading, way| Swimmer { cell, heading, way };
        let mut easing = Easing::default();
        easing.follow(&with(&game, 100, swum(wrong, 1_280)), &reed);
        let at = |way| Moment::pixels(reed.place(swum(right, way)));
        assert_eq!(easing.place(0, 100.5, at(1_280)), None);
        let corner = Moment::pixels(reed.place(Swimmer::at(cell, 0)));
        let mut shown = Vec::new();
        for frame in 101..=106 {
            let way = 1_920 + 640 * (frame - 101) as u16;
            easing.follow(&with(&game, frame, swum(right, way)), &reed);
            for part in [0.25, 0.75] {
                let place = easing.place(0, frame as f32 - 1.0 + part, at(way));
                if let Some(place) = place {
                    // On one of the two edges: never across the reeds between them.
                    let off = [place.0 - corner.0, place.1 - corner.1].map(f32::abs);
                    assert!(off[0] < 0.01 || off[1] < 0.01, "{place:?} beside {corner:?}");
                }
                shown.push(place);
            }
        }
        assert_eq!(shown.iter().filter(|place| place.is_some()).count(), 8, "four frames: {shown:?}");
        assert!(shown[8..].iter().all(Option::is_none));
        let first = shown[0].expect("eased");
        assert!(apart_px(first, Moment::pixels(reed.place(swum(wrong, 1_280)))) < 4.0);
    }

    fn apart_px(one: (f32, f32), other: (f32, f32)) -> f32 {
        (one.0 - other.0).hypot(one.1 - other.1)
    }

    #[test]
    fn usual_swimming_and_far_jumps_are_not_eased() {
        let game = Gosling::new(Setup::default(), 5);
        let reed = game.reed();
        let (cell, heading) =
            (reed.junctions()[0], ways(reed.exits(reed.junctions()[0])).next().unwrap_or(0));
        let mut easing = Easing::default();
        for (frame, way) in [(1, 7_000), (2, 7_896)] {
            easing.follow(&with(&game, frame, Swimmer { cell, heading, way }), &reed);
        }
        let next = Swimmer { cell: reed.next(cell, heading), heading, way: 8_792 - EDGE };
        easing.follow(&with(&game, 3, next), &reed);
        assert!(easing.corrections[0].is_none());
        easing.follow(&with(&game, 4, Swimmer::at(reed.nests()[1], 0)), &reed);
        assert!(easing.corrections[0].is_none());
        assert!(easing.shown[0].is_some() && easing.shown[1].is_none());
    }
}
