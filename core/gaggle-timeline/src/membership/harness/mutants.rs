//! Every rule is there for a reason: without it some run fails. Those that fail too rarely to
//! search for are told in `stories.rs`.

use super::run::Draw;
use super::{Rules, World};

/// A rule that is left out.
struct Mutant {
    majority: bool,
    without: fn(&mut Draw),
    /// Where to look first. Any change of the machine moves it; then the search takes longer.
    hint: u64,
}

impl Mutant {
    fn run(&self, seed: u64) -> World {
        let mut draw = Draw::of(seed, self.majority, Rules::ALL);
        (self.without)(&mut draw);
        draw.run(seed, false)
    }

    /// Searches until an invariant breaks, and demands that it is one of these.
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

without!(nobody_keeps_out_the_silent, false, fence, 138, ["FINAL"]);
without!(a_newer_promise_lets_the_shut_out_back_in, false, fence_never_widens, 1_221, ["FINAL"]);
without!(a_fence_shows_only_as_a_promise, true, fence_is_told, 1_423, ["STALL"]);
without!(the_coordinators_copy_decides, false, cut_at_longest_copy, 29, ["FINAL"]);
without!(the_silent_end_at_what_is_confirmed, false, cut_after_held, 29, ["FINAL"]);
without!(half_of_the_circle_is_enough, false, wait_for_all, 7, ["FINAL", "YIELD"]);
without!(the_ready_are_ready_for_anything, false, ready_names_history, 2_598, ["FINAL", "STALL"]);
without!(joins_are_written_any_time, false, no_join_while_busy, 2_267, ["AGREEMENT", "FINAL", "STALL"]);
without!(what_is_begun_may_be_dropped, false, finish_what_is_begun, 1_791, ["STALL"]);
without!(entries_count_whoever_brings_them, false, history_decides, 60, ["SETTLED", "STALL"]);
without!(the_junior_leaves_before_it_has_a_state, false, yield_after_snapshot, 7, ["MATCHLESS"]);
without!(a_majority_need_not_accept, true, accept_round, 1_038, ["MAJORITY"]);
without!(a_small_circle_stays_small, true, small_circle_widens, 889, ["STALL"]);

#[test]
fn names_are_used_twice() {
    let without: fn(&mut Draw) = |draw| draw.plan.same_names = true;
    Mutant { majority: false, without, hint: 7 }.breaks(&["FAULT", "AGREEMENT", "SETTLED", "STALL"]);
}
