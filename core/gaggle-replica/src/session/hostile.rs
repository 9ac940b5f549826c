//! Peers that break the rules: a liar is a real session with altered state, which sends false
//! content in well-formed packets. Honest peers may lose their link to it, and must stay otherwise
//! unharmed.

#[path = "../../tests/stories/world/mod.rs"]
pub(super) mod world;

mod side_streams;
mod spectator;

use gaggle_kit::{Micros, PeerId, Prng, SlotSet, State};

use super::PeerIdentity;
use crate::event::PeerFault;
use crate::message::{Message, SignalMessage, ValueMessage};
use crate::{
    AuthorityPolicy, EventOptions, JoinMode, Kind, Kinds, MemberId, MemberTag, ObjectId, RejectReason,
    ReplicaConfig, Session, SessionEvent, Target, ValueWriter,
};
use world::{World, peer, player};

#[derive(Debug, Clone, PartialEq, Kind)]
pub(super) struct Cube {
    #[kind(range = 0..=1_000)]
    pub(super) place: u32,
}

#[derive(Debug, Clone, PartialEq, State)]
struct Bang(u8);

#[derive(Debug, Clone, PartialEq, State)]
struct Name(u8);

#[derive(Debug, Clone, PartialEq, State)]
struct Score(u8);

pub(super) fn cube(place: u32) -> Cube {
    Cube { place }
}

pub(super) fn kinds() -> Kinds {
    Kinds::new()
        .with::<Cube>()
        .with_event::<Bang>("bang", EventOptions::DIRECT)
        .with_value::<Name>("name", ValueWriter::Player)
        .with_value::<Score>("score", ValueWriter::Leader)
}

pub(super) fn world(count: usize, policy: AuthorityPolicy) -> World {
    World::of(count, 41, ReplicaConfig { authority: policy, ..ReplicaConfig::default() }, kinds())
}

/// The last peer; all others are honest.
pub(super) fn liar(world: &mut World) -> &mut Session {
    let last = world.machines.len() - 1;
    world.session(last)
}

fn faults(world: &World, index: usize) -> Vec<PeerFault> {
    let fault = |event: &SessionEvent| match event {
        SessionEvent::PeerFault { fault, .. } => Some(*fault),
        _ => None,
    };
    world.machines[index].events.iter().filter_map(fault).collect()
}

/// Requires that the honest peers know the same objects and stay in agreement.
fn expect_the_honest_agree(world: &mut World, ids: &[ObjectId]) {
    let honest = world.machines.len() - 1;
    for id in ids {
        let first = (world.session(0).get::<Cube>(*id), world.session(0).authority(*id));
        for index in 1..honest {
            let session = world.session(index);
            assert_eq!((session.get::<Cube>(*id), session.authority(*id)), first, "{id:?} at {index}");
        }
    }
}

#[test]
fn claim_count_jump_locks_object_only_briefly() {
    let mut world = world(4, AuthorityPolicy::Anyone);
    let ids: Vec<ObjectId> = (0..2).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(1_000);
    // One count far beyond any possible one, one just at the limit.
    let limit = world.session(0).view().claims_max();
    for (id, seq) in ids.iter().zip([u32::MAX, limit]) {
        let session = liar(&mut world);
        session.claim(*id).unwrap();
        let place = session.objects.find(*id).unwrap();
        let mut record = session.objects[place].record.unwrap();
        record.version.claim_seq = seq;
        session.objects.set_record(place, Some(record));
        session.objects.change_stamp(place);
        session.set(*id, &cube(500)).unwrap();
    }
    world.run_ms(500);
    assert_eq!(world.session(1).get(ids[0]), Some(cube(0)), "rejected until the count is possible");
    world.session(1).claim(ids[0]).unwrap();
    world.session(1).claim(ids[1]).unwrap();
    world.session(1).set(ids[1], &cube(7)).unwrap();
    world.run_ms(1_000);
    expect_the_honest_agree(&mut world, &ids);
    assert_eq!(world.session(2).get(ids[1]), Some(cube(7)));
    // Without the liar the group goes on as before.
    world.kill(3);
    world.run_ms(2_000);
    expect_the_honest_agree(&mut world, &ids);
}

