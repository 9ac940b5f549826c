//! Picture of Old Hern, drawn feather by feather, lit by the moon above and the fire below.
//!
//! Painted once for an album; called by `bosses`. Absent: where it flies.

use gaggle_scene::{Bitmap, Color, bayer, noise, palette, sine};

const fn hex(rgb: u32) -> Color {
    Color::hex(rgb)
}

const RAMP: [Color; 10] = [
    hex(0xe4_dcec),
    hex(0xb9_aec6),
    hex(0x8d_80a4),
    hex(0x6a_5d84),
    hex(0x51_466a),
    hex(0x40_364f),
    hex(0x33_293f),
    hex(0x5a_2b34),
    hex(0xa0_3c28),
    hex(0xe0_662c),
];
const DARK: [Color; 10] = [
    hex(0x9a_8fb0),
    hex(0x6e_6285),
    hex(0x51_466a),
    hex(0x40_364f),
    hex(0x35_2c44),
    hex(0x2c_2438),
    hex(0x24_1d30),
    hex(0x42_222c),
    hex(0x7a_2e24),
    hex(0xb8_441f),
];
const BONE: [Color; 9] = [
    hex(0xff_f3d0),
    hex(0xf0_dfb4),
    hex(0xd8_c49a),
    hex(0xb9_a57a),
    hex(0x9a_865f),
    hex(0x7a_6648),
    hex(0x8a_5a38),
    hex(0xd9_8a40),
    hex(0xff_a050),
];
/// Rows that the image has above the origin of its coordinates.
const ABOVE: i32 = 60;
/// Throat in the image, in pixels.
pub(super) const THROAT: (i32, i32) = (50, 66 + ABOVE);

fn cosine(angle: f32) -> f32 {
    sine(angle + std::f32::consts::FRAC_PI_2)
}

fn pick(ramp: &[Color], value: f32, x: i32, y: i32) -> Color {
    let nth = value * ramp.len() as f32 + (bayer(x, y) - 0.5) * 0.95;
    ramp[(nth.max(0.0) as usize).min(ramp.len() - 1)]
}

/// A feather: root, direction in degrees, length and width.
struct Feather<'a> {
    x: f32,
    y: f32,
    degrees: f32,
    long: f32,
    wide: f32,
    ramp: &'a [Color],
    bend: f32,
    tone: f32,
    is_beak: bool,
}

