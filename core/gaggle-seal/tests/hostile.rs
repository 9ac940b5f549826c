//! Hostile clients and damaged journals: each does what it can, and no other player notices.

pub mod room;

use gaggle_kit::{Frame, Micros, Prng, Slot};
use gaggle_seal::{
    Cell, Client, ClientTransmit, ConnectError, DamageReason, Fault, JournalError, SealConfig, read_journal,
};
use room::{Room, slots, stream};

fn config(players: usize) -> SealConfig {
    SealConfig { slot_count: players, ..SealConfig::default() }
}

/// A running room, and the packet its player 1 would send next.
fn running() -> (Room, Vec<u8>) {
    let mut room = Room::new(&config(3), 3, 2);
    room.run(120);
    let now = room.now();
    let client = &mut room.players[1].client;
    let frame = client.newest_entry().next();
    client.set_entry(frame, &[Some(&[9])]).expect("the next frame");
    client.tick(now);
    let packet = client.poll_transmit().map(|ClientTransmit { bytes, .. }| bytes.to_vec());
    (room, packet.expect("a packet"))
}

fn hand_in(room: &mut Room, index: usize, bytes: &[u8]) -> Result<(), Fault> {
    let (now, link) = (room.now(), room.players[index].link.expect("connected"));
    room.referee.handle_packet(now, link, bytes)
}

#[test]
fn every_cut_and_flipped_packet_is_survived() {
    let (mut room, packet) = running();
    for cut in 0..packet.len() {
        let _ = hand_in(&mut room, 1, &packet[..cut]);
    }
    for bit in 0..packet.len() * 8 {
        let mut flipped = packet.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        let _ = hand_in(&mut room, 1, &flipped);
        room.tick();
        // What it says next contradicts the damaged packet: it is thrown out, and comes back.
        if room.players[1].link.is_none() {
            room.connect(1);
        }
    }
    room.run(60);
    for index in [0, 2] {
        assert!(room.players[index].client.is_playing());
        assert_eq!(room.players[index].refused, []);
    }
}

#[test]
fn doubled_packet_changes_nothing() {
    let (mut room, packet) = running();
    let before = room.referee.stats().entries_taken;
    assert_eq!(hand_in(&mut room, 1, &packet), Ok(()));
    let once = room.referee.stats().entries_taken;
    assert_eq!(hand_in(&mut room, 1, &packet), Ok(()));
    assert!(once > before);
    assert_eq!(room.referee.stats().entries_taken, once);
}

#[test]
fn late_entries_are_counted_and_change_no_frame() {
    let (mut room, packet) = running();
    room.players[1].is_awake = false;
    room.run(30);
    let sealed = room.referee.log().sealed();
    let before: Vec<_> = (100..=sealed.number()).map(|f| room.referee.log().hash(Frame::new(f))).collect();
    let refused = room.referee.stats().entries_refused;
    assert_eq!(hand_in(&mut room, 1, &packet), Ok(()));
    assert!(room.referee.stats().entries_refused > refused);
    let after: Vec<_> = (100..=sealed.number()).map(|f| room.referee.log().hash(Frame::new(f))).collect();
    assert_eq!(before, after);
}

#[test]
fn entries_far_ahead_are_not_kept() {
    fn rushes(client: &mut Client, frame: Frame, value: u8, _: bool) {
        let _ = client.set_entry(frame + 400, &[Some(&[value])]);
    }
    let mut room = Room::new(&config(2), 2, 2);
    room.run(60);
    room.players[1].entry = rushes;
    room.run(60);
    let sealed = room.referee.log().sealed();
    assert!(matches!(room.referee.log().cell(sealed, Slot::at(1)), Cell::Missed { .. }));
    assert!(room.players[0].client.is_playing() && room.players[0].refused.is_empty());
}

