//! The roost before a flight: geese of waiting players on moonlit water.
//!
//! Called by pages whose room waits for its host. Absent: who waits, and what they read.

use gaggle_scene::{Scene, palette, sine};

use super::Stage;
use super::backdrop::{NIGHT_BEFORE, Sky};
use super::figures::{BREAST, color};
use crate::SEATS;

/// Middle of the first goose, and steps to the next one.
const FIRST: (f32, f32) = (44.0, 318.0);
const STEP: f32 = 62.0;
/// Rows by which every second goose is nearer.
const NEARER: f32 = 17.0;

/// A goose on the water.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Roosting {
    /// Whether its player is ready: it looks ahead instead of dozing.
    pub is_ready: bool,
    /// Whether its player is elsewhere for the moment.
    pub is_away: bool,
}

/// Where the goose of a slot swims, in pixels of the world.
pub fn place(seat: usize) -> (i32, i32) {
    let y = FIRST.1 + if seat.is_multiple_of(2) { 0.0 } else { NEARER };
    ((FIRST.0 + STEP * seat as f32) as i32, y as i32)
}

impl Stage {
    /// Draws the roost at a time in frames. `calm` lets the water stand.
    pub fn draw_roost(
        &mut self,
        geese: &[Option<Roosting>; SEATS],
        time: f32,
        calm: bool,
        scene: &mut Scene,
    ) {
        scene.clear();
        self.pictures += 1;
        let time = if calm { 0.0 } else { time };
        let sky = Sky { stage: NIGHT_BEFORE, dawn: 0, is_quiet: self.is_quiet };
        self.backdrop.draw(sky, time * 0.15, &mut self.album, scene);
        // Those further back first.
        for row in [0, 1] {
            for seat in (0..SEATS).filter(|seat| seat % 2 == row) {
                if let Some(goose) = geese[seat] {
                    self.swim(seat, goose, time, scene);
                }
            }
        }
    }

    fn swim(&self, seat: usize, goose: Roosting, time: f32, scene: &mut Scene) {
        let (x, y) = place(seat);
        let bob = sine(time / 26.0 + seat as f32 * 1.7).round();
        let (x, y) = (x as f32, y as f32 + bob);
        // Its light on the water, broken by ripples.
        for row in 0..9 {
            let half = (14.0 - row as f32 * 1.2 + 2.0 * sine(time / 11.0 + row as f32 * 2.1)).round();
            let tint = if row % 3 == 1 { color(seat) } else { palette::MIST[2] };
            scene.blend(x - half, y + row as f32, 2.0 * half, 1.0, tint, 0.22 - row as f32 * 0.02);
        }
        let image = self.figures.roosting[usize::from(goose.is_ready)][seat];
        // The body is cut by the water line.
        let shown = if goose.is_away { 6 } else { 16 };
        let (left, top) = (x - BREAST.0 as f32, y - BREAST.1 as f32);
        let item = gaggle_scene::Item::Image { image, x: left, y: top, mirrored: false, shown, flash: None };
        scene.art.push(item);
        scene.blend(x - 15.0, y + 2.0, 28.0, 1.0, palette::MIST[2], 0.75);
        scene.blend(x - 12.0, y + 3.0, 25.0, 1.0, palette::NIGHT[1], 0.8);
        if goose.is_ready {
            // Rings run out from the breast of one that is awake.
            let wide = (time / 3.0) % 30.0;
            let fade = 0.5 * (1.0 - wide / 30.0);
            for side in [-1.0, 1.0] {
                scene.blend((x + side * (14.0 + wide)).floor(), y + 4.0, 5.0, 1.0, palette::MIST[2], fade);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sky::{HEIGHT, WIDTH};
    use gaggle_scene::{Canvas, View};

    /// Pixels of a roost with one goose in the first slot.
    fn painted(goose: Option<Roosting>) -> Vec<u32> {
        let view = View::at_scale(640, 360, WIDTH, HEIGHT, 1, 1);
        let (mut stage, mut scene) = (Stage::new(view), Scene::default());
        let mut geese = [None; SEATS];
        geese[0] = goose;
        stage.draw_roost(&geese, 30.0, false, &mut scene);
        let mut canvas = Canvas::new(view);
        canvas.paint(&scene, stage.album());
        canvas.pixels()
    }

    #[test]
    fn goose_on_water_shows_whether_it_is_ready() {
        let goose = |is_ready, is_away| Some(Roosting { is_ready, is_away });
        let pictures = [None, goose(false, false), goose(true, false), goose(false, true)].map(painted);
        for (nth, picture) in pictures.iter().enumerate() {
            for other in &pictures[nth + 1..] {
                let differing = picture.iter().zip(other).filter(|(a, b)| a != b).count();
                assert!(differing > 100, "{differing} pixels differ");
            }
        }
    }

    #[test]
    fn geese_of_all_slots_swim_on_water_apart() {
        let places: Vec<_> = (0..SEATS).map(place).collect();
        assert!(places.iter().all(|(x, y)| (20..620).contains(x) && (305..345).contains(y)));
        assert!(places.windows(2).all(|two| two[1].0 - two[0].0 >= 40));
    }
}
