//! Attacks on identity: a peer claims an earlier place in join order, to lead, to displace others
//! or to block joiners. Also honest members whose join order is not accepted and who get another
//! one.

use gaggle_kit::{Micros, State};

use super::PeerIdentity;
use super::hostile::world::{Machine, World, peer, player};
use crate::event::PeerFault;
use crate::message::{Message, NUMBER_NONE};
use crate::{
    AuthorityPolicy, JoinMode, Kind, Kinds, MemberId, MemberTag, ObjectId, ReplicaConfig, SessionEvent,
    ValueWriter,
};

#[derive(Debug, Clone, PartialEq, Kind)]
struct Cube {
    #[kind(range = 0..=1_000)]
    place: u32,
}

#[derive(Debug, Clone, PartialEq, State)]
struct Score(u32);

fn world(count: usize, policy: AuthorityPolicy) -> World {
    let kinds = Kinds::new().with::<Cube>().with_value::<Score>("score", ValueWriter::Leader);
    World::of(count, 77, ReplicaConfig { authority: policy, ..ReplicaConfig::default() }, kinds)
}

/// Adds a peer that has no links yet.
fn add(world: &mut World, entry: JoinMode) -> usize {
    let index = world.machines.len();
    world.machines.push(Machine::new(index));
    world.grow();
    world.start(index, entry);
    index
}

/// Adds a peer that claims to be this member and ignores what the others answer.
fn add_attacker(world: &mut World, member: MemberId) -> usize {
    let index = add(world, JoinMode::Start(member.join_order));
    become_member(world, index, member);
    world.tamper = Box::new(move |_, to, bytes| deafen(index, to, bytes));
    index
}

/// Makes a peer this member, before the first tick or after it joined again.
fn become_member(world: &mut World, index: usize, member: MemberId) {
    let session = world.session(index);
    let former = session.members.me().id;
    session.members.roster_mut().remove(former);
    session.members.me_mut().id = member;
    let me = session.members.me();
    session.members.roster_mut().insert(me);
}

fn is_hello(bytes: &[u8]) -> bool {
    matches!(Message::decode(bytes), Ok(Message::Hello(_)))
}

/// Clears the flag of a hello by which its sender rejects the attacker's join order.
fn deafen(attacker: usize, to: usize, bytes: &mut [u8]) {
    if to == attacker && is_hello(bytes) {
        bytes[44] &= 3;
    }
}

fn link_to_all(world: &mut World, index: usize) {
    for other in 0..world.machines.len() {
        if other != index && world.machines[other].session.is_some() {
            world.link(index, other);
        }
    }
}

/// Slots of the present members in join order, as one peer sees them.
fn order(world: &mut World, index: usize) -> Vec<usize> {
    let roster = world.session(index).roster().iter().map(|present| present.slot.index());
    roster.collect()
}

fn expect_order(world: &mut World, machines: &[usize], expected: &[usize]) {
    for &index in machines {
        assert_eq!(order(world, index), expected, "seen by peer {index}");
    }
}

fn spawn(world: &mut World, index: usize, place: u32) -> ObjectId {
    world.session(index).spawn(&Cube { place }).unwrap()
}

