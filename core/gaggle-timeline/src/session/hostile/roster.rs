//! False membership: joins written by peers that do not lead, unsolicited views, endless view
//! changes, missing answers.

use gaggle_kit::{Frame, Slot, SlotSet};

use super::{Cluster, Mail, peer, reword};
use crate::event::{PeerFault, SessionEvent};
use crate::membership::{Ballot, EntryControl, EntryRange, Message, Mode, Report, Told, View, held::Join};
use crate::packet::Packet;
use crate::relay::{Backfill, Other};
use crate::roster::{Incarnation, RosterEntry, StreamId};

/// Writes into the newest entry that an unknown peer joins.
fn admit_a_ghost(session: &mut super::Session<u8>, nth: u32) {
    let stream = StreamId { peer: peer(90), incarnation: Incarnation(nth) };
    let join = Join { stream, slots: SlotSet::of(Slot::at(4 + nth as usize % 4)) };
    let (me, newest) = (session.membership.me(), session.local_input_frame());
    session.membership.note_extras(me, newest, EntryControl { join: Some(join), end: false });
}

#[test]
fn admission_by_non_leader_is_fault() {
    let mut table = Cluster::of(3, 2);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mail| {
        ticks += 1;
        if ticks == 100 {
            admit_a_ghost(session, 1);
        }
        mail
    });
    table.run(160).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::NotLeader { .. }));
    table.run(60).expect_agreement(&[0, 1], 300);
    assert!(
        table.session(0).roster().iter().all(|row| row.stream.peer != peer(90)),
        "no peer waits for a ghost"
    );
}

#[test]
fn leader_admitting_ghosts_is_left_behind() {
    let mut table = Cluster::of(3, 0);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mail| {
        ticks += 1;
        if ticks >= 100 && ticks % 40 == 0 {
            admit_a_ghost(session, ticks);
        }
        mail
    });
    table.run(100).run_until("the others are rid of it", 3_000, |t| {
        let here = |index: usize| t.session(index).roster().iter().filter(|row| row.is_active()).count();
        here(1) == 2 && here(2) == 2
    });
    table.run(120).expect_agreement(&[1, 2], 600);
}

/// Writes into the newest entry that a peer joins in slots the game does not have, or in more slots
/// than it has players.
fn admit_to(session: &mut super::Session<u8>, stream: StreamId, slots: SlotSet) {
    let (me, newest) = (session.membership.me(), session.local_input_frame());
    session.membership.note_extras(
        me,
        newest,
        EntryControl { join: Some(Join { stream, slots }), end: false },
    );
}

#[test]
fn admission_to_unknown_slots_is_fault() {
    let mut table = Cluster::of(3, 0);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mail| {
        ticks += 1;
        if ticks == 100 {
            let ghost = StreamId { peer: peer(90), incarnation: Incarnation(1) };
            admit_to(session, ghost, SlotSet::of(Slot::at(63)));
        }
        mail
    });
    table.run(200).expect_agreement(&[1, 2], 300);
    assert!(table.session(1).roster().iter().all(|row| row.slots.iter().all(|slot| slot.index() < 8)));
}

#[test]
fn view_with_unknown_slots_is_fault() {
    let mut table = Cluster::of(3, 2);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mut mail| {
        ticks += 1;
        if ticks == 100 {
            let mut bytes = Vec::new();
            coup(session, |rows| rows[1].slots = SlotSet::of(Slot::at(63))).encode(&mut bytes);
            mail.push(Mail { to: 1, reliable: true, bytes });
        }
        mail
    });
    table.run(160).expect_fault(&[1], |fault| *fault == PeerFault::UnknownSlots);
    table.run(260).expect_agreement(&[0, 1], 300);
}

#[test]
fn leader_granting_extra_slots_delays_briefly() {
    let mut table = Cluster::of(3, 0);
    let joiner = 3;
    table.tamper = Box::new(move |session, mail| {
        let stream = session.membership.latest_status(peer(joiner)).map(|status| status.incarnation);
        let known = session.roster().iter().any(|row| row.stream.peer == peer(joiner) && row.is_active());
        if let Some(incarnation) = stream.filter(|_| !known) {
            let stream = StreamId { peer: peer(joiner), incarnation };
            admit_to(session, stream, SlotSet::first(8).difference(SlotSet::first(4)));
        }
        mail
    });
    table.run(60);
    assert_eq!(table.join(&[0, 1, 2]), joiner);
    table.run(600);
    let frames = [1, 2].map(|index| table.session(index).current_frame());
    table.run(900);
    let later = [1, 2].map(|index| table.session(index).current_frame());
    assert!(later.iter().zip(frames).all(|(later, before)| *later > before), "{frames:?} {later:?}");
}

