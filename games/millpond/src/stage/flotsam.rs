//! Images of things, and the drawing of their authority.
//!
//! `Stage` bakes them, `Painter` draws them. Absent: motion.

use gaggle_scene::{
    Album, Bitmap, Color, ImageId, LIGHTS, Material, Sprite, Tones, bayer, chance, palette, sine,
};
use palette::{FIRE, INK, MIST, SEATS_SIX};

use super::{Audience, Painter, light, pixels};
use crate::pond::{Floating, Pond};
use crate::thing::Sort;

/// Image ids: two pictures of each sort in four lights.
#[derive(Debug, Clone)]
pub(super) struct Flotsam {
    images: Vec<ImageId>,
    icons: [ImageId; 8],
    glow: ImageId,
}

const LOOKS: usize = 2;

const STUFF: &[Material] = &[
    ('g', Tones::hex(0xc3d3a4, 0x5f8a5c, 0x36573f, 0xc88a50)),
    ('G', Tones::hex(0x8fae7c, 0x47704d, 0x2a4636, 0xa06a40)),
    ('f', Tones::hex(0xffffff, 0xf2c6dc, 0xc086a6, 0xffc0a0)),
    ('y', Tones::flat(FIRE[5])),
    ('w', Tones::hex(0xf3dfb4, 0xc09a66, 0x8a6840, 0xf0a050)),
    ('W', Tones::hex(0xd0a878, 0x94703f, 0x66492c, 0xd88a40)),
    ('b', Tones::hex(0x9a8088, 0x6c5258, 0x473640, 0xb8602e)),
    ('k', Tones::flat(INK)),
    ('s', Tones::hex(0xdfe8f0, 0x8f9db0, 0x5a677e, 0xe09060)),
    ('c', Tones::hex(0xfff3b0, 0xf0d060, 0xb89434, 0xffc860)),
    ('C', Tones::hex(0xd8b848, 0xb89434, 0x8a6c24, 0xd89a40)),
    ('h', Tones::hex(0x6fd0a0, 0x2f8f68, 0x1f5f4a, 0xa8904a)),
    ('o', Tones::hex(0xffcf6a, 0xf79a2e, 0xc56a1e, 0xffc04a)),
    ('B', Tones::hex(0xffe9a0, 0xd8a840, 0x8f6a20, 0xffb040)),
    ('D', Tones::hex(0xd8a840, 0xa87c28, 0x6c4e18, 0xe08a30)),
];

const CRATE: [&str; 15] = [
    "wwwwwwwwwwwwwww",
    "wbWWWWWWWWWWWbw",
    "wWbWwwwwwwwWbWw",
    "wWWbWwwwwwWbWWw",
    "wWwWbWwwwWbWwWw",
    "wkkkkbkkkbkkkkw",
    "wWwwwWbWbWwwwWw",
    "wWwwwwWbWwwwwWw",
    "wWwwwWbWbWwwwWw",
    "wkkkkbkkkbkkkkw",
    "wWwWbWwwwWbWwWw",
    "wWWbWwwwwwWbWWw",
    "wWbWWWWWWWWWbWw",
    "wbwwwwwwwwwwwbw",
    "wwwwwwwwwwwwwww",
];
const DECOY: [&str; 11] = [
    ".....hhh....",
    "....hhhhh...",
    "....hkhhooo.",
    "....hhhhoo..",
    ".....ss.....",
    "..wwwwwww...",
    "WwwwWWWwwww.",
    "WWwWwwwWwwww",
    ".WwwWWWwwww.",
    "..wwwwwwww..",
    "...........",
];
const BELL: [&str; 27] = [
    ".WWWWWWWWWWWWWWWWWWWWWWWWW.",
    "WwwwwwwwwwwwwwwwwwwwwwwwwwW",
    "WwbbbbbbbbbbbbbbbbbbbbbbbwW",
    "WwwwwwwwwwwwwwwwwwwwwwwwwwW",
    "WwwwwwwwwwwBBBwwwwwwwwwwwwW",
    "WbbbbbbbbbBBBBBbbbbbbbbbbbW",
    "WwwwwwwwwBBDDDBBwwwwwwwwwwW",
    "WwwwwwwwBBBBBBBBBwwwwwwwwwW",
    "WwwwwwwwBBBBBBBBBwwwwwwwwwW",
    "WbbbbbbbBBBBBBBBBbbbbbbbbbW",
    "WwwwwwwBBBBBBBBBBBwwwwwwwwW",
    "WwwwwwwBBBBBBBBBBBwwwwwwwwW",
    "WwwwwwwBBDBBBBBDBBwwwwwwwwW",
    "WbbbbbbBBBDDDDDBBBbbbbbbbbW",
    "WwwwwwBBBBBBBBBBBBBwwwwwwwW",
    "WwwwwwBBBBBBBBBBBBBwwwwwwwW",
    "WwwwwBBBBBBBBBBBBBBBwwwwwwW",
    "WbbbbBDDDDDDDDDDDDDBbbbbbbW",
    "WwwwDDDDDDDDDDDDDDDDDwwwwwW",
    "WwwwwwwwwwwkkkwwwwwwwwwwwwW",
    "WwwwwwwwwwkDDDkwwwwwwwwwwwW",
    "WbbbbbbbbbbkkkbbbbbbbbbbbbW",
    "WwwwwwwwwwwwwwwwwwwwwwwwwwW",
    "WwwwwwwwwwwwwwwwwwwwwwwwwwW",
    "WwbbbbbbbbbbbbbbbbbbbbbbbwW",
    "WwwwwwwwwwwwwwwwwwwwwwwwwwW",
    ".WWWWWWWWWWWWWWWWWWWWWWWWW.",
];

