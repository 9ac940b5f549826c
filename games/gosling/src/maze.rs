//! A maze made from a seed: mirrored, without dead ends and long corridors.
//!
//! Called by `reed`, which adds nests and tables. Absent: floats, swimmers, crumbs.

use gaggle_kit::Prng;

use crate::water::{STEPS, Way, is_open, opposite, ways};

/// Most seeds tried; the maze of the last is taken even if it is not good.
const TRIES: u32 = 32;
/// Most cells of the way between two junctions: sixteen tiles.
const WAY_MAX: usize = 8;

/// Cells and their exits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Maze {
    /// Number of cells in a row.
    pub width: usize,
    /// Number of cells in a column.
    pub height: usize,
    /// Whether the lower half mirrors the upper as well.
    pub is_double: bool,
    exits: Vec<u8>,
}

/// What a maze is judged by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Measure {
    /// Every cell can be reached from every other.
    pub is_connected: bool,
    /// Cells with a single exit.
    pub dead_ends: usize,
    /// Cells with three or four exits.
    pub junctions: usize,
    /// Number of ways between junctions, each counted from both ends.
    pub ways: usize,
    /// Length in tiles of all these ways together.
    pub tiles: usize,
    /// Length in tiles of the longest.
    pub longest: usize,
}

impl Measure {
    /// Whether it is fit for a round: ways of at least 4.4 tiles on average and at most sixteen.
    pub const fn is_good(&self) -> bool {
        self.is_connected
            && self.dead_ends == 0
            && self.tiles * 10 >= self.ways * 44
            && self.longest <= 2 * WAY_MAX
    }
}

impl Maze {
    /// The maze of a seed, and how many seeds were tried for it.
    pub fn new(seed: u32, width: usize, height: usize, is_double: bool) -> (Maze, u32) {
        let mut tries = 0_u32;
        loop {
            let tried = seed.wrapping_add(tries.wrapping_mul(0x9e37_79b1));
            let mut maze = Maze { width, height, is_double, exits: vec![0; width * height] };
            Digger { random: Prng::new(u64::from(tried)), maze: &mut maze }.dig();
            tries += 1;
            if tries == TRIES || maze.measure().is_good() {
                return (maze, tries);
            }
        }
    }

    /// Exits of a cell, one bit a way.
    pub fn exits(&self, (x, y): (usize, usize)) -> u8 {
        self.exits[y * self.width + x]
    }

    /// Exits of all cells, row by row.
    pub fn all_exits(&self) -> &[u8] {
        &self.exits
    }

    /// Opens all exits of a cell.
    pub fn open(&mut self, cell: (usize, usize)) {
        (0..4).for_each(|way| self.join(cell, way));
    }

    /// Columns and rows of the part that is drawn at random; the rest is its mirror image.
    fn part(&self) -> (usize, usize) {
        (self.width / 2, if self.is_double { self.height / 2 } else { self.height })
    }

    fn beside(
        &self,
        (x, y): (usize, usize),
        way: Way,
        (width, height): (usize, usize),
    ) -> Option<(usize, usize)> {
        let (dx, dy) = STEPS[usize::from(way)];
        let (x, y) = (x.checked_add_signed(dx as isize)?, y.checked_add_signed(dy as isize)?);
        (x < width && y < height).then_some((x, y))
    }

    fn join(&mut self, cell: (usize, usize), way: Way) {
        if let Some(next) = self.beside(cell, way, (self.width, self.height)) {
            self.exits[cell.1 * self.width + cell.0] |= 1 << way;
            self.exits[next.1 * self.width + next.0] |= 1 << opposite(way);
        }
    }

    /// Opens an exit and its mirror images.
    fn join_all(&mut self, (x, y): (usize, usize), way: Way) {
        let across = if way & 1 == 0 { opposite(way) } else { way };
        self.join((x, y), way);
        self.join((self.width - 1 - x, y), across);
        if self.is_double {
            let (y, flip) = (self.height - 1 - y, |way: Way| if way & 1 == 1 { opposite(way) } else { way });
            self.join((x, y), flip(way));
            self.join((self.width - 1 - x, y), flip(across));
        }
    }

    fn degree(&self, cell: (usize, usize)) -> u32 {
        self.exits(cell).count_ones()
    }

    /// The cells between a junction and the next one behind an exit.
    fn corridor(&self, from: (usize, usize), way: Way) -> Vec<(usize, usize)> {
        let (mut cells, mut heading) = (Vec::new(), way);
        let mut cell = self.beside(from, way, (self.width, self.height));
        while let Some(here) = cell.filter(|cell| self.degree(*cell) == 2 && cells.len() < 200) {
            cells.push(here);
            heading = ways(self.exits(here)).find(|way| *way != opposite(heading)).unwrap_or(heading);
            cell = self.beside(here, heading, (self.width, self.height));
        }
        cells
    }