/// A made-up view without the leader.
fn coup(session: &super::Session<u8>, change: impl Fn(&mut [RosterEntry])) -> Message {
    let membership = &session.membership;
    let ballot = Ballot { number: 1, by: membership.me() };
    let mut lineage = membership.lineage().clone();
    let mut rows = membership.rows().to_vec();
    for row in rows.iter_mut().filter(|row| row.stream.peer == peer(0)) {
        row.last_frame = membership.confirmed().saturating_add(4);
    }
    change(&mut rows);
    let view = View::new(lineage.game(), lineage.history(), ballot, rows, 2, false);
    lineage.push(view.link());
    Message::View { told: Told { tip: lineage.tip(), view }, at: ballot, tails: vec![] }
}

#[test]
fn unsolicited_view_is_fault() {
    let mut table = Cluster::of(3, 2);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mut mail| {
        ticks += 1;
        if ticks == 100 {
            let mut bytes = Vec::new();
            coup(session, |_| {}).encode(&mut bytes);
            mail.push(Mail { to: 1, reliable: true, bytes });
        }
        mail
    });
    let history = table.run(90).session(0).branch_id();
    table.run(40).expect_fault(&[1], |fault| matches!(fault, PeerFault::UnsolicitedView { number: 1 }));
    table.expect_agreement(&[0, 1], 300);
    assert_eq!(table.session(1).branch_id(), history, "0 hears 2, so no peer is cut");
}

#[test]
fn false_lone_branch_takes_no_peer_along() {
    let mut table = Cluster::of(4, 3);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mut mail| {
        ticks += 1;
        if ticks == 100 {
            let alone = |rows: &mut [RosterEntry]| {
                rows[..3].iter_mut().for_each(|row| row.last_frame = Frame::new(90));
            };
            let mut bytes = Vec::new();
            coup(session, alone).encode(&mut bytes);
            mail.extend((0..3).map(|to| Mail { to, reliable: true, bytes: bytes.clone() }));
        }
        mail
    });
    table.run(160).expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1, 2]);
    let lost = |event: &SessionEvent| matches!(event, SessionEvent::BranchAbandoned { .. });
    assert!((0..3).all(|index| !table.events[index].iter().any(lost)), "{}", table.describe());
}

#[test]
fn endless_view_changes_are_fault() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    let mut number = 0;
    table.tamper = Box::new(move |session, mut mail| {
        number += 1;
        let membership = &session.membership;
        let ballot = Ballot { number, by: membership.me() };
        let circle: Vec<StreamId> = membership.rows().iter().map(|row| row.stream).collect();
        let collect = Message::Collect { tip: membership.lineage().tip(), ballot, circle };
        for to in 0..2 {
            let mut bytes = Vec::new();
            collect.encode(&mut bytes);
            mail.push(Mail { to, reliable: true, bytes });
        }
        mail
    });
    table.run(180).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::TooManyViewChanges));
    table.run(60).expect_agreement(&[0, 1], 300);
}

/// Claims in every packet a higher promise than in the one before, made to the stream `by` returns.
fn promise_ever_more(by: fn(&super::Session<u8>) -> StreamId) -> super::Tamper {
    Box::new(move |session, mut mail| {
        let number = session.membership.number_seen() + 1;
        let ballot = Ballot { number, by: by(session) };
        for mail in &mut mail {
            _ = reword(mail, |packet| packet.promised = Some(ballot), |value| value);
        }
        mail
    })
}

fn histories_of(table: &Cluster, index: usize) -> usize {
    table.events[index]
        .iter()
        .filter(|event| {
            matches!(event, SessionEvent::ViewChanged { .. } | SessionEvent::BranchAbandoned { .. })
        })
        .count()
}

#[test]
fn endless_self_promises_are_fault() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = promise_ever_more(|session| session.membership.me());
    table.run(3_000).expect_fault(&[0], |fault| matches!(fault, PeerFault::TooManyViewChanges));
    table.run(400).expect_agreement(&[0, 1], 300);
}

