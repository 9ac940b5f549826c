//! Several players on one peer, inputs of different kinds, and the cost of steady state.

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet, State};
use gaggle_timeline::{Game, Incarnation, Inputs, PeerSlots, Session, Timeline, TimelineConfig};

/// Slots may have different inputs: a pilot steers, a gunner aims.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Input)]
enum Order {
    #[default]
    Nothing,
    Steer(i8),
    Aim {
        x: i16,
        y: i16,
    },
}

#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
struct Ship {
    heading: i32,
    aim: (i32, i32),
    frame: u32,
}

impl Game for Ship {
    type Input = Order;

    fn tick(&mut self, inputs: &Inputs<'_, Order>) {
        self.frame = inputs.frame().number();
        for slot in inputs.present_slots() {
            match inputs.get(slot) {
                Order::Nothing => {}
                Order::Steer(by) => self.heading += i32::from(by),
                Order::Aim { x, y } => self.aim = ((self.aim.0 * 3 + i32::from(x)) & 0xffff, i32::from(y)),
            }
        }
    }
}

/// A packet on its way: when it arrives, at which peer.
struct InFlight {
    at_tick: u64,
    to: usize,
    reliable: bool,
    bytes: Vec<u8>,
}

const PEERS: [PeerId; 2] = [PeerId::from_u128(1), PeerId::from_u128(2)];

/// Delivers everything to the other peer after five ticks.
fn exchange(tick: u64, ships: &mut [Timeline<Ship>; 2], flying: &mut Vec<InFlight>) {
    for (index, ship) in ships.iter_mut().enumerate() {
        while let Some(packet) = ship.session_mut().poll_transmit() {
            let bytes = packet.bytes.to_vec();
            flying.push(InFlight { at_tick: tick + 5, to: 1 - index, reliable: packet.is_reliable(), bytes });
        }
    }
    let now = Micros::from_millis(tick * 16);
    for packet in flying.extract_if(.., |packet| packet.at_tick <= tick) {
        let (session, from) = (ships[packet.to].session_mut(), PEERS[1 - packet.to]);
        if packet.reliable {
            session.handle_message(now, from, &packet.bytes);
        } else {
            session.handle_packet(now, from, &packet.bytes);
        }
    }
}

#[test]
fn two_players_at_one_machine_and_one_at_another_steer_one_ship() {
    // The slots of one peer need not be adjacent.
    let seats = [
        PeerSlots { peer: PEERS[0], slots: [Slot::at(0), Slot::at(2)].into_iter().collect() },
        PeerSlots::new(PEERS[1], Slot::at(1)),
    ];
    let mut ships = [0, 1].map(|index| {
        let incarnation = Incarnation(index as u32);
        let config = TimelineConfig::default();
        let mut session = Session::new(config, PEERS[index], &seats, incarnation).expect("sensible");
        session.handle_connected(Micros::ZERO, PEERS[1 - index]).expect("seated");
        Timeline::new(session, Ship::default())
    });
    let mut flying = Vec::new();
    for tick in 1..=700u64 {
        let at_rest = tick > 600;
        let steer = Order::Steer(if tick % 50 < 25 { 1 } else { -2 });
        let aim = Order::Aim { x: tick as i16 / 7, y: -3 };
        let order = |order: Order| if at_rest { Order::Nothing } else { order };
        ships[0].session_mut().set_input(Slot::at(0), order(steer)).expect("local");
        ships[0].session_mut().set_input(Slot::at(2), order(aim)).expect("local");
        // An intent is computed from the state the player sees.
        ships[1]
            .set_input_with(Slot::at(1), |ship| {
                order(if ship.frame % 26 < 13 { Order::Steer(-1) } else { Order::Nothing })
            })
            .expect("local");
        assert!(
            ships[1].session_mut().set_input(Slot::at(0), aim).is_err(),
            "that slot is on the other peer"
        );
        for ship in &mut ships {
            ship.tick(Micros::from_millis(tick * 16));
        }
        exchange(tick, &mut ships, &mut flying);
    }
    assert_eq!(ships[0].session().slots_at(Frame::new(9)), SlotSet::first(3));
    let rest = |ship: &Ship| (ship.heading, ship.aim);
    assert_eq!(rest(ships[0].game()), rest(ships[1].game()));
    assert_ne!(rest(ships[0].game()), (0, (0, 0)));
    assert!(ships.iter().all(|ship| ship.session().stats().rollbacks > 10), "nothing was guessed wrong");
}
