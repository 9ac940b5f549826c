//! Steady state allocates nothing: entries, seals, packets, journal and clocks included.

pub mod room;

use gaggle_seal::SealConfig;
use room::Room;

fn count(players: usize, value_bytes: usize) {
    let config = SealConfig { slot_count: players, value_bytes, ..SealConfig::default() };
    let mut room = Room::new(&config, players, 3);
    room.run(900);
    // A row begins as missed: what was given for those first frames did not count.
    room.players.iter_mut().for_each(|player| player.refused.clear());
    room.journal = Vec::with_capacity(4 << 20);
    let before = room.referee.stats();
    let counted = allocation_counter::measure(|| room.run(1_200));
    let after = room.referee.stats();
    let sealed = after.frames_sealed - before.frames_sealed;
    let packets = after.packets_sent - before.packets_sent;
    assert!(sealed >= 1_199, "only {sealed} frames sealed: this proves nothing");
    assert!(packets as usize > 500 * players, "only {packets} packets");
    assert!(room.players.iter().all(|player| player.client.is_playing() && player.refused.is_empty()));
    assert_eq!(counted.count_total, 0, "in {sealed} frames of {players} players");
}

#[test]
fn nothing_is_allocated_once_small_room_runs() {
    count(4, 1);
}

#[test]
fn nothing_is_allocated_once_large_room_with_lanes_runs() {
    count(40, 64);
}
