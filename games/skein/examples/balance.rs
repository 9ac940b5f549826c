//! How hard the flight is, over many runs of bots, as a table:
//! `cargo run --release -p skein --example balance -- 200`.

// Statistics are looked at, never simulated.
#![allow(clippy::float_arithmetic)]

use skein::bots::Strength;
use skein::trial::{Crew, Run, median, run};

const STRENGTHS: [(&str, Strength); 3] =
    [("fledgling", Strength::Fledgling), ("steady", Strength::Steady), ("sharp", Strength::Sharp)];

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(200);
    let only = arguments.next();
    let crews = [
        ("1 steady", 1, 1, true),
        ("4 steady", 4, 1, true),
        ("6 sharp", 6, 2, true),
        ("4 apart", 4, 1, false),
    ];
    for (name, players, strength, in_formation) in crews {
        if only.as_deref().is_some_and(|only| !name.starts_with(only)) {
            continue;
        }
        let crew = Crew { players, strength: STRENGTHS[strength].1, in_formation };
        let done: Vec<Run> = (0..runs).map(|seed| run(crew, seed)).collect();
        table(name, &done);
    }
}

fn table(name: &str, runs: &[Run]) {
    let count = runs.len() as u32;
    let seconds = |frames: u32| format!("{}:{:02}", frames / 3600, frames / 60 % 60);
    println!("{name}, {count} runs");
    let stages: Vec<String> = (1..=6)
        .map(|stage| format!("{}", runs.iter().filter(|run| run.stage >= stage).count() * 100 / runs.len()))
        .collect();
    println!("  reach stage 1..5 and dawn, %: {}", stages.join(" "));
    println!("  median stage {}", median(runs.iter().map(|run| run.stage.into())));
    println!(
        "  length median {}, of those at dawn {}",
        seconds(median(runs.iter().map(|run| run.frames))),
        seconds(median(runs.iter().filter(|run| run.is_dawn()).map(|run| run.frames)))
    );
    for stage in 0..5 {
        let there: Vec<&Run> = runs.iter().filter(|run| usize::from(run.stage) > stage).collect();
        if there.is_empty() {
            continue;
        }
        let lost: u32 = there.iter().map(|run| run.lost[stage]).sum();
        let beaten =
            || there.iter().filter(|run| usize::from(run.stage) > stage + 1).map(|run| run.bosses[stage]);
        println!(
            "  stage {}: {} begun, lost {:.2}, boss {} s (longest {})",
            stage + 1,
            there.len(),
            f64::from(lost) / there.len() as f64,
            median(beaten()) / 60,
            beaten().max().unwrap_or(0) / 60
        );
    }
    let causes = [0, 1, 2].map(|cause| runs.iter().map(|run| run.causes[cause]).sum::<u32>());
    let falls: u32 = runs.iter().map(|run| run.falls).sum();
    let caught: u32 = runs.iter().map(|run| run.caught).sum();
    let all = causes.iter().sum::<u32>().max(1);
    println!(
        "  causes, %: {:?}, caught {} %",
        causes.map(|cause| cause * 100 / all),
        caught * 100 / falls.max(1)
    );
    let frames: u64 = runs.iter().map(|run| u64::from(run.frames)).sum();
    let changes: u64 = runs.iter().map(|run| u64::from(run.point_changes)).sum();
    println!("  point changes a minute {:.1}", changes as f64 * 3600.0 / frames as f64);
    let shares = runs.iter().map(|run| {
        let all: u32 = run.scores.iter().sum();
        run.scores.iter().max().copied().unwrap_or(0) * 100 / all.max(1)
    });
    println!("  share of the best, median {} %", median(shares));
    let embers = || runs.iter().flat_map(|run| run.embers.iter().map(|count| u32::from(*count)));
    println!("  embers in stage 4, median {}, most {}", median(embers()), embers().max().unwrap_or(0));
    println!("  score, median {}", median(runs.iter().map(|run| run.scores.iter().sum())));
}
