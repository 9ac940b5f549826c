//! A running match allocates nothing: rollbacks, questions, packets and checksums included.

#[path = "stories/world/mod.rs"]
mod world;

use gaggle_kit::{Micros, Slot};
use gaggle_timeline::{Incarnation, PeerSlots, Session, Timeline, TimelineConfig};
use world::{MixGame, peer};

const LATENCY_TICKS: usize = 5;
const PACKET_BYTES: usize = 256;

/// Packets under way between two peers, in memory that is allocated at the start.
struct Pipe {
    ring: Vec<Vec<(bool, usize, [u8; PACKET_BYTES])>>,
}

impl Pipe {
    fn new() -> Pipe {
        Pipe { ring: (0..LATENCY_TICKS).map(|_| Vec::with_capacity(8)).collect() }
    }
}

#[test]
fn running_match_allocates_nothing() {
    let seats = [PeerSlots::new(peer(0), Slot::at(0)), PeerSlots::new(peer(1), Slot::at(1))];
    let mut machines = [0, 1].map(|index| {
        let config = TimelineConfig::default();
        let mut session =
            Session::new(config, peer(index), &seats, Incarnation(index as u32)).expect("sensible");
        session.handle_connected(Micros::ZERO, peer(1 - index)).expect("seated");
        Timeline::new(session, MixGame::new(Vec::new()))
    });
    let mut pipes = [Pipe::new(), Pipe::new()];
    for tick in 1..600 {
        run_tick(tick, &mut machines, &mut pipes);
    }
    let rollbacks = machines[0].session().stats().rollbacks;
    let counted = allocation_counter::measure(|| {
        for tick in 600..3_000 {
            run_tick(tick, &mut machines, &mut pipes);
        }
    });
    let rollbacks = machines[0].session().stats().rollbacks - rollbacks;
    assert!(rollbacks > 100, "only {rollbacks} rollbacks: this proves nothing");
    assert!(machines[0].session().confirmed_frame().number() > 2_900);
    assert_eq!(counted.count_total, 0, "in 2,400 ticks of two machines with {rollbacks} rollbacks");
}

fn run_tick(tick: usize, machines: &mut [Timeline<MixGame>; 2], pipes: &mut [Pipe; 2]) {
    let now = Micros::from_millis(tick as u64 * 16);
    for (index, machine) in machines.iter_mut().enumerate() {
        let pressed = (tick / (7 + index)) as u8;
        machine.session_mut().set_input(Slot::at(index), pressed).expect("local");
        machine.tick(now);
        let due = &mut pipes[index].ring[tick % LATENCY_TICKS];
        due.clear();
        while let Some(packet) = machine.session_mut().poll_transmit() {
            let mut bytes = [0; PACKET_BYTES];
            bytes[..packet.bytes.len()].copy_from_slice(packet.bytes);
            due.push((packet.is_reliable(), packet.bytes.len(), bytes));
        }
        while machine.session_mut().poll_event().is_some() {}
    }
    for from in 0..2 {
        let session = machines[1 - from].session_mut();
        for (reliable, length, bytes) in &pipes[from].ring[(tick + 1) % LATENCY_TICKS] {
            if *reliable {
                session.handle_message(now, peer(from), &bytes[..*length]);
            } else {
                session.handle_packet(now, peer(from), &bytes[..*length]);
            }
        }
    }
}
