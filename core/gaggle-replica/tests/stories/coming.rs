//! Tests of membership: joiners, reconnects, departed leaders, partitions that heal.

#![allow(clippy::unwrap_used, reason = "a failed step ends the test")]

use crate::world;
use crate::world::{Machine, World, player};
use gaggle_kit::Micros;
use gaggle_replica::{
    AuthorityPolicy, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, Session, SessionEvent,
};

#[derive(Debug, Clone, PartialEq, Kind)]
struct Ship {
    #[kind(range = 0..=1_000_000)]
    place: u32,
    #[kind(constant)]
    owner: u8,
}

#[derive(Debug, Clone, PartialEq, Kind)]
#[kind(on_leave = despawn)]
struct Shadow {
    #[kind(range = 0..=1_000)]
    place: u32,
}

#[derive(Debug, Clone, PartialEq, Kind)]
#[kind(on_leave = hold)]
struct Seat {
    #[kind(range = 0..=1_000)]
    place: u32,
}

fn kinds() -> Kinds {
    Kinds::new().with::<Ship>().with::<Shadow>().with::<Seat>()
}

fn world(count: usize, policy: AuthorityPolicy) -> World {
    let config = ReplicaConfig {
        authority: policy,
        reconnect_window: Micros::from_secs(20),
        ..ReplicaConfig::default()
    };
    World::of(count, 31, config, kinds())
}

fn ship(owner: usize, place: u32) -> Ship {
    Ship { place, owner: owner as u8 }
}

/// All state of a peer, in an order that does not depend on the peer.
fn known(session: &Session) -> Vec<(ObjectId, Ship, Option<gaggle_kit::Slot>)> {
    let mut all: Vec<_> =
        session.iter::<Ship>().map(|(id, ship)| (id, ship, session.authority(id))).collect();
    all.sort_by_key(|(id, ..)| *id);
    all
}

/// All running peers have the same state.
fn expect_agreement(world: &World) -> usize {
    let mut alive = world.machines.iter().filter_map(|machine| machine.session.as_ref());
    let first = known(alive.next().unwrap());
    for session in alive {
        assert_eq!(known(session), first, "at {}", session.local_slot());
    }
    world.expect_peace();
    first.len()
}

fn come_back(world: &mut World, index: usize) {
    world.start(index, JoinMode::Join);
    for other in 0..world.machines.len() {
        if other != index && world.machines[other].session.is_some() {
            world.link(index, other);
        }
    }
}

#[test]
fn joiner_at_any_time_learns_all_state() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    for index in 0..3 {
        for place in 0..30 {
            world.session(index).spawn(&ship(index, place)).unwrap();
        }
    }
    world.conditions = world::rough(100, 100);
    world.run_ms(2_000);
    world.machines.push(Machine::new(3));
    world.grow();
    come_back(&mut world, 3);
    world.run_ms(3_000);
    assert_eq!(expect_agreement(&world), 90);
    assert_eq!(world.session(3).stats().claims, 0, "a joiner claims nothing");
    assert_eq!(world.count_events(3, |event| *event == SessionEvent::MembershipGranted), 1);
    let (joined, left) = (
        SessionEvent::Joined { player: player(3), peer: world::peer(3) },
        SessionEvent::Left { player: player(3), peer: world::peer(3), graceful: false },
    );
    assert_eq!(world.count_events(1, |event| *event == joined), 1);
    assert_eq!(world.count_events(1, |event| *event == left), 0);
    assert_eq!(world.session(3).sync_progress().received, 90);
    assert!(
        world.session(3).local_member().join_order > world.session(2).local_member().join_order,
        "the last joiner is last in join order"
    );
}

#[test]
fn returning_player_gets_its_objects_back() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(3, policy.clone());
        let mine = world.session(2).spawn_owned(player(2), &ship(2, 5)).unwrap();
        let rock = world.session(0).spawn(&ship(0, 9)).unwrap();
        world.run_ms(500);
        world.kill(2);
        world.run_ms(2_000);
        assert_eq!(world.session(1).authority(mine), Some(player(0)), "the leader inherits it");
        come_back(&mut world, 2);
        world.run_ms(3_000);
        assert_eq!(world.session(1).authority(mine), Some(player(2)), "{policy:?}");
        assert!(world.session(2).has_authority(mine) && !world.session(2).has_authority(rock));
        assert_eq!(world.session(2).get(mine), Some(ship(2, 5)));
        assert_eq!(
            world.count_events(
                2,
                |event| matches!(event, SessionEvent::AuthorityGained { id, .. } if *id == mine)
            ),
            1
        );
        expect_agreement(&world);
    }
}

