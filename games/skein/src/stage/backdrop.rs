//! Backdrop of a stage: sky, moon, clouds, and the burning land below.
//!
//! Painted once per stage and screen; clouds and water move as images. Absent: actors.

use gaggle_scene::{Album, Bitmap, Color, ImageId, Scene, View, bayer, chance, noise, palette};

use crate::sky::{HEIGHT, WIDTH};

/// The row of the horizon.
const HORIZON: i32 = 300;
/// A color stop: row, color, color that is mixed in, and its share.
type Stop = (i32, Color, Color, f32);

/// Recipe of a sky.
struct Weather {
    stops: &'static [Stop],
    /// Firelight on the land, 0 to 1.
    glow: f32,
    /// Center and radius of the moon.
    moon: (i32, i32, i32),
    stars: f32,
    is_stormy: bool,
}

const NIGHT: [Color; 4] = palette::NIGHT;
const MIST: [Color; 3] = palette::MIST;
const PLUM: [Color; 3] = palette::PLUM;
const FIRE: [Color; 7] = palette::FIRE;
const INK: Color = palette::INK;

const fn stop(row: i32, color: Color) -> Stop {
    (row, color, color, 0.0)
}

const WEATHER: [Weather; 5] = [
    Weather {
        stops: &[
            stop(0, NIGHT[0]),
            stop(70, NIGHT[1]),
            stop(130, NIGHT[2]),
            stop(180, NIGHT[3]),
            stop(220, MIST[0]),
            (248, MIST[0], PLUM[2], 0.5),
            (272, PLUM[2], FIRE[1], 0.3),
            (290, FIRE[0], FIRE[1], 0.6),
            stop(300, FIRE[1]),
        ],
        glow: 0.6,
        moon: (520, 86, 30),
        stars: 0.25,
        is_stormy: false,
    },
    Weather {
        stops: &[
            stop(0, INK),
            stop(26, NIGHT[0]),
            stop(84, NIGHT[1]),
            stop(140, NIGHT[2]),
            stop(186, NIGHT[3]),
            stop(222, MIST[0]),
            (246, MIST[0], PLUM[2], 0.55),
            (268, PLUM[2], FIRE[1], 0.35),
            stop(288, FIRE[1]),
            stop(300, FIRE[2]),
        ],
        glow: 1.0,
        moon: (148, 104, 40),
        stars: 0.35,
        is_stormy: false,
    },
    Weather {
        stops: &[
            stop(0, INK),
            stop(60, NIGHT[0]),
            stop(130, NIGHT[1]),
            stop(200, NIGHT[2]),
            stop(250, NIGHT[3]),
            (284, NIGHT[3], MIST[0], 0.6),
            (300, MIST[0], MIST[1], 0.4),
        ],
        glow: 0.15,
        moon: (330, 92, 48),
        stars: 0.6,
        is_stormy: false,
    },
    Weather {
        stops: &[
            stop(0, INK),
            stop(60, NIGHT[0]),
            stop(150, NIGHT[1]),
            stop(220, NIGHT[2]),
            (262, NIGHT[2], PLUM[2], 0.5),
            (286, PLUM[2], FIRE[0], 0.5),
            stop(300, FIRE[1]),
        ],
        glow: 0.55,
        moon: (96, 78, 26),
        stars: 0.1,
        is_stormy: true,
    },
    Weather {
        stops: &[
            stop(0, NIGHT[1]),
            stop(70, NIGHT[2]),
            stop(130, NIGHT[3]),
            stop(190, MIST[0]),
            (226, MIST[1], PLUM[2], 0.2),
            (252, MIST[2], FIRE[5], 0.35),
            (276, FIRE[5], palette::MOON, 0.4),
            (292, FIRE[4], FIRE[5], 0.4),
            stop(300, FIRE[4]),
        ],
        glow: 0.35,
        moon: (90, 66, 24),
        stars: 0.12,
        is_stormy: false,
    },
];

/// A drifting bank of clouds: image, row, speed in pixels per frame.
#[derive(Debug, Clone, Copy)]
struct Bank {
    image: ImageId,
    wide: i32,
    x: f32,
    y: f32,
    drift: f32,
}

/// The sky behind everything.
#[derive(Debug, Clone)]
pub(super) struct Backdrop {
    view: View,
    sky: ImageId,
    land: ImageId,
    banks: Vec<Bank>,
    painted: Option<usize>,
}

