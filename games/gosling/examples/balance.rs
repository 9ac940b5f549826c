//! How a round of gosling comes out, over many rounds of bots, as a table:
//! `cargo run --release -p gosling --example balance -- 200`.

// Statistics are looked at, never simulated.
#![allow(clippy::float_arithmetic)]

use gosling::trial::{Crew, Run, Share, median, quantile, run};
use gosling::{Mode, Strength};

const STEADY: Crew =
    Crew { mode: Mode::Broods, strength: Some(Strength::Steady), pressers: 0, is_idle: false };

fn main() {
    let runs: u64 = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    let all = |crew: Crew| -> Vec<Run> { (0..runs).map(|seed| run(crew, seed)).collect() };
    let steady = all(STEADY);
    let mixed = all(Crew { strength: None, ..STEADY });
    println!("target                                value      measured");
    let banked = |runs: &[Run], which: Option<Strength>| -> Vec<u32> {
        let shares = runs.iter().flat_map(|run| run.shares.iter());
        let wanted = shares.filter(|share| which.is_none_or(|which| share.strength == which));
        wanted.map(|share: &Share| u32::from(share.banked)).collect()
    };
    let own = banked(&steady, None);
    row(
        "banked by one Steady",
        "45; 34-56",
        &format!(
            "{}; {}-{}",
            median(own.iter().copied()),
            quantile(own.iter().copied(), 25),
            quantile(own.iter().copied(), 75)
        ),
    );
    let [low, middle, high] = [Strength::Fledgling, Strength::Steady, Strength::Sharp]
        .map(|which| median(banked(&mixed, Some(which)).into_iter()).max(1));
    row(
        "Fledgling : Steady : Sharp",
        "0.55 : 1 : 1.4",
        &format!(
            "{:.2} : 1 : {:.2}",
            f64::from(low) / f64::from(middle),
            f64::from(high) / f64::from(middle)
        ),
    );
    let caught = |runs: &[Run], which: Strength| {
        let shares: Vec<&Share> =
            runs.iter().flat_map(|run| &run.shares).filter(|share| share.strength == which).collect();
        shares.iter().map(|share| f64::from(share.caught)).sum::<f64>() / shares.len().max(1) as f64
    };
    row("caught a round, Steady", "2.5-4", &format!("{:.2}", caught(&steady, Strength::Steady)));
    row("caught a round, Sharp", "1-2", &format!("{:.2}", caught(&mixed, Strength::Sharp)));
    let loads = |runs: &[Run], which: usize| -> Vec<u32> {
        runs.iter().flat_map(|run| run.lost[which].iter().map(|load| u32::from(*load))).collect()
    };
    row("load when caught, median", "4-7", &median(loads(&mixed, 0).into_iter()).to_string());
    let homes: Vec<u32> =
        mixed.iter().flat_map(|run| run.homes.iter().map(|load| u32::from(*load))).collect();
    row("load when banked, median", "7-9", &median(homes.iter().copied()).to_string());
    let dozens = homes.iter().filter(|load| **load == 12).count() * 100 / homes.len().max(1);
    row("dozens, %", "15-25", &dozens.to_string());
    let (pikes, geese) = (loads(&mixed, 0).len(), loads(&mixed, 1).len());
    row("loads lost to pikes, %", "70-80", &(pikes * 100 / (pikes + geese).max(1)).to_string());
    let frames: f64 = mixed.iter().map(|run| f64::from(run.frames) * run.shares.len() as f64).sum();
    let goose: f64 = mixed.iter().flat_map(|run| &run.shares).map(|share| f64::from(share.goose)).sum();
    row("time as goose, %", "4-7", &format!("{:.1}", 100.0 * goose / frames));
    let sum = |count: fn(&Run) -> u32| mixed.iter().map(count).sum::<u32>();
    let sent = f64::from(sum(|run| run.sent)) / f64::from(sum(|run| run.feathers).max(1));
    row("pikes sent home a feather", "1-2", &format!("{sent:.2}"));
    outcomes(&steady, &mixed);
    questions(&all, runs);
}

/// How rounds end, and what happens on the way.
fn outcomes(steady: &[Run], mixed: &[Run]) {
    let margin = |run: &Run| {
        u32::from(run.scores[0].abs_diff(run.scores[1])) * 1_000
            / u32::from(run.scores[0].max(run.scores[1]).max(1))
    };
    row(
        "margin, median %",
        "under 12",
        &format!("{:.1}", f64::from(median(steady.iter().map(margin))) / 10.0),
    );
    let left = steady.iter().filter(|run| run.scores[0] > run.scores[1]).count() * 100 / steady.len();
    row("won by the left brood, %", "45-55", &left.to_string());
    row(
        "lead changes in second half",
        "1 or more",
        &median(mixed.iter().map(|run| run.late_leads)).to_string(),
    );
    row("uneaten crumbs at 1:30, %", "35-60", &median(mixed.iter().map(|run| run.uneaten)).to_string());
}

/// What players who only press, or do not, ask and bring home.
fn questions(all: &dyn Fn(Crew) -> Vec<Run>, runs: u64) {
    let idle = all(Crew { is_idle: true, ..STEADY });
    row("idle gosling banks, median", "under 5", &median(idle.iter().map(|run| run.idle.into())).to_string());
    for (mode, pressers, target) in [(Mode::Broods, 16, "under 1.5"), (Mode::Great, 64, "under 6")] {
        let few: Vec<Run> =
            (0..runs.min(4)).map(|seed| run(Crew { mode, pressers, ..STEADY }, seed)).collect();
        let asked: f64 = few.iter().map(|run| f64::from(run.questions) / f64::from(run.frames)).sum();
        row(
            &format!("questions a frame, {pressers} players"),
            target,
            &format!("{:.2}", asked / few.len() as f64),
        );
    }
}

fn row(name: &str, target: &str, measured: &str) {
    println!("{name:<37} {target:<14} {measured}");
}
