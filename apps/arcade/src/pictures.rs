//! Images of all panels: emblems of slots, geese, lettering and small symbols. They are constant,
//! so one album exists, made at its first use. Panels draw with it. Absent: panels.

use std::sync::LazyLock;

use gaggle_scene::{Album, Bitmap, Color, ImageId, emblem, lettering, palette};
use gander::stage::Figures;

use crate::emotes;

/// Images of panels.
#[derive(Debug)]
pub(crate) struct Pictures {
    album: Album,
    pub(crate) figures: Figures,
    /// Emblems of slots, taken and free.
    pub(crate) emblems: [ImageId; palette::SEATS_SIX.len()],
    pub(crate) emblems_free: [ImageId; palette::SEATS_SIX.len()],
    /// The lettering GAGGLE: large and dense, large, and small.
    pub(crate) title: [ImageId; 3],
    /// Heading WELL FLOWN.
    pub(crate) well_flown: ImageId,
    /// The lettering JOINING.
    pub(crate) joining: ImageId,
    /// Eye of a spectator.
    pub(crate) eye: ImageId,
    /// Destination of the goose that walks along a progress bar.
    pub(crate) nest: ImageId,
    /// Mark of a completed step.
    pub(crate) tick: ImageId,
    /// Wing that flaps.
    pub(crate) wing: ImageId,
    /// Cup of the leaderboard.
    pub(crate) cup: ImageId,
    /// Symbol of full screen.
    pub(crate) corners: ImageId,
    /// Pictures of the emotes.
    pub(crate) emotes: [ImageId; emotes::COUNT],
    /// A speaker that is on, and one that is off.
    pub(crate) speaker: [ImageId; 2],
}

/// Columns and rows of the emblem of a slot.
const EMBLEM: i32 = 11;

/// The album of every panel, with which their scenes are painted.
pub fn album() -> &'static Album {
    &pictures().album
}

pub(crate) fn pictures() -> &'static Pictures {
    static PICTURES: LazyLock<Pictures> = LazyLock::new(|| {
        let mut album = Album::default();
        let figures = Figures::bake(&mut album);
        let mark = |seat, color| {
            let mut out = Bitmap::new(EMBLEM, EMBLEM);
            let inset = (EMBLEM - emblem::SIZE) / 2;
            out.blit(&emblem::emblem(seat, color), inset, inset);
            out
        };
        // The first four use the larger emblems of the geese.
        let emblems = std::array::from_fn(|seat| match figures.emblems.get(seat) {
            Some(image) => *image,
            None => album.add(mark(seat, palette::SEATS_SIX[seat])),
        });
        let emblems_free = std::array::from_fn(|seat| match figures.emblems_free.get(seat) {
            Some(image) => *image,
            None => album.add(mark(seat, palette::PEAT[4])),
        });
        let mut letters =
            |text, rounds, track| album.add(lettering(text, &palette::LETTERING, rounds, track));
        let title = [letters("GAGGLE", 2, 0), letters("GAGGLE", 2, 1), letters("GAGGLE", 1, 1)];
        let (well_flown, joining) = (letters("WELL FLOWN", 1, 1), letters("JOINING", 1, 1));
        let mut sign = |rows: &[&str]| album.add(stamped(rows));
        let (eye, nest, tick) = (sign(EYE), sign(NEST), sign(TICK));
        let wing = sign(WING);
        let (cup, corners) = (sign(CUP), sign(CORNERS));
        let speaker = [sign(SPEAKER_ON), sign(SPEAKER_OFF)];
        let emotes = emotes::PICTURES.map(|rows| album.add(doubled(&stamped(rows))));
        Pictures {
            album,
            figures,
            emblems,
            emblems_free,
            title,
            well_flown,
            joining,
            eye,
            nest,
            tick,
            wing,
            cup,
            corners,
            emotes,
            speaker,
        }
    });
    &PICTURES
}

