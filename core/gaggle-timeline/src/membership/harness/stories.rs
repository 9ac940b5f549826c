//! Purpose of each rule: the same case with the rule and without it.

use gaggle_kit::{Frame, Micros};

use super::{EntryControl, Message, Mode, Parcel, Plan, Rules, World, peer, rows};
use crate::membership::messages::Told;
use crate::membership::view::View;
use crate::roster::StreamId;

/// A world in which single steps are taken. All peers start together except the last `late` ones.
pub(super) struct Tale(pub(super) World);

impl Tale {
    pub(super) fn of(peers: usize, late: usize, rules: Rules) -> Tale {
        Tale::planned(Plan { rules, ..Plan::new(peers, 3, 0) }, late)
    }

    pub(super) fn planned(plan: Plan, late: usize) -> Tale {
        let mut world = World::new(Plan { scripted: true, ..plan }, 1);
        world.trace = Some(Vec::new());
        world.start(plan.peers - late);
        Tale(world)
    }

    /// Writes one more entry of a peer, with everything else that is due there.
    pub(super) fn tick(&mut self, index: usize) -> &mut Tale {
        self.0.tick(index);
        self
    }

    /// Delivers a packet of the running game, with the sender's own entries.
    pub(super) fn packet(&mut self, from: usize, to: usize) -> &mut Tale {
        let packet = self.0.packet(from, false);
        self.0.deliver(from, to, packet);
        self
    }

    /// Delivers all messages from one peer to the other.
    pub(super) fn say(&mut self, from: usize, to: usize) -> &mut Tale {
        while let Some((_, _, parcel)) = self.0.net.take_first(|f, t, _| (f, t) == (from, to)) {
            self.0.deliver(from, to, parcel);
        }
        self
    }

    /// Drops all messages from one peer to the other.
    pub(super) fn lose(&mut self, from: usize, to: usize) -> &mut Tale {
        self.0.net.retain(|(f, t, _)| (*f, *t) != (from, to));
        self
    }

    /// Withholds these messages, to be delivered later.
    pub(super) fn keep_back(&mut self, from: usize, to: usize) -> Vec<Parcel> {
        let mut kept = Vec::new();
        while let Some((_, _, parcel)) = self.0.net.take_first(|f, t, _| (f, t) == (from, to)) {
            kept.push(parcel);
        }
        kept
    }

    pub(super) fn bring(&mut self, from: usize, to: usize, parcels: Vec<Parcel>) -> &mut Tale {
        parcels.into_iter().for_each(|parcel| self.0.deliver(from, to, parcel));
        self
    }

    pub(super) fn suspect(&mut self, index: usize, other: usize) -> &mut Tale {
        self.0.node_mut(index).machine.set_reachable(peer(other), false);
        self
    }

    pub(super) fn trust(&mut self, index: usize, other: usize) -> &mut Tale {
        self.0.node_mut(index).machine.set_reachable(peer(other), true);
        self
    }

    pub(super) fn crash(&mut self, index: usize) -> &mut Tale {
        self.0.node_mut(index).alive = false;
        self
    }

    /// Advances a peer's clock and nothing else.
    pub(super) fn sleep(&mut self, index: usize) -> &mut Tale {
        self.0.node_mut(index).clock += Micros::from_secs(2);
        self
    }

    pub(super) fn leave(&mut self, index: usize) -> &mut Tale {
        self.0.node_mut(index).machine.leave();
        self
    }

    /// One peer takes the other's snapshot.
    pub(super) fn boot(&mut self, index: usize, donor: usize) -> &mut Tale {
        self.0.deliver(index, donor, Parcel::Said(Message::AskSnapshot));
        self.say(donor, index)
    }

    /// An observer's own stream reaches this frame.
    pub(super) fn pending(&mut self, index: usize, to: u32) -> &mut Tale {
        let me = self.name(index);
        let machine = &self.0.nodes[index].machine;
        let from = machine.held(me).map_or(machine.confirmed(), |held| held.through()).number() + 1;
        let node = self.0.node_mut(index);
        for frame in (from..=to).map(Frame::new) {
            node.store.0.insert((me, frame), 1_000 + frame.number());
            node.machine.push_own(frame, EntryControl::NONE);
        }
        self
    }

