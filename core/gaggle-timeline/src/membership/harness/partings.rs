//! Cases of partitions: promises left over, branches that meet, votes of peers that have left.

use super::stories::Tale;
use super::{Message, Mode, Parcel, Plan, Rules};

const ALL: Rules = Rules::ALL;

fn voting(peers: usize, rules: Rules) -> Tale {
    Tale::planned(Plan { majority: true, rules, ..Plan::new(peers, 3, 0) }, 0)
}

#[test]
fn begun_change_is_finished_after_suspect_returns() {
    // 1 suspects the leader and asks 2; then it hears the leader again. Both have promised not to
    // take its entries.
    let story = |rules| {
        let mut tale = Tale::of(3, 0, rules);
        tale.play(&[0, 1, 2], 3);
        tale.suspect(1, 0).tick(1).say(1, 2).lose(2, 1).trust(1, 0);
        tale.play(&[0, 1, 2], 12);
        tale
    };
    let tale = story(ALL);
    assert!(tale.holds().confirmed(0) > 8, "they play on: {}", tale.confirmed(0));
    let tale = story(Rules { finish_what_is_begun: false, ..ALL });
    assert!(tale.confirmed(1) <= 7, "two exclude a healthy leader for ever: {}", tale.confirmed(1));
}

#[test]
fn entries_count_only_within_same_history() {
    // 2 goes on without the others, which still hear it.
    let story = |rules| {
        let mut tale = Tale::of(3, 0, rules);
        tale.play(&[0, 1, 2], 3).suspect(2, 0).suspect(2, 1).tick(2).tick(2);
        assert_ne!(tale.history(2), tale.history(0));
        let held = tale.held(0, 2);
        tale.packet(2, 0);
        (held, tale.held(0, 2))
    };
    let (before, after) = story(ALL);
    assert_eq!(before, after, "what is played elsewhere does not count");
    let (before, after) = story(Rules { history_decides: false, ..ALL });
    assert!(after > before, "a peer that cut this one still feeds it");
}

#[test]
fn yielding_peer_plays_on_until_it_has_snapshot() {
    let story = |rules| {
        let mut tale = Tale::of(3, 0, rules);
        tale.play(&[0, 1, 2], 3);
        // 2 is partitioned from 0 and 1; then they meet, and the winners crash.
        tale.suspect(2, 0).suspect(2, 1).suspect(0, 2).tick(2).tick(0).say(0, 1).say(1, 0).say(0, 1);
        assert_ne!(tale.history(2), tale.history(0));
        tale.packet(0, 2).tick(2).crash(0).crash(1).tick(2);
        tale.0.nodes[2].machine.mode()
    };
    assert_eq!(story(ALL), Mode::Member, "nothing was lost");
    assert_eq!(
        story(Rules { yield_after_snapshot: false, ..ALL }),
        Mode::Out,
        "no peer has a match any more"
    );
}

#[test]
fn mutual_evictors_go_on_together_if_neither_may_alone() {
    // The leader crashes, and before a view is made 1 and 2 have each waited too long for the
    // other.
    let story = |rules| {
        let mut tale = voting(3, rules);
        tale.play(&[0, 1, 2], 3).crash(0).suspect(1, 0).suspect(2, 0);
        for (one, other) in [(1, 2), (2, 1)] {
            let other = tale.name(other);
            tale.0.node_mut(one).machine.evict(other);
        }
        tale.play(&[1, 2], 24);
        tale
    };
    let tale = story(ALL);
    assert!(tale.holds().confirmed(1) > 12, "they play on: {}", tale.confirmed(1));
    let tale = story(Rules { needed_are_kept: false, ..ALL });
    assert!(tale.confirmed(1) <= 7, "each waits for others for ever: {}", tale.confirmed(1));
}

#[test]
fn lone_peer_takes_no_other_along() {
    // 4 hears no peer for a while and goes on alone; the others, which heard it all the time,
    // receive its view.
    let story = |rules| {
        let mut tale = Tale::of(5, 0, rules);
        tale.play(&[0, 1, 2, 3, 4], 3);
        (0..4).for_each(|other| _ = tale.suspect(4, other));
        tale.tick(4).tick(4);
        assert_ne!(tale.history(4), tale.history(0));
        (0..4).for_each(|other| _ = tale.trust(4, other));
        let names: Vec<_> = (0..5).map(|index| tale.name(index)).collect();
        tale.play(&[0, 1, 2, 3, 4], 24);
        let anew = (0..5).filter(|index| tale.name(*index) != names[*index]).collect::<Vec<_>>();
        assert!((1..5).all(|index| tale.history(index) == tale.history(0)), "they meet again");
        (anew, tale.holds().confirmed(0))
    };
    let (anew, confirmed) = story(ALL);
    assert_eq!(anew, [4], "it comes back alone");
    assert!(confirmed > 20, "and the others play on: {confirmed}");
    let (anew, _) = story(Rules { fewer_come_back: false, ..ALL });
    assert_eq!(anew, [0, 1, 2, 3], "four go where one is");
}