#[test]
fn object_flood_ends_link_of_flooder_only() {
    let config = ReplicaConfig {
        authority: AuthorityPolicy::Anyone,
        objects_per_peer_max: 500,
        bytes_per_second: 1_000_000,
        ..ReplicaConfig::default()
    };
    let mut world = World::of(3, 5, config, kinds());
    let id = world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(300);
    for place in 0..800 {
        liar(&mut world).spawn(&cube(place)).unwrap();
    }
    world.run_ms(2_000);
    for index in 0..2 {
        assert_eq!(faults(&world, index), [PeerFault::TooManyObjects { max: 500 }], "at {index}");
        assert!(!world.is_linked(index, 2) && world.session(index).objects.len() <= 502);
    }
    world.session(1).claim(id).unwrap();
    world.run_ms(500);
    assert_eq!(world.session(0).authority(id), Some(player(1)));
    // Its objects are removed with it, and a restart gives it no more room.
    world.run_ms(2_000);
    for _ in 0..3 {
        for index in 0..2 {
            assert_eq!(world.session(index).iter::<Cube>().count(), 1, "at {index}");
            assert!(world.session(index).objects.len() <= 502);
            world.link(2, index);
        }
        world.run_ms(2_000);
    }
    assert_eq!(faults(&world, 0).len(), 4);
}

#[test]
fn full_object_table_is_no_fault_and_resumes_with_space() {
    let config = ReplicaConfig {
        authority: AuthorityPolicy::Anyone,
        objects_max: 100,
        tombstone_ttl: Micros::from_secs(60),
        ..ReplicaConfig::default()
    };
    let mut world = World::of(2, 5, config, kinds());
    let mine: Vec<ObjectId> = (0..60).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(50);
    let theirs: Vec<ObjectId> =
        (0..60).filter_map(|place| world.session(1).spawn(&cube(place)).ok()).collect();
    assert!(theirs.len() >= 40);
    world.run_ms(2_000);
    world.expect_peace();
    assert!(world.session(0).objects.len() <= 160 && world.session(1).objects.len() <= 160);
    for id in &mine[..30] {
        world.session(0).despawn(*id).unwrap();
    }
    world.run_ms(180_000);
    assert!(theirs.iter().all(|id| world.session(0).get::<Cube>(*id).is_some()), "space was freed");
}

#[test]
fn peer_that_never_acknowledges_costs_bounded_memory() {
    let mut world = world(2, AuthorityPolicy::Leader);
    let ids: Vec<ObjectId> = (0..100).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(500);
    world.set_cut(1, 0, true);
    let mut number = 0;
    world.play(Micros::from_secs(60), |session, index, _| {
        if index == 0 {
            number += 1;
            for id in &ids {
                session.set(*id, &cube(number % 1_000)).unwrap();
            }
        }
    });
    let (packets, records) = world.session(0).peers[0].out.kept();
    assert!(packets <= 1_000 && records <= 120_000, "{packets} packets with {records} records");
    assert!(world.session(0).cx.messages.is_empty());
    world.set_cut(1, 0, false);
    world.run_ms(2_000);
    assert_eq!(world.session(1).get(ids[3]), Some(cube(number % 1_000)), "it has the last value sent");
    world.expect_peace();
}

#[test]
fn peer_that_acknowledges_ever_later_costs_bounded_memory() {
    let mut world = world(2, AuthorityPolicy::Leader);
    let ids: Vec<ObjectId> = (0..20).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
    world.run_ms(500);
    // It acknowledges every packet, but ever later: after three seconds with two seconds of delay,
    // after thirty with twenty.
    let mut acks: Vec<[u8; 2]> = Vec::new();
    world.tamper = Box::new(move |from, _, bytes| {
        if from == 1 && bytes.len() == 18 {
            acks.push([bytes[9], bytes[10]]);
            bytes[9..11].copy_from_slice(&acks[acks.len() * 2 / 3]);
            bytes[11] = 0;
            bytes[14..].fill(0);
        }
    });
    let mut number = 0;
    world.play(Micros::from_secs(120), |session, index, _| {
        if index == 0 {
            number += 1;
            ids.iter().for_each(|id| session.set(*id, &cube(number % 1_000)).unwrap());
        }
    });
    let (packets, records) = world.session(0).peers[0].out.kept();
    assert!(packets <= 300, "{packets} packets with {records} records");
    world.expect_peace();
}

