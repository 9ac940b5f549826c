//! False checksums: a peer claims another state, or other inputs, than it has.

use gaggle_kit::{Frame, Prng, Slot, SlotSet};

use super::joins::offers;
use super::{Cluster, Mail, Tamper, peer, reword};
use crate::announce::{Findings, Message};
use crate::event::SessionEvent;
use crate::packet::CheckBlock;

/// Sends these checksums instead of its own. Its game and its other messages are correct.
fn hashes(lie: fn(&mut CheckBlock)) -> Tamper {
    Box::new(move |_, mut mail| {
        for mail in &mut mail {
            _ = reword(mail, |packet| _ = packet.check.as_mut().map(lie), |value| value);
        }
        mail
    })
}

/// Lies about the state, about the inputs, about both with constant hashes, and about the state in
/// another way.
const LIES: [fn(&mut CheckBlock); 4] = [
    |check| check.state_hash ^= 0x55,
    |check| check.inputs_hash ^= 0x55,
    |check| (check.state_hash, check.inputs_hash) = (1, 1),
    |check| check.state_hash = check.state_hash.rotate_left(7),
];

fn recoveries(table: &Cluster) -> Vec<u64> {
    (0..table.players.len()).map(|index| table.session(index).stats().recoveries).collect()
}

/// How often a peer detected differing checksums.
fn complaints(table: &Cluster, index: usize) -> usize {
    let differ = |event: &&SessionEvent| {
        matches!(event, SessionEvent::DesyncDetected { .. } | SessionEvent::InputsDiverged { .. })
    };
    table.events[index].iter().filter(differ).count()
}

#[test]
fn any_one_of_three_lying_about_checksums_is_outvoted() {
    for liar in 0..3 {
        for lie in LIES {
            let mut table = Cluster::of(3, liar);
            table.tamper = hashes(lie);
            table.run(30).expect_agreement(&[0, 1, 2], 1_800).expect_no_fault(&[0, 1, 2]);
            for honest in (0..3).filter(|index| *index != liar) {
                assert!(complaints(&table, honest) > 0, "{liar} lies unnoticed:\n{}", table.describe());
            }
            assert_eq!(recoveries(&table), [0; 3], "{liar} lied:\n{}", table.describe());
            assert_eq!(table.stalled, [0; 3], "{liar} lied:\n{}", table.describe());
        }
    }
}

#[test]
fn peer_hearing_one_of_three_does_not_follow_it() {
    let mut table = Cluster::of(3, 0);
    table.run(60).unlink(1, 2);
    // They hear each other through the liar, and checksums are not forwarded.
    table.tamper = hashes(LIES[0]);
    table.run(60).expect_agreement(&[0, 1, 2], 1_800).expect_no_fault(&[0, 1, 2]);
    assert!((1..3).all(|honest| complaints(&table, honest) > 0), "it lies unnoticed:\n{}", table.describe());
    assert_eq!(recoveries(&table), [0; 3], "{}", table.describe());
}

/// Recoveries in two minutes: each pause between two was twice as long as the one before: 4 s, 8 s,
/// 16 s, 32 s.
const OBEYED: std::ops::RangeInclusive<u64> = 4..=5;

#[test]
fn recovery_from_leader_with_false_checksums_backs_off() {
    for lie in LIES {
        let mut table = Cluster::of(2, 0);
        table.tamper = hashes(lie);
        // The snapshot it sends is correct: the recoveries only cost time.
        table.run(30).expect_agreement(&[0, 1], 7_200).expect_no_fault(&[0, 1]);
        let recoveries = recoveries(&table);
        assert!(recoveries[0] == 0 && OBEYED.contains(&recoveries[1]), "{}", table.describe());
        assert_eq!(table.stalled, [0; 2], "{}", table.describe());

        let mut table = Cluster::of(2, 1);
        table.tamper = hashes(lie);
        table.run(30).expect_agreement(&[0, 1], 1_800).expect_no_fault(&[0, 1]);
        assert!(complaints(&table, 0) > 0, "it lies unnoticed:\n{}", table.describe());
        assert_eq!(self::recoveries(&table), [0; 2], "the junior is not obeyed:\n{}", table.describe());
    }
}

#[test]
fn recovered_peer_keeps_reported_checksums() {
    let mut table = Cluster::of(2, 0);
    table.tamper = hashes(LIES[0]);
    table.run_until("it obeys", 600, |t| t.session(1).stats().recoveries == 1);
    let told = table.session(1).peers[0].audit.told(Frame::new(120));
    assert!(told.is_some(), "the next vote goes without it:\n{}", table.describe());
}

#[test]
fn recovery_from_lying_leader_backs_off() {
    let mut table = Cluster::of(2, 0);
    let (mut checks, mut offers) = (hashes(LIES[1]), offers(|offer| offer.inputs_hash ^= 0x55));
    table.tamper = Box::new(move |session, mail| {
        let mail = checks(session, mail);
        offers(session, mail)
    });
    table.run(7_200).expect_no_fault(&[0, 1]);
    let taken = [0, 1].map(|index| table.session(index).stats().snapshots_received);
    assert!(taken[0] == 0 && OBEYED.contains(&taken[1]), "{}", table.describe());
    table.expect_agreement(&[0, 1], 300);
    assert_eq!((recoveries(&table), &table.stalled[..]), (vec![0; 2], &[0; 2][..]), "{}", table.describe());
}