#[test]
fn yielding_branch_is_decided_at_split_whatever_follows() {
    // Two branches. Each may play long or short: the same one always yields, and only one does.
    let mut yielding = Vec::new();
    for (here, there) in [(1, 1), (30, 2), (2, 30)] {
        let mut tale = Tale::of(3, 0, ALL);
        tale.play(&[0, 1, 2], 3);
        tale.suspect(2, 0).suspect(2, 1).suspect(0, 2).suspect(1, 2);
        tale.tick(0).say(0, 1).say(1, 0).say(0, 1).tick(2);
        tale.play(&[0, 1], here);
        (0..there).for_each(|_| _ = tale.tick(2));
        tale.0.net.clear();
        tale.packet(0, 2).packet(2, 0).packet(2, 1);
        let asks = |parcel: &Parcel| matches!(parcel, Parcel::Said(Message::AskSnapshot));
        yielding.extend(tale.0.net.iter().filter(|(.., parcel)| asks(parcel)).map(|(from, ..)| *from));
    }
    assert_eq!(yielding, [2, 2, 2], "the smaller circle, each time, and no other");
}

#[test]
fn sleeper_yields_between_two_lone_peers() {
    // Both views have one member and the first ballot number: by its lower id 0 would win.
    let yielding = |asleep: Option<usize>| {
        let mut tale = Tale::of(2, 0, ALL);
        tale.play(&[0, 1], 3);
        asleep.into_iter().for_each(|index| _ = tale.sleep(index));
        tale.suspect(0, 1).suspect(1, 0).tick(0).tick(1).tick(0).tick(1);
        assert_ne!(tale.history(0), tale.history(1));
        tale.trust(0, 1).trust(1, 0).packet(0, 1).packet(1, 0);
        let asks = |parcel: &Parcel| matches!(parcel, Parcel::Said(Message::AskSnapshot));
        let asked = tale.0.net.iter().filter(|(.., parcel)| asks(parcel)).map(|(from, ..)| *from);
        asked.collect::<Vec<_>>()
    };
    assert_eq!(yielding(None), [1], "the lower name wins");
    assert_eq!(yielding(Some(1)), [1]);
    assert_eq!(yielding(Some(0)), [0], "but not if it slept");
}

#[test]
fn small_circle_is_widened_when_peer_returns() {
    let story = |rules| {
        let mut tale = voting(3, rules);
        tale.play(&[0, 1, 2], 3).crash(2);
        // 0 hears no peer, so it makes a view alone; then 1 is heard again.
        tale.suspect(0, 1).suspect(0, 2).suspect(1, 2).tick(0).tick(0).trust(0, 1);
        for _ in 0..10 {
            tale.play(&[0, 1], 1);
        }
        tale
    };
    let tale = story(ALL);
    assert!(tale.holds().confirmed(0) > 6, "two of three go on: {}", tale.confirmed(0));
    let tale = story(Rules { small_circle_widens: false, ..ALL });
    assert!(tale.confirmed(0) <= 6, "the second voter is never asked: {}", tale.confirmed(0));
}

#[test]
fn leaver_has_no_vote_after_goodbye() {
    // 3 leaves, then the first in rank crashes: two of three are left, though only two of four.
    let story = |rules| {
        let mut tale = voting(4, rules);
        tale.play(&[0, 1, 2, 3], 3).leave(3).play(&[0, 1, 2, 3], 3).crash(3).play(&[0, 1, 2], 2).crash(0);
        let at = tale.confirmed(1);
        for other in [0, 3] {
            tale.suspect(1, other).suspect(2, other);
        }
        for _ in 0..14 {
            tale.play(&[1, 2], 1);
        }
        (tale.holds().confirmed(1), at)
    };
    let (to, at) = story(ALL);
    assert!(to > at + 6, "they play on: {at} to {to}");
    let (to, at) = story(Rules { goodbyes_end_votes: false, ..ALL });
    assert!(to <= at + 6, "half of the former members may not decide: {at} to {to}");
}

