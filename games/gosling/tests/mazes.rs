//! Mazes of many seeds: connected, mirrored, without dead ends and long ways.

use gosling::maze::Maze;
use gosling::{Mode, Reed};

fn check(mode: Mode, seeds: u32) {
    let (width, height, is_double) = mode.cells();
    let (mut worst, mut junctions, mut ways, mut tiles) = (0, 0, 0, 0);
    for seed in 0..seeds {
        let (maze, tries) = Maze::new(seed * 7_919 + 1, width, height, is_double);
        let measure = maze.measure();
        assert!(measure.is_good(), "{mode:?}, seed {seed}: {measure:?}");
        worst = worst.max(tries);
        (junctions, ways) = (junctions + measure.junctions, ways + measure.ways);
        tiles += measure.tiles;
        for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
            let exits = maze.exits((x, y));
            let across = exits & 0b1010 | (exits & 1) << 2 | (exits & 4) >> 2;
            assert_eq!(maze.exits((width - 1 - x, y)), across, "{mode:?}, seed {seed}");
            if is_double {
                let down = exits & 0b0101 | (exits & 2) << 2 | (exits & 8) >> 2;
                assert_eq!(maze.exits((x, height - 1 - y)), down, "{mode:?}, seed {seed}");
            }
        }
        if seed % 50 == 0 {
            // With nests and den open.
            let reed = Reed::new(seed, mode);
            for cell in reed.nests().iter().chain(&reed.den()) {
                assert_eq!(reed.exits(*cell), 0b1111);
            }
        }
    }
    let share = junctions * 100 / (seeds as usize * width * height);
    println!("{mode:?}: mean way {} / 10 tiles, junctions {share} %, tries {worst}", tiles * 10 / ways);
    assert!(worst <= 24, "{mode:?}: {worst} tries");
    assert!((24..=40).contains(&share), "{mode:?}: {share} % junctions");
}

#[test]
fn mazes_of_common_reed_are_valid() {
    check(Mode::Broods, 300);
}

#[test]
fn mazes_of_great_reed_are_valid() {
    check(Mode::Great, 150);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn ten_thousand_mazes_are_valid() {
    check(Mode::Broods, 10_000);
    check(Mode::Great, 10_000);
}
