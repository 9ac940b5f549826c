//! Pikes: how they choose their ways, dash and flee.
//!
//! Moved by `tick`, after the goslings. Absent: bites (`meet.rs`).

use gaggle_kit::{Prng, State};

use crate::reed::Reed;
use crate::water::{EDGE, STEPS, Swimmer, Way, is_open, opposite, ways};

/// Most pikes of a match, at 64 goslings.
pub const PIKES: usize = 18;
/// Speed at the start of a round, in units a frame.
pub const SPEED: u16 = 592;
/// Units a frame that every half minute adds.
pub const SPEED_STEP: u16 = 8;
/// Units a frame that the last half minute adds.
pub const SPEED_LATE: u16 = 48;
/// Speed in a dash, in units a frame.
pub const DASH_SPEED: u16 = 672;
/// Speed after a dash, in units a frame.
pub const TIRED_SPEED: u16 = 480;
/// Speed of a shy pike (one that flees from a goose), in units a frame.
pub const SHY_SPEED: u16 = 256;
/// Frames of a dash and the rest after it together.
pub const DASH_FRAMES: u8 = 75;
/// Frames of rest after a dash.
pub const TIRED_FRAMES: u8 = 45;
/// Frames in the den after a goose sent it home.
pub const DEN_FRAMES: u16 = 240;
/// Frames until the first pike comes, and from one to the next.
pub const FIRST_FRAMES: u16 = 150;
const EACH_FRAMES: u16 = 90;
/// Units up to which a pike sees prey: six tiles.
const SIGHT: i32 = 3 * EDGE as i32;
/// Distance, in cells, up to which a warden hunts: sixteen tiles.
const WARDEN_CELLS: u8 = 8;
/// Frames after which a warden swims to the next nest.
const WARDEN_FRAMES: u32 = 600;

/// How a pike chooses its way at a junction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Temper {
    /// Towards the nearest gosling.
    Shadow,
    /// Towards the second junction ahead of the nearest gosling.
    Cutter,
    /// Towards the gosling near it that carries most, or from nest to nest.
    Warden,
    /// Towards prey in sight, or at random.
    Drifter,
}

impl Temper {
    /// The temper of a pike.
    pub const fn of(which: usize) -> Temper {
        match which % 4 {
            0 => Temper::Shadow,
            1 => Temper::Cutter,
            2 => Temper::Warden,
            _ => Temper::Drifter,
        }
    }
}

/// A pike: in its den, or hunting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State)]
pub struct Pike {
    /// Whether it swims; else it is in the den.
    pub is_out: bool,
    /// Where it is.
    pub at: Swimmer,
    /// Frames until it comes out.
    pub timer: u16,
    /// Frames of dash and rest left.
    pub dash: u8,
    /// Frames it is shy.
    pub shy: u8,
}

impl Pike {
    /// A pike that waits for its first time out.
    pub fn waiting(which: usize) -> Pike {
        Pike { timer: FIRST_FRAMES + EACH_FRAMES * which as u16, ..Pike::default() }
    }

    /// A pike that was sent home.
    pub fn sent_home() -> Pike {
        Pike { timer: DEN_FRAMES, ..Pike::default() }
    }

    /// Whether it bites.
    pub const fn bites(&self) -> bool {
        self.is_out && self.shy == 0
    }

    /// Units it swims in a frame.
    pub const fn speed(&self, pace: u16) -> u16 {
        if self.shy > 0 {
            SHY_SPEED
        } else if self.dash > TIRED_FRAMES {
            DASH_SPEED
        } else if self.dash > 0 {
            TIRED_SPEED
        } else {
            pace
        }
    }
}

/// A gosling as pikes see it.
#[derive(Debug, Clone, Copy)]
pub struct Prey {
    /// Slot of the gosling.
    pub slot: usize,
    /// Position in units.
    pub place: (i32, i32),
    /// The cell it is closest to.
    pub cell: u16,
    /// Where it swims.
    pub at: Swimmer,
    /// Crumbs it carries.
    pub load: u8,
}

/// What pikes know when they choose.
#[derive(Debug)]
pub struct Hunt<'a> {
    /// The reed bed.
    pub reed: &'a Reed,
    /// Goslings that can be caught, by slot.
    pub prey: &'a [Prey],
    /// Cells of the geese.
    pub geese: &'a [u16],
    /// The frame, by which wardens change nests.
    pub frame: u32,
}

