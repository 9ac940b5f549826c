//! Rules of membership, each of which tests can switch off to show which failure it prevents.
//!
//! `membership/harness/mutants.rs` leaves them out one by one. Absent: what they do.

/// Active rules. Outside of tests all are active.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rules {
    /// A peer that reported takes no entries of streams outside the quorum.
    pub(crate) fence: bool,
    /// A newer promise never admits a stream again that an older one excluded.
    pub(crate) fence_never_widens: bool,
    /// A promise also excludes streams that are still unknown.
    pub(crate) fence_covers_strangers: bool,
    /// An observer with a promise takes no feed from the view it is leaving.
    pub(crate) fence_covers_feeds: bool,
    /// A promise that outlasts a view limits the entries taken from that view.
    pub(crate) fence_covers_tails: bool,
    /// Packets carry the exclusion of streams, not only the promise behind it.
    pub(crate) fence_is_told: bool,
    /// Silent streams end where the longest copy ends, not where the coordinator's copy ends.
    pub(crate) cut_at_longest_copy: bool,
    /// Silent streams end after the last held entry, not after the last confirmed one.
    pub(crate) cut_after_held: bool,
    /// A stream that was cut ends earlier if all peers that hold its last entries are gone, too.
    pub(crate) cut_again: bool,
    /// A view needs the reports of the whole quorum.
    pub(crate) wait_for_all: bool,
    /// If a report has a newer view, the next view builds on it.
    pub(crate) build_on_deepest: bool,
    /// No view older than the promise is installed.
    pub(crate) promise_binds: bool,
    /// A joiner's readiness counts for one branch only.
    pub(crate) ready_names_history: bool,
    /// No joiner is admitted during a view change.
    pub(crate) no_join_while_busy: bool,
    /// A peer that turns out to have joined is asked for a report, too.
    pub(crate) joiners_are_asked: bool,
    /// It stays among the asked peers when the view change begins again.
    pub(crate) joiners_are_remembered: bool,
    /// No peer says goodbye during a view change.
    pub(crate) no_end_while_busy: bool,
    /// Only a full member coordinates.
    pub(crate) full_before_coordinating: bool,
    /// A confirmed goodbye outlives any table.
    pub(crate) goodbyes_survive: bool,
    /// A change that has begun is finished.
    pub(crate) finish_what_is_begun: bool,
    /// A peer that is asked for a former incarnation answers that this one is gone.
    pub(crate) gone_is_told: bool,
    /// Entries count only from peers of the same branch.
    pub(crate) history_decides: bool,
    /// A peer that yields plays on until it holds the winner's snapshot.
    pub(crate) yield_after_snapshot: bool,
    /// The smaller branch of a partition must rejoin the larger one.
    pub(crate) fewer_come_back: bool,
    /// With a majority, views are accepted before they are made.
    pub(crate) accept_round: bool,
    /// An accepted view travels with its entries.
    pub(crate) accepted_with_tails: bool,
    /// A view the majority made is installed, whatever was promised since.
    pub(crate) made_is_made: bool,
    /// A quorum too small to decide is widened when other peers return.
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
