//! Sprites of geese and enemies: rows of letters, `.` is empty, each letter is a material.
//!
//! Layered and baked by `figures`. Absent: colors.

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

/// Upright, of a goose that looks ahead.
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

/// Laid back, of a goose that dozes.
pub(super) const NECK_REST: Part = Part {
    x: 10,
    y: 9,
    rows: &[
        "...WWWW...",
        "..WWWWWW..",
        "oowkkWWWW.",
        ".oowWWWWWW",
        "...wwWWWWW",
    ],
};

/// Folded on the water.
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

/// A scarf around an upright neck.
pub(super) const SCARF_UP: Part = Part {
    x: 14,
    y: 11,
    rows: &[
        "..PPP",
        ".PPPP",
        "PPpP.",
        "Pp...",
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

pub(super) const LEGS_TUCK: Part = Part {
    x: 3,
    y: 20,
    rows: &[
        ".....ooo",
        ".oooooo.",
        "ooo.....",
    ],
};

pub(super) const SCARF: Part = Part {
    x: 8,
    y: 12,
    rows: &[
        ".....PP...PP",
        "PPPPPPPPPPPP",
        "..PPPP...pPP",
        ".........pPP",
        "..........PP",
    ],
};

pub(super) const SCARF2: Part = Part {
    x: 8,
    y: 11,
    rows: &[
        "...PPP......",
        "PPPPPPPPP.PP",
        ".PP...PPPPPP",
        ".........pPP",
        ".........pPP",
        "..........PP",
    ],
};

pub(super) const CAP: Part = Part {
    x: 22,
    y: 11,
    rows: &[
        ".PPPP",
        "PPPPPP",
        "P....P",
    ],
};

pub(super) const STARLING0: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        ".......SS......",
        "......SSSS.....",
        "......sSSSS....",
        "..SS..sSSSS....",
        ".SeSSSSSSSSSS..",
        "bSSSSSSSSSSSSSS",
        "..SSsSSSSSSS.SS",
        "....sssSSS.....",
    ],
};

pub(super) const STARLING1: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..SS...........",
        ".SeSSSSSSSSS...",
        "bSSSSSSSSSSSSSS",
        "..SSsSSSSSSSSSS",
        ".....sSSSSSs...",
        ".....sSSSSs....",
        "......SSSs.....",
        ".......Ss......",
    ],
};

pub(super) const KITE0: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..................NN..........",
        "...............NNNNN..........",
        ".............NNNNNNN..........",
        "............nNNNNNNN..........",
        "............nnNNNNNNN.........",
        ".............nNNNNNNN.........",
        ".............nnNNNNNNN........",
        "..............nNNNNNNN........",
        "....NNN.......nnNNNNNN........",
        "..NNNNNNN.....NNNNNNNNN.......",
        ".NNeNNNNNNNNNNNNNNNNNNNNN...NN",
        "yyNNNNNNNNNNNNNNNNNNNNNNNNNNNN",
        "yy.vvNNNvvNvvNNNNNNNNNNNNNNN..",
        ".y..vvvvvvvvvvvNNNNNNN.NNNNNN.",
        "......vvvvvvvvvvvvNN......NNNN",
        ".........ooovvvv.............N",
        "........oo.oo.................",
    ],
};

pub(super) const KITE1: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "....NNN.......................",
        "..NNNNNNN.....................",
        ".NNeNNNNNNNNNNNNNNNNNNNNN...NN",
        "yyNNNNNNNNNNNNNNNNNNNNNNNNNNNN",
        "yy.vvNNNvvNNNNNNNNNNNNNNNNNN..",
        ".y..vvvvvvnNNNNNNNNNNN.NNNNNN.",
        "......vvvvnNNNNNNNNNN.....NNNN",
        ".........onNNNNNNNNNN........N",
        "........oonnNNNNNNNNN.........",
        "..........nnNNNNNNNNNN........",
        "...........nnNNNNNNNNN........",
        "............nNNNNNNNNN........",
        "............nnNNNNNNNN........",
        ".............nnNNNNNN.........",
        "..............nNNNNN..........",
        "...............nNNN...........",
        "................nN............",
    ],
};

pub(super) const LANTERN: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "......aaa......",
        ".....a...a.....",
        "....aaaaaaa....",
        "...kkkkkkkkk...",
        "..RYYRYYYRYRR..",
        ".RYYYRYYYYRYRR.",
        ".RYYYRYYYYRYYR.",
        "RYYYYRYYYYYRYYR",
        "RYYYYRYYYYYRYYR",
        "RYYYYRYYYYYRYYR",
        "RYYYYRYYYYYRYYR",
        "RRYYYRYYYYYRYRR",
        ".RYYYRYYYYRYYR.",
        ".RRYYRYYYYRYRR.",
        "..RRYYRYYRYRR..",
        "...kkkkkkkkk...",
        "....kaaaaak....",
        ".....a.a.a.....",
        ".....a.a.a.....",
        "......aaa......",
        ".......a.......",
    ],
};

pub(super) const MOTH_PART: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        ".u.......u.",
        "..u.....u..",
        "UUU.uuu.UUU",
        "UUUUuuuUUUU",
        "UxUUuuuUUxU",
        "UUUUuuuUUUU",
        ".UU.uuu.UU.",
        ".UU..u..UU.",
    ],
};