impl Hunt<'_> {
    /// The first prey a swimmer sees: straight ahead, no wall between, up to six tiles away.
    pub fn in_sight(&self, at: Swimmer) -> Option<&Prey> {
        let (x, y) = self.reed.place(at);
        let (dx, dy) = STEPS[usize::from(at.heading & 3)];
        self.prey.iter().find(|prey| {
            let (ahead, beside) = (
                (prey.place.0 - x) * dx + (prey.place.1 - y) * dy,
                if dx != 0 { prey.place.1 - y } else { prey.place.0 - x },
            );
            beside == 0 && ahead > 0 && ahead <= SIGHT && self.is_straight(at, ahead)
        })
    }

    /// Whether there is no wall for this many units ahead.
    fn is_straight(&self, at: Swimmer, ahead: i32) -> bool {
        let (edge, mut cell) = (i32::from(EDGE), at.cell);
        let mut reached = -i32::from(at.way);
        while reached < ahead {
            if !is_open(self.reed.exits(cell), at.heading) {
                return false;
            }
            cell = self.reed.next(cell, at.heading);
            reached += edge;
        }
        true
    }

    /// The nearest prey; if several are, that of the lowest slot.
    fn nearest(&self, cell: u16) -> Option<&Prey> {
        self.prey.iter().min_by_key(|prey| self.reed.distance(cell, prey.cell))
    }

    /// The exit on the shortest way to a cell; if several are, the one with the lowest number.
    fn towards(&self, cell: u16, target: u16, open: u8) -> Way {
        ways(open).min_by_key(|way| self.reed.distance(self.reed.next(cell, *way), target)).unwrap_or(0)
    }

    /// The exit a pike takes at a cell it reaches.
    pub fn choose(&self, which: usize, pike: &Pike, random: &mut Prng) -> Way {
        let Swimmer { cell, heading, .. } = pike.at;
        // Pikes never enter a nest.
        let shut = |way: &Way| self.reed.nest_at(self.reed.next(cell, *way)).is_some();
        let exits = ways(self.reed.exits(cell)).filter(|way| !shut(way)).fold(0, |set, way| set | 1 << way);
        if pike.shy > 0 {
            return self.away(cell, exits, heading);
        }
        let ahead = exits & !(1 << opposite(heading));
        match ahead.count_ones() {
            0 => opposite(heading),
            1 => ahead.trailing_zeros() as Way,
            _ => self.hunt(which, cell, ahead, random),
        }
    }

    fn hunt(&self, which: usize, cell: u16, ahead: u8, random: &mut Prng) -> Way {
        match Temper::of(which) {
            Temper::Shadow => match self.nearest(cell) {
                Some(prey) => self.towards(cell, prey.cell, ahead),
                None => any(ahead, random),
            },
            Temper::Cutter => match self.nearest(cell) {
                Some(prey) => {
                    let first = self.reed.ahead(prey.at.cell, prey.at.heading);
                    let on = crate::wish::turn(
                        crate::Wish::default(),
                        (self.reed.exits(first.cell), first.heading, 0),
                    );
                    let second = self.reed.ahead(first.cell, on.heading).cell;
                    // The pike is at that junction, so it meets the gosling on its way.
                    let target = if second == cell { first.cell } else { second };
                    self.towards(cell, target, ahead)
                }
                None => any(ahead, random),
            },
            Temper::Warden => {
                let near =
                    self.prey.iter().filter(|prey| self.reed.distance(cell, prey.cell) <= WARDEN_CELLS);
                // If several carry as much, that of the lowest slot.
                match near.rev().max_by_key(|prey| prey.load) {
                    Some(prey) => self.towards(cell, prey.cell, ahead),
                    None => {
                        let nests = self.reed.nests();
                        let turn = which as u32 + self.frame / WARDEN_FRAMES;
                        let nest = nests.get(turn as usize % nests.len().max(1)).copied().unwrap_or(cell);
                        self.towards(cell, nest, ahead)
                    }
                }
            }
            Temper::Drifter => {
                let seen = ways(ahead).find(|way| self.in_sight(Swimmer::at(cell, *way)).is_some());
                seen.unwrap_or_else(|| any(ahead, random))
            }
        }
    }

    /// The exit that leads farthest from the nearest goose.
    fn away(&self, cell: u16, exits: u8, heading: Way) -> Way {
        let goose = self.geese.iter().min_by_key(|goose| self.reed.distance(cell, **goose));
        match goose {
            Some(goose) => ways(exits)
                .min_by_key(|way| std::cmp::Reverse(self.reed.distance(self.reed.next(cell, *way), *goose)))
                .unwrap_or(opposite(heading)),
            None => self.reed.bend(cell, heading),
        }
    }
}

fn any(open: u8, random: &mut Prng) -> Way {
    let nth = random.below(open.count_ones().max(1)) as usize;
    ways(open).nth(nth).unwrap_or(0)
}
