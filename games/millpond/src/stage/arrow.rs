//! Arrows from local boats to their goals.
//!
//! `Painter` draws them over the pond. Absent: how the goal is chosen.

use gaggle_scene::palette::{FIRE, INK};

use super::{Audience, Painter};
use crate::goal::goal;
use crate::pond::Pond;
use crate::water;

/// Pixels from the boat's center to the tip.
const REACH: f32 = 34.0;
/// Distance within which a goal needs no arrow, in pixels.
const NEAR: i32 = 52;
/// Squares of the arrow: pixels back from the tip, pixels aside, size.
const SQUARES: [(f32, f32, i32); 7] = [
    (10.0, 0.0, 2),
    (7.0, 0.0, 2),
    (5.0, 4.0, 2),
    (5.0, -4.0, 2),
    (2.5, 2.0, 3),
    (2.5, -2.0, 3),
    (0.0, 0.0, 3),
];

impl Painter<'_> {
    /// Draws an arrow for each local boat whose goal is not near.
    pub(super) fn arrows(&mut self, pond: &Pond, audience: &Audience<'_>) {
        for (seat, boat) in pond.boats.iter().enumerate() {
            let Some(boat) = boat.filter(|_| audience.own[seat]) else { continue };
            let Some(place) = goal(pond, seat).filter(|place| !water::is_within(boat.place, *place, NEAR))
            else {
                continue;
            };
            let heading = water::direction(water::offset(boat.place, place));
            let (cos, sin) = (heading.cos::<16>().to_f32(), heading.sin::<16>().to_f32());
            let (x, y) = self.shown(boat.place, boat.velocity);
            for (grow, color) in [(2, INK), (0, FIRE[5])] {
                for (back, aside, size) in SQUARES {
                    let along = REACH - back;
                    let (dx, dy) = (along * cos - aside * sin, along * sin + aside * cos);
                    let size = size + grow;
                    let corner = |at: f32| at.floor() as i32 - size / 2;
                    self.scene.fill(corner(x + dx), corner(y + dy), size, size, color);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_scene::{Item, Scene, View};

    use super::*;
    use crate::boat::Boat;
    use crate::pond::Alone;
    use crate::stage::{Stage, WINDOW};
    use crate::thing::{Sort, Thing};

    /// Center of what is drawn in the arrow's color, relative to the local boat.
    fn drawn(pond: &Pond, own: bool) -> Option<(f32, f32)> {
        let mut stage = Stage::new(View::fit(1280, 720, WINDOW.0, WINDOW.1));
        let (mut scene, mut audience) = (Scene::default(), Audience::default());
        audience.own[0] = own;
        stage.draw(pond, 1.0, &audience, &mut scene);
        let (middle_x, middle_y) = stage.seen_at(pond.boats[0].unwrap().place);
        let squares: Vec<(f32, f32)> = scene
            .art
            .iter()
            .filter_map(|item| match item {
                Item::Fill { x, y, color, .. } if *color == FIRE[5] => {
                    Some((x - middle_x as f32, y - middle_y as f32))
                }
                _ => None,
            })
            .filter(|(x, y)| x.abs() < 40.0 && y.abs() < 40.0)
            .collect();
        let count = squares.len() as f32;
        let sum = squares.iter().fold((0.0, 0.0), |sum, at| (sum.0 + at.0, sum.1 + at.1));
        (!squares.is_empty()).then_some((sum.0 / count, sum.1 / count))
    }

    #[test]
    fn arrow_points_from_own_boat_to_its_goal() {
        let (mut pond, mut hands) = (Pond::new(1), Alone::default());
        pond.boats[0] = Some(Boat { place: water::at(512, 300), ..Boat::moored(0) });
        assert_eq!(drawn(&pond, false), None);
        let right = pond.put(Thing::new(Sort::Crate, water::at(700, 300)), &mut hands);
        let (x, y) = drawn(&pond, true).expect("an arrow");
        assert!(x > 20.0 && y.abs() < 4.0, "{x}, {y}");
        assert_eq!(drawn(&pond, false), None, "a remote boat has an arrow");
        // With the crate in tow the goal is the mill's jetty, up and right.
        pond.boats[0] = pond.boats[0].map(|boat| Boat { tow: right, ..boat });
        let (x, y) = drawn(&pond, true).expect("an arrow");
        assert!(x > 10.0 && y < -8.0, "{x}, {y}");
        pond.boats[0] = pond.boats[0].map(|boat| Boat { tow: None, ..boat });
        pond.put(Thing::new(Sort::Crate, water::at(540, 300)), &mut hands);
        assert_eq!(drawn(&pond, true), None, "a near goal has an arrow");
    }
}
