//! Tests of authority: claims, races, rejections, deletion.

#![allow(clippy::unwrap_used, reason = "a failed step ends the test")]

use crate::world;
use std::sync::Arc;

use crate::world::{NetConditions, World, player};
use gaggle_kit::Micros;
use gaggle_replica::{
    AuthorityPolicy, AuthorityRules, Kind, Kinds, ObjectError, ObjectId, ObjectInfo, ReplicaConfig, Roster,
    RosterMember, SessionEvent,
};

#[derive(Debug, Clone, PartialEq, Kind)]
struct Cube {
    #[kind(range = 0..=1_000_000)]
    place: u32,
    #[kind(constant)]
    paint: u8,
}

fn cube(place: u32) -> Cube {
    Cube { place, paint: 7 }
}

fn world(count: usize, policy: AuthorityPolicy) -> World {
    World::of(
        count,
        23,
        ReplicaConfig { authority: policy, ..ReplicaConfig::default() },
        Kinds::new().with::<Cube>(),
    )
}

/// All running peers see the same authority and the same value.
fn expect_all(world: &mut World, id: ObjectId, holder: usize, place: u32) {
    for index in 0..world.machines.len() {
        let Some(session) = &world.machines[index].session else { continue };
        assert_eq!(session.authority(id), Some(player(holder)), "authority at {index}");
        assert_eq!(session.get::<Cube>(id), Some(cube(place)), "value at {index}");
    }
    world.expect_peace();
}

#[test]
fn claim_takes_authority_and_raises_claim_count() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    let before = world.session(2).version(id).unwrap();
    world.session(2).claim(id).unwrap();
    world.session(2).set(id, &cube(2)).unwrap();
    let after = world.session(2).version(id).unwrap();
    assert_eq!((after.lock_seq, after.claim_seq), (before.lock_seq, before.claim_seq + 1));
    assert_eq!(after.authority, world.session(2).local_member());
    world.run_ms(200);
    expect_all(&mut world, id, 2, 2);
    assert_eq!(world.count_events(0, |event| *event == SessionEvent::AuthorityLost { id, to: player(2) }), 1);
    assert_eq!(world.session(0).set(id, &cube(9)), Err(ObjectError::NoAuthority { id }));
}

#[test]
fn concurrent_claims_are_won_by_first_in_join_order() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    for index in [3, 1] {
        world.session(index).claim(id).unwrap();
        world.session(index).set(id, &cube(index as u32 * 10)).unwrap();
    }
    assert!(world.session(1).has_authority(id) && world.session(3).has_authority(id));
    world.run_ms(300);
    expect_all(&mut world, id, 1, 10);
    assert_eq!(world.count_events(3, |event| *event == SessionEvent::AuthorityLost { id, to: player(1) }), 1);
}

#[test]
fn higher_claim_count_beats_join_order() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    // Peers 1 and 2 claim while they cannot hear each other.
    world.split(&[&[0, 1], &[2]]);
    world.session(2).claim(id).unwrap();
    world.session(1).claim(id).unwrap();
    world.run_ms(500);
    world.session(0).claim(id).unwrap();
    world.session(0).set(id, &cube(5)).unwrap();
    world.run_ms(300);
    world.heal();
    world.run_ms(500);
    expect_all(&mut world, id, 0, 5);
}

#[test]
fn lock_beats_claim_and_blocks_claims() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    world.session(2).lock(id).unwrap();
    world.session(0).set(id, &cube(3)).unwrap();
    world.run_ms(200);
    assert!(world.session(1).is_locked(id));
    assert_eq!(world.session(1).claim(id), Err(ObjectError::Locked { id }));
    assert_eq!(world.session(1).lock(id), Err(ObjectError::Locked { id }));
    // A claim that crosses a lock loses, regardless of join order.
    world.session(2).release(id).unwrap();
    world.run_ms(500);
    world.session(0).claim(id).unwrap();
    world.session(1).lock(id).unwrap();
    world.session(1).set(id, &cube(4)).unwrap();
    world.run_ms(200);
    expect_all(&mut world, id, 1, 4);
}

#[test]
fn idle_lock_is_released_and_costs_no_updates() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    world.session(1).lock(id).unwrap();
    world.run_ms(400);
    assert!(world.session(0).is_locked(id));
    world.run_ms(400);
    assert!(!world.session(0).is_locked(id), "half a second without a change");
    assert_eq!(world.session(0).authority(id), Some(player(1)), "the last authority stays");
    let before = world.session(1).stats().updates_sent;
    world.run_ms(3_000);
    assert_eq!(world.session(1).stats().updates_sent, before);
    world.session(0).claim(id).unwrap();
}

#[test]
fn recent_claim_blocks_other_claims_for_short_time() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    world.session(1).claim(id).unwrap();
    world.run_ms(100);
    assert_eq!(world.session(2).claim(id), Err(ObjectError::Locked { id }));
    world.run_ms(300);
    world.session(2).claim(id).unwrap();
}

#[test]
fn claims_beyond_rate_limit_are_rejected() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    let mut claims = 0;
    let mut refused = 0;
    for _ in 0..100 {
        match world.session(0).lock(id) {
            Ok(()) => {
                claims += 1;
                world.session(0).release(id).unwrap();
            }
            Err(ObjectError::RateLimited { .. }) => refused += 1,
            Err(error) => panic!("{error}"),
        }
        world.run_ms(10);
    }
    assert!((9..=11).contains(&claims) && refused > 80, "{claims} claims in a second, {refused} rejected");
}

