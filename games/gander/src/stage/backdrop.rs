//! Backdrop of the fen: sky, moon, trees, mist, a mill, and firelight on them.
//!
//! Called by `stage.rs`. Still parts are painted once per view, moving ones onto a copy of them.
//! Absent: game state.

use gaggle_scene::{Bitmap, Color, View, bayer, chance, noise, palette, sine};
use palette::{FIRE, MIST, MOON, MOON_SHADE, NIGHT, PLUM, STAR};

use crate::arena;

/// Center and radius of the moon, in pixels.
const MOON_AT: (i32, i32) = (283, 40);
const MOON_RADIUS: i32 = 21;
/// Place of the mill's foot, in pixels.
const MILL_AT: (i32, i32) = (100, 152);
/// Art pixels beyond the sides over which the picture grows dark.
pub(super) const BLEED: i32 = 22;

/// Backdrop for one view.
#[derive(Debug, Clone)]
pub(super) struct Backdrop {
    left: i32,
    top: i32,
    still: Bitmap,
    /// Bands of mist, of which only the clouds drift.
    bands: [Band; 3],
}

/// A band of mist.
#[derive(Debug, Clone, Copy)]
struct Band {
    y: i32,
    half: i32,
    color: Color,
    share: f32,
    purpose: i32,
    /// Drift in pixels a frame.
    drift: f32,
}

impl Backdrop {
    pub(super) fn paint(view: View) -> Backdrop {
        let (left, top) = (view.left, view.top);
        let mut still = Bitmap::new(view.art_width, view.art_height);
        sky(&mut still, top);
        moon(&mut still, left, top);
        alders(
            &mut still,
            left,
            top,
            &Land { base: 137.0, height: 9.0, purpose: 11, scale: 60.0, shift: 40 },
            MIST[0].mix(NIGHT[3], 0.35),
        );
        water(&mut still, top);
        mill(&mut still, left + MILL_AT.0, top + MILL_AT.1);
        alders(
            &mut still,
            left,
            top,
            &Land { base: 157.0, height: 15.0, purpose: 23, scale: 48.0, shift: 60 },
            NIGHT[3].mix(PLUM[1], 0.62),
        );
        alders(
            &mut still,
            left,
            top,
            &Land { base: 186.0, height: 22.0, purpose: 37, scale: 38.0, shift: 20 },
            PLUM[0].mix(PLUM[1], 0.6),
        );
        firelight(&mut still, left, top);
        reeds(&mut still, left - 18, top + 222, 24, 5, 1.0);
        reeds(&mut still, left + arena::WIDTH + 20, top + 222, 26, 9, -1.0);
        darken_bleed(&mut still, left);
        let bands = [
            Band { y: top + 132, half: 9, color: MIST[1], share: 0.5, purpose: 3, drift: 0.05 },
            Band { y: top + 157, half: 12, color: MIST[1], share: 0.22, purpose: 8, drift: 0.09 },
            Band { y: top + 180, half: 8, color: FIRE[1], share: 0.4, purpose: 12, drift: -0.07 },
        ];
        Backdrop { left, top, still, bands }
    }

    /// Draws the backdrop at `time`, in frames.
    pub(super) fn draw(&self, out: &mut Bitmap, time: f32) {
        out.copy_from(&self.still);
        self.stars(out, time);
        skein(out, self.left, self.top, time);
        sails(out, self.left + MILL_AT.0, self.top + MILL_AT.1, time);
        for band in &self.bands {
            mist(out, band, time);
        }
    }

    fn stars(&self, out: &mut Bitmap, time: f32) {
        let (width, height) = (out.width(), self.top + 96);
        for star in 0..out.width() * out.height().min(260) / 900 {
            let x = (chance(star, 1, 0) * width as f32) as i32;
            let high = chance(star, 2, 0);
            let y = (high * high.sqrt() * height as f32) as i32;
            let near_moon = (x - self.left - MOON_AT.0).pow(2) + (y - self.top - MOON_AT.1).pow(2)
                < (MOON_RADIUS + 3).pow(2);
            let bright = chance(star, 3, 0) + 0.25 * sine(time * 0.03 + star as f32);
            if near_moon || bright < 0.25 {
                continue;
            }
            out.blend(x, y, STAR, if bright > 0.9 { 0.95 } else { 0.4 });
            if bright > 1.08 {
                for (dx, dy) in [(-1, 0), (1, 0), (0, -1), (0, 1)] {
                    out.blend(x + dx, y + dy, STAR, 0.3);
                }
            }
        }
    }
}

