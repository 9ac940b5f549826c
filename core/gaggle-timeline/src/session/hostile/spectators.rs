//! Donors that lie to spectators, and spectators that lie.

use gaggle_kit::{Frame, Micros, PeerId, Slot, SlotSet, state_hash};

use super::joins::forged;
use super::{Cluster, Mail, Tamper, peer, reword};
use crate::announce::{Findings, Message as Word};
use crate::event::SessionEvent;
use crate::membership::{self, EntryRange, Told, View};
use crate::roster::{Incarnation, RosterEntry, StreamId};
use crate::transfer::Message;

/// Adds to a lie that no spectator gets the checksums that would expose it.
fn covered(mut lie: Tamper, watcher: usize) -> Tamper {
    Box::new(move |session, mail| {
        let mut mail = lie(session, mail);
        for mail in mail.iter_mut().filter(|mail| mail.to == watcher) {
            _ = reword(mail, |packet| packet.check = None, |value| value);
        }
        mail
    })
}

/// Whether a peer shows for a while what 0 plays.
fn shows_the_match(table: &mut Cluster, watcher: usize) -> bool {
    let mut seen = std::collections::BTreeMap::new();
    let mut compared = 0;
    for _ in 0..120 {
        table.step();
        let (frame, pot) = table.players[0].confirmed_game().expect("it plays");
        seen.insert(frame, state_hash(pot));
        let (frame, pot) = table.players[watcher].confirmed_game().expect("it watches");
        if let Some(hash) = seen.get(&frame) {
            compared += 1;
            if *hash != state_hash(pot) {
                return false;
            }
        }
    }
    assert!(compared > 20, "nothing was compared:\n{}", table.describe());
    true
}

/// Adds a spectator with the liar as its donor and links to the others.
fn watch_by_the_liar(lie: Tamper) -> Cluster {
    let mut table = Cluster::of(3, 2);
    table.tamper = covered(lie, 3);
    table.run(60).watch(&[2]);
    table.run_until("it watches", 300, |t| t.session(3).is_running());
    table.link(3, 0);
    table.link(3, 1);
    table
}

/// Requires that in the end the spectator shows the match, through another donor, and that the
/// players were not disturbed.
fn expect_made_good(mut table: Cluster) {
    table.run_until("it takes another state", 900, |t| t.session(3).stats().snapshots_received == 2);
    table.run(60);
    assert!(shows_the_match(&mut table, 3), "{}", table.describe());
    assert_ne!(table.session(3).joiner.donor(), Some(peer(2)), "the liar is left");
    table.run(600).expect_agreement(&[0, 1, 2], 120).expect_no_fault(&[0, 1, 3]);
    assert_eq!(table.session(3).stats().snapshots_received, 2, "once:\n{}", table.describe());
    let parted = |event: &SessionEvent| {
        matches!(
            event,
            SessionEvent::DesyncDetected { .. }
                | SessionEvent::InputsDiverged { .. }
                | SessionEvent::TimedOut { .. }
        )
    };
    assert!((0..3).all(|index| !table.events[index].iter().any(parted)), "{}", table.describe());
}

#[test]
fn spectator_with_wrong_snapshot_changes_donor() {
    let table = watch_by_the_liar(forged(|mut state| {
        state[4] ^= 1;
        state
    }));
    expect_made_good(table);
}

/// Changes all inputs after a while.
fn twist(tail: &mut EntryRange) {
    let told = std::mem::replace(tail, EntryRange::from(tail.stream, tail.from));
    for frame in (told.from.number()..=told.through().number()).map(Frame::new) {
        let lie = u8::from(frame > Frame::new(150));
        tail.push(&[told.value(frame)[0] ^ lie], told.extras(frame));
    }
}

#[test]
fn spectator_fed_wrong_inputs_changes_donor() {
    let table = watch_by_the_liar(Box::new(|_, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable && mail.to == 3) {
            let bytes = mail.bytes.clone();
            if let Ok(Message::Feed(mut feed)) = Message::decode(&bytes) {
                feed.tails.iter_mut().filter(|tail| tail.stream.peer == peer(0)).for_each(twist);
                mail.bytes.clear();
                Message::Feed(feed).encode(&mut mail.bytes);
            }
        }
        mail
    }));
    expect_made_good(table);
}