impl Backdrop {
    /// Reserves the images of a sky for this view.
    pub(super) fn new(view: View, album: &mut Album) -> Backdrop {
        let sky = album.add(Bitmap::new(view.art_width, view.art_height));
        let land = album.add(Bitmap::new(view.art_width, view.art_height));
        let sizes = [(220, 60), (190, 46), (260, 60), (230, 54), (150, 44)];
        let banks = (0..).zip(sizes).map(|(nth, (wide, tall))| Bank {
            image: album.add(Bitmap::new(wide, tall)),
            wide,
            x: [440.0, 240.0, -60.0, 470.0, 120.0][nth],
            y: [80.0, 140.0, 190.0, 210.0, 60.0][nth],
            drift: [0.10, 0.16, 0.24, 0.3, 0.08][nth],
        });
        Backdrop { view, sky, land, banks: banks.collect(), painted: None }
    }

    /// Paints the sky of a stage unless it is the current one.
    fn paint(&mut self, stage: usize, album: &mut Album) {
        let stage = stage.min(WEATHER.len() - 1);
        if self.painted == Some(stage) {
            return;
        }
        self.painted = Some(stage);
        let weather = &WEATHER[stage];
        air(album.redraw(self.sky), self.view, weather);
        land(album.redraw(self.land), self.view, weather, stage);
        for (nth, bank) in (0..).zip(&self.banks) {
            cloud(album.redraw(bank.image), nth * 7 + stage as i32 * 3, weather);
        }
    }

    /// Draws sky, clouds and land. `shift` is the time in frames; 0 for a still picture.
    pub(super) fn draw(&mut self, stage: usize, shift: f32, album: &mut Album, scene: &mut Scene) {
        self.paint(stage, album);
        let (left, top) = (-self.view.left as f32, -self.view.top as f32);
        scene.image(self.sky, left, top);
        let around = (self.view.art_width + 300) as f32;
        for bank in &self.banks {
            let x = bank.x - shift * bank.drift;
            let x = x - (x / around).floor() * around;
            scene.image(bank.image, x + left - bank.wide as f32, bank.y);
        }
        scene.image(self.land, left, top);
        self.water(stage, shift, scene);
    }

    /// Reflections on the water, and reeds that pass by.
    fn water(&self, stage: usize, shift: f32, scene: &mut Scene) {
        let wide = (self.view.art_width + 80) as f32;
        let left = -self.view.left as f32 - 40.0;
        let cold = stage == 2;
        for nth in 0..70 {
            let deep = chance(nth, 31, 0);
            let y = 304.0 + (deep * deep * 40.0).floor();
            let x = chance(nth, 32, 0) * wide - shift * (0.4 + deep * 1.6);
            let x = x - (x / wide).floor() * wide + left;
            let long = 3.0 + chance(nth, 33, 0) * (6.0 + deep * 26.0);
            let kind = chance(nth, 34, 0);
            let color = match kind {
                kind if cold => {
                    if kind > 0.5 {
                        MIST[2]
                    } else {
                        MIST[1]
                    }
                }
                kind if kind > 0.62 => FIRE[4],
                kind if kind > 0.3 => FIRE[3],
                _ => MIST[1],
            };
            scene.blend(x, y, long.floor(), 1.0, color, 0.6);
        }
    }
}

fn at(stops: &[Stop], y: i32) -> (Color, Color, f32) {
    let mixed = |stop: &Stop| stop.1.mix(stop.2, stop.3);
    let next = stops.iter().position(|stop| stop.0 > y).unwrap_or(stops.len() - 1).max(1);
    let (above, below) = (&stops[next - 1], &stops[next]);
    let part = (y - above.0) as f32 / (below.0 - above.0).max(1) as f32;
    (mixed(above), mixed(below), part.clamp(0.0, 1.0))
}

fn air(out: &mut Bitmap, view: View, weather: &Weather) {
    for row in 0..view.art_height {
        let (above, below, part) = at(weather.stops, row - view.top);
        for x in 0..view.art_width {
            let step = (part * 5.0 + bayer(x, row)).floor() / 5.0;
            out.set(x, row, above.mix(below, step.min(1.0)));
        }
    }
    for nth in 0..260 {
        let x = (chance(nth, 1, 0) * view.art_width as f32) as i32;
        let high = chance(nth, 2, 0);
        let y = (high * high.sqrt() * (190 + view.top) as f32) as i32;
        let bright = chance(nth, 3, 0);
        if bright > 0.3 {
            out.blend(x, y, palette::STAR, if bright > 0.9 { 2.0 * weather.stars } else { weather.stars });
        }
    }
    let (x, y, radius) = weather.moon;
    moon(out, x + view.left, y + view.top, radius);
}