fn sky(out: &mut Bitmap, top: i32) {
    let stops = [
        (-140, palette::INK),
        (-40, NIGHT[0]),
        (10, NIGHT[1]),
        (52, NIGHT[2]),
        (92, NIGHT[3]),
        (122, MIST[0]),
        (138, MIST[0].mix(PLUM[2], 0.5)),
        (160, PLUM[2]),
        (186, FIRE[0]),
        (230, FIRE[1]),
    ];
    for y in 0..out.height() {
        let row = y - top;
        let next = stops.iter().position(|(start, _)| row <= *start).unwrap_or(stops.len() - 1).max(1);
        let ((from, above), (to, below)) = (stops[next - 1], stops[next]);
        let share = ((row - from) as f32 / (to - from) as f32).clamp(0.0, 1.0);
        for x in 0..out.width() {
            let step = (share * 4.0 + bayer(x, y)).floor() / 4.0;
            out.set(x, y, above.mix(below, step));
        }
    }
}

/// Draws the moon, with a sleeping goose in its gray.
fn moon(out: &mut Bitmap, left: i32, top: i32) {
    let (at_x, at_y) = (left + MOON_AT.0, top + MOON_AT.1);
    for y in -60..=60 {
        for x in -60..=60_i32 {
            let far = ((x * x + y * y) as f32).sqrt();
            let (x, y) = (at_x + x, at_y + y);
            if far >= MOON_RADIUS as f32 - 0.05 && far < 58.0 {
                let glow = (58.0 - far) / 37.0;
                if glow * glow * 0.62 > bayer(x, y) * 0.9 {
                    out.blend(x, y, MIST[1], if far < (MOON_RADIUS + 9) as f32 { 0.34 } else { 0.2 });
                }
            } else if far < MOON_RADIUS as f32 - 0.05 {
                let (dx, dy) = ((x - at_x) as f32, (y - at_y) as f32);
                let shaded = dx * 0.55 - dy * 0.2 + far * 0.55 > 16.0 + bayer(x - at_x, y - at_y) * 6.0;
                out.set(x, y, if shaded { MOON.mix(MOON_SHADE, 0.8) } else { MOON });
            }
        }
    }
    const ASLEEP: [&str; 9] = [
        "........gg......",
        ".......gggg.....",
        "......ggggg.....",
        "......gg........",
        "..g...gg........",
        "..gggggggggg....",
        "...ggggggggggg..",
        "....gggggggggg..",
        "......gggggg....",
    ];
    let gray = MOON.mix(MOON_SHADE, 0.75);
    out.stamp(at_x - 9, at_y - 3, &ASLEEP, |_| gray);
}

/// Draws a skein of seven geese far away.
fn skein(out: &mut Bitmap, left: i32, top: i32, time: f32) {
    let drift = (time * 0.05) % 560.0 - 90.0;
    let (x, y) = (left + 100 + drift as i32, top + 24);
    for (n, (dx, dy)) in
        [(0, 0), (-6, 3), (-12, 6), (-18, 9), (-5, -4), (-10, -8), (-24, 12)].into_iter().enumerate()
    {
        let up = ((time / 9.0) as i32 + n as i32) % 2;
        let (x, y) = (x + dx, y + dy);
        out.set(x, y, MIST[1]);
        out.set(x - 1, y - up, MIST[1]);
        out.set(x + 1, y - up, MIST[1]);
        if up == 0 {
            out.set(x - 2, y - 1, MIST[1]);
            out.set(x + 2, y - 1, MIST[1]);
        }
    }
}

/// A skyline of flat land with clumps of trees.
struct Land {
    base: f32,
    height: f32,
    purpose: i32,
    scale: f32,
    shift: i32,
}

fn alders(out: &mut Bitmap, left: i32, top: i32, land: &Land, color: Color) {
    for x in 0..out.width() {
        let along = x + land.shift - left;
        let u = along as f32;
        let mut y = land.base - noise(u / land.scale, land.purpose) * land.height * 0.35;
        let clump = noise(u / 34.0, land.purpose + 2);
        if clump > 0.42 {
            let tall = ((clump - 0.42) / 0.58).sqrt();
            y -= tall * land.height * (0.75 + 0.5 * noise(u / 9.0, land.purpose + 3));
            y -= noise(u / 3.1, land.purpose + 4) * 3.0;
        }
        if chance(along, 9, land.purpose) > 0.8 {
            y -= 1.0 + chance(along, 8, land.purpose) * 3.0;
        }
        let y = (y + 0.5).floor() as i32 + top;
        out.rect(x, y, 1, out.height() - y, color);
    }
}

/// Draws glints on the water between the fields.
fn water(out: &mut Bitmap, top: i32) {
    for n in 0..out.width() / 16 {
        let y = top + 139 + (chance(n, 7, 0) * 12.0) as i32;
        let x = (chance(n, 6, 0) * out.width() as f32) as i32;
        for along in 0..4 + (chance(n, 5, 0) * 16.0) as i32 {
            out.blend(x + along, y, MIST[2], 0.35);
        }
    }
}

const fn mill_color() -> Color {
    NIGHT[3].mix_256(PLUM[1], 141)
}

