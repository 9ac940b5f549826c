//! Thumbs on glass: two slabs to lean at one side, a disc to flap at the other, and a way out in the corner. What is drawn is where
//! it works.

use gaggle_scene::{Scene, View, palette};

use crate::Held;
use crate::pen::{Pen, Rect};
use crate::pictures::{self, pictures};

/// Fingers on the screen.
#[derive(Debug, Clone)]
pub struct Touch {
    fingers: Vec<(i32, f32)>,
    /// Somebody has touched this screen: show where to.
    pub used: bool,
    /// Share of the screen's width for leaning, half to each side; the rest flaps.
    lean: f32,
}

impl Default for Touch {
    fn default() -> Touch {
        Touch { fingers: Vec::new(), used: false, lean: 0.5 }
    }
}

/// Width of a slab in word pixels, of which a phone has one for two of its page's: 88 there.
const SLAB: i32 = 44;
/// Across the disc: 156 of the page's pixels on a phone.
const DISC: i32 = 78;
/// Between things.
const GAP: i32 = 5;
/// Across the corner that leads out: 48 of the page's pixels on a phone.
const CORNER: i32 = 24;

impl Touch {
    /// Makes it fit a screen: held upright, thumbs share its width; sideways, they stay at its edges.
    pub fn fit(&mut self, view: View) {
        let wide = view.word_width().max(1);
        let slabs = 2 * (SLAB + GAP) + GAP;
        self.lean = if wide < view.word_height() { 0.5 } else { (slabs as f32 / wide as f32).min(0.5) };
    }

    /// A finger came down or moved; `x` is 0 at the left edge and 1 at the right. Sliding between slabs counts.
    pub fn set(&mut self, finger: i32, x: f32) {
        self.used = true;
        let room = self.fingers.len() < 10;
        match self.fingers.iter_mut().find(|(id, _)| *id == finger) {
            Some((_, place)) => *place = x,
            None if room => self.fingers.push((finger, x)),
            None => {}
        }
    }

    /// A finger went up.
    pub fn lift(&mut self, finger: i32) {
        self.fingers.retain(|(id, _)| *id != finger);
    }

    /// What the thumbs hold.
    pub fn held(&self) -> Held {
        let any = |from: f32, to: f32| self.fingers.iter().any(|(_, x)| (from..to).contains(x));
        Held {
            left: any(0.0, self.lean / 2.0),
            right: any(self.lean / 2.0, self.lean),
            action: any(self.lean, 1.01),
            ..Held::default()
        }
    }

    /// Whether a finger at a pixel of the screen means the way out: the corner is for nothing else.
    pub fn leads_out(view: View, x: i32, y: i32) -> bool {
        corner(view).contains(x.div_euclid(view.word_scale), y.div_euclid(view.word_scale))
    }

    /// Draws the way out: two bars, as of a pause.
    pub fn draw_way_out(scene: &mut Scene, view: View) {
        let mut pen = Pen::new(scene, view);
        let place = corner(view).grown(-3);
        pen.panel(place, palette::PEAT[2], 0.6, Some(palette::PEAT[4]));
        let (x, y) = place.middle();
        for side in [-4, 1] {
            pen.fill(Rect::new(x + side, y - 4, 3, 8), palette::BONE, 1.0);
        }
    }

    /// From where to where no thumb lies, at the lower edge of the screen, in word pixels.
    pub(crate) fn free(&self, view: View) -> (i32, i32) {
        let Places { slabs: [_, right], disc } = Places::of(view, self.lean);
        (right.right() + GAP, disc.x - GAP)
    }

    /// Draws where thumbs go and what the disc does; what they hold is lit. Where left and right are the same, the two slabs are one
    /// and bear its name.
    pub fn draw(&self, scene: &mut Scene, view: View, action: &str, turn: Option<&str>) {
        let places = Places::of(view, self.lean);
        let held = self.held();
        let mut pen = Pen::new(scene, view);
        let [left, right] = places.slabs;
        if let Some(turn) = turn {
            let both = Rect::new(left.x, left.y, right.right() - left.x, left.tall);
            slab(&mut pen, both, held.left || held.right);
            let (x, y) = both.middle();
            pen.bold(turn, x, y - 4, both.wide - 8, palette::BONE).centred();
        } else {
            for (place, is_held, is_left) in [(left, held.left, true), (right, held.right, false)] {
                slab(&mut pen, place, is_held);
                arrow(&mut pen, place, is_left);
            }
        }
        disc(&mut pen, places.disc, held.action, action);
    }
}

