//! The pictures of all that swims: goslings, geese, pikes, nests, baked once for an album.
//!
//! Made by the stage, looked up by its painters. Absent: where they are drawn.

use gaggle_scene::{
    Album, Bitmap, Color, ImageId, Material, Part, Sprite, Tones, bayer, chance, emblem, palette,
};

use super::sprites::*;
use crate::Mode;
use crate::water::Way;

/// One look for each brood, then 36 of color and emblem for `Mode::Free`.
const LOOKS: usize = 4 + 36;
/// Width and height of a gosling's image, and where it touches the water in there.
pub(super) const CHICK: (f32, f32) = (9.0, 13.0);
/// Where a goose touches the water in its image.
pub(super) const GOOSE: (f32, f32) = (17.0, 29.0);
const HATS: [(&Part, i32, i32); 4] =
    [(&HAT_PLUME, 1, -3), (&HAT_HORNS, 0, -3), (&HAT_CROWN, 0, -3), (&HAT_STAR, 0, -3)];

const COMMON: &[Material] = &[
    ('W', Tones::hex(0xffffff, 0xdbe3ee, 0xa3b0cb, 0xffb982)),
    ('w', Tones::hex(0xcfd8e6, 0x97a5c2, 0x6d7a9c, 0xf08f58)),
    ('x', Tones::hex(0x8b9abc, 0x7383a8, 0x5a688c, 0xc87848)),
    ('o', Tones::hex(0xffcf6a, 0xf79a2e, 0xc56a1e, 0xffc04a)),
    ('b', Tones::flat(palette::FIRE[4])),
    ('E', Tones::flat(palette::INK)),
    ('k', Tones::flat(palette::INK)),
];
const BITING: &[Material] = &[
    ('K', Tones::hex(0xd3c48a, 0x7a6a3c, 0x4e4028, 0xec6420)),
    ('q', Tones::hex(0xfff6d4, 0xd8b45a, 0xa8842e, 0xffa636)),
    ('j', Tones::hex(0xc9a86a, 0x8a6a44, 0x5c4432, 0xec6420)),
    ('e', Tones::flat(palette::WARN)),
    ('t', Tones::hex(0xfff6d4, 0xfff6d4, 0xe9ddc2, 0xffe08a)),
];
const SHY: &[Material] = &[
    ('K', Tones::hex(0x9fb6cf, 0x4a6384, 0x33475f, 0x587889)),
    ('q', Tones::hex(0xb9cbe0, 0x6c86a6, 0x4a6384, 0x8ba6aa)),
    ('j', Tones::hex(0x8ba6aa, 0x587889, 0x375470, 0x587889)),
    ('e', Tones::hex(0xffffff, 0xffffff, 0xffffff, 0xffffff)),
    ('t', Tones::hex(0xfff6d4, 0xfff6d4, 0xe9ddc2, 0xffe08a)),
];

/// A color and an emblem or hat.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Look(usize);

impl Look {
    /// The look of a gosling.
    pub(super) fn of(mode: Mode, brood: u8, slot: usize) -> Look {
        Look(if mode == Mode::Free { 4 + slot % 36 } else { usize::from(brood & 3) })
    }

    /// Color of plumage, name and map dot.
    pub(super) fn color(self) -> Color {
        palette::SEATS_SIX[if self.0 < 4 { self.0 } else { (self.0 - 4) % 6 }]
    }

    /// Number of its emblem.
    pub(super) fn emblem(self) -> usize {
        if self.0 < 4 { self.0 } else { (self.0 - 4 + (self.0 - 4) / 6) % 6 }
    }
}

/// All images of the game but its scenery.
#[derive(Debug, Clone)]
pub(super) struct Figures {
    chicks: Vec<ImageId>,
    geese: Vec<ImageId>,
    emblems: Vec<ImageId>,
    /// Right, down and up, biting and then shy.
    pikes: [ImageId; 6],
    nests: [ImageId; 4],
    /// A nest of `free` with its lantern lit, and one that rests.
    pub(super) open_nests: [ImageId; 2],
    pub(super) den: ImageId,
    pub(super) feather: ImageId,
    pub(super) crumb: ImageId,
    pub(super) crust: ImageId,
    pub(super) ring: ImageId,
    pub(super) pike_glow: ImageId,
    pub(super) goose_glow: ImageId,
}

