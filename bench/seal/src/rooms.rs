//! Rooms of four at 60 Hz on one core without sockets: packets decoded, frames sealed, journal
//! written to memory, merged packets encoded.
//!
//! `main` calls it. Absent: bytes on the wire.

use bench_report::{Allocations, Report, Row, cpu_time};
use gaggle_kit::Micros;
use gaggle_seal::{Epoch, LinkId, Referee, SealConfig};

use crate::room::{Room, Tapped, slots, stream};

const PLAYERS: usize = 4;
const TICK_RATE: u64 = 60;
const TICKS: u64 = 720;
/// Ticks before the measured ones; all players play by then.
const WARM_UP: u64 = 120;

/// Plays one room and records all packets of its clients.
fn record(config: &SealConfig) -> Vec<Tapped> {
    let mut room = Room::new(config, PLAYERS, 3);
    room.tap = Some(Vec::new());
    room.run(TICKS);
    assert!(room.players.iter().all(|player| player.client.is_playing() && player.refused.is_empty()));
    let tap = room.tap.take().unwrap_or_default();
    tap.into_iter().filter(|sent| sent.is_up).collect()
}

struct Played {
    micros_per_frame: f64,
    allocations_per_frame: f64,
    sealed: u64,
    packets: u64,
}

fn play(config: &SealConfig, rooms: usize, said: &[Tapped]) -> Played {
    let found = |_| {
        let mut referee =
            Referee::found(Micros::ZERO, config.clone(), 7, Epoch(1)).expect("the settings are valid");
        let links: Vec<LinkId> = (0..PLAYERS)
            .map(|index| {
                let link = referee.handle_connected(Micros::ZERO, stream(index), Some(slots(index)));
                link.expect("the referee has a free slot")
            })
            .collect();
        (referee, links)
    };
    let mut all: Vec<(Referee, Vec<LinkId>)> = (0..rooms).map(found).collect();
    let mut journal: Vec<u8> = Vec::with_capacity(rooms * 256);
    let (mut rest, mut sum) = (said, 0u64);
    let (mut began, mut taken) = (cpu_time(), Allocations::now());
    let (mut sealed, mut packets) = (0, 0);
    for tick in 1..=TICKS {
        if tick == WARM_UP {
            (began, taken) = (cpu_time(), Allocations::now());
            sealed = all.iter().map(|(referee, _)| referee.stats().frames_sealed).sum();
            packets = all.iter().map(|(referee, _)| referee.stats().packets_sent).sum();
        }
        let now = Micros::new(tick * 1_000_000 / TICK_RATE);
        let count = rest.iter().take_while(|sent| sent.tick == tick).count();
        let (due, later) = rest.split_at(count);
        rest = later;
        journal.clear();
        for (referee, links) in &mut all {
            for sent in due {
                let link = links[sent.player];
                let result = match sent.is_reliable {
                    true => referee.handle_message(now, link, &sent.bytes),
                    false => referee.handle_packet(now, link, &sent.bytes),
                };
                result.expect("the packet is valid");
            }
            referee.tick(now);
            journal.extend_from_slice(referee.records());
            referee.mark_records_written();
            while let Some(sent) = referee.poll_transmit() {
                sum = sum.wrapping_add(sent.bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>());
            }
        }
    }
    std::hint::black_box(sum);
    let elapsed = (cpu_time() - began).as_secs_f64();
    let allocations = Allocations::now().since(taken).count;
    let total = |of: fn(&Referee) -> u64| all.iter().map(|(referee, _)| of(referee)).sum::<u64>();
    sealed = total(|referee| referee.stats().frames_sealed) - sealed;
    packets = total(|referee| referee.stats().packets_sent) - packets;
    assert_eq!(total(|referee| referee.stats().entries_refused), 0, "an input was late");
    let frames = sealed.max(1) as f64;
    Played {
        micros_per_frame: elapsed * 1e6 / frames,
        allocations_per_frame: allocations as f64 / frames,
        sealed: sealed / rooms as u64,
        packets: packets / rooms as u64,
    }
}

pub(crate) fn rows(report: &mut Report) {
    report.section("Rooms of 4 at 60 Hz on one core, without sockets");
    for (rooms, history_frames, label) in
        [(500, 600, "600 frames kept"), (4_000, 600, "600 frames kept"), (4_000, 120, "120 frames kept")]
    {
        let config = SealConfig { slot_count: PLAYERS, history_frames, ..SealConfig::default() };
        let said = record(&config);
        let before = Allocations::now();
        let played = play(&config, rooms, &said);
        assert!(played.sealed >= TICKS - WARM_UP - 1, "{} frames sealed per room", played.sealed);
        assert!(Allocations::now().since(before).live_bytes < 1 << 20, "memory grew");
        let name = format!("{rooms} rooms, {label}");
        let per_core = 1e6 / TICK_RATE as f64 / played.micros_per_frame;
        report.row(Row::new(format!("{name}: rooms per core"), "").gaggle(per_core).at_least(15_000.0));
        report.row(Row::new(format!("{name}: CPU per room and frame"), "µs").gaggle(played.micros_per_frame));
        let allocations = Row::new(format!("{name}: allocations per sealed frame"), "");
        report.row(allocations.gaggle(played.allocations_per_frame).at_most(0.0));
        let packets = played.packets as f64 / (TICKS - WARM_UP) as f64 * TICK_RATE as f64;
        report.row(Row::new(format!("{name}: merged packets per room"), "1/s").gaggle(packets));
    }
}
