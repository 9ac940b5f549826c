//! Images of all flying things: geese, enemies, embers and quills, baked once into an album.
//!
//! Made by the stage, used by its painters. Absent: places on the screen.

use gaggle_scene::{
    Album, Bitmap, Color, ImageId, LIGHTS, Material, Part, Sprite, Tones, bayer, emblem, palette,
};

use super::sprites::*;
use crate::SEATS;

/// Number of looks of geese: one per slot and one for young geese.
pub(super) const LOOKS: usize = SEATS + 1;
/// Width and height of the image of a goose, and its breast in it.
pub(super) const CELL: (i32, i32) = (36, 36);
pub(super) const BREAST: (i32, i32) = (17, 25);
/// How far baked lights reach, in pixels.
const GLOWS: [i32; 4] = [16, 22, 30, 80];
/// Directions of a dart.
const DIRECTIONS: usize = 16;

/// Pose of a goose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pose {
    /// Its wings are up.
    Up,
    /// Its wings are level.
    Mid,
    /// Its wings are down.
    Down,
    /// Falling, head down.
    Fall,
}

const POSES: usize = 4;

const COMMON: &[Material] = &[
    ('W', Tones::hex(0xffffff, 0xdbe3ee, 0xa3b0cb, 0xffb982)),
    ('w', Tones::hex(0xcfd8e6, 0x97a5c2, 0x6d7a9c, 0xf08f58)),
    ('x', Tones::hex(0x8b9abc, 0x7383a8, 0x5a688c, 0xc87848)),
    ('o', Tones::hex(0xffcf6a, 0xf79a2e, 0xc56a1e, 0xffc04a)),
    ('r', Tones::hex(0xd3412a, 0xb8321d, 0x6e1a1c, 0xec6420)),
    ('E', Tones::flat(palette::INK)),
    ('k', Tones::flat(palette::INK)),
    ('t', Tones::flat(palette::FIRE[6])),
    ('S', Tones::hex(0xa59dc4, 0x453f5e, 0x2c273f, 0xe8703a)),
    ('s', Tones::hex(0x57516e, 0x26223a, 0x1a1728, 0xa0462a)),
    ('b', Tones::hex(0xc9a86a, 0x9a7a48, 0x6a5030, 0xd98a50)),
    ('e', Tones::flat(palette::WARN)),
    ('N', Tones::hex(0xc79a7a, 0x7a4634, 0x4e2c2a, 0xec6420)),
    ('n', Tones::hex(0x8a5a4a, 0x4e2c2a, 0x351f22, 0xb8321d)),
    ('v', Tones::hex(0xe6c7a4, 0xc08f6a, 0x8a5f48, 0xffa050)),
    ('y', Tones::hex(0xffe08a, 0xf7b23e, 0xc5801e, 0xffe08a)),
    ('a', Tones::hex(0xc9b08a, 0x7a6466, 0x54434c, 0xd98a50)),
    ('U', Tones::hex(0xfff3d0, 0xcbb89a, 0x8d7c70, 0xffb060)),
    ('u', Tones::hex(0xa3907c, 0x6a5a58, 0x4a3e44, 0xd86e32)),
    ('R', Tones::hex(0xff9a4a, 0xec6420, 0xb8321d, 0xffa636)),
    ('Y', Tones::hex(0xffe9a0, 0xffc45a, 0xffa636, 0xffe08a)),
    ('c', Tones::hex(0x7a5652, 0x46303a, 0x2e1e28, 0xb8321d)),
    ('q', Tones::hex(0x57516e, 0x3a3450, 0x2c273f, 0x57516e)),
];

/// Material `x` of moths: the eyes on the wings. Of lanterns `k`: the dark frame.
const MOTH: &[Material] = &[('x', Tones::flat(palette::FIRE[3]))];
const FRAME: &[Material] = &[('k', Tones::hex(0x54434c, 0x241d2a, 0x15121d, 0x6e1a1c))];
/// Material of lit owl eyes.
const LIT: &[Material] = &[('q', Tones::flat(palette::FIRE[4]))];
/// Materials of the pale starling.
const PALE: &[Material] = &[
    ('S', Tones::hex(0xffffff, 0xe9e3f0, 0xb4aac8, 0xffd8a0)),
    ('s', Tones::hex(0xd8d0e8, 0xa89ec0, 0x8378a0, 0xf0a060)),
];

