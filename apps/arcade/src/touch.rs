//! Touch controls: two slabs to steer, or a cross with four directions, at one side, a disc at the
//! other, and an exit button in the corner. They work exactly where they are drawn. `Arcade` owns
//! them; lengths are in text pixels (screen pixels ÷ `word_scale`). Absent: gamepads.

use gaggle_scene::{Scene, View, palette};

use crate::Held;
use crate::pen::{Pen, Rect};
use crate::pictures::{self, pictures};

/// Fingers on the screen.
#[derive(Debug, Clone)]
pub struct Touch {
    /// Number and position of each finger.
    fingers: Vec<(i32, i32, i32)>,
    /// Whether the screen was ever touched, so that buttons are shown.
    pub used: bool,
    /// Whether the game also uses up and down.
    four_ways: bool,
    word_scale: i32,
    places: Places,
}

/// Width of a slab: 88 CSS pixels on a phone.
const SLAB: i32 = 44;
/// Diameter of the disc: 156 CSS pixels on a phone.
const DISC: i32 = 78;
/// Width and height of the cross.
const CROSS: i32 = 92;
/// Gap between buttons.
const GAP: i32 = 5;
/// Size of the exit button: 48 CSS pixels on a phone.
const CORNER: i32 = 24;

impl Touch {
    /// Free width at each side of a world that holds the controls, so that they cover no part of
    /// it.
    pub(crate) const BESIDE: i32 = 52;
    /// Free height below a world that holds the controls: 22 CSS pixels on a phone. They also react
    /// to touches above where they are drawn.
    pub(crate) const BELOW: i32 = 11;

    /// Controls for a screen, and for a game with or without up and down.
    pub fn new(view: View, four_ways: bool) -> Touch {
        let places = Places::of(view, 0, four_ways);
        Touch { fingers: Vec::new(), used: false, four_ways, word_scale: view.word_scale, places }
    }

    /// Adapts to another screen. Held upright, the controls share its width; sideways, they are at
    /// its edges, or below the world if `below` text pixels are free there.
    pub fn fit(&mut self, view: View, below: i32) {
        (self.word_scale, self.places) = (view.word_scale, Places::of(view, below, self.four_ways));
    }

    /// Handles a finger that came down or moved, at a screen pixel. It may slide between slabs.
    pub fn set(&mut self, finger: i32, x: i32, y: i32) {
        self.used = true;
        let (x, y) = (x.div_euclid(self.word_scale), y.div_euclid(self.word_scale));
        let room = self.fingers.len() < 10;
        match self.fingers.iter_mut().find(|(id, ..)| *id == finger) {
            Some(place) => *place = (finger, x, y),
            None if room => self.fingers.push((finger, x, y)),
            None => {}
        }
    }

    /// Handles a finger that went up.
    pub fn lift(&mut self, finger: i32) {
        self.fingers.retain(|(id, ..)| *id != finger);
    }

    /// Buttons that fingers hold.
    pub fn held(&self) -> Held {
        let Places { lean, steer, .. } = self.places;
        let (middle_x, middle_y) = steer.middle();
        let mut held = Held::default();
        for (_, x, y) in &self.fingers {
            let (right, down) = (x - middle_x, y - middle_y);
            if *x >= lean {
                held.action = true;
            } else if !self.four_ways {
                (held.left, held.right) = (held.left || right < 0, held.right || right >= 0);
            } else if right.abs().max(down.abs()) > steer.wide / 10 {
                // Eight directions: a touch between two slabs holds both.
                let (aside, along) = (2 * right.abs() > down.abs(), 2 * down.abs() > right.abs());
                (held.left, held.right) = (held.left || aside && right < 0, held.right || aside && right > 0);
                (held.up, held.down) = (held.up || along && down < 0, held.down || along && down > 0);
            }
        }
        held
    }

    /// Whether a tap at a screen pixel is on the exit button.
    pub fn leads_out(view: View, x: i32, y: i32) -> bool {
        corner(view).contains(x.div_euclid(view.word_scale), y.div_euclid(view.word_scale))
    }