/// Tries every way by which the present members know that a new member is new.
fn expect_nothing_gained(member: MemberId) {
    for way in 0..3 {
        let mut world = world(3, AuthorityPolicy::Leader);
        let id = spawn(&mut world, 0, 5);
        world.run_ms(5_000);
        let attacker = match way {
            // The lobby reports that it joined after all others.
            0 => {
                let attacker = add_attacker(&mut world, member);
                for index in 0..3 {
                    world.session(index).set_identities(&[PeerIdentity::later_joiner(peer(attacker))]);
                }
                link_to_all(&mut world, attacker);
                attacker
            }
            // It said that it is new, and then claimed a join order.
            1 => {
                let attacker = add(&mut world, JoinMode::Join);
                for index in 0..3 {
                    world.session(index).set_identities(&[PeerIdentity::later_joiner(peer(attacker))]);
                }
                world.tamper = Box::new(move |from, to, bytes| {
                    deafen(attacker, to, bytes);
                    if from == attacker && is_hello(bytes) && bytes[19..23] != [255; 4] {
                        bytes[19..23].copy_from_slice(&member.join_order.to_le_bytes());
                    }
                });
                link_to_all(&mut world, attacker);
                attacker
            }
            // It was a member before, under the join order it was given.
            _ => {
                let attacker = add(&mut world, JoinMode::Join);
                link_to_all(&mut world, attacker);
                world.run_ms(5_000);
                expect_order(&mut world, &[0, 1, 2], &[0, 1, 2, 3]);
                world.kill(attacker);
                world.start(attacker, JoinMode::Start(member.join_order));
                become_member(&mut world, attacker, member);
                world.tamper = Box::new(move |_, to, bytes| deafen(attacker, to, bytes));
                link_to_all(&mut world, attacker);
                attacker
            }
        };
        world.run_ms(3_000);
        expect_order(&mut world, &[0, 1, 2], &[0, 1, 2]);
        if world.session(attacker).is_leader() {
            world.session(attacker).cx.config.authority = AuthorityPolicy::Anyone;
            let _ = world.session(attacker).lock(id);
            let _ = world.session(attacker).set(id, &Cube { place: 999 });
        }
        world.run_ms(2_000);
        for index in 0..3 {
            assert_eq!(world.session(index).get(id), Some(Cube { place: 5 }), "way {way}");
            assert_eq!(world.session(index).authority(id), Some(player(0)));
        }
        // Asking again has no effect.
        let now = world.now;
        for _ in 0..8 {
            world.session(attacker).handle_connected(now, peer(0));
            world.run_ms(200);
        }
        expect_order(&mut world, &[0, 1, 2], &[0, 1, 2]);

        // A later joiner is still admitted, behind the others.
        let last = add(&mut world, JoinMode::Join);
        for index in 0..3 {
            world.link(last, index);
        }
        world.run_ms(2_000);
        expect_order(&mut world, &[0, 1, 2, last], &[0, 1, 2, last]);
        assert!(world.session(last).local_member().join_order < 100);
    }
}

#[test]
fn member_number_first_claimed_by_joiner_never_leads() {
    expect_nothing_gained(MemberId { join_order: 0, tag: MemberTag(1) });
}

#[test]
fn member_number_of_another_claimed_by_joiner_is_rejected() {
    expect_nothing_gained(MemberId { join_order: 2, tag: MemberTag(1) });
}

#[test]
fn member_number_highest_claimed_does_not_block_joiners() {
    for number in [NUMBER_NONE - 1, NUMBER_NONE - 2, 1 << 20] {
        expect_nothing_gained(MemberId { join_order: number, tag: MemberTag(9) });
    }
}

#[test]
fn false_join_order_repeated_causes_fault() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(5_000);
    let attacker = add_attacker(&mut world, MemberId { join_order: 0, tag: MemberTag(1) });
    world.session(0).set_identities(&[PeerIdentity::later_joiner(peer(attacker))]);
    world.link(attacker, 0);
    for _ in 0..20 {
        if !world.is_linked(0, attacker) {
            break;
        }
        let bytes = world.session(attacker).hello_to(peer(0));
        let now = world.now;
        world.session(0).handle_message(now, peer(attacker), &bytes);
        world.collect(0);
    }
    let insisted = |event: &SessionEvent| {
        matches!(event, SessionEvent::PeerFault { fault: PeerFault::FalseJoinOrder, .. })
    };
    assert_eq!(world.count_events(0, insisted), 1);
    assert!(!world.is_linked(0, attacker));
}

#[test]
fn identity_of_departed_member_is_rejected() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    let gone = world.session(2).local_member();
    world.kill(2);
    let attacker = add_attacker(&mut world, gone);
    link_to_all(&mut world, attacker);
    world.run_ms(1_000);
    expect_order(&mut world, &[0, 1], &[0, 1]);
}

#[test]
fn joiner_that_meets_liar_first_is_admitted_by_others() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.run_ms(5_000);
    // The liar sends an impossible join order and age.
    let liar = 2;
    world.tamper = Box::new(move |from, to, bytes| {
        if (from, to) == (liar, 3) && is_hello(bytes) {
            bytes[27..31].copy_from_slice(&(1_u32 << 30).to_le_bytes());
            bytes[31..35].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    });
    let joiner = add(&mut world, JoinMode::Join);
    world.link(joiner, liar);
    world.run_ms(200);
    world.link(joiner, 0);
    world.link(joiner, 1);
    world.run_ms(3_000);
    expect_order(&mut world, &[0, 1], &[0, 1, 2, joiner]);
    // The joiner may have disconnected the liar, whose join order was impossible.
    assert_eq!(order(&mut world, joiner)[..2], [0, 1]);
    assert!(world.session(joiner).local_member().join_order < 100);
    let age = world.session(joiner).session_age();
    assert!(age < Micros::from_secs(60), "the first in join order gives the session's age, not {age:?}");
}