/// The color of a look.
pub(super) fn color(look: usize) -> Color {
    palette::SEATS_SIX.get(look).copied().unwrap_or(palette::MIST[2])
}

/// Images of all flying things.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    geese: Vec<ImageId>,
    /// Geese on the water by slot: dozing, then looking ahead.
    pub(super) roosting: [Vec<ImageId>; 2],
    /// Outlined emblems by slot.
    pub(super) emblems: Vec<ImageId>,
    quills: Vec<ImageId>,
    /// Images of spark, ember, ring and coal.
    pub(super) embers: [ImageId; 4],
    darts: Vec<ImageId>,
    /// Two images of a wing beat each; the second pair is pale.
    pub(super) starlings: [ImageId; 4],
    pub(super) moth: ImageId,
    pub(super) lantern: ImageId,
    pub(super) kites: [ImageId; 2],
    /// Owl with dark eyes and with lit eyes.
    pub(super) owls: [ImageId; 2],
    pub(super) stormcock: ImageId,
    pub(super) finger: ImageId,
    pub(super) palm: ImageId,
    pub(super) sail: ImageId,
    pub(super) crumb: ImageId,
    glows: [ImageId; GLOWS.len()],
}

impl Figures {
    /// Bakes all images of the game.
    pub(super) fn bake(album: &mut Album) -> Figures {
        let mut geese = Vec::new();
        for look in 0..LOOKS {
            for pose in [Pose::Up, Pose::Mid, Pose::Down, Pose::Fall] {
                for light in 0..LIGHTS {
                    geese.push(album.add(goose(look, pose, light)));
                }
            }
        }
        let roosting = [[NECK_REST, SCARF2], [NECK_UP, SCARF_UP]]
            .map(|parts| (0..SEATS).map(|seat| album.add(swimmer(seat, &parts))).collect());
        let emblems = (0..SEATS).map(|seat| album.add(pennant(seat))).collect();
        let quills = (0..LOOKS).map(|look| album.add(quill(color(look)))).collect();
        let embers = [&EMBER_ROWS[0], &EMBER_ROWS[1], &EMBER_ROWS[2], &EMBER_ROWS[3]];
        let embers = embers.map(|rows| album.add(ember(rows)));
        let darts = (0..DIRECTIONS).map(|nth| album.add(dart(nth))).collect();
        let mut bake = |part: &Part, size: (i32, i32), extra: &[Material], light: usize| {
            let mut sprite = Sprite::new(size.0, size.1);
            sprite.put(part, i32::from(part.x == 0), i32::from(part.y == 0));
            album.add(sprite.bake(&[extra, COMMON], light, true))
        };
        let starlings = [
            bake(&STARLING0, (17, 10), &[], 1),
            bake(&STARLING1, (17, 10), &[], 1),
            bake(&STARLING0, (17, 10), PALE, 1),
            bake(&STARLING1, (17, 10), PALE, 1),
        ];
        Figures {
            geese,
            roosting,
            emblems,
            quills,
            embers,
            darts,
            starlings,
            moth: bake(&MOTH_PART, (13, 10), MOTH, 2),
            lantern: bake(&LANTERN, (17, 23), FRAME, 2),
            kites: [bake(&KITE0, (36, 19), &[], 2), bake(&KITE1, (36, 19), &[], 2)],
            owls: [bake(&OWL, (22, 21), &[], 1), bake(&OWL, (22, 21), LIT, 1)],
            stormcock: bake(&STORMCOCK, (20, 22), &[], 3),
            finger: bake(&FINGER, (18, 46), &[], 3),
            palm: bake(&PALM, (30, 28), &[], 3),
            sail: bake(&SAIL, (30, 11), &[], 2),
            crumb: album.add(crumb()),
            glows: GLOWS.map(|radius| album.add(light_around(radius))),
        }
    }

    /// Light around something that burns, so many pixels far, and half the size of its image.
    pub(super) fn glow(&self, radius: i32) -> (ImageId, i32) {
        let nth = GLOWS.iter().position(|baked| *baked >= radius).unwrap_or(GLOWS.len() - 1);
        (self.glows[nth], GLOWS[nth])
    }

    /// A goose of a look.
    pub(super) fn goose(&self, look: usize, pose: Pose, light: usize) -> ImageId {
        self.geese[(look.min(LOOKS - 1) * POSES + pose as usize) * LIGHTS + light.min(LIGHTS - 1)]
    }

