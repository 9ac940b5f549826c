//! Effect of `ask` on resimulated frames: the same maze, read in three ways.
//!
//! Called by `main.rs`. Absent: the maze (`maze.rs`).

use bench_report::{Report, Row};

use crate::maze::{ASK, GET_ALWAYS, GET_WHERE_USED, Walk, walk};

/// Frames of five minutes.
const FRAMES: u64 = 18_000;

/// Frames resimulated, beside reading every input in every frame.
pub fn rows(report: &mut Report) {
    report.section("Frames simulated again in a maze, beside `get` in every frame");
    compare::<false>(report, "choice at junctions", 4, 4, Some(1.0 / 6.0));
    compare::<true>(report, "turning back at any time", 4, 4, None);
    compare::<false>(report, "choice at junctions", 4, 6, None);
    compare::<false>(report, "choice at junctions", 16, 4, None);
}

fn compare<const TURN_BACK: bool>(
    report: &mut Report,
    what: &str,
    players: usize,
    latency: u64,
    target: Option<f64>,
) {
    let always = walk::<GET_ALWAYS, TURN_BACK>(players, latency, FRAMES);
    let where_used = walk::<GET_WHERE_USED, TURN_BACK>(players, latency, FRAMES);
    let asked = walk::<ASK, TURN_BACK>(players, latency, FRAMES);
    assert_eq!(always.hash, where_used.hash, "`get` where used gave another state");
    assert_eq!(always.hash, asked.hash, "`ask` gave another state");
    assert!(always.eaten > players as u32 * 500, "players hardly moved: {always:?}");
    let per_frame = |walk: &Walk| walk.again as f64 / (FRAMES * players as u64) as f64;
    let metric = |how: &str| format!("{how}, {what}, {players} players, latency {latency}");
    let row =
        Row::new(metric("ask"), "/frame").gaggle(per_frame(&asked)).other("get always", per_frame(&always));
    report.row(match target {
        Some(part) => row.ratio_at_most(part),
        None => row,
    });
    report.row(
        Row::new(metric("get where used"), "/frame")
            .gaggle(per_frame(&where_used))
            .other("get always", per_frame(&always)),
    );
}