const SMALL_BELL: [&str; 7] = ["...B...", "..BBB..", "..BBB..", ".BBBBB.", ".BBBBB.", "DDDDDDD", "...D..."];

impl Flotsam {
    pub(super) fn bake(album: &mut Album) -> Flotsam {
        let mut images = Vec::with_capacity(Sort::ALL.len() * LOOKS * LIGHTS);
        for sort in Sort::ALL {
            for look in 0..LOOKS {
                let sprite = sprite(sort, look);
                for light in 0..LIGHTS {
                    images.push(album.add(sprite.bake(&[STUFF], light, true)));
                }
            }
        }
        let icons = Sort::ALL.map(|sort| {
            if sort == Sort::Bell {
                // The bell's raft does not fit into a line of text.
                return album.add(rows(&SMALL_BELL).bake(&[STUFF], 0, true));
            }
            let large = album.image(images[sort as usize * LOOKS * LIGHTS]).clone();
            album.add(halved(&large))
        });
        let glow = album.add(glow());
        Flotsam { images, icons, glow }
    }

    fn image(&self, sort: Sort, look: usize, light: usize) -> ImageId {
        self.images[(sort as usize * LOOKS + look % LOOKS) * LIGHTS + light]
    }

    /// Picture of half the size, for lists.
    pub(super) fn icon(&self, sort: Sort) -> ImageId {
        self.icons[sort as usize]
    }
}

/// Light on the water around a lantern.
fn glow() -> Bitmap {
    let mut out = Bitmap::new(45, 37);
    for y in 0..37 {
        for x in 0..45 {
            let (dx, dy) = ((x - 22) as f32 / 22.0, (y - 18) as f32 / 18.0);
            let near = 1.0 - (dx * dx + dy * dy).sqrt();
            if near * 0.8 > bayer(x, y) {
                out.set(x, y, FIRE[1].mix(FIRE[4], (near * 1.1).min(0.8)));
            }
        }
    }
    out
}

fn halved(large: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new(large.width() / 2 + 1, large.height() / 2 + 1);
    for y in 0..out.height() {
        for x in 0..out.width() {
            if let Some(color) = large.get(2 * x, 2 * y) {
                out.set(x, y, color);
            }
        }
    }
    out
}

fn sprite(sort: Sort, look: usize) -> Sprite {
    match sort {
        Sort::Crate => rows(&CRATE),
        Sort::Decoy => rows(&DECOY),
        Sort::Bell => rows(&BELL),
        Sort::Lily => round(6.4, |x, y, far| lily(x, y, far, look)),
        Sort::Log => round(7.2, |_, _, far| match far {
            far if far > 6.2 => 'b',
            far if (far as i32) % 2 == 0 => 'w',
            _ => 'W',
        }),
        Sort::Barrel => round(7.2, |x, _, far| match far {
            far if far > 6.1 => 's',
            far if far > 5.0 => 'b',
            _ if (x as i32 + 20) % 4 == 0 => 'W',
            _ => 'w',
        }),
        Sort::Cheese => round(5.2, |x, y, far| {
            let notch = x > 0.0 && y > -x * 0.2 && y < x * 0.7;
            let hole = (x + 2.0).abs() < 1.0 && (y - 1.0).abs() < 1.0
                || (x - 1.0).abs() < 0.8 && (y + 2.6).abs() < 0.8;
            match () {
                () if notch => '.',
                () if hole || far > 4.4 => 'C',
                () => 'c',
            }
        }),
        Sort::Lantern => round(5.2, |_, _, far| match far {
            far if far > 3.6 => 'b',
            far if far > 2.4 => 'o',
            _ => 'y',
        }),
    }
}

