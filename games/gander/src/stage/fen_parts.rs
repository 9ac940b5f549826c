//! Pixel art of eggs, hatchlings, Herns and the Clutch, and of the marks of the score.
//!
//! Letters are materials (`materials.rs`), `.` is empty; `x` and `y` are offsets in a cell that
//! `creatures.rs` chooses. Absent: geese (`goose_parts.rs`).

use gaggle_scene::Part;

pub(super) const EGG: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..VVV..",
        ".VVVVV.",
        ".VVVVV.",
        "VVVVVVV",
        "VVvVVVV",
        "VVVVVvV",
        ".VVVVV.",
        "..VVV..",
    ],
};

pub(super) const EGG_CRACK: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..VVV..",
        ".VVVVV.",
        ".VVVVV.",
        "kVVVkVV",
        "VkVkVkV",
        "VVkVVVk",
        ".VVVVV.",
        "..VVV..",
    ],
};

pub(super) const HATCHLING: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..sss..",
        ".sssss.",
        ".sfkkf.",
        "..fff..",
        ".PPPPP.",
        "PPPPPPP",
        "P.PPP.P",
        "..P.P..",
        ".VV.VV.",
        "VVVVVVV",
        ".VVVVV.",
    ],
};

pub(super) const HATCHLING_WAVE: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..sss.P",
        ".sssssP",
        ".sfkkfP",
        "..fff.P",
        ".PPPPPP",
        "PPPPPP.",
        "P.PPP..",
        "..P.P..",
        ".VV.VV.",
        "VVVVVVV",
        ".VVVVV.",
    ],
};

pub(super) const HERN_BODY: Part = Part {
    x: 0,
    y: 3,
    rows: &[
        "............................BB................",
        "..........................BBB.................",
        "........................BBBHHHH...............",
        "..........................HHHHHHH.............",
        ".........................HHHHHeHHBBBBBBB......",
        "........................HHHHHHHHHBBBBBBBBBBBB.",
        "........................HHHHrRRYYY............",
        "....................HHHHHHHHrRYYYY............",
        "...............HHHHHHHHHHHHHHrRRRBBBBBB.......",
        ".............HHHHHHHHHHHHHHHHHH.BBBBBBBBBB....",
        "..........HHHHHHHHHHHHHHHHHHH.................",
        ".....oooHHHHHHHHHHHHHHHHHH....................",
        ".ooooo..hhHHHHHHHHHHHHH.......................",
        "oo..oooo..hhhhHHHHHH..........................",
        ".ooo..........................................",
    ],
};

pub(super) const HERN_BODY_SHUT: Part = Part {
    x: 0,
    y: 3,
    rows: &[
        "............................BB................",
        "..........................BBB.................",
        "........................BBBHHHH...............",
        "..........................HHHHHHH.............",
        ".........................HHHHHeHHBBBBBBB......",
        "........................HHHHHHHHHBBBBBBBBBBBBB",
        "........................HHHHHHHHBBBBBBBBBB....",
        "....................HHHHHHHHHHHHH.............",
        "...............HHHHHHHHHHHHHHHHH..............",
        ".............HHHHHHHHHHHHHHHHH................",
        "..........HHHHHHHHHHHHHHHHHH..................",
        ".....oooHHHHHHHHHHHHHHHHHH....................",
        ".ooooo..hhHHHHHHHHHHHHH.......................",
        "oo..oooo..hhhhHHHHHH..........................",
        ".ooo..........................................",
    ],
};

pub(super) const HERN_WING_UP: Part = Part {
    x: 4,
    y: -6,
    rows: &[
        "...hh..................",
        "..hHHhh................",
        "hh.hHHHhh..............",
        ".hHHHHHHHhh............",
        "..hhHHHHHHHhh..........",
        "....hHHHHHHHHh.........",
        ".hhhHHHHHHHHHHh........",
        "...hhHHHHHHHHHHh.......",
        ".....hhHHHHHHHHHh......",
        "...hhhHHHHHHHHHHHh.....",
        "......hhHHHHHHHHHHh....",
        "........hHHHHHHHHHHh...",
        ".....hhhhHHHHHHHHHHHh..",
        ".........hhHHHHHHHHHHh.",
        "..........hhHHHHHHHHHHh",
        "............HHHHHHHHHHH",
        ".............HHHHHHHHHH",
        "..............HHHHHHHH.",
    ],
};

pub(super) const HERN_WING_DOWN: Part = Part {
    x: 8,
    y: 12,
    rows: &[
        "....HHHHHHHHHHH..",
        "...HHHHHHHHHHHH..",
        "..HHHHHHHHHHHH...",
        ".hHHHHHHHHHHHh...",
        "hHHHHHHHHHHHh....",
        "hHhHHHHHHHHh.....",
        "h.hHhHHHHHh......",
        "..h.hHHhHh.......",
        "....hHh.h........",
        "....hh...........",
        "....h............",
    ],
};

pub(super) const HAND_TIPS: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "...cc.....cc......",
        "..cRc..c..cRc..c..",
        "..ccc.cRc.ccc.cRc.",
        "..cRc.ccc.cRc.ccc.",
        ".ccRccccRccRcccRc.",
        ".RccRcRccRcRccRcR.",
    ],
};

