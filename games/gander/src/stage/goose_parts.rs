//! Pixel art of geese: a body, and legs, necks and wings to stack on it.
//!
//! `x` and `y` count from the top left of a goose's cell. Feet are on row 25; the cell is mirrored
//! about column 12. Letters are materials (`materials.rs`), `.` is empty. Absent: poses
//! (`poses.rs`).

use gaggle_scene::Part;

pub(super) const BODY: Part = Part {
    x: 3,
    y: 13,
    rows: &[
        "W..............",
        "WWW..WWWWWWW...",
        ".WWWWWWWWWWWWW.",
        "..WWWWWWWWWWWWW",
        "..wWWWWWWWWWWWW",
        "...wwWWWWWWWWWW",
        "....wwwwWWWWWW.",
        "......wwwwww...",
    ],
};

pub(super) const NECK_UP: Part = Part {
    x: 14,
    y: 4,
    rows: &[
        "....WWW....",
        "...WWWWW...",
        "...WWWEWoo.",
        "...WWWWWooo",
        "...WWw.oo..",
        "...WW......",
        "...WW......",
        "..WWW......",
        "..WWW......",
        ".WWWW......",
        "WWWWW......",
        "WWWW.......",
        "WWW........",
    ],
};

pub(super) const NECK_OUT: Part = Part {
    x: 15,
    y: 12,
    rows: &[
        ".......WWW....",
        "......WWWWW...",
        "...WWWWWWEWoo.",
        ".WWWWWWWWWWooo",
        "WWWWWWw...oo..",
        "WWWW..........",
    ],
};

pub(super) const NECK_HONK: Part = Part {
    x: 13,
    y: 4,
    rows: &[
        "...WWW.....",
        "..WWWWW.oo.",
        "..WWWEWoo..",
        "..WWWWWr...",
        "..WWw..oo..",
        ".WWW....oo.",
        ".WW........",
        ".WW........",
        ".WWW.......",
        "..WWW......",
        "..WWWW.....",
        ".WWWW......",
        ".WWW.......",
    ],
};

pub(super) const WING_FOLD: Part = Part {
    x: 3,
    y: 15,
    rows: &[
        "..WWWWW....",
        ".WWWWWWW...",
        "wwwwwWWWW..",
        ".wwwwww....",
    ],
};

pub(super) const WING_UP: Part = Part {
    x: 0,
    y: 3,
    rows: &[
        "W............",
        "WW...........",
        "WWW..........",
        "wWWW.........",
        ".WWWW........",
        "wWWWWW.......",
        ".wWWWWW......",
        ".wwWWWWW.....",
        "..wWWWWWW....",
        "..wwWWWWWW...",
        "...wwWWWWWW..",
        "....wwWWWWW..",
        "......wwWWW..",
    ],
};

/// Half way down, with a darker edge against the body.
pub(super) const WING_MID: Part = Part {
    x: -2,
    y: 12,
    rows: &[
        "....WWWWWWWW....",
        "WWWWWWWWWWWWWW..",
        ".WWWWWWWWWWWWWw.",
        "wwWwwWWwWWWWWwx.",
        ".wwwwwwwwWwwwx..",
        "..xwwwxwwwxxx...",
        "....xx.xxx......",
    ],
};

pub(super) const WING_DOWN: Part = Part {
    x: 3,
    y: 15,
    rows: &[
        "..WWWWWWWw.",
        ".WWWWWWWWww",
        ".WWWWWWWWWw",
        "wWWWWWWWWw.",
        "wWWWWWWWww.",
        "wWwWWwWWw..",
        "wWwWWwWw...",
        ".WwWWwW....",
        ".w.wW.w....",
        "....w......",
    ],
};

pub(super) const LEGS_STAND: Part = Part {
    x: 8,
    y: 21,
    rows: &[
        ".o..O...",
        ".o..O...",
        ".o..O...",
        ".oo.OO..",
        ".oooOOO.",
    ],
};

pub(super) const LEGS_RUN0: Part = Part {
    x: 4,
    y: 21,
    rows: &[
        "....O..o....",
        "..OO....o...",
        ".O.......o..",
        "O........oo.",
        "OO.......ooo",
    ],
};

pub(super) const LEGS_RUN1: Part = Part {
    x: 7,
    y: 21,
    rows: &[
        "..Oo....",
        ".O.o....",
        "OO.o....",
        "...oo...",
        "...ooo..",
    ],
};

pub(super) const LEGS_RUN2: Part = Part {
    x: 4,
    y: 21,
    rows: &[
        "....o..O....",
        "..oo....O...",
        ".o.......O..",
        "o........OO.",
        "oo.......OOO",
    ],
};

pub(super) const LEGS_RUN3: Part = Part {
    x: 7,
    y: 21,
    rows: &[
        "..oO....",
        ".o.O....",
        "oo.O....",
        "...OO...",
        "...OOO..",
    ],
};

pub(super) const LEGS_TUCK: Part = Part {
    x: 3,
    y: 20,
    rows: &[
        ".....ooo",
        ".oooooo.",
        "ooo.....",
    ],
};

pub(super) const LEGS_SKID: Part = Part {
    x: 9,
    y: 21,
    rows: &[
        ".o..O....",
        "..o..O...",
        "...o..O..",
        "...oo.OO.",
        "...oooOOO",
    ],
};

/// Turning its head, on the ground.
pub(super) const NECK_TURN: Part = Part {
    x: 13,
    y: 4,
    rows: &[
        "...WWW...",
        "..WWWWW..",
        "..EWWWE..",
        "..WWoWW..",
        "...WoW...",
        "...WoW...",
        "...WW....",
        "..WWW....",
        "..WWW....",
        ".WWWW....",
        "WWWWW....",
        "WWWW.....",
        "WWW......",
    ],
};

/// Turning its head, in the air.
pub(super) const NECK_TURN_AIR: Part = Part {
    x: 14,
    y: 11,
    rows: &[
        "...WWW..",
        "..WWWWW.",
        "..EWWWE.",
        ".WWWoWW.",
        "WWWWoW..",
        "WWWWo...",
        "WWW.....",
    ],
};
