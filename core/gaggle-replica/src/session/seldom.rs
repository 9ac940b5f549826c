//! Cases that the runs of `harness.rs` reach too rarely, each as its own test.

use std::sync::Arc;

use gaggle_kit::Slot;

use super::harness::{Skippers, Thing};
use super::hostile::world::World;
use crate::ablation::Rule;
use crate::version::{Record, Version};
use crate::{AuthorityPolicy, Kinds, MemberId, MemberTag, ObjectId, ReplicaConfig, RosterMember};

/// A peer deletes another's object, tells only a third peer, and leaves. The authority has nothing
/// left to send and would never learn of the deletion.
#[test]
fn orphan_deletion_not_relayed_never_reaches_authority() {
    for without in [None, Some(Rule::OrphanTombstonesAreRelayed)] {
        let config = ReplicaConfig { authority: AuthorityPolicy::Anyone, ..ReplicaConfig::default() };
        let mut world = World::of(3, 7, config, Kinds::new().with::<Thing>());
        for index in 0..3 {
            world.session(index).cx.ablation.rule = without;
        }
        let id = world.session(0).spawn(&Thing { place: 1.0, value: 2, made: 3 }).unwrap();
        world.run_ms(1_000);
        world.set_cut(2, 0, true);
        world.session(2).despawn(id).unwrap();
        world.run_ms(500);
        assert_eq!(world.session(1).get::<Thing>(id), None);
        assert!(world.session(0).get::<Thing>(id).is_some(), "the deletion has not arrived yet");
        world.kill(2);
        world.run_ms(5_000);
        let is_there = [0, 1].map(|index| world.session(index).get::<Thing>(id).is_some());
        assert_eq!(is_there, [without.is_some(), false], "without {without:?}");
        world.expect_peace();
    }
}

/// One run in thousands with seven peers. Two members without a right to an object deleted it, and
/// each gave way to the other, which it took for the leader. The leader never received the
/// deletion. Both are present, so only each itself may report its record, and neither does.
#[test]
fn two_peers_that_gave_way_to_each_other_settle_by_rule() {
    for without in [None, Some(Rule::ForwardingGivesUp)] {
        let config = ReplicaConfig { authority: AuthorityPolicy::Leader, ..ReplicaConfig::default() };
        let mut world = World::of(3, 7, config, Kinds::new().with::<Thing>());
        world.run_ms(500);
        let id = ObjectId::new(MemberTag(77), 1);
        for (index, other, seq) in [(1, 2, 3), (2, 1, 2)] {
            let RosterMember { id: holder, slot: player, .. } = world.session(other).members.me();
            let session = world.session(index);
            let version = Version { lock_seq: 2, claim_seq: seq, authority: holder, tick: 3 };
            let (home, gone) = (Some(Slot::at(0)), true);
            let record = Record { version, player, held: false, owner_claim: None, home, gone, kind: 0 };
            let place = session.work().place_of(id);
            session.objects.set_record(place, Some(record));
            session.work().keep_tombstone(place);
        }
        for index in 0..3 {
            let session = world.session(index);
            session.cx.ablation.rule = without;
            session.roster_changed();
        }
        world.run_ms(5_000);
        let host = world.session(0).members.me().id;
        for index in 0..3 {
            let session = world.session(index);
            let record = session.objects.find(id).and_then(|place| session.objects[place].record);
            let settled = record.is_some_and(|record| record.version.authority == host);
            assert_eq!(settled, without.is_none(), "without {without:?}: {record:?} at {index}");
        }
        world.expect_peace();
    }
}

/// One run in 60,000. The successor rejects a forwarded record of a member it never met, because it
/// does not know the object. It then learns of the object from a member with a right to it.
#[test]
fn rejected_record_counts_after_object_is_known() {
    let policy = AuthorityPolicy::Custom(Arc::new(Skippers { alone: false }));
    let config = ReplicaConfig { authority: policy, ..ReplicaConfig::default() };
    let mut world = World::of(3, 7, config, Kinds::new().with::<Thing>());
    world.run_ms(500);
    let id = ObjectId::new(MemberTag(77), 1);
    let record = |holder, player, hold, seq| {
        let version = Version { lock_seq: hold, claim_seq: seq, authority: holder, tick: 3 };
        let (held, trust, home, gone) = (false, None, None, false);
        Record { version, player, held, owner_claim: trust, home, gone, kind: 0 }
    };
    let stranger = MemberId { join_order: 9, tag: MemberTag(99) };
    let session = world.session(1);
    let place = session.work().place_of(id);
    session.objects.set_record(place, Some(record(stranger, Slot::at(7), 1, 2)));
    session.roster_changed();
    world.run_ms(300);
    assert_eq!(world.session(0).get::<Thing>(id), None, "no known member with the right created it");
    // The peer with the rejected record cannot reach the member with the right, so only the
    // successor can combine both records.
    world.set_cut(1, 2, true);
    let session = world.session(2);
    let me = session.members.me();
    let place = session.work().place_of(id);
    session.objects.set_record(place, Some(record(me.id, me.slot, 0, 3)));
    session.objects.change_stamp(place);
    session.objects.mark_dirty(place);
    world.run_ms(5_000);
    let seen = [0, 1, 2].map(|index| world.session(index).version(id));
    assert!(seen[0].is_some() && seen.iter().all(|version| *version == seen[0]), "{seen:?}");
    world.set_cut(1, 2, false);
    world.expect_peace();
}