    /// Draws the exit button: two bars, like a pause symbol.
    pub fn draw_way_out(scene: &mut Scene, view: View) {
        let mut pen = Pen::new(scene, view);
        let place = corner(view).grown(-3);
        pen.panel(place, palette::PEAT[2], 0.6, Some(palette::PEAT[4]));
        let (x, y) = place.middle();
        for side in [-4, 1] {
            pen.fill(Rect::new(x + side, y - 4, 3, 8), palette::BONE, 1.0);
        }
    }

    /// Columns at the lower edge of the screen that no control covers, first and last.
    pub(crate) fn free(&self) -> (i32, i32) {
        (self.places.steer.right() + GAP, self.places.disc.x - GAP)
    }

    /// Whether controls cover the lower corners of the world.
    pub(crate) fn covers_world(&self) -> bool {
        self.places.over_world
    }

    /// Draws the controls, held ones highlighted; the disc has the label `action`. With `turn`, the
    /// two slabs are one with that label, for games in which left and right do the same.
    pub fn draw(&self, scene: &mut Scene, view: View, action: &str, turn: Option<&str>) {
        let Places { steer, disc: disc_place, .. } = self.places;
        let held = self.held();
        let alpha = |is_held| self.places.alpha(is_held);
        let mut pen = Pen::new(scene, view);
        if self.four_ways {
            cross(&mut pen, steer, held, alpha);
        } else if let Some(turn) = turn {
            let is_held = held.left || held.right;
            slab(&mut pen, steer, is_held, alpha(is_held));
            let (x, y) = steer.middle();
            pen.bold(turn, x, y - 4, steer.wide - 8, palette::BONE).centered();
        } else {
            let [left, right] = steer.columns([1, 1], GAP);
            for (place, is_held, way) in [(left, held.left, (-1, 0)), (right, held.right, (1, 0))] {
                slab(&mut pen, place, is_held, alpha(is_held));
                arrow(&mut pen, place, way);
            }
        }
        if disc_place.wide == disc_place.tall {
            disc(&mut pen, disc_place, held.action, action, alpha(held.action));
        } else {
            let edge = if held.action { palette::FIRE[5] } else { palette::FIRE[4] };
            pen.panel(disc_place, palette::PEAT[2], alpha(held.action), Some(edge));
            let (x, y) = disc_place.middle();
            pen.bold(action, x, y - 4, disc_place.wide - 8, palette::FIRE[5]).centered();
        }
    }
}

fn corner(view: View) -> Rect {
    Rect::new(view.word_width() - CORNER, 0, CORNER, CORNER).within(view)
}

/// Places of all controls, in text pixels.
#[derive(Debug, Clone, Copy)]
struct Places {
    /// Touches left of this column steer, others are the action.
    lean: i32,
    /// The two slabs together, or the cross.
    steer: Rect,
    disc: Rect,
    over_world: bool,
}

impl Places {
    fn of(view: View, below: i32, four_ways: bool) -> Places {
        let (wide, tall) = (view.word_width(), view.word_height());
        if below > 0 {
            let (y, high) = (tall - below + 1, below - 3);
            let steer = Rect::new(GAP, y, 2 * SLAB + GAP, high);
            let disc = Rect::new(wide - GAP - DISC, y, DISC, high);
            return Places { lean: wide * 2 / 5, steer, disc, over_world: false };
        }
        let upright = wide < tall;
        let beside = view.left * view.scale / view.word_scale;
        let is_beside = !upright && beside >= Touch::BESIDE;
        // Width for each hand.
        let room = match (upright, is_beside) {
            (true, _) => wide / 2,
            (_, true) => beside,
            // Over the world they are smaller.
            _ if four_ways => (CROSS * 4 / 5 + 2 * GAP).min(wide / 2),
            _ => (2 * (SLAB + GAP) + GAP).min(wide / 2),
        };
        let gap = if is_beside { 3 } else { GAP };
        // On an upright phone thumbs rest a little above the lower edge.
        let above = if upright { tall / 12 } else { 8.min(tall / 10) };
        let bottom = tall - above;
        let steer_wide = (room - 2 * gap).max(1);
        let steer = if four_ways {
            let across = steer_wide.min(CROSS).min(tall / 2).max(1);
            Rect::new(gap, bottom - across, across, across)
        } else {
            let slab_tall = (tall / 4).clamp(1, 76);
            Rect::new(gap, bottom - slab_tall, steer_wide, slab_tall)
        };
        let disc_room = if is_beside || upright { room } else { wide - room };
        let over_world = !upright && !is_beside;
        let most = if over_world { DISC * 3 / 4 } else { DISC };
        let across = most.min(disc_room - 2 * gap).min(tall / 2).max(1);
        let right = if upright { (wide + room + across) / 2 } else { wide - gap };
        let disc = Rect::new(right - across, bottom - across.max(steer.tall), across, across);
        // A thumb that slides past its slab still steers.
        let lean = if upright { wide / 2 } else { (wide * 2 / 5).max(steer.right()).min(disc.x) };
        Places { lean, steer, disc, over_world }
    }