#[test]
fn age_from_joiner_does_not_raise_claim_limit() {
    let mut world = world(2, AuthorityPolicy::Anyone);
    world.run_ms(1_000);
    world.tamper = Box::new(|from, _, bytes| {
        if from == 2 && is_hello(bytes) {
            bytes[31..35].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    });
    let before = world.session(0).view().claims_max();
    let liar = add(&mut world, JoinMode::Join);
    link_to_all(&mut world, liar);
    world.run_ms(1_000);
    expect_order(&mut world, &[0, 1, liar], &[0, 1, liar]);
    assert!(world.session(0).view().claims_max() < before + 1_000);
}

#[test]
fn object_count_announced_too_high_is_bounded() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    world.tamper = Box::new(|_, to, bytes| {
        if to == 3 && is_hello(bytes) {
            bytes[39..43].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    });
    let joiner = add(&mut world, JoinMode::Join);
    link_to_all(&mut world, joiner);
    world.run_ms(1_000);
    let config = world.session(joiner).config().clone();
    assert_eq!(world.session(joiner).sync_progress().expected as usize, 3 * config.objects_per_peer_max);
}

#[test]
fn joiners_through_different_members_agree_on_join_order() {
    for seed in 0..40_u64 {
        let mut world = world(3, AuthorityPolicy::Leader);
        world.run_ms(5_000);
        let joiners: Vec<usize> = (0..4).map(|_| add(&mut world, JoinMode::Join)).collect();
        // Each joiner links to another member first, at about the same time, then to all others.
        world.random = gaggle_kit::Prng::new(seed);
        world.conditions.jitter = Micros::from_millis(60);
        for (number, &joiner) in joiners.iter().enumerate() {
            for index in 0..3 {
                world.session(index).set_identities(&[PeerIdentity::later_joiner(peer(joiner))]);
            }
            world.link(joiner, number % 3);
        }
        world.run_ms(20 + 10 * (seed % 5));
        world.heal();
        world.run_ms(3_000);
        let seen = order(&mut world, 0);
        assert_eq!((seen.len(), &seen[..3]), (7, &[0, 1, 2][..]), "seed {seed}");
        for index in 0..7 {
            assert_eq!(order(&mut world, index), seen, "seed {seed}, seen by peer {index}");
        }
        world.expect_peace();
    }
}

/// Partitions three peers. Two join on the side of two peers, which assigns further join orders. A
/// peer of that side returns on the other side, which gives it the join order of one of the
/// joiners.
fn count_on_apart(world: &mut World) -> [usize; 2] {
    world.run_ms(3_000);
    world.split(&[&[0], &[1, 2]]);
    world.run_ms(3_000);
    let joiners = [add(world, JoinMode::Join), add(world, JoinMode::Join)];
    for joiner in joiners {
        world.link(joiner, 1);
        world.link(joiner, 2);
        world.run_ms(500);
    }
    world.kill(2);
    world.start(2, JoinMode::Join);
    world.link(2, 0);
    world.run_ms(2_000);
    joiners
}

#[test]
fn member_joined_in_partition_gets_number_behind_others() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(3, policy.clone());
        let id = spawn(&mut world, 0, 5);
        let joiners = count_on_apart(&mut world);
        let number = world.session(2).local_member().join_order;
        assert_eq!(
            number,
            world.session(joiners[0]).local_member().join_order,
            "the same number as a joiner of the other side"
        );
        let theirs = world.session(2).spawn_owned(player(2), &Cube { place: 7 }).ok();
        world.run_ms(1_000);

        world.heal();
        world.run_ms(6_000);
        let seen = order(&mut world, 0);
        assert_eq!(seen, [0, 1, joiners[0], joiners[1], 2], "{policy:?}");
        for index in 1..5 {
            assert_eq!(order(&mut world, index), seen, "{policy:?}, seen by peer {index}");
            assert!(world.session(index).get::<Cube>(id).is_some());
            if let Some(theirs) = theirs {
                assert_eq!(world.session(index).get(theirs), Some(Cube { place: 7 }), "{policy:?}");
                assert_eq!(world.session(index).owner(theirs), Some(player(2)));
            }
        }
        world.expect_peace();
    }
}