    pub(super) fn feed(&mut self, index: usize, donor: usize) -> &mut Tale {
        let machine = &self.0.nodes[index].machine;
        let (from, known) = (machine.confirmed().next(), machine.lineage().history());
        let depth = machine.lineage().depth();
        self.0.deliver(index, donor, Parcel::AskFeed { from, known, depth });
        self.say(donor, index)
    }

    /// All of these peers tick and hear each other, this many times.
    pub(super) fn play(&mut self, who: &[usize], times: usize) -> &mut Tale {
        for _ in 0..times {
            who.iter().for_each(|index| _ = self.tick(*index));
            for from in who {
                for to in who.iter().filter(|to| *to != from) {
                    self.packet(*from, *to).say(*from, *to);
                }
            }
        }
        self
    }

    pub(super) fn confirmed(&self, index: usize) -> u32 {
        self.0.nodes[index].machine.confirmed().number()
    }

    pub(super) fn name(&self, index: usize) -> StreamId {
        self.0.nodes[index].machine.me()
    }

    /// Frame up to which a peer holds another's stream.
    pub(super) fn held(&self, index: usize, other: usize) -> u32 {
        self.0.nodes[index].machine.held(self.name(other)).map_or(0, |held| held.through().number())
    }

    /// Whether a peer has another in its roster, with an open row.
    pub(super) fn counts_on(&self, index: usize, other: usize) -> bool {
        rows::is_open(self.0.nodes[index].machine.known(), self.name(other))
    }

    pub(super) fn history(&self, index: usize) -> u64 {
        self.0.nodes[index].machine.lineage().history().0
    }

    pub(super) fn holds(&self) -> &Tale {
        let trace = || self.0.trace.as_ref().map(|trace| trace.join("\n")).unwrap_or_default();
        assert_eq!(self.0.failure, None, "{}", trace());
        self
    }

    pub(super) fn breaks(&self, invariant: &str) {
        let trace = || self.0.trace.as_ref().map(|trace| trace.join("\n")).unwrap_or_default();
        let failure = self.0.failure.as_deref().unwrap_or("no failure");
        assert!(failure.starts_with(invariant), "{failure}\n{}", trace());
    }
}

const ALL: Rules = Rules::ALL;

/// Three of three peers have confirmed frame 3, and none holds more.
fn three_at_three(rules: Rules) -> Tale {
    let mut tale = Tale::of(3, 0, rules);
    tale.play(&[0, 1, 2], 3);
    assert_eq!([0, 1, 2].map(|index| tale.confirmed(index)), [3, 3, 3]);
    tale
}

#[test]
fn reporting_peer_ignores_silent_streams() {
    let story = |rules| {
        let mut tale = three_at_three(rules);
        tale.tick(0).tick(1).tick(2).packet(0, 1);
        tale.suspect(0, 2).tick(0).say(0, 1);
        // Peer 2's packet was only late, not lost.
        tale.packet(2, 1).say(1, 0).say(0, 1);
        tale
    };
    assert!(!story(ALL).holds().counts_on(1, 2));
    story(Rules { fence: false, ..ALL }).breaks("FINAL");
}

#[test]
fn newer_promise_readmits_no_stream() {
    // 1 is excluded by 0's attempt, but asks 2 itself before 0's view arrives there.
    let story = |rules| {
        let mut tale = three_at_three(rules);
        tale.tick(0).tick(1).tick(2).packet(0, 2);
        tale.suspect(0, 1).tick(0).say(0, 2).say(2, 0).lose(0, 2);
        tale.suspect(1, 0).tick(1).say(1, 2).packet(1, 2).crash(1);
        tale.packet(2, 0).say(0, 2).say(2, 0).say(0, 2).say(2, 0).say(0, 2);
        tale
    };
    let tale = story(ALL);
    assert_eq!(tale.holds().history(0), tale.history(2));
    story(Rules { fence_never_widens: false, ..ALL }).breaks("FINAL");
}

