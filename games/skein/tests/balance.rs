//! The balance of the flight, roughly: ten runs of a crew, within generous bounds of the targets.
//! `examples/balance.rs` has two hundred of each crew.

use skein::trial::{CREWS, Run, Summary, run};

fn summary(crew: usize, runs: u64) -> Summary {
    let done: Vec<Run> = (0..runs).map(|seed| run(CREWS[crew].1, seed)).collect();
    Summary::of(&done)
}

#[test]
fn ten_runs_of_four_are_near_targets() {
    let four = summary(1, 10);
    assert!((3..=6).contains(&four.stage_median), "{four:?}");
    assert!((10..=70).contains(&four.reached[5]), "{four:?}");
    assert!((360..=840).contains(&four.length.0), "{four:?}");
    assert!(four.lost[0] < four.lost[4] && four.lost[0] <= 150, "{four:?}");
    assert!((65..=95).contains(&four.causes[0]) && four.causes[2] <= 15, "{four:?}");
    assert!((25..=65).contains(&four.caught), "{four:?}");
    assert!((20..=70).contains(&four.boss.0) && four.boss.1 <= 200, "{four:?}");
    assert!((15..=120).contains(&four.point_changes), "{four:?}");
    assert!(four.best_share < 50 && four.embers.1 <= 480, "{four:?}");
}

#[test]
fn one_alone_gets_as_far_as_it_should() {
    let alone = summary(0, 10);
    assert!((2..=5).contains(&alone.stage_median) && alone.reached[5] <= 40, "{alone:?}");
}
