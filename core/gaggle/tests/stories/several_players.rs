//! Several players at one peer in a world of replicated objects: joining, late joining, crashing.

use crate::pond;
use crate::pond::{Cluster, Shout, boats, expect_one_world, pushes, shout, strokes};
use gaggle::replica::{AuthorityPolicy, EventError, Target};
use gaggle::{LeaveCause, RoomConfig, RoomEvent, Slot, SlotSet, WorldConfig};
use gaggle_link::sim::Conditions;

const POLICIES: [AuthorityPolicy; 3] =
    [AuthorityPolicy::OwnerOrLeader, AuthorityPolicy::Anyone, AuthorityPolicy::Leader];

/// Two players at one keyboard.
fn couch(index: usize, policy: &AuthorityPolicy) -> WorldConfig {
    RoomConfig { local_players: 2, ..pond::with_policy(index, policy.clone()) }
}

fn slots(numbers: [usize; 2]) -> SlotSet {
    numbers.map(Slot::at).into_iter().collect()
}

/// Strokes of the four players, as one peer sees them.
fn all_strokes(cluster: &mut Cluster, index: usize) -> [u32; 4] {
    [0, 1, 2, 3].map(|slot| strokes(cluster, index, Slot::at(slot)))
}

/// Peer 0 in slot 0, peer 1 with two players in slots 1 and 2, peer 2 late in slot 3.
fn couch_between_two(policy: &AuthorityPolicy) -> Cluster {
    let mut cluster = Cluster::of(3);
    cluster.weather(Conditions::latency_ms(40));
    cluster.open_with(0, pond::with_policy(0, policy.clone()));
    cluster.run_until("the first is in", 3_000, |cluster| cluster.is_together(0));
    cluster.open_with(1, couch(1, policy));
    cluster.run_until("both players are in", 3_000, |cluster| cluster.is_together(1)).run_ms(2_000);
    cluster.open_with(2, pond::with_policy(2, policy.clone()));
    cluster.run_until("the latecomer is in", 3_000, |cluster| cluster.is_together(2)).run_ms(2_000);
    cluster
}

#[test]
fn two_players_at_one_peer_play_and_latecomer_sees_both() {
    for policy in POLICIES {
        let mut cluster = couch_between_two(&policy);
        expect_one_world(&mut cluster, &[0, 1, 2]);
        assert_eq!(cluster.room(1).local_slots(), slots([1, 2]), "{policy:?}: {}", cluster.describe());
        let seen = all_strokes(&mut cluster, 2);
        assert!(seen.iter().all(|strokes| *strokes > 20), "{policy:?}: {seen:?}\n{}", cluster.describe());
        assert!(seen[2] < seen[1], "each player by its own input: {seen:?}");
        assert_eq!(boats(cluster.room(0).session()).len(), 4, "{policy:?}: {}", cluster.describe());
        let members = cluster.room(2).members();
        let of_couch = members.iter().find(|member| member.name == "Peer 1").expect("it is here");
        assert!(members.len() == 3 && of_couch.slots == slots([1, 2]), "{members:?}");
        assert!(pushes(&mut cluster, 2) > 1, "{policy:?}: rocks are pushed\n{}", cluster.describe());
        let came =
            cluster.told[0].iter().filter(|event| matches!(event, RoomEvent::PlayerJoined { .. })).count();
        assert_eq!(came, 2, "a peer is told of once, however many play at it");
    }
}

#[test]
fn event_comes_from_player_that_sent_it() {
    let mut cluster = couch_between_two(&AuthorityPolicy::OwnerOrLeader);
    shout(&mut cluster, 1, 7);
    let session = cluster.room(1).session_mut();
    session.send_event_from(Slot::at(2), Target::Slot(Slot::at(3)), &[], &Shout { word: 8 }).unwrap();
    let not_local = EventError::SlotNotLocal { slot: Slot::at(3) };
    assert_eq!(session.send_event_from(Slot::at(3), Target::All, &[], &Shout { word: 9 }), Err(not_local));
    cluster.run_ms(500);
    assert_eq!(cluster.room(0).world().shouts, [(Slot::at(1), 7)]);
    assert_eq!(cluster.room(2).world().shouts, [(Slot::at(1), 7), (Slot::at(2), 8)]);
}

