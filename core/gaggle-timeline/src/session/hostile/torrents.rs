//! Too much of anything.

use super::{LATENCY, Mail, Table, peer};
use crate::event::PeerFault;
use crate::membership::Message;
use crate::relay::{NEEDS_MAX, Other};
use crate::transfer;

/// Says each of these to everybody honest, so often in every tick.
fn pour(times: usize, what: impl Fn(&super::Session<u8>) -> Vec<u8> + 'static) -> super::Tongue {
    Box::new(move |session, mut mail| {
        let bytes = what(session);
        for to in 0..2 {
            mail.extend((0..times).map(|_| Mail { to, reliable: true, bytes: bytes.clone() }));
        }
        mail
    })
}

#[test]
fn a_torrent_of_packets_is_ignored_and_counted() {
    let mut table = Table::of(3, 2);
    table.tongue = Box::new(|_, mut mail| {
        let packets: Vec<Mail> = mail.iter().filter(|mail| !mail.reliable).cloned().collect();
        (0..400).for_each(|_| mail.extend(packets.iter().cloned()));
        mail
    });
    table.run(60).expect_agreement(&[0, 1, 2], 600).expect_no_fault(&[0, 1]);
    for honest in 0..2 {
        let ignored = table.session(honest).stats().packets_ignored;
        assert!(ignored > 10_000, "only {ignored} packets were ignored");
    }
    assert_eq!(table.stalled[..2], [0, 0]);
}

#[test]
fn a_torrent_of_messages_is_a_fault() {
    let message = |message: &Message| {
        let mut bytes = Vec::new();
        message.encode(&mut bytes);
        bytes
    };
    let torrents: [fn(&super::Session<u8>) -> Message; 2] = [
        |_| Message::AskPath,
        |session| Message::Standing {
            tag: session.remotes[0].told.tag(),
            standing: session.membership.standing().expect("it plays"),
        },
    ];
    for torrent in torrents {
        let mut table = Table::of(3, 2);
        table.run(60);
        table.tongue = pour(50, move |session| message(&torrent(session)));
        table.run(90).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::Flood));
        table.run(60).expect_agreement(&[0, 1], 300);
    }
}

#[test]
fn letters_for_others_are_no_way_around_it() {
    let mut table = Table::of(3, 2);
    table.run(60);
    table.tongue = pour(50, |_| {
        let mut inner = Vec::new();
        Message::AskPath.encode(&mut inner);
        let mut bytes = Vec::new();
        transfer::Message::Letter { to: peer(1), bytes: &inner }.encode(&mut bytes);
        bytes
    });
    table.run(120);
    // 1 is poured on through 0, who ends it; nobody takes the messenger for the sender.
    table.expect_fault(&[0], |fault| matches!(fault, PeerFault::Flood));
    assert!(table.faults(1).iter().all(|(blamed, _)| *blamed == 2), "{:?}", table.faults(1));
    table.run(60).expect_agreement(&[0, 1], 300);
}

#[test]
fn asking_for_the_state_again_and_again_costs_little() {
    let mut table = Table::of(3, 2);
    table.run(60);
    table.tongue = Box::new(|_, mut mail| {
        let mut bytes = Vec::new();
        Message::AskSnapshot.encode(&mut bytes);
        mail.extend((0..2).map(|to| Mail { to, reliable: true, bytes: bytes.clone() }));
        mail
    });
    table.run(30).expect_agreement(&[0, 1, 2], 600).expect_no_fault(&[0, 1]);
    for honest in 0..2 {
        let stats = table.session(honest).stats();
        assert!(stats.states_given <= 30, "{} states were given", stats.states_given);
        assert!(stats.asks_ignored > 500, "{} wishes were declined", stats.asks_ignored);
    }
}

#[test]
fn whoever_asks_for_the_same_again_and_again_is_answered_once_a_tick() {
    let mut table = Table::of(3, 2);
    table.run(60);
    table.tongue = Box::new(|session, mut mail| {
        let lead = session.roster()[0].stream;
        let from = session.confirmed_frame().saturating_sub(4);
        let mut bytes = Vec::new();
        Other::Need(vec![(lead, from); NEEDS_MAX]).encode(&mut bytes);
        mail.extend((0..20).map(|_| Mail { to: 1, reliable: false, bytes: bytes.clone() }));
        mail
    });
    table.run(60);
    let is_answer = |(_, from, mail): &&(u64, usize, Mail)| {
        *from == 1
            && mail.to == 2
            && !mail.reliable
            && matches!(Other::decode(&mail.bytes), Ok(Other::Give(_)))
    };
    let answers = table.mail.iter().filter(is_answer).count() as u64;
    assert!(
        (1..=LATENCY).contains(&answers),
        "{answers} answers are under way, 160 questions come in every tick"
    );
    table.expect_agreement(&[0, 1, 2], 300);
}
