//! Rules of membership, each of which tests can switch off to show what fails without it.
//!
//! `membership/harness/mutants.rs` leaves them out one by one. Absent: what they do.

/// Which rules hold. Outside of tests all do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rules {
    /// A peer that reported stops listening to streams outside the circle.
    pub(crate) fence: bool,
    /// A newer promise never admits a stream again that an older one excluded.
    pub(crate) fence_never_widens: bool,
    /// The fence also excludes streams that are still unknown.
    pub(crate) fence_covers_strangers: bool,
    /// An observer that promised takes no feed from the view it is leaving.
    pub(crate) fence_covers_feeds: bool,
    /// A fence that outlasts a view holds against that view's entries.
    pub(crate) fence_covers_tails: bool,
    /// The others are told the fence, not only the promise behind it.
    pub(crate) fence_is_told: bool,
    /// Silent streams end where the longest copy ends, not the coordinator's.
    pub(crate) cut_at_longest_copy: bool,
    /// They end after what is held, not after what is confirmed.
    pub(crate) cut_after_held: bool,
    /// A stream that was cut ends earlier if the holders of its last entries are gone, too.
    pub(crate) cut_again: bool,
    /// A view needs the reports of the whole circle.
    pub(crate) wait_for_all: bool,
    /// A newer view in a report is built upon.
    pub(crate) build_on_deepest: bool,
    /// No view older than the promise is installed.
    pub(crate) promise_binds: bool,
    /// Readiness is for one history only.
    pub(crate) ready_names_history: bool,
    /// No joiner is admitted during a view change.
    pub(crate) no_join_while_busy: bool,
    /// A peer that turns out to have joined is asked, too.
    pub(crate) joiners_are_asked: bool,
    /// It stays in the circle when the collection begins again.
    pub(crate) joiners_are_remembered: bool,
    /// No peer says goodbye during a view change.
    pub(crate) no_end_while_busy: bool,
    /// Only a full member coordinates.
    pub(crate) full_before_coordinating: bool,
    /// A confirmed goodbye outlives any table.
    pub(crate) goodbyes_survive: bool,
    /// A change that has begun is finished.
    pub(crate) finish_what_is_begun: bool,
    /// A peer asked by a former incarnation says that this one is gone.
    pub(crate) gone_is_told: bool,
    /// Entries count only from peers in the same history.
    pub(crate) history_decides: bool,
    /// A peer that yields plays on until it holds the winner's snapshot.
    pub(crate) yield_after_snapshot: bool,
    /// The smaller part of a split has to rejoin the larger one.
    pub(crate) fewer_come_back: bool,
    /// With a majority, views are accepted before they are made.
    pub(crate) accept_round: bool,
    /// An accepted view travels with its entries.
    pub(crate) accepted_with_tails: bool,
    /// A view the majority made is installed whatever was promised since.
    pub(crate) made_is_made: bool,
    /// A circle too small to decide is widened when others return.
    pub(crate) small_circle_widens: bool,
    /// With a majority, a stream to be evicted stays while nothing can be decided without it.
    pub(crate) needed_are_kept: bool,
    /// With a majority, a goodbye ends the vote.
    pub(crate) goodbyes_end_votes: bool,
    /// Entries too far ahead are dropped.
    pub(crate) cap_ahead: bool,
}

impl Rules {
    pub(crate) const ALL: Rules = Rules {
        fence: true,
        fence_never_widens: true,
        fence_covers_strangers: true,
        fence_covers_feeds: true,
        fence_covers_tails: true,
        fence_is_told: true,
        cut_at_longest_copy: true,
        cut_after_held: true,
        cut_again: true,
        wait_for_all: true,
        build_on_deepest: true,
        promise_binds: true,
        ready_names_history: true,
        no_join_while_busy: true,
        joiners_are_asked: true,
        joiners_are_remembered: true,
        no_end_while_busy: true,
        full_before_coordinating: true,
        goodbyes_survive: true,
        finish_what_is_begun: true,
        gone_is_told: true,
        history_decides: true,
        yield_after_snapshot: true,
        fewer_come_back: true,
        accept_round: true,
        accepted_with_tails: true,
        made_is_made: true,
        small_circle_widens: true,
        needed_are_kept: true,
        goodbyes_end_votes: true,
        cap_ahead: true,
    };
}
