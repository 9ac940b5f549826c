//! Attacks on authority: a peer writes records in the name of other members, of objects of others,
//! and of objects that were never created. Honest peers must keep their state and agree.

use std::sync::Arc;

use super::hostile::world::{World, player};
use super::hostile::{Cube, cube, kinds, liar, world};
use crate::ablation::Rule;
use crate::version::{Record, Version};
use crate::{
    AuthorityPolicy, AuthorityRules, JoinMode, MemberId, MemberTag, ObjectId, ObjectInfo, ReplicaConfig,
    Roster, RosterMember, Session, SessionEvent,
};

#[test]
fn claim_or_deletion_against_policy_changes_only_liar() {
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(4, policy.clone());
        let ids: Vec<ObjectId> = (0..20).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
        world.run_ms(500);
        liar(&mut world).cx.config.authority = AuthorityPolicy::Anyone;
        for (number, id) in ids.iter().enumerate() {
            match number % 3 {
                0 => liar(&mut world).despawn(*id).unwrap(),
                1 => liar(&mut world).lock(*id).unwrap(),
                _ => liar(&mut world).claim(*id).unwrap(),
            }
            liar(&mut world).set(*id, &cube(999)).ok();
        }
        world.run_ms(3_000);
        for index in 0..3 {
            for (place, id) in ids.iter().enumerate() {
                let session = world.session(index);
                assert_eq!(session.get(*id), Some(cube(place as u32)), "{policy:?}: {place} at {index}");
                assert_eq!(session.authority(*id), Some(player(0)));
            }
            // For the leader itself these records are merely lower.
            assert!(index == 0 || world.session(index).stats().records_rejected >= 20);
        }
        // The liar stays when the leader crashes: the objects it took belong to the next leader.
        world.kill(0);
        world.run_ms(3_000);
        for id in &ids {
            assert_eq!(world.session(1).authority(*id), Some(player(1)));
            assert!(world.session(2).get::<Cube>(*id).is_some());
        }
    }
}

/// Makes the liar send every peer this record of an object, with this value.
fn lie(session: &mut Session, id: ObjectId, record: Record, place: u32) {
    let at = session.objects.find(id).unwrap();
    session.objects.set_record(at, Some(record));
    if !record.gone {
        session.objects.value_mut(at)[0] = place as i32;
    }
    session.objects.change_stamp(at);
    session.objects.mark_dirty(at);
    for link in 0..session.peers.len() {
        let out = &mut session.peers[link].out[at];
        out.forget_identity();
        out.forget_acks();
        session.work().set_owed(link, at, true);
        session.work().refresh_link(link, at);
    }
}

fn record_of(session: &Session, id: ObjectId) -> Record {
    session.objects[session.objects.find(id).unwrap()].record.unwrap()
}

#[test]
fn record_in_name_of_present_member_is_rejected() {
    for policy in
        [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader, AuthorityPolicy::Anyone, skippers()]
    {
        // A higher claim, or only a newer value of the same claim, with a later tick than any the
        // authority has sent or will send.
        for (seq, tick) in [(5, 50), (0, 50), (0, 1 << 31)] {
            let mut world = world(4, policy.clone());
            let id = world.session(0).spawn_owned(player(0), &cube(1)).unwrap();
            world.run_ms(500);
            let record = record_of(liar(&mut world), id);
            let version = record.version;
            let version =
                Version { claim_seq: version.claim_seq + seq, tick: version.tick + tick, ..version };
            lie(liar(&mut world), id, Record { version, ..record }, 777);
            world.run_ms(1_000);
            for index in 0..3 {
                assert_eq!(world.session(index).get(id), Some(cube(1)), "{policy:?}: at {index}");
                let refused = world.session(index).stats().records_rejected;
                assert!(refused > 0 || index == 0, "{policy:?}: no false record reached {index}");
            }
            world.session(0).set(id, &cube(2)).unwrap();
            world.run_ms(500);
            for index in 0..3 {
                assert_eq!(world.session(index).get(id), Some(cube(2)), "{policy:?}: at {index}");
            }
        }
    }
}

#[test]
fn record_in_name_of_absent_member_ends_on_its_return() {
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::Anyone] {
        let mut world = world(4, policy.clone());
        let id = world.session(0).spawn(&cube(1)).unwrap();
        world.run_ms(500);
        // One peer loses its link to the authority for a moment.
        world.unlink(0, 2);
        let record = record_of(liar(&mut world), id);
        let version = Version { tick: u32::MAX - 1, ..record.version };
        lie(liar(&mut world), id, Record { version, ..record }, 777);
        world.run_ms(200);
        world.link(0, 2);
        world.run_ms(500);
        world.session(0).set(id, &cube(2)).unwrap();
        world.run_ms(500);
        assert_eq!(world.session(2).get(id), Some(cube(2)), "{policy:?}");
        world.session(0).set(id, &cube(3)).unwrap();
        world.run_ms(500);
        assert_eq!(world.session(2).get(id), Some(cube(3)), "{policy:?}");
    }
}

