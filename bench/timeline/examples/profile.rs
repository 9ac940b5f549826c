//! One long match of Gaggle alone, for a profiler: `profile PLAYERS FRAMES`.

use bench_timeline::gaggle::Gaggle;
use bench_timeline::game::Tiny;
use bench_timeline::network::Weather;
use bench_timeline::{Match, Setup};

fn main() {
    let mut numbers = std::env::args().skip(1).filter_map(|word| word.parse().ok());
    let (players, frames) = (numbers.next().unwrap_or(4), numbers.next().unwrap_or(20_000));
    let mut game = Match::<Gaggle<Tiny>>::new(&Setup::players(players), Weather::latency(4));
    game.run(frames as u64);
    println!("{:?}", game.tallies()[0]);
}
