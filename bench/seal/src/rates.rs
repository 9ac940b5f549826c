//! Bytes to one player in rooms of 8 to 1,000, with an input change in every tenth frame and a
//! round trip of 100 ms.
//!
//! `main` calls it. Absent: CPU time.

use bench_report::{Report, Row};
use gaggle_kit::Micros;
use gaggle_seal::SealConfig;

use crate::room::Room;

struct Case {
    players: usize,
    tick_rate: u32,
    /// Milliseconds between packets to one player.
    interval: u64,
    /// Ticks one way: 50 ms.
    latency: usize,
    bytes_max: f64,
}

const CASES: [Case; 4] = [
    Case { players: 8, tick_rate: 60, interval: 33, latency: 3, bytes_max: 1_000.0 },
    Case { players: 64, tick_rate: 60, interval: 33, latency: 3, bytes_max: 2_200.0 },
    Case { players: 256, tick_rate: 60, interval: 33, latency: 3, bytes_max: 7_500.0 },
    Case { players: 1_000, tick_rate: 20, interval: 50, latency: 1, bytes_max: 10_000.0 },
];

pub(crate) fn rows(report: &mut Report) {
    report.section("Bytes to one player: 1-byte inputs, p(change) 1/10, round trip 100 ms, no loss");
    for case in &CASES {
        let config = SealConfig {
            slot_count: case.players,
            tick_rate: case.tick_rate,
            send_interval: Micros::from_millis(case.interval),
            ..SealConfig::default()
        };
        let mut room = Room::new(&config, case.players, case.latency);
        let seconds = 10;
        room.run(u64::from(case.tick_rate) * 12);
        assert!(room.players.iter().all(|player| player.client.is_playing()), "not all players have joined");
        room.journal = Vec::new();
        let (bytes, packets) = (room.down_bytes, room.down_packets);
        let refused = room.referee.stats().entries_refused;
        room.run(u64::from(case.tick_rate) * seconds);
        assert_eq!(room.referee.stats().entries_refused, refused, "an input was late");
        let each = |total: u64| total as f64 / case.players as f64 / seconds as f64;
        let rate = each(room.down_bytes - bytes);
        let name = format!("{} players at {} Hz", case.players, case.tick_rate);
        report.row(Row::new(format!("{name}, to one player"), "B/s").gaggle(rate).at_most(case.bytes_max));
        let packets = each(room.down_packets - packets);
        report.row(Row::new(format!("{name}, packets to one player"), "1/s").gaggle(packets));
    }
}
