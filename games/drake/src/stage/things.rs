//! Images of rocks, eggs, puffballs and nests, and the drawing of peas and beams.
//!
//! `Stage` bakes them, `Painter` draws them. Absent: motion.

use gaggle_scene::{
    Album, Bitmap, ImageId, LIGHTS, Material, Sprite, Tones, bayer, chance, noise, palette, sine,
};
use palette::{FIRE, INK, SEATS_SIX};

use super::{Painter, light, pixels};
use crate::Drake;
use crate::field::{self, BOTTOM, LEFT, RIGHT, SEATS, TOP};
use crate::rock::Size;
use crate::standing::{Form, Load};
use crate::weapons::LANTERN_WARMS;

/// Pictures of a rock of each size.
const LOOKS: usize = 6;

/// Image ids of all things.
#[derive(Debug, Clone)]
pub(super) struct Things {
    rocks: Vec<ImageId>,
    eggs: [ImageId; 6],
    icons: [ImageId; 7],
    puffballs: [[ImageId; 2]; SEATS],
    nests: [ImageId; SEATS],
    pub(super) shell: ImageId,
    pub(super) pointer: ImageId,
}

const STONE: &[Material] = &[
    ('m', Tones::hex(0xfaf4dc, 0xb9b4a6, 0x77757f, 0xd88a58)),
    ('n', Tones::hex(0xcfc9b4, 0x93909a, 0x5f5e6e, 0xb06a48)),
    ('q', Tones::hex(0x8f8c94, 0x6c6a78, 0x4b4a5a, 0x8a4e3c)),
];

const EGG: &[Material] = &[
    ('V', Tones::hex(0xffffff, 0xf1e6cb, 0xc0ae8f, 0xffb060)),
    ('i', Tones::flat(palette::PEAT[2])),
    ('I', Tones::flat(FIRE[2])),
];

const EGG_ROWS: [&str; 11] = [
    "...VVV...",
    "..VVVVV..",
    ".VVVVVVV.",
    ".VVVVVVV.",
    "VVVVVVVVV",
    "VVVVVVVVV",
    "VVVVVVVVV",
    "VVVVVVVVV",
    ".VVVVVVV.",
    "..VVVVV..",
    "...VVV...",
];

/// Icons of loads, 5 by 5 pixels.
const ICONS: [[&str; 5]; 7] = [
    [".....", ".....", ".....", ".....", "....."],
    ["i...i", ".....", "..i..", ".....", "i...i"],
    [".iii.", "i.i.i", "iiiii", "i.i.i", ".iii."],
    ["i...i", ".iii.", "iiiii", ".iii.", "..i.."],
    ["....i", "...i.", "..i..", ".i...", "i...."],
    [".iii.", "i...i", "i...i", "i...i", ".i.i."],
    [".iii.", "i...i", "i.i..", "i..ii", ".i.ii"],
];

impl Things {
    pub(super) fn bake(album: &mut Album) -> Things {
        let mut rocks = Vec::with_capacity(3 * LOOKS * LIGHTS);
        for size in [Size::Small, Size::Middling, Size::Large] {
            for look in 0..LOOKS {
                let sprite = rock(size.radius(), look as i32);
                for light in 0..LIGHTS {
                    rocks.push(album.add(sprite.bake(&[STONE], light, true)));
                }
            }
        }
        let eggs = std::array::from_fn(|number| album.add(egg(number + 1)));
        let icons = std::array::from_fn(|number| {
            let mut icon = Bitmap::new(5, 5);
            icon.stamp(0, 0, &ICONS[number], |_| palette::BONE);
            album.add(icon)
        });
        let puffballs = SEATS_SIX.map(|color| [false, true].map(|armed| album.add(puffball(color, armed))));
        let nests = SEATS_SIX.map(|color| album.add(nest(color)));
        Things {
            rocks,
            eggs,
            icons,
            puffballs,
            nests,
            shell: album.add(shell()),
            pointer: album.add(pointer()),
        }
    }

    /// Icon of a load for the plaque.
    pub(super) fn icon(&self, load: Load) -> ImageId {
        self.icons[load as usize]
    }

    fn rock(&self, size: Size, look: u8, light: usize) -> ImageId {
        self.rocks[(size as usize * LOOKS + usize::from(look) % LOOKS) * LIGHTS + light]
    }
}

