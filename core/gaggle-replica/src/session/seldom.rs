//! What the worlds of `harness.rs` come to too seldom to be shown there: told one by one.

use std::sync::Arc;

use gaggle_kit::Slot;

use super::harness::{Skippers, Thing};
use super::hostile::world::World;
use crate::ablation::Rule;
use crate::version::{Record, Version};
use crate::{AuthorityPolicy, Kinds, MemberId, MemberTag, ObjectId, ReplicaConfig, RosterMember};

/// Somebody deletes what another holds, tells only a third, and dies; the holder, who has told
/// everybody all there is to tell, would never hear of it.
#[test]
fn without_dead_strays_being_relayed_a_holder_never_hears_that_its_object_is_gone() {
    for without in [None, Some(Rule::DeadStraysAreRelayed)] {
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
        assert!(world.session(0).get::<Thing>(id).is_some(), "it has not heard of it yet");
        world.kill(2);
        world.run_ms(5_000);
        let is_there = [0, 1].map(|index| world.session(index).get::<Thing>(id).is_some());
        assert_eq!(is_there, [without.is_some(), false], "without {without:?}");
        world.expect_peace();
    }
}

/// One in thousands of worlds of seven. Two who may not have deleted the same object, and each has
/// given way to the other, whom it took for the host at the time. Who is the host has never heard
/// of it, and each of the two is here to speak for itself, and has nothing to say.
#[test]
fn without_giving_up_what_one_passes_on_two_who_gave_way_to_each_other_are_never_heard() {
    for without in [None, Some(Rule::WhoeverPassesOnGaveUp)] {
        let config = ReplicaConfig { authority: AuthorityPolicy::Leader, ..ReplicaConfig::default() };
        let mut world = World::of(3, 7, config, Kinds::new().with::<Thing>());
        world.run_ms(500);
        let id = ObjectId::new(MemberTag(77), 1);
        for (index, other, seq) in [(1, 2, 3), (2, 1, 2)] {
            let RosterMember { id: holder, slot: player, .. } = world.session(other).members.me;
            let session = world.session(index);
            let version = Version { lock_seq: 2, claim_seq: seq, authority: holder, tick: 3 };
            let (home, gone) = (Some(Slot::at(0)), true);
            let record = Record { version, player, held: false, owner_claim: None, home, gone, kind: 0 };
            let place = session.work().place_of(id);
            session.objects.set_record(place, Some(record));
            session.work().bury(place);
        }
        for index in 0..3 {
            let session = world.session(index);
            session.cx.ablation.rule = without;
            session.roster_changed();
        }
        world.run_ms(5_000);
        let host = world.session(0).members.me.id;
        for index in 0..3 {
            let session = world.session(index);
            let record = session.objects.find(id).and_then(|place| session.objects[place].record);
            let settled = record.is_some_and(|record| record.version.authority == host);
            assert_eq!(settled, without.is_none(), "without {without:?}: {record:?} at {index}");
        }
        world.expect_peace();
    }
}

/// Once in 60,000 worlds. The heir does not believe what somebody passes on of one it never met,
/// for it knows nothing of the object; then it hears of it from somebody who has a right to it.
#[test]
fn what_was_not_believed_counts_when_the_object_is_known() {
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
    assert_eq!(world.session(0).get::<Thing>(id), None, "nobody rightful made it, as far as it can tell");
    // Who knows both does not get through to who has a right to it, so it is the heir alone who can
    // put one and one together.
    world.set_cut(1, 2, true);
    let session = world.session(2);
    let me = session.members.me;
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