    /// Image of a quill with this look.
    pub(super) fn quill(&self, look: usize) -> ImageId {
        self.quills[look.min(LOOKS - 1)]
    }

    /// Image of a dart with this velocity.
    pub(super) fn dart(&self, vx: i16, vy: i16) -> ImageId {
        let angle = crate::sky::aim((0, 0), (vx.into(), vy.into())).to_bits();
        self.darts[(usize::from(angle) + 2_048) / 4_096 % DIRECTIONS]
    }
}

/// Firelight on a thing in this row, as the number of its image.
pub(super) fn light(y: f32) -> usize {
    match y {
        y if y > 270.0 => 3,
        y if y > 210.0 => 2,
        y if y > 130.0 => 1,
        _ => 0,
    }
}

fn goose(look: usize, pose: Pose, light: usize) -> Bitmap {
    let mut sprite = Sprite::new(CELL.0, CELL.1);
    let parts: [&Part; 6] = match pose {
        Pose::Up => [&WING_UP, &LEGS_TUCK, &BODY, &NECK_OUT, &SCARF, &CAP],
        Pose::Mid => [&LEGS_TUCK, &BODY, &NECK_OUT, &WING_MID, &SCARF2, &CAP],
        Pose::Down | Pose::Fall => [&LEGS_TUCK, &BODY, &NECK_OUT, &WING_DOWN, &SCARF2, &CAP],
    };
    for part in parts {
        sprite.put(part, 2, 8);
    }
    let image = dressed(&sprite, look, light);
    if pose == Pose::Fall { turned(&image) } else { image }
}

/// A goose on the water, with the parts of its neck.
fn swimmer(seat: usize, neck: &[Part]) -> Bitmap {
    let mut sprite = Sprite::new(CELL.0, CELL.1);
    for part in [&BODY].into_iter().chain(neck).chain([&WING_FOLD]) {
        sprite.put(part, 2, 8);
    }
    dressed(&sprite, seat, 0)
}

/// A goose in the colors of its look.
fn dressed(sprite: &Sprite, look: usize, light: usize) -> Bitmap {
    let color = color(look);
    let white = Color::hex(0xff_ffff);
    let night = palette::NIGHT[1];
    let wing = Tones {
        moon: color.mix(white, 0.45),
        base: color.mix(Color::hex(0x97_a5c2), 0.35),
        shade: color.mix(palette::NIGHT[2], 0.35),
        fire: color.mix(palette::FIRE[4], 0.4),
    };
    let scarf = Tones {
        moon: color.mix(white, 0.5),
        base: color,
        shade: color.mix(night, 0.35),
        fire: color.mix(palette::FIRE[4], 0.45),
    };
    let mut materials = vec![('P', scarf), ('p', Tones::cloth_shade(color)), ('w', wing)];
    if look >= SEATS {
        materials.push(('W', Tones::hex(0xd5_dbe2, 0xa9_b2c0, 0x76_819a, 0xe0_946a)));
    }
    sprite.bake(&[&materials, COMMON], light, true)
}

/// Rotates an image by a quarter turn: right becomes down.
fn turned(image: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new(image.height(), image.width());
    for y in 0..image.height() {
        for x in 0..image.width() {
            if let Some(color) = image.get(x, y) {
                out.set(image.height() - 1 - y, x, color);
            }
        }
    }
    out
}

/// An emblem with an ink outline.
fn pennant(seat: usize) -> Bitmap {
    let inner = emblem::emblem(seat, color(seat));
    let mut out = Bitmap::new(emblem::SIZE + 2, emblem::SIZE + 2);
    for y in 0..emblem::SIZE {
        for x in 0..emblem::SIZE {
            if inner.get(x, y).is_some() {
                out.rect(x, y + 1, 3, 1, palette::INK);
                out.rect(x + 1, y, 1, 3, palette::INK);
            }
        }
    }
    out.blit(&inner, 1, 1);
    out
}

const EMBER_ROWS: [&[&str]; 4] = [
    &[".o.", "owo", ".o."],
    &[".ooo.", "oyyyo", "oywyo", "oyyyo", ".ooo."],
    &["..ooo..", ".ozzzo.", "ozo.ozo", "oz...zo", "ozo.ozo", ".ozzzo.", "..ooo.."],
    &[
        "..ooooo..",
        ".orrrrro.",
        "orrzzzrro",
        "orzwwzzro",
        "orzwwwzro",
        "orzzzzzro",
        "orrzzzrro",
        ".orrrrro.",
        "..ooooo..",
    ],
];