#[test]
fn recovery_prefers_join_order_over_slot_order() {
    for liar in [1, 2] {
        let mut table = Cluster::of(2, liar);
        table.run(60).players[0].session_mut().leave();
        table.run(120).dead[0] = true;
        table.join(&[1]);
        table.run_until("it plays", 300, |t| t.session(2).is_member());
        assert_eq!(table.session(2).local_slots(), SlotSet::of(Slot::at(0)), "{}", table.describe());
        table.tamper = hashes(LIES[0]);
        table.run(60).expect_agreement(&[1, 2], 900).expect_no_fault(&[1, 2]);
        assert!(complaints(&table, 3 - liar) > 0, "{liar} lies unnoticed:\n{}", table.describe());
        let obeyed = [1, 2].map(|index| table.session(index).stats().recoveries > 0);
        assert_eq!(obeyed, [false, liar == 1], "{liar} lied:\n{}", table.describe());
    }
}

/// Never sends its hashes in packets, but constantly sends findings about the last frame it
/// compared.
fn findings(live_hash: fn(u32) -> u32) -> Tamper {
    Box::new(move |session, mut mail| {
        mail.iter_mut().for_each(|mail| _ = reword(mail, |packet| packet.check = None, |value| value));
        let Some(own) = session.audit.newest() else { return mail };
        let (from, to, live_hash) = (own.frame.previous(), own.frame, live_hash(own.state_hash));
        let found = Findings { from, to, live_hash, hashes: Vec::new(), streams: Vec::new() };
        let mut bytes = Vec::new();
        Message::Findings(found).encode(&mut bytes);
        mail.extend((0..2).map(|to| Mail { to, reliable: true, bytes: bytes.clone() }));
        mail
    })
}

/// Desync events of a peer.
fn told_of_states(table: &Cluster, index: usize) -> Vec<&SessionEvent> {
    let of_states = |event: &&SessionEvent| {
        matches!(event, SessionEvent::DesyncDetected { .. } | SessionEvent::DesyncLocated { .. })
    };
    table.events[index].iter().filter(of_states).collect()
}

#[test]
fn desync_learned_from_findings_is_detected_first() {
    let mut table = Cluster::of(3, 2);
    table.tamper = findings(|hash| hash ^ 1);
    table.run(300);
    for index in 0..2 {
        let told = told_of_states(&table, index);
        assert!(
            matches!(told[..], [SessionEvent::DesyncDetected { peer: one, local, remote, .. }, SessionEvent::DesyncLocated { peer: other, .. }, ..]
                if (*one, *other, local ^ 1) == (peer(2), peer(2), *remote)),
            "{index}: {told:?}"
        );
    }
}

#[test]
fn resolved_difference_is_not_audited() {
    let mut table = Cluster::of(3, 2);
    table.tamper = findings(|hash| hash);
    table.run(900).expect_agreement(&[0, 1, 2], 300).expect_no_fault(&[0, 1, 2]);
    assert!((0..2).all(|index| told_of_states(&table, index).is_empty()), "{}", table.describe());
}

/// A second in which every link reports lost packets.
fn run_lossy(table: &mut Cluster) {
    let (now, count) = (table.now(), table.players.len());
    for (index, other) in (0..count).flat_map(|index| (0..count).map(move |other| (index, other))) {
        table.players[index].session_mut().handle_packet_loss(now, peer(other));
    }
    table.run(60);
}

#[test]
fn repeated_checksum_is_no_second_desync() {
    // A vote without a voter ends just after the second lie, and forgets the difference.
    let mut table = Cluster::checking(3, 2, 50);
    let mut lies = hashes(LIES[0]);
    // Half a second after every lie it says that it recovered, so that the next lie counts as
    // another difference.
    table.tamper = Box::new(move |session, mail| {
        let mut mail = lies(session, mail);
        if let Some(own) = session.audit.newest()
            && session.current_frame().since(own.frame) == 30
        {
            let mut bytes = Vec::new();
            Message::Recovered { through: own.frame }.encode(&mut bytes);
            mail.extend((0..2).map(|to| Mail { to, reliable: true, bytes: bytes.clone() }));
        }
        mail
    });
    (0..60).for_each(|_| run_lossy(&mut table));
    for honest in 0..2 {
        let differ = |event: &SessionEvent| match event {
            SessionEvent::DesyncDetected { frame, .. } => Some(*frame),
            _ => None,
        };
        let mut frames: Vec<Frame> = table.events[honest].iter().filter_map(differ).collect();
        let told = frames.len();
        frames.dedup();
        assert!(told > 3 && frames.len() == told, "{told} times of {} frames", frames.len());
    }
}

#[test]
fn checksums_arrive_despite_packet_loss() {
    let mut table = Cluster::of(2, 1);
    let mut rng = Prng::new(11);
    // No peer lies here: a third of the packets is lost.
    table.tamper = Box::new(move |_, mut mail| {
        mail.retain(|mail| mail.reliable || rng.below(3) > 0);
        mail
    });
    let (mut heard, mut checked) = (0, 0);
    for _ in 0..60 {
        run_lossy(&mut table);
        let session = table.session(0);
        let Some(own) = session.audit.newest() else { continue };
        // Sent within a second after it was computed, even if the first packet was lost.
        checked += 1;
        heard += u32::from(session.peers[0].audit.told(own.frame).is_some());
    }
    assert!(checked > 55 && heard * 100 >= checked * 90, "{heard} of {checked}\n{}", table.describe());
    table.expect_agreement(&[0, 1], 300).expect_no_fault(&[0, 1]);
}
