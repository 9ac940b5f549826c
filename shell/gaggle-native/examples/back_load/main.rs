//! Recovery times of two players after real incidents, name and milliseconds per line: `cargo xtask
//! bench links` runs it and judges the figures.

#![allow(clippy::unwrap_used, reason = "a failed measurement should stop")]

#[path = "../../tests/counter/mod.rs"]
mod counter;
#[cfg(target_os = "linux")]
#[path = "../../tests/nat/network.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod network;
#[cfg(target_os = "linux")]
#[path = "../../tests/nat/players.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod players;
mod restart;

fn main() {
    println!("back_after_server_restart_ms {}", restart::server().as_millis());
    #[cfg(target_os = "linux")]
    if let Some(moved) = moved() {
        println!("back_after_move_ms {}", moved.as_millis());
    }
}

/// One of two players behind routers gets another address. None where such routers cannot be
/// created.
#[cfg(target_os = "linux")]
fn moved() -> Option<std::time::Duration> {
    /// More inputs than can be in flight: this many new ones prove that messages arrived after the
    /// move.
    const PRESSES: u32 = 30;

    let game = players::Match::begin("back", [network::Nat::Cone, network::Nat::Cone])?;
    game.hear_more("they connect", 60);
    game.connect_by(gaggle::link::Path::Direct);
    let seats = game.players.each_ref().map(players::Player::slots);
    game.network.move_home(0);
    let took = game.hear_more("one moved", PRESSES);
    assert_eq!(game.players.each_ref().map(players::Player::slots), seats, "the slots they had");
    Some(took)
}