fn moon(out: &mut Bitmap, mx: i32, my: i32, radius: i32) {
    let r = radius as f32;
    let around = (r * 2.5) as i32;
    for y in -around..=around {
        for x in -around..=around {
            let far = ((x * x + y * y) as f32).sqrt();
            if far > r {
                let halo = (r * 2.5 - far) / (r * 1.5);
                if halo > 0.0 && halo * halo * 0.6 > bayer(mx + x, my + y) * 0.9 {
                    let share = if far < r * 1.35 { 0.34 } else { 0.2 };
                    out.blend(mx + x, my + y, MIST[1], share);
                }
                continue;
            }
            let edge = x as f32 * 0.55 - y as f32 * 0.2 + far * 0.55;
            let mut color = palette::MOON;
            if edge > r * 0.76 + bayer(x, y + 64) * r * 0.28 {
                color = color.mix(palette::MOON_SHADE, 0.8);
            }
            let sea = noise((x + 99) as f32 / 9.0, 4) * noise((y + 99) as f32 / 8.0 + x as f32 / 40.0, 6);
            if far < r - 4.0 && sea > 0.36 + bayer(x, y) * 0.22 {
                color = color.mix(palette::MOON_SHADE, 0.6);
            }
            out.set(mx + x, my + y, color);
        }
    }
}

/// A cumulus cloud, lit by the moon from above and the fire from below.
fn cloud(out: &mut Bitmap, seed: i32, weather: &Weather) {
    out.clear();
    let (wide, tall) = (out.width() as f32, out.height() as f32);
    let h = tall * 0.62;
    let (cx, cy) = (wide / 2.0, tall * 0.72);
    let mut heads: Vec<(f32, f32, f32)> = Vec::new();
    let count = (wide / 13.0) as i32;
    for nth in 0..count {
        let along = (nth as f32 + 0.5) / count as f32;
        let arch = (4.0 * along * (1.0 - along)).max(0.0).sqrt();
        let x = cx + (along - 0.5) * wide * 0.9 + (chance(nth, 1, seed) - 0.5) * 12.0;
        let radius = (h * (0.28 + 0.34 * chance(nth, 2, seed)) * (0.45 + 0.6 * arch)).max(4.0);
        heads.push((x, cy - arch * h * (0.2 + 0.5 * chance(nth, 3, seed)) * 0.8, radius));
    }
    let storm = [MIST[1], MIST[0], NIGHT[3], NIGHT[2], NIGHT[1]];
    let fair = [MIST[2], MIST[1], MIST[0], NIGHT[3].mix(MIST[0], 0.5), NIGHT[3].mix(PLUM[2], 0.5)];
    let ramp = if weather.is_stormy { storm } else { fair };
    let floor = cy + h * 0.3;
    for y in 0..out.height() {
        for x in 0..out.width() {
            let mut best: Option<(f32, f32, f32)> = None;
            for &(hx, hy, radius) in &heads {
                let (dx, dy) = (x as f32 - hx, y as f32 - hy);
                let far = dx * dx + dy * dy;
                if far <= radius * radius {
                    let near = (radius * radius - far).sqrt() + hy * 0.35;
                    if best.is_none_or(|best| near > best.0) {
                        best = Some((near, dx / radius, dy / radius));
                    }
                }
            }
            let Some((_, nx, ny)) = best.filter(|_| (y as f32) < floor) else { continue };
            let lit = -ny * 0.75 - nx * 0.25 + 0.25;
            let deep = (y as f32 - (cy - h)) / (h * 1.4);
            let shade = ((1.0 - lit) * 0.42 + deep * 0.55) * ramp.len() as f32 + bayer(x, y) - 0.5;
            let mut color = ramp[(shade.max(0.0) as usize).min(ramp.len() - 1)];
            let under = (y as f32 - (floor - h * 0.42)) / (h * 0.42) + ny.max(0.0) * 0.35;
            if under > 0.0 && under * weather.glow > bayer(x + 1, y + 2) {
                color = color.mix(if under > 0.75 { FIRE[2] } else { FIRE[1] }, 0.5);
            }
            if floor - (y as f32) < 3.0 && chance(x, y, seed) > (floor - y as f32) / 3.0 {
                continue;
            }
            out.set(x, y, color);
        }
    }
}