#[test]
fn fence_excludes_unknown_streams() {
    // 2 is a joiner whose admission 1 has not read yet when 1 promises not to take its entries.
    let story = |rules| {
        let mut tale = Tale::of(3, 1, rules);
        tale.play(&[0, 1], 3).boot(2, 0).pending(2, 4).packet(2, 0);
        tale.tick(0).tick(1).packet(1, 0);
        assert!(tale.counts_on(0, 2));
        tale.suspect(0, 2).tick(0).say(0, 1);
        tale.pending(2, 5).packet(2, 1).packet(0, 1).tick(1);
        tale.say(1, 0).say(0, 1);
        tale
    };
    let tale = story(ALL);
    assert!(!tale.holds().counts_on(1, 2));
    story(Rules { fence_covers_strangers: false, ..ALL }).breaks("FINAL");
}

#[test]
fn promised_observer_takes_no_feed_from_excluded_peer() {
    let story = |rules| {
        let mut tale = Tale::of(3, 1, rules);
        tale.play(&[0, 1], 3).boot(2, 1).pending(2, 5).packet(2, 0);
        // 0 admits 2 in frame 4; 1 has all entries needed to confirm it, 0 has not.
        tale.tick(0).tick(0).tick(1).packet(0, 1);
        assert!(tale.counts_on(0, 2));
        tale.suspect(0, 1).tick(0).say(0, 2);
        tale.feed(2, 1).tick(2).say(2, 0).say(0, 2);
        tale
    };
    story(ALL).holds();
    story(Rules { fence_covers_feeds: false, ..ALL }).breaks("FINAL");
}

#[test]
fn fence_outlasting_view_holds_against_its_entries() {
    // With a majority a view that was made is installed whatever was promised since. 3 has crashed;
    // 2 learns of the view without it from 1, after it has promised 0 not to take 1's entries.
    let story = |rules| {
        let plan = Plan { majority: true, rules, ..Plan::new(4, 3, 0) };
        let mut tale = Tale::planned(plan, 0);
        tale.play(&[0, 1, 2, 3], 3).crash(3);
        for index in [0, 1, 2] {
            tale.suspect(index, 3);
        }
        tale.tick(0).say(0, 1).say(0, 2).say(1, 0).say(2, 0);
        tale.say(0, 1).say(0, 2).say(1, 0).say(2, 0).say(0, 1).lose(0, 2);
        assert_eq!(tale.history(0), tale.history(1));
        tale.play(&[0, 1], 0).tick(0).tick(1).tick(2).packet(0, 2);
        tale.suspect(0, 1).tick(0).say(0, 2);
        tale.packet(2, 1).say(1, 2).packet(0, 2).say(2, 0).say(0, 2).say(2, 0).say(0, 2);
        tale
    };
    story(ALL).holds();
    story(Rules { fence_covers_tails: false, ..ALL }).breaks("FINAL");
}

#[test]
fn silent_stream_ends_with_longest_copy() {
    let story = |rules| {
        let mut tale = three_at_three(rules);
        tale.tick(0).tick(1).tick(2).packet(2, 1).packet(0, 1);
        assert_eq!(tale.confirmed(1), 4);
        tale.suspect(0, 2).tick(0).say(0, 1).say(1, 0).say(0, 1);
        tale
    };
    let tale = story(ALL);
    assert_eq!(tale.holds().confirmed(0), 4, "the copy was handed on");
    story(Rules { cut_at_longest_copy: false, ..ALL }).breaks("FINAL");
}

#[test]
fn silent_stream_ends_after_held_not_confirmed() {
    let story = |rules| {
        let mut tale = three_at_three(rules);
        tale.tick(0).tick(1).tick(2).packet(2, 1);
        assert_eq!(tale.confirmed(1), 3, "0's entry is still missing");
        tale.suspect(0, 2).tick(0).say(0, 1).packet(0, 1);
        assert_eq!(tale.confirmed(1), 4);
        tale.say(1, 0).say(0, 1);
        tale
    };
    story(ALL).holds();
    story(Rules { cut_after_held: false, ..ALL }).breaks("FINAL");
}

