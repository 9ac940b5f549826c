//! Forged forwards: messages that their claimed sender never wrote.

use super::{Cluster, Mail, peer};
use crate::event::{PeerFault, SessionEvent};
use crate::membership::{Ballot, Message, PeerStatus};
use crate::roster::{Incarnation, StreamId};
use crate::transfer;

/// 0 and 1 have no link and hear each other through 2, which is dishonest, and 3, which is honest.
fn parted() -> Cluster {
    let mut table = Cluster::of(4, 2);
    table.run(60).unlink(0, 1);
    table.run(120).expect_no_fault(&[0, 1, 3]);
    table
}

/// In every tick 0 gets a forwarded message that 1 never wrote.
fn forge(what: impl Fn(&super::Session<u8>, u32) -> Message + 'static) -> super::Tamper {
    let mut count = 0;
    Box::new(move |session, mut mail| {
        count += 1;
        let (mut inner, mut bytes) = (Vec::new(), Vec::new());
        what(session, count).encode(&mut inner);
        transfer::Message::ForwardFrom { from: peer(1), bytes: &inner }.encode(&mut bytes);
        mail.push(Mail { to: 0, reliable: true, bytes });
        mail
    })
}

fn stream_of(session: &super::Session<u8>, index: usize) -> StreamId {
    let row = session.roster().iter().find(|row| row.stream.peer == peer(index));
    row.map(|row| row.stream).expect("it plays")
}

/// Requires that no peer is cut, nothing changes, and the forgeries were counted.
fn expect_unharmed(mut table: Cluster) {
    let history = table.session(0).branch_id();
    table.run(60).expect_agreement(&[0, 1, 2, 3], 300).expect_no_fault(&[0, 1, 3]);
    assert_eq!(table.session(0).branch_id(), history, "no peer is cut:\n{}", table.describe());
    let left =
        |event: &SessionEvent| matches!(event, SessionEvent::Left { .. } | SessionEvent::TimedOut { .. });
    assert!(!table.events[3].iter().any(left), "{}", table.describe());
    let refused = table.session(0).stats().forwards_rejected;
    assert!(refused > 300, "only {refused} forwards were rejected");
}

#[test]
fn forged_leave_is_rejected() {
    let mut table = parted();
    table.tamper = forge(|session, _| Message::Gone { incarnation: stream_of(session, 1).incarnation });
    expect_unharmed(table);
}

#[test]
fn forged_status_is_rejected() {
    let mut table = parted();
    table.tamper = forge(|session, count| {
        let status = session.membership.status().expect("it plays");
        let status = PeerStatus { incarnation: Incarnation(count), ..status };
        Message::PeerStatus { tag: 7, status }
    });
    expect_unharmed(table);
}

#[test]
fn forged_view_changes_are_rejected() {
    let mut table = parted();
    // 1 never started any of these view changes.
    table.tamper = forge(|session, count| {
        let membership = &session.membership;
        let ballot = Ballot { number: count, by: stream_of(session, 1) };
        let circle: Vec<StreamId> = membership.rows().iter().map(|row| row.stream).collect();
        Message::Collect { tip: membership.lineage().tip(), ballot, circle }
    });
    table.run(400);
    let refused = table.session(0).stats().forwards_rejected;
    assert!(refused > 200, "only {refused} forwards were rejected");
    table.tamper = Box::new(|_, mail| mail);
    table.run(300).expect_agreement(&[0, 1, 3], 300);
    for honest in [0, 1, 3] {
        assert!(table.faults(honest).iter().all(|(blamed, _)| *blamed == 2), "{}", table.describe());
    }
}

#[test]
fn endless_declines_are_fault() {
    // Peer 2 rejects ballots with ever higher ones, so that the leader would have to begin again
    // without end.
    let mut table = Cluster::of(3, 2);
    table.run(60);
    let mut number = 0;
    table.tamper = Box::new(move |session, mut mail| {
        number += 1;
        let me = session.membership.me();
        let promised = Ballot { number, by: me };
        let mut bytes = Vec::new();
        Message::Nack { incarnation: me.incarnation, promised }.encode(&mut bytes);
        mail.push(Mail { to: 0, reliable: true, bytes });
        mail
    });
    table.run(180).expect_fault(&[0], |fault| matches!(fault, PeerFault::TooManyViewChanges));
    assert_eq!(table.faults(1), [], "the leader is not to blame:\n{}", table.describe());
    table.run(400).expect_agreement(&[0, 1], 300);
}