fn ember(rows: &[&str]) -> Bitmap {
    let wide = rows.iter().map(|row| row.len()).max().unwrap_or(0) as i32;
    let mut inner = Bitmap::new(wide, rows.len() as i32);
    inner.stamp(0, 0, rows, |letter| match letter {
        'o' => palette::FIRE[3],
        'y' => palette::FIRE[5],
        'z' => palette::FIRE[4],
        'r' => palette::FIRE[2],
        _ => palette::FIRE[6],
    });
    rimmed(&inner)
}

/// Adds a rim of ink. Only shots that hurt combine orange and ink.
fn rimmed(inner: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new(inner.width() + 2, inner.height() + 2);
    for y in 0..inner.height() {
        for x in 0..inner.width() {
            if inner.get(x, y).is_some() {
                out.rect(x, y + 1, 3, 1, palette::INK);
                out.rect(x + 1, y, 1, 3, palette::INK);
            }
        }
    }
    out.blit(inner, 1, 1);
    out
}

fn dart(nth: usize) -> Bitmap {
    let mut inner = Bitmap::new(9, 9);
    let (dx, dy) = crate::sky::polar(gaggle_kit::Angle::from_bits((nth * 4_096) as u16), 256);
    let (dx, dy) = (dx as f32 / 256.0, dy as f32 / 256.0);
    for step in -7_i32..=7 {
        let along = step as f32 / 2.0;
        let color = if step > 3 { palette::FIRE[6] } else { palette::FIRE[5] };
        for side in [-0.7, 0.7] {
            let (x, y) = (4.5 + dx * along - dy * side, 4.5 + dy * along + dx * side);
            inner.set(x.floor() as i32, y.floor() as i32, palette::FIRE[3]);
        }
        if step.abs() < 6 {
            let (x, y) = (4.5 + dx * along, 4.5 + dy * along);
            inner.set(x.floor() as i32, y.floor() as i32, color);
        }
    }
    rimmed(&inner)
}

fn quill(color: Color) -> Bitmap {
    let mut out = Bitmap::new(13, 3);
    let white = Color::hex(0xff_ffff);
    for back in 0..11 {
        let x = 11 - back;
        let shade = match back {
            0..4 => white,
            4..7 => color.mix(white, 0.45),
            _ => color.mix(palette::NIGHT[2], (back - 6) as f32 / 7.0),
        };
        out.set(x, 1, shade);
    }
    out.set(12, 1, palette::MOON);
    out
}

/// A light in dither: dense in the middle, and dark enough not to be taken for fire.
fn light_around(radius: i32) -> Bitmap {
    let mut out = Bitmap::new(2 * radius + 1, 2 * radius + 1);
    let (power, tint) = if radius < 60 { (0.8, 0.45) } else { (0.55, 0.62) };
    for y in 0..=2 * radius {
        for x in 0..=2 * radius {
            let (dx, dy) = ((x - radius) as f32, (y - radius) as f32);
            let near = 1.0 - (dx * dx + dy * dy).sqrt() / radius as f32;
            if near > 0.0 && near * near.sqrt() * power > bayer(x, y) {
                out.set(x, y, palette::FIRE[2].mix(palette::PLUM[1], tint));
            }
        }
    }
    out
}

fn crumb() -> Bitmap {
    let mut inner = Bitmap::new(2, 2);
    inner.rect(0, 0, 2, 2, palette::MOON);
    rimmed(&inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_look_differs_in_every_pose() {
        let mut album = Album::default();
        let figures = Figures::bake(&mut album);
        let image = |look, pose| album.image(figures.goose(look, pose, 1));
        assert_ne!(image(0, Pose::Up), image(1, Pose::Up));
        assert_ne!(image(0, Pose::Up), image(0, Pose::Down));
        assert_ne!(image(6, Pose::Fall), image(6, Pose::Down));
        assert!(image(0, Pose::Up).get(BREAST.0, BREAST.1).is_some(), "the breast is where the hit is");
    }

    #[test]
    fn darts_point_where_they_fly() {
        let mut album = Album::default();
        let figures = Figures::bake(&mut album);
        assert_eq!(figures.dart(500, 0), figures.darts[0]);
        assert_eq!(figures.dart(-500, 10), figures.darts[8]);
        assert_eq!(figures.dart(0, -500), figures.darts[12]);
    }
}
