//! Images of drakes, ducklings and hornets, one per direction so that light comes from above.
//!
//! `Stage` bakes them, `Painter` draws them. Absent: motion.

use gaggle_scene::{Album, ImageId, LIGHTS, Material, Sprite, Tones, palette, sine};

use super::Painter;
use super::{Audience, flickers, light};
use crate::Drake;
use crate::field::SEATS;
use crate::standing::Form;
use gaggle_kit::Angle;

/// Directions a drake is drawn in.
const HEADINGS: usize = 32;
/// Pixels across and down of a drake's image.
const CELL: i32 = 23;
/// Poses of its wings: spread, swept, folded in a dash.
const POSES: usize = 3;

/// Image ids of all fliers.
#[derive(Debug, Clone)]
pub(super) struct Fliers {
    drakes: Vec<ImageId>,
    ducklings: Vec<ImageId>,
    hornets: Vec<ImageId>,
}

impl Fliers {
    pub(super) fn bake(album: &mut Album) -> Fliers {
        let mut drakes = Vec::with_capacity(SEATS * POSES * HEADINGS * LIGHTS);
        let mut ducklings = Vec::with_capacity(SEATS * HEADINGS * LIGHTS);
        for color in palette::SEATS_SIX {
            let cloth: &[Material] = &[('h', Tones::cloth(color)), ('c', Tones::cloth_shade(color))];
            for pose in 0..POSES {
                for heading in 0..HEADINGS {
                    let sprite = traced(CELL, heading, |u, v| drake(u, v, pose));
                    for light in 0..LIGHTS {
                        drakes.push(album.add(sprite.bake(&[cloth, FEATHERS], light, true)));
                    }
                }
            }
            for heading in 0..HEADINGS {
                let sprite = traced(13, heading, duckling);
                for light in 0..LIGHTS {
                    ducklings.push(album.add(sprite.bake(&[cloth, FEATHERS], light, true)));
                }
            }
        }
        let hornets =
            (0..HEADINGS).map(|heading| album.add(traced(13, heading, hornet).bake(&[FEATHERS], 1, true)));
        Fliers { drakes, ducklings, hornets: hornets.collect() }
    }

    pub(super) fn drake(&self, seat: usize, pose: usize, heading: Angle, light: usize) -> ImageId {
        self.drakes[((seat * POSES + pose) * HEADINGS + step_of(heading)) * LIGHTS + light]
    }

    pub(super) fn duckling(&self, seat: usize, heading: Angle, light: usize) -> ImageId {
        self.ducklings[(seat * HEADINGS + step_of(heading)) * LIGHTS + light]
    }

    fn hornet(&self, heading: Angle) -> ImageId {
        self.hornets[step_of(heading)]
    }
}

/// Index of the nearest direction.
fn step_of(heading: Angle) -> usize {
    usize::from(heading.to_bits().wrapping_add(1 << 10) >> 11)
}

/// A sprite from a function of `u` ahead and `v` aside of the center.
fn traced(cell: i32, heading: usize, what: impl Fn(f32, f32) -> char) -> Sprite {
    let angle = heading as f32 * std::f32::consts::TAU / HEADINGS as f32;
    let (cos, sin) = (sine(angle + std::f32::consts::FRAC_PI_2), sine(angle));
    let mut sprite = Sprite::new(cell, cell);
    let half = cell / 2;
    for y in 0..cell {
        for x in 0..cell {
            let (dx, dy) = ((x - half) as f32, (y - half) as f32);
            let letter = what(dx * cos + dy * sin, dy * cos - dx * sin);
            if letter != '.' {
                sprite.set(x, y, letter);
            }
        }
    }
    sprite
}

const FEATHERS: &[Material] = &[
    ('W', Tones::hex(0xffffff, 0xdbe3ee, 0xa3b0cb, 0xffb982)),
    ('w', Tones::hex(0xcfd8e6, 0x97a5c2, 0x6d7a9c, 0xf08f58)),
    ('x', Tones::hex(0x8b9abc, 0x5f6d92, 0x4a567a, 0xc87848)),
    ('o', Tones::hex(0xffcf6a, 0xf79a2e, 0xc56a1e, 0xffc04a)),
    ('E', Tones::flat(palette::INK)),
    // Feathers of a duckling.
    ('d', Tones::hex(0xfff3c4, 0xf0d890, 0xc09a58, 0xffb060)),
    // Stripes and wings of a hornet.
    ('y', Tones::hex(0xffe9a0, 0xf2c14a, 0xb8801e, 0xffc04a)),
    ('k', Tones::flat(palette::PEAT[1])),
    ('g', Tones::hex(0xdfeaf2, 0xa9c4d4, 0x7d98ac, 0xe8b890)),
];