#[test]
fn object_claimed_during_absence_stays_with_claimant() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let mine = world.session(2).spawn(&ship(2, 5)).unwrap();
    world.run_ms(500);
    world.kill(2);
    world.run_ms(2_000);
    world.session(1).claim(mine).unwrap();
    world.run_ms(500);
    come_back(&mut world, 2);
    world.run_ms(3_000);
    assert_eq!(world.session(2).authority(mine), Some(player(1)));
    expect_agreement(&world);
}

#[test]
fn next_leader_goes_on_and_no_object_is_lost() {
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader, AuthorityPolicy::Anyone] {
        let mut world = world(5, policy.clone());
        world.conditions = world::rough(80, 50);
        let ids: Vec<ObjectId> =
            (0..100).map(|place| world.session(0).spawn(&ship(0, place)).unwrap()).collect();
        world.run_ms(2_000);
        let mut number = 100;
        for host in 0..4 {
            assert!(world.session(host).is_leader(), "{policy:?}: {host} leads");
            world.play(Micros::from_secs(1), |session, index, _| {
                if index == host {
                    number += 1;
                    for id in &ids {
                        session.set(*id, &ship(0, number)).unwrap();
                    }
                }
            });
            world.kill(host);
            let best =
                (host + 1..5).map(|index| world.session(index).get::<Ship>(ids[0]).unwrap().place).max();
            world.run_ms(2_500);
            assert_eq!(expect_agreement(&world), 100);
            let place = world.session(4).get::<Ship>(ids[0]).unwrap().place;
            assert!(Some(place) >= best, "{policy:?}: a survivor had {best:?}, now it is {place}");
            for index in host + 1..5 {
                let told =
                    |event: &SessionEvent| *event == SessionEvent::LeaderChanged { player: player(host + 1) };
                assert_eq!(
                    world.count_events(index, told),
                    1,
                    "{policy:?}: peer {index} gets the new leader"
                );
            }
        }
        assert_eq!(world.session(4).iter::<Ship>().count(), 100);
        assert!(ids.iter().all(|id| world.session(4).has_authority(*id)));
    }
}

#[test]
fn object_known_to_one_survivor_reaches_all() {
    let mut world = world(4, AuthorityPolicy::Leader);
    world.run_ms(200);
    // The last packet of the leader reaches peer 3 alone, which is not its successor.
    (1..3).for_each(|to| world.set_cut(0, to, true));
    let id = world.session(0).spawn(&ship(0, 42)).unwrap();
    world.run_ms(150);
    assert_eq!(world.session(3).get(id), Some(ship(0, 42)));
    world.kill(0);
    world.run_ms(3_000);
    for index in 1..4 {
        assert_eq!(world.session(index).get(id), Some(ship(0, 42)), "at {index}");
        assert_eq!(world.session(index).authority(id), Some(player(1)));
    }
}

#[test]
fn all_replicas_after_partition_become_equal() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(6, policy.clone());
        let ids: Vec<ObjectId> =
            (0..40).map(|place| world.session(0).spawn(&ship(0, place)).unwrap()).collect();
        let own: Vec<ObjectId> =
            (0..6).filter_map(|i| world.session(i).spawn_owned(player(i), &ship(i, 1)).ok()).collect();
        world.run_ms(1_000);
        world.split(&[&[0, 1, 2], &[3, 4, 5]]);
        world.run_ms(2_500);
        let mut number = 100;
        world.play(Micros::from_secs(3), |session, _, _| {
            number += 1;
            for id in &ids {
                if session.has_authority(*id) {
                    session.set(*id, &ship(0, number % 1_000)).unwrap();
                }
            }
        });
        let kept = world.session(0).get::<Ship>(ids[7]).unwrap();
        assert_ne!(known(world.session(1)), known(world.session(4)), "the sides diverged");
        world.heal();
        world.run_ms(4_000);
        assert_eq!(expect_agreement(&world), 40 + own.len(), "{policy:?}");
        if !matches!(policy, AuthorityPolicy::Anyone) {
            assert_eq!(
                world.session(5).get(ids[7]),
                Some(kept),
                "{policy:?}: the state of the first leader's side wins"
            );
        }
        if matches!(policy, AuthorityPolicy::OwnerOrLeader) {
            for (index, id) in own.iter().enumerate() {
                assert!(world.session(index).has_authority(*id), "peer {index} has its objects again");
            }
        }
    }
}