#[test]
fn majority_view_is_installed_despite_later_promises() {
    // 4 has crashed. 0 proposes a view without it and falls silent. 1 makes that view at a ballot
    // of its own. 3, which has promised that ballot, learns of the view only from the sender of a
    // packet.
    let story = |rules| {
        let mut tale = voting(5, rules);
        tale.play(&[0, 1, 2, 3, 4], 3).crash(4);
        for index in 0..4 {
            tale.suspect(index, 4);
        }
        tale.tick(0).say(0, 1).say(0, 2).say(0, 3).say(1, 0).say(2, 0).say(3, 0);
        tale.say(0, 1).say(0, 2).say(0, 3).lose(1, 0).lose(2, 0).lose(3, 0);
        for index in 1..4 {
            tale.suspect(index, 0);
        }
        tale.tick(1).say(1, 2).say(1, 3).say(2, 1).say(3, 1);
        tale.say(1, 2).say(1, 3).say(2, 1).say(3, 1).say(1, 2).lose(1, 3);
        assert_eq!(tale.history(1), tale.history(2), "the view is made");
        assert_ne!(tale.history(1), tale.history(3));
        tale.packet(3, 1).say(1, 3);
        tale
    };
    let tale = story(ALL);
    assert_eq!(tale.holds().history(3), tale.history(1));
    let tale = story(Rules { made_is_made: false, ..ALL });
    assert_ne!(tale.history(3), tale.history(1), "it is left behind until the view changes once more");
}

#[test]
fn fence_is_told_to_peer_with_equal_promise_and_no_fence() {
    // 3 has crashed. 0 proposes a view without it, receives no vote, and makes the view with 2's
    // vote alone. 2 learns of it only from a packet, so its promise not to take 1's entries
    // outlasts the view; 0 has promised the same and has kept it.
    let story = |rules| {
        let mut tale = voting(4, rules);
        tale.play(&[0, 1, 2, 3], 3).crash(3);
        (0..3).for_each(|index| _ = tale.suspect(index, 3));
        tale.tick(0).say(0, 1).say(0, 2).say(1, 0).say(2, 0);
        tale.say(0, 1).say(0, 2).lose(1, 0).lose(2, 0);
        tale.suspect(0, 1).tick(0).say(0, 2).say(2, 0).say(0, 2).say(2, 0).lose(0, 2).trust(0, 1);
        assert_ne!(tale.history(0), tale.history(2), "the view is made, and 2 does not know");
        tale.packet(2, 0).say(0, 2).packet(1, 0).say(0, 1);
        assert!((1..3).all(|index| tale.history(index) == tale.history(0)));
        let fences = [0, 1, 2].map(|index| tale.0.nodes[index].machine.fence.is_up());
        assert_eq!(fences, [false, false, true]);
        let promised = [0, 2].map(|index| tale.0.nodes[index].machine.fence.promised());
        assert_eq!(promised[0], promised[1]);
        tale.play(&[0, 1, 2], 12);
        tale
    };
    let tale = story(ALL);
    assert!(tale.holds().confirmed(0) > 8, "they play on: {}", tale.confirmed(0));
    let tale = story(Rules { fence_is_told: false, ..ALL });
    assert!(tale.confirmed(0) <= 7, "2 excludes 1 for ever, and no peer acts: {}", tale.confirmed(0));
}

#[test]
fn view_counts_only_after_majority_accepts() {
    // 0 suspects 2 and asks 1, which answers and then loses 0: 1 and 2 are a majority, too.
    let story = |rules| {
        let mut tale = voting(3, rules);
        tale.play(&[0, 1, 2], 3);
        tale.suspect(0, 2).tick(0).say(0, 1).say(1, 0).lose(0, 1);
        tale.suspect(1, 0).suspect(2, 0).tick(1);
        (0..3).for_each(|_| _ = tale.say(1, 2).say(2, 1));
        tale
    };
    let tale = story(ALL);
    assert_eq!(tale.holds().history(1), tale.history(2));
    assert!(!tale.counts_on(1, 0) && tale.counts_on(0, 2), "one of the two views was made");
    story(Rules { accept_round: false, ..ALL }).breaks("MAJORITY");
}