fn mill(out: &mut Bitmap, x: i32, y: i32) {
    let color = mill_color();
    for down in 0..30 {
        let half = (4.0 + down as f32 * 0.16 + 0.5) as i32;
        out.rect(x - half, y - 30 + down, half * 2, 1, color);
        out.set(x + half - 1, y - 30 + down, MIST[0]);
    }
    out.rect(x - 5, y - 34, 10, 4, color);
    out.rect(x - 3, y - 36, 6, 2, color);
    out.rect(x - 1, y - 12, 2, 1, FIRE[4]);
    out.rect(x - 1, y - 11, 2, 1, FIRE[3]);
}

/// Draws the mill's sails, which turn once in 17 seconds.
fn sails(out: &mut Bitmap, x: i32, y: i32, time: f32) {
    let color = mill_color();
    for sail in 0..4 {
        let angle = time * 0.006 + sail as f32 * std::f32::consts::FRAC_PI_2 + 0.5;
        let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2), sine(angle));
        let mut put = |along: f32, aside: f32| {
            let (right, down) = (dx * along - dy * aside, dy * along + dx * aside);
            out.set(x + right as i32, y - 32 + down as i32, color);
        };
        for along in 2..21 {
            put(along as f32, 0.0);
            if along > 6 {
                put(along as f32, 1.6);
                if along % 3 != 0 {
                    put(along as f32, 3.0);
                }
            }
        }
    }
}

fn mist(out: &mut Bitmap, band: &Band, time: f32) {
    for x in 0..out.width() {
        let along = x as f32 + time * band.drift;
        let cloud = noise(along / 46.0 + band.purpose as f32 * 9.0, band.purpose) * 0.7
            + noise(along / 15.0, band.purpose + 5) * 0.3;
        let dense = cloud * 1.7 - 0.35;
        if dense <= 0.0 {
            continue;
        }
        for dy in -band.half..=band.half {
            if (1.0 - dy.abs() as f32 / band.half as f32) * dense > bayer(x, band.y + dy) {
                out.blend(x, band.y + dy, band.color, band.share);
            }
        }
    }
}

/// Draws firelight in the air, strongest above the pits.
fn firelight(out: &mut Bitmap, left: i32, top: i32) {
    let bell = |x: f32, middle: f32| {
        // A bell curve without `exp`, which differs between platforms.
        let far = (x - middle) / 66.0;
        1.0 / (1.0 + far * far * (1.0 + far * far * 0.5))
    };
    for y in (top + 96).max(0)..out.height() {
        for x in 0..out.width() {
            let (across, row) = ((x - left) as f32, y - top);
            let pit = bell(across, 22.0).max(bell(across, 352.0)).max(0.42);
            let high = (1.0 - (arena::FIRE - row) as f32 / (108.0 * (0.6 + 0.5 * pit))).max(0.0);
            let glow = high * high * (0.55 + 0.6 * pit);
            if glow > 0.02 {
                let step = (glow * 5.0 + bayer(x, y)).floor() / 5.0;
                let warm = (((row - 158) as f32 / 9.0 + bayer(x + 1, y + 2)).floor() / 5.0).clamp(0.0, 1.0);
                out.blend(x, y, FIRE[1].mix(FIRE[2], warm), (step * 0.5).min(0.6));
            }
        }
    }
}

fn reeds(out: &mut Bitmap, x: i32, y: i32, count: i32, purpose: i32, dir: f32) {
    for reed in 0..count {
        let height = 18.0 + chance(reed, 1, purpose) * 34.0;
        let foot = x as f32 + (chance(reed, 2, purpose) - 0.5) * 44.0;
        let lean = (chance(reed, 3, purpose) - 0.3) * 9.0 * dir;
        let (mut at_x, mut at_y) = (0, 0);
        for up in 0..height as i32 {
            let part = up as f32 / height;
            at_x = (foot + lean * part * part) as i32;
            at_y = y - up;
            let color = if part < 0.3 { FIRE[1].mix(PLUM[0], 0.35 + part) } else { PLUM[0] };
            out.set(at_x, at_y, color);
            if part < 0.5 {
                out.set(at_x + 1, at_y, PLUM[0]);
            }
        }
        if chance(reed, 4, purpose) > 0.5 {
            for up in 0..6 {
                out.set(at_x, at_y - up + 2, palette::PEAT[1]);
                out.set(at_x + 1, at_y - up + 2, if up == 5 { palette::PEAT[4] } else { palette::PEAT[2] });
            }
        }
    }
}

/// Darkens what lies beyond the sides, where wrapping geese fade.
fn darken_bleed(out: &mut Bitmap, left: i32) {
    for x in 0..out.width() {
        let beyond = (left - x).max(x - (left + arena::WIDTH - 1));
        if beyond <= 0 {
            continue;
        }
        let dark = (beyond as f32 / BLEED as f32).min(1.0);
        for y in 0..out.height() {
            if dark > bayer(x, y) {
                out.blend(x, y, palette::INK, 0.5);
            }
        }
    }
}
