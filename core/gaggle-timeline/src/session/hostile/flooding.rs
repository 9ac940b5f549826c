//! Floods: too many packets, messages, requests and forwards.

use gaggle_kit::Frame;
use gaggle_testkit::Packet;

use super::{Cluster, LATENCY, Mail, peer, time_of};
use crate::announce;
use crate::event::{PeerFault, SessionEvent};
use crate::membership::Message;
use crate::relay::{NEEDS_MAX, Other};
use crate::roster::{Incarnation, StreamId};
use crate::transfer;

/// Sends each of these to all honest peers, `times` times per tick.
fn pour(times: usize, what: impl Fn(&super::Session<u8>) -> Vec<u8> + 'static) -> super::Tamper {
    Box::new(move |session, mut mail| {
        let bytes = what(session);
        for to in 0..2 {
            mail.extend((0..times).map(|_| Mail { to, reliable: true, bytes: bytes.clone() }));
        }
        mail
    })
}

#[test]
fn packet_flood_is_dropped_and_counted() {
    let mut table = Cluster::of(3, 2);
    table.tamper = Box::new(|_, mut mail| {
        let packets: Vec<Mail> = mail.iter().filter(|mail| !mail.reliable).cloned().collect();
        (0..400).for_each(|_| mail.extend(packets.iter().cloned()));
        mail
    });
    table.run(60).expect_agreement(&[0, 1, 2], 600).expect_no_fault(&[0, 1]);
    for honest in 0..2 {
        let ignored = table.session(honest).stats().packets_rate_limited;
        assert!(ignored > 10_000, "only {ignored} packets were ignored");
    }
    assert_eq!(table.stalled[..2], [0, 0]);
}

#[test]
fn message_flood_is_fault() {
    let message = |message: &Message| {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        bytes
    };
    let torrents: [fn(&super::Session<u8>) -> Message; 2] = [
        |_| Message::AskPath,
        |session| Message::PeerStatus {
            tag: session.peers.iter().next().map_or(0, |remote| remote.hello.told().tag()),
            status: session.membership.status().expect("it plays"),
        },
    ];
    for torrent in torrents {
        let mut table = Cluster::of(3, 2);
        table.run(60);
        table.tamper = pour(50, move |session| message(&torrent(session)));
        table.run(90).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::RateLimitExceeded));
        table.run(60).expect_agreement(&[0, 1], 300);
    }
}

#[test]
fn forwarding_does_not_bypass_rate_limit() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = pour(50, |_| {
        let mut inner = Vec::new();
        Message::AskPath.encode(&mut inner);
        let mut bytes = Vec::new();
        transfer::Message::Forward { to: peer(1), bytes: &inner }.encode(&mut bytes);
        bytes
    });
    table.run(120);
    // Peer 0 disconnects peer 1 for the flood, and does not blame the peer that forwards it.
    table.expect_fault(&[0], |fault| matches!(fault, PeerFault::RateLimitExceeded));
    assert!(table.faults(1).iter().all(|(blamed, _)| *blamed == 2), "{:?}", table.faults(1));
    table.run(60).expect_agreement(&[0, 1], 300);
}

#[test]
fn repeated_snapshot_requests_cost_little() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = Box::new(|_, mut mail| {
        let mut bytes = Vec::new();
        Message::AskSnapshot.encode(&mut bytes);
        mail.extend((0..2).map(|to| Mail { to, reliable: true, bytes: bytes.clone() }));
        mail
    });
    table.run(30).expect_agreement(&[0, 1, 2], 600).expect_no_fault(&[0, 1]);
    for honest in 0..2 {
        let stats = table.session(honest).stats();
        assert!(stats.snapshots_sent <= 30, "{} snapshots were sent", stats.snapshots_sent);
        assert!(stats.requests_rate_limited > 500, "{} requests were declined", stats.requests_rate_limited);
    }
}

