//! Backdrop of a stage: sky, moon, clouds, and the burning land below.
//!
//! Painted once for a [`Sky`] and a screen; clouds and water move as images. Absent: what flies.

use gaggle_scene::{Album, Bitmap, Color, ImageId, Scene, View, bayer, chance, noise, palette};

use super::land;

/// The row of the horizon.
pub(super) const HORIZON: i32 = 300;
/// A color stop: its row, its color, what is mixed in, and how much.
type Stop = (i32, Color, Color, f32);

/// Steps from the last night to dawn.
pub(super) const DAWN_STEPS: u8 = 12;
/// Share by which a quiet sky is darker.
const QUIET: f32 = 0.4;

/// Which sky is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sky {
    /// The stage from 0.
    pub(super) stage: usize,
    /// How far the dawn of the last stage has come up, 0 to [`DAWN_STEPS`].
    pub(super) dawn: u8,
    /// Darker, for players whom a bright background disturbs.
    pub(super) is_quiet: bool,
}

impl Sky {
    /// How much of the dawn is there, 0 to 1; 1 in a stage without one.
    pub(super) fn light(self) -> f32 {
        if self.stage == LAST { f32::from(self.dawn.min(DAWN_STEPS)) / f32::from(DAWN_STEPS) } else { 1.0 }
    }

    /// A color of this sky.
    pub(super) fn toned(self, color: Color) -> Color {
        if self.is_quiet { color.mix(Color::hex(0), QUIET) } else { color }
    }
}

/// Index of the last stage, in which night turns to dawn.
pub(super) const LAST: usize = 4;
/// Index of the stage whose night sky the last one begins with.
pub(super) const NIGHT_BEFORE: usize = 2;