/// Rules of a game of boats: an owned object belongs to its player, every other object to any
/// player; after a partition both sides merge.
#[derive(Debug)]
struct Skippers;

fn skippers() -> AuthorityPolicy {
    AuthorityPolicy::Custom(Arc::new(Skippers))
}

impl AuthorityRules for Skippers {
    fn fingerprint(&self) -> u32 {
        1
    }

    fn may_hold(&self, member: RosterMember, object: &ObjectInfo, roster: &Roster) -> bool {
        object.owner.is_none() || self.successor(object, roster) == Some(member)
    }

    fn successor(&self, object: &ObjectInfo, roster: &Roster) -> Option<RosterMember> {
        object.owner.and_then(|home| roster.by_slot(home)).or_else(|| roster.leader())
    }
}

#[test]
fn exclusive_object_of_another_is_never_taken() {
    let stranger = MemberId { join_order: 2, tag: MemberTag(0xdead) };
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader, skippers()] {
        for way in 0..4 {
            let mut world = world(4, policy.clone());
            let id = world.session(0).spawn_owned(player(0), &cube(1)).unwrap();
            world.run_ms(500);
            for _ in 0..20 {
                let session = liar(&mut world);
                let record = record_of(session, id);
                let me = session.members.me();
                let Version { lock_seq: hold, claim_seq: seq, tick, .. } = record.version;
                let mine = Version { lock_seq: hold + 1, claim_seq: seq, authority: me.id, tick };
                let told = match way {
                    // In the name of a member that is not present.
                    0 => Record { version: Version { authority: stranger, ..mine }, ..record },
                    // The same, claiming that this member was an earlier stay of the authority.
                    1 => Record {
                        version: Version { authority: stranger, ..mine },
                        player: player(0),
                        ..record
                    },
                    // In its own name.
                    2 => Record { version: mine, player: me.slot, ..record },
                    // In its own name, as if the liar owned the object.
                    _ => Record { version: mine, player: me.slot, home: Some(me.slot), ..record },
                };
                lie(session, id, told, 777);
                for _ in 0..10 {
                    world.run_ms(20);
                    for index in 0..3 {
                        let session = world.session(index);
                        let seen = (session.get(id), session.authority(id), session.owner(id));
                        let expected = (Some(cube(1)), Some(player(0)), Some(player(0)));
                        assert_eq!(seen, expected, "{policy:?}, way {way}: at {index}");
                    }
                }
            }
            assert_eq!(world.count_events(0, |event| matches!(event, SessionEvent::AuthorityLost { .. })), 0);
            world.expect_peace();
        }
    }
}

#[test]
fn object_created_without_right_is_rejected() {
    let stranger = MemberId { join_order: 2, tag: MemberTag(0xdead) };
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        for way in 0..5 {
            let mut world = world(4, policy.clone());
            let real = world.session(0).spawn(&cube(1)).unwrap();
            world.run_ms(500);
            let session = liar(&mut world);
            session.cx.config.authority = AuthorityPolicy::Anyone;
            let made = session.spawn(&cube(777)).unwrap();
            let record = record_of(session, made);
            let version = Version { authority: stranger, ..record.version };
            match way {
                0 => {}
                1 => lie(session, made, Record { home: Some(player(1)), ..record }, 777),
                2 => lie(session, made, Record { home: Some(player(9)), ..record }, 777),
                3 => lie(session, made, Record { version, ..record }, 777),
                _ => lie(
                    session,
                    made,
                    Record { version, player: player(1), home: Some(player(1)), ..record },
                    777,
                ),
            }
            for _ in 0..100 {
                world.run_ms(30);
                for index in 0..3 {
                    let seen = world.session(index).get::<Cube>(made);
                    assert_eq!(seen, None, "{policy:?}, way {way}: at {index}");
                }
            }
            // The object stays unknown after the leader has left, too.
            world.kill(0);
            world.run_ms(3_000);
            for index in 1..3 {
                assert_eq!(world.session(index).get::<Cube>(made), None, "{policy:?}, way {way}: at {index}");
                assert_eq!(world.session(index).authority(real), Some(player(1)));
            }
            world.expect_peace();
        }
    }
}

