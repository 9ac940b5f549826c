//! The camera: which part of the reed a screen shows, and where plaques go.
//!
//! Moved by the stage with every picture. Absent: what is drawn.

use gaggle_scene::View;

use super::{Audience, Moment};
use crate::Swim;
use crate::water::STEPS;

/// Art pixels across of a usual screen.
pub const WIDTH: i32 = 640;
/// Art pixels down of a usual screen.
pub const HEIGHT: i32 = 360;
/// Pixels by which the camera looks ahead of the gosling.
const LEAD: f32 = 24.0;
/// Most pixels the camera moves in a frame.
const GLIDE: f32 = 6.0;
/// Pixels of a tile.
const TILE: f32 = 16.0;
/// Pixels of head and foot of an upright screen.
const HEAD: i32 = 46;
const FOOT: i32 = 76;

/// A rectangle of the screen, in art pixels of the world.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Area {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// Where the reed is seen from.
#[derive(Debug, Clone)]
pub(super) struct Camera {
    /// The whole screen.
    pub(super) screen: Area,
    /// The part of it that shows the reed.
    pub(super) area: Area,
    /// The part that plaques use: that of a usual screen, or all of a narrow one.
    pub(super) board: Area,
    /// Whether head and foot of the screen are boards.
    pub(super) is_upright: bool,
    /// The place in the middle of the screen; none before the first picture.
    middle: Option<(f32, f32)>,
    frame: u32,
}

impl Camera {
    pub(super) fn new(view: View) -> Camera {
        let screen = Area { x: -view.left, y: -view.top, width: view.art_width, height: view.art_height };
        let is_upright = screen.width * 3 < screen.height * 2;
        let area = if is_upright {
            Area { y: screen.y + HEAD, height: screen.height - HEAD - FOOT, ..screen }
        } else {
            screen
        };
        let (x, y) = (screen.x.max(0), screen.y.max(0));
        let board = Area {
            x,
            y,
            width: (screen.x + screen.width).min(WIDTH) - x,
            height: (screen.y + screen.height).min(HEIGHT) - y,
        };
        let board = if is_upright { screen } else { board };
        Camera { screen, area, board, is_upright, middle: None, frame: 0 }
    }

    /// Moves towards the gosling that the picture is about.
    pub(super) fn follow(&mut self, moment: &Moment<'_>, hero: usize, audience: &Audience<'_>) {
        let chick = &moment.now.chicks[hero];
        let place = if chick.swim == Swim::Away {
            let nest = crate::round::nest_of(moment.now.setup.mode, chick.brood, hero, moment.reed.nests());
            Moment::pixels(moment.reed.place(crate::water::Swimmer::at(nest, 0)))
        } else {
            moment.chick(hero)
        };
        let (dx, dy) = STEPS[usize::from(chick.at.heading & 3)];
        let lead = if audience.calm || chick.swim != Swim::Swimming { 0.0 } else { LEAD };
        let goal = (place.0 + dx as f32 * lead, place.1 + dy as f32 * lead);
        // If several frames passed since the last picture, it moves by all of them.
        let frames = moment.now.frame.wrapping_sub(self.frame).min(8) as f32;
        self.frame = moment.now.frame;
        let step = if frames == 0.0 { GLIDE / 4.0 } else { GLIDE * frames };
        let middle = match self.middle {
            Some(middle) if !audience.calm => {
                let far = (goal.0 - middle.0).hypot(goal.1 - middle.1);
                let part = if far <= step { 1.0 } else { step / far };
                // Near its goal it slows down, so that turns look soft.
                let part = part.min(if far < 60.0 { 0.25 } else { 1.0 });
                (middle.0 + (goal.0 - middle.0) * part, middle.1 + (goal.1 - middle.1) * part)
            }
            Some(middle) => {
                let stepped =
                    |goal: f32, middle: f32| if (goal - middle).abs() > 2.0 * TILE { goal } else { middle };
                (stepped(goal.0, middle.0), stepped(goal.1, middle.1))
            }
            None => goal,
        };
        self.middle = Some(self.within(middle, moment.reed.tile_size()));
    }

    /// Keeps the reed and one tile around it on the screen.
    fn within(&self, (x, y): (f32, f32), (across, down): (usize, usize)) -> (f32, f32) {
        let keep = |middle: f32, seen: i32, tiles: usize| {
            let (half, end) = (seen as f32 / 2.0, tiles as f32 * TILE + TILE);
            let (low, high) = (half - TILE, end - half);
            if low > high { (low + high) / 2.0 } else { middle.clamp(low, high) }
        };
        (keep(x, self.area.width, across), keep(y, self.area.height, down))
    }

    /// What to subtract from a place in the reed for its place on the screen.
    pub(super) fn offset(&self) -> (f32, f32) {
        let (x, y) = self.middle.unwrap_or_default();
        (
            (x - self.area.width as f32 / 2.0 - self.area.x as f32).round(),
            (y - self.area.height as f32 / 2.0 - self.area.y as f32).round(),
        )
    }

    /// The part of the reed on the screen.
    pub(super) fn seen(&self) -> (i32, i32, i32, i32) {
        let (x, y) = self.offset();
        (self.area.x + x as i32, self.area.y + y as i32, self.area.width, self.area.height)
    }
}