impl Figures {
    pub(super) fn bake(album: &mut Album) -> Figures {
        let looks = || (0..LOOKS).map(Look);
        let mut chicks = Vec::new();
        for look in looks() {
            chicks.extend([&CHICK_R, &CHICK_D, &CHICK_U].map(|part| album.add(chick(look, part))));
        }
        let geese = looks().flat_map(|look| [&WING_UP, &WING_MID].map(|wing| goose(look, wing)));
        let geese = geese.collect::<Vec<_>>().into_iter().map(|image| album.add(image)).collect();
        let emblems = looks().map(pennant).collect::<Vec<_>>();
        let emblems = emblems.into_iter().map(|image| album.add(image)).collect();
        let mut fish =
            |way: Way, materials: &[Material], light: usize| album.add(pike(way, materials, light));
        let pikes = [
            fish(0, BITING, 2),
            fish(1, BITING, 2),
            fish(3, BITING, 2),
            fish(0, SHY, 0),
            fish(1, SHY, 0),
            fish(3, SHY, 0),
        ];
        let mut feather = Sprite::new(11, 12);
        feather.put(&FEATHER, 0, 0);
        Figures {
            chicks,
            geese,
            emblems,
            pikes,
            nests: [0, 1, 2, 3].map(|brood| album.add(nest(Some(Look(brood)), true))),
            open_nests: [true, false].map(|is_lit| album.add(nest(None, is_lit))),
            den: album.add(den()),
            feather: album.add(feather_image(&feather)),
            crumb: album.add(crumb(3, false)),
            crust: album.add(crumb(6, true)),
            ring: album.add(ring()),
            pike_glow: album.add(glow(20, palette::FIRE[2], 0.34)),
            goose_glow: album.add(glow(30, palette::MIST[2], 0.4)),
        }
    }

    /// A gosling, and whether it is mirrored.
    pub(super) fn chick(&self, look: Look, way: Way) -> (ImageId, bool) {
        let nth = [0, 1, 0, 2][usize::from(way & 3)];
        (self.chicks[look.0 * 3 + nth], way & 3 == 2)
    }

    /// A goose with its wings up or level.
    pub(super) fn goose(&self, look: Look, is_up: bool) -> ImageId {
        self.geese[look.0 * 2 + usize::from(!is_up)]
    }

    /// The emblem of a look.
    pub(super) fn emblem(&self, look: Look) -> ImageId {
        self.emblems[look.0]
    }

    /// A pike, and whether it is mirrored.
    pub(super) fn pike(&self, way: Way, is_shy: bool) -> (ImageId, bool) {
        let nth = [0, 1, 0, 2][usize::from(way & 3)] + if is_shy { 3 } else { 0 };
        (self.pikes[nth], way & 3 == 0)
    }

    /// The nest of a brood.
    pub(super) fn nest(&self, brood: usize) -> ImageId {
        self.nests[brood % 4]
    }
}

fn white() -> Color {
    Color::hex(0xff_ffff)
}

/// Tones of a material that has no tone of its own by firelight.
fn tones(moon: Color, base: Color, shade: Color) -> Tones {
    Tones { moon, base, shade, fire: base }
}

fn chick(look: Look, part: &Part) -> Bitmap {
    let (color, down, night) = (look.color(), Color::hex(0xf2_e2a8), palette::NIGHT);
    let fluff = if color == palette::SEAT[1] {
        color.mix(down, 0.34)
    } else {
        color.mix(white(), 0.22).mix(down, 0.16)
    };
    let materials = [
        ('P', tones(color.mix(white(), 0.55), color, color.mix(night[1], 0.3))),
        ('p', tones(color, color.mix(night[1], 0.3), color.mix(night[1], 0.5))),
        ('D', tones(fluff.mix(white(), 0.55), fluff, fluff.mix(night[2], 0.38))),
        ('d', tones(fluff.mix(night[2], 0.2), fluff.mix(night[2], 0.35), fluff.mix(night[2], 0.5))),
        ('w', tones(fluff.mix(night[2], 0.25), fluff.mix(night[2], 0.3), fluff.mix(night[2], 0.45))),
    ];
    let mut sprite = Sprite::new(19, 19);
    let (hat, x, y) = HATS[look.emblem() % 4];
    let beside = if std::ptr::eq(part, &CHICK_R)
        || part.rows.len() == CHICK_R.rows.len() && part.rows[0] == CHICK_R.rows[0]
    {
        4
    } else {
        1
    };
    sprite.put(part, 3, 5).put(hat, 3 + beside + x, 5 + y);
    let mut image = sprite.bake(&[&materials, COMMON], 0, true);
    if look.0 >= 4 {
        // There is no hat for each of six emblems, so they are on the back.
        let mark = emblem::emblem(look.emblem(), palette::INK);
        for (nth, pixel) in mark.pixels().enumerate() {
            let (x, y) = (nth as i32 % emblem::SIZE, nth as i32 / emblem::SIZE);
            if pixel.is_some() && image.get(5 + x, 10 + y).is_some() {
                image.blend(5 + x, 10 + y, palette::INK, 0.75);
            }
        }
    }
    image
}