impl<'a> Feather<'a> {
    fn new((x, y): (f32, f32), degrees: f32, long: f32, wide: f32, ramp: &'a [Color]) -> Feather<'a> {
        Feather { x, y, degrees, long, wide, ramp, bend: 0.0, tone: 0.0, is_beak: false }
    }

    fn draw(&self, out: &mut Bitmap) {
        let angle = self.degrees * std::f32::consts::PI / 180.0;
        let (dx, dy) = (cosine(angle), sine(angle));
        let reach = self.long + self.wide + 4.0;
        for y in (self.y - reach) as i32..=(self.y + reach) as i32 {
            for x in (self.x - reach) as i32..=(self.x + reach) as i32 {
                let (px, py) = (x as f32 - self.x, y as f32 - self.y);
                let along = px * dx + py * dy;
                if !(0.0..=self.long).contains(&along) {
                    continue;
                }
                let part = along / self.long;
                let across = -px * dy + py * dx - self.bend * part * part * self.long;
                let late = ((part - 0.35) / 0.65).max(0.0);
                let shape = if self.is_beak {
                    (1.0 - part * 0.97).max(0.06)
                } else {
                    (0.45 + part * 2.0).min(1.0) * (1.0 - late * late).max(0.0).sqrt()
                };
                let half = self.wide * shape;
                if across.abs() > half {
                    continue;
                }
                let lean = if half < 0.01 { 0.0 } else { across / half };
                let lit = lean * dx;
                let mut color = pick(self.ramp, 0.5 + lit * 0.42 + self.tone, x, y);
                let shaft = across.abs() < 0.5 && part < 0.9 && self.long > 40.0 && !self.is_beak;
                if shaft || half - across.abs() < 1.1 && lit > 0.0 {
                    color = color.mix(palette::INK, if shaft { 0.35 } else { 0.45 });
                }
                out.set(x, y + ABOVE, color);
            }
        }
    }
}

/// Draws a limb through points with radii.
fn tube(out: &mut Bitmap, points: &[(f32, f32, f32)], ramp: &[Color], tone: f32) {
    for pair in points.windows(2) {
        let ((x0, y0, r0), (x1, y1, r1)) = (pair[0], pair[1]);
        let far = ((x1 - x0) * (x1 - x0) + (y1 - y0) * (y1 - y0)).sqrt();
        let steps = (far * 2.0) as i32 + 1;
        for step in 0..=steps {
            let part = step as f32 / steps as f32;
            let (cx, cy, r) = (x0 + (x1 - x0) * part, y0 + (y1 - y0) * part, r0 + (r1 - r0) * part);
            for y in -(r as i32)..=r as i32 {
                for x in -(r as i32)..=r as i32 {
                    if ((x * x + y * y) as f32) <= r * r {
                        let (px, py) = ((cx + x as f32).round() as i32, (cy + y as f32).round() as i32);
                        out.set(px, py + ABOVE, pick(ramp, 0.5 + y as f32 / r * 0.46 + tone, px, py));
                    }
                }
            }
        }
    }
}

const NECK: [(f32, f32, f32); 7] = [
    (146.0, 140.0, 19.0),
    (120.0, 146.0, 17.0),
    (98.0, 130.0, 14.0),
    (104.0, 104.0, 12.0),
    (116.0, 84.0, 11.5),
    (108.0, 64.0, 12.0),
    (90.0, 58.0, 12.0),
];

/// The whole bird, with its beak open or shut.
pub(super) fn picture(is_shut: bool) -> Bitmap {
    let mut out = Bitmap::new(330, 290);
    wing(&mut out, true);
    tube(
        &mut out,
        &[
            (132.0, 136.0, 20.0),
            (160.0, 148.0, 31.0),
            (192.0, 156.0, 29.0),
            (222.0, 160.0, 18.0),
            (240.0, 164.0, 9.0),
        ],
        &RAMP,
        0.03,
    );
    for row in 0..7 {
        for nth in 0..9 {
            let (x, y) = (
                136.0 + nth as f32 * 11.0 + (row % 2) as f32 * 5.0,
                136.0 + row as f32 * 7.0 + nth as f32 * 2.4,
            );
            if out.get(x as i32, y as i32 + 9 + ABOVE).is_some() {
                let ramp = if row > 4 { &DARK } else { &RAMP };
                let feather = Feather::new((x, y), 64.0 - nth as f32 * 5.0, 11.0, 4.4, ramp);
                Feather { tone: 0.1 + row as f32 * 0.05, ..feather }.draw(&mut out);
            }
        }
    }
    tube(&mut out, &NECK, &RAMP, 0.02);
    coals(&mut out);
    wing(&mut out, false);
    head(&mut out, is_shut);
    inked(&out)
}

fn wing(out: &mut Bitmap, is_far: bool) {
    if is_far {
        for nth in 0..11 {
            let part = nth as f32 / 10.0;
            let feather = Feather::new(
                (168.0 + part * 34.0, 112.0 - part * 20.0),
                -118.0 + part * 84.0,
                112.0 - part * 26.0,
                9.0,
                &DARK,
            );
            Feather { bend: 0.1, ..feather }.draw(out);
        }
        for nth in 0..5 {
            let ramp = if nth % 2 == 1 { &DARK } else { &RAMP };
            Feather::new(
                (226.0, 158.0 + nth as f32 * 3.0),
                2.0 + nth as f32 * 6.0,
                46.0 - nth as f32 * 3.0,
                7.0,
                ramp,
            )
            .draw(out);
        }
        return;
    }
    let arch = |part: f32| sine(part * 2.6);
    for nth in 0..13 {
        let part = nth as f32 / 12.0;
        let ramp = if nth % 2 == 1 { &DARK } else { &RAMP };
        let from = (150.0 + part * 62.0, 128.0 - arch(part) * 30.0);
        let feather = Feather::new(from, -100.0 + part * 96.0, 128.0 - part * 44.0, 10.0, ramp);
        Feather { bend: 0.12, tone: 0.05, ..feather }.draw(out);
    }
    for (count, from, long, wide, tone) in
        [(12, (146.0, 130.0), 62.0, 9.0, -0.04), (11, (142.0, 134.0), 32.0, 8.0, -0.14)]
    {
        for nth in 0..count {
            let part = nth as f32 / (count - 1) as f32;
            let at = (from.0 + part * 66.0, from.1 - arch(part) * 27.0);
            let feather = Feather::new(at, -88.0 + part * 93.0, long - part * 8.0, wide, &RAMP);
            Feather { bend: 0.08, tone, ..feather }.draw(out);
        }
    }
}

/// Draws the fire in its neck and the coals between its ribs.
fn coals(out: &mut Bitmap) {
    for pair in NECK.windows(2) {
        for step in 0..8 {
            let part = step as f32 / 8.0;
            let at = |a: f32, b: f32| a + (b - a) * part;
            let (cx, cy, r) =
                (at(pair[0].0, pair[1].0), at(pair[0].1, pair[1].1), at(pair[0].2, pair[1].2) * 0.62);
            for y in -(r as i32)..=r as i32 {
                for x in -(r as i32)..=r as i32 {
                    let far = ((x * x + y * y) as f32).sqrt() / r;
                    let (px, py) = ((cx + x as f32) as i32, (cy + y as f32) as i32);
                    if far < 1.0 && (1.0 - far) * 1.25 > bayer(px, py) && step % 3 != 2 {
                        let hot = if far < 0.3 {
                            5
                        } else if far < 0.62 {
                            4
                        } else {
                            3
                        };
                        out.set(px, py + ABOVE, palette::FIRE[hot]);
                    }
                }
            }
        }
    }
    for y in 140..186 {
        for x in 134..214 {
            let (dx, dy) = ((x - 168) as f32 / 34.0, (y - 163) as f32 / 15.0);
            let far = (dx * dx + dy * dy).sqrt();
            if far >= 1.0 || out.get(x, y + ABOVE).is_none() {
                continue;
            }
            let rib = ((x as f32 - (y - 163) as f32 * 0.35).rem_euclid(13.0) - 6.0).abs();
            let heat = (1.0 - far) * 1.5 + noise(x as f32 / 5.0, 3) * 0.4 - 0.2;
            if rib >= 5.0 {
                out.set(x, y + ABOVE, RAMP[6]);
            } else if heat > bayer(x, y) {
                let hot = if heat > 1.2 {
                    5
                } else if heat > 0.8 {
                    4
                } else if heat > 0.45 {
                    3
                } else {
                    2
                };
                out.set(x, y + ABOVE, palette::FIRE[hot]);
            }
        }
    }
}

fn head(out: &mut Bitmap, is_shut: bool) {
    for (degrees, long) in [(-28.0, 62.0), (-16.0, 70.0), (-4.0, 54.0)] {
        Feather { bend: 0.14, ..Feather::new((96.0, 50.0), degrees, long, 3.2, &DARK) }.draw(out);
    }
    tube(out, &[(92.0, 58.0, 13.0), (80.0, 56.0, 14.0), (68.0, 58.0, 11.0)], &RAMP, -0.02);
    let lower = if is_shut { 174.0 } else { 157.0 };
    let beak = |at, degrees, long, wide, tone| Feather {
        is_beak: true,
        tone,
        ..Feather::new(at, degrees, long, wide, &BONE)
    };
    beak((76.0, 53.0), 176.0, 74.0, 7.5, 0.02).draw(out);
    beak((76.0, if is_shut { 60.0 } else { 66.0 }), lower, 62.0, 6.5, 0.12).draw(out);
    if !is_shut {
        for y in 56..84 {
            for x in 30..80 {
                let (top, low) = (58.0 - (76 - x) as f32 * 0.02, 66.0 + (76 - x) as f32 * 0.4);
                let fy = y as f32;
                if fy > top + 1.0 && fy < low - 3.0 {
                    let middle = ((fy - top) / (low - top) - 0.5).abs() * 2.0;
                    let heat = (x - 28) as f32 / 48.0 * 1.25 - middle * 0.6;
                    if heat > bayer(x, y) * 0.7 {
                        let hot = if heat > 0.95 {
                            6
                        } else if heat > 0.7 {
                            5
                        } else if heat > 0.45 {
                            4
                        } else {
                            3
                        };
                        out.set(x, y + ABOVE, palette::FIRE[hot]);
                    }
                }
            }
        }
    }
    out.rect(76, 49 + ABOVE, 6, 5, palette::INK);
    out.rect(77, 50 + ABOVE, 4, 3, palette::FIRE[4]);
    out.rect(78, 50 + ABOVE, 2, 1, palette::FIRE[6]);
    out.line((70, 46 + ABOVE), (86, 44 + ABOVE), DARK[5]);
}

/// Adds an ink outline.
fn inked(image: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new(image.width(), image.height());
    for y in 0..image.height() {
        for x in 0..image.width() {
            match image.get(x, y) {
                Some(color) => out.set(x, y, color),
                None if [(-1, 0), (1, 0), (0, -1), (0, 1)]
                    .iter()
                    .any(|(dx, dy)| image.get(x + dx, y + dy).is_some()) =>
                {
                    out.set(x, y, palette::INK);
                }
                None => {}
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn throat_is_lit_only_when_beak_is_open() {
        let hot = |image: &Bitmap| {
            let around = |(x, y): (i32, i32)| (-8..8).filter_map(move |dx| image.get(x + dx + 12, y));
            around(THROAT).filter(|color| palette::FIRE[3..].contains(color)).count()
        };
        assert!(hot(&picture(false)) > hot(&picture(true)));
    }
}
