//! A reed bed: a maze with nests and den, and tables of distances and next junctions.
//!
//! Made from seed and mode. Copies of a state share it; it is not sent. Absent: what changes during
//! a round.

use crate::maze::Maze;
use crate::water::{NOWHERE, STEPS, Swimmer, Way, is_open, opposite, ways};
use crate::{EDGE, Mode};

/// Tiles of the largest reed bed.
pub const TILES: usize = 81 * 49;
/// Most nests of a reed bed.
pub const NESTS: usize = 4;
/// Distance of cells that are not connected, or this far apart or more.
pub const FAR: u8 = u8::MAX;

/// The next junction on a way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ahead {
    /// Cell of the junction.
    pub cell: u16,
    /// The way a swimmer comes in.
    pub heading: Way,
    /// Number of cells on the way there.
    pub cells: u8,
}

/// All of the world that is fixed during a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reed {
    seed: u32,
    mode: Mode,
    width: usize,
    height: usize,
    /// Columns and rows of the part whose distances are kept; the rest is its mirror image.
    part: (usize, usize),
    exits: Vec<u8>,
    next: Vec<[u16; 4]>,
    distances: Vec<u8>,
    ahead: Vec<[Ahead; 4]>,
    junctions: Vec<u16>,
    nests: Vec<u16>,
    den: [u16; 2],
    /// Open tiles on which crumbs can be.
    tiles: Vec<u16>,
    /// Those of them on which crumbs grow.
    beds: Vec<u16>,
}

impl Reed {
    /// The reed bed of a seed.
    pub fn new(seed: u32, mode: Mode) -> Reed {
        let (width, height, is_double) = mode.cells();
        let (mut maze, _) = Maze::new(seed, width, height, is_double);
        let nests = mode.nests();
        let den = [(width / 2 - 1, height / 2 - usize::from(is_double)), (width / 2, height / 2)];
        let den = if is_double { den } else { [den[0], den[1]] };
        let corners = [den[0], den[1], (den[0].0, den[1].1), (den[1].0, den[0].1)];
        nests.iter().chain(&corners).for_each(|cell| maze.open(*cell));
        let index = |(x, y): (usize, usize)| (y * width + x) as u16;
        let exits = maze.all_exits().to_vec();
        let next = neighbors(&exits, width);
        let part = (width / 2, if is_double { height / 2 } else { height });
        let distances = distances(&next, width, part);
        let ahead = (0..exits.len())
            .map(|cell| std::array::from_fn(|way| follow(&exits, &next, cell as u16, way as Way)));
        let ahead = ahead.collect();
        let is_quiet = |cell: u16| nests.iter().chain(&corners).any(|kept| index(*kept) == cell);
        let mut reed = Reed {
            seed,
            mode,
            width,
            height,
            part,
            junctions: (0..exits.len() as u16)
                .filter(|cell| exits[usize::from(*cell)].count_ones() > 2 && !is_quiet(*cell))
                .collect(),
            nests: nests.iter().map(|nest| index(*nest)).collect(),
            den: den.map(index),
            tiles: Vec::new(),
            beds: Vec::new(),
            exits,
            next,
            distances,
            ahead,
        };
        for cell in (0..reed.exits.len() as u16).filter(|cell| !is_quiet(*cell)) {
            let exits = reed.exits(cell);
            reed.tiles.push(reed.tile_of(cell));
            reed.beds.push(reed.tile_of(cell));
            for way in ways(exits).filter(|way| *way < 2) {
                reed.tiles.push(reed.tile_beside(cell, way));
            }
        }
        // Ways right and down from nests and den, where no crumbs are.
        for cell in (0..reed.exits.len() as u16).filter(|cell| is_quiet(*cell)) {
            for way in ways(reed.exits(cell)).filter(|way| *way < 2) {
                if !is_quiet(reed.next(cell, way)) {
                    reed.tiles.push(reed.tile_beside(cell, way));
                }
            }
        }
        reed
    }

    /// Whether it is the reed bed of this seed and mode.
    pub fn is_of(&self, seed: u32, mode: Mode) -> bool {
        (self.seed, self.mode) == (seed, mode)
    }

    /// Cells across and down.
    pub const fn size(&self) -> (usize, usize) {
        (self.width, self.height)
    }

    /// Tiles across and down.
    pub const fn tile_size(&self) -> (usize, usize) {
        (2 * self.width + 1, 2 * self.height + 1)
    }

    /// Column and row of a cell.
    pub const fn spot(&self, cell: u16) -> (usize, usize) {
        (cell as usize % self.width, cell as usize / self.width)
    }