fn lily(x: f32, y: f32, far: f32, look: usize) -> char {
    let notch = if look == 0 { x > 0.0 && y.abs() < x * 0.45 } else { y > 0.0 && x.abs() < y * 0.45 };
    if look == 1 && (x + 1.0) * (x + 1.0) + (y + 1.5) * (y + 1.5) < 5.5 {
        return if far < 2.2 && (x + 1.0).abs() < 0.8 { 'y' } else { 'f' };
    }
    match () {
        () if notch => '.',
        () if far > 5.2 => 'G',
        () if (x * 1.3).abs() < 0.6 || (y * 1.3).abs() < 0.6 => 'G',
        () => 'g',
    }
}

fn rows(rows: &[&str]) -> Sprite {
    let wide = rows.iter().map(|row| row.len()).max().unwrap_or(0) as i32;
    let mut sprite = Sprite::new(wide + 2, rows.len() as i32 + 2);
    for (y, row) in (1..).zip(rows) {
        for (x, letter) in (1..).zip(row.chars()) {
            if letter != '.' {
                sprite.set(x, y, letter);
            }
        }
    }
    sprite
}

/// A round sprite from a function of the position around its center.
fn round(radius: f32, what: impl Fn(f32, f32, f32) -> char) -> Sprite {
    let half = radius as i32 + 2;
    let mut sprite = Sprite::new(2 * half + 1, 2 * half + 1);
    for y in -half..=half {
        for x in -half..=half {
            let far = ((x * x + y * y) as f32).sqrt();
            let letter = if far <= radius { what(x as f32, y as f32, far) } else { '.' };
            if letter != '.' {
                sprite.set(x + half, y + half, letter);
            }
        }
    }
    sprite
}

impl Painter<'_> {
    /// Draws all things, those lower on the screen in front.
    pub(super) fn things(&mut self, pond: &Pond, audience: &Audience<'_>) {
        let mut seen: Vec<(&Floating, (f32, f32))> = Vec::with_capacity(160);
        for floating in &pond.floating {
            let at = self.shown(floating.thing.place, floating.thing.velocity);
            if self.sees(at, 20.0) {
                seen.push((floating, at));
            }
        }
        seen.sort_by(|(a, at), (b, other)| {
            let flat = |floating: &Floating| floating.thing.sort != Sort::Lily;
            (flat(a), at.1).partial_cmp(&(flat(b), other.1)).unwrap_or(std::cmp::Ordering::Equal)
        });
        for (floating, at) in seen {
            self.thing(floating, at, audience);
        }
    }

    fn thing(&mut self, floating: &Floating, (x, y): (f32, f32), audience: &Audience<'_>) {
        let Floating { id, thing, holder, held, .. } = floating;
        let number = id.to_bits() as i32;
        let bob = if self.calm { 0.0 } else { sine(self.time * 0.04 + number as f32 * 1.7) * 0.8 };
        let radius = thing.sort.radius() as f32;
        if thing.sort == Sort::Lantern {
            self.glow(x, y, number);
        }
        if !thing.rests() && thing.sort != Sort::Lily {
            self.wash(x, y, radius, number);
        }
        let shown = *held || !thing.rests() || audience.holders;
        if let Some(color) = SEATS_SIX.get(usize::from(*holder)).filter(|_| shown) {
            self.tint(x, y, radius + 3.0, *color, *held);
        }
        let look = (chance(number, 1, 2) * LOOKS as f32) as usize;
        let image = self.flotsam.image(thing.sort, look, light(pixels(thing.place[1])));
        for level in 0..thing.count {
            self.about(image, (x, y + bob - f32::from(level) * 5.0), 16);
        }
    }

    /// Marks the seat that holds a thing: dots, and a ring if it is locked.
    fn tint(&mut self, x: f32, y: f32, radius: f32, color: Color, held: bool) {
        let dots = if held { 28 } else { 10 };
        for dot in 0..dots {
            let angle = dot as f32 * std::f32::consts::TAU / dots as f32 + self.time * 0.012;
            let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2) * radius, sine(angle) * radius * 0.86);
            self.scene.dot((x + dx).floor(), (y + dy).floor(), color);
        }
    }

    fn glow(&mut self, x: f32, y: f32, number: i32) {
        let flicker = if self.calm { 0.0 } else { sine(self.time * 0.11 + number as f32) * 2.0 };
        self.about(self.flotsam.glow, (x, y), (12.0 + flicker) as u8);
    }

    /// Rings around a moving thing.
    fn wash(&mut self, x: f32, y: f32, radius: f32, number: i32) {
        if self.calm {
            return;
        }
        let age = (self.time + (number % 23) as f32) % 24.0;
        let reach = radius + 2.0 + age * 0.25;
        for dot in 0..12 {
            let angle = dot as f32 * std::f32::consts::TAU / 12.0 + number as f32;
            let (dx, dy) = (sine(angle + std::f32::consts::FRAC_PI_2) * reach, sine(angle) * reach * 0.7);
            self.scene.blend(x + dx, y + dy, 2.0, 1.0, MIST[1], 0.5 - age * 0.018);
        }
    }
}
