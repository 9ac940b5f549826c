//! Materials: colors for the letters of pixel data, by light, and how looks differ in them.
//!
//! Called by `poses.rs` and `creatures.rs`. Absent: pixel data.

use gaggle_scene::{Color, Material, Tones, palette};

use crate::player::SEATS;

/// Materials of every letter that a look does not replace.
pub(super) const COMMON: &[Material] = &[
    // White feathers, their shaded ones, and the line between wing and body.
    ('W', Tones::hex(0xffffff, 0xdbe3ee, 0xa3b0cb, 0xffb982)),
    ('w', Tones::hex(0xcfd8e6, 0x97a5c2, 0x6d7a9c, 0xf08f58)),
    ('x', Tones::hex(0x8b9abc, 0x7383a8, 0x5a688c, 0xc87848)),
    // Bills and feet; the far foot.
    ('o', Tones::hex(0xffcf6a, 0xf79a2e, 0xc56a1e, 0xffc04a)),
    ('O', Tones::hex(0xd98a30, 0xb8661d, 0x8a4718, 0xe88a30)),
    ('r', Tones::hex(0xd3412a, 0xb8321d, 0x6e1a1c, 0xec6420)),
    // Steel, lance tips, lance wood.
    ('s', Tones::hex(0xf2f7fb, 0xa9b9cc, 0x65748f, 0xf09a60)),
    ('t', Tones::hex(0xffffff, 0xffffff, 0xf3ecd2, 0xffe08a)),
    ('L', Tones::hex(0xf3dfb4, 0xd8b982, 0x9a7648, 0xffb060)),
    // Eyes and lines; glowing eyes.
    ('E', Tones::flat(palette::INK)),
    ('k', Tones::flat(palette::INK)),
    ('e', Tones::flat(palette::FIRE[5])),
    // Faces, bone, egg shell and its specks.
    ('f', Tones::hex(0xf0c9a0, 0xd9a77c, 0xa8744f, 0xff9a5a)),
    ('b', Tones::hex(0xfff8e2, 0xe9ddc2, 0xb3a387, 0xffb982)),
    ('V', Tones::hex(0xffffff, 0xf1e6cb, 0xc0ae8f, 0xffb060)),
    ('v', Tones::hex(0xd9b98a, 0xc79f6a, 0xa37d4e, 0xd98a50)),
    // The Hern: feathers, their ragged ends, beak, glow and throat.
    ('H', Tones::hex(0xc4b9d2, 0x665a7c, 0x463b58, 0xe8702e)),
    ('h', Tones::hex(0x9186a6, 0x4a3f5c, 0x332a40, 0xbc4c2a)),
    ('B', Tones::hex(0xfff3d0, 0xd8c49a, 0x9a865f, 0xffa050)),
    ('R', Tones::hex(0xff8a3a, 0xff7a2a, 0xec6420, 0xffa636)),
    ('Y', Tones::hex(0xfff6d4, 0xffe9a0, 0xffd060, 0xfff6d4)),
    // Crust of the Clutch.
    ('c', Tones::hex(0x7a5652, 0x46303a, 0x2e1e28, 0xb8321d)),
];

/// Feathers of a dark goose, lighter than a real brent, which the night would hide.
const BRENT: &[Material] = &[
    ('W', Tones::hex(0xbdb5de, 0x6a628c, 0x474063, 0xe06a32)),
    ('w', Tones::hex(0x8e86b0, 0x4b4466, 0x332d48, 0xac4c2c)),
    ('x', Tones::hex(0x4b4466, 0x3a3452, 0x2b263d, 0x8a3e2a)),
    ('o', Tones::hex(0x857d9c, 0x4a4358, 0x332d40, 0xb8562e)),
    ('O', Tones::hex(0x5a536e, 0x362f42, 0x262030, 0x88402c)),
    ('E', Tones::flat(palette::WARN)),
];

const PEWTER: &[Material] = &[
    ('W', Tones::hex(0xb4d4de, 0x5a8090, 0x3e5e6c, 0xe07636)),
    ('w', Tones::hex(0x82a6b2, 0x426270, 0x2e4854, 0xac5830)),
    ('x', Tones::hex(0x426270, 0x34505c, 0x263c48, 0x8a4a2e)),
];

const ASHEN: &[Material] = &[
    ('W', Tones::hex(0xdcc8f6, 0x8a70b6, 0x614a8c, 0xe87842)),
    ('w', Tones::hex(0xa48cc6, 0x58457c, 0x40325e, 0xb45038)),
    ('x', Tones::hex(0x58457c, 0x463664, 0x362a50, 0x90442e)),
];

const KNAVE: u32 = 0xb5523a;
const REEVE: u32 = 0x9aa3ad;
const WRAITH: u32 = 0x5a3f86;

/// Materials of a look: slots 0 to 3, then the three classes.
pub(super) fn of_look(look: usize) -> Vec<Material> {
    let mut list = Vec::new();
    match look {
        0..SEATS => list.extend(cloth(palette::SEAT[look])),
        4 => {
            list.extend(cloth(Color::hex(KNAVE)));
            list.push(('s', Tones::hex(0xe8b48a, 0xb07a55, 0x74492f, 0xffa050)));
        }
        5 => {
            list.extend(cloth(Color::hex(REEVE)));
            list.push(('s', Tones::hex(0xffffff, 0xcdd8e2, 0x7f8ea3, 0xffb070)));
        }
        _ => {
            list.extend(cloth(Color::hex(WRAITH)));
            list.push(('s', Tones::hex(0xfff8e2, 0xd6c9ae, 0x9a8b70, 0xffb070)));
        }
    }
    list
}

/// Feathers of a look: white for knights, dark for riders.
pub(super) fn plumage(look: usize) -> Vec<Material> {
    match look {
        0..SEATS => Vec::new(),
        4 => BRENT.to_vec(),
        5 => [PEWTER, BRENT].concat(),
        _ => [ASHEN, BRENT].concat(),
    }
}

fn cloth(color: Color) -> [Material; 2] {
    [('P', Tones::cloth(color)), ('p', Tones::cloth_shade(color))]
}

/// Materials of an emblem or a small goose: one color, hardly lit.
pub(super) fn mark(color: Color) -> Vec<Material> {
    let tones = Tones {
        moon: color.mix(Color::hex(0xff_ffff), 0.35),
        base: color,
        shade: color.mix(palette::NIGHT[1], 0.25),
        fire: color,
    };
    vec![('p', tones)]
}