    /// Opacity of a control, lower over the world.
    fn alpha(&self, is_held: bool) -> f32 {
        match (is_held, self.over_world) {
            (true, _) => 0.9,
            (_, true) => 0.35,
            _ => 0.6,
        }
    }
}

fn slab(pen: &mut Pen<'_>, place: Rect, is_held: bool, alpha: f32) {
    let edge = if is_held { palette::MOON } else { palette::PEAT[4] };
    pen.panel(place, palette::PEAT[2], alpha, Some(edge));
}

/// Draws the cross: four slabs around a center.
fn cross(pen: &mut Pen<'_>, place: Rect, held: Held, alpha: impl Fn(bool) -> f32) {
    let third = place.wide / 3;
    let at = |right: i32, down: i32| Rect::new(place.x + right * third, place.y + down * third, third, third);
    let ways = [
        (at(1, 0), held.up, (0, -1)),
        (at(0, 1), held.left, (-1, 0)),
        (at(2, 1), held.right, (1, 0)),
        (at(1, 2), held.down, (0, 1)),
    ];
    for (part, is_held, way) in ways {
        slab(pen, part, is_held, alpha(is_held));
        arrow(pen, part, way);
    }
}

/// Draws a triangle that points in a direction.
fn arrow(pen: &mut Pen<'_>, slab: Rect, (right, down): (i32, i32)) {
    let (x, y) = slab.middle();
    let size = (slab.wide.min(slab.tall) / 4).clamp(1, 11);
    for step in 0..size {
        let (ahead, wide) = (size / 2 - step, 2 * step + 1);
        let place = if right != 0 {
            Rect::new(x + right * ahead, y - step, 1, wide)
        } else {
            Rect::new(x - step, y + down * ahead, wide, 1)
        };
        pen.fill(place, palette::BONE, 1.0);
    }
}

