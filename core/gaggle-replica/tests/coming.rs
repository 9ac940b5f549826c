//! Coming and going: newcomers, reconnects, dead hosts, splits that heal.

#![allow(clippy::unwrap_used, reason = "tests that cannot go on")]

mod world;

use gaggle_kit::Micros;
use gaggle_replica::{
    AuthorityPolicy, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, Session, SessionEvent,
};
use world::{Machine, World, player};

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

/// Everything a machine knows, in an order that does not depend on it.
fn known(session: &Session) -> Vec<(ObjectId, Ship, Option<gaggle_kit::Slot>)> {
    let mut all: Vec<_> =
        session.iter::<Ship>().map(|(id, ship)| (id, ship, session.authority(id))).collect();
    all.sort_by_key(|(id, ..)| *id);
    all
}

/// All that are alive know the same.
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
fn a_newcomer_learns_everything_at_any_time() {
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
    assert_eq!(world.session(3).stats().claims, 0, "and takes nothing");
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
        "the last to come is the junior"
    );
}

#[test]
fn who_comes_back_has_its_objects_again() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(3, policy.clone());
        let mine = world.session(2).spawn_owned(player(2), &ship(2, 5)).unwrap();
        let rock = world.session(0).spawn(&ship(0, 9)).unwrap();
        world.run_ms(500);
        world.kill(2);
        world.run_ms(2_000);
        assert_eq!(world.session(1).authority(mine), Some(player(0)), "inherited by the lead");
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
fn what_somebody_took_over_meanwhile_stays_theirs() {
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
fn when_the_host_dies_the_next_goes_on_and_nothing_is_lost() {
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
            assert!(Some(place) >= best, "{policy:?}: somebody knew {best:?}, now it is {place}");
            for index in host + 1..5 {
                let told =
                    |event: &SessionEvent| *event == SessionEvent::LeaderChanged { player: player(host + 1) };
                assert_eq!(world.count_events(index, told), 1, "{policy:?}: {index} knows who leads");
            }
        }
        assert_eq!(world.session(4).iter::<Ship>().count(), 100);
        assert!(ids.iter().all(|id| world.session(4).has_authority(*id)));
    }
}

#[test]
fn what_only_one_survivor_knew_everybody_has_in_the_end() {
    let mut world = world(4, AuthorityPolicy::Leader);
    world.run_ms(200);
    // The host's last word reaches machine 3 alone, which is not its heir.
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
fn after_a_split_all_worlds_are_one_again() {
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
        let senior = world.session(0).get::<Ship>(ids[7]).unwrap();
        assert_ne!(known(world.session(1)), known(world.session(4)), "the sides went their own ways");
        world.heal();
        world.run_ms(4_000);
        assert_eq!(expect_agreement(&world), 40 + own.len(), "{policy:?}");
        if !matches!(policy, AuthorityPolicy::Anyone) {
            assert_eq!(
                world.session(5).get(ids[7]),
                Some(senior),
                "{policy:?}: the senior host's side stands"
            );
        }
        if matches!(policy, AuthorityPolicy::OwnerOrLeader) {
            for (index, id) in own.iter().enumerate() {
                assert!(world.session(index).has_authority(*id), "{index} has its own again");
            }
        }
    }
}

#[test]
fn a_kind_says_what_becomes_of_it() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let shadow = world.session(2).spawn(&Shadow { place: 1 }).unwrap();
    let seat = world.session(2).spawn(&Seat { place: 2 }).unwrap();
    let ship = world.session(2).spawn(&ship(2, 3)).unwrap();
    world.run_ms(500);
    world.kill(2);
    world.run_ms(2_000);
    assert_eq!(world.session(1).get::<Shadow>(shadow), None, "goes with its holder");
    assert_eq!(world.session(1).authority(ship), Some(player(0)), "is inherited");
    assert_eq!(world.session(1).authority(seat), Some(player(2)), "stays as it is");
    world.run_ms(10_000);
    come_back(&mut world, 2);
    world.run_ms(2_000);
    assert!(world.session(2).has_authority(seat), "and waits for its player");
    world.kill(2);
    world.run_ms(15_000);
    assert_eq!(world.session(1).authority(seat), Some(player(2)));
    world.run_ms(8_000);
    assert_eq!(world.session(1).authority(seat), Some(player(0)), "until the ticket has run out");
}

