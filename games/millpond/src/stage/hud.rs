//! Texts and panels of the picture: plaques, list of wishes, map.
//!
//! `Stage` draws them after the world unless the audience leaves them out. Absent: rules.

use gaggle_scene::{fitted, font, palette};
use palette::{BONE, DIM, FIRE, INK, MIST, NIGHT, PEAT, SEATS_SIX, TEXT};

use super::{Audience, Painter, WINDOW, pixels};
use crate::ledger::{PADDLES, WISHES};
use crate::mark::What;
use crate::pond::Pond;
use crate::thing::Sort;
use crate::water::{HEIGHT, RACE, WIDTH};

/// Pixels of the pond per pixel of the map.
const MAP: i32 = 14;
/// Pixels from a boat's center that its picture covers.
const BOAT: i32 = 14;
/// Row of list and map when they are raised.
const RAISED: i32 = 26;

/// Frame of the list: left, top, width, height.
fn list_frame(audience: &Audience<'_>) -> (i32, i32, i32, i32) {
    let rows = WISHES.len() as i32 + 1;
    let top = if audience.raised { RAISED } else { WINDOW.1 - 8 - rows * 10 };
    (4, top - 4, 92, rows * 10 + 8)
}

/// Frame of the map, in the same form.
fn map_frame(audience: &Audience<'_>) -> (i32, i32, i32, i32) {
    let (wide, high) = (WIDTH / MAP, HEIGHT / MAP);
    let top = if audience.raised { RAISED } else { WINDOW.1 - high - 6 };
    (WINDOW.0 - wide - 8, top - 2, wide + 4, high + 4)
}

/// Whether list or map at the bottom would cover a local boat.
pub(super) fn covers_own_boat(pond: &Pond, audience: &Audience<'_>, camera: (f32, f32)) -> bool {
    let low = Audience { raised: false, ..*audience };
    let frames = [list_frame(&low), map_frame(&low)];
    let own =
        pond.boats.iter().flatten().filter(|boat| audience.own.get(usize::from(boat.seat)) == Some(&true));
    own.map(|boat| (pixels(boat.place[0]) - camera.0, pixels(boat.place[1]) - camera.1)).any(|(x, y)| {
        frames.iter().any(|(left, top, wide, high)| {
            let (x, y) = (x as i32 - left, y as i32 - top);
            (-BOAT..wide + BOAT).contains(&x) && (-BOAT..high + BOAT).contains(&y)
        })
    })
}

/// Top of a sign of this frame that neither list nor map covers.
pub(super) fn clear_of_panels(audience: &Audience<'_>, (left, top, wide, high): (i32, i32, i32, i32)) -> i32 {
    let covering = [list_frame(audience), map_frame(audience)].into_iter().find(|frame| {
        left < frame.0 + frame.2 && frame.0 < left + wide && top < frame.1 + frame.3 && frame.1 < top + high
    });
    match covering {
        None => top,
        Some(frame) if audience.raised => frame.1 + frame.3 + 2,
        Some(frame) => frame.1 - high - 2,
    }
}