fn goose(look: Look, wing: &Part) -> Bitmap {
    let color = look.color();
    let mut sprite = Sprite::new(36, 36);
    let scarf = Part { x: 14, y: 12, rows: &[".PPPP.", "PPPPPP", ".PPPP."] };
    for part in [&LEGS_TUCK, &BODY, &NECK_OUT, wing, &scarf] {
        sprite.put(part, 2, 8);
    }
    let materials = [('P', tones(color.mix(white(), 0.5), color, color.mix(palette::NIGHT[1], 0.35)))];
    sprite.bake(&[&materials, COMMON], 0, true)
}

/// A pike that swims in a way, turned from the art, in which it swims to the left.
fn pike(way: Way, materials: &[Material], light: usize) -> Bitmap {
    let rows = PIKE.rows;
    let (wide, tall) = (rows.iter().map(|row| row.len()).max().unwrap_or(0) as i32, rows.len() as i32);
    let is_upright = way & 1 == 1;
    let (w, h) = if is_upright { (tall, wide) } else { (wide, tall) };
    let mut sprite = Sprite::new(w + 2, h + 2);
    for (y, row) in (0..).zip(rows) {
        for (x, letter) in (0..).zip(row.chars()) {
            let (x, y) = match way {
                1 => (tall - 1 - y, wide - 1 - x),
                3 => (tall - 1 - y, x),
                _ => (x, y),
            };
            if letter != '.' {
                sprite.set(x + 1, y + 1, letter);
            }
        }
    }
    sprite.bake(&[materials, COMMON], light, true)
}

fn pennant(look: Look) -> Bitmap {
    let mut out = Bitmap::new(emblem::SIZE + 2, emblem::SIZE + 2);
    let mark = emblem::emblem(look.emblem(), look.color());
    for (dx, dy) in [(0, 1), (2, 1), (1, 0), (1, 2)] {
        let mut line = mark.clone();
        for (x, y) in (0..emblem::SIZE).flat_map(|y| (0..emblem::SIZE).map(move |x| (x, y))) {
            if line.get(x, y).is_some() {
                line.set(x, y, palette::INK);
            }
        }
        out.blit(&line, dx, dy);
    }
    out.blit(&mark, 1, 1);
    out
}

/// Light on the water by dither, around the middle of the image.
fn lit(out: &mut Bitmap, (x, y): (i32, i32), radius: i32, color: Color, share: f32) {
    let water = palette::NIGHT[1].mix(palette::NIGHT[2], 0.4);
    for (i, j) in (-radius..=radius).flat_map(|j| (-radius..=radius).map(move |i| (i, j))) {
        let far = (i as f32).hypot(j as f32 * 1.15) / radius as f32;
        let near = (1.0 - far).max(0.0);
        if near * near.sqrt().sqrt() * 0.9 > bayer(x + i, y + j) {
            let under = out.get(x + i, y + j).unwrap_or(water);
            out.set(x + i, y + j, under.mix(color, share));
        }
    }
}

fn glow(radius: i32, color: Color, share: f32) -> Bitmap {
    let mut out = Bitmap::new(2 * radius + 1, 2 * radius + 1);
    lit(&mut out, (radius, radius), radius, color, share);
    out
}

/// The middle of the nest in its image.
pub(super) const NEST: (i32, i32) = (46, 46);

fn nest(look: Option<Look>, is_lit: bool) -> Bitmap {
    let (x, y) = NEST;
    let mut out = Bitmap::new(93, 93);
    if is_lit {
        lit(&mut out, NEST, 46, palette::FIRE[3], 0.26);
    }
    let straw = Color::hex(0xc7_9f6a);
    for (i, j) in (-15..=15_i32).flat_map(|j| (-22..=22_i32).map(move |i| (i, j))) {
        let far = (i * i) as f32 / 484.0 + (j * j) as f32 / 225.0;
        if far > 1.0 {
            continue;
        }
        let grain = chance(i + 60, j + 60, 31);
        let mut color = match (far > 0.8, far > 0.42) {
            (true, _) => palette::PEAT[1],
            (false, true) if grain > 0.6 => palette::BONE,
            (false, true) if grain > 0.3 => straw,
            (false, true) => palette::PEAT[3],
            (false, false) => palette::PEAT[if grain > 0.5 { 3 } else { 2 }],
        };
        if far > 0.42 && far < 0.8 && j < -4 {
            color = color.mix(palette::MOON, 0.25);
        }
        out.set(x + i, y + j, color);
    }
    if let Some(look) = look {
        let color = look.color();
        out.rect(x - 17, y - 34, 2, 30, palette::PEAT[4]);
        out.rect(x - 17, y - 34, 1, 30, palette::BONE);
        for j in 0..11 {
            let cut = if j > 7 { (j - 7) * 2 } else { 0 };
            let tone = color.mix(palette::NIGHT[1], if j > 5 { 0.3 } else { 0.0 });
            out.rect(x - 15, y - 33 + j, 15 - cut, 1, tone);
        }
        let mark = emblem::emblem(look.emblem(), palette::INK);
        for (nth, pixel) in mark.pixels().enumerate() {
            if pixel.is_some() {
                out.set(x - 12 + nth as i32 % emblem::SIZE, y - 31 + nth as i32 / emblem::SIZE, palette::INK);
            }
        }
    }
    out.rect(x + 15, y - 16, 1, 12, palette::PEAT[4]);
    out.rect(x + 13, y - 20, 5, 5, palette::INK);
    out.rect(x + 14, y - 19, 3, 3, if is_lit { palette::FIRE[5] } else { palette::PEAT[2] });
    out
}

