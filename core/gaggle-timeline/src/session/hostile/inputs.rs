//! False inputs: of other players, other frames, with other values, to other receivers.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Micros, Slot, SlotSet};

use super::{Cluster, Mail, peer, reword};
use crate::announce;
use crate::event::{PeerFault, RejectReason, SessionEvent};
use crate::membership::{self, EntryControl, EntryRange};
use crate::packet::{Packet, TAG_MAX};
use crate::relay::{Backfill, Other};
use crate::roster::StreamId;
use crate::runs::{Runs, RunsWriter};

#[test]
fn claim_of_foreign_slot_is_rejected() {
    let mut table = Cluster::of(3, 2);
    table.tamper = Box::new(|_, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable) {
            if let Ok(announce::Message::Announce(mut announce)) = announce::Message::decode(&mail.bytes) {
                announce.slots = SlotSet::of(Slot::at(0));
                mail.bytes.clear();
                announce::Message::Announce(announce).encode(&mut mail.bytes);
            }
        }
        mail
    });
    table.run(30);
    for index in 0..2 {
        let refused = |event: &SessionEvent| {
            matches!(event, SessionEvent::Rejected { reason: RejectReason::Slots { .. }, .. })
        };
        assert_eq!(table.events[index].iter().filter(|event| refused(event)).count(), 1);
        table.players[index].session_mut().evict(peer(2)).expect("it had a seat");
    }
    table.expect_agreement(&[0, 1], 300);
}

/// Claims this many players, and sends inputs of as many.
fn recount(players: u8) -> super::Tamper {
    let mut told = [false; 3];
    Box::new(move |session, mail| {
        let mut said = Vec::new();
        for mut mail in mail {
            let told_as =
                session.peers.iter().find(|remote| remote.peer == peer(mail.to)).map(|r| r.hello.told());
            let status = told_as.and_then(|told| Some((told.tag() + 1, told.status()?.clone())));
            let Some((tag, status)) = status.filter(|_| !mail.reliable) else { continue };
            if !std::mem::replace(&mut told[mail.to], true) {
                let mut bytes = Vec::new();
                let status = membership::PeerStatus { players, ..status };
                membership::Message::PeerStatus { tag, status }.encode(&mut bytes);
                said.push(Mail { to: mail.to, reliable: true, bytes });
            }
            let bytes = mail.bytes.clone();
            let packet = Packet::decode(&bytes, 1).expect("what was just said");
            let mut runs = RunsWriter::default();
            for change in packet.runs.entries(1) {
                match change {
                    None => runs.repeat(),
                    Some(_) => runs.change(players.into(), |out| out.fill(7)),
                }
            }
            mail.bytes.clear();
            Packet { tag, runs: runs.finish(players.into()), ..packet }.encode(&mut mail.bytes);
            said.push(mail);
        }
        said
    })
}

#[test]
fn changed_player_count_is_fault() {
    for players in [0, 2, 200] {
        let mut table = Cluster::of(3, 2);
        table.run(60).expect_no_fault(&[0, 1]);
        table.tamper = recount(players);
        let fault = PeerFault::SlotCountChanged { players, seats: 1 };
        table.run(30).expect_fault(&[0, 1], |found| *found == fault);
        table.run(60).expect_agreement(&[0, 1], 300);
    }
}

#[test]
fn unsolicited_entries_of_others_are_ignored() {
    let mut table = Cluster::of(3, 2);
    // Tells 1 what 0 will press, before 0 presses it.
    table.tamper = Box::new(|session, mut mail| {
        let row = session.membership.known().iter().find(|row| row.stream.peer == peer(0)).copied();
        let Some(row) = row.filter(|_| session.is_member()) else { return mail };
        let tag =
            session.peers.iter().find(|remote| remote.peer == peer(1)).map_or(0, |r| r.hello.told().tag());
        let mut tail = EntryRange::from(row.stream, session.confirmed_frame().next());
        for _ in 0..20 {
            tail.push(&[77], EntryControl::NONE);
        }
        let confirmed = session.confirmed_frame();
        let mut bytes = Vec::new();
        Other::Backfill(Backfill { tag, heard_age: 0, confirmed, tail }).encode(&mut bytes);
        mail.push(Mail { to: 1, reliable: false, bytes });
        mail
    });
    table.run(60).expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1]);
    let ignored = table.session(1).stats().entries_unsolicited;
    assert!(ignored > 200, "{ignored} of 300 were ignored");
    assert_eq!(table.session(0).stats().entries_unsolicited, 0, "no peer sent it any");
}