#[test]
fn view_needs_reports_of_whole_circle() {
    let story = |rules| {
        let mut tale = Tale::of(4, 0, rules);
        tale.play(&[0, 1, 2, 3], 3);
        tale.suspect(0, 3).tick(0).say(0, 1).say(1, 0);
        tale
    };
    assert!(story(ALL).holds().counts_on(0, 2));
    assert!(!story(Rules { wait_for_all: false, ..ALL }).counts_on(0, 2), "2 was only slow");
}

#[test]
fn view_that_reached_one_peer_is_built_upon() {
    let story = |rules| {
        let mut tale = Tale::of(4, 0, rules);
        tale.play(&[0, 1, 2, 3], 3).crash(3);
        for index in [0, 1, 2] {
            tale.suspect(index, 3);
        }
        tale.tick(0).say(0, 1).say(0, 2).say(1, 0).say(2, 0);
        tale.say(0, 2).lose(0, 1).crash(0).suspect(1, 0).suspect(2, 0);
        tale.tick(1).say(1, 2).say(2, 1).say(1, 2);
        tale
    };
    let tale = story(ALL);
    assert_eq!(tale.holds().history(1), tale.history(2));
    let tale = story(Rules { build_on_deepest: false, ..ALL });
    assert_ne!(tale.history(1), tale.history(2), "one of them will have to yield");
}

#[test]
fn view_older_than_promise_is_not_installed() {
    let story = |rules| {
        let mut tale = Tale::of(4, 0, rules);
        tale.play(&[0, 1, 2, 3], 3).crash(3);
        for index in [0, 1, 2] {
            tale.suspect(index, 3);
        }
        tale.tick(0).tick(1).tick(2).packet(1, 2).say(0, 1).say(0, 2).say(1, 0).say(2, 0);
        let view = tale.keep_back(0, 2);
        tale.say(0, 1);
        assert_eq!(tale.history(0), tale.history(1));
        tale.suspect(1, 0).tick(1).say(1, 2);
        // Only now does 2 get the view that 1 is already replacing, and then hears 0.
        tale.bring(0, 2, view).packet(0, 2).say(2, 1).say(1, 2);
        tale
    };
    story(ALL).holds();
    story(Rules { promise_binds: false, ..ALL }).breaks("FINAL");
}

#[test]
fn readiness_counts_for_one_history() {
    let story = |rules| {
        let mut tale = Tale::of(3, 1, rules);
        tale.play(&[0, 1], 3).boot(2, 0).pending(2, 5).packet(2, 0).packet(2, 1);
        // 0 and 1 are partitioned. Each goes on alone, and both have heard 2.
        tale.suspect(0, 1).suspect(1, 0).tick(0).tick(1).tick(0).tick(1).tick(0).tick(1);
        tale
    };
    let tale = story(ALL);
    assert!(!tale.holds().counts_on(0, 2) && !tale.counts_on(1, 2), "2 has seen neither view");
    let tale = story(Rules { ready_names_history: false, ..ALL });
    assert!(tale.counts_on(0, 2) && tale.counts_on(1, 2), "one stream in two histories");
}

#[test]
fn view_change_admits_no_joiner() {
    // 2 is silent; its entries are held two frames ahead, so frames are still confirmed.
    let story = |rules| {
        let mut tale = Tale::of(4, 1, rules);
        tale.play(&[0, 1, 2], 3).tick(2).tick(2).packet(2, 0).packet(2, 1);
        tale.boot(3, 0).pending(3, 5).packet(3, 0);
        // 0 asks 1, and writes its next entries while the view change is open.
        tale.suspect(0, 2).suspect(1, 2).tick(0).say(0, 1).tick(1).tick(1).packet(1, 0).tick(0);
        assert_eq!(tale.confirmed(0), 5);
        tale.say(1, 0).say(0, 1);
        tale
    };
    story(ALL).holds();
    story(Rules { no_join_while_busy: false, ..ALL }).breaks("FINAL");
}