#[test]
fn a_link_that_fails_for_a_moment_changes_nothing_for_good() {
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
fn packets_that_overtake_the_hello_of_a_new_member_are_told_again() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    world.machines.push(Machine::new(2));
    world.grow();
    come_back(&mut world, 2);
    // Everything but the last hello of the newcomer gets through to machine 1.
    world.run_ms(10);
    world.net.set_ordered_delay(2, 1, Micros::from_millis(400));
    world.play(Micros::from_millis(300), |session, index, _| {
        if index == 2 && session.is_member() && session.iter_authoritative::<Ship>().count() == 0 {
            session.spawn(&ship(2, 1)).unwrap();
        }
    });
    assert_eq!(world.session(1).iter::<Ship>().count(), 0, "it is no member here yet");
    world.run_ms(1_500);
    assert_eq!(expect_agreement(&world), 1);
}

#[test]
fn everybody_joining_at_once_is_one_session() {
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
fn newcomers_who_meet_each_other_first_wait_for_those_whose_world_it_is() {
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
        assert_eq!(founded, [!awaits; 2], "they begin by themselves unless they know of others");
        world.link(0, 1);
        world.link(0, 2);
        world.run_ms(3_000);
        assert_eq!(expect_agreement(&world), 1);
        assert_eq!(world.session(2).roster().len(), 3);
    }
}

/// One more machine, which only looks on.
fn look_on(world: &mut World) -> usize {
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
fn who_looks_on_sees_everything_and_is_nobody() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(3, policy.clone());
        for place in 0..40 {
            world.session(0).spawn(&ship(0, place)).unwrap();
        }
        world.conditions = world::rough(100, 100);
        let watcher = look_on(&mut world);
        world.run_ms(3_000);
        assert_eq!(expect_agreement(&world), 40, "{policy:?}");
        let id = known(world.session(0))[0].0;
        let eye = world.session(watcher);
        assert!(eye.is_spectator() && !eye.is_member() && !eye.is_leader());
        assert_eq!((eye.roster().len(), eye.sync_progress().received), (3, 40));
        assert!(eye.spawn(&ship(3, 1)).is_err() && eye.claim(id).is_err() && eye.despawn(id).is_err());
        assert_eq!(world.session(0).roster().len(), 3, "nobody counts it");
        let about = |event: &SessionEvent| matches!(event, SessionEvent::Joined { peer, .. } | SessionEvent::Left { peer, .. } if *peer == world::peer(watcher));
        assert_eq!(world.count_events(0, about), 0, "nor hears of it");

        // It sees what happens next, and who dies; it inherits nothing.
        world.play(Micros::from_millis(1_000), |session, _, _| {
            if session.has_authority(id) {
                session.modify(id, |ship: &mut Ship| ship.place += 1).unwrap();
            }
        });
        world.kill(0);
        world.run_ms(4_000);
        assert_eq!(expect_agreement(&world), 40, "{policy:?}");
        assert!(world.session(1).is_leader());
        assert!(world.session(watcher).get::<Ship>(id).unwrap().place > 50);
        assert_eq!(world.session(watcher).stats().updates_sent, 0);

        // When nobody is left it holds nothing still, and leads nobody.
        world.kill(1);
        world.kill(2);
        world.run_ms(4_000);
        let eye = world.session(watcher);
        assert!(
            !eye.is_leader() && eye.iter_authoritative::<Ship>().next().is_none() && eye.stats().claims == 0
        );
        assert_eq!(eye.iter::<Ship>().count(), 40, "but still sees what there was");
    }
}

#[test]
fn who_looks_on_holds_nobody_up() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&ship(0, 1)).unwrap();
    let watcher = look_on(&mut world);
    world.run_ms(1_000);
    assert!(world.session(watcher).get::<Ship>(id).is_some());
    world.kill(watcher);
    world.run_ms(4_000);
    assert_eq!(world.count_events(0, |event| matches!(event, SessionEvent::Interrupted { .. })), 0);
    world.session(0).despawn(id).unwrap();
    world.run_ms(1_000);
    assert_eq!(expect_agreement(&world), 0);
}

#[test]
fn what_somebody_leaves_who_says_goodbye_is_taken_over_at_once() {
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
        assert!(!world.session(2).has_authority(rock), "whoever dies may have told others more than us");
        world.run_ms(1_000);
        assert!(world.session(2).has_authority(rock));
        // The last one has nobody to wait for.
        world.run_ms(1_000);
        world.part(2);
        world.run_ms(20);
        assert!(world.session(3).has_authority(rock));
    }
}

#[test]
fn somebody_of_whom_nothing_is_heard_is_told_once_and_so_is_its_return() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    world.session(0).spawn(&ship(0, 7)).unwrap();
    world.conditions = world::rough(100, 50);
    world.run_ms(20_000);
    let quiet = SessionEvent::Interrupted { player: player(1), peer: world::peer(1) };
    let back = SessionEvent::Resumed { player: player(1), peer: world::peer(1) };
    assert_eq!(world.count_events(0, |event| *event == quiet), 0, "resting is no reason");
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
        "it heard all along"
    );
}
