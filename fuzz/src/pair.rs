//! Two machines that play a game of shared objects, of which one sends whatever a fuzzer thinks of.
//! Which game is said by a [`Part`].

use gaggle_kit::{Micros, PeerId, Slot};
use gaggle_replica::{JoinMode, Kinds, RemoteEvent, ReplicaConfig, Session};

/// One machine's part in a game, played by a bot.
pub trait Part: Sized {
    /// The settings of its session.
    fn config() -> ReplicaConfig;
    /// What is shared, with the input.
    fn kinds() -> Kinds;
    /// The part of the machine with this number. The first has begun the game.
    fn new(number: usize, session: &mut Session) -> Self;
    /// One frame: an input, what follows from it, and a tick of the session.
    fn frame(&mut self, now: Micros, session: &mut Session);
    /// A signal came.
    fn signal(&mut self, session: &Session, signal: &RemoteEvent);
    /// Panics if the other has got what only the rules may give. Asked of the first machine, which
    /// is honest.
    fn expect_order(&self, session: &Session);
}

const PEERS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

/// What is sent, and whether it is sure to arrive.
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
        let mut session = session.expect("the settings of the game can be");
        session.handle_connected(Micros::ZERO, PEERS[1 - number]);
        let part = P::new(number, &mut session);
        Machine { session, part }
    }

    /// One frame; what there is to send.
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

/// A frame of both, in which what the second sends may be changed.
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

/// An honest pair plays for a moment; then what the other sends falls into the fuzzer's hands. Of
/// every chunk the first byte says how long it is and what becomes of it: a message as it is, or
/// bits to turn in the other's packets of a few frames.
pub fn session<P: Part>(data: &[u8]) {
    let mut machines = [0, 1].map(Machine::<P>::new);
    let mut now = Micros::ZERO;
    for _ in 0..24 {
        frame(&mut machines, &mut now, |_, _| {});
    }
    assert_eq!(machines[0].session.roster().len(), 2, "they play together");
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
