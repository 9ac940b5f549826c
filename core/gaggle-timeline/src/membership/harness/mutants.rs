//! Every rule is needed: without it some run fails. Rules whose absence fails too rarely to search
//! for are in `stories.rs`.

use super::run::Draw;
use super::{Rules, World};

/// A rule that is left out.
struct Mutant {
    majority: bool,
    without: fn(&mut Draw),
    /// Seed to try first. Any change of the machine changes which seed fails; then the search takes
    /// longer.
    hint: u64,
}

impl Mutant {
    fn run(&self, seed: u64) -> World {
        let mut draw = Draw::of(seed, self.majority, Rules::ALL);
        (self.without)(&mut draw);
        draw.run(seed, false)
    }

    /// Searches for a run that breaks an invariant, and requires it to be one of these.
    fn breaks(&self, invariants: &[&str]) {
        let seeds = std::iter::once(self.hint).chain(0..20_000);
        let found = seeds
            .map(|seed| (seed, self.run(seed).failure))
            .find_map(|(seed, failure)| failure.map(|failure| (seed, failure)));
        let (seed, failure) = found.expect("nothing fails without this rule");
        let named = invariants.iter().any(|invariant| failure.starts_with(invariant));
        assert!(named, "seed {seed}: {failure}");
        println!("seed {seed}: {}", failure.lines().next().unwrap_or_default());
    }
}

macro_rules! without {
    ($name:ident, $majority:expr, $rule:ident, $hint:expr, $invariants:expr) => {
        #[test]
        fn $name() {
            let without: fn(&mut Draw) = |draw| draw.plan.rules.$rule = false;
            Mutant { majority: $majority, without, hint: $hint }.breaks(&$invariants);
        }
    };
}

without!(missing_fence_is_noticed, false, fence, 138, ["FINAL"]);
without!(widening_fence_is_noticed, false, fence_never_widens, 1_221, ["FINAL"]);
without!(untold_fence_is_noticed, true, fence_is_told, 1_423, ["STALL"]);
without!(cut_at_coordinators_copy_is_noticed, false, cut_at_longest_copy, 29, ["FINAL"]);
without!(cut_at_confirmed_is_noticed, false, cut_after_held, 29, ["FINAL"]);
without!(reports_of_half_circle_are_noticed, false, wait_for_all, 7, ["FINAL", "YIELD"]);
without!(readiness_without_history_is_noticed, false, ready_names_history, 2_598, ["FINAL", "STALL"]);
without!(join_during_change_is_noticed, false, no_join_while_busy, 2_267, ["AGREEMENT", "FINAL", "STALL"]);
without!(dropped_change_is_noticed, false, finish_what_is_begun, 1_791, ["STALL"]);
without!(entries_across_histories_are_noticed, false, history_decides, 60, ["SETTLED", "STALL"]);
without!(yield_before_snapshot_is_noticed, false, yield_after_snapshot, 7, ["MATCHLESS"]);
without!(missing_accept_round_is_noticed, true, accept_round, 1_038, ["MAJORITY"]);
without!(unwidened_circle_is_noticed, true, small_circle_widens, 889, ["STALL"]);

#[test]
fn reused_incarnation_is_noticed() {
    let without: fn(&mut Draw) = |draw| draw.plan.same_names = true;
    Mutant { majority: false, without, hint: 7 }.breaks(&["FAULT", "AGREEMENT", "SETTLED", "STALL"]);
}
