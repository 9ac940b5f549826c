//! Fuzz target of gaggle-replica: a session with a peer whose packets the fuzzer chooses.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. Absent: the fuzzer and its corpora.

use gaggle_kit::{Input, Micros, PeerId, Slot, State};
use gaggle_replica::{
    AuthorityPolicy, Blob, EventOptions, JoinMode, Kind, Kinds, ObjectId, ReplicaConfig, Session, ValueWriter,
};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-replica.
pub const TARGETS: [Target; 1] = [("replica_session", session)];

const PEERS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Input)]
struct Pad {
    #[input(range = -1..=1)]
    steer: i8,
    #[input(one_shot)]
    dash: bool,
}

#[derive(Clone, PartialEq, Debug, State)]
struct Word(#[state(max = 8)] Vec<u8>);

#[derive(Clone, PartialEq, Debug, Kind)]
struct Boat {
    #[kind(range = 0.0..=64.0, precision = 1.0 / 16.0, moved_by = velocity)]
    position: [f32; 2],
    #[kind(range = -8.0..=8.0, precision = 1.0 / 8.0)]
    velocity: [f32; 2],
    #[kind(rotation = 9)]
    rotation: [f32; 4],
    #[kind(range = 0..=100)]
    fuel: u8,
    cargo: Blob,
    #[kind(constant)]
    paint: u8,
}

fn boat(number: u8) -> Boat {
    Boat {
        position: [f32::from(number), 20.0],
        velocity: [2.0, -1.0],
        rotation: [0.0, 0.0, 0.0, 1.0],
        fuel: number % 100,
        cargo: Blob::EMPTY,
        paint: 7,
    }
}

fn new_session(index: usize) -> Session {
    let config =
        ReplicaConfig { authority: AuthorityPolicy::Anyone, objects_max: 500, ..ReplicaConfig::default() };
    let kinds = Kinds::new()
        .with::<Boat>()
        .with_input::<Pad>()
        .with_event::<Word>("word", EventOptions::DIRECT)
        .with_value::<Word>("word", ValueWriter::Player);
    let entry = if index == 0 { JoinMode::Create } else { JoinMode::Join };
    let mut session =
        Session::new(config, kinds, Slot::at(index), entry, 7 + index as u64).expect("valid settings");
    session.handle_connected(Micros::ZERO, PEERS[1 - index]);
    session
}

/// Ticks a session and returns what it sends.
fn tick(session: &mut Session, now: Micros) -> Vec<(bool, Vec<u8>)> {
    session.tick(now);
    while session.poll_event().is_some() {}
    while session.poll_remote_event().is_some() {}
    while let Some(petition) = session.poll_event_request() {
        session.reject(petition);
    }
    let mut sent = Vec::new();
    while let Some(out) = session.poll_transmit() {
        sent.push((out.reliable, out.bytes.to_vec()));
    }
    sent
}

fn deliver(session: &mut Session, now: Micros, from: PeerId, reliable: bool, bytes: &[u8]) {
    if reliable {
        session.handle_message(now, from, bytes);
    } else {
        session.handle_packet(now, from, bytes);
    }
}

/// An honest pair spawns objects; then the fuzzer controls the second peer. The first byte of every
/// chunk has its length, and whether it is sent as a message or as a mask over the peer's next
/// packets.
pub fn session(data: &[u8]) {
    let mut sessions = [new_session(0), new_session(1)];
    let mut now = Micros::ZERO;
    let mut ids: Vec<ObjectId> = Vec::new();
    for round in 0..12 {
        now += Micros::from_millis(50);
        if round > 3 {
            for (index, session) in sessions.iter_mut().enumerate() {
                ids.extend(session.spawn(&boat(round + 40 * index as u8)));
            }
        }
        let sent = [0, 1].map(|index| tick(&mut sessions[index], now));
        for (index, sent) in sent.into_iter().enumerate() {
            for (reliable, bytes) in sent {
                deliver(&mut sessions[1 - index], now, PEERS[index], reliable, &bytes);
            }
        }
    }
    assert!(sessions[0].iter::<Boat>().count() > 8, "the pair shares no objects");
    let mut rest = data;
    while let Some((head, after)) = rest.split_first() {
        let (chunk, after) = after.split_at(usize::from(head >> 1).min(after.len()));
        rest = after;
        now += Micros::from_millis(25);
        for (number, id) in ids.iter().enumerate() {
            for session in &mut sessions {
                let _ = session.set(*id, &boat(number as u8 ^ *head));
            }
        }
        sessions[1].set_input(Pad { steer: 1, dash: head & 4 != 0 });
        let _ = sessions[1].send_event(
            gaggle_replica::Target::All,
            &ids[..1],
            &Word(chunk.iter().take(8).copied().collect()),
        );
        for (reliable, mut bytes) in tick(&mut sessions[1], now) {
            if head & 1 == 0 && !reliable {
                let start = usize::from(*head) % bytes.len().max(1);
                for (byte, bits) in bytes[start..].iter_mut().zip(chunk) {
                    *byte ^= bits;
                }
            }
            deliver(&mut sessions[0], now, PEERS[1], reliable, &bytes);
        }
        if head & 1 == 1 {
            deliver(&mut sessions[0], now, PEERS[1], true, chunk);
        }
        for (reliable, bytes) in tick(&mut sessions[0], now) {
            deliver(&mut sessions[1], now, PEERS[0], reliable, &bytes);
        }
        let _ = sessions[0].input::<Pad>(Slot::at(1));
        assert!(sessions[0].iter::<Boat>().count() <= 600, "more objects than the limit allows");
    }
}
