//! Peers that lie about how long they have been here: to lead, to push others down, or so that
//! nobody else can come in. And honest ones whom nobody knows under the number they have, who get
//! another.

use gaggle_kit::{Micros, State};

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

/// One more machine, which is linked to nobody yet.
fn add(world: &mut World, entry: JoinMode) -> usize {
    let index = world.machines.len();
    world.machines.push(Machine::new(index));
    world.grow();
    world.start(index, entry);
    index
}

/// A machine that says it is this member and does not listen to those who know better.
fn add_impostor(world: &mut World, member: MemberId) -> usize {
    let index = add(world, JoinMode::Start(member.join_order));
    become_member(world, index, member);
    world.tamper = Box::new(move |_, to, bytes| deafen(index, to, bytes));
    index
}

/// From the beginning, or after it came in as somebody else.
fn become_member(world: &mut World, index: usize, member: MemberId) {
    let session = world.session(index);
    session.members.roster.remove(session.members.me.id);
    session.members.me.id = member;
    session.members.roster.insert(session.members.me);
}

fn is_hello(bytes: &[u8]) -> bool {
    matches!(Message::decode(bytes), Ok(Message::Hello(_)))
}

/// Takes from a hello that its sender does not know the impostor under its number.
fn deafen(impostor: usize, to: usize, bytes: &mut [u8]) {
    if to == impostor && is_hello(bytes) {
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

/// Who is present, seniors first, as a machine sees it.
fn order(world: &mut World, index: usize) -> Vec<usize> {
    let roster = world.session(index).roster().iter().map(|present| present.slot.index());
    roster.collect()
}

fn expect_order(world: &mut World, machines: &[usize], expected: &[usize]) {
    for &index in machines {
        assert_eq!(order(world, index), expected, "as machine {index} sees it");
    }
}

fn spawn(world: &mut World, index: usize, place: u32) -> ObjectId {
    world.session(index).spawn(&Cube { place }).unwrap()
}

/// All the ways to be somebody new whom those present know to be new.
fn expect_nothing_gained(member: MemberId) {
    for way in 0..3 {
        let mut world = world(3, AuthorityPolicy::Leader);
        let id = spawn(&mut world, 0, 5);
        world.run_ms(5_000);
        let impostor = match way {
            // The lobby knows that it came after all others.
            0 => {
                let impostor = add_impostor(&mut world, member);
                for index in 0..3 {
                    world.session(index).vouch_later_joiner(peer(impostor));
                }
                link_to_all(&mut world, impostor);
                impostor
            }
            // It said that it is new, and then something else.
            1 => {
                let impostor = add(&mut world, JoinMode::Join);
                for index in 0..3 {
                    world.session(index).vouch_later_joiner(peer(impostor));
                }
                world.tamper = Box::new(move |from, to, bytes| {
                    deafen(impostor, to, bytes);
                    if from == impostor && is_hello(bytes) && bytes[19..23] != [255; 4] {
                        bytes[19..23].copy_from_slice(&member.join_order.to_le_bytes());
                    }
                });
                link_to_all(&mut world, impostor);
                impostor
            }
            // It was here before, under the number it was given.
            _ => {
                let impostor = add(&mut world, JoinMode::Join);
                link_to_all(&mut world, impostor);
                world.run_ms(5_000);
                expect_order(&mut world, &[0, 1, 2], &[0, 1, 2, 3]);
                world.kill(impostor);
                world.start(impostor, JoinMode::Start(member.join_order));
                become_member(&mut world, impostor, member);
                world.tamper = Box::new(move |_, to, bytes| deafen(impostor, to, bytes));
                link_to_all(&mut world, impostor);
                impostor
            }
        };
        world.run_ms(3_000);
        expect_order(&mut world, &[0, 1, 2], &[0, 1, 2]);
        if world.session(impostor).is_leader() {
            world.session(impostor).cx.config.authority = AuthorityPolicy::Anyone;
            let _ = world.session(impostor).lock(id);
            let _ = world.session(impostor).set(id, &Cube { place: 999 });
        }
        world.run_ms(2_000);
        for index in 0..3 {
            assert_eq!(world.session(index).get(id), Some(Cube { place: 5 }), "way {way}");
            assert_eq!(world.session(index).authority(id), Some(player(0)));
        }
        // It got no further by asking again.
        let now = world.now;
        for _ in 0..8 {
            world.session(impostor).handle_connected(now, peer(0));
            world.run_ms(200);
        }
        expect_order(&mut world, &[0, 1, 2], &[0, 1, 2]);

        // And whoever comes after all that comes in, behind the others.
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
fn whoever_says_it_was_here_first_leads_nobody() {
    expect_nothing_gained(MemberId { join_order: 0, tag: MemberTag(1) });
}

#[test]
fn whoever_says_it_has_anothers_number_pushes_nobody_down() {
    expect_nothing_gained(MemberId { join_order: 2, tag: MemberTag(1) });
}

#[test]
fn whoever_says_it_has_the_highest_number_keeps_nobody_out() {
    for number in [NUMBER_NONE - 1, NUMBER_NONE - 2, 1 << 20] {
        expect_nothing_gained(MemberId { join_order: number, tag: MemberTag(9) });
    }
}

#[test]
fn insisting_is_a_fault() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(5_000);
    let impostor = add_impostor(&mut world, MemberId { join_order: 0, tag: MemberTag(1) });
    world.session(0).vouch_later_joiner(peer(impostor));
    world.link(impostor, 0);
    for _ in 0..20 {
        if !world.is_linked(0, impostor) {
            break;
        }
        let bytes = world.session(impostor).hello_to(peer(0));
        let now = world.now;
        world.session(0).handle_message(now, peer(impostor), &bytes);
        world.collect(0);
    }
    let insisted = |event: &SessionEvent| {
        matches!(event, SessionEvent::PeerFault { fault: PeerFault::FalseJoinOrder, .. })
    };
    assert_eq!(world.count_events(0, insisted), 1);
    assert!(!world.is_linked(0, impostor));
}

#[test]
fn nobody_goes_by_the_name_of_somebody_who_is_gone() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    let gone = world.session(2).local_member();
    world.kill(2);
    let impostor = add_impostor(&mut world, gone);
    link_to_all(&mut world, impostor);
    world.run_ms(1_000);
    expect_order(&mut world, &[0, 1], &[0, 1]);
}

#[test]
fn a_newcomer_who_meets_a_liar_first_is_let_in_by_the_others() {
    let mut world = world(3, AuthorityPolicy::Leader);
    world.run_ms(5_000);
    // The liar gives numbers, and an age, that cannot be.
    let liar = 2;
    world.tamper = Box::new(move |from, to, bytes| {
        if (from, to) == (liar, 3) && is_hello(bytes) {
            bytes[27..31].copy_from_slice(&(1_u32 << 30).to_le_bytes());
            bytes[31..35].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    });
    let newcomer = add(&mut world, JoinMode::Join);
    world.link(newcomer, liar);
    world.run_ms(200);
    world.link(newcomer, 0);
    world.link(newcomer, 1);
    world.run_ms(3_000);
    expect_order(&mut world, &[0, 1], &[0, 1, 2, newcomer]);
    // It may have parted from the liar, whose numbers led nowhere.
    assert_eq!(order(&mut world, newcomer)[..2], [0, 1]);
    assert!(world.session(newcomer).local_member().join_order < 100);
    let age = world.session(newcomer).session_age();
    assert!(age < Micros::from_secs(60), "the most senior says how old the world is, not {age:?}");
}

#[test]
fn what_a_newcomer_says_about_the_age_of_the_world_lets_nobody_claim_more() {
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
fn announcing_more_than_can_be_hurts_nobodys_sums() {
    let mut world = world(3, AuthorityPolicy::Anyone);
    world.tamper = Box::new(|_, to, bytes| {
        if to == 3 && is_hello(bytes) {
            bytes[39..43].copy_from_slice(&u32::MAX.to_le_bytes());
        }
    });
    let newcomer = add(&mut world, JoinMode::Join);
    link_to_all(&mut world, newcomer);
    world.run_ms(1_000);
    let config = world.session(newcomer).config().clone();
    assert_eq!(world.session(newcomer).sync_progress().expected as usize, 3 * config.objects_per_peer_max);
}

#[test]
fn those_who_come_at_once_through_different_members_agree_who_is_senior() {
    for seed in 0..40_u64 {
        let mut world = world(3, AuthorityPolicy::Leader);
        world.run_ms(5_000);
        let comers: Vec<usize> = (0..4).map(|_| add(&mut world, JoinMode::Join)).collect();
        // Each meets another member first, at about the same time, and everybody else later.
        world.random = gaggle_kit::Prng::new(seed);
        world.conditions.jitter = Micros::from_millis(60);
        for (number, &comer) in comers.iter().enumerate() {
            for index in 0..3 {
                world.session(index).vouch_later_joiner(peer(comer));
            }
            world.link(comer, number % 3);
        }
        world.run_ms(20 + 10 * (seed % 5));
        world.heal();
        world.run_ms(3_000);
        let seen = order(&mut world, 0);
        assert_eq!((seen.len(), &seen[..3]), (7, &[0, 1, 2][..]), "seed {seed}");
        for index in 0..7 {
            assert_eq!(order(&mut world, index), seen, "seed {seed}, as machine {index} sees it");
        }
        world.expect_peace();
    }
}

/// Three machines fall apart. Two come in on the side of two, which counts on; one of those returns
/// on the other side, which does not know of them, and has the number of one of them there.
fn count_on_apart(world: &mut World) -> [usize; 2] {
    world.run_ms(3_000);
    world.split(&[&[0], &[1, 2]]);
    world.run_ms(3_000);
    let comers = [add(world, JoinMode::Join), add(world, JoinMode::Join)];
    for comer in comers {
        world.link(comer, 1);
        world.link(comer, 2);
        world.run_ms(500);
    }
    world.kill(2);
    world.start(2, JoinMode::Join);
    world.link(2, 0);
    world.run_ms(2_000);
    comers
}

#[test]
fn who_came_in_beyond_a_split_gets_a_number_behind_those_who_were_there() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader, AuthorityPolicy::OwnerOrLeader] {
        let mut world = world(3, policy.clone());
        let id = spawn(&mut world, 0, 5);
        let comers = count_on_apart(&mut world);
        let number = world.session(2).local_member().join_order;
        assert_eq!(
            number,
            world.session(comers[0]).local_member().join_order,
            "as one of those over there has"
        );
        let theirs = world.session(2).spawn_owned(player(2), &Cube { place: 7 }).ok();
        world.run_ms(1_000);

        world.heal();
        world.run_ms(6_000);
        let seen = order(&mut world, 0);
        assert_eq!(seen, [0, 1, comers[0], comers[1], 2], "{policy:?}");
        for index in 1..5 {
            assert_eq!(order(&mut world, index), seen, "{policy:?}, as machine {index} sees it");
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
fn who_gets_another_number_tells_what_only_it_knows() {
    let mut world = world(3, AuthorityPolicy::Leader);
    count_on_apart(&mut world);
    // What the lead said last before it died only the one knows that will get another number.
    world.session(0).set_value(player(1), &Score(7)).expect("it leads");
    world.run_ms(500);
    world.kill(0);
    world.run_ms(500);
    world.heal();
    world.run_ms(6_000);
    assert_eq!(world.session(2).stats().rejoins, 1, "it has another number now");
    for index in 1..5 {
        assert_eq!(world.session(index).value(player(1)), Some(Score(7)), "at {index}");
    }
    world.expect_peace();
}

#[test]
fn who_was_here_before_makes_others_give_up_their_numbers_a_few_times_only() {
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
fn nobody_new_makes_others_give_up_their_numbers() {
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
        world.session(index).vouch_later_joiner(peer(liar));
    }
    link_to_all(&mut world, liar);
    world.run_ms(2_000);
    assert_eq!((0..3).map(|index| world.session(index).local_member()).collect::<Vec<_>>(), members);
    assert!(world.session(0).is_leader());
}

/// Messages between the last two peers take so much longer from now on.
fn hold(world: &mut World, delay: Micros) {
    world.net.set_ordered_delay(2, 3, delay);
    world.net.set_ordered_delay(3, 2, delay);
}

/// Two come in again at the same time, and what each said before is still on its way to the other.
#[test]
fn two_who_come_in_again_at_once_do_not_both_take_the_other_for_the_later() {
    for policy in [AuthorityPolicy::Anyone, AuthorityPolicy::Leader] {
        let mut world = world(4, policy.clone());
        world.run_ms(1_000);
        hold(&mut world, Micros::from_secs(5));
        world.link(2, 3);
        world.collect(2);
        world.collect(3);
        for index in [2, 3] {
            let highest = world.session(0).members.highest;
            world.session(index).stand_down(peer(0), highest);
            world.collect(index);
        }
        world.run_ms(4_000);
        assert!(world.session(2).is_member() && world.session(3).is_member());
        hold(&mut world, Micros::ZERO);
        // Long after everybody else knows everybody.
        world.run_ms(4_000);
        let seen = order(&mut world, 0);
        assert_eq!((seen.len(), &seen[..2]), (4, &[0, 1][..]), "{policy:?}");
        expect_order(&mut world, &[1, 2, 3], &seen);
        world.expect_peace();
    }
}

#[test]
fn who_came_in_again_is_not_told_by_the_lobby_who_came_after_it() {
    let mut world = world(4, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    // The machine of the third was there before that of the fourth, but its member was not.
    world.session(2).vouch_later_joiner(peer(3));
    let apart = Micros::from_secs(4);
    hold(&mut world, apart);
    let highest = world.session(0).members.highest;
    world.session(2).stand_down(peer(0), highest);
    world.collect(2);
    world.run_ms(3_500);
    world.session(2).vouch_later_joiner(peer(3));
    hold(&mut world, Micros::ZERO);
    world.run_ms(5_000);
    expect_order(&mut world, &[0, 1, 2, 3], &[0, 1, 3, 2]);
    world.expect_peace();
}

/// Whoever comes in again finds everything on its way that was said to it before, and none of that
/// knows it.
#[test]
fn what_was_said_before_one_came_in_again_is_answered_once() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(1_000);
    let now = world.now;
    let highest = world.session(0).members.highest;
    let stale = world.session(0).hello_to(peer(1));
    world.session(1).stand_down(peer(0), highest);
    (0..10).for_each(|_| world.session(1).handle_message(now, peer(0), &stale));
    let session = world.session(1);
    let mut hellos = 0;
    while let Some(out) = session.poll_transmit() {
        hellos += usize::from(out.reliable && is_hello(out.bytes));
    }
    // That it is nobody, that it was let in, and that to whoever does not know it yet.
    assert!((1..=3).contains(&hellos), "{hellos} hellos");
}