    /// What the maze is judged by.
    pub fn measure(&self) -> Measure {
        let all = || (0..self.height).flat_map(|y| (0..self.width).map(move |x| (x, y)));
        let (mut reached, mut queue) = (vec![false; self.exits.len()], vec![(0, 0)]);
        reached[0] = true;
        while let Some(cell) = queue.pop() {
            for way in ways(self.exits(cell)) {
                if let Some(next) = self.beside(cell, way, (self.width, self.height))
                    && !std::mem::replace(&mut reached[next.1 * self.width + next.0], true)
                {
                    queue.push(next);
                }
            }
        }
        let mut measure = Measure {
            is_connected: reached.iter().all(|reached| *reached),
            dead_ends: all().filter(|cell| self.degree(*cell) < 2).count(),
            junctions: 0,
            ways: 0,
            tiles: 0,
            longest: 0,
        };
        for cell in all().filter(|cell| self.degree(*cell) > 2) {
            measure.junctions += 1;
            for way in ways(self.exits(cell)) {
                let tiles = 2 * (self.corridor(cell, way).len() + 1);
                measure.ways += 1;
                measure.tiles += tiles;
                measure.longest = measure.longest.max(tiles);
            }
        }
        measure
    }
}

/// Opens the cells of a new maze, step by step.
struct Digger<'a> {
    random: Prng,
    maze: &'a mut Maze,
}

impl Digger<'_> {
    fn dig(&mut self) {
        self.grow();
        self.seam();
        self.open_dead_ends();
        // Each pass shortens one corridor.
        for _ in 0..64 {
            if !self.shorten() {
                break;
            }
        }
    }

    fn draw(&mut self, end: usize) -> usize {
        self.random.below(end as u32) as usize
    }

    /// Grows a spanning tree over the part that is drawn at random.
    fn grow(&mut self) {
        let part = self.maze.part();
        let mut seen = vec![false; part.0 * part.1];
        let start = (0, part.1 / 2);
        seen[start.1 * part.0] = true;
        let mut tips = vec![(start, self.draw(4) as Way)];
        while !tips.is_empty() {
            let nth = if self.random.chance(5, 8) { tips.len() - 1 } else { self.draw(tips.len()) };
            let (cell, last) = tips[nth];
            let free: Vec<(Way, (usize, usize))> = (0..4)
                .filter_map(|way| Some((way, self.maze.beside(cell, way, part)?)))
                .filter(|(_, next)| !seen[next.1 * part.0 + next.0])
                .collect();
            if free.is_empty() {
                tips.remove(nth);
                continue;
            }
            let on = free.iter().find(|(way, _)| *way == last).copied();
            let (way, next) = match on {
                Some(on) if self.random.chance(5, 8) => on,
                _ => free[self.draw(free.len())],
            };
            tips[nth].1 = way;
            self.maze.join_all(cell, way);
            seen[next.1 * part.0 + next.0] = true;
            tips.push((next, way));
        }
    }

    /// Opens exits between the mirrored parts.
    fn seam(&mut self) {
        let (width, height) = self.maze.part();
        let mut row = self.draw(3);
        while row < height {
            self.maze.join_all((width - 1, row), 0);
            row += 3 + self.draw(2);
        }
        let mut column = if self.maze.is_double { self.draw(3) } else { width };
        while column < width {
            self.maze.join_all((column, height - 1), 1);
            column += 3 + self.draw(2);
        }
    }

    /// Opens each cell with one exit straight on, or else towards the neighbor with fewer exits.
    fn open_dead_ends(&mut self) {
        let part = self.maze.part();
        for cell in (0..part.1).flat_map(|y| (0..part.0).map(move |x| (x, y))) {
            let exits = self.maze.exits(cell);
            if exits.count_ones() != 1 {
                continue;
            }
            let on = opposite(exits.trailing_zeros() as Way);
            let best = [on, (on + 1) & 3, (on + 3) & 3]
                .into_iter()
                .filter_map(|way| {
                    let next = self.maze.beside(cell, way, part)?;
                    Some((if way == on { 0 } else { 1 + self.maze.degree(next) }, way))
                })
                .min_by_key(|(rank, _)| *rank);
            if let Some((_, way)) = best {
                self.maze.join_all(cell, way);
            }
        }
    }

    /// Opens one long corridor sideways in its middle. False if there is none.
    fn shorten(&mut self) -> bool {
        let part = self.maze.part();
        for cell in (0..part.1).flat_map(|y| (0..part.0).map(move |x| (x, y))) {
            if self.maze.degree(cell) < 3 {
                continue;
            }
            for way in ways(self.maze.exits(cell)) {
                let corridor = self.maze.corridor(cell, way);
                if corridor.len() >= WAY_MAX && self.open_middle(&corridor) {
                    return true;
                }
            }
        }
        false
    }

    fn open_middle(&mut self, corridor: &[(usize, usize)]) -> bool {
        let part = self.maze.part();
        let middle = corridor.len() / 2;
        let mut order: Vec<usize> = (0..corridor.len()).collect();
        order.sort_by_key(|nth| (nth.abs_diff(middle), *nth));
        for nth in order.into_iter().take(5) {
            let (x, y) = corridor[nth];
            // Mapped back into the part, so that walls to the mirror images stay.
            let cell = (
                if x < part.0 { x } else { self.maze.width - 1 - x },
                if y < part.1 { y } else { self.maze.height - 1 - y },
            );
            let first = self.draw(4) as Way;
            for way in (0..4).map(|turn| (first + turn) & 3) {
                let exits = self.maze.exits(cell);
                if !is_open(exits, way) && self.maze.beside(cell, way, part).is_some() {
                    self.maze.join_all(cell, way);
                    return true;
                }
            }
        }
        false
    }
}
