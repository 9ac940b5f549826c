//! Two players at one peer, with either peer as leader: each flies its own craft.

#![allow(clippy::unwrap_used, reason = "a test fails at the first error")]

use drake::bots::{Bot, Strength};
use drake::net::{self, Coop};
use drake::{Pad, Setup};
use gaggle_kit::{Micros, PeerId, Slot, SlotSet};
use gaggle_replica::{JoinMode, Session};

struct Peer {
    session: Session,
    coop: Coop,
    bots: Vec<Bot>,
}

fn id(number: usize) -> PeerId {
    PeerId::from_u128(number as u128 + 1)
}

impl Peer {
    fn new(number: usize, slots: SlotSet) -> Peer {
        let entry = if number == 0 { JoinMode::Create } else { JoinMode::Join };
        let (first, seed) = (slots.lowest().unwrap(), number as u64 + 7);
        let mut session = Session::new(net::config(), net::kinds_with_input(), first, entry, seed).unwrap();
        session.set_local_slots(slots).unwrap();
        let bots = slots.iter().map(|slot| Bot::new(slot.index(), Strength::Sharp, 2026)).collect();
        Peer { session, coop: Coop::new(Setup::default(), 1982), bots }
    }
}

/// Frames in which each seat's craft moved, as each peer sees it; the first peer leads.
fn moves_seen(slots: [SlotSet; 2], frames: u64) -> ([Peer; 2], [[u32; 3]; 2]) {
    let mut peers = [0, 1].map(|number| Peer::new(number, slots[number]));
    for (number, peer) in peers.iter_mut().enumerate() {
        peer.session.handle_connected(Micros::ZERO, id(1 - number));
    }
    let mut moved = [[0; 3]; 2];
    for frame in 1..=frames {
        let now = Micros::new(frame * 16_667);
        for number in 0..2 {
            let Peer { session, coop, bots } = &mut peers[number];
            let before = coop.game().crafts;
            let pads: Vec<Pad> = bots.iter_mut().map(|bot| bot.play(coop.game())).collect();
            session.set_inputs(&pads);
            coop.step(session);
            for (seat, moved) in moved[number].iter_mut().enumerate() {
                *moved += u32::from(coop.game().crafts[seat].place != before[seat].place);
            }
            session.tick(now);
            let mut sent = Vec::new();
            while let Some(out) = session.poll_transmit() {
                sent.push((out.reliable, out.bytes.to_vec()));
            }
            while session.poll_event().is_some() {}
            while let Some(event) = session.poll_remote_event() {
                coop.signal(session, &event);
            }
            for (reliable, packet) in sent {
                let other = &mut peers[1 - number].session;
                match reliable {
                    true => other.handle_message(now, id(number), &packet),
                    false => other.handle_packet(now, id(number), &packet),
                }
            }
        }
    }
    (peers, moved)
}

fn slots(numbers: &[usize]) -> SlotSet {
    numbers.iter().copied().map(Slot::at).collect()
}

#[test]
fn both_players_of_one_peer_fly_at_both_peers() {
    for sides in [[slots(&[0]), slots(&[1, 2])], [slots(&[0, 1]), slots(&[2])]] {
        let (peers, moved) = moves_seen(sides, 1_800);
        for (number, peer) in peers.iter().enumerate() {
            let game = peer.coop.game();
            for seat in 0..3 {
                let standing = &game.seats[seat];
                assert!(
                    standing.present() && !standing.bot,
                    "{sides:?}: seat {seat} at {number}: {standing:?}"
                );
                assert!(moved[number][seat] > 200, "{sides:?}: seat {seat} at {number}: {:?}", moved[number]);
            }
            let owned = peer.session.iter_owned::<drake::Craft>(Slot::at(1)).count();
            assert_eq!(owned, 1, "{sides:?}: the second player needs one craft");
        }
    }
}