#[test]
fn departure_setting_of_kind_is_applied() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let shadow = world.session(2).spawn(&Shadow { place: 1 }).unwrap();
    let seat = world.session(2).spawn(&Seat { place: 2 }).unwrap();
    let ship = world.session(2).spawn(&ship(2, 3)).unwrap();
    world.run_ms(500);
    world.kill(2);
    world.run_ms(2_000);
    assert_eq!(world.session(1).get::<Shadow>(shadow), None, "deleted with its authority");
    assert_eq!(world.session(1).authority(ship), Some(player(0)), "inherited by the leader");
    assert_eq!(world.session(1).authority(seat), Some(player(2)), "keeps its authority");
    world.run_ms(10_000);
    come_back(&mut world, 2);
    world.run_ms(2_000);
    assert!(world.session(2).has_authority(seat), "the object waited for its player");
    world.kill(2);
    world.run_ms(15_000);
    assert_eq!(world.session(1).authority(seat), Some(player(2)));
    world.run_ms(8_000);
    assert_eq!(world.session(1).authority(seat), Some(player(0)), "the leader inherits it after the wait");
}

#[test]
fn short_link_failure_has_no_lasting_effect() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let ids: Vec<ObjectId> =
        (0..3).map(|index| world.session(index).spawn(&ship(index, 1)).unwrap()).collect();
    world.run_ms(500);
    for _ in 0..5 {
        world.unlink(0, 2);
        world.run_ms(300);
        world.link(0, 2);
        world.run_ms(1_500);
    }
    assert_eq!(expect_agreement(&world), 3);
    assert_eq!(world.holders(ids[2]), [Some(player(2)); 3]);
}

#[test]
fn packets_ahead_of_hello_of_new_member_are_sent_again() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    world.machines.push(Machine::new(2));
    world.grow();
    come_back(&mut world, 2);
    // All of the joiner's packets except its last hello get through to peer 1.
    world.run_ms(10);
    world.net.set_ordered_delay(2, 1, Micros::from_millis(400));
    world.play(Micros::from_millis(300), |session, index, _| {
        if index == 2 && session.is_member() && session.iter_authoritative::<Ship>().count() == 0 {
            session.spawn(&ship(2, 1)).unwrap();
        }
    });
    assert_eq!(world.session(1).iter::<Ship>().count(), 0, "the joiner is no member here yet");
    world.run_ms(1_500);
    assert_eq!(expect_agreement(&world), 1);
}

#[test]
fn peers_joining_at_once_form_one_session() {
    let config = ReplicaConfig { authority: AuthorityPolicy::Leader, ..ReplicaConfig::default() };
    let mut world = World::of(1, 3, config, kinds());
    world.kill(0);
    for _ in 1..5 {
        world.machines.push(Machine::new(5));
    }
    world.grow();
    for index in 0..5 {
        world.start(index, JoinMode::Join);
    }
    world.heal();
    world.run_ms(3_000);
    let leads: Vec<usize> = (0..5).filter(|&index| world.session(index).is_leader()).collect();
    assert_eq!(leads.len(), 1);
    assert!((0..5).all(|index| world.session(index).roster().len() == 5));
    world.session(leads[0]).spawn(&ship(0, 1)).unwrap();
    world.run_ms(500);
    assert_eq!(expect_agreement(&world), 1);
}

#[test]
fn joiners_that_meet_first_wait_for_session_members() {
    for awaits in [true, false] {
        let mut world = world(1, AuthorityPolicy::Anyone);
        world.session(0).spawn(&ship(0, 1)).unwrap();
        for index in 1..3 {
            world.machines.push(Machine::new(index));
            world.grow();
            world.start(index, JoinMode::Join);
            world.session(index).set_expecting_peers(awaits);
        }
        world.link(1, 2);
        world.run_ms(4_000);
        let founded = [1, 2].map(|index| world.session(index).is_member());
        assert_eq!(founded, [!awaits; 2], "joiners create a session unless they expect other peers");
        world.link(0, 1);
        world.link(0, 2);
        world.run_ms(3_000);
        assert_eq!(expect_agreement(&world), 1);
        assert_eq!(world.session(2).roster().len(), 3);
    }
}

/// Adds a spectator.
fn add_spectator(world: &mut World) -> usize {
    let index = world.machines.len();
    world.machines.push(Machine::new(index));
    world.grow();
    world.start(index, JoinMode::Spectate);
    for other in 0..index {
        world.link(index, other);
    }
    index
}

