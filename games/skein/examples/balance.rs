//! How hard the flight is, over many runs of bots, as a table:
//! `cargo run --release -p skein --example balance -- 200`. A second argument chooses one crew by
//! the beginning of its name.

use skein::trial::{CREWS, Summary, judge, run, table};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let runs: u64 = arguments.next().and_then(|count| count.parse().ok()).unwrap_or(200);
    let only = arguments.next();
    let mut crews: [Summary; 4] = Default::default();
    for ((name, crew), summary) in CREWS.into_iter().zip(&mut crews) {
        if only.as_deref().is_some_and(|only| !name.starts_with(only)) {
            continue;
        }
        let done: Vec<_> = (0..runs).map(|seed| run(crew, seed)).collect();
        *summary = Summary::of(&done);
        println!("{}", table(name, summary));
    }
    // Numbers of a crew that was left out are no findings.
    let is_there =
        |what: &str| crews.iter().zip(CREWS).any(|(of, (name, _))| of.runs > 0 && what.starts_with(name));
    for finding in judge(&crews).iter().filter(|finding| is_there(&finding.what)) {
        println!("{finding}");
    }
}