#[test]
fn endless_identity_requests_end_link() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(200);
    let now = world.now;
    let mut bytes = world.session(1).hello_to(peer(0));
    bytes[15..19].fill(0);
    for _ in 0..100 {
        world.session(0).handle_message(now, peer(1), &bytes);
    }
    world.collect(0);
    assert_eq!(faults(&world, 0), [PeerFault::TooManyRestarts { max: 32 }]);
}

#[test]
fn hidden_object_is_not_revealed_by_requests() {
    let mut world = world(3, AuthorityPolicy::Leader);
    let id = world.session(0).spawn(&cube(5)).unwrap();
    let mut asked = false;
    let told = std::rc::Rc::new(std::cell::Cell::new(0));
    for _ in 0..200 {
        world.now += Micros::from_millis(10);
        world.deliver();
        let now = world.now;
        for index in 0..2 {
            world.session(index).tick_with(
                now,
                Some(&mut |receiver: &crate::Receiver, _: &crate::ObjectRef<'_>| {
                    (receiver.peer != peer(2)).then_some(crate::Relevance::ONE)
                }),
            );
        }
        liar(&mut world).tick(now);
        (0..3).for_each(|index| world.collect(index));
        if now > Micros::from_millis(1_500) && !asked {
            asked = true;
            assert_eq!(world.session(1).get(id), Some(cube(5)));
            say_to(&mut world, 0, &Message::Ask(id));
            say_to(&mut world, 1, &Message::Ask(id));
            // Sending an older record of the object does not make it visible either.
            let session = liar(&mut world);
            let place = session.work().place_of(id);
            let holder = MemberId { join_order: 9, tag: MemberTag(9) };
            let version = crate::version::Version { lock_seq: 0, claim_seq: 0, authority: holder, tick: 1 };
            let record = crate::version::Record {
                version,
                player: player(2),
                held: false,
                owner_claim: None,
                home: None,
                gone: false,
                kind: 0,
            };
            session.objects.set_record(place, Some(record));
            for link in 0..session.peers.len() {
                session.work().set_owed(link, place, true);
                session.work().refresh_link(link, place);
            }
        }
        told.set(world.session(0).stats().corrections_sent);
    }
    assert!(asked);
    let heard = |session: &Session| {
        let of = |link: &crate::peers::Peer| {
            (0..link.inbound.handles())
                .filter(|&handle| link.inbound.at(handle as u16).is_some_and(|incoming| incoming.is_open()))
                .count()
        };
        session.peers.iter().map(of).sum::<usize>()
    };
    assert_eq!(heard(liar(&mut world)), 0, "answered {} times", told.get());
}

#[test]
fn ack_of_packet_never_sent_causes_fault() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.session(0).spawn(&cube(1)).unwrap();
    world.run_ms(300);
    world.tamper = Box::new(|from, _, bytes| {
        if from == 1 && bytes.len() > 14 {
            let ack = u16::from_le_bytes([bytes[9], bytes[10]]).wrapping_add(500);
            bytes[9..11].copy_from_slice(&ack.to_le_bytes());
        }
    });
    world.run_ms(2_000);
    assert!(matches!(faults(&world, 0)[..], [PeerFault::AckBeyondSent { .. }]), "{:?}", faults(&world, 0));
}

#[test]
fn altered_bytes_at_most_end_link() {
    let mut random = Prng::new(12);
    let mut harmed = 0;
    for round in 0..60 {
        let mut world = world(3, AuthorityPolicy::Anyone);
        world.conditions = world::rough(60, 20);
        let ids: Vec<ObjectId> = (0..20).map(|place| world.session(0).spawn(&cube(place)).unwrap()).collect();
        world.run_ms(600);
        let mut dice = Prng::new(round);
        world.tamper = Box::new(move |from, _, bytes| {
            if from == 2 && dice.chance(1, 4) && !bytes.is_empty() {
                for _ in 0..=dice.below(3) {
                    let at = dice.below(bytes.len() as u32) as usize;
                    match dice.below(3) {
                        0 => bytes[at] ^= 1 << dice.below(8),
                        1 => bytes.truncate(at),
                        _ => bytes.insert(at, dice.next_u32() as u8),
                    }
                    if bytes.is_empty() {
                        break;
                    }
                }
            }
        });
        world.play(Micros::from_secs(2), |session, index, _| {
            let id = ids[random.below(20) as usize];
            if session.claim(id).is_ok() {
                session.set(id, &cube(index as u32)).ok();
            }
        });
        harmed += faults(&world, 0).len() + faults(&world, 1).len();
        world.kill(2);
        world.run_ms(3_000);
        expect_the_honest_agree(&mut world, &ids);
    }
    assert!(harmed > 40, "only {harmed} links ended");
}