#[test]
fn inputs_from_far_ahead_are_fault() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    let ahead = |packet: &mut Packet<'_>| {
        packet.newest_low = packet.newest_low.wrapping_add(200);
        packet.confirmed_age = 255;
    };
    table.tamper = Box::new(move |_, mut mail| {
        mail.iter_mut().for_each(|mail| _ = reword(mail, ahead, |value| value));
        mail
    });
    table.run(30).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::InputTooFarAhead { .. }));
    table.run(60).expect_agreement(&[0, 1], 300);
}

/// Claims to be far ahead, without inputs there.
fn far_ahead(packet: &mut Packet<'_>) {
    packet.newest_low = packet.newest_low.wrapping_add(30_000);
    packet.confirmed_age = 255;
    packet.runs = Runs { carried: 0, changes: 0, dense: false, bytes: &[] };
}

#[test]
fn claimed_lead_without_inputs_is_fault() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    table.tamper = Box::new(move |_, mut mail| {
        mail.iter_mut().for_each(|mail| _ = reword(mail, far_ahead, |value| value));
        mail
    });
    table.run(30).expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::InputTooFarAhead { .. }));
    table.run(60).expect_agreement(&[0, 1], 300);
}

#[test]
fn joiner_ignores_peer_far_ahead() {
    let mut table = Cluster::of(3, 2);
    let joiner = 3;
    table.tamper = Box::new(move |_, mut mail| {
        let to_joiner = mail.iter_mut().filter(|mail| mail.to == joiner);
        to_joiner.for_each(|mail| _ = reword(mail, far_ahead, |value| value));
        mail
    });
    assert_eq!(table.run(60).join(&[0, 1, 2]), joiner);
    table.run_until("it is in", 300, |t| t.session(joiner).is_member());
    table.run(300).expect_agreement(&[0, 1, joiner], 300);
}

/// Sends every packet again that it sent `ticks` ago, `times` times.
fn echo(ticks: usize, times: usize) -> super::Tamper {
    let mut past: VecDeque<Vec<Mail>> = VecDeque::new();
    Box::new(move |_, mut mail| {
        past.push_back(mail.iter().filter(|mail| !mail.reliable).cloned().collect());
        if past.len() > ticks
            && let Some(old) = past.pop_front()
        {
            (0..times).for_each(|_| mail.extend(old.iter().cloned()));
        }
        mail
    })
}

#[test]
fn packets_from_far_behind_are_dropped_and_counted() {
    // Recently, some time ago, and so long ago that the low bits could mean another frame.
    for ticks in [4, 120, 900] {
        let mut table = Cluster::of(3, 2);
        table.tamper = echo(ticks, 3);
        table.run(ticks as u64 + 60).expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1]);
        for honest in 0..2 {
            let old = table.session(honest).stats().packets_stale;
            assert!(old > 100, "only {old} packets of {ticks} ticks ago were seen to be old");
        }
        assert_eq!(table.stalled[..2], [0, 0]);
    }
}

#[test]
fn changed_input_of_confirmed_frame_is_fault() {
    let mut table = Cluster::of(3, 2);
    let mut past: VecDeque<Vec<Mail>> = VecDeque::new();
    table.tamper = Box::new(move |_, mut mail| {
        past.push_back(mail.iter().filter(|mail| !mail.reliable).cloned().collect());
        if past.len() == 150 {
            // Entries half a second old and older, and changed.
            let mut old: Vec<Mail> = past.drain(..120).flatten().collect();
            old.iter_mut().for_each(|mail| _ = reword(mail, |_| {}, |value| value ^ 1));
            mail.extend(old);
        }
        mail
    });
    table.run(160);
    for honest in 0..2 {
        let faults = table.faults(honest);
        let [(2, PeerFault::InputChanged { frame })] = faults[..] else {
            panic!("{faults:?}\n{}", table.describe());
        };
        assert!(frame < Frame::new(120), "it was confirmed long ago: {frame}");
    }
    table.run(60).expect_agreement(&[0, 1], 300);
}

/// Sends some of the others different inputs, from the beginning.
fn two_faced(to: &'static [usize]) -> super::Tamper {
    Box::new(move |_, mut mail| {
        let others = mail.iter_mut().filter(|mail| to.contains(&mail.to));
        others.for_each(|mail| _ = reword(mail, |_| {}, |value| value ^ 0x40));
        mail
    })
}