/// A rock with an uneven rim and craters.
fn rock(radius: i32, look: i32) -> Sprite {
    let cell = 2 * radius + 5;
    let mut sprite = Sprite::new(cell, cell);
    let half = cell / 2;
    for y in 0..cell {
        for x in 0..cell {
            let (dx, dy) = ((x - half) as f32, (y - half) as f32);
            let far = (dx * dx + dy * dy).sqrt();
            // Position on the rim by a diamond's angle, which needs no arctangent.
            let turn = if far > 0.0 { dy / (dx.abs() + dy.abs()) } else { 0.0 };
            let along = if dx >= 0.0 { turn } else { 2.0 - turn };
            let rim = radius as f32 * (0.84 + 0.26 * noise(along * 2.3 + look as f32 * 11.0, 40 + look));
            if far > rim {
                continue;
            }
            let mut letter = if far > rim - 2.2 && dy > 0.0 { 'n' } else { 'm' };
            for crater in 0..radius / 3 {
                let own = |purpose| chance(crater, look, purpose);
                let (cx, cy) = ((own(1) - 0.5) * 1.3 * radius as f32, (own(2) - 0.5) * 1.3 * radius as f32);
                let (ex, ey) = (dx - cx, dy - cy);
                let size = 1.0 + own(3) * radius as f32 * 0.2;
                if ex * ex + ey * ey < size * size {
                    letter = if ey < 0.0 { 'q' } else { 'n' };
                }
            }
            sprite.set(x, y, letter);
        }
    }
    sprite
}

fn egg(icon: usize) -> Bitmap {
    let mut sprite = Sprite::new(11, 13);
    for (y, row) in (1..).zip(EGG_ROWS) {
        for (x, letter) in (1..).zip(row.chars()) {
            if letter != '.' {
                sprite.set(x, y, letter);
            }
        }
    }
    for (y, row) in (4..).zip(ICONS[icon]) {
        for (x, letter) in (3..).zip(row.chars()) {
            if letter != '.' {
                sprite.set(x, y, if icon == Load::Whirl as usize { 'I' } else { 'i' });
            }
        }
    }
    sprite.bake(&[EGG], 1, true)
}

fn puffball(color: gaggle_scene::Color, armed: bool) -> Bitmap {
    let tones: &[Material] = &[
        ('b', Tones::hex(0xfff8e2, 0xe0d4bc, 0xa89a84, 0xf0a070)),
        ('s', Tones::cloth(color)),
        ('e', Tones::flat(if armed { palette::BAD } else { palette::PEAT[3] })),
    ];
    let rows = [
        "...bbb...",
        "..bbbbb..",
        ".bbsbsbb.",
        "bbbbbbbbb",
        "bsbbebbsb",
        "bbbbbbbbb",
        ".bbsbsbb.",
        "..bbbbb..",
        "...bbb...",
    ];
    let mut sprite = Sprite::new(11, 11);
    for (y, row) in (1..).zip(rows) {
        for (x, letter) in (1..).zip(row.chars()) {
            if letter != '.' {
                sprite.set(x, y, letter);
            }
        }
    }
    sprite.bake(&[tones], 1, true)
}

/// A bowl of straw with a ribbon of the seat's color.
fn nest(color: gaggle_scene::Color) -> Bitmap {
    let (straw, dark, light) = (
        palette::PEAT[4].mix(palette::BONE, 0.35),
        palette::PEAT[2],
        palette::BONE.mix(palette::PEAT[4], 0.25),
    );
    let mut out = Bitmap::new(25, 21);
    for y in 0..21 {
        for x in 0..25 {
            let (dx, dy) = ((x - 12) as f32 / 11.5, (y - 10) as f32 / 9.5);
            let far = dx * dx + dy * dy;
            if far > 1.0 {
                continue;
            }
            let straws = chance(x / 3, y, 77);
            let shade = match far {
                far if far > 0.9 => INK,
                far if far > 0.66 => {
                    if straws > 0.62 {
                        light
                    } else {
                        straw
                    }
                }
                far if far > 0.5 => color.mix(palette::PEAT[2], if straws > 0.5 { 0.1 } else { 0.35 }),
                far if far > 0.4 => dark,
                _ => palette::PLUM[0].mix(color, 0.16),
            };
            out.set(x, y, shade);
        }
    }
    out
}

fn shell() -> Bitmap {
    let mut out = Bitmap::new(25, 25);
    for y in 0..25 {
        for x in 0..25 {
            let (dx, dy) = ((x - 12) as f32, (y - 12) as f32);
            let far = (dx * dx + dy * dy).sqrt();
            if (10.4..11.6).contains(&far) {
                out.set(x, y, if dy < 0.0 { palette::MOON } else { FIRE[4].mix(palette::MOON, 0.4) });
            } else if far < 10.4 && dx + dy < -7.0 && bayer(x, y) < 0.4 {
                out.set(x, y, palette::MIST[2]);
            }
        }
    }
    out
}

fn pointer() -> Bitmap {
    let mut out = Bitmap::new(9, 7);
    out.stamp(
        0,
        0,
        &["kkkkkkkkk", "kmmmmmmmk", ".kmmmmmk.", "..kmmmk..", "...kmk...", "....k....", "........."],
        |letter| if letter == 'k' { INK } else { palette::MOON },
    );
    out
}

