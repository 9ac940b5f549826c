//! Rules about delivery of messages: order, streams, sizes, broadcast, backpressure.
//!
//! Stepped by [`Rule`](super::Rule). Absent: connecting, disconnecting.

use gaggle_kit::Micros;

use super::{Step, pattern, send};
use crate::contract::Progress;
use crate::contract::room::{Room, Told};
use crate::{Channel, SendError, Transport};

const MESSAGES: usize = 1_000;

const LARGE_BYTES: usize = 300_000;

pub(super) fn reliable<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    // 1,000 messages each way on three streams, a few per step: `phase` counts them.
    for _ in 0..20 {
        let count = room.phase() as usize - 1;
        if count < MESSAGES {
            let size = if count.is_multiple_of(97) { 5_000 } else { count % 60 };
            for (from, to) in [(0, 1), (1, 0)] {
                send(room, now, from, to, Channel::Reliable((count % 3) as u8), &pattern(count, size))?;
            }
            room.count_phases(1);
        }
    }
    let mut arrived = 0;
    for to in [0, 1] {
        for stream in 0..3 {
            for (nth, (_, bytes)) in room.got(to, Channel::Reliable(stream as u8)).enumerate() {
                let count = nth * 3 + stream;
                let size = if count.is_multiple_of(97) { 5_000 } else { count % 60 };
                let next = count < MESSAGES && bytes == pattern(count, size);
                room.expect(next, "a reliable message was lost, repeated, altered or out of order")?;
                arrived += 1;
            }
        }
    }
    // Polls a little longer, to notice repetitions.
    if arrived < 2 * MESSAGES {
        room.wait_again(now);
    }
    Ok(if room.waited(now) > Micros::from_millis(300) { Progress::Passed } else { Progress::Running })
}

pub(super) fn streams<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    if room.phase() == 1 {
        send(room, now, 0, 1, Channel::Reliable(1), &pattern(1, 1_000_000))?;
        send(room, now, 0, 1, Channel::Reliable(0), b"short")?;
        room.next_phase(now);
    }
    if room.got(1, Channel::Reliable(1)).next().is_none() {
        return Ok(Progress::Running);
    }
    let order: Vec<usize> = room
        .told(1)
        .iter()
        .filter_map(|told| if let Told::Message { bytes, .. } = told { Some(bytes.len()) } else { None })
        .collect();
    room.expect(order == [5, 1_000_000], "a short message waited for a long one on another stream")?;
    Ok(Progress::Passed)
}

pub(super) fn large<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    if room.phase() == 1 {
        send(room, now, 0, 1, Channel::Reliable(9), &pattern(9, LARGE_BYTES))?;
        room.next_phase(now);
    }
    let Some((_, bytes)) = room.got(1, Channel::Reliable(9)).next() else { return Ok(Progress::Running) };
    room.expect(bytes == pattern(9, LARGE_BYTES), "a large message was altered")?;
    Ok(Progress::Passed)
}

pub(super) fn empty<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    if room.phase() == 1 {
        send(room, now, 0, 1, Channel::Reliable(0), b"")?;
        room.next_phase(now);
    }
    if room.got(1, Channel::Unreliable).next().is_none() {
        send(room, now, 0, 1, Channel::Unreliable, b"")?;
        return Ok(Progress::Running);
    }
    if room.got(1, Channel::Reliable(0)).next().is_none() {
        return Ok(Progress::Running);
    }
    let all_empty = [Channel::Unreliable, Channel::Reliable(0)]
        .into_iter()
        .all(|channel| room.got(1, channel).all(|(_, bytes)| bytes.is_empty()));
    room.expect(all_empty, "an empty message arrived with something in it")?;
    Ok(Progress::Passed)
}

pub(super) fn broadcast<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    if room.phase() == 1 {
        let sent = room.transport_mut(2).broadcast(now, Channel::Reliable(4), b"to all peers");
        room.expect(sent.is_ok(), "a broadcast was rejected")?;
        room.next_phase(now);
    }
    // Repeated until it has arrived everywhere.
    let arrived = |room: &Room<T>, index| room.got(index, Channel::Unreliable).next().is_some();
    if !arrived(room, 0) || !arrived(room, 1) {
        let sent = room.transport_mut(2).broadcast(now, Channel::Unreliable, b"again");
        room.expect(sent.is_ok(), "a broadcast was rejected")?;
    }
    let count = |index| room.got(index, Channel::Reliable(4)).count();
    room.expect(count(2) == 0 && !arrived(room, 2), "a broadcast came back to its sender")?;
    room.expect(count(0) <= 1 && count(1) <= 1, "a broadcast arrived twice")?;
    let everywhere = count(0) == 1 && count(1) == 1 && arrived(room, 0) && arrived(room, 1);
    Ok(if everywhere && room.waited(now) > Micros::from_millis(200) {
        Progress::Passed
    } else {
        Progress::Running
    })
}

pub(super) fn full_buffer<T: Transport>(room: &mut Room<T>, now: Micros) -> Step {
    let to = room.id(1);
    if room.phase() == 1 {
        // No transport takes 64 MB at once from a caller that does not poll.
        let message = pattern(3, 64 * 1024);
        let taken = (0..1_024)
            .take_while(|_| room.transport_mut(0).send(now, to, Channel::Reliable(2), &message).is_ok())
            .count();
        let refusal = room.transport_mut(0).send(now, to, Channel::Reliable(2), &message);
        room.expect(
            matches!(refusal, Err(SendError::Backpressure { .. })),
            "64 MB were accepted, or rejected without reporting a full buffer",
        )?;
        room.expect(taken > 0, "not even one message was accepted")?;
        room.count_phases(taken as u32);
    }
    let taken = room.phase() as usize - 1;
    let got = room.got(1, Channel::Reliable(2)).count();
    room.expect(got <= taken, "more arrived than was accepted")?;
    room.expect(
        room.got(1, Channel::Reliable(2)).all(|(_, bytes)| bytes.len() == 64 * 1024),
        "a message was cut",
    )?;
    if got < taken {
        return Ok(Progress::Running);
    }
    let again = room.transport_mut(0).send(now, to, Channel::Reliable(2), b"space again");
    // The last acknowledgement may still be on its way back.
    Ok(if again.is_ok() { Progress::Passed } else { Progress::Running })
}
