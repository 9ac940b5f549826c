//! How long two who play with each other need until they play on, in their seats, after something
//! real happened to them: `cargo xtask bench links` starts it and judges what it says. Each line is
//! a name and milliseconds.

#![allow(clippy::unwrap_used, reason = "a measurement that cannot go on should stop")]

#[path = "../../tests/counter/mod.rs"]
mod counter;
#[cfg(target_os = "linux")]
#[path = "../../tests/nat/players.rs"]
#[allow(dead_code, reason = "tests ask for more")]
mod players;
mod restart;
#[cfg(target_os = "linux")]
#[path = "../../tests/nat/town.rs"]
#[allow(dead_code, reason = "tests ask for more")]
mod town;

fn main() {
    println!("back_after_server_restart_ms {}", restart::server().as_millis());
    #[cfg(target_os = "linux")]
    if let Some(moved) = moved() {
        println!("back_after_move_ms {}", moved.as_millis());
    }
}

/// One of two behind routers gets another address. None where there can be no such routers.
#[cfg(target_os = "linux")]
fn moved() -> Option<std::time::Duration> {
    /// More than is under way between two: whoever has heard so many was heard after the move.
    const PRESSES: u32 = 30;

    let game = players::Match::begin("back", [town::Nat::Cone, town::Nat::Cone])?;
    game.hear_more("they meet", 60);
    game.connect_by(gaggle::link::Path::Direct);
    let seats = game.players.each_ref().map(players::Player::slots);
    game.town.move_home(0);
    let took = game.hear_more("one moved", PRESSES);
    assert_eq!(game.players.each_ref().map(players::Player::slots), seats, "the seats they had");
    Some(took)
}