/// The leader left. Before its successor has taken over the objects, the liar sends records of them
/// in the name of absent members.
#[test]
fn objects_of_departed_leader_reject_records_without_right() {
    for (policy, without) in [
        (AuthorityPolicy::Leader, None),
        (AuthorityPolicy::OwnerOrLeader, None),
        (AuthorityPolicy::Leader, Some(Rule::NamesAreBorneOut)),
        (AuthorityPolicy::OwnerOrLeader, Some(Rule::NamesAreBorneOut)),
    ] {
        for (invented, gone) in [(true, false), (true, true), (false, false), (false, true)] {
            let mut world = world(4, policy.clone());
            (0..4).for_each(|index| world.session(index).cx.ablation.rule = without);
            let ids: Vec<ObjectId> = (0..20).map(|at| world.session(0).spawn(&cube(at)).unwrap()).collect();
            world.run_ms(500);
            let left = world.session(2).members.me();
            let stranger = MemberId { join_order: 2, tag: MemberTag(0xdead) };
            let stranger = RosterMember { id: stranger, ..left };
            let RosterMember { id: holder, slot: player, .. } = if invented { stranger } else { left };
            world.kill(2);
            world.run_ms(200);
            world.kill(0);
            world.run_ms(40);
            for id in &ids {
                let record = record_of(liar(&mut world), *id);
                let version = Version { lock_seq: 2, claim_seq: 40, authority: holder, ..record.version };
                lie(liar(&mut world), *id, Record { version, player, gone, ..record }, 777);
            }
            let before = world.session(1).stats().records_rejected;
            world.run_ms(4_000);
            let refused = world.session(1).stats().records_rejected - before;
            let session = world.session(1);
            let kept = (0..).zip(&ids).filter(|(at, id)| session.get(**id) == Some(cube(*at))).count();
            match without {
                None => assert!(kept == 20 && refused >= 20, "{policy:?}: {kept} kept, {refused} refused"),
                Some(_) => assert_eq!(kept, 0, "{policy:?}: without the rule all objects are overwritten"),
            }
            world.expect_peace();
        }
    }
}

/// Every remaining peer sends the successor the objects that only it received from the departed
/// leader. The liar invents such objects.
#[test]
fn objects_in_name_of_departed_leader_are_bounded() {
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(4, policy.clone());
        let real = world.session(0).spawn(&cube(1)).unwrap();
        world.run_ms(1_000);
        // An object that only one honest peer knows.
        world.set_cut(0, 1, true);
        let last = world.session(0).spawn(&cube(2)).unwrap();
        world.run_ms(100);
        assert_eq!((world.session(1).get::<Cube>(last), world.session(2).get(last)), (None, Some(cube(2))));
        let host = world.session(0).members.me();
        world.kill(0);
        world.run_ms(40);
        let session = liar(&mut world);
        let record = record_of(session, real);
        for counter in 1_000..3_000 {
            let id = ObjectId::new(host.id.tag, counter);
            let place = session.work().place_of(id);
            session.objects.set_record(place, Some(record));
            lie(session, id, record, 777);
        }
        world.run_ms(9_000);
        let known = world.session(1).iter::<Cube>().count();
        let despawned = world.session(1).stats().unauthorized_despawned;
        assert!((200..=260).contains(&known), "{policy:?}: {known} objects");
        assert!(despawned > 1_000, "{policy:?}: {despawned} deleted");
        for index in [1, 2] {
            let session = world.session(index);
            assert_eq!((session.get(real), session.get(last)), (Some(cube(1)), Some(cube(2))), "{policy:?}");
            assert_eq!(session.iter::<Cube>().count(), known);
        }
    }
}

#[test]
fn object_made_in_partition_is_deleted_or_taken_over() {
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        for despawns in [true, false] {
            let config = ReplicaConfig {
                authority: policy.clone(),
                despawn_unauthorized: despawns,
                ..ReplicaConfig::default()
            };
            let mut world = World::of(4, 41, config, kinds());
            let before = world.session(0).spawn(&cube(1)).unwrap();
            world.run_ms(1_000);
            world.split(&[&[0, 1], &[2, 3]]);
            world.run_ms(20_000);
            let here = world.session(0).spawn(&cube(2)).unwrap();
            let there = world.session(2).spawn(&cube(3)).unwrap();
            let own = world.session(3).spawn_owned(player(3), &cube(4)).ok();
            world.run_ms(1_000);
            assert_eq!(world.session(3).get(there), Some(cube(3)));
            world.heal();
            world.run_ms(4_000);
            for index in 0..4 {
                let session = world.session(index);
                assert_eq!((session.get(before), session.get(here)), (Some(cube(1)), Some(cube(2))));
                let expected = if despawns { None } else { Some(cube(3)) };
                assert_eq!(session.get(there), expected, "{policy:?}, despawns {despawns}: at {index}");
                if let Some(own) = own {
                    assert_eq!(session.get(own), Some(cube(4)), "an own object needs no confirmation");
                }
            }
            let deleted = |event: &SessionEvent| *event == SessionEvent::Despawned { id: there };
            assert_eq!(world.count_events(2, deleted), usize::from(despawns));
            assert_eq!(world.session(0).stats().unauthorized_despawned, u64::from(despawns));
            world.expect_peace();
        }
    }
}