#[test]
fn crashed_peer_returns_to_both_slots() {
    for policy in POLICIES {
        let mut cluster = couch_between_two(&policy);
        let before = all_strokes(&mut cluster, 0);
        cluster.crash(1).run_ms(2_500).open_with(1, couch(1, &policy));
        cluster.run_until("they are back", 5_000, |cluster| cluster.is_together(1)).run_ms(3_000);
        expect_one_world(&mut cluster, &[0, 1, 2]);
        assert_eq!(cluster.room(1).local_slots(), slots([1, 2]), "{policy:?}: {}", cluster.describe());
        let after = all_strokes(&mut cluster, 0);
        assert!((0..4).all(|slot| after[slot] > before[slot]), "{policy:?}: {before:?}, {after:?}");
        let boats = boats(cluster.room(2).session());
        assert_eq!(boats.len(), 4, "no player has two: {}", cluster.describe());
    }
}

#[test]
fn leader_with_two_players_crashes_and_another_hears_all_inputs() {
    for policy in POLICIES {
        let mut cluster = Cluster::of(3);
        cluster
            .open_with(0, couch(0, &policy))
            .run_until("it leads", 3_000, |cluster| cluster.is_together(0));
        for index in [1, 2] {
            cluster.open_with(index, pond::with_policy(index, policy.clone()));
            cluster.run_until("it is in", 3_000, move |cluster| cluster.is_together(index));
        }
        cluster.run_ms(2_000);
        let before = all_strokes(&mut cluster, 2);
        assert!(cluster.room(0).is_leader() && before.iter().all(|strokes| *strokes > 10), "{before:?}");
        cluster.crash(0).run_ms(3_500);
        assert!(cluster.room(1).is_leader(), "{policy:?}: {}", cluster.describe());
        cluster.open_with(0, couch(0, &policy));
        cluster.run_until("they are back", 9_000, |cluster| cluster.is_together(0)).run_ms(3_000);
        expect_one_world(&mut cluster, &[0, 1, 2]);
        assert_eq!(cluster.room(0).local_slots(), slots([0, 1]), "{policy:?}: {}", cluster.describe());
        assert!(cluster.room(1).is_leader());
        let after = all_strokes(&mut cluster, 2);
        assert!((0..4).all(|slot| after[slot] > before[slot] + 10), "{policy:?}: {before:?}, {after:?}");
        let timed_out = |event: &RoomEvent| matches!(event, RoomEvent::PlayerLeft { cause, .. } if *cause == LeaveCause::TimedOut);
        assert!(cluster.told[2].iter().any(timed_out), "{policy:?}: {:?}", cluster.told[2]);
    }
}

/// Every present slot is reported, and the lobby knows one player at each peer.
#[test]
fn result_of_peer_with_two_players_is_stored() {
    let mut cluster = couch_between_two(&AuthorityPolicy::OwnerOrLeader);
    let mut scores = [0, 1, 2, 3].map(|slot| (Slot::at(slot), 10 * slot as i64 + 5));
    for index in 0..3 {
        assert!(cluster.room(index).report_result(&scores, Some(2), 7));
        // The order in which a game lists its slots does not matter.
        scores.reverse();
    }
    cluster.run_ms(1_000);
    for index in 0..3 {
        let count =
            |what: fn(&RoomEvent) -> bool| cluster.told[index].iter().filter(|event| what(event)).count();
        let rejected = count(|event| matches!(event, RoomEvent::RequestRejected { .. }));
        let stored = count(|event| *event == RoomEvent::ResultStored);
        assert_eq!((rejected, stored), (0, 1), "{:?}", cluster.told[index]);
    }
    let records = cluster.records();
    let lines: Vec<_> =
        records.iter().flat_map(|record| &record.scores).map(|line| (line.slot, line.score)).collect();
    assert_eq!(lines, [(Slot::at(0), 5), (Slot::at(1), 15), (Slot::at(3), 35)]);
}

#[test]
fn solo_players_keep_their_boats_when_room_opens() {
    let policy = AuthorityPolicy::OwnerOrLeader;
    let mut cluster = Cluster::of(2);
    cluster.set_lobby_up(false);
    let liking = RoomConfig { preferred_slot: Some(Slot::at(3)), ..couch(0, &policy) };
    cluster.open_with(0, liking).run_ms(2_000);
    assert_eq!(cluster.room(0).local_slots(), slots([0, 3]), "{}", cluster.describe());
    let before = [0, 3].map(|slot| strokes(&mut cluster, 0, Slot::at(slot)));
    assert!(before.iter().all(|strokes| *strokes > 10), "{before:?}");
    cluster.set_lobby_up(true).run_until("the room is open", 20_000, |cluster| cluster.is_together(0));
    let own = cluster.room(0).local_slots();
    assert_eq!((own.len(), boats(cluster.room(0).session()).len()), (2, 2), "{}", cluster.describe());
    cluster.run_ms(1_000);
    for slot in own.iter() {
        assert!(strokes(&mut cluster, 0, slot) > 10, "{}", cluster.describe());
    }
}
