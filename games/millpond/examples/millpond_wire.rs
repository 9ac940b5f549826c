//! A fixed game on the pond: two peers must send the same bytes natively and in WASM.
//!
//! Two bots play over a link without loss. The result is stored in memory behind two marker words,
//! because a WASM host without imports can read nothing else. `golden_in_wasm` of gaggle-lab
//! includes it.

use std::sync::atomic::{AtomicU64, Ordering};

use gaggle_kit::{Micros, PeerId, Slot, fnv1a_64};
use gaggle_replica::{JoinMode, Session};
use millpond::bots::Bot;
use millpond::net::{self, Mill};

/// Bytes that both peers sent, and their hash.
#[allow(dead_code)] // As a program it only reports; the test that includes it compares.
pub(crate) const GOLDEN: (u64, u64) = (42_925, 0xcc68_89ca_4a45_b27e);

/// Marker before the result in memory.
pub(crate) const MARK: [u64; 2] = [0x6a7d_9e21_00c0_ffee, 0x1982_0715_2026_1117];

static RESULT: [AtomicU64; 4] = [const { AtomicU64::new(0) }; 4];

/// One peer with its game and its bot.
struct Machine {
    session: Session,
    part: Mill,
    bot: Bot,
}

fn peer(number: usize) -> PeerId {
    PeerId::from_u128(number as u128 + 1)
}

impl Machine {
    fn new(number: usize) -> Machine {
        let entry = if number == 0 { JoinMode::Create } else { JoinMode::Join };
        let player = Slot::at(number);
        let session = Session::new(net::config(), net::kinds_with_input(), player, entry, number as u64 + 7);
        let session = session.expect("the settings of the game are valid");
        let mut machine = Machine { session, part: Mill::new(1982), bot: Bot::new(number, 2026) };
        if number == 0 {
            machine.part.found(&mut machine.session);
        }
        machine
    }
}

/// Plays 10 seconds with two bots. Returns bytes and hash.
pub(crate) fn fixed_match() -> (u64, u64) {
    let mut machines = [Machine::new(0), Machine::new(1)];
    let (mut bytes, mut hash) = (0, 0);
    for (number, machine) in machines.iter_mut().enumerate() {
        machine.session.handle_connected(Micros::ZERO, peer(1 - number));
    }
    for frame in 1..=600 {
        let now = Micros::new(frame * 16_667);
        for number in 0..2 {
            let machine = &mut machines[number];
            let pad = machine.bot.play(machine.part.pond());
            machine.session.set_input(pad);
            machine.part.step(&mut machine.session);
            machine.session.tick_with(now, Some(machine.part.nearness()));
            let mut sent = Vec::new();
            while let Some(out) = machine.session.poll_transmit() {
                sent.push((out.reliable, out.bytes.to_vec()));
            }
            while machine.session.poll_event().is_some() {}
            while let Some(signal) = machine.session.poll_remote_event() {
                machine.part.signal(&machine.session, &signal);
            }
            for (reliable, packet) in sent {
                bytes += packet.len() as u64;
                hash = fnv1a_64(&[&u64::to_le_bytes(hash)[..], &packet].concat());
                let other = &mut machines[1 - number].session;
                match reliable {
                    true => other.handle_message(now, peer(number), &packet),
                    false => other.handle_packet(now, peer(number), &packet),
                }
            }
        }
    }
    (bytes, hash)
}

fn main() {
    let (bytes, hash) = fixed_match();
    for (word, value) in RESULT.iter().zip([MARK[0], MARK[1], bytes, hash]) {
        word.store(value, Ordering::Relaxed);
    }
    // Read from outside the WASM module.
    std::hint::black_box(&RESULT);
    println!("{bytes} bytes, {hash:#018x}");
}