#[test]
fn rushing_players_gain_no_time() {
    fn rushes(client: &mut Client, frame: Frame, value: u8, _: bool) {
        let last = frame + 60;
        while client.newest_entry() < last {
            let next = client.newest_entry().next();
            let _ = client.set_entry(next, &[Some(&[value])]);
        }
    }
    let mut room = Room::new(&config(2), 2, 2);
    room.players.iter_mut().for_each(|player| player.entry = rushes);
    room.run(300);
    let ahead = room.referee.log().sealed().number().saturating_sub(room.ticks as u32);
    assert!(ahead <= SealConfig::default().early_frames, "{ahead} frames before they were due");
}

#[test]
fn two_values_for_one_frame_are_fault() {
    let mut room = Room::new(&config(2), 2, 2);
    room.run(60);
    // A second process that pretends to be the first gives other values for the same frames.
    let now = room.now();
    let mut packets = Vec::new();
    for value in [1, 2] {
        let mut twin = Client::new(config(2), stream(1), slots(1)).unwrap();
        twin.handle_connected(now);
        let snapshot = snapshot_for(&mut room);
        twin.handle_message(now, &snapshot).unwrap();
        let _ = twin.set_entry(Frame::new(room.ticks as u32 + 10), &[Some(&[value])]);
        while twin.poll_transmit().is_some() {}
        twin.tick(now);
        packets.push(twin.poll_transmit().unwrap().bytes.to_vec());
    }
    assert_eq!(hand_in(&mut room, 1, &packets[0]), Ok(()));
    let fault = hand_in(&mut room, 1, &packets[1]).unwrap_err();
    assert!(matches!(fault, Fault::Equivocation { .. }), "{fault}");
}

/// The snapshot a fresh spectator would get.
fn snapshot_for(room: &mut Room) -> Vec<u8> {
    let now = room.now();
    let mut guest = Client::new(config(2), stream(40), slots(0)).expect("sensible");
    guest.handle_connected(now);
    while guest.poll_transmit().is_some_and(|sent| sent.bytes[0] != 7) {}
    let enter = guest.poll_transmit().expect("it asks").bytes.to_vec();
    let link = room.referee.handle_connected(now, stream(40), None).expect("there is room");
    room.referee.handle_message(now, link, &enter).expect("honest");
    room.referee.tick(now);
    while let Some(sent) = room.referee.poll_transmit() {
        if sent.link == link && sent.is_reliable {
            return sent.bytes.to_vec();
        }
    }
    panic!("no snapshot");
}

#[test]
fn ack_of_future_frame_is_fault() {
    let (mut room, mut packet) = running();
    let ahead = room.referee.log().sealed() + 5;
    packet[3..5].copy_from_slice(&(ahead.number() as u16).to_le_bytes());
    assert_eq!(hand_in(&mut room, 1, &packet), Err(Fault::AckBeyondSealed(ahead)));
}

#[test]
fn flood_is_dropped_beyond_its_rate() {
    let (mut room, packet) = running();
    for _ in 0..10_000 {
        let _ = hand_in(&mut room, 1, &packet);
    }
    assert!(room.referee.stats().over_rate > 9_000);
    let (now, link) = (room.now(), room.players[1].link.unwrap());
    let flooded = (0..100).any(|_| room.referee.handle_message(now, link, &[1, 0]) == Err(Fault::Flood));
    assert!(flooded);
    room.run(60);
    assert!(room.players[0].refused.is_empty() && room.players[2].refused.is_empty());
}

#[test]
fn random_messages_are_survived_by_both_ends() {
    let mut random = Prng::new(3);
    for _ in 0..60 {
        let mut room = Room::new(&config(2), 2, 1);
        room.run(30);
        let (now, link) = (room.now(), room.players[1].link.unwrap());
        for _ in 0..12 {
            let mut bytes = vec![0; random.below(200) as usize];
            random.fill(&mut bytes);
            if let Some(first) = bytes.first_mut() {
                *first %= 15;
            }
            let _ = room.referee.handle_message(now, link, &bytes);
            let _ = room.players[0].client.handle_message(now, &bytes);
            let _ = room.players[0].client.handle_packet(now, &bytes);
        }
        room.referee.tick(now + Micros::from_millis(17));
    }
}

