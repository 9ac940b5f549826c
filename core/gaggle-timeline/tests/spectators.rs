//! Spectators soon see what is confirmed, and no player is disturbed.

mod cluster;

use cluster::{Cluster, config};
use gaggle_link::sim::{Conditions, NetChange};
use gaggle_timeline::SessionEvent;

fn recovered(event: &SessionEvent) -> bool {
    matches!(event, SessionEvent::DesyncRecovered { .. })
}

#[test]
fn spectator_follows_joins_and_leaves() {
    let mut company = Cluster::configured(6, 3, 51, config(4), 20_000);
    company.run_ms(2_000);
    let stalls = company.stalls();
    company.watch(4).watch(5).run_until("it shows the match", 3_000, |c| c.session(4).is_running());
    company.run_ms(3_000);
    assert_eq!(company.stalls()[..3], stalls[..3], "no player waits for spectators");
    company.join(3).run_until("a fourth plays", 3_000, |c| c.session(3).is_member());
    company.leave(0).run_ms(3_000).crash(0);
    company.run_ms(3_000).expect_together(&[1, 2, 3]);
    let playing = company.session(1).confirmed_frame();
    for index in [4, 5] {
        let session = company.session(index);
        assert!(session.is_spectating() && !session.is_member() && session.local_slots().is_empty());
        assert!(session.current_frame() <= session.confirmed_frame(), "nothing guessed is shown");
        let behind = playing.since(session.current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", company.describe());
        assert_eq!(session.stats().rollbacks, 0);
        assert!(company.machines[index].compared > 300, "{}", company.machines[index].compared);
    }
    assert_eq!(
        company.session(1).roster().iter().filter(|row| row.is_active()).count(),
        3,
        "no seat is taken"
    );
}

#[test]
fn spectators_survive_leaving_donor() {
    for seed in 52..56 {
        let mut company = Cluster::of(4, 3, seed);
        company.run_ms(1_500).watch(3).run_ms(2_000);
        let donor = (0..3).find(|index| company.session(*index).stats().snapshots_sent > 0);
        let donor = donor.expect("a donor sent it a snapshot");
        company.crash(donor).run_ms(9_000);
        let others: Vec<usize> = (0..3).filter(|index| *index != donor).collect();
        company.expect_together(&others);
        let behind = company.session(others[0]).confirmed_frame().since(company.session(3).current_frame());
        assert!(behind < 40, "{behind} frames behind:\n{}", company.describe());
        assert_eq!(company.count(3, |event| matches!(event, SessionEvent::PeerFault { .. })), 0);
    }
}

#[test]
fn those_who_watch_pass_it_on_to_each_other() {
    let mut company = Cluster::configured(24, 2, 57, config(4), 0);
    company.run_ms(1_500);
    for index in 2..24 {
        company.watch(index).run_ms(60);
    }
    let stalls = company.stalls();
    company.run_ms(8_000).expect_together(&[0, 1]);
    assert_eq!(company.stalls()[..2], stalls[..2]);
    let playing = company.session(0).confirmed_frame();
    for index in 2..24 {
        let behind = playing.since(company.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", company.describe());
    }
    let passed_on: u64 = (2..24).map(|index| company.session(index).stats().snapshots_sent).sum();
    assert!(passed_on >= 6, "only {passed_on} were fed by others who watch");
}

/// Events of a peer about whether another one is heard, and about its end.
fn told_of(company: &Cluster, index: usize, other: usize) -> Vec<&'static str> {
    let who = company.id(other);
    let name = |event: &SessionEvent| match event {
        SessionEvent::Interrupted { peer } if *peer == who => Some("interrupted"),
        SessionEvent::TimedOut { peer } if *peer == who => Some("gone"),
        SessionEvent::Resumed { peer } if *peer == who => Some("resumed"),
        SessionEvent::Left { peer, .. } if *peer == who => Some("left"),
        _ => None,
    };
    company.machines[index].events.iter().filter_map(name).collect()
}

#[test]
fn spectator_behind_spectator_reports_no_false_silence() {
    let mut company = Cluster::configured(5, 3, 61, config(4), 0);
    company.run_ms(1_500).watch_via(3, &[0, 1, 2]).run_ms(1_500).watch_via(4, &[3]);
    company.run_until("the second one shows it, too", 5_000, |c| c.session(4).is_running());
    company.run_ms(10_000);
    assert!(company.session(3).stats().snapshots_sent > 0, "the first one passes it on");
    let playing = company.session(0).confirmed_frame();
    assert!(playing.since(company.session(4).current_frame()) < 60, "{}", company.describe());
    for player in 0..3 {
        assert_eq!(told_of(&company, 4, player), [""; 0], "{player} plays on:\n{}", company.describe());
    }
    company.crash(2).run_ms(8_000).expect_together(&[0, 1]);
    assert_eq!(told_of(&company, 3, 2), ["interrupted", "left"], "it heard it, and then no peer did");
    assert_eq!(told_of(&company, 4, 2), ["left"], "it never heard it, and sees it go");
}

/// A spectator of three players, fed by one of them. Returns which of the others will fall silent.
fn watched(company: &mut Cluster) -> usize {
    company.run_ms(1_500).watch(3).run_ms(2_000);
    let feeder = (0..3).find(|index| company.session(*index).stats().snapshots_sent > 0);
    (feeder.expect("a donor sent it a snapshot") + 1) % 3
}

#[test]
fn spectator_with_dead_link_sees_player_through_others() {
    let mut company = Cluster::of(4, 3, 62);
    let silent = watched(&mut company);
    company.net.set_both(silent, 3, Conditions { is_cut: true, ..Conditions::latency_ms(50) });
    company.run_ms(8_000).expect_together(&[0, 1, 2]);
    assert_eq!(told_of(&company, 3, silent), [""; 0], "{}", company.describe());
}

#[test]
fn spectator_is_told_of_stall_and_its_end() {
    let mut company = Cluster::of(4, 3, 63);
    let silent = watched(&mut company);
    let others: Vec<usize> = (0..4).filter(|other| *other != silent).collect();
    for other in &others {
        company.net.set_both(silent, *other, Conditions { is_cut: true, ..Conditions::latency_ms(50) });
    }
    company.run_ms(2_400);
    assert_eq!(told_of(&company, 3, silent), ["interrupted"], "{}", company.describe());
    for other in others.iter().filter(|other| **other != 3) {
        company.net.set_both(silent, *other, Conditions::latency_ms(50));
    }
    company.run_ms(4_000).expect_together(&[0, 1, 2]);
    assert_eq!(told_of(&company, 3, silent), ["interrupted", "resumed"], "though its own link stays dead");
}

#[test]
fn spectator_of_yielding_branch_is_told_of_other() {
    let mut company = Cluster::of(4, 3, 64);
    company.run_ms(1_500).watch(3).run_ms(2_000);
    company.net.apply(&NetChange::Partition(vec![vec![0, 3], vec![1, 2]]));
    company.run_ms(12_000).expect_together(&[1, 2]);
    assert_eq!(
        company.session(3).branch_id(),
        company.session(0).branch_id(),
        "it watches who went on alone"
    );
    let roster = |company: &Cluster| company.session(3).roster().iter().filter(|row| row.is_active()).count();
    assert_eq!((roster(&company), told_of(&company, 3, 1)), (1, vec!["interrupted", "left"]));
    company.clear_events().net.apply(&NetChange::Heal);
    company.connect_all().run_until("it watches what goes on", 20_000, |c| {
        c.session(3).branch_id() == c.session(1).branch_id() && c.session(0).is_member()
    });
    company.run_ms(3_000).expect_together(&[0, 1, 2]);
    assert_eq!(roster(&company), 3);
    let lost = |event: &SessionEvent| matches!(event, SessionEvent::BranchAbandoned { .. });
    let came = |other: usize| {
        let peer = company.id(other);
        company.count(3, |event| matches!(event, SessionEvent::Joined { peer: who, .. } if *who == peer))
    };
    let lead = SessionEvent::LeaderChanged { leader: company.id(1) };
    assert_eq!(company.count(3, lost), 1, "{}", company.describe());
    assert_eq!([1, 2].map(came), [1, 1], "{}", company.describe());
    assert_eq!(company.count(3, |event| *event == lead), 1, "{}", company.describe());
}

fn expect_shown(company: &Cluster, watchers: std::ops::Range<usize>) {
    for index in watchers {
        let behind = company.session(0).confirmed_frame().since(company.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", company.describe());
    }
}

#[test]
fn many_spectators_block_no_join_and_no_recovery() {
    for seed in 61..64 {
        // All at once, and those that the fewest others can feed last.
        let mut company = Cluster::configured(14, 1, seed, config(4), 0);
        company.run_ms(1_000);
        (2..13).rev().for_each(|index| _ = company.watch(index));
        company.run_until("all of them watch", 8_000, |c| (2..13).all(|index| c.session(index).is_running()));
        company.run_ms(4_000);
        expect_shown(&company, 2..13);
        // A spectator that is fed is fed on, and not sent a snapshot again and again.
        let taken =
            |c: &Cluster| (2..13).map(|index| c.session(index).stats().snapshots_received).sum::<u64>();
        assert!(taken(&company) <= 13, "{}:\n{}", taken(&company), company.describe());
        company.join(1).run_until("one more plays", 4_000, |c| c.session(1).is_member());
        company.run_ms(1_500).clear_events();
        let desync = |event: &SessionEvent| matches!(event, SessionEvent::DesyncDetected { .. });
        // Resimulation heals this by itself.
        while company.count(1, desync) == 0 {
            company.flip_a_bit(1).run_ms(1_500);
        }
        company.run_until("it is made good", 8_000, |c| c.session(1).stats().recoveries == 1);
        company.machines[1].damaged = false;
        // One with a higher id than all is fed by other spectators; one that returns with a lower one
        // displaces another.
        company.watch(13).crash(2).run_ms(4_000).watch(2);
        company.run_ms(5_000).clear_events().run_ms(2_000).expect_together(&[0, 1]);
        expect_shown(&company, 2..14);
        assert!(taken(&company) <= 18, "{}:\n{}", taken(&company), company.describe());
    }
}

#[test]
fn spectator_of_wrong_state_gets_right_one() {
    for bulk_bytes in [0, 400_000] {
        let mut company = Cluster::configured(4, 3, 58, config(4), bulk_bytes);
        company.run_ms(1_500).watch(3);
        company.run_until("it shows the match", 6_000, |c| c.session(3).is_running());
        company.run_ms(2_000).clear_events();
        let stalls = company.stalls();
        company.flip_a_bit(3);
        company.run_until("it is made good", 8_000, |c| c.session(3).stats().recoveries == 1);
        company.machines[3].damaged = false;
        let compared = company.machines[3].compared;
        company.run_ms(4_000);
        assert_eq!(company.count(3, recovered), 1, "{}", company.describe());
        assert_eq!(company.session(3).stats().recoveries, 1, "{}", company.describe());
        assert!(company.machines[3].compared > compared + 100, "{}", company.describe());
        assert_eq!(company.stalls()[..3], stalls[..3], "no player notices");
        for index in 0..3 {
            assert_eq!(company.machines[index].events, [], "no player notices");
        }
        company.clear_events().run_ms(2_000).expect_together(&[0, 1, 2]);
    }
}

#[test]
fn spectator_behind_spectator_is_recovered() {
    let mut company = Cluster::of(4, 2, 59);
    company.run_ms(1_500).watch_via(2, &[0, 1]);
    company.run_until("it shows the match", 4_000, |c| c.session(2).is_running());
    company.run_ms(2_500).flip_a_bit(2).run_ms(50);
    // A spectator that joins now through it alone gets the wrong state.
    company.watch_via(3, &[2]);
    company.machines[3].damaged = true;
    company.run_until("so does who comes by it", 1_000, |c| c.session(3).is_running());
    company.run_until("it is made good", 8_000, |c| c.session(2).stats().recoveries == 1);
    company.machines[2].damaged = false;
    company.run_until("so is who came by it", 1_000, |c| c.session(3).stats().snapshots_received == 2);
    company.machines[3].damaged = false;
    company.machines[3].confirmed.clear();
    company.clear_events().run_ms(5_000).expect_together(&[0, 1]);
    // Only the one that feeds it can tell it that it is wrong.
    company.flip_a_bit(3);
    company.run_until("it is made good", 8_000, |c| c.session(3).stats().recoveries == 1);
    company.machines[3].damaged = false;
    company.clear_events().run_ms(3_000).expect_together(&[0, 1]);
    for index in 2..4 {
        let behind = company.session(0).confirmed_frame().since(company.session(index).current_frame());
        assert!(behind < 60, "machine {index} is {behind} frames behind:\n{}", company.describe());
    }
}

#[test]
fn repeatedly_wrong_spectator_backs_off() {
    let mut company = Cluster::of(3, 2, 60);
    company.run_ms(1_500).watch(2).run_ms(2_000);
    for _ in 0..60 {
        company.flip_a_bit(2).run_ms(1_000);
    }
    let recoveries = company.session(2).stats().recoveries;
    assert!((2..=7).contains(&recoveries), "{recoveries} in a minute:\n{}", company.describe());
    assert_eq!(company.count(0, recovered) + company.count(1, recovered), 0);
}