#[test]
fn renumbered_member_passes_on_value_only_it_has() {
    let mut world = world(3, AuthorityPolicy::Leader);
    count_on_apart(&mut world);
    // Only the member that will be renumbered receives the leader's last value.
    world.session(0).set_value(player(1), &Score(7)).expect("peer 0 leads");
    world.run_ms(500);
    world.kill(0);
    world.run_ms(500);
    world.heal();
    world.run_ms(6_000);
    assert_eq!(world.session(2).stats().rejoins, 1, "the member was renumbered once");
    for index in 1..5 {
        assert_eq!(world.session(index).value(player(1)), Some(Score(7)), "at {index}");
    }
    world.expect_peace();
}

#[test]
fn renumbering_by_known_member_is_limited() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    let last = add(&mut world, JoinMode::Join);
    link_to_all(&mut world, last);
    world.run_ms(1_000);
    let now = world.now;
    for _ in 0..30 {
        let mut bytes = world.session(1).hello_to(peer(last));
        bytes[44] |= 4;
        world.session(last).handle_message(now, peer(1), &bytes);
        world.collect(last);
        world.run_ms(500);
    }
    assert_eq!(world.session(last).stats().rejoins, 3);
    expect_order(&mut world, &[0, 1, last], &[0, 1, last]);
    world.expect_peace();
}

#[test]
fn renumbering_by_joiner_is_ignored() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    let members: Vec<MemberId> = (0..3).map(|index| world.session(index).local_member()).collect();
    world.tamper = Box::new(|from, _, bytes| {
        if from == 3 && is_hello(bytes) {
            bytes[44] |= 4;
        }
    });
    let liar = add(&mut world, JoinMode::Join);
    for index in 0..3 {
        world.session(index).set_identities(&[PeerIdentity::later_joiner(peer(liar))]);
    }
    link_to_all(&mut world, liar);
    world.run_ms(2_000);
    assert_eq!((0..3).map(|index| world.session(index).local_member()).collect::<Vec<_>>(), members);
    assert!(world.session(0).is_leader());
}

/// Messages between the last two peers take this much longer from now on.
fn hold(world: &mut World, delay: Micros) {
    world.net.set_ordered_delay(2, 3, delay);
    world.net.set_ordered_delay(3, 2, delay);
}

/// Two members join again at once while their earlier messages to each other are on their way.
#[test]
fn two_members_rejoining_at_once_agree_on_join_order() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader] {
        let mut world = world(4, policy.clone());
        world.run_ms(1_000);
        hold(&mut world, Micros::from_secs(5));
        world.link(2, 3);
        world.collect(2);
        world.collect(3);
        for index in [2, 3] {
            let highest = world.session(0).members.highest();
            world.session(index).stand_down(peer(0), highest);
            world.collect(index);
        }
        world.run_ms(4_000);
        assert!(world.session(2).is_member() && world.session(3).is_member());
        hold(&mut world, Micros::ZERO);
        // Long after all other peers have met.
        world.run_ms(4_000);
        let seen = order(&mut world, 0);
        assert_eq!((seen.len(), &seen[..2]), (4, &[0, 1][..]), "{policy:?}");
        expect_order(&mut world, &[1, 2, 3], &seen);
        world.expect_peace();
    }
}

#[test]
fn member_that_rejoined_is_behind_earlier_lobby_order() {
    let mut world = world(4, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    // The process of the third peer is older than that of the fourth, but its member is not.
    world.session(2).set_identities(&[PeerIdentity::later_joiner(peer(3))]);
    let apart = Micros::from_secs(4);
    hold(&mut world, apart);
    let highest = world.session(0).members.highest();
    world.session(2).stand_down(peer(0), highest);
    world.collect(2);
    world.run_ms(3_500);
    world.session(2).set_identities(&[PeerIdentity::later_joiner(peer(3))]);
    hold(&mut world, Micros::ZERO);
    world.run_ms(5_000);
    expect_order(&mut world, &[0, 1, 2, 3], &[0, 1, 3, 2]);
    world.expect_peace();
}

/// After a rejoin, messages sent before it are still on their way, and their senders do not know
/// the new join order.
#[test]
fn stale_hellos_after_rejoin_are_answered_once() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    let now = world.now;
    let highest = world.session(0).members.highest();
    let stale = world.session(0).hello_to(peer(1));
    world.session(1).stand_down(peer(0), highest);
    (0..10).for_each(|_| world.session(1).handle_message(now, peer(0), &stale));
    let session = world.session(1);
    let mut hellos = 0;
    while let Some(out) = session.poll_transmit() {
        hellos += usize::from(out.reliable && is_hello(out.bytes));
    }
    // One without a join order, one with the new one, and one for the peer that does not know it.
    assert!((1..=3).contains(&hellos), "{hellos} hellos");
}
