//! Bytes that no honest peer sends: no machine panics, hangs or grows because of them.

use gaggle_kit::{Frame, Prng};

use super::run::Draw;
use super::{ByteReader, Feed, JoinContext, Message, Parcel, RosterEntry, Rules, World, peer};
use crate::membership::codec::FRAME_MAX;
use crate::membership::messages::Told;
use crate::membership::view::View;

/// Damages a message a little: a few bytes changed, cut off or added.
fn damage(bytes: &mut Vec<u8>, rng: &mut Prng) {
    for _ in 0..1 + rng.below(3) {
        let nth = rng.below(bytes.len().max(1) as u32) as usize;
        match rng.below(4) {
            0 => bytes.truncate(nth),
            1 => bytes.push(rng.below(256) as u8),
            _ if bytes.is_empty() => {}
            2 => bytes[nth] = rng.below(256) as u8,
            _ => bytes[nth] = [0, 1, 0x7f, 0x80, 0xff][rng.below(5) as usize],
        }
    }
}

/// Changes a message so that it can still be decoded: dishonest rather than corrupt.
fn lie(message: &mut Message, rng: &mut Prng) {
    let mut frame = |frame: Frame| match rng.below(6) {
        0 => frame.next(),
        1 => frame.previous().max(Frame::new(1)),
        2 => Frame::new(1 + rng.below(60)),
        3 => FRAME_MAX,
        _ => frame,
    };
    let mut rows = |rows: &mut Vec<RosterEntry>| {
        for row in rows.iter_mut() {
            row.first_frame = frame(row.first_frame);
            row.last_frame = frame(row.last_frame).max(row.first_frame.previous());
        }
        rows.reverse();
    };
    let mut told = |told: &mut Told| {
        rows(&mut told.view.rows);
        let View { parent, ballot, rows, size, stale, .. } = told.view.clone();
        told.view = View::new(told.tip.game, parent, ballot, rows, size, stale);
        if let Some(link) = told.tip.links.last_mut() {
            *link = told.view.link();
        }
    };
    match message {
        Message::Report(report) => {
            told(&mut report.told);
            rows(&mut report.rows);
            report.confirmed = frame(report.confirmed);
        }
        Message::View { told: view, at, .. } | Message::Accept { told: view, ballot: at, .. } => {
            told(view);
            at.number = at.number.wrapping_add(rng.below(3));
        }
        Message::Collect { ballot, circle, .. } => {
            ballot.number = ballot.number.wrapping_add(rng.below(3));
            circle.truncate(rng.below(4) as usize);
        }
        Message::Nack { promised: ballot, .. } => ballot.number = rng.next_u32(),
        _ => {}
    }
}

/// Gives a corrupted copy to a copy of its receiver, so that the run itself is undisturbed. True if
/// it could be decoded.
fn attack(world: &World, from: usize, to: usize, parcel: &Parcel, rng: &mut Prng) -> bool {
    let mut node = world.nodes[to].as_ref().clone();
    let mut bytes = Vec::new();
    let taken = match parcel {
        Parcel::Said(message) => {
            let mut message = message.clone();
            let lies = rng.below(2) == 0;
            if lies {
                lie(&mut message, rng);
            }
            message.encode(&mut bytes);
            if !lies {
                damage(&mut bytes, rng);
            }
            let Ok(message) = Message::decode(&bytes) else { return false };
            node.machine.handle_message(node.clock, peer(from), message, &mut node.store)
        }
        Parcel::Feed(feed) => {
            feed.encode(&mut bytes);
            damage(&mut bytes, rng);
            let Ok(feed) = Feed::decode(&mut ByteReader::new(&bytes)) else { return false };
            node.machine.follow(node.clock, &feed, &mut node.store).map(|_| ())
        }
        Parcel::Snapshot { join_context, .. } => {
            join_context.encode(&mut bytes);
            damage(&mut bytes, rng);
            let Ok(join_context) = JoinContext::decode(&mut ByteReader::new(&bytes)) else { return false };
            let name = node.name();
            node.machine.adopt(node.clock, &join_context, name, &mut node.store)
        }
        Parcel::Packet { .. } | Parcel::AskFeed { .. } => return false,
    };
    // The machine can go on after any of them: a fault is a returned value.
    let _ = taken;
    while node.machine.confirm_next().is_some() {}
    node.machine.tidy(&mut node.store);
    node.machine.tick(node.clock, &mut node.store);
    assert!(node.machine.streams.len() <= 3 * 64, "{} streams", node.machine.streams.len());
    true
}

#[test]
fn damaged_messages_are_rejected_or_survived() {
    let mut rng = Prng::new(7);
    let (mut readable, mut refused) = (0, 0);
    for seed in 0..150 {
        let majority = seed % 2 == 1;
        let draw = Draw::of(seed, majority, Rules::ALL);
        draw.run_watched(seed, |world, from, to, parcel| {
            let plain = matches!(parcel, Parcel::Packet { .. } | Parcel::AskFeed { .. });
            for _ in 0..if plain { 0 } else { 8 } {
                *if attack(world, from, to, parcel, &mut rng) { &mut readable } else { &mut refused } += 1;
            }
        });
    }
    assert!(readable > 1_000 && refused > 1_000, "{readable} readable, {refused} refused");
}

#[test]
fn noise_is_rejected() {
    let mut rng = Prng::new(8);
    for _ in 0..50_000 {
        let mut bytes = vec![0; rng.below(200) as usize];
        rng.fill(&mut bytes);
        if let Some(kind) = bytes.first_mut() {
            *kind = 0x10 + *kind % 12;
        }
        if let Ok(message) = Message::decode(&bytes) {
            let mut again = Vec::new();
            message.encode(&mut again);
            assert_eq!(again, bytes, "one message has one form");
        }
    }
}
