//! One long match of Gaggle alone, for a profiler: `profile PLAYERS FRAMES LATENCY DELAY`.

use bench_timeline::gaggle::Gaggle;
use bench_timeline::game::Tiny;
use bench_timeline::network::NetConditions;
use bench_timeline::{Match, Setup};

fn main() {
    let mut numbers = std::env::args().skip(1).map(|word| word.parse().expect("numbers"));
    let mut number = |default: usize| numbers.next().unwrap_or(default);
    let (players, frames, latency, delay) = (number(4), number(20_000), number(4), number(0));
    let setup = Setup::players(players).delay(delay);
    let mut game = Match::<Gaggle<Tiny>>::new(&setup, NetConditions::latency(latency as u64));
    game.run(frames as u64);
    println!("{:?}", game.tallies()[0]);
}
