//! What it costs those who play when others come, go, crash or look on. Gaggle alone: neither of the other libraries has
//! people come into a running match.

use bench_report::{Report, Row, median};

use crate::people::People;
use crate::weight::Weight;

/// Worst of so many seeds.
const SEEDS: u64 = 10;
/// Three frames, so that a round trip is 100 ms.
const LATENCY_MS: u64 = 50;
const STATE_BYTES: usize = 100_000;
const WINDOW_FRAMES: u64 = 8;
const FRAMES_PER_SECOND: u64 = 60;
/// Silence is taken for absence after three seconds.
const TIMEOUT_FRAMES: u64 = 3 * FRAMES_PER_SECOND;
const ROUND_TRIP_FRAMES: u64 = 2 * LATENCY_MS * FRAMES_PER_SECOND / 1_000;
const ONLOOKERS: usize = 100;

/// All of them.
pub fn rows(report: &mut Report) {
    report.section("People come and go: round trip 100 ms, window 8, state 100 KB; worst of 10 seeds");
    join(report);
    leave(report);
    crash(report);
    packets(report);
    onlookers(report);
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
    report.row(Row::new("somebody joins: it plays after", "s").gaggle(seconds).at_most(1.0));
    report.row(Row::new("somebody joins: others wait", "frames").gaggle(stalled as f64).at_most(0.0));
}

fn leave(report: &mut Report) {
    for (who, leaver) in [("somebody", 2), ("the lead", 0)] {
        let stalled = worst(|seed| {
            let mut people = People::of(3, 3, LATENCY_MS, STATE_BYTES, seed);
            people.run_ms(3_000);
            people.forget_stalls();
            people.leave(leaver);
            people.run_until(3_000, |people| people.session(leaver).is_over());
            people.crash(leaver);
            people.run_ms(5_000);
            assert_eq!(people.present(1).len(), 2, "it is gone");
            people.stalled_most((0..3).filter(|index| *index != leaver))
        });
        report.row(Row::new(format!("{who} leaves: others wait"), "frames").gaggle(stalled).at_most(0.0));
    }
}

fn crash(report: &mut Report) {
    let bound = TIMEOUT_FRAMES + 2 * ROUND_TRIP_FRAMES - WINDOW_FRAMES;
    for (who, victim) in [("somebody", 2), ("the lead", 0)] {
        let stalled = worst(|seed| {
            let mut people = People::of(3, 3, LATENCY_MS, STATE_BYTES, seed);
            people.run_ms(3_000 + 7 * seed);
            people.forget_stalls();
            people.crash(victim);
            people.run_ms(6_000);
            assert_eq!(people.present(1).len(), 2, "the others go on without it");
            people.stalled_most((0..3).filter(|index| *index != victim))
        });
        report.row(
            Row::new(format!("{who} crashes: others wait"), "frames").gaggle(stalled).at_most(bound as f64),
        );
    }
}

/// What the first of three who play sends while nobody presses anything.
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

/// How those who look on are linked.
#[derive(Clone, Copy)]
enum Links {
    /// Each with the one that feeds it and those it feeds.
    Chain,
    /// With the player, too, as a lobby links everybody: it feeds as many as it may, and tells all of them the time.
    Everybody,
}

/// The CPU time of a player's frame in microseconds while a hundred look on who came by it or by the other player, and how many
/// frames the last of them is behind.
fn frame_with_onlookers(links: Links, by: usize, seed: u64) -> (f64, f64) {
    let mut people = People::of(2 + ONLOOKERS, 2, 20, STATE_BYTES, seed);
    people.run_ms(1_000);
    for nth in 0..ONLOOKERS {
        // Each is fed by one who came before it, the first by somebody who plays.
        let via = match (links, nth) {
            (_, 0) => vec![by],
            (Links::Chain, _) => vec![2 + (nth - 1) / 4],
            (Links::Everybody, _) => vec![by, 2 + (nth - 1) / 4],
        };
        people.watch(2 + nth, &via);
        people.run_ms(if nth < 6 { 600 } else { 30 });
    }
    people.run_ms(3_000);
    let playing = people.session(0).confirmed_frame();
    let shown = (0..ONLOOKERS).map(|nth| people.session(2 + nth).current_frame());
    let behind_most = shown.map(|shown| playing.since(shown)).max().unwrap_or(0);
    let (cpu, frames) = (people.cpu(0), people.stats(0).frames);
    people.run_ms(6_000);
    let cpu = (people.cpu(0) - cpu).as_secs_f64() * 1e6;
    (cpu / (people.stats(0).frames - frames) as f64, f64::from(behind_most))
}

/// A player's frame beside that of one by whom nobody came: all machines share one processor's caches, so those who look on
/// must be there either way.
fn onlookers(report: &mut Report) {
    for links in [Links::Chain, Links::Everybody] {
        let (mut ratios, mut behind) = (Vec::new(), 0.0_f64);
        // A frame takes a few microseconds, and what else the machine does shows in them: the middle of many pairs.
        for seed in 1..=11 {
            let (with, behind_most) = frame_with_onlookers(links, 0, seed);
            let (without, _) = frame_with_onlookers(links, 1, seed);
            ratios.push(with / without);
            behind = behind.max(behind_most);
        }
        let ratio = median(&ratios);
        report.row(match links {
            Links::Chain => {
                Row::new("100 look on in a chain: its feeder's frame", "×").gaggle(ratio).at_most(1.1)
            }
            Links::Everybody => Row::new("100 look on, all linked to a player: its frame", "×").gaggle(ratio),
        });
        report.row(Row::new("the last of them is behind by", "frames").gaggle(behind).at_most(120.0));
    }
}