#[test]
fn lying_spectator_splits_no_match() {
    let mut table = Cluster::of(2, 2);
    table.run(60).watch(&[0, 1]);
    table.run_until("it watches", 300, |t| t.session(2).is_running());
    table.tamper = Box::new(|session, mut mail| {
        let Some(own) = session.audit.newest() else { return mail };
        for (to, from) in [0, 1].into_iter().flat_map(|to| [(to, Frame::START), (to, own.frame.previous())]) {
            let streams = vec![(peer(1 - to), 77)];
            let findings = Findings { from, to: own.frame, live_hash: 7, hashes: Vec::new(), streams };
            let mut bytes = Vec::new();
            Word::Findings(findings).encode(&mut bytes);
            mail.push(Mail { to, reliable: true, bytes });
        }
        mail
    });
    table.run(300).expect_agreement(&[0, 1], 300).expect_no_fault(&[0, 1]);
    let asked = |event: &SessionEvent| {
        matches!(event, SessionEvent::DesyncLocated { .. } | SessionEvent::InputsDiverged { .. })
    };
    assert!((0..2).all(|index| !table.events[index].iter().any(asked)), "{}", table.describe());
}

#[test]
fn greedy_spectator_displaces_no_other() {
    // The spectator has the lowest id of all, so it is the last to be dropped.
    let mut table = Cluster::of(1, 1);
    table.tamper = Box::new(|_, mut mail| {
        let (mut enough, mut ask) = (Vec::new(), Vec::new());
        Message::Enough.encode(&mut enough);
        membership::Message::AskSnapshot.encode(&mut ask);
        let words = [enough, ask].map(|bytes| Mail { to: 0, reliable: true, bytes });
        mail.extend(words);
        mail
    });
    table.run(60);
    for index in 1..12 {
        table.watch(&(0..index).collect::<Vec<_>>());
    }
    table.run_until("the others watch", 900, |t| (2..12).all(|index| t.session(index).is_running()));
    table.run(300);
    let stalled = table.stalled[0];
    let joiner = table.join(&(0..12).collect::<Vec<_>>());
    table.run_until("another joiner plays", 600, |t| t.session(joiner).is_member());
    table.run(120).expect_agreement(&[0, joiner], 300).expect_no_fault(&[0, joiner]);
    assert_eq!(table.stalled[0], stalled, "players do not notice");
    for index in 2..12 {
        let behind = table.session(0).confirmed_frame().since(table.session(index).current_frame());
        assert!(behind < 60, "{index} is {behind} frames behind:\n{}", table.describe());
    }
    assert!(table.session(0).stats().snapshots_sent < 60, "{}", table.describe());
}

/// Sends feeds with views of ever other members, with joins in the distant future.
fn crowds() -> Tamper {
    let mut lineage: Option<membership::Lineage> = None;
    let mut named = 0u32;
    Box::new(move |session, mut mail| {
        for mail in mail.iter_mut().filter(|mail| mail.reliable) {
            let bytes = mail.bytes.clone();
            let Ok(Message::Feed(mut feed)) = Message::decode(&bytes) else { continue };
            let lineage = lineage.get_or_insert_with(|| session.membership.lineage().clone());
            let mut rows = session.membership.rows().to_vec();
            let first = feed.confirmed.saturating_add(100_000);
            while rows.len() < 60 {
                named += 1;
                let peer = PeerId::from_u128(1_000 + u128::from(named));
                let stream = StreamId { peer, incarnation: Incarnation(1) };
                rows.push(RosterEntry {
                    stream,
                    slots: SlotSet::of(Slot::at(7)),
                    first_frame: first,
                    last_frame: Frame::NEVER,
                });
            }
            let ballot = membership::Ballot { number: named / 50 + 1, by: session.membership.me() };
            let view = View::new(lineage.game(), lineage.history(), ballot, rows, 3, false);
            lineage.push(view.link());
            feed.history = lineage.history();
            feed.told = Some(Told { tip: lineage.tip(), view });
            mail.bytes.clear();
            Message::Feed(feed).encode(&mut mail.bytes);
        }
        mail
    })
}

#[test]
fn invented_members_are_forgotten() {
    let mut table = Cluster::of(3, 2);
    table.tamper = crowds();
    table.run(60).watch(&[2]);
    table.run_until("it watches", 300, |t| t.session(3).is_running());
    let mut most = 0;
    for _ in 0..60 {
        table.run(12);
        most = most.max(table.session(3).peers.len());
    }
    assert!((50..200).contains(&most), "{most} peers known at once");
    let linked = table.players[3].session_mut().handle_connected(Micros::from_secs(60), peer(77));
    assert_eq!(linked, Ok(()));
}