    /// Exits of a cell, one bit a way.
    #[inline]
    pub fn exits(&self, cell: u16) -> u8 {
        self.exits.get(usize::from(cell)).copied().unwrap_or(0)
    }

    /// Whether a cell has three or four exits.
    pub fn is_junction(&self, cell: u16) -> bool {
        self.exits(cell).count_ones() > 2
    }

    /// The cell behind an exit; the cell itself if the exit is closed.
    #[inline]
    pub fn next(&self, cell: u16, way: Way) -> u16 {
        let next = self.next.get(usize::from(cell)).map_or(NOWHERE, |next| next[usize::from(way & 3)]);
        if next == NOWHERE { cell } else { next }
    }

    /// Length of the shortest way between two cells, in cells.
    #[inline]
    pub fn distance(&self, from: u16, to: u16) -> u8 {
        let ((mut x, mut y), (mut to_x, mut to_y)) = (self.spot(from), self.spot(to));
        if x >= self.part.0 {
            (x, to_x) = (self.width - 1 - x, self.width - 1 - to_x);
        }
        if y >= self.part.1 {
            (y, to_y) = ((self.height - 1).wrapping_sub(y), (self.height - 1).wrapping_sub(to_y));
        }
        let row = y.wrapping_mul(self.part.0).wrapping_add(x);
        let index =
            row.wrapping_mul(self.exits.len()).wrapping_add(to_y.wrapping_mul(self.width)).wrapping_add(to_x);
        self.distances.get(index).copied().unwrap_or(FAR)
    }

    /// The first junction behind an exit; the cell itself if the exit is closed.
    pub fn ahead(&self, cell: u16, way: Way) -> Ahead {
        let here = Ahead { cell, heading: way & 3, cells: 0 };
        self.ahead.get(usize::from(cell)).map_or(here, |ahead| ahead[usize::from(way & 3)])
    }

    /// Junctions on which things can lie: not those of nests and den.
    pub fn junctions(&self) -> &[u16] {
        &self.junctions
    }

    /// The nests, by brood.
    pub fn nests(&self) -> &[u16] {
        &self.nests
    }

    /// Number of the nest in a cell, if there is one.
    #[inline]
    pub fn nest_at(&self, cell: u16) -> Option<usize> {
        self.nests.iter().position(|nest| *nest == cell)
    }

    /// The cells pikes come from.
    pub const fn den(&self) -> [u16; 2] {
        self.den
    }

    /// Tiles on which crumbs can be.
    pub fn tiles(&self) -> &[u16] {
        &self.tiles
    }

    /// Tiles on which crumbs grow: the middles of cells, so that a dozen takes a while.
    pub fn beds(&self) -> &[u16] {
        &self.beds
    }

    /// The tile of a cell's middle.
    #[inline]
    pub fn tile_of(&self, cell: u16) -> u16 {
        let (x, y) = self.spot(cell);
        ((2 * y + 1) * (2 * self.width + 1) + 2 * x + 1).min(usize::from(NOWHERE)) as u16
    }

    /// The tile between a cell and the next.
    #[inline]
    pub fn tile_beside(&self, cell: u16, way: Way) -> u16 {
        let across = 2 * self.width as i32 + 1;
        let (dx, dy) = STEPS[usize::from(way & 3)];
        (i32::from(self.tile_of(cell)) + dx + dy * across).clamp(0, i32::from(NOWHERE)) as u16
    }

    /// Position of a swimmer in units, from the middle of the first cell.
    #[inline]
    pub fn place(&self, at: Swimmer) -> (i32, i32) {
        let (x, y) = self.spot(at.cell);
        let (dx, dy) = STEPS[usize::from(at.heading & 3)];
        let (edge, way) = (i32::from(EDGE), i32::from(at.way));
        (x as i32 * edge + dx * way, y as i32 * edge + dy * way)
    }

    /// The cell a swimmer is closest to.
    #[inline]
    pub fn near(&self, at: Swimmer) -> u16 {
        if at.way > EDGE / 2 { self.next(at.cell, at.heading) } else { at.cell }
    }

    /// A swimmer turned back where it is.
    #[must_use]
    pub fn turned(&self, at: Swimmer) -> Swimmer {
        if at.way == 0 {
            return Swimmer { heading: opposite(at.heading), ..at };
        }
        let cell = self.next(at.cell, at.heading);
        Swimmer { cell, heading: opposite(at.heading), way: EDGE - at.way }
    }

    /// The way on in a cell with two exits: straight on if that is open, else round the bend.
    pub fn bend(&self, cell: u16, heading: Way) -> Way {
        let exits = self.exits(cell);
        if is_open(exits, heading) {
            return heading;
        }
        ways(exits).find(|way| *way != opposite(heading)).unwrap_or(opposite(heading))
    }
}

