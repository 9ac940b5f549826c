//! Two peers of a replica session, one of which sends what the fuzzer chooses.
//!
//! Called by `drake.rs` and `millpond.rs`. Absent: the game, which is a [`Part`].

use gaggle_kit::{Micros, PeerId, Slot};
use gaggle_replica::{JoinMode, Kinds, RemoteEvent, ReplicaConfig, Session};

/// One peer's part in a game, played by a bot.
pub trait Part: Sized {
    /// Settings of its session.
    fn config() -> ReplicaConfig;
    /// Kinds of the game, its input included.
    fn kinds() -> Kinds;
    /// Part of peer `number`, 0 or 1. Peer 0 has created the session.
    fn new(number: usize, session: &mut Session) -> Self;
    /// One frame: an input, what the game makes of it, and a tick of the session.
    fn frame(&mut self, now: Micros, session: &mut Session);
    /// Hands over a remote event.
    fn signal(&mut self, session: &Session, signal: &RemoteEvent);
    /// Panics if the second peer got what the rules do not give. Called at the first, honest peer.
    fn expect_order(&self, session: &Session);
}

const PEERS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

/// Whether it is a reliable message, and its bytes.
type Sent = (bool, Vec<u8>);

struct Machine<P> {
    session: Session,
    part: P,
}

impl<P: Part> Machine<P> {
    fn new(number: usize) -> Machine<P> {
        let entry = if number == 0 { JoinMode::Create } else { JoinMode::Join };
        let player = Slot::at(number);
        let session = Session::new(P::config(), P::kinds(), player, entry, number as u64 + 7);
        let mut session = session.expect("valid settings");
        session.handle_connected(Micros::ZERO, PEERS[1 - number]);
        let part = P::new(number, &mut session);
        Machine { session, part }
    }

    /// One frame; returns what the peer sends.
    fn frame(&mut self, now: Micros) -> Vec<Sent> {
        self.part.frame(now, &mut self.session);
        while self.session.poll_event().is_some() {}
        while let Some(signal) = self.session.poll_remote_event() {
            self.part.signal(&self.session, &signal);
        }
        while let Some(petition) = self.session.poll_event_request() {
            self.session.reject(petition);
        }
        let mut sent = Vec::new();
        while let Some(out) = self.session.poll_transmit() {
            sent.push((out.reliable, out.bytes.to_vec()));
        }
        sent
    }

    fn hear(&mut self, now: Micros, from: PeerId, (reliable, bytes): &Sent) {
        match reliable {
            true => self.session.handle_message(now, from, bytes),
            false => self.session.handle_packet(now, from, bytes),
        }
    }
}

/// One frame of both peers. `tamper` may change what the second sends.
fn frame<P: Part>(
    machines: &mut [Machine<P>; 2],
    now: &mut Micros,
    mut tamper: impl FnMut(bool, &mut Vec<u8>),
) {
    *now += Micros::new(16_667);
    for sent in machines[0].frame(*now) {
        machines[1].hear(*now, PEERS[0], &sent);
    }
    for mut sent in machines[1].frame(*now) {
        tamper(sent.0, &mut sent.1);
        machines[0].hear(*now, PEERS[1], &sent);
    }
}

/// An honest pair plays for 24 frames; then the fuzzer controls the second peer. The first byte of
/// every chunk has its length, and whether it is sent as a message or as a mask over the peer's
/// packets of the next frames.
pub fn session<P: Part>(data: &[u8]) {
    let mut machines = [0, 1].map(Machine::<P>::new);
    let mut now = Micros::ZERO;
    for _ in 0..24 {
        frame(&mut machines, &mut now, |_, _| {});
    }
    assert_eq!(machines[0].session.roster().len(), 2, "the pair is not in one session");
    let mut rest = data;
    while let Some((head, after)) = rest.split_first() {
        let (chunk, after) = after.split_at(usize::from(head >> 1).min(after.len()));
        rest = after;
        if head & 1 == 1 {
            machines[0].hear(now, PEERS[1], &(true, chunk.to_vec()));
        }
        for _ in 0..4 {
            frame(&mut machines, &mut now, |reliable, bytes| {
                if head & 1 == 0 && !reliable {
                    let start = usize::from(*head) % bytes.len().max(1);
                    for (byte, bits) in bytes[start..].iter_mut().zip(chunk) {
                        *byte ^= bits;
                    }
                }
            });
        }
        machines[0].part.expect_order(&machines[0].session);
    }
}