#[test]
fn leader_policy_gives_authority_to_leader_only() {
    let mut world = world(3, AuthorityPolicy::Leader);
    assert!(matches!(world.session(1).spawn(&cube(1)), Err(ObjectError::Forbidden { .. })));
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(200);
    assert_eq!(world.session(1).claim(id), Err(ObjectError::Forbidden { id }));
    assert_eq!(world.session(1).lock(id), Err(ObjectError::Forbidden { id }));
    assert_eq!(world.session(1).despawn(id), Err(ObjectError::Forbidden { id }));
    expect_all(&mut world, id, 0, 1);
}

#[test]
fn owner_policy_gives_players_own_objects_and_leader_rest() {
    let mut world = world(3, AuthorityPolicy::OwnerOrLeader);
    let rock = world.session(0).spawn(&cube(1)).unwrap();
    let ship = world.session(2).spawn_owned(player(2), &cube(2)).unwrap();
    assert!(world.session(2).spawn(&cube(1)).is_err());
    assert!(world.session(0).spawn_owned(player(2), &cube(1)).is_err(), "while that player is present");
    world.run_ms(200);
    expect_all(&mut world, ship, 2, 2);
    assert_eq!(world.session(0).claim(ship), Err(ObjectError::Forbidden { id: ship }));
    assert_eq!(world.session(2).claim(rock), Err(ObjectError::Forbidden { id: rock }));
    // The change is local and immediate: no round trip between a player and its own ship.
    world.session(2).set(ship, &cube(3)).unwrap();
    assert_eq!(world.session(2).get(ship), Some(cube(3)));
}

/// Players with even numbers have authority, the others watch.
#[derive(Debug)]
struct Evens;

impl AuthorityRules for Evens {
    fn fingerprint(&self) -> u32 {
        2
    }

    fn may_hold(&self, member: RosterMember, _: &ObjectInfo, _: &Roster) -> bool {
        member.slot.number().is_multiple_of(2)
    }

    fn successor(&self, _: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        roster.iter().find(|present| present.slot.number().is_multiple_of(2))
    }
}

#[test]
fn custom_policy_decides_claims_and_successor() {
    let mut world = world(4, AuthorityPolicy::Custom(Arc::new(Evens)));
    assert!(world.session(1).spawn(&cube(1)).is_err());
    let id = world.session(2).spawn(&cube(1)).unwrap();
    world.run_ms(200);
    assert!(world.session(3).claim(id).is_err());
    world.kill(2);
    world.run_ms(2_000);
    expect_all(&mut world, id, 0, 1);
    world.kill(0);
    world.run_ms(2_000);
    assert_eq!(world.holders(id), [Some(player(0)), Some(player(0))], "no present member may hold it");
}

#[test]
fn deletion_beats_claims_and_late_updates_are_ignored() {
    for seed in 0..20 {
        let mut world = world(4, AuthorityPolicy::Anyone);
        world.random = gaggle_kit::Prng::new(seed);
        world.conditions = NetConditions { late: 300, ..world::rough(120, 100) };
        let id = world.session(0).spawn(&cube(1)).unwrap();
        world.run_ms(2_000);
        let mut number = 1;
        world.session(1).claim(id).unwrap();
        world.play(Micros::from_millis(300), |session, index, _| {
            if index == 1 && session.has_authority(id) {
                number += 1;
                session.set(id, &cube(number)).unwrap();
            }
        });
        world.session(3).despawn(id).unwrap();
        world.session(0).claim(id).ok();
        world.run_ms(2_000);
        for index in 0..4 {
            assert_eq!(world.session(index).get::<Cube>(id), None, "at {index}");
            let appeared = world.count_events(index, |event| *event == SessionEvent::Spawned { id });
            let deleted = world.count_events(index, |event| *event == SessionEvent::Despawned { id });
            assert!(appeared <= 1 && deleted <= 1, "{appeared} spawns and {deleted} deletions at {index}");
        }
        world.expect_peace();
    }
}

#[test]
fn deleted_object_after_partition_stays_deleted() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    let ids: Vec<ObjectId> = (0..20).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(500);
    world.split(&[&[0, 1], &[2, 3]]);
    world.run_ms(1_500);
    for (number, id) in ids.iter().enumerate().take(10) {
        world.session(number % 2).despawn(*id).unwrap();
    }
    world.run_ms(12 * 60 * 1_000);
    world.heal();
    world.run_ms(3_000);
    for (number, id) in ids.iter().enumerate() {
        for index in 0..4 {
            assert_eq!(world.session(index).get::<Cube>(*id).is_some(), number >= 10, "{number} at {index}");
        }
    }
    world.expect_peace();
}

#[test]
fn object_spawned_for_player_is_given_to_it() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn_owned(player(2), &cube(5)).unwrap();
    world.run_ms(300);
    expect_all(&mut world, id, 2, 5);
    assert_eq!(
        world.count_events(2, |event| *event == SessionEvent::AuthorityGained { id, from: player(0) }),
        1
    );
}
