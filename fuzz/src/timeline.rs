//! Sessions of `gaggle-timeline` that play with somebody who sends whatever a fuzzer thinks of.

use gaggle_kit::{Frame, Micros, PeerId, Slot};
use gaggle_timeline::{Incarnation, Request, Seat, Session, SessionConfig};

/// A name and what is done with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 1] = [("timeline_session", session)];

const PEERS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

fn new_session(index: usize) -> Session<u16> {
    let seats = [Seat::new(PEERS[0], Slot::at(0)), Seat::new(PEERS[1], Slot::at(1))];
    let config = SessionConfig { check_interval_frames: 4, ..SessionConfig::default() };
    let mut session =
        Session::new(config, PEERS[index], &seats, Incarnation(index as u32)).expect("sensible");
    session.handle_linked(Micros::ZERO, PEERS[1 - index]).expect("seated");
    session
}

/// Ticks, does as told, and gives what there is to send.
fn tick(session: &mut Session<u16>, now: Micros) -> Vec<(bool, Vec<u8>)> {
    session.tick(now);
    while let Some(request) = session.next_request() {
        if let Request::Hash { hash, frame, .. } = request {
            *hash = Some(frame.number().into());
        }
    }
    while session.next_event().is_some() {}
    let mut packets = Vec::new();
    while let Some(packet) = session.next_packet() {
        packets.push((packet.is_reliable(), packet.bytes.to_vec()));
    }
    packets
}

fn deliver(session: &mut Session<u16>, now: Micros, from: PeerId, reliable: bool, bytes: &[u8]) {
    if reliable {
        session.handle_message(now, from, bytes);
    } else {
        session.handle_packet(now, from, bytes);
    }
}

/// An honest pair plays for a moment; then the other falls into the fuzzer's hands: of every chunk the first byte says how
/// long it is and on which channel it comes.
pub fn session(data: &[u8]) {
    let mut sessions = [new_session(0), new_session(1)];
    let mut now = Micros::ZERO;
    for _ in 0..12 {
        now += Micros::from_millis(16);
        let packets = [0, 1].map(|index| tick(&mut sessions[index], now));
        for (index, packets) in packets.into_iter().enumerate() {
            for (reliable, bytes) in packets {
                deliver(&mut sessions[1 - index], now, PEERS[index], reliable, &bytes);
            }
        }
    }
    let [victim, _] = &mut sessions;
    assert!(victim.is_running() && victim.confirmed_frame() > Frame::START, "the match runs");
    let mut rest = data;
    while let Some((head, after)) = rest.split_first() {
        let length = usize::from(head >> 1).min(after.len());
        let (chunk, after) = after.split_at(length);
        rest = after;
        now += Micros::from_millis(8);
        deliver(victim, now, PEERS[1], head & 1 == 1, chunk);
        tick(victim, now);
        let (current, confirmed) = (victim.current_frame(), victim.confirmed_frame());
        let ahead = current.since(confirmed);
        assert!(
            ahead <= victim.config().window_frames(),
            "{current} was simulated with {confirmed} confirmed"
        );
    }
}