/// Material of a drake at `u` ahead and `v` aside: bill, head, collar, body, wings, tail.
fn drake(u: f32, v: f32, pose: usize) -> char {
    let side = v.abs();
    let within = |u0: f32, a: f32, b: f32| ((u - u0) / a) * ((u - u0) / a) + (v / b) * (v / b) <= 1.0;
    if (6.0..8.9).contains(&u) && side < 1.5 {
        return 'o';
    }
    if within(4.4, 2.8, 2.5) {
        return if (0.9..1.9).contains(&side) && (4.6..5.7).contains(&u) { 'E' } else { 'h' };
    }
    if (1.2..2.4).contains(&u) && side < 1.9 {
        return 'W';
    }
    if within(-1.8, 4.6, 2.7) {
        return if side < 0.9 && u < 0.2 { 'c' } else { 'W' };
    }
    // Spread, swept back, folded.
    let (reach, lead, trail) = [(8.6, 0.22, 0.62), (7.4, 0.62, 0.95), (5.0, 0.9, 1.6)][pose];
    if (1.8..reach).contains(&side) {
        let out = side - 1.8;
        let (front, rear) = (1.0 - out * lead, -4.4 - out * (trail - 0.62) + out * 0.16);
        if u < front && u > rear {
            let tip = side > reach - 1.6;
            return match () {
                () if tip => 'x',
                () if u < rear + 1.5 && out > 1.0 => 'h',
                () => 'w',
            };
        }
    }
    if (-8.4..-5.6).contains(&u) && side < 2.1 + (u + 5.6) * 0.35 {
        return 'x';
    }
    '.'
}

fn duckling(u: f32, v: f32) -> char {
    let within = |u0: f32, r: f32| (u - u0) * (u - u0) + v * v <= r * r;
    if (3.6..5.2).contains(&u) && v.abs() < 0.9 {
        return 'o';
    }
    if within(2.2, 1.9) {
        return 'h';
    }
    if within(-1.2, 2.8) {
        return 'd';
    }
    '.'
}

fn hornet(u: f32, v: f32) -> char {
    let side = v.abs();
    if (u / 4.2) * (u / 4.2) + (v / 1.7) * (v / 1.7) <= 1.0 {
        return if (u + 20.0) as i32 % 3 == 0 { 'k' } else { 'y' };
    }
    if (1.6..4.6).contains(&side) && (-1.4..1.6).contains(&(u + side * 0.35)) {
        return 'g';
    }
    '.'
}

impl Painter<'_> {
    pub(super) fn drakes(&mut self, game: &Drake, audience: &Audience<'_>) {
        for seat in 0..SEATS {
            if game.seats[seat].form != Form::Drake {
                continue;
            }
            let Some(craft) = game.body(seat) else { continue };
            let at = self.shown(craft.place, craft.velocity);
            let beat = ((self.time / 7.0) as i32 + seat as i32) % 2 == 0;
            let pose = match (craft.dash > 0, craft.thrust) {
                (true, _) => 2,
                (false, true) => usize::from(beat),
                (false, false) => 0,
            };
            let image = self.fliers.drake(seat, pose, craft.heading, light(at.1));
            let shown = if flickers(game, seat) && (self.time / 6.0) as i32 % 2 == 0 { 9 } else { 16 };
            self.about(image, at, shown);
            if game.seats[seat].shell {
                self.about(self.things.shell, at, 11);
            }
            if audience.own[seat] {
                let new = flickers(game, seat) || game.bout.phase == crate::Phase::Countdown;
                self.point_at(at, if new { 16 } else { 9 });
            }
        }
    }

    /// Draws a pointer above a local player's craft.
    fn point_at(&mut self, at: (f32, f32), shown: u8) {
        let lift = if self.calm { 0.0 } else { sine(self.time * 0.12) * 1.5 };
        self.about(self.things.pointer, (at.0, at.1 - 16.0 + lift), shown);
    }

    pub(super) fn ducklings(&mut self, game: &Drake, audience: &Audience<'_>) {
        for seat in 0..SEATS {
            if game.seats[seat].form != Form::Duckling {
                continue;
            }
            let Some(craft) = game.body(seat) else { continue };
            let (x, y) = self.shown(craft.place, craft.velocity);
            let bob = if craft.thrust && !self.calm { sine(self.time * 0.6) * 0.6 } else { 0.0 };
            let shown = if flickers(game, seat) && (self.time / 5.0) as i32 % 2 == 0 { 8 } else { 16 };
            let image = self.fliers.duckling(seat, craft.heading, light(y));
            self.about(image, (x, y + bob), shown);
            if audience.own[seat] {
                self.point_at((x, y), 16);
            }
        }
    }

    pub(super) fn hornets(&mut self, game: &Drake) {
        for hornet in game.hornets.iter().flatten() {
            let (x, y) = self.shown(hornet.place, hornet.velocity);
            let buzz = if self.calm { 0.0 } else { sine(self.time * 0.9) };
            let image = self.fliers.hornet(hornet.heading);
            self.about(image, (x, y + buzz), 16);
        }
    }
}
