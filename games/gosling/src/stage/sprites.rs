//! Sprites of goslings and pikes: rows of letters, `.` is empty; every letter is a material.
//!
//! Stacked and baked by `figures`. Absent: colors.

use gaggle_scene::Part;

pub(super) const CHICK_R: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "......PPP....",
        ".....PPPPP...",
        ".....DDDDD...",
        ".....DDEDDoo.",
        ".....DDDDDo..",
        ".DD...DDDD...",
        "DDDDDDDDDD...",
        "dDDDDDDDDDD..",
        ".dDDwwDDDDD..",
        "..ddDDDDDd...",
        "...dddddd....",
    ],
};

pub(super) const CHICK_D: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "...PPPP...",
        "..PPPPPP..",
        "..DDDDDD..",
        "..DEDDED..",
        "..DDooDD..",
        "...DooD...",
        ".DDDDDDDD.",
        "DDwDDDDwDD",
        "dDwDDDDwDd",
        ".ddDDDDdd.",
        "..dddddd..",
    ],
};

pub(super) const CHICK_U: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "...PPPP...",
        "..PPPPPP..",
        "..PDDDDP..",
        "..DDDDDD..",
        "...DDDD...",
        ".DDDDDDDD.",
        "DDDDDDDDDD",
        "DwwDDDDwwD",
        ".DDDDDDDD.",
        "..dDDDDd..",
        "...dddd...",
        "....dd....",
    ],
};

pub(super) const HAT_PLUME: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..PPP",
        ".PPPP",
        "PPPp.",
        "PP...",
    ],
};

pub(super) const HAT_HORNS: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "P......P",
        "PP....PP",
        ".PP..PP.",
        "..PPPP..",
    ],
};

pub(super) const HAT_CROWN: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "P..P..P",
        "PP.P.PP",
        "PPPPPPP",
    ],
};

pub(super) const HAT_STAR: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "...P...",
        "..PPP..",
        "PPPPPPP",
        "..PPP..",
    ],
};

pub(super) const PIKE: Part = Part {
    x: 0,
    y: 0,
    rows: &[
        "..............KK................",
        "......KKKKKKKKKKKKKKKKK......KK.",
        "...KKKKKKKKKKKKKKKKKKKKKKK..KKK.",
        ".KKKKeKKKqKKqKKqKKqKKqKKKKKKKKK.",
        "KKKKKKKKKKqKKqKKqKKqKKqKKKKKKK..",
        "tjtjKKKKKKKKKKKKKKKKKKKKKKKKKKK.",
        "..jjjjjKKKKKKKKKKKKKKKKKKK..KKK.",
        ".......jjjjjjjjjjjjjjjj......KK.",
        "..........jj.....jj.............",
    ],
};

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

pub(super) const LEGS_TUCK: Part = Part {
    x: 3,
    y: 20,
    rows: &[
        ".....ooo",
        ".oooooo.",
        "ooo.....",
    ],
};

pub(super) const FEATHER: Part = Part {
    x: 1,
    y: 1,
    rows: &[
        ".......ww",
        ".....wwWw",
        "....wWWw.",
        "...wWWWw.",
        "..wWWWw..",
        "..wWWw...",
        ".wWWw....",
        ".wWw.....",
        "bw.......",
        "b........",
    ],
};