#[test]
fn forged_promises_change_views_boundedly() {
    // Only 1 and 2 know whether 1 asked for the promises: neither is evicted for them.
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = promise_ever_more(|session| {
        let row = session.roster().iter().find(|row| row.stream.peer == peer(1));
        row.map(|row| row.stream).expect("it plays")
    });
    table.run(1_200);
    let before = histories_of(&table, 0);
    table.expect_agreement(&[0, 1], 3_600).expect_no_fault(&[0, 1]);
    let changes = histories_of(&table, 0) - before;
    assert!(changes > 0, "no promise counted");
    assert!(changes <= 61, "{changes} views in a minute");
}

#[test]
fn unreachable_ballot_is_fault() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = Box::new(move |session, mut mail| {
        let membership = &session.membership;
        let ballot = Ballot { number: u32::MAX, by: membership.me() };
        let circle: Vec<StreamId> = membership.rows().iter().map(|row| row.stream).collect();
        let collect = Message::Collect { tip: membership.lineage().tip(), ballot, circle };
        let mut bytes = Vec::new();
        collect.encode(&mut bytes);
        mail.push(Mail { to: 0, reliable: true, bytes });
        mail
    });
    table.run(20).expect_fault(&[0], |fault| matches!(fault, PeerFault::BallotTooHigh { number: u32::MAX }));
    table.expect_agreement(&[0, 1], 300);
}

/// Goes on sending inputs, but no message when the view must change.
fn holds_up(_: &mut super::Session<u8>, mut mail: Vec<Mail>) -> Vec<Mail> {
    mail.retain(|mail| {
        let message = Message::decode(&mail.bytes).ok().filter(|_| mail.reliable);
        !matches!(message, Some(Message::Report(_) | Message::Collect { .. } | Message::View { .. }))
    });
    mail
}

#[test]
fn majority_does_not_wait_for_minority() {
    // 4 crashes. 3 never sends its report; or the leader never asks: three of five are left.
    for (liar, others) in [(3, [0, 1, 2]), (0, [1, 2, 3])] {
        let mut table = Cluster::voting(5, liar);
        table.tamper = Box::new(holds_up);
        table.run(90);
        table.dead[4] = true;
        table.run_until("the others are rid of both", 3_000, |t| {
            let open =
                |index: &usize| t.session(*index).roster().iter().filter(|row| row.is_active()).count();
            others.iter().all(|index| open(index) == 3)
        });
        table.run(120).expect_agreement(&others, 600);
    }
}

#[test]
fn unresponsive_peer_is_evicted() {
    // 3 crashes. 2 goes on sending inputs, but never sends its report; or it leads, and never asks.
    for liar in [2, 0] {
        let mut table = Cluster::of(4, liar);
        table.tamper = Box::new(holds_up);
        table.run(90);
        table.dead[3] = true;
        let others = if liar == 2 { [0, 1] } else { [1, 2] };
        table.run_until("the others are rid of both", 2_000, |t| {
            let open =
                |index: &usize| t.session(*index).roster().iter().filter(|row| row.is_active()).count();
            others.iter().all(|index| open(index) == 2)
        });
        table.run(120).expect_agreement(&others, 600);
        let confirmed = table.session(others[0]).confirmed_frame();
        assert!(confirmed > Frame::new(600), "{confirmed}");
    }
}

#[test]
fn overlong_path_is_fault() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    let mut said = false;
    table.tamper = Box::new(move |session, mut mail| {
        for mail in &mut mail {
            _ = reword(mail, |packet| packet.tag = 7, |value| value);
        }
        if !std::mem::replace(&mut said, true) {
            let mut status = session.membership.status().expect("it plays");
            status.tip.depth = u32::MAX;
            status.tip.links[0].history.0 ^= 1;
            let mut bytes = Vec::new();
            Message::PeerStatus { tag: 7, status }.encode(&mut bytes);
            (0..2).for_each(|to| mail.insert(0, Mail { to, reliable: true, bytes: bytes.clone() }));
        }
        mail
    });
    table.run(60).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::Malformed(_)));
    table.run(260).expect_agreement(&[0, 1], 300);
}

/// Changes the reports of the liar.
fn reports(lie: impl Fn(&mut Report) + 'static) -> super::Tamper {
    Box::new(move |_, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable) {
            if let Ok(Message::Report(mut report)) = Message::decode(&mail.bytes) {
                lie(&mut report);
                mail.bytes.clear();
                Message::Report(report).encode(&mut mail.bytes);
            }
        }
        mail
    })
}