/// 0 admits 3 and crashes. Only 2 has read the join; 1 asks.
fn admitted_by_the_dying(rules: Rules) -> Tale {
    let mut tale = Tale::of(4, 1, rules);
    tale.play(&[0, 1, 2], 3).boot(3, 0).pending(3, 5).packet(3, 0).packet(3, 2);
    tale.tick(0).packet(0, 2).crash(0);
    assert!(tale.counts_on(2, 3) && !tale.counts_on(1, 3));
    tale.suspect(1, 0).suspect(2, 0).tick(1);
    tale
}

#[test]
fn late_found_member_is_asked_too() {
    let story = |rules| {
        let mut tale = admitted_by_the_dying(rules);
        tale.say(1, 2).say(2, 1).say(1, 2).say(1, 3).say(2, 1).say(3, 1).say(1, 2);
        tale
    };
    assert!(story(ALL).holds().counts_on(1, 3));
    assert!(!story(Rules { joiners_are_asked: false, ..ALL }).counts_on(1, 3), "3 lives");
}

#[test]
fn joiner_stays_in_circle_when_collection_restarts() {
    let story = |rules| {
        let mut tale = admitted_by_the_dying(rules);
        for _ in 0..8 {
            tale.say(1, 2).say(2, 1).tick(1).say(1, 3).say(3, 1);
        }
        tale
    };
    assert!(story(ALL).holds().counts_on(1, 3));
    let tale = story(Rules { joiners_are_remembered: false, ..ALL });
    assert_eq!(tale.0.nodes[1].machine.lineage().depth(), 0, "1 asks for ever");
}

#[test]
fn coordinator_writes_no_goodbye() {
    let story = |rules| {
        let mut tale = three_at_three(rules);
        tale.suspect(0, 2).tick(0);
        // 1 has said goodbye before it is asked, 0 after it has asked.
        tale.leave(0).leave(1).tick(1).tick(2).tick(0);
        tale.packet(1, 2).packet(0, 2).packet(1, 0).tick(2);
        tale.say(0, 1).say(1, 0).packet(1, 0).tick(0);
        tale
    };
    story(ALL).holds();
    story(Rules { no_end_while_busy: false, ..ALL }).breaks("SETTLED");
}

#[test]
fn joiner_changes_no_view_before_it_is_full() {
    let story = |rules| {
        let mut tale = Tale::of(3, 1, rules);
        tale.play(&[0, 1], 3).boot(2, 0);
        tale.tick(0).tick(1).packet(0, 1).packet(1, 0).tick(0).tick(1).packet(0, 1).packet(1, 0);
        tale.packet(0, 1).packet(1, 0);
        assert_eq!(tale.0.nodes[1].machine.settled(), Frame::new(5));
        tale.pending(2, 7).packet(2, 0).tick(0).packet(0, 2).tick(2);
        assert_eq!(tale.0.nodes[2].machine.mode(), Mode::Member);
        tale.suspect(2, 0).suspect(2, 1).tick(2).tick(2);
        tale
    };
    story(ALL).holds();
    story(Rules { full_before_coordinating: false, ..ALL }).breaks("SETTLED");
}

#[test]
fn confirmed_goodbye_outlives_any_table() {
    let story = |rules| {
        let mut tale = three_at_three(rules);
        tale.leave(2).tick(2).tick(0).tick(1).packet(2, 1).packet(0, 1);
        assert!(!tale.counts_on(1, 2));
        // A roster in which 2 goes on, from a peer that has not read 2's last entry.
        let slow = &tale.0.nodes[0].machine;
        let ballot = crate::membership::Ballot { number: 1, by: slow.me() };
        let mut lineage = slow.lineage().clone();
        let view = View::new(lineage.game(), lineage.history(), ballot, slow.rows().to_vec(), 3, false);
        lineage.push(view.link());
        let told = Told { tip: lineage.tip(), view };
        // The peer was asked, and reported the entries it held then.
        tale.0.node_mut(1).machine.fence.raise(ballot);
        tale.bring(0, 1, vec![Parcel::Said(Message::View { told, at: ballot, tails: vec![] })]);
        tale
    };
    let waits = |tale: &Tale| rows::is_open(tale.0.nodes[1].machine.rows(), tale.name(2));
    assert!(!waits(story(ALL).holds()));
    assert!(waits(&story(Rules { goodbyes_survive: false, ..ALL })), "1 waits for 2 for ever");
}