impl Painter<'_> {
    /// Names of the players and what their boats have delivered.
    pub(super) fn plaques(&mut self, pond: &Pond, audience: &Audience<'_>) {
        let mut x = 4;
        let count = pond.boats.iter().flatten().count().max(1) as i32;
        // As wide as the number of plaques allows.
        let widest = (WINDOW.0 - 8 - 3 * (count - 1)) / count;
        for boat in pond.boats.iter().flatten() {
            let seat = usize::from(boat.seat) % SEATS_SIX.len();
            let color = SEATS_SIX[seat];
            let credit = pond.ledger.credit[seat].to_string();
            let bars = if audience.bars[seat].is_some() { 8 } else { 0 };
            let beside = 22 + font::width(&credit, false, 0) + bars;
            let name = fitted(audience.names[seat], widest - beside, false);
            let wide = beside + font::width(&name, false, 0);
            let edge = if audience.own[seat] { color } else { color.mix(NIGHT[1], 0.62) };
            self.scene.panel((x, 2, wide, 13), INK, 0.78, Some(edge));
            self.scene.image(self.emblems[seat], (x + 4) as f32, 5.0);
            self.scene.text(&name, (x + 14) as f32, 5.0, if audience.own[seat] { color } else { DIM });
            let mut right = x + wide - 4;
            if let Some(strength) = audience.bars[seat] {
                for bar in 0..3 {
                    let lit = bar < i32::from(strength);
                    let shade = if !lit {
                        PEAT[3]
                    } else if strength >= 3 {
                        MIST[2]
                    } else {
                        palette::WARN
                    };
                    self.scene.fill(right - 6 + bar * 2, 10 - bar * 2, 1, 3 + bar * 2, shade);
                }
                right -= bars;
            }
            self.scene.text(&credit, right as f32, 5.0, TEXT).right();
            x += wide + 3;
        }
    }

    /// Wishes of the day that are still open.
    pub(super) fn list(&mut self, pond: &Pond, audience: &Audience<'_>) {
        let frame = list_frame(audience);
        let (left, top) = (frame.0, frame.1 + 4);
        self.scene.panel(frame, INK, 0.72, Some(MIST[0]));
        for (number, wish) in WISHES.iter().enumerate() {
            let y = top + number as i32 * 10;
            let wanted = pond.ledger.wanted(number);
            self.scene.image(self.flotsam.icon(wish.sort), (left + 4) as f32, y as f32);
            let color = if wanted == 0 { palette::OK } else { TEXT };
            self.scene.text(wish.who, (left + 20) as f32, (y + 1) as f32, color);
            let count = format!("{}/{}", pond.ledger.brought[number], wish.count);
            self.scene.text(&count, (left + 88) as f32, (y + 1) as f32, color).right();
        }
        let y = top + WISHES.len() as i32 * 10;
        let (word, color) = match (pond.ledger.open, pond.ledger.sluiced) {
            (true, _) => ("open", FIRE[5]),
            (_, true) => ("done", palette::OK),
            _ => ("shut", TEXT),
        };
        self.scene.text("Sluice", (left + 20) as f32, (y + 1) as f32, color);
        self.scene.text(word, (left + 88) as f32, (y + 1) as f32, color).right();
    }

    /// Map of the whole pond.
    pub(super) fn map(&mut self, pond: &Pond, audience: &Audience<'_>) {
        let frame = map_frame(audience);
        let (left, top) = (frame.0 + 2, frame.1 + 2);
        self.scene.panel(frame, INK, 0.72, Some(MIST[0]));
        let race = top + RACE / MAP - 2;
        self.scene.blend(left as f32, race as f32, (WIDTH / MAP) as f32, 4.0, MIST[0], 0.5);
        let spot = |x: i32, y: i32| (left + x / MAP, top + y / MAP);
        for (number, wish) in WISHES.iter().enumerate() {
            let (x, y) = spot(wish.x, wish.y);
            self.scene.fill(
                x - 1,
                y - 1,
                3,
                3,
                if pond.ledger.wanted(number) > 0 { FIRE[5] } else { palette::OK },
            );
        }
        for (x, y) in PADDLES {
            let (x, y) = spot(x, y);
            self.scene.fill(x, y, 1, 2, MIST[2]);
        }
        if let Some(bell) = pond.floating.iter().find(|floating| floating.thing.sort == Sort::Bell) {
            let (x, y) = spot(bell.thing.place[0].floor(), bell.thing.place[1].floor());
            self.scene.fill(x - 1, y, 3, 1, BONE);
            self.scene.fill(x, y - 1, 1, 3, BONE);
        }
        for boat in pond.boats.iter().flatten() {
            let seat = usize::from(boat.seat) % SEATS_SIX.len();
            let (x, y) = spot(boat.place[0].floor(), boat.place[1].floor());
            let blink = audience.own[seat] && (self.time / 20.0) as i32 % 2 == 0;
            let size = if audience.own[seat] { 3 } else { 2 };
            self.scene.fill(x - 1, y - 1, size, size, if blink { TEXT } else { SEATS_SIX[seat] });
        }
    }

    pub(super) fn captions(&mut self, pond: &Pond) {
        let middle = (WINDOW.0 / 2) as f32;
        if pond.ledger.done {
            let width = self.album.image(self.day).width() as f32;
            self.scene.image(self.day, (middle - width / 2.0).floor(), 60.0);
            let line = format!("Day {} is done. No goose hurried.", pond.ledger.day + 1);
            self.scene.text(&line, middle, 92.0, BONE).centered().outlined(INK);
        } else if pond.marks.recent(pond.frame, 150).any(|mark| mark.what == What::Sluice) {
            self.scene.text("The sluice is open.", middle, 40.0, BONE).centered().outlined(INK);
        } else if let Some(boat) = pond.boats.iter().flatten().find(|boat| {
            let towed = boat.tow.and_then(|id| pond.find(id));
            towed.is_some_and(|towed| {
                towed.thing.sort == Sort::Bell
                    && pixels(boat.velocity[0]).hypot(pixels(boat.velocity[1])) < 5.0
            })
        }) {
            let color = SEATS_SIX[usize::from(boat.seat) % SEATS_SIX.len()];
            self.scene
                .text("The bell takes two.", middle, 40.0, color.mix(TEXT, 0.4))
                .centered()
                .outlined(INK);
        }
    }
}

