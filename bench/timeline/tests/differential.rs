//! Final states of both libraries, compared with a straight run of the same inputs.

use bench_timeline::differential::{Diary, Trial};
use bench_timeline::gaggle::Gaggle;
use bench_timeline::ggrs::Ggrs;
use bench_timeline::{Contestant, Tally};

/// A tenth of the seeds in debug builds, which are slow; the bench plays all.
const SEEDS: std::ops::Range<u64> = if cfg!(debug_assertions) { 0..100 } else { 0..1_000 };

#[test]
fn ggrs_ends_in_state_of_straight_run() {
    let tally = play_all::<Ggrs<Diary>>();
    assert!(tally.calls.loads > SEEDS.end * 10, "nothing was rolled back: {tally:?}");
}

#[test]
fn gaggle_ends_in_state_of_straight_run() {
    let tally = play_all::<Gaggle<Diary>>();
    assert!(tally.calls.loads > SEEDS.end * 10, "nothing was rolled back: {tally:?}");
}

fn play_all<C: Contestant<Game = Diary>>() -> Tally {
    let tallies: Vec<Tally> = SEEDS
        .map(|seed| Trial::draw(seed).play::<C>().unwrap_or_else(|mismatch| panic!("{mismatch}")))
        .collect();
    Tally::sum(&tallies)
}