pub(super) const OWL: Part = Part {
    x: 1,
    y: 1,
    rows: &[
        "....N..........N....",
        "....NN.NNNNNN.NN....",
        "....NNNNNNNNNNNN....",
        "...NNvvvNNNNvvvNN...",
        "...NvqqqvNNvqqqvN...",
        "...NvqkqvyyvqkqvN...",
        "...NvqqqvyyvqqqvN...",
        "..NNNvvvNyyNvvvNNN..",
        ".NNNNNNNNyyNNNNNNNN.",
        ".NnNvNNvNNNNvNNvNnN.",
        "NNnNNvNNvNNvNNvNNnNN",
        "NNnNNNvNNvvNNvNNNnNN",
        "NnnNNvNNvNNvNNvNNnnN",
        "NnnNNNvNNvvNNvNNNnnN",
        ".nn.NNNvNNNNvNNN.nn.",
        ".n..NNNNvNNvNNNN..n.",
        ".....NNNNNNNNNN.....",
        "......NNNNNNNN......",
        ".......oo..oo.......",
    ],
};

pub(super) const STORMCOCK: Part = Part {
    x: 1,
    y: 1,
    rows: &[
        "..rr..............",
        ".rrrr.........SS..",
        ".rSSSS.......SSSS.",
        "yySeSSS.....SSSSSS",
        "ySSSSSSS...SSS.SSS",
        "..rSSSSSSSSSSS..SS",
        "...SSSSSSSSSSS...S",
        "...sSSSSSSSSSs....",
        "....sSSSSSSSs.....",
        ".....ssSSSss......",
        "........k.........",
        "........k.........",
        "...kkkkkkkkkkk....",
        "........k.........",
        "........k.........",
        ".......aaa........",
        "......aaaaa.......",
        ".....aaaaaaa......",
        "....aaaaaaaaa.....",
        "...aaaaaaaaaaa....",
    ],
};

pub(super) const FINGER: Part = Part {
    x: 1,
    y: 1,
    rows: &[
        ".......tt.......",
        "......tttt......",
        ".....RttttR.....",
        "....RRtYYtRR....",
        "...ccRYYYYRcc...",
        "..cccRYYYYRccc..",
        "..ccccRYYRcccc..",
        "..ccccRRRRcccc..",
        "..cccccRRccccc..",
        "...cccccccccc...",
        "...ccRccccRcc...",
        "..cccRRccRRccc..",
        "..ccccRRRRcccc..",
        "..cccccRRccccc..",
        "...cccccccccc...",
        "...ccccRccccc...",
        "...cccRRRcccc...",
        "..ccccRYRccccc..",
        "..ccccRRRccccc..",
        "..cccccRcccccc..",
        "..cccccccccccc..",
        "..ccRccccccRcc..",
        "..ccRRccccRRcc..",
        ".cccccRccRccccc.",
        ".ccccccRRcccccc.",
        ".cccccccccccccc.",
        ".ccccRccccRcccc.",
        ".cccRRRccRRRccc.",
        ".ccccRccccRcccc.",
        ".cccccccccccccc.",
        "cccccccRRccccccc",
        "ccccccRYYRcccccc",
        "cccccccRRccccccc",
        "cccccccccccccccc",
        "cccRccccccccRccc",
        "ccRRRccccccRRRcc",
        "cccRccccccccRccc",
        "cccccccccccccccc",
        "ccccccRccRcccccc",
        "cccccRRRRRRccccc",
        "ccccccRccRcccccc",
        "cccccccccccccccc",
        "cccccccccccccccc",
        "cccccccccccccccc",
    ],
};

pub(super) const PALM: Part = Part {
    x: 1,
    y: 1,
    rows: &[
        "....cc....cc...cc....cc.....",
        "...cccc..cccc.cccc..cccc....",
        "...cRcc..cRcc.cRcc..ccRc.cc.",
        "...cccc..cccc.cccc..cccccccc",
        "...ccRc..ccRc.ccRc..cRcccccc",
        "...cccc..cccc.cccc..ccccccRc",
        "...cRccccccRcccRcccccRccccc.",
        "..cccccccccccccccccccccccc..",
        "..cccRccccccccccccccRccccc..",
        "..ccccRRRRRRRRRRRRRRcccc....",
        "..cccRRYYYYYYYYYYYYRRccc....",
        "..cccRYYttttttttttYYRccc....",
        "..cccRYtttttttttttYYRccc....",
        "..cccRYttttWWWWtttYYRccc....",
        "..cccRYttWWWWWWtttYYRccc....",
        "..cccRYtttWWWWttttYYRccc....",
        "..cccRYYtttttttttYYRRccc....",
        "..ccccRYYYYttttYYYRRcccc....",
        "...cccRRRYYYYYYYRRRcccc.....",
        "...ccccRRRRRRRRRRRccccc.....",
        "....ccccccRRRRRcccccc.......",
        ".....cccccccccccccccc.......",
        ".....ccRcccccccccRcc........",
        "......ccRcccccccRcc.........",
        "......cccccRRRccccc.........",
        "......ccccccccccccc.........",
    ],
};

pub(super) const SAIL: Part = Part {
    x: 1,
    y: 1,
    rows: &[
        "aa..........................",
        ".aaa........................",
        "RaaaaRRRRRRRRRRRRRRRRRRRRR..",
        "RYRaaRYYRYYRYYRYYRYYRYYRYYR.",
        "RYR.aaaaaaaaaaaaaaaaaaaaaaaa",
        "RYR.aRYYRYYRYYRYYRYYRYYRYYR.",
        "RR..aRRRRRRRRRRRRRRRRRRRRR..",
        "...aa.......................",
        "..aa........................",
    ],
};