impl Painter<'_> {
    /// Nests; one glows while its player is a duckling.
    pub(super) fn nests(&mut self, game: &Drake) {
        for (seat, color) in SEATS_SIX.into_iter().enumerate() {
            let [x, y] = field::nest(seat).map(pixels);
            let wanted = game.seats[seat].form == Form::Duckling;
            if wanted {
                let ring = if self.calm { 15.0 } else { 14.0 + sine(self.time * 0.1) * 2.0 };
                for spoke in 0..24 {
                    let angle = spoke as f32 * std::f32::consts::TAU / 24.0 + self.time * 0.01;
                    let (dx, dy) =
                        (sine(angle + std::f32::consts::FRAC_PI_2) * ring, sine(angle) * ring * 0.84);
                    self.scene.dot((x + dx).floor(), (y + dy).floor(), color);
                }
            }
            let shown = if game.seats[seat].present() { 16 } else { 7 };
            self.about(self.things.nests[seat], (x, y), shown);
        }
    }

    pub(super) fn rocks(&mut self, game: &Drake) {
        for rock in game.rocks.iter().flatten() {
            let at = self.shown(rock.place, rock.velocity);
            let image = self.things.rock(rock.size, rock.look, light(at.1));
            self.about(image, at, 16);
        }
    }

    /// Eggs and puffballs, which do not move.
    pub(super) fn lying(&mut self, game: &Drake) {
        for egg in game.eggs.iter().flatten() {
            let [x, y] = egg.place.map(pixels);
            let sway = if self.calm { 0.0 } else { sine(self.time * 0.07 + x) * 1.2 };
            let image = self.things.eggs[(egg.load as usize).clamp(1, 6) - 1];
            self.about(image, (x, y + sway), 16);
        }
        for puffball in game.puffballs.iter().flatten() {
            let [x, y] = puffball.place.map(pixels);
            let blink = puffball.armed && (self.time / 20.0) as i32 % 2 == 0;
            let image = self.things.puffballs[usize::from(puffball.seat) % SEATS][usize::from(blink)];
            self.about(image, (x, y), 16);
        }
    }

    pub(super) fn peas(&mut self, game: &Drake) {
        for shot in game.shots.iter().flatten() {
            let (x, y) = self.shown(shot.place, shot.velocity);
            let color = SEATS_SIX[usize::from(shot.seat) % SEATS];
            let (vx, vy) = (pixels(shot.velocity[0]) / 250.0, pixels(shot.velocity[1]) / 250.0);
            for step in 1..=6 {
                let far = 1.5 + step as f32 * 1.6;
                self.scene.blend(x - vx * far, y - vy * far, 1.0, 1.0, color, 1.0 - step as f32 * 0.13);
            }
            self.scene.blend(x - 2.0, y - 1.0, 4.0, 3.0, INK, 1.0);
            self.scene.blend(x - 1.0, y - 2.0, 3.0, 5.0, INK, 1.0);
            self.scene.blend(x - 1.0, y - 1.0, 3.0, 3.0, color, 1.0);
            self.scene.dot(x - 1.0, y - 1.0, palette::MOON);
        }
    }

    /// A thin line while it glows, then a beam.
    pub(super) fn lanterns(&mut self, game: &Drake) {
        for lantern in game.lanterns.iter().flatten() {
            let [mut x, mut y] = lantern.place.map(pixels);
            let (cos, sin) = (pixels(lantern.heading.cos()), pixels(lantern.heading.sin()));
            let color = SEATS_SIX[usize::from(lantern.seat) % SEATS];
            let burns = lantern.burns();
            let warm = f32::from(lantern.age) / f32::from(LANTERN_WARMS);
            let (start, inside) = ((x, y), |x: f32, y: f32| {
                (LEFT as f32..RIGHT as f32).contains(&x) && (TOP as f32..BOTTOM as f32).contains(&y)
            });
            // All of the glow first, so that it does not cover the core.
            for core in [false, true] {
                (x, y) = start;
                let mut step = 0;
                while inside(x, y) && step < 300 {
                    match (burns, core) {
                        (true, false) => {
                            let wide = if (step as f32 + self.time) as i32 % 9 < 4 { 7.0 } else { 5.0 };
                            let glow = FIRE[3].mix(color, 0.5);
                            self.scene.blend(x - wide / 2.0, y - wide / 2.0, wide, wide, glow, 0.3);
                        }
                        (true, true) => {
                            self.scene.blend(x - 1.5, y - 1.5, 3.0, 3.0, FIRE[5], 1.0);
                            self.scene.blend(x - 0.5, y - 0.5, 1.0, 1.0, FIRE[6], 1.0);
                        }
                        (false, true) if step % 4 == (self.time as i32 / 2) % 4 => {
                            self.scene.blend(x, y, 1.0, 1.0, FIRE[4].mix(FIRE[6], warm), 1.0);
                        }
                        (false, _) => {}
                    }
                    (x, y) = (x + cos * 1.6, y + sin * 1.6);
                    step += 1;
                }
            }
        }
    }
}
