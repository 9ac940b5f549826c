//! Cost for players of joins, leaves, crashes and spectators.
//!
//! Gaggle alone: the other libraries have no joins into a running match. Called by `main.rs`.
//! Absent: the peers (`crate::people`).

use bench_report::{Report, Row};

use super::{packing, spectators};
use crate::people::{People, geese};
use crate::weight::Weight;

/// Seeds of a figure, of which the worst counts.
const SEEDS: u64 = 10;
/// Latency of three frames, for a round trip of 100 ms.
const LATENCY_MS: u64 = 50;
pub(super) const STATE_BYTES: usize = 100_000;
const WINDOW_FRAMES: u64 = 8;
const FRAMES_PER_SECOND: u64 = 60;
/// Frames of silence after which a peer counts as gone: three seconds.
const TIMEOUT_FRAMES: u64 = 3 * FRAMES_PER_SECOND;
const ROUND_TRIP_FRAMES: u64 = 2 * LATENCY_MS * FRAMES_PER_SECOND / 1_000;

/// Joins, leaves, crashes, packets and spectators.
pub fn rows(report: &mut Report) {
    report.section("People come and go: round trip 100 ms, window 8, state 100 KB; worst of 10 seeds");
    join(report);
    state(report);
    packing::rows(report);
    leave(report);
    crash(report);
    packets(report);
    spectators::rows(report);
}

fn worst(of: impl Fn(u64) -> u64) -> f64 {
    (1..=SEEDS).map(of).max().unwrap_or(0) as f64
}

fn join(report: &mut Report) {
    let (mut stalled, mut millis) = (0, 0);
    for seed in 1..=SEEDS {
        let mut people = People::of(4, 3, LATENCY_MS, STATE_BYTES, seed);
        people.run_ms(3_000);
        people.forget_stalls();
        people.join(3, &[0, 1, 2]);
        let took = people.run_until(5_000, |people| people.session(3).is_member());
        people.run_ms(3_000);
        stalled = stalled.max(people.stalled_most(0..3));
        millis = millis.max(took.as_millis());
    }
    let seconds = millis as f64 / 1_000.0;
    report.row(Row::new("a peer joins: it plays after", "s").gaggle(seconds).at_most(1.0));
    report.row(Row::new("a peer joins: others wait", "frames").gaggle(stalled as f64).at_most(0.0));
}

/// Bytes a joiner is sent until it is a member, most of them a state of thousands of objects.
fn state(report: &mut Report) {
    let mut people = People::stuffed(2, 0, LATENCY_MS, (STATE_BYTES, geese), 1);
    people.found(0);
    people.run_ms(500);
    people.join(1, &[0]);
    people.run_until(5_000, |people| people.session(1).is_member());
    let sent = people.bytes_sent(0, 1) as f64 / 1_000.0;
    let half = STATE_BYTES as f64 / 2_000.0;
    report.row(Row::new("a peer joins a game of many things: is sent", "kB").gaggle(sent).at_most(half));
}

fn leave(report: &mut Report) {
    for (who, leaver) in [("a peer", 2), ("the leader", 0)] {
        let stalled = worst(|seed| {
            let mut people = People::of(3, 3, LATENCY_MS, STATE_BYTES, seed);
            people.run_ms(3_000);
            people.forget_stalls();
            people.leave(leaver);
            people.run_until(3_000, |people| people.session(leaver).is_closed());
            people.crash(leaver);
            people.run_ms(5_000);
            assert_eq!(people.present(1).len(), 2, "the leaver is still present");
            people.stalled_most((0..3).filter(|index| *index != leaver))
        });
        report.row(Row::new(format!("{who} leaves: others wait"), "frames").gaggle(stalled).at_most(0.0));
    }
}

fn crash(report: &mut Report) {
    let bound = TIMEOUT_FRAMES + 2 * ROUND_TRIP_FRAMES - WINDOW_FRAMES;
    for (who, victim) in [("a peer", 2), ("the leader", 0)] {
        let stalled = worst(|seed| {
            let mut people = People::of(3, 3, LATENCY_MS, STATE_BYTES, seed);
            people.run_ms(3_000 + 7 * seed);
            people.forget_stalls();
            people.crash(victim);
            people.run_ms(6_000);
            assert_eq!(people.present(1).len(), 2, "the crashed peer is still present");
            people.stalled_most((0..3).filter(|index| *index != victim))
        });
        report.row(
            Row::new(format!("{who} crashes: others wait"), "frames").gaggle(stalled).at_most(bound as f64),
        );
    }
}

/// Traffic of the first of three players while no input changes.
fn idle_weight(people: &mut People) -> Weight {
    people.pressing = false;
    people.run_ms(4_000);
    people.weigh_ms(0, 20_000)
}

fn packets(report: &mut Report) {
    let together = idle_weight(&mut People::of(3, 3, LATENCY_MS, 0, 1));
    let mut people = People::of(4, 0, LATENCY_MS, 0, 1);
    people.found(0);
    for index in 1..4 {
        people.run_ms(500);
        people.join(index, &(0..index).collect::<Vec<_>>());
        people.run_until(5_000, |people| people.session(index).is_member());
    }
    people.run_ms(500);
    people.crash(3);
    people.run_ms(6_000);
    let lived = idle_weight(&mut people);
    for (who, weight) in [("who started together", together), ("after three joins and a crash", lived)] {
        let most = weight.membership_most as f64;
        report.row(Row::new(format!("a packet of three {who}"), "B").gaggle(weight.per_packet()));
        report.row(Row::new("of it for membership, the most in any", "B").gaggle(most).at_most(2.0));
        report.row(
            Row::new("sent beside packets in 20 s", "B").gaggle(weight.bytes_beside as f64).at_most(0.0),
        );
    }
}
