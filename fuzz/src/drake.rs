//! Machines that play drake with somebody who sends whatever a fuzzer thinks of.

use drake::bots::{Bot, Strength};
use drake::net::{self, Coop};
use drake::{SEATS, Setup, Standing};
use gaggle_kit::{Micros, PeerId};
use gaggle_replica::{Entry, Player, Session};

/// A name and what is done with bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets.
pub const TARGETS: [Target; 1] = [("drake_session", session)];

const PEERS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

/// One machine.
struct Machine {
    session: Session,
    part: Coop,
    bot: Bot,
}

impl Machine {
    fn new(number: usize) -> Machine {
        let entry = if number == 0 { Entry::Found } else { Entry::Join };
        let player = Player::at(number as u8);
        let session = Session::new(net::config(), net::kinds_with_input(), player, entry, number as u64 + 7);
        let mut session = session.expect("the settings of the game can be");
        session.handle_linked(Micros::ZERO, PEERS[1 - number]);
        let part = Coop::new(Setup::default(), 3);
        Machine { session, part, bot: Bot::new(number, Strength::Sharp, 5) }
    }

    /// One frame; what there is to send.
    fn frame(&mut self, now: Micros) -> Vec<(bool, Vec<u8>)> {
        let pad = self.bot.play(self.part.game());
        self.session.sample_input(pad);
        self.part.step(&mut self.session);
        self.session.tick(now);
        while self.session.next_event().is_some() {}
        while let Some(signal) = self.session.next_signal() {
            self.part.signal(&self.session, &signal);
        }
        let mut sent = Vec::new();
        while let Some(out) = self.session.next_packet() {
            sent.push((out.reliable, out.bytes.to_vec()));
        }
        sent
    }

    fn hear(&mut self, now: Micros, from: PeerId, (reliable, bytes): &(bool, Vec<u8>)) {
        match reliable {
            true => self.session.handle_message(now, from, bytes),
            false => self.session.handle_packet(now, from, bytes),
        }
    }
}

/// An honest pair plays for a moment; then what the other sends falls into the fuzzer's hands. Of every chunk the first byte says
/// how long it is and what becomes of it: a message as it is, or bits to turn in the other's packets of a few frames.
pub fn session(data: &[u8]) {
    let mut machines = [Machine::new(0), Machine::new(1)];
    let mut now = Micros::ZERO;
    let frame =
        |machines: &mut [Machine; 2], now: &mut Micros, tamper: &mut dyn FnMut(bool, &mut Vec<u8>)| {
            *now += Micros::new(16_667);
            for sent in machines[0].frame(*now) {
                machines[1].hear(*now, PEERS[0], &sent);
            }
            for mut sent in machines[1].frame(*now) {
                tamper(sent.0, &mut sent.1);
                machines[0].hear(*now, PEERS[1], &sent);
            }
        };
    for _ in 0..24 {
        frame(&mut machines, &mut now, &mut |_, _| {});
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
            frame(&mut machines, &mut now, &mut |reliable, bytes| {
                if head & 1 == 0 && !reliable {
                    let start = usize::from(*head) % bytes.len().max(1);
                    for (byte, bits) in bytes[start..].iter_mut().zip(chunk) {
                        *byte ^= bits;
                    }
                }
            });
        }
        let game = machines[0].part.game();
        assert!(game.seats.iter().all(|seat| seat.wins <= game.setup.wins), "nobody won what he did not win");
        let held = machines[0].session.mine::<Standing>().count();
        assert_eq!(held, SEATS, "every standing is the referee's");
    }
}