#[rustfmt::skip]
const EYE: &[&str] = &[
    "..ddddd..",
    ".d.ddd.d.",
    "d.dd.dd.d",
    ".d.ddd.d.",
    "..ddddd..",
];

#[rustfmt::skip]
const NEST: &[&str] = &[
    "....mmm..mmm.mm...",
    "...mmmmmmmmmmmmm..",
    ".h.mmsmmmsmmmsmm.h",
    "hbhhbhhbhhbbhhbhhb",
    ".hbbhbbhbbhbbhbbh.",
    "..bpbbpbbpbbpbbp..",
    "....pbbpbbpbbp....",
];

#[rustfmt::skip]
const TICK: &[&str] = &[
    ".......g",
    "......g.",
    ".....g..",
    "g...g...",
    ".g.g....",
    "..g.....",
];

#[rustfmt::skip]
const WING: &[&str] = &[
    "mm....................",
    "mmmm..................",
    ".wwmmm................",
    ".wwwwmmm..............",
    "..wwwwwmmm............",
    "..xwwwwwwmmm..........",
    "...xwwwwwwwmmm........",
    "...wwxwwwwwwwmm.......",
    "....xwwwxwwwwwmm......",
    "....wwxwwwxwwwwmm.....",
    ".....xwwxwwwxwwwmm....",
    "......wwwxwwwwxwwmm...",
    ".......xwwxwwwwwwwmm..",
    "........xwwxwwwwwwwm..",
    ".........oxwwwxwwwww..",
    "..........ooxxwwwwwo..",
    "............ooooooo...",
];

#[rustfmt::skip]
const CUP: &[&str] = &[
    "mmmmmmmmm",
    "m.mmmmm.m",
    "m.mmmmm.m",
    ".mmmmmmm.",
    "...mmm...",
    "....s....",
    "....s....",
    "...sss...",
    "..sssss..",
];

#[rustfmt::skip]
const CORNERS: &[&str] = &[
    "ttt...ttt",
    "t.......t",
    "t.......t",
    ".........",
    ".........",
    ".........",
    "t.......t",
    "t.......t",
    "ttt...ttt",
];

#[rustfmt::skip]
const SPEAKER_ON: &[&str] = &[
    "...t.....t.",
    "..tt..t...t",
    "tttt...t..t",
    "tttt...t..t",
    "tttt...t..t",
    "..tt..t...t",
    "...t.....t.",
];

#[rustfmt::skip]
const SPEAKER_OFF: &[&str] = &[
    "...d.......",
    "..dd..d...d",
    "dddd...d.d.",
    "dddd....d..",
    "dddd...d.d.",
    "..dd..d...d",
    "...d.......",
];

fn stamped(rows: &[&str]) -> Bitmap {
    let wide = rows.iter().map(|row| row.len()).max().unwrap_or(0);
    let mut bitmap = Bitmap::new(wide as i32, rows.len() as i32);
    bitmap.stamp(0, 0, rows, color);
    bitmap
}

/// The image at twice its size.
fn doubled(small: &Bitmap) -> Bitmap {
    let mut out = Bitmap::new(2 * small.width(), 2 * small.height());
    for y in 0..out.height() {
        for x in 0..out.width() {
            if let Some(color) = small.get(x / 2, y / 2) {
                out.set(x, y, color);
            }
        }
    }
    out
}

fn color(letter: char) -> Color {
    match letter {
        'd' => palette::DIM,
        'k' => palette::INK,
        'r' => Color::hex(0xe8_50_4a),
        'u' => palette::SEAT[0],
        'y' => palette::FIRE[5],
        't' => palette::TEXT,
        'w' => Color::hex(0xdbe3ee),
        'x' => Color::hex(0xa3b0cb),
        'o' => Color::hex(0xffb982),
        'm' => palette::MOON,
        's' => palette::MOON_SHADE,
        'h' => palette::PEAT[4],
        'b' => palette::PEAT[3],
        'p' => palette::PEAT[2],
        _ => palette::OK,
    }
}