#[test]
fn foreign_slots_and_older_processes_are_not_let_in() {
    let mut room = Room::new(&config(2), 2, 1);
    let now = room.now();
    let beyond = room.referee.handle_connected(now, stream(9), Some(slots(2)));
    assert_eq!(beyond, Err(ConnectError::NoSuchSlot(Slot::at(2))));
    let mut older = stream(1);
    older.incarnation = 0;
    assert_eq!(room.referee.handle_connected(now, older, Some(slots(1))), Err(ConnectError::OlderProcess));
    let small = SealConfig { clients_max: 2, ..config(2) };
    let mut room = Room::new(&small, 2, 1);
    assert_eq!(room.referee.handle_connected(now, stream(9), None), Err(ConnectError::Full(2)));
}

#[test]
fn taken_slot_is_not_shared() {
    let mut room = Room::new(&config(2), 2, 1);
    room.run(60);
    let now = room.now();
    // A second ticket for the same slot: it waits until the slot is free.
    let mut guest = Client::new(config(2), stream(9), slots(1)).unwrap();
    let link = room.referee.handle_connected(now, stream(9), Some(slots(1))).unwrap();
    let snapshot = snapshot_for(&mut room);
    guest.handle_message(now, &snapshot).unwrap();
    guest.set_ready(true);
    for _ in 0..60 {
        guest.tick(room.now());
        while let Some(sent) = guest.poll_transmit() {
            let now = room.now();
            room.referee.handle_packet(now, link, sent.bytes).unwrap();
        }
        room.tick();
    }
    let sealed = room.referee.log().sealed();
    assert_eq!(room.referee.log().row(sealed, Slot::at(1)).map(|row| row.stream), Some(stream(1)));
}

#[test]
fn cut_journal_is_played_as_far_as_it_is_whole() {
    let mut room = Room::new(&config(2), 2, 1);
    room.run(120);
    let journal = room.journal.clone();
    let mut furthest = Frame::START;
    for cut in 0..journal.len() {
        match read_journal(&journal[..cut], &config(2), |_| {}) {
            Err(error) => assert!(matches!(error, JournalError::NotAJournal | JournalError::NoStart)),
            Ok(recovered) => {
                assert!(recovered.log.sealed() >= furthest && recovered.whole_bytes <= cut);
                furthest = recovered.log.sealed();
                let damage = recovered.damage.map(|damage| damage.reason);
                assert_eq!(damage.is_none(), recovered.whole_bytes == cut);
                assert!(matches!(damage, None | Some(DamageReason::Cut)), "{damage:?}");
                assert_eq!(recovered.log.hash(furthest), room.referee.log().hash(furthest));
            }
        }
    }
}

#[test]
fn damaged_journal_ends_before_damage() {
    let mut room = Room::new(&config(2), 2, 1);
    room.run(60);
    for at in (0..room.journal.len()).step_by(3) {
        let mut damaged = room.journal.clone();
        damaged[at] ^= 0x10;
        if let Ok(recovered) = read_journal(&damaged, &config(2), |_| {}) {
            assert!(recovered.damage.is_some() && recovered.whole_bytes <= at, "byte {at}");
            let sealed = recovered.log.sealed();
            assert_eq!(recovered.log.hash(sealed), room.referee.log().hash(sealed));
        }
    }
    let mut other = room.journal.clone();
    other[7] = 2;
    assert_eq!(read_journal(&other, &config(2), |_| {}).unwrap_err(), JournalError::VersionMismatch(2));
    let mismatch = read_journal(&room.journal, &config(3), |_| {}).unwrap_err();
    let told = mismatch.to_string();
    assert!(told.starts_with("journal of a match of 2 slots with 1 bytes, not of this one;"), "{told}");
}
