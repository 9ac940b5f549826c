//! How a round of gosling comes out, over many rounds of bots, against its targets:
//! `cargo run --release -p gosling --example balance -- 200`. The lab draws the same.

use gosling::trial::summary::{Rounds, Summary, judge};

fn main() {
    let runs = std::env::args().nth(1).and_then(|count| count.parse().ok()).unwrap_or(200);
    judge(&Summary::of(&Rounds::play(runs))).iter().for_each(|finding| println!("{finding}"));
}
