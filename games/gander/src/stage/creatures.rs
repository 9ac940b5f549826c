//! Images of all but geese: eggs, hatchlings, Herns, the Clutch, and the emblems and life icons of
//! the score.
//!
//! Painted once by `stage.rs` and `figures.rs`. Absent: pixel data (`fen_parts.rs`), places.

use gaggle_scene::{Album, Bitmap, Color, ImageId, LIGHTS, Material, Part, Sprite, bayer, palette};

use super::fen_parts::*;
use super::materials::{COMMON, mark, of_look};
use crate::player::SEATS;

/// Middle column and throat row of a Hern's image, and its width.
pub(super) const HERN_CENTER: i32 = 24;
pub(super) const HERN_THROAT: i32 = 18;
pub(super) const HERN_WIDTH: i32 = 50;
/// Wings of a Hern, from up to down.
const HERN_BEAT: [&Part; 4] = [&HERN_WING_UP, &HERN_WING_RISE, &HERN_WING_MID, &HERN_WING_DOWN];

/// Images of one album.
#[derive(Debug, Clone)]
pub(super) struct Creatures {
    /// Whole and cracked, by light.
    eggs: [[ImageId; LIGHTS]; 2],
    /// Standing and waving, by class and light.
    hatchlings: [[[ImageId; LIGHTS]; 2]; 3],
    /// By wing, open or shut beak, and light.
    herns: [[[ImageId; LIGHTS]; 2]; 4],
    pub(super) hand_tips: ImageId,
    pub(super) hand: ImageId,
    pub(super) fist: ImageId,
    pub(super) fingers: ImageId,
    pub(super) arm: ImageId,
    /// Emblems of the players, by slot.
    pub(super) emblems: [ImageId; SEATS],
    pub(super) emblem_free: [ImageId; SEATS],
    pub(super) lives: [ImageId; SEATS],
    /// Light an appearing knight stands in, by slot; the last is for riders.
    pub(super) columns: [ImageId; SEATS + 1],
}

impl Creatures {
    pub(super) fn bake(album: &mut Album) -> Creatures {
        let eggs = [&EGG, &EGG_CRACK].map(|part| lights(album, &[part], &[], true));
        let hatchlings = std::array::from_fn(|class| {
            let cloth = of_look(SEATS + class);
            [&HATCHLING, &HATCHLING_WAVE].map(|part| lights(album, &[part], &cloth, true))
        });
        let herns = HERN_BEAT.map(|wing| {
            [&HERN_BODY, &HERN_BODY_SHUT].map(|body| {
                std::array::from_fn(|light| {
                    let mut sprite = Sprite::new(HERN_WIDTH, 36);
                    sprite.put(body, 2, 8).put(wing, 2, 8);
                    album.add(sprite.bake(&[COMMON], light, true))
                })
            })
        });
        let mut lit = |part| single(album, part, &[], 3, true);
        let (hand_tips, hand, fist, fingers) =
            (lit(&HAND_TIPS), lit(&HAND), lit(&HAND_FIST), lit(&HAND_FINGERS));
        let arm = album.add(arm());
        let Marks { emblems, emblems_free: emblem_free, mounts: lives } = Marks::bake(album);
        let columns = std::array::from_fn(|seat| {
            let color = palette::SEAT.get(seat).copied().unwrap_or(palette::FIRE[3]);
            album.add(column(color.mix(palette::NIGHT[2], 0.45)))
        });
        Creatures {
            eggs,
            hatchlings,
            herns,
            hand_tips,
            hand,
            fist,
            fingers,
            arm,
            emblems,
            emblem_free,
            lives,
            columns,
        }
    }

    pub(super) fn egg(&self, cracked: bool, light: usize) -> ImageId {
        self.eggs[usize::from(cracked)][light]
    }

    pub(super) fn hatchling(&self, class: usize, waving: bool, light: usize) -> ImageId {
        self.hatchlings[class.min(2)][usize::from(waving)][light]
    }

    /// Image of a Hern, `beat` frames into its flight.
    pub(super) fn hern(&self, beat: u8, open: bool, light: usize) -> ImageId {
        let wing = [0, 1, 2, 3, 3, 2, 1, 0][usize::from(beat / 5) % 8];
        self.herns[wing][usize::from(!open)][light]
    }
}

/// Icons of the score: emblem and spare geese, by slot.
pub(super) struct Marks {
    pub(super) emblems: [ImageId; SEATS],
    pub(super) emblems_free: [ImageId; SEATS],
    pub(super) mounts: [ImageId; SEATS],
}

impl Marks {
    pub(super) fn bake(album: &mut Album) -> Marks {
        let emblem = [&EMBLEM_PLUME, &EMBLEM_HORNS, &EMBLEM_CROWN, &EMBLEM_STAR];
        let mut marks = |part: &Part, color: Color| single(album, part, &mark(color), 0, false);
        Marks {
            emblems: std::array::from_fn(|seat| marks(emblem[seat], palette::SEAT[seat])),
            emblems_free: std::array::from_fn(|seat| marks(emblem[seat], palette::PEAT[4])),
            mounts: std::array::from_fn(|seat| marks(&LIFE, palette::SEAT[seat])),
        }
    }
}

fn lights(album: &mut Album, parts: &[&Part], materials: &[Material], outline: bool) -> [ImageId; LIGHTS] {
    std::array::from_fn(|light| single(album, parts[0], materials, light, outline))
}

/// One part in an image of its own size, with a border for the outline.
fn single(album: &mut Album, part: &Part, materials: &[Material], light: usize, outline: bool) -> ImageId {
    let width = part.rows.iter().map(|row| row.len()).max().unwrap_or(0) as i32;
    let mut sprite = Sprite::new(width + 2, part.rows.len() as i32 + 2);
    sprite.put(part, 1 - part.x, 1 - part.y);
    album.add(sprite.bake(&[materials, COMMON], light, outline))
}

fn arm() -> Bitmap {
    let mut sprite = Sprite::new(13, 8);
    // Neighbors above and below keep the outline open at both ends, so that segments join.
    sprite.put(&ARM, 0, -2).put(&ARM, 0, 4);
    sprite.bake(&[COMMON], 3, true)
}

/// Light that rises from a pad, thinner toward the top and the sides.
fn column(color: Color) -> Bitmap {
    let (width, height) = (29, 34);
    let mut out = Bitmap::new(width, height);
    for y in 0..height {
        for x in 0..width {
            let high = y as f32 / height as f32;
            let aside = 1.0 - (x - width / 2).abs() as f32 / 17.0;
            if high * aside * 0.6 > bayer(x, y) {
                out.set(x, y, color);
            }
        }
    }
    out
}