/// The middle of the den in its image.
pub(super) const DEN: (i32, i32) = (40, 40);

fn den() -> Bitmap {
    let (x, y) = DEN;
    let mut out = Bitmap::new(81, 81);
    lit(&mut out, DEN, 40, palette::FIRE[2], 0.4);
    for (i, j) in (-13..=13_i32).flat_map(|j| (-24..=24_i32).map(move |i| (i, j))) {
        let far = (i * i) as f32 / 576.0 + (j * j) as f32 / 169.0;
        if far > 1.0 {
            continue;
        }
        let color = if far > 0.78 {
            palette::PEAT[2]
        } else if far > 0.6 {
            palette::PEAT[1]
        } else if chance(i + 40, j + 40, 3) > 0.93 {
            palette::FIRE[3]
        } else if far < 0.25 && chance(i, j + 40, 4) > 0.8 {
            palette::FIRE[2]
        } else {
            palette::INK
        };
        out.set(x + i, y + j, color);
    }
    for k in (-20..=20_i32).step_by(6) {
        let (top, tall) = (y - 12 + k.abs() / 5, 24 - k.abs() * 2 / 5);
        out.rect(x + k, top, 2, tall, palette::PEAT[3]);
        out.rect(x + k, top, 1, tall, palette::PEAT[4]);
    }
    out
}

fn feather_image(sprite: &Sprite) -> Bitmap {
    let bright = [('W', Tones::flat(white())), ('w', Tones::flat(Color::hex(0xcf_d8e6)))];
    let feather = sprite.bake(&[&bright, COMMON], 0, true);
    let mut out = glow(15, palette::MIST[2], 0.4);
    out.blit(&feather, 10, 8);
    out
}

fn crumb(size: i32, is_crust: bool) -> Bitmap {
    let mut out = Bitmap::new(size, size);
    out.rect(0, 0, size, size, palette::INK);
    out.rect(0, 0, size - 1, size - 1, if is_crust { Color::hex(0xc7_9f6a) } else { palette::MOON });
    if is_crust {
        out.rect(1, 1, 3, 2, palette::MOON);
    } else {
        out.set(1, 1, palette::BONE);
    }
    out
}

/// The ring around one's own gosling.
fn ring() -> Bitmap {
    let mut out = Bitmap::new(29, 25);
    for (i, j) in (-14..=14_i32).flat_map(|j| (-12..=12_i32).map(move |i| (j, i))) {
        let far = (i as f32).hypot(j as f32 / 0.82);
        if (12.6..13.6).contains(&far) {
            out.set(14 + i, 12 + j, palette::INK);
        } else if (11.5..12.6).contains(&far) {
            out.set(14 + i, 12 + j, white());
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn looks_of_six_colors_and_emblems_differ() {
        let looks: Vec<(u32, usize)> = (0..36)
            .map(|slot| Look::of(Mode::Free, 0, slot))
            .map(|look| (look.color().rgb(), look.emblem()))
            .collect();
        for (nth, look) in looks.iter().enumerate() {
            assert!(!looks[..nth].contains(look), "{nth}: {look:?}");
        }
        assert_eq!(Look::of(Mode::Free, 0, 36), Look::of(Mode::Free, 0, 0));
    }

    #[test]
    fn broods_differ_in_form_as_well() {
        let mut album = Album::default();
        let figures = Figures::bake(&mut album);
        let form = |brood: u8, way| -> Vec<bool> {
            let (image, _) = figures.chick(Look::of(Mode::Great, brood, 0), way);
            album.image(image).pixels().map(|pixel| pixel.is_some()).collect()
        };
        for way in [0, 1, 3] {
            for (one, other) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                assert_ne!(form(one, way), form(other, way), "{one} and {other}, way {way}");
            }
        }
        assert_ne!(figures.pike(0, true), figures.pike(0, false));
    }
}