#[cfg(test)]
mod tests {
    use gaggle_scene::{Item, Scene, View};

    use super::*;
    use crate::boat::Boat;
    use crate::stage::Stage;
    use crate::water;

    #[test]
    fn list_and_map_move_away_from_local_boat() {
        let mut pond = Pond::new(1);
        let mut own = [false; water::SEATS];
        own[0] = true;
        let audience = Audience { own, ..Audience::default() };
        let at = |pond: &mut Pond, x: i32, y: i32| {
            pond.boats[0] = Some(Boat { place: water::at(x, y), ..Boat::moored(0) });
        };
        for frame in [list_frame(&audience), map_frame(&audience)] {
            at(&mut pond, 700 + frame.0 + frame.2 / 2, 300 + frame.1 + frame.3 / 2);
            assert!(covers_own_boat(&pond, &audience, (700.0, 300.0)), "{frame:?}");
            let others = Audience::default();
            assert!(!covers_own_boat(&pond, &others, (700.0, 300.0)), "moved for a remote boat");
        }
        at(&mut pond, 700 + WINDOW.0 / 2, 300 + WINDOW.1 / 2);
        assert!(!covers_own_boat(&pond, &audience, (700.0, 300.0)));
    }

    #[test]
    fn panels_never_cover_signs() {
        for raised in [false, true] {
            let audience = Audience { raised, ..Audience::default() };
            let mut moved = 0;
            for left in (4..300).step_by(8) {
                for top in (0..WINDOW.1).step_by(5) {
                    let clear = clear_of_panels(&audience, (left, top, 80, 15));
                    moved += i32::from(clear != top);
                    for frame in [list_frame(&audience), map_frame(&audience)] {
                        let beside = left + 80 <= frame.0 || frame.0 + frame.2 <= left;
                        assert!(
                            beside || clear + 15 <= frame.1 || frame.1 + frame.3 <= clear,
                            "{left}, {top}"
                        );
                    }
                }
            }
            assert!(moved > 50, "only {moved} signs were moved");
        }
    }

    #[test]
    fn long_names_stay_in_window_and_do_not_overlap() {
        let mut pond = Pond::new(1);
        for count in [1, 2, 4, 6] {
            pond.boats = std::array::from_fn(|seat| (seat < count).then(|| Boat::moored(seat)));
            let names = ["Bartholomew of the Long Eyot"; water::SEATS];
            let audience =
                Audience { names, bars: [Some(2); water::SEATS], plain: true, ..Audience::default() };
            let view = View::at_scale(1_920, 1_080, WINDOW.0, WINDOW.1, 5, 3);
            let mut scene = Scene::default();
            Stage::new(view).draw(&pond, 1.0, &audience, &mut scene);
            let plaques: Vec<(i32, i32)> = scene
                .art
                .iter()
                .filter_map(|item| match *item {
                    Item::Panel { x, y: 2, width, height: 13, .. } => Some((x, x + width)),
                    _ => None,
                })
                .collect();
            assert_eq!(plaques.len(), count);
            assert!(plaques.windows(2).all(|pair| pair[0].1 < pair[1].0), "{plaques:?}");
            assert!(plaques.iter().all(|(left, right)| *left >= 0 && *right <= WINDOW.0), "{plaques:?}");
            let names = scene.art.iter().filter(|item| match **item {
                Item::Text { words, y, .. } => y as i32 == 5 && scene.text_of(words).starts_with('B'),
                _ => false,
            });
            assert_eq!(names.count(), count, "a name is missing");
        }
    }
}
