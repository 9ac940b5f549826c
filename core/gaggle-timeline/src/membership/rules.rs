//! The rules that could be left out at the price of a story: each can be switched off, by tests
//! only.

/// Which rules hold. Outside of tests all of them do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Rules {
    /// Whoever reported stops listening to streams outside the circle.
    pub(crate) fence: bool,
    /// A newer promise never lets back in whom an older one shut out.
    pub(crate) fence_never_widens: bool,
    /// The fence also keeps out streams nobody has heard of yet.
    pub(crate) fence_covers_strangers: bool,
    /// An observer that promised takes no feed from the view it is leaving.
    pub(crate) fence_covers_feeds: bool,
    /// A fence that outlasts a view holds against that view's tails.
    pub(crate) fence_covers_tails: bool,
    /// A fence is told to the others, not only the promise behind it.
    pub(crate) fence_is_told: bool,
    /// The silent end where anybody's copy ends, not where the coordinator's does.
    pub(crate) cut_at_longest_copy: bool,
    /// They end after what is held, not after what is confirmed.
    pub(crate) cut_after_held: bool,
    /// Who was cut ends earlier if whoever held its last entries is gone, too.
    pub(crate) cut_again: bool,
    /// A view needs the report of everybody in the circle.
    pub(crate) wait_for_all: bool,
    /// A newer view somebody reports is built upon.
    pub(crate) build_on_deepest: bool,
    /// No view older than one's promise is installed.
    pub(crate) promise_binds: bool,
    /// Readiness is for one history only.
    pub(crate) ready_names_history: bool,
    /// Nobody is admitted while a change is under way.
    pub(crate) no_join_while_busy: bool,
    /// Who turns out to have joined is asked, too.
    pub(crate) newcomers_are_asked: bool,
    /// And stays asked when the asking starts over.
    pub(crate) newcomers_are_remembered: bool,
    /// Nobody says goodbye while a change is under way.
    pub(crate) no_end_while_busy: bool,
    /// Only a full member coordinates.
    pub(crate) full_before_coordinating: bool,
    /// A goodbye that is confirmed outlives any table.
    pub(crate) goodbyes_survive: bool,
    /// A change once begun is finished.
    pub(crate) finish_what_is_begun: bool,
    /// Who is asked under an old name says that this one is gone.
    pub(crate) gone_is_told: bool,
    /// Entries count only from those who share the history.
    pub(crate) history_decides: bool,
    /// A junior plays on until it holds the winner's state.
    pub(crate) yield_after_snapshot: bool,
    /// Who went on without others that are more has to come back to them.
    pub(crate) fewer_come_back: bool,
    /// With a majority, views are accepted before they are made.
    pub(crate) accept_round: bool,
    /// An accepted view travels with its tails.
    pub(crate) accepted_with_tails: bool,
    /// A view the majority made is installed whatever was promised since.
    pub(crate) made_is_made: bool,
    /// A circle too small to decide is widened when others return.
    pub(crate) small_circle_widens: bool,
    /// Majority: whoever is to be gone stays while nothing can be decided without it.
    pub(crate) needed_are_kept: bool,
    /// With a majority, whoever said goodbye has no vote.
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
        newcomers_are_asked: true,
        newcomers_are_remembered: true,
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