pub(super) const HAND: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "........ccc............",
        ".......cccc....ccc.....",
        ".......ccRc...cccc.....",
        ".......cRcc...cRcc.....",
        "..cc...cRcc...cRcc.cc..",
        ".cccc..ccRc..ccRc.cccc.",
        ".cRcc..ccRcc.cRcc.cRcc.",
        ".ccRcc..cRcc.cRccccRcc.",
        "..cRcc..cRccccRcccRcc..",
        "..ccRcc.ccRcccRcccRcc..",
        "...cRccccccccccccRccc..",
        "...ccRccccRRccccccccc..",
        "....ccRccRccRRcccRccc..",
        "....cccRRccccccRRccc...",
        ".....cccccccccRcccc....",
        ".....ccRRccccRccRc.....",
        "......cccRccRccRcc.....",
        "......ccccRRcccccc.....",
        "......ccccRcccRcc......",
        ".......cccRccRccc......",
        ".......cccRccRccc......",
        ".......ccRcccRccc......",
        "......cccRcccRccc......",
        "......ccRccccRcccc.....",
        "......cRRccccRRcRc.....",
        ".....RcRcccRccRcRRc....",
        ".....RRccRcRccRccRR....",
    ],
};

pub(super) const HAND_FIST: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "....cccc.ccc.ccc....",
        "...ccRcccRccccRccc..",
        "..cccRcccRcccRcccRc.",
        "..ccRccccRcccRcccRc.",
        ".cccRcccRccccRccRcc.",
        ".ccccccccccccccccc..",
        ".cRRcccccRRcccccRc..",
        ".ccRRRcccccRRcccc...",
        "..cccRRRccccccRc....",
        "...cccccRRcccRcc....",
        "....cccccRcccRc.....",
        ".....ccccRcccc......",
        ".....cccRccRcc......",
        ".....ccRcccRcc......",
        ".....cRccccRcc......",
        "....ccRcccRccc......",
        "....cRRccRRccRc.....",
        "...RRcRcRccRcRRc....",
    ],
};

pub(super) const EMBLEM_PLUME: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "......ppp",
        "....ppppp",
        "...ppp.pp",
        "..ppp.ppp",
        ".ppp.ppp.",
        ".pp.pppp.",
        ".p.pppp..",
        ".pppp....",
        "p........",
    ],
};

pub(super) const EMBLEM_HORNS: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "pp.....pp",
        "pp.....pp",
        "ppp...ppp",
        ".ppp.ppp.",
        ".ppppppp.",
        "..ppppp..",
        "..ppppp..",
        "...ppp...",
        "....p....",
    ],
};

pub(super) const EMBLEM_CROWN: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "....p....",
        "p..ppp..p",
        "pp.ppp.pp",
        "ppppppppp",
        "ppppppppp",
        ".ppppppp.",
        ".........",
        ".ppppppp.",
        ".ppppppp.",
    ],
};

pub(super) const EMBLEM_STAR: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "....p....",
        "...ppp...",
        "..ppppp..",
        ".ppppppp.",
        "ppppppppp",
        ".ppppppp.",
        "..ppppp..",
        "...ppp...",
        "....p....",
    ],
};

pub(super) const LIFE: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        ".....pp..",
        ".....ppoo",
        ".....p...",
        "p...pp...",
        "ppppppp..",
        ".pppppp..",
        "..pppp...",
        "...o.o...",
    ],
};

/// Half way down.
pub(super) const HERN_WING_MID: Part = Part {
    x: 0,
    y: 5,
    rows: &[
        "hh.....................",
        ".hhhHHhhh..............",
        "...hHHHHHHhhh..........",
        "hhhhhHHHHHHHHHhhh......",
        "....hhHHHHHHHHHHHHh....",
        "..hhhhHHHHHHHHHHHHHHh..",
        "......hhHHHHHHHHHHHHHH.",
        ".........hhHHHHHHHHHHHH",
        "............hhHHHHHHHH.",
    ],
};

/// Half way up, with a bent wrist.
pub(super) const HERN_WING_RISE: Part = Part {
    x: 6,
    y: -1,
    rows: &[
        "....hh..............",
        "..hhHHhh............",
        "hh.hHHHHh...........",
        "..hhHHHHHh..........",
        "....hHHHHHh.........",
        ".hhhhHHHHHHh........",
        "....hhHHHHHHh.......",
        "......hHHHHHHHh.....",
        "...hhhhHHHHHHHHHh...",
        ".......hHHHHHHHHHHh.",
        "........hHHHHHHHHHHH",
        ".........HHHHHHHHHH.",
        "..........HHHHHHHH..",
    ],
};

/// Fingers of the closed hand, drawn in front of what it holds.
pub(super) const HAND_FINGERS: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..ccc....ccc....ccc..",
        ".ccRcc..ccRcc..ccRcc.",
        ".cRRcc..cRRcc..cRRcc.",
        "ccRccc.ccRccc.ccRccc.",
        "ccRcc..ccRcc..ccRcc..",
        ".ccRc...ccRc...ccRc..",
        "..cccc...cccc...cccc.",
    ],
};

/// A stretch of the arm below the hand, repeated downward.
pub(super) const ARM: Part = Part {
    x: 1,
    y: 0,
    rows: &[
        "cccRcccRccc",
        "ccRccccRccc",
        "ccRcccRcccc",
        "cccRccRcccc",
        "cccRcccRccc",
        "cccRcccRccc",
    ],
};