#[test]
fn member_that_returns_at_once_keeps_its_objects() {
    for policy in [AuthorityPolicy::OwnerOrLeader, skippers()] {
        let mut world = world(4, policy.clone());
        let mine = world.session(2).spawn_owned(player(2), &cube(5)).unwrap();
        world.run_ms(500);
        world.kill(2);
        world.start(2, JoinMode::Join);
        for other in [3, 1, 0] {
            world.link(2, other);
            world.run_ms(60);
        }
        world.run_ms(3_000);
        for index in 0..4 {
            assert_eq!(world.session(index).get(mine), Some(cube(5)), "{policy:?}: at {index}");
            assert_eq!(world.session(index).authority(mine), Some(player(2)), "{policy:?}: at {index}");
        }
    }
}

/// The liar claims the next object ids that another peer will create.
fn squat(world: &mut World, maker: usize, change: impl Fn(Record) -> Record) {
    let (tag, made) = (world.session(maker).members.me().id.tag, world.session(maker).objects.objects_made());
    let session = liar(world);
    let (holder, by) = (session.members.me().id, session.members.me().slot);
    let version = Version { lock_seq: 3, claim_seq: 50, authority: holder, tick: session.cx.tick + 1 };
    let record =
        Record { version, player: by, held: false, owner_claim: None, home: None, gone: false, kind: 0 };
    for counter in made + 1..=made + 20 {
        let id = ObjectId::new(tag, counter);
        let place = session.work().place_of(id);
        session.objects.set_record(place, Some(change(record)));
        lie(session, id, change(record), 777);
    }
}

#[test]
fn object_ids_taken_in_advance_do_not_block_creation() {
    for policy in
        [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader, skippers()]
    {
        for way in 0..4 {
            let mut world = world(4, policy.clone());
            world.session(0).spawn_owned(player(0), &cube(1)).unwrap();
            world.run_ms(500);
            squat(&mut world, 0, |record| match way {
                0 => record,
                1 => Record { gone: true, ..record },
                2 => Record { home: Some(player(3)), ..record },
                _ => Record { home: Some(player(3)), gone: true, ..record },
            });
            world.run_ms(3_000);
            let tag = world.session(0).members.me().id.tag;
            for id in (2..=21).map(|counter| ObjectId::new(tag, counter)) {
                let store = &world.session(0).objects;
                let said = store.find(id).and_then(|place| store[place].record);
                assert_eq!(said, None, "{policy:?}, way {way}: the creator knows which objects it created");
            }
            let made: Vec<ObjectId> =
                (0..30).map(|place| world.session(0).spawn_owned(player(0), &cube(place)).unwrap()).collect();
            world.run_ms(3_000);
            for index in 0..3 {
                for (place, id) in made.iter().enumerate() {
                    let seen = world.session(index).get(*id);
                    assert_eq!(seen, Some(cube(place as u32)), "{policy:?}, way {way}: {place} at {index}");
                    assert_eq!(world.session(index).authority(*id), Some(player(0)));
                }
            }
            world.expect_peace();
        }
    }
}

#[test]
fn object_ids_taken_at_third_peer_lose_to_creator() {
    for policy in [AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader, skippers()] {
        for gone in [false, true] {
            let mut world = world(4, policy.clone());
            world.run_ms(500);
            // Only peer 2 receives the false records.
            (0..2).for_each(|to| world.set_cut(3, to, true));
            squat(&mut world, 0, |record| Record { home: Some(player(3)), gone, ..record });
            world.run_ms(1_000);
            let made: Vec<ObjectId> =
                (0..10).map(|place| world.session(0).spawn_owned(player(0), &cube(place)).unwrap()).collect();
            world.run_ms(1_000);
            (0..2).for_each(|to| world.set_cut(3, to, false));
            world.run_ms(3_000);
            for index in 0..3 {
                for (place, id) in made.iter().enumerate() {
                    let seen = world.session(index).get(*id);
                    assert_eq!(seen, Some(cube(place as u32)), "{policy:?}, gone {gone}: {place} at {index}");
                    assert_eq!(world.session(index).owner(*id), Some(player(0)));
                }
            }
            world.expect_peace();
        }
    }
}