/// Colors and lights of a sky.
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
    painted: Option<Sky>,
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

    /// Paints the sky, unless the last one painted was the same.
    fn paint(&mut self, sky: Sky, album: &mut Album) {
        if self.painted == Some(sky) {
            return;
        }
        self.painted = Some(sky);
        let weather = &WEATHER[sky.stage.min(LAST)];
        air(album.redraw(self.sky), self.view, weather, sky);
        land::paint(album.redraw(self.land), self.view, weather.glow, sky);
        for (nth, bank) in (0..).zip(&self.banks) {
            cloud(album.redraw(bank.image), nth * 7 + sky.stage as i32 * 3, weather, sky);
        }
    }

    /// Draws sky, clouds and land. `shift` is the time in frames; with 0 they stand still.
    pub(super) fn draw(&mut self, sky: Sky, shift: f32, album: &mut Album, scene: &mut Scene) {
        self.paint(sky, album);
        let (left, top) = (-self.view.left as f32, -self.view.top as f32);
        scene.image(self.sky, left, top);
        let around = (self.view.art_width + 300) as f32;
        for bank in &self.banks {
            let x = bank.x - shift * bank.drift;
            let x = x - (x / around).floor() * around;
            scene.image(bank.image, x + left - bank.wide as f32, bank.y);
        }
        self.wind(sky, shift, scene);
        scene.image(self.land, left, top);
        self.water(sky, shift, scene);
        if sky.stage != LAST && sky.stage != NIGHT_BEFORE {
            self.sparks(sky, shift, scene);
        }
    }

    /// Strokes of wind that rush by, faint.
    fn wind(&self, sky: Sky, shift: f32, scene: &mut Scene) {
        let wide = (self.view.art_width + 200) as f32;
        for nth in 0..22 {
            let (y, long) = (30.0 + (chance(nth, 61, 0) * 240.0).floor(), 20.0 + chance(nth, 62, 0) * 60.0);
            let x = chance(nth, 63, 0) * wide - shift * (1.2 + chance(nth, 64, 0));
            let x = (x - (x / wide).floor() * wide - 100.0 - self.view.left as f32).floor();
            let third = (long / 3.0).floor();
            scene.blend(x, y, long.floor(), 1.0, sky.toned(MIST[2]), 0.06);
            scene.blend(x + third, y, third, 1.0, sky.toned(MIST[2]), 0.1);
        }
    }

    /// Sparks that rise from the burning fen. They stay below the flight: what is orange hurts.
    fn sparks(&self, sky: Sky, shift: f32, scene: &mut Scene) {
        let wide = self.view.art_width as f32;
        for nth in 0..46 {
            let up = chance(nth, 71, 0) * 74.0 + shift * (0.1 + 0.16 * chance(nth, 72, 0));
            let up = up - (up / 74.0).floor() * 74.0;
            let x = chance(nth, 73, 0) * wide + shift * 0.2 + up * 0.3;
            let x = x - (x / wide).floor() * wide - self.view.left as f32;
            let color = if up < 24.0 { FIRE[4] } else { FIRE[3].mix(FIRE[1], up / 90.0) };
            scene.blend(x.floor(), 299.0 - up.floor(), 1.0, 1.0, sky.toned(color), 1.0 - up / 90.0);
        }
    }

    /// Light on the water, and reeds that rush by.
    fn water(&self, sky: Sky, shift: f32, scene: &mut Scene) {
        let wide = (self.view.art_width + 80) as f32;
        let left = -self.view.left as f32 - 40.0;
        let cold = sky.stage == NIGHT_BEFORE || sky.stage == LAST && sky.light() < 0.5;
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
            scene.blend(x, y, long.floor(), 1.0, sky.toned(color), 0.6);
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

fn air(out: &mut Bitmap, view: View, weather: &Weather, sky: Sky) {
    let light = sky.light();
    for row in 0..view.art_height {
        let (above, below, part) = at(weather.stops, row - view.top);
        let night = at(WEATHER[NIGHT_BEFORE].stops, row - view.top);
        for x in 0..view.art_width {
            let step = |part: f32| ((part * 5.0 + bayer(x, row)).floor() / 5.0).min(1.0);
            let mut color = above.mix(below, step(part));
            if light < 1.0 {
                color = night.0.mix(night.1, step(night.2)).mix(color, light);
            }
            out.set(x, row, sky.toned(color));
        }
    }
    let stars = weather.stars + (WEATHER[NIGHT_BEFORE].stars - weather.stars) * (1.0 - light);
    haze(out, view, weather.glow * light, sky);
    for nth in 0..260 {
        let x = (chance(nth, 1, 0) * view.art_width as f32) as i32;
        let high = chance(nth, 2, 0);
        let y = (high * high.sqrt() * (190 + view.top) as f32) as i32;
        let bright = chance(nth, 3, 0);
        if bright > 0.3 {
            let share = if bright > 0.9 { 2.0 * stars } else { stars };
            out.blend(x, y, sky.toned(palette::STAR), share);
        }
    }
    let (x, y, radius) = weather.moon;
    moon(out, x + view.left, y + view.top, radius, sky);
}

/// Fire that lights the air over the horizon, here more and there less.
fn haze(out: &mut Bitmap, view: View, glow: f32, sky: Sky) {
    for y in HORIZON - 100..HORIZON {
        let hot = FIRE[1].mix(FIRE[3], (y - HORIZON + 24) as f32 / 24.0);
        for column in 0..view.art_width {
            let reach = 90.0 * (0.55 + 0.45 * noise((column - view.left) as f32 / 70.0 + 3.0, 15));
            let near = (1.0 - (HORIZON - y) as f32 / reach).max(0.0);
            let step = (near * near * 0.8 * glow * 5.0 + bayer(column, y)).floor() / 5.0;
            if step > 0.0 {
                out.blend(column, y + view.top, sky.toned(hot), (step * 0.6).min(0.65));
            }
        }
    }
}

fn moon(out: &mut Bitmap, mx: i32, my: i32, radius: i32, sky: Sky) {
    let r = radius as f32;
    let around = (r * 2.5) as i32;
    for y in -around..=around {
        for x in -around..=around {
            let far = ((x * x + y * y) as f32).sqrt();
            if far > r {
                let halo = (r * 2.5 - far) / (r * 1.5);
                if halo > 0.0 && halo * halo * 0.6 > bayer(mx + x, my + y) * 0.9 {
                    let share = if far < r * 1.35 { 0.34 } else { 0.2 };
                    out.blend(mx + x, my + y, sky.toned(MIST[1]), share);
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
            out.set(mx + x, my + y, sky.toned(color));
        }
    }
}

/// A cumulus: round heads lit by the moon from above, by the fire from below.
fn cloud(out: &mut Bitmap, seed: i32, weather: &Weather, sky: Sky) {
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
    let mut ramp = if weather.is_stormy { storm } else { fair };
    let glow = weather.glow * sky.light();
    if sky.stage == LAST {
        // Tones from the lit heads of the cloud down to its base.
        let lit = [FIRE[6], FIRE[5], FIRE[4], PLUM[2], PLUM[2]];
        let share = [0.45, 0.4, 0.3, 0.35, 0.3].map(|share: f32| share * sky.light());
        ramp = std::array::from_fn(|tone| ramp[tone].mix(lit[tone], share[tone]));
    }
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
            if under > 0.0 && under * glow > bayer(x + 1, y + 2) {
                color = color.mix(if under > 0.75 { FIRE[2] } else { FIRE[1] }, 0.5);
            }
            if floor - (y as f32) < 3.0 && chance(x, y, seed) > (floor - y as f32) / 3.0 {
                continue;
            }
            out.set(x, y, sky.toned(color));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sky::{HEIGHT, WIDTH};

    const USUAL: Sky = Sky { stage: 0, dawn: 0, is_quiet: false };

    fn painted(sky: Sky) -> Bitmap {
        let view = View::at_scale(640, 360, WIDTH, HEIGHT, 1, 1);
        let mut album = Album::default();
        let mut backdrop = Backdrop::new(view, &mut album);
        backdrop.draw(sky, 0.0, &mut album, &mut Scene::default());
        album.image(backdrop.sky).clone()
    }

    /// The light of a sky: the sum of all channels of all pixels.
    fn light(sky: Sky) -> u64 {
        painted(sky).pixels().flatten().flat_map(Color::parts).map(u64::from).sum()
    }

    #[test]
    fn stages_have_skies_of_their_own() {
        let mut seen = Vec::new();
        for stage in 0..WEATHER.len() {
            let sky = painted(Sky { stage, dawn: DAWN_STEPS, ..USUAL });
            assert!(sky.pixels().all(|pixel| pixel.is_some()));
            assert!(!seen.contains(&sky));
            seen.push(sky);
        }
    }

    #[test]
    fn each_step_of_dawn_is_lighter() {
        let lights: Vec<u64> =
            (0..=DAWN_STEPS).map(|dawn| light(Sky { stage: LAST, dawn, ..USUAL })).collect();
        assert!(lights.windows(2).all(|two| two[0] < two[1]), "{lights:?}");
    }

    #[test]
    fn quiet_sky_is_two_fifths_darker() {
        let (usual, quiet) = (light(USUAL), light(Sky { is_quiet: true, ..USUAL }));
        assert!((55..=68).contains(&(quiet * 100 / usual)), "{quiet} of {usual}");
    }
}