#[test]
fn rejoining_peer_uses_another_incarnation() {
    // 2 goes on alone, then returns with the others' snapshot.
    let story = |same_names| {
        let mut tale = Tale::planned(Plan { same_names, ..Plan::new(3, 3, 0) }, 0);
        tale.play(&[0, 1, 2], 3).suspect(2, 0).suspect(2, 1).tick(2).tick(2).trust(2, 0).trust(2, 1);
        tale.play(&[0, 1, 2], 24);
        tale
    };
    let tale = story(false);
    assert!(tale.holds().counts_on(0, 2) && tale.confirmed(0) > 15, "it plays again");
    assert!(!story(true).counts_on(0, 2), "an ended incarnation is not admitted");
}

#[test]
fn too_small_group_goes_on_when_peer_joins() {
    for majority in [false, true] {
        let plan = Plan { majority, quorum_min: 2, ..Plan::new(3, 3, 0) };
        let mut tale = Tale::planned(plan, 1);
        tale.play(&[0, 1], 3).crash(1).suspect(0, 1);
        (0..6).for_each(|_| _ = tale.tick(0));
        assert!(tale.counts_on(0, 1) && tale.confirmed(0) == 3, "it waits, majority {majority}");
        tale.boot(2, 0).pending(2, 6).packet(2, 0);
        (0..3).for_each(|_| _ = tale.tick(0).packet(2, 0));
        assert!(!tale.holds().counts_on(0, 1), "two are enough, majority {majority}");
    }
}

#[test]
fn cut_stream_ends_where_last_remaining_copy_ends() {
    // 0 admits 2 and crashes; 1 alone holds 0's last entry, and cuts 0 after that entry. 2 is fed
    // the view before 1 has confirmed that frame. Then 1 crashes, too.
    let story = |rules| {
        let mut tale = Tale::of(3, 1, rules);
        tale.play(&[0, 1], 3).boot(2, 0).pending(2, 4).packet(2, 0);
        tale.tick(0).tick(1).packet(0, 1).packet(1, 0).tick(0).packet(0, 1).crash(0);
        assert_eq!((tale.confirmed(1), tale.held(1, 0)), (4, 5));
        tale.suspect(1, 0).suspect(2, 0).tick(1).say(1, 2).say(2, 1).lose(1, 2);
        assert!(!tale.counts_on(1, 0), "the view is made");
        tale.feed(2, 1).tick(2);
        assert_eq!((tale.history(1), tale.held(2, 0)), (tale.history(2), 4));
        tale.crash(1).suspect(2, 1);
        (0..12).for_each(|_| _ = tale.tick(2));
        tale
    };
    let tale = story(ALL);
    assert!(tale.holds().confirmed(2) > 8, "it plays on: {}", tale.confirmed(2));
    let tale = story(Rules { cut_again: false, ..ALL });
    assert_eq!(tale.confirmed(2), 4, "no peer has the entry it waits for");
}

#[test]
fn joiner_admitted_by_dead_peer_counts_for_small_group() {
    // 0 admits 2 and crashes, and only 2 has read that: 1 does not know that 2 is admitted, but
    // hears it.
    let mut tale = Tale::planned(Plan { quorum_min: 2, ..Plan::new(3, 3, 0) }, 1);
    tale.play(&[0, 1], 3).boot(2, 0).pending(2, 4).packet(2, 0).tick(0).packet(0, 2).tick(2).crash(0);
    assert!(tale.counts_on(2, 2) && !tale.counts_on(1, 2));
    tale.suspect(1, 0).suspect(2, 0);
    (0..4).for_each(|_| _ = tale.tick(1).tick(2).say(1, 2));
    assert!(tale.counts_on(1, 0), "1 knows only itself");
    (0..4).for_each(|_| _ = tale.packet(2, 1).tick(1).tick(2).say(1, 2).say(2, 1));
    assert!(!tale.holds().counts_on(1, 0), "two are enough");
}

#[test]
fn leaver_does_not_count_for_minimum() {
    for frames in [3, 30] {
        let mut tale = Tale::planned(Plan { quorum_min: 2, ..Plan::new(3, 3, 0) }, 0);
        tale.play(&[0, 1, 2], 3).leave(2).play(&[0, 1, 2], frames).crash(0);
        assert!(!tale.counts_on(1, 2));
        tale.suspect(1, 0);
        (0..6).for_each(|_| _ = tale.packet(2, 1).tick(1).tick(2));
        assert!(tale.holds().counts_on(1, 0), "2 is there only to say goodbye, {frames} frames ago");
    }
}