#[test]
fn equivocating_peer_is_found_by_majority() {
    // 3 sends 1 other inputs than 0 and 2: 1 learns of it from both.
    let mut table = Cluster::of(4, 3);
    table.tamper = two_faced(&[1]);
    table.run(60).run_until("the lie is found", 900, |t| !t.faults(1).is_empty());
    table.expect_fault(&[1], |fault| matches!(fault, PeerFault::Equivocation { .. }));
    table.run_until("all honest ones are together", 900, |t| {
        let history = t.session(0).branch_id();
        (0..3).all(|index| t.session(index).is_member() && t.session(index).branch_id() == history)
    });
    table.run(300).expect_agreement(&[0, 1, 2], 600);
    // The peer joined again, because its inputs were wrong as well as its state: the bundle exists
    // all the same.
    let bundle = table.players[1].take_desync_bundle().expect("both states and the inputs between");
    let view = bundle.diff::<super::MixGame>().expect("it is of this game");
    assert!(view.differences.iter().any(|line| line.starts_with("mixed: ")), "{view:?}");
    assert!(table.players[1].take_desync_bundle().is_none(), "told once");
}

#[test]
fn accused_peer_leaves_without_third_witness() {
    let mut table = Cluster::of(3, 2);
    table.tamper = two_faced(&[1]);
    table.run(60).run_until("the lie is found", 900, |t| (0..2).all(|index| !t.faults(index).is_empty()));
    table.expect_fault(&[0, 1], |fault| matches!(fault, PeerFault::Equivocation { .. }));
    table.run_until("both are together again", 1_200, |t| {
        t.session(0).branch_id() == t.session(1).branch_id() && t.session(1).is_member()
    });
    table.run(300).expect_agreement(&[0, 1], 600);
}

#[test]
fn lone_accuser_is_not_believed() {
    // 3 holds, or claims to hold, other entries of 2 than all others.
    let mut table = Cluster::of(4, 3);
    table.run(60);
    let stream = StreamId { peer: peer(2), incarnation: table.session(2).membership.me().incarnation };
    for honest in 0..2 {
        let frame = table.session(honest).confirmed_frame();
        table.players[honest].session_mut().accuse(peer(3), stream.peer, frame);
    }
    table.expect_agreement(&[0, 1, 2, 3], 120).expect_no_fault(&[0, 1, 2]);
}

/// Withholds all entries but one in `ticks`.
fn drip(ticks: u64) -> super::Tamper {
    let mut count = 0u64;
    Box::new(move |session, mut mail| {
        if !session.is_member() {
            return mail;
        }
        count += 1;
        let given = u16::from(count.is_multiple_of(ticks));
        for mail in &mut mail {
            let Some(tag) = Packet::tag_of(&mail.bytes).filter(|tag| *tag <= TAG_MAX && !mail.reliable)
            else {
                continue;
            };
            let bytes = mail.bytes.clone();
            let Ok(mut packet) = Packet::decode(&bytes, 1) else { continue };
            assert_eq!(packet.tag, tag);
            let told = u16::from(packet.runs.carried);
            let mut runs = RunsWriter::default();
            for entry in packet.runs.entries(1).take(given.into()) {
                match entry {
                    None => runs.repeat(),
                    Some(bytes) => runs.change(1, |out| out.copy_from_slice(bytes)),
                }
            }
            packet.newest_low = packet.newest_low.wrapping_sub(told).wrapping_add(given.min(told));
            packet.runs = runs.finish(1);
            mail.bytes.clear();
            packet.encode(&mut mail.bytes);
        }
        mail
    })
}

fn open_rows(table: &Cluster, index: usize) -> usize {
    table.session(index).roster().iter().filter(|row| row.is_active()).count()
}

#[test]
fn slow_dripping_inputs_are_evicted() {
    // Every two seconds, and as rarely as the timeout allows; by a leader and by another peer.
    for (ticks, liar) in [(120, 2), (540, 2), (120, 0)] {
        let mut table = Cluster::of(3, liar);
        let honest = [(liar + 1) % 3, (liar + 2) % 3];
        table.run(60);
        table.tamper = drip(ticks);
        table.run_until("the others are rid of it", 1_500, |t| {
            honest.iter().all(|index| open_rows(t, *index) == 2)
        });
        table.tamper = Box::new(|_, _| Vec::new());
        table.run(300).expect_agreement(&honest, 300);
    }
}

#[test]
fn repeated_staller_waits_before_readmission() {
    let mut table = Cluster::of(3, 2);
    table.run(60);
    // The dishonest peer itself waits without limit.
    table.players[2].session_mut().cx.config.evict_stalled_after = Micros::from_secs(3_600);
    table.tamper = drip(u64::MAX);
    for _ in 0..2 {
        table.run_until("it is in", 900, |t| open_rows(t, 0) == 3);
        table.run_until("the others are rid of it", 1_500, |t| (0..2).all(|index| open_rows(t, index) == 2));
    }
    table.run(60).expect_agreement(&[0, 1], 1_500);
    table.run_until("it gets another chance", 1_500, |t| open_rows(t, 0) == 3);
}