fn neighbors(exits: &[u8], width: usize) -> Vec<[u16; 4]> {
    let step = |cell: usize, way: usize| {
        let (dx, dy) = STEPS[way];
        (cell as i32 + dx + dy * width as i32) as u16
    };
    let of = |(cell, exits): (usize, &u8)| {
        std::array::from_fn(|way| if is_open(*exits, way as Way) { step(cell, way) } else { NOWHERE })
    };
    exits.iter().enumerate().map(of).collect()
}

fn distances(next: &[[u16; 4]], width: usize, part: (usize, usize)) -> Vec<u8> {
    let cells = next.len();
    let mut table = vec![FAR; part.0 * part.1 * cells];
    let mut queue: Vec<u16> = Vec::with_capacity(cells);
    for (nth, row) in table.chunks_exact_mut(cells).enumerate() {
        let from = nth / part.0 * width + nth % part.0;
        queue.clear();
        queue.push(from as u16);
        row[from] = 0;
        let mut at = 0;
        while let Some(cell) = queue.get(at).copied() {
            at += 1;
            let further = row[usize::from(cell)].saturating_add(1);
            for step in next[usize::from(cell)] {
                if step != NOWHERE && row[usize::from(step)] == FAR {
                    row[usize::from(step)] = further;
                    queue.push(step);
                }
            }
        }
    }
    table
}

fn follow(exits: &[u8], next: &[[u16; 4]], from: u16, way: Way) -> Ahead {
    let mut ahead = Ahead { cell: from, heading: way, cells: 0 };
    let mut heading = way;
    loop {
        let step = next[usize::from(ahead.cell)][usize::from(heading)];
        if step == NOWHERE || ahead.cells == 200 {
            return ahead;
        }
        ahead = Ahead { cell: step, heading, cells: ahead.cells + 1 };
        let open = exits[usize::from(step)];
        if open.count_ones() != 2 {
            return ahead;
        }
        heading = ways(open).find(|way| *way != opposite(heading)).unwrap_or(heading);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distance_is_equal_both_ways_and_in_mirror() {
        for mode in [Mode::Broods, Mode::Great] {
            let reed = Reed::new(11, mode);
            let (width, height) = reed.size();
            let cells = (width * height) as u16;
            let mirror = |cell: u16| {
                let (x, y) = reed.spot(cell);
                (y * width + width - 1 - x) as u16
            };
            for (from, to) in
                (0..cells).step_by(37).flat_map(|from| (0..cells).step_by(23).map(move |to| (from, to)))
            {
                let distance = reed.distance(from, to);
                assert_eq!(distance, reed.distance(to, from));
                assert_eq!(distance, reed.distance(mirror(from), mirror(to)));
                assert!(distance < FAR && (distance == 0) == (from == to));
            }
        }
    }

    #[test]
    fn crumb_tiles_are_open_and_unique() {
        for mode in [Mode::Broods, Mode::Free, Mode::Great] {
            let reed = Reed::new(3, mode);
            let mut tiles = reed.tiles().to_vec();
            tiles.sort_unstable();
            tiles.dedup();
            assert_eq!(tiles.len(), reed.tiles().len());
            assert!(tiles.iter().all(|tile| usize::from(*tile) < TILES));
            assert!(!tiles.contains(&reed.tile_of(reed.nests()[0])));
            assert!(tiles.len() > 2 * reed.exits.len() - 100, "{}", tiles.len());
        }
    }

    #[test]
    fn turned_swimmer_stays_where_it_is() {
        let reed = Reed::new(3, Mode::Broods);
        let cell = reed.nests()[0];
        let at = Swimmer { cell, heading: 0, way: 3_000 };
        let turned = reed.turned(at);
        assert_eq!((reed.place(turned), turned.heading), (reed.place(at), 2));
        assert_eq!(reed.turned(turned), at);
    }

    #[test]
    fn place_of_foreign_cell_panics_nowhere() {
        let reed = Reed::new(3, Mode::Broods);
        for cell in [384, 5_000, NOWHERE] {
            let at = Swimmer { cell, heading: 3, way: 9 };
            assert_eq!((reed.exits(cell), reed.next(cell, 1)), (0, cell));
            assert_eq!((reed.distance(cell, 4), reed.ahead(cell, 2).cells), (FAR, 0));
            let _ = (reed.place(at), reed.tile_beside(cell, 1), reed.near(at), reed.distance(4, cell));
        }
    }
}