#[test]
fn peer_asked_by_former_incarnation_says_it_is_gone() {
    let story = |rules| {
        let mut tale = three_at_three(rules);
        // 1 crashed and started again: it answers, but it is in no match.
        tale.0.restart(1);
        tale.crash(2).suspect(0, 2);
        for _ in 0..5 {
            tale.tick(0).say(0, 1).say(1, 0);
        }
        tale
    };
    assert!(!story(ALL).holds().counts_on(0, 2));
    let tale = story(Rules { gone_is_told: false, ..ALL });
    assert_eq!(tale.0.nodes[0].machine.lineage().depth(), 0, "0 waits for ever");
}

#[test]
fn accepted_view_travels_with_its_entries() {
    // 3 is silent. 1 alone holds its last entry, and crashes after reporting it.
    let story = |rules| {
        let plan = Plan { majority: true, rules, ..Plan::new(4, 3, 0) };
        let mut tale = Tale::planned(plan, 0);
        tale.play(&[0, 1, 2, 3], 3).tick(3).packet(3, 1);
        tale.suspect(0, 3).suspect(2, 3).tick(0).say(0, 1).say(0, 2).say(1, 0).say(2, 0);
        tale.say(0, 2).lose(0, 1).lose(2, 0).crash(1).suspect(0, 1).suspect(2, 1);
        for _ in 0..12 {
            tale.play(&[0, 2], 1);
        }
        tale
    };
    let plays = |tale: &Tale, frame: usize| {
        let record = &tale.0.nodes[0].log[frame];
        record.iter().any(|(_, stream, _)| *stream == tale.name(3))
    };
    let tale = story(ALL);
    assert!(tale.holds().confirmed(0) > 6, "they play on: {}", tale.confirmed(0));
    assert!(plays(&tale, 4) && !plays(&tale, 5), "with all that was accepted");
    let tale = story(Rules { accepted_with_tails: false, ..ALL });
    assert!(plays(&tale, 3) && !plays(&tale, 4), "what was accepted is lost");
    let tale = story(Rules { accepted_with_tails: false, cut_again: false, ..ALL });
    assert!(tale.confirmed(0) <= 4, "no peer has the entry they wait for: {}", tale.confirmed(0));
}

#[test]
fn entries_too_far_ahead_are_taken_later() {
    let story = |rules| {
        let mut tale = Tale::of(3, 1, rules);
        tale.play(&[0, 1], 3).boot(2, 0);
        // No donor feeds 2, but it hears every packet.
        for _ in 0..60 {
            tale.play(&[0, 1], 1).packet(0, 2).packet(1, 2);
        }
        tale
    };
    let held = |tale: &Tale| tale.0.nodes[2].machine.held(tale.name(0)).map_or(0, |held| held.len());
    let (capped, endless) = (story(ALL), story(Rules { cap_ahead: false, ..ALL }));
    assert!(held(capped.holds()) <= 4 * 3 + 3, "{}", held(&capped));
    assert!(held(&endless) > 50, "{}", held(&endless));
}

#[test]
fn only_leader_admits() {
    let mut tale = Tale::of(3, 1, ALL);
    tale.play(&[0, 1], 3).boot(2, 0).pending(2, 5).packet(2, 0).packet(2, 1);
    // 1 is not the leader and writes a join all the same.
    let join =
        crate::membership::held::Join { stream: tale.name(2), slots: gaggle_kit::SlotSet::from_bits(1 << 5) };
    let (me, node) = (tale.name(1), tale.0.node_mut(1));
    node.store.0.insert((me, Frame::new(4)), 7);
    node.machine.push_own(Frame::new(4), EntryControl { join: Some(join), end: false });
    tale.suspect(0, 2).tick(0).packet(0, 1).packet(1, 0);
    assert!(!tale.counts_on(0, 2) && !tale.counts_on(1, 2), "it counts for no peer");
    tale.breaks("LEAD");
}
