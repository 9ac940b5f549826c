//! The balance of a round, roughly: ten rounds of each crew, within generous bounds of the targets.
//! `gaggle-lab balance-gosling` has two hundred.

use gosling::trial::summary::{Rounds, Summary, judge};

#[test]
fn ten_rounds_are_near_targets() {
    let of = Summary::of(&Rounds::play(10));
    judge(&of).iter().for_each(|finding| println!("{finding}"));
    let [lower, middle, upper] = of.banked;
    assert!((30..=62).contains(&middle) && lower < middle && middle < upper, "{of:?}");
    assert!(of.strengths[0] < 85 && of.strengths[2] > 110, "{of:?}");
    assert!(of.caught[2] < of.caught[1] && (200..=520).contains(&of.caught[1]), "{of:?}");
    assert!((3..=8).contains(&of.lost_load) && (6..=10).contains(&of.home_load.0), "{of:?}");
    assert!((10..=35).contains(&of.home_load.1) && (65..=92).contains(&of.by_pikes), "{of:?}");
    assert!((30..=80).contains(&of.goose) && (60..=220).contains(&of.sent), "{of:?}");
    assert!(of.margin <= 200 && (10..=90).contains(&of.left) && of.leads >= 1, "{of:?}");
    assert!((30..=65).contains(&of.uneaten) && of.idle < 5, "{of:?}");
    assert!(of.questions[0] < 150 && of.questions[1] < 600, "{of:?}");
}
