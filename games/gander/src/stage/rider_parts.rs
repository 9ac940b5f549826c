//! Pixel art of riders: cloth, helms, crests, and the lance, which is on the same row everywhere.
//!
//! `x` and `y` count from the top left of a goose's cell. Feet are on row 25; the cell is mirrored
//! about column 12. Letters are materials (`materials.rs`), `.` is empty. Absent: geese.

use gaggle_scene::Part;

pub(super) const RIDER: Part = Part {
    x: 7,
    y: 8,
    rows: &[
        ".PPPP...",
        "PPPPPP..",
        "PPPPPss.",
        "PPPPPPs.",
        ".PPPP...",
        ".PPPPP..",
        ".PPPPPP.",
        ".PPPssP.",
        ".PPpssP.",
        "..p.ss..",
        "....sss.",
    ],
};

pub(super) const HELM_PLAYER: Part = Part {
    x: 8,
    y: 3,
    rows: &[
        ".ssss.",
        "ssssss",
        "ssskkk",
        "ssssks",
        ".ssss.",
    ],
};

pub(super) const HELM_KNAVE: Part = Part {
    x: 7,
    y: 3,
    rows: &[
        "..ssss..",
        ".ssssss.",
        "ssssssss",
        "..ffkf..",
        "..ffff..",
    ],
};

pub(super) const HELM_REEVE: Part = Part {
    x: 8,
    y: 1,
    rows: &[
        "..s....",
        "..ss...",
        ".ssss..",
        ".sssss.",
        "ssssss.",
        "ssfkks.",
        ".ffks..",
    ],
};

pub(super) const HELM_WRAITH: Part = Part {
    x: 6,
    y: -2,
    rows: &[
        "b..b...b.b",
        "bb.b...bbb",
        ".bbb...bb.",
        "..bb..bb..",
        "...bbbb...",
        "..bbbbbb..",
        "..bbbRbR..",
        "..bbbbbb..",
        "...bkbk...",
        "...bbb....",
    ],
};

pub(super) const CREST_PLUME: Part = Part {
    x: 4,
    y: -1,
    rows: &[
        "..PPP...",
        ".PPPPPP.",
        "PPPpPPPP",
        "PPp...PP",
        "Pp......",
    ],
};

pub(super) const CREST_HORNS: Part = Part {
    x: 6,
    y: -1,
    rows: &[
        "P........P",
        "PP......PP",
        "PPP....PPP",
        ".PPP..PPP.",
        "..PP..PP..",
    ],
};

pub(super) const CREST_CROWN: Part = Part {
    x: 7,
    y: -1,
    rows: &[
        "P..PP..P",
        "PP.PP.PP",
        "PPPPPPPP",
        ".PPPPPP.",
    ],
};

pub(super) const CREST_STAR: Part = Part {
    x: 8,
    y: -3,
    rows: &[
        "..PP..",
        ".PPPP.",
        "PPPPPP",
        ".PPPP.",
        "..PP..",
        "..PP..",
    ],
};

/// Row 10, 15 pixels above the feet: the height of `mover::LANCE`.
pub(super) const LANCE: Part = Part {
    x: 5,
    y: 10,
    rows: &[
        "LLLLLLLLLLLLLLLLLLLLLttttt",
        ".....PP...................",
    ],
};
