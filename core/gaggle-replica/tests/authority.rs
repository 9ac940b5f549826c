//! Who holds what: claims, races, refusals, deletion.

#![allow(clippy::unwrap_used, reason = "tests that cannot go on")]

mod world;

use std::sync::Arc;

use gaggle_kit::Micros;
use gaggle_replica::{
    AuthorityPolicy, AuthorityRules, Kind, Kinds, ObjectError, ObjectId, ObjectInfo, ReplicaConfig, Roster,
    RosterMember, SessionEvent,
};
use world::{NetConditions, World, player};

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

/// All that are alive see the same holder and the same value.
fn expect_all(world: &mut World, id: ObjectId, holder: usize, place: u32) {
    for index in 0..world.machines.len() {
        let Some(session) = &world.machines[index].session else { continue };
        assert_eq!(session.authority(id), Some(player(holder)), "holder at {index}");
        assert_eq!(session.get::<Cube>(id), Some(cube(place)), "value at {index}");
    }
    world.expect_peace();
}

#[test]
fn touching_makes_an_object_ones_own_and_counts() {
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
fn of_two_who_touch_at_once_the_senior_wins_everywhere() {
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
fn more_claims_beat_seniority() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    // Two and one claim while they cannot hear of each other.
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
fn holding_beats_touching_and_cannot_be_touched() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    world.session(2).lock(id).unwrap();
    world.session(0).set(id, &cube(3)).unwrap();
    world.run_ms(200);
    assert!(world.session(1).is_locked(id));
    assert_eq!(world.session(1).claim(id), Err(ObjectError::Locked { id }));
    assert_eq!(world.session(1).lock(id), Err(ObjectError::Locked { id }));
    // A touch that crosses a grab loses, whoever is the senior.
    world.session(2).release(id).unwrap();
    world.run_ms(500);
    world.session(0).claim(id).unwrap();
    world.session(1).lock(id).unwrap();
    world.session(1).set(id, &cube(4)).unwrap();
    world.run_ms(200);
    expect_all(&mut world, id, 1, 4);
}

#[test]
fn what_rests_is_let_go_of_and_costs_nothing() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(500);
    world.session(1).lock(id).unwrap();
    world.run_ms(400);
    assert!(world.session(0).is_locked(id));
    world.run_ms(400);
    assert!(!world.session(0).is_locked(id), "half a second without a change");
    assert_eq!(world.session(0).authority(id), Some(player(1)), "who goes on to answer for it");
    let before = world.session(1).stats().updates_sent;
    world.run_ms(3_000);
    assert_eq!(world.session(1).stats().updates_sent, before);
    world.session(0).claim(id).unwrap();
}

#[test]
fn whoever_has_just_touched_has_a_moment() {
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
fn nobody_claims_an_object_in_a_frenzy() {
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
    assert!((9..=11).contains(&claims) && refused > 80, "{claims} claims in a second, {refused} refused");
}

#[test]
fn under_host_policy_only_the_host_holds() {
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
fn under_mixed_policy_everybody_holds_its_own_and_the_host_the_rest() {
    let mut world = world(3, AuthorityPolicy::OwnerOrLeader);
    let rock = world.session(0).spawn(&cube(1)).unwrap();
    let ship = world.session(2).spawn_owned(player(2), &cube(2)).unwrap();
    assert!(world.session(2).spawn(&cube(1)).is_err());
    assert!(world.session(0).spawn_owned(player(2), &cube(1)).is_err(), "while that player is present");
    world.run_ms(200);
    expect_all(&mut world, ship, 2, 2);
    assert_eq!(world.session(0).claim(ship), Err(ObjectError::Forbidden { id: ship }));
    assert_eq!(world.session(2).claim(rock), Err(ObjectError::Forbidden { id: rock }));
    // Answers at once: no round trip between a player and its own ship.
    world.session(2).set(ship, &cube(3)).unwrap();
    assert_eq!(world.session(2).get(ship), Some(cube(3)));
}

/// Even numbers of players hold, the others watch.
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
fn a_game_can_have_a_policy_of_its_own() {
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
    assert_eq!(world.holders(id), [Some(player(0)), Some(player(0))], "nobody is left who may");
}

#[test]
fn a_deletion_beats_touches_and_late_updates_of_the_dead_are_nothing() {
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
            assert!(appeared <= 1 && deleted <= 1, "told {appeared} and {deleted} times at {index}");
        }
        world.expect_peace();
    }
}

#[test]
fn a_split_brings_nothing_deleted_back() {
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
fn an_object_made_for_somebody_becomes_theirs() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    let id = world.session(0).spawn_owned(player(2), &cube(5)).unwrap();
    world.run_ms(300);
    expect_all(&mut world, id, 2, 5);
    assert_eq!(
        world.count_events(2, |event| *event == SessionEvent::AuthorityGained { id, from: player(0) }),
        1
    );
}