fn disc(pen: &mut Pen<'_>, place: Rect, held: bool, action: &str, alpha: f32) {
    let radius = place.wide as f32 / 2.0;
    let half = |row: i32, radius: f32| {
        let up = row as f32 + 0.5 - place.tall as f32 / 2.0;
        (radius * radius - up * up).max(0.0).sqrt() as i32
    };
    let middle = place.x + place.wide / 2;
    for row in 0..place.tall {
        let (outer, inner) = (half(row, radius), half(row, radius - 1.5));
        let y = place.y + row;
        pen.fill(Rect::new(middle - inner, y, 2 * inner, 1), palette::PEAT[2], alpha);
        let edge = if held { palette::FIRE[5] } else { palette::FIRE[4] };
        for x in [middle - outer, middle + inner] {
            pen.fill(Rect::new(x, y, outer - inner, 1), edge, 1.0);
        }
    }
    if place.wide < 40 {
        return;
    }
    let wing = pictures().wing;
    let (wide, tall) = {
        let image = pictures::album().image(wing);
        (image.width(), image.height())
    };
    let top = place.y + (place.tall - tall - 13) / 2;
    pen.image(wing, middle - wide / 2, top);
    pen.bold(action, middle, top + tall + 6, place.wide - 8, palette::FIRE[5]).centered();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arcade::{fit, make_room_for_thumbs};
    use crate::pen::tests::{assert_inside, views};

    fn at(touch: &mut Touch, view: View, finger: i32, (x, y): (i32, i32)) {
        touch.set(finger, x * view.word_scale, y * view.word_scale);
    }

    #[test]
    fn thumb_slides_from_one_slab_to_other() {
        let view = views()[0];
        let (mut touch, wide) = (Touch::new(view, false), view.width);
        touch.set(1, 20, 500);
        touch.set(2, wide - 20, 500);
        let (left, right, action) = (true, true, true);
        assert_eq!(touch.held(), Held { left, action, ..Held::default() });
        touch.set(1, 180, 500);
        assert_eq!(touch.held(), Held { right, action, ..Held::default() });
        touch.lift(2);
        assert_eq!(touch.held(), Held { right, ..Held::default() });
    }

    #[test]
    fn whatever_is_drawn_works_where_it_is_drawn() {
        for view in views() {
            let mut touch = Touch::new(view, false);
            let Places { steer, disc, .. } = touch.places;
            let [left, right] = steer.columns([1, 1], GAP);
            let meant = [
                (left, Held { left: true, ..Held::default() }),
                (right, Held { right: true, ..Held::default() }),
                (disc, Held { action: true, ..Held::default() }),
            ];
            for (place, held) in meant {
                assert!(place.wide >= 10 && place.tall >= 10, "{place:?}");
                for x in [place.x + 1, place.right() - 1] {
                    at(&mut touch, view, 1, (x, place.middle().1));
                    assert_eq!(touch.held(), held, "{place:?} of {}", view.word_width());
                }
            }
            let mut scene = Scene::default();
            touch.draw(&mut scene, view, "FLAP", None);
            touch.draw(&mut scene, view, "FIRE", Some("TURN"));
            Touch::draw_way_out(&mut scene, view);
            let (x, y) = corner(view).middle();
            assert!(Touch::leads_out(view, x * view.word_scale, y * view.word_scale));
            assert!(!Touch::leads_out(view, 0, 0), "the other corner is the game's");
            let (from, to) = touch.free();
            assert!(steer.right() < from && to < disc.x, "{from} to {to}");
            assert_inside(&scene, crate::album(), view, "thumbs");
        }
    }

    #[test]
    fn boat_is_rowed_in_eight_ways_on_every_screen() {
        for view in views() {
            let mut touch = Touch::new(view, true);
            let steer = touch.places.steer;
            let (x, y) = steer.middle();
            let far = steer.wide / 3;
            let none = Held::default();
            for ((right, down), held) in [
                ((0, -1), Held { up: true, ..none }),
                ((1, -1), Held { up: true, right: true, ..none }),
                ((1, 0), Held { right: true, ..none }),
                ((0, 1), Held { down: true, ..none }),
                ((-1, 1), Held { down: true, left: true, ..none }),
                ((-1, 0), Held { left: true, ..none }),
                ((0, 0), none),
            ] {
                at(&mut touch, view, 1, (x + right * far, y + down * far));
                assert_eq!(touch.held(), held, "{right} {down} of {steer:?}");
            }
            let disc = touch.places.disc;
            at(&mut touch, view, 1, disc.middle());
            assert_eq!(touch.held(), Held { action: true, ..none });
            let mut scene = Scene::default();
            touch.draw(&mut scene, view, "TOW", None);
            assert_inside(&scene, crate::album(), view, "a cross");
        }
    }

    #[test]
    fn thumbs_of_phone_held_flat_cover_no_part_of_world() {
        for (width, height, ratio) in [(1_688, 780, 2.0), (2_532, 1_170, 3.0), (1_792, 828, 2.0)] {
            let view = fit(width, height, ratio, (384, 216));
            let words = |art: i32| art * view.scale / view.word_scale;
            for four_ways in [false, true] {
                let touch = Touch::new(view, four_ways);
                let Places { steer, disc, .. } = touch.places;
                assert!(steer.right() <= words(view.left), "{steer:?} on {width}×{height}");
                assert!(words(view.left + 384) <= disc.x, "{disc:?} on {width}×{height}");
                assert!(corner(view).x >= words(view.left + 384), "on {width}×{height}");
                assert!(!touch.covers_world());
                // As wide as a thumb: 44 CSS pixels.
                let across = |words: i32| (words * view.word_scale) as f32 / ratio;
                assert!(across(steer.wide / 2) >= 40.0 && across(disc.wide) >= 80.0, "{steer:?} {disc:?}");
            }
        }
    }

    /// Over the scrolling pond, thumbs may cover water, but never the own boat, even where the pond
    /// ends.
    #[test]
    fn thumbs_of_16_9_phone_never_cover_own_boat() {
        use millpond::boat::{Boat, SPEED_MAX};
        use millpond::stage::{Audience, Stage, WINDOW};
        use millpond::water::{HEIGHT, WIDTH, at, moved};

        const BOAT: i32 = 14;
        for (width, height, ratio) in [
            (1_334, 750, 2.0),
            (2_208, 1_242, 3.0),
            (1_920, 1_080, 3.0),
            (1_280, 720, 2.0),
            (1_136, 640, 2.0),
        ] {
            let view = fit(width, height, ratio, WINDOW);
            let touch = Touch::new(view, true);
            assert!(touch.covers_world(), "{width}×{height}");
            for (x, ways) in [(40, [1, -1]), (WIDTH - 40, [1, -1]), (WIDTH / 2, [-1, 1])] {
                let mut stage = Stage::new(view);
                let mut pond = millpond::pond::Pond::new(1);
                let mut audience = Audience { raised: true, ..Audience::default() };
                audience.own[0] = true;
                let mut boat = Boat { place: at(x, HEIGHT / 2), ..Boat::moored(0) };
                for (frame, way) in ways.into_iter().flat_map(|way| [way; 300]).enumerate() {
                    let (now, high) = (boat.place[1].to_f32() as i32, HEIGHT - 40);
                    let is_free = if way > 0 { now < high } else { now > 40 };
                    boat.velocity = at(0, if is_free { way * SPEED_MAX } else { 0 });
                    boat.place = moved(boat.place, boat.velocity);
                    pond.boats[0] = Some(boat);
                    stage.draw(&pond, 1.0, &audience, &mut Scene::default());
                    let (x, y) = stage.seen_at(boat.place);
                    let words = |art: i32, free: i32| (art + free) * view.scale / view.word_scale;
                    let (left, top) = (words(x - BOAT, view.left), words(y - BOAT, view.top));
                    let across = words(2 * BOAT, 0);
                    for place in [touch.places.steer, touch.places.disc] {
                        let beside = left + across <= place.x || place.right() <= left;
                        let is_clear = beside || top + across <= place.y || place.bottom() <= top;
                        assert!(is_clear, "{place:?} on {width}×{height}: {x}, {y} in frame {frame}");
                    }
                }
            }
        }
    }

    #[test]
    fn thumbs_of_16_9_phone_lie_below_world() {
        for (width, height, ratio, tall) in [
            (1_334, 750, 2.0, 28.0),
            (2_208, 1_242, 3.0, 28.0),
            (1_920, 1_080, 3.0, 28.0),
            (1_280, 720, 2.0, 16.0),
            (1_536, 864, 2.0, 28.0),
        ] {
            let (view, below) = make_room_for_thumbs(fit(width, height, ratio, (384, 216)), (384, 216));
            let mut touch = Touch::new(view, false);
            assert!(touch.covers_world() && below > 0, "without room for them they lie over it");
            touch.fit(view, below);
            assert!(!touch.covers_world() && view.top >= 9, "names are written above the world");
            let Places { steer, disc, .. } = touch.places;
            let end = (view.top + 216) * view.scale;
            for place in [steer, disc] {
                assert!(place.y * view.word_scale >= end, "{place:?} on {width}×{height}");
                assert!(place.y + place.tall <= view.word_height(), "{place:?} on {width}×{height}");
                assert!(
                    (place.tall * view.word_scale) as f32 / ratio >= tall,
                    "{place:?} on {width}×{height}"
                );
            }
            // A thumb above its slab steers, too, so that it need not be exact.
            at(&mut touch, view, 1, (steer.x + 4, steer.y - 40));
            assert_eq!(touch.held(), Held { left: true, ..Held::default() });
            let mut scene = Scene::default();
            touch.draw(&mut scene, view, "FLAP", None);
            touch.draw(&mut scene, view, "FIRE", Some("TURN"));
            assert_inside(&scene, crate::album(), view, "thumbs below");
        }
        // Where enough is free at the sides, or none at all, the world stays where it is.
        for (width, height, ratio) in [(1_688, 780, 2.0), (1_152, 648, 2.0), (780, 1_688, 2.0)] {
            let view = fit(width, height, ratio, (384, 216));
            assert_eq!(make_room_for_thumbs(view, (384, 216)), (view, 0));
        }
    }
}