#[test]
fn random_bytes_never_panic() {
    let mut random = Prng::new(9);
    for round in 0..3_000 {
        let mut session =
            Session::new(ReplicaConfig::default(), kinds(), player(0), JoinMode::Create, round).unwrap();
        session.handle_connected(Micros::ZERO, peer(1));
        for _ in 0..4 {
            let bytes: Vec<u8> = (0..random.below(60)).map(|_| random.next_u32() as u8).collect();
            session.handle_packet(Micros::from_millis(1), peer(1), &bytes);
            session.handle_message(Micros::from_millis(1), peer(1), &bytes);
        }
    }
}

/// Gives the first peer a message from the last one.
fn say(world: &mut World, message: &Message<'_>) {
    say_to(world, 0, message);
}

fn say_to(world: &mut World, index: usize, message: &Message<'_>) {
    let mut bytes = Vec::new();
    message.encode(&mut bytes);
    let (now, last) = (world.now, world.machines.len() - 1);
    world.session(index).handle_message(now, peer(last), &bytes);
    world.collect(index);
}

fn bang(origin: usize, tag: u32) -> SignalMessage<'static> {
    let origin = player(origin);
    SignalMessage {
        kind: 0,
        to: Target::All,
        origin,
        tag,
        number: 0,
        tick: 0,
        objects: Vec::new(),
        bytes: &[1],
    }
}

#[test]
fn hello_of_false_identity_is_rejected() {
    let mut world = world(1, AuthorityPolicy::Leader);
    world.machines.push(world::Machine::new(2));
    world.grow();
    world.start(1, JoinMode::Join);
    world.session(0).set_identities(&[PeerIdentity::with_slots(peer(1), SlotSet::of(player(7)))]);
    world.link(0, 1);
    world.run_ms(300);
    let refused = SessionEvent::Rejected {
        peer: peer(1),
        reason: RejectReason::SlotMismatch { said: player(1), is: player(7) },
    };
    assert_eq!(world.count_events(0, |event| *event == refused), 1);
    assert_eq!(world.session(0).roster().len(), 1);
}

#[test]
fn slot_of_known_player_is_rejected_for_others() {
    let mut world = world(1, AuthorityPolicy::Leader);
    world.machines.push(world::Machine::new(2));
    world.grow();
    world.start(1, JoinMode::Join);
    world.session(0).set_identities(&[PeerIdentity::with_slots(peer(9), SlotSet::of(player(1)))]);
    world.link(0, 1);
    world.run_ms(300);
    let refused = SessionEvent::Rejected { peer: peer(1), reason: RejectReason::TagTaken };
    assert_eq!(world.count_events(0, |event| *event == refused), 1);
    assert_eq!(world.session(0).roster().len(), 1);
    // The lobby gave the slot to another player meanwhile.
    world.session(0).set_identities(&[PeerIdentity::with_slots(peer(1), SlotSet::of(player(1)))]);
    world.unlink(0, 1);
    world.start(1, JoinMode::Join);
    world.link(0, 1);
    world.run_ms(300);
    assert_eq!(world.session(0).roster().len(), 2);
}

#[test]
fn peer_that_turns_out_to_be_another_is_disconnected() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(300);
    assert_eq!(world.session(0).roster().len(), 2);
    world.session(0).set_identities(&[PeerIdentity::with_slots(peer(1), SlotSet::of(player(1)))]);
    assert_eq!(world.session(0).roster().len(), 2, "the identity is confirmed");
    world.session(0).set_identities(&[PeerIdentity::with_slots(peer(1), SlotSet::of(player(7)))]);
    assert_eq!(world.session(0).roster().len(), 1);
    assert_eq!(world.session(0).poll_disconnect(), Some(peer(1)));
}

#[test]
fn endless_restarts_cause_fault() {
    let mut world = world(2, AuthorityPolicy::Leader);
    world.run_ms(200);
    let peers: Vec<PeerId> = vec![peer(0)];
    for _ in 0..40 {
        let now = world.now;
        liar(&mut world).handle_connected(now, peers[0]);
        world.run_ms(100);
    }
    assert_eq!(faults(&world, 0), [PeerFault::TooManyRestarts { max: 16 }]);
}