/// Trees, fires and their reflections, banks and reeds.
fn land(out: &mut Bitmap, view: View, weather: &Weather, stage: usize) {
    out.clear();
    let (left, top) = (view.left, view.top);
    let dark = PLUM[2].mix(FIRE[0], 0.4).mix(NIGHT[1], 1.0 - weather.glow.max(0.4));
    let bottom = view.art_height;
    for column in 0..view.art_width {
        let x = column - left;
        let along = x as f32;
        let mut tall = HORIZON as f32 - noise(along / 50.0, 41) * 4.0;
        let grove = noise(along / 30.0, 43);
        if grove > 0.4 {
            tall -= ((grove - 0.4) / 0.6).sqrt() * 9.0 * (0.7 + 0.5 * noise(along / 8.0, 44));
            tall -= noise(along / 3.0, 45) * 2.0;
        }
        for y in tall as i32..=303 {
            out.set(column, y + top, dark);
        }
        let (near, far) = if stage == 2 { (NIGHT[1], MIST[0]) } else { (PLUM[1], FIRE[1]) };
        for row in 303 + top..bottom {
            let deep = (row - top - 303) as f32 / (HEIGHT - 303) as f32;
            let step = ((deep * 6.0 + bayer(column, row)).floor() / 5.0).clamp(0.0, 1.0);
            out.set(column, row, far.mix(near, step));
        }
    }
    let fires = (26.0 * weather.glow) as i32;
    for nth in 0..fires {
        let x = (chance(nth, 21, 0) * WIDTH as f32) as i32 + left;
        let tall = 2 + (chance(nth, 22, 0) * 5.0) as i32;
        for up in 0..tall {
            let color = [FIRE[5], FIRE[4], FIRE[3]][(up * 3 / tall) as usize % 3];
            let half = (tall - up) / 2;
            out.rect(x - half, 299 + top - up, 2 * half + 1, 1, color);
        }
    }
    if stage == 1 {
        mill(out, 500 + left, 312 + top);
    }
    for nth in 0..150 {
        let x0 = chance(nth, 51, 0) * view.art_width as f32;
        let tall = 8.0 + chance(nth, 52, 0) * 26.0;
        let lean = -4.0 - chance(nth, 53, 0) * 12.0;
        let base = HEIGHT + top;
        for up in 0..tall as i32 {
            let part = up as f32 / tall;
            let wide = if part < 0.6 { 2 } else { 1 };
            out.rect((x0 + lean * part * part) as i32, base - up, wide, 1, INK.mix(PLUM[0], 0.6));
        }
    }
    for column in 0..view.art_width {
        let bank = HEIGHT + top - 4 - (noise(column as f32 / 14.0, 66) * 6.0) as i32;
        for row in bank..bottom {
            out.set(column, row, INK.mix(PLUM[0], 0.5));
        }
    }
}

/// The mill on the horizon of the second stage.
fn mill(out: &mut Bitmap, x: i32, y: i32) {
    let color = PLUM[0].mix(PLUM[1], 0.5);
    for down in 0..40 {
        let half = 5 + down * 18 / 100;
        out.rect(x - half, y - 40 + down, half * 2, 1, color);
        out.set(x + half - 1, y - 40 + down, FIRE[2]);
    }
    out.rect(x - 6, y - 45, 12, 5, color);
    out.rect(x - 1, y - 18, 2, 3, FIRE[4]);
    for (dx, dy) in [(26, 9), (-9, 26), (-26, -9), (9, -26)] {
        out.line((x, y - 43), (x + dx, y - 43 + dy), color);
        out.line((x + dx / 3, y - 41 + dy / 3), (x + dx, y - 41 + dy), color);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stages_have_skies_of_their_own() {
        let view = View::at_scale(640, 360, WIDTH, HEIGHT, 1, 1);
        let mut seen = Vec::new();
        for stage in 0..WEATHER.len() {
            let mut album = Album::default();
            let mut backdrop = Backdrop::new(view, &mut album);
            backdrop.draw(stage, 0.0, &mut album, &mut Scene::default());
            let sky = album.image(backdrop.sky).clone();
            assert!(sky.pixels().all(|pixel| pixel.is_some()));
            assert!(!seen.contains(&sky));
            seen.push(sky);
        }
    }
}