#[test]
fn spectator_sees_every_object_and_is_no_member() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(3, policy.clone());
        for place in 0..40 {
            world.session(0).spawn(&ship(0, place)).unwrap();
        }
        world.conditions = world::rough(100, 100);
        let spectator = add_spectator(&mut world);
        world.run_ms(3_000);
        assert_eq!(expect_agreement(&world), 40, "{policy:?}");
        let id = known(world.session(0))[0].0;
        let eye = world.session(spectator);
        assert!(eye.is_spectator() && !eye.is_member() && !eye.is_leader());
        assert_eq!((eye.roster().len(), eye.sync_progress().received), (3, 40));
        assert!(eye.spawn(&ship(3, 1)).is_err() && eye.claim(id).is_err() && eye.despawn(id).is_err());
        assert_eq!(world.session(0).roster().len(), 3, "a spectator is not in the roster");
        let about = |event: &SessionEvent| matches!(event, SessionEvent::Joined { peer, .. } | SessionEvent::Left { peer, .. } if *peer == world::peer(spectator));
        assert_eq!(world.count_events(0, about), 0, "no joined or left event is given");

        // It receives later changes and departures; it inherits nothing.
        world.play(Micros::from_millis(1_000), |session, _, _| {
            if session.has_authority(id) {
                session.modify(id, |ship: &mut Ship| ship.place += 1).unwrap();
            }
        });
        world.kill(0);
        world.run_ms(4_000);
        assert_eq!(expect_agreement(&world), 40, "{policy:?}");
        assert!(world.session(1).is_leader());
        assert!(world.session(spectator).get::<Ship>(id).unwrap().place > 50);
        assert_eq!(world.session(spectator).stats().updates_sent, 0);

        // Without any member left it still has authority over nothing and does not lead.
        world.kill(1);
        world.kill(2);
        world.run_ms(4_000);
        let eye = world.session(spectator);
        assert!(
            !eye.is_leader() && eye.iter_authoritative::<Ship>().next().is_none() && eye.stats().claims == 0
        );
        assert_eq!(eye.iter::<Ship>().count(), 40, "it keeps the last state");
    }
}

#[test]
fn spectator_that_left_delays_no_deletion() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&ship(0, 1)).unwrap();
    let spectator = add_spectator(&mut world);
    world.run_ms(1_000);
    assert!(world.session(spectator).get::<Ship>(id).is_some());
    world.kill(spectator);
    world.run_ms(4_000);
    assert_eq!(world.count_events(0, |event| matches!(event, SessionEvent::Interrupted { .. })), 0);
    world.session(0).despawn(id).unwrap();
    world.run_ms(1_000);
    assert_eq!(expect_agreement(&world), 0);
}

#[test]
fn objects_of_peer_that_leaves_gracefully_pass_on_at_once() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(4, policy.clone());
        world.conditions = world::rough(100, 20);
        let rock = world.session(0).spawn(&ship(0, 7)).unwrap();
        world.run_ms(1_000);
        world.part(0);
        // A round trip and two intervals.
        world.run_ms(230);
        assert!(world.session(1).has_authority(rock), "{policy:?}: {:?}", world.holders(rock));
        world.run_ms(1_000);
        assert_eq!(expect_agreement(&world), 1);
        world.kill(1);
        world.run_ms(700);
        assert!(!world.session(2).has_authority(rock), "a timed out peer may have sent more to others");
        world.run_ms(1_000);
        assert!(world.session(2).has_authority(rock));
        // The last peer has no other to wait for.
        world.run_ms(1_000);
        world.part(2);
        world.run_ms(20);
        assert!(world.session(3).has_authority(rock));
    }
}

#[test]
fn silent_peer_is_reported_once_and_once_on_return() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    world.session(0).spawn(&ship(0, 7)).unwrap();
    world.conditions = world::rough(100, 50);
    world.run_ms(20_000);
    let quiet = SessionEvent::Interrupted { player: player(1), peer: world::peer(1) };
    let back = SessionEvent::Resumed { player: player(1), peer: world::peer(1) };
    assert_eq!(world.count_events(0, |event| *event == quiet), 0, "an idle peer is not interrupted");
    world.set_cut(1, 0, true);
    world.run_ms(6_000);
    assert_eq!(world.count_events(0, |event| *event == quiet), 1);
    assert_eq!(world.count_events(0, |event| *event == back), 0);
    world.set_cut(1, 0, false);
    world.run_ms(2_000);
    assert_eq!(world.count_events(0, |event| *event == back), 1);
    assert_eq!(
        world.count_events(1, |event| matches!(event, SessionEvent::Interrupted { .. })),
        0,
        "the other direction never failed"
    );
}