#[test]
fn repeated_backfill_request_is_answered_once_per_tick() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = Box::new(|session, mut mail| {
        let leader = session.roster()[0].stream;
        let from = session.confirmed_frame().saturating_sub(4);
        let mut bytes = Vec::new();
        Other::BackfillRequest(vec![(leader, from); NEEDS_MAX]).encode(&mut bytes);
        mail.extend((0..20).map(|_| Mail { to: 1, reliable: false, bytes: bytes.clone() }));
        mail
    });
    table.run(60);
    let is_answer = |packet: &&Packet<Mail>| {
        (packet.from, packet.to) == (1, 2)
            && !packet.message.reliable
            && matches!(Other::decode(&packet.message.bytes), Ok(Other::Backfill(_)))
    };
    let answers = table.net.iter().filter(is_answer).count() as u64;
    assert!(
        (1..=LATENCY).contains(&answers),
        "{answers} answers are under way, 160 questions come in every tick"
    );
    table.expect_agreement(&[0, 1, 2], 300);
}

/// Bytes of forwards from 0 to 1 during this many ticks.
fn forwarded_bytes(table: &mut Cluster, ticks: u64) -> usize {
    let mut bytes = 0;
    for _ in 0..ticks {
        table.run(1);
        let at = time_of(table.ticks + LATENCY);
        let new = table.net.iter().filter(|packet| (packet.at, packet.from, packet.to) == (at, 0, 1));
        let new = new.map(|packet| &packet.message);
        let is_forward = |mail: &Mail| {
            let message = transfer::Message::decode(&mail.bytes);
            mail.reliable && matches!(message, Ok(transfer::Message::ForwardFrom { .. }))
        };
        bytes += new.filter(|mail| is_forward(mail)).map(|mail| mail.bytes.len()).sum::<usize>();
    }
    bytes
}

/// Three large forwards to 1 per tick, too few for a flood.
fn large_forwards() -> super::Tamper {
    Box::new(|_, mut mail| {
        for _ in 0..3 {
            let mut bytes = Vec::new();
            transfer::Message::Forward { to: peer(1), bytes: &[0; 200_000] }.encode(&mut bytes);
            mail.push(Mail { to: 0, reliable: true, bytes });
        }
        mail
    })
}

#[test]
fn large_forwards_are_rate_limited() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = large_forwards();
    // 36 MB per second are sent.
    let passed_on = forwarded_bytes(&mut table, 180);
    assert!((200_000..2 << 20).contains(&passed_on), "{passed_on} bytes");
    assert!(table.session(0).stats().forwards_rejected > 400);
    table.expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1]);
}

#[test]
fn forwards_of_non_members_are_dropped() {
    let mut table = Cluster::of(2, 2);
    table.run(60).join(&[0]);
    // The peer never begins a stream, so no peer admits it.
    let mut forwards = large_forwards();
    table.tamper = Box::new(move |session, mut mail| {
        mail.retain(|mail| mail.reliable);
        forwards(session, mail)
    });
    assert_eq!(forwarded_bytes(&mut table, 120), 0);
    table.expect_agreement(&[0, 1], 300);
}

#[test]
fn backfill_requests_for_unknown_streams_are_dropped() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    let mut number = 0;
    table.tamper = Box::new(move |session, mut mail| {
        for _ in 0..60 {
            let needs = (0..NEEDS_MAX).map(|_| {
                number += 1;
                (StreamId { peer: peer(1), incarnation: Incarnation(number) }, session.confirmed_frame())
            });
            let mut bytes = Vec::new();
            Other::BackfillRequest(needs.collect()).encode(&mut bytes);
            mail.push(Mail { to: 0, reliable: false, bytes });
        }
        mail
    });
    table.expect_agreement(&[0, 1, 2], 120);
    let remembered = table.session(0).gossip.given_count();
    assert!(remembered <= 3, "{remembered} are remembered in one tick");
}

#[test]
fn endless_recovery_is_reported_at_most_once_per_backoff() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = Box::new(|_, mut mail| {
        let mut bytes = Vec::new();
        announce::Message::Recovered { through: Frame::new(1 << 30) }.encode(&mut bytes);
        mail.extend((0..4).map(|nth| Mail { to: nth % 2, reliable: true, bytes: bytes.clone() }));
        mail
    });
    table.run(10).expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1]);
    let recovered = table.events[0].iter().filter_map(|event| match event {
        SessionEvent::DesyncRecovered { frame, .. } => Some(*frame),
        _ => None,
    });
    let frames: Vec<Frame> = recovered.collect();
    assert!((1..=10).contains(&frames.len()), "told {} times in five seconds", frames.len());
    assert!(frames.iter().all(|frame| *frame < Frame::new(1_000)), "no peer has been there: {frames:?}");
}