fn corner(view: View) -> Rect {
    Rect::new(view.word_width() - CORNER, 0, CORNER, CORNER).within(view)
}

struct Places {
    slabs: [Rect; 2],
    disc: Rect,
}

impl Places {
    fn of(view: View, lean: f32) -> Places {
        let (wide, tall) = (view.word_width(), view.word_height());
        let zone = (wide as f32 * lean) as i32;
        let slab_tall = (tall / 4).clamp(1, 76);
        // Held upright, thumbs reach a little above the lower edge.
        let above = if wide < tall { tall / 12 } else { 8.min(tall / 10) };
        let bottom = tall - above;
        let row = Rect::new(GAP, bottom - slab_tall, zone - GAP - GAP / 2, slab_tall);
        let slabs = row.columns([1, 1], GAP);
        let across = DISC.min(wide - zone - 2 * GAP).min(tall / 2).max(1);
        let right = if wide < tall { (zone + wide + across) / 2 } else { wide - GAP };
        let disc = Rect::new(right - across, bottom - across.max(slab_tall), across, across);
        Places { slabs, disc }
    }
}

fn slab(pen: &mut Pen<'_>, place: Rect, is_held: bool) {
    let edge = if is_held { palette::MOON } else { palette::PEAT[4] };
    pen.panel(place, palette::PEAT[2], if is_held { 0.9 } else { 0.6 }, Some(edge));
}

fn arrow(pen: &mut Pen<'_>, slab: Rect, left: bool) {
    let (x, y) = slab.middle();
    let size = (slab.wide.min(slab.tall) / 4).clamp(1, 11);
    for column in 0..size {
        let tall = 2 * column + 1;
        let at = if left { x - size / 2 + column } else { x + size / 2 - column };
        pen.fill(Rect::new(at, y - column, 1, tall), palette::BONE, 1.0);
    }
}

fn disc(pen: &mut Pen<'_>, place: Rect, held: bool, action: &str) {
    let radius = place.wide as f32 / 2.0;
    let half = |row: i32, radius: f32| {
        let up = row as f32 + 0.5 - place.tall as f32 / 2.0;
        (radius * radius - up * up).max(0.0).sqrt() as i32
    };
    let middle = place.x + place.wide / 2;
    for row in 0..place.tall {
        let (outer, inner) = (half(row, radius), half(row, radius - 1.5));
        let y = place.y + row;
        pen.fill(Rect::new(middle - inner, y, 2 * inner, 1), palette::PEAT[2], if held { 0.9 } else { 0.6 });
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
    pen.bold(action, middle, top + tall + 6, place.wide - 8, palette::FIRE[5]).centred();
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pen::tests::{assert_inside, views};

    #[test]
    fn a_thumb_slides_from_one_slab_to_the_other() {
        let mut touch = Touch::default();
        touch.set(1, 0.1);
        touch.set(2, 0.9);
        let (left, right, action) = (true, true, true);
        assert_eq!(touch.held(), Held { left, action, ..Held::default() });
        touch.set(1, 0.3);
        assert_eq!(touch.held(), Held { right, action, ..Held::default() });
        touch.lift(2);
        assert_eq!(touch.held(), Held { right, ..Held::default() });
    }

    #[test]
    fn whatever_is_drawn_works_where_it_is_drawn() {
        for view in views() {
            let mut touch = Touch::default();
            touch.fit(view);
            let Places { slabs: [left, right], disc } = Places::of(view, touch.lean);
            let meant = [
                (left, Held { left: true, ..Held::default() }),
                (right, Held { right: true, ..Held::default() }),
                (disc, Held { action: true, ..Held::default() }),
            ];
            for (place, held) in meant {
                assert!(place.wide >= 10 && place.tall >= 10, "{place:?}");
                for x in [place.x + 1, place.right() - 1] {
                    touch.set(1, x as f32 / view.word_width() as f32);
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
            let (from, to) = touch.free(view);
            assert!(left.right() < from && to < disc.x, "{from} to {to}");
            assert_inside(&scene, crate::album(), view, "thumbs");
        }
    }
}