#[test]
fn report_denying_members_does_not_block() {
    type Lie = fn(&mut Report);
    let lies: [(&str, Lie); 4] = [
        ("the coordinator is not there", |report| {
            report.rows.retain(|row| row.stream.peer != peer(0));
            report.confirmed = Frame::new(1 << 30);
        }),
        ("the coordinator is not there, and nothing else", |report| {
            report.rows.retain(|row| row.stream.peer != peer(0));
        }),
        ("the coordinator left long ago", |report| {
            let asker = report.rows.iter_mut().find(|row| row.stream.peer == peer(0));
            asker.expect("it is there").last_frame = Frame::new(5);
        }),
        ("another peer left long ago", |report| {
            let other = report.rows.iter_mut().find(|row| row.stream.peer == peer(1));
            other.expect("it is there").last_frame = Frame::new(5);
        }),
    ];
    for (what, lie) in lies {
        let mut table = Cluster::of(4, 2);
        table.tamper = reports(lie);
        table.run(90);
        table.dead[3] = true;
        table.run_until(what, 600, |t| {
            let open = |index: usize| t.session(index).roster().iter().filter(|row| row.is_active()).count();
            [0, 1].into_iter().all(|index| open(index) == 2)
        });
        table.expect_fault(&[0], |fault| *fault == PeerFault::FalseReport);
        table.run(60).expect_agreement(&[0, 1], 300);
    }
}

#[test]
fn hearsay_keeps_no_peer_in_match() {
    // 3 crashes. 2 claims in every tick that it has just heard 3.
    let mut table = Cluster::of(4, 2);
    table.run(90);
    table.dead[3] = true;
    table.tamper = Box::new(|session, mut mail| {
        let gone = session.roster().iter().find(|row| row.stream.peer == peer(3) && row.is_active());
        let Some(stream) = gone.map(|row| row.stream) else { return mail };
        for to in 0..2 {
            let told = session.peers.iter().find(|remote| remote.peer == peer(to)).map(|r| r.hello.told());
            let Some(tag) = told.map(|told| told.tag()) else { continue };
            let tail = EntryRange::from(stream, session.confirmed_frame().next());
            let give = Backfill { tag, heard_age: 0, confirmed: Frame::START, tail };
            let mut bytes = Vec::new();
            Other::Backfill(give).encode(&mut bytes);
            mail.push(Mail { to, reliable: false, bytes });
        }
        mail
    });
    table.run(600);
    assert_eq!(table.session(0).roster().iter().filter(|row| row.is_active()).count(), 4, "it is believed");
    table.run_until("the others are rid of it", 2_000, |t| {
        let open = |index: usize| {
            t.session(index).roster().iter().any(|r| r.stream.peer == peer(3) && r.is_active())
        };
        !open(0) && !open(1)
    });
    table.run(60).expect_agreement(&[0, 1], 300);
}

#[test]
fn spectator_request_raises_no_fence() {
    // 2 claims to spectate; twice a second it asks 1 for a report that excludes all others.
    let mut table = Cluster::of(2, 2);
    table.run(60);
    let stranger = table.join(&[0, 1]);
    let mut ticks = 0;
    table.tamper = Box::new(move |session, mut mail| {
        ticks += 1;
        let here = session.membership.mode() != Mode::Out;
        if let Some(victim) = session.roster().iter().find(|row| row.stream.peer == peer(1)).filter(|_| here)
            && ticks % 30 == 0
        {
            let membership = &session.membership;
            let (tip, me, circle) = (membership.lineage().tip(), membership.me(), vec![victim.stream]);
            for by in [me, victim.stream] {
                let ballot = Ballot { number: membership.number_seen() + 1 + ticks / 30, by };
                let mut bytes = Vec::new();
                Message::Collect { tip: tip.clone(), ballot, circle: circle.clone() }.encode(&mut bytes);
                mail.push(Mail { to: 1, reliable: true, bytes });
            }
        }
        // The peer never begins a stream, so no peer admits it.
        mail.retain(|mail| {
            mail.reliable || !matches!(Packet::decode(&mail.bytes, 1), Ok(p) if p.runs.carried > 0)
        });
        mail
    });
    table.run(120).expect_agreement(&[0, 1], 600);
    assert!(!table.session(stranger).is_member());
    assert_eq!(table.stalled[..2], [0, 0], "{}", table.describe());
}
