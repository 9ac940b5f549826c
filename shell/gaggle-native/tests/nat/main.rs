//! Peers behind routers with address translation: the path they use to each other.
//!
//! The routers are the kernel's, in network namespaces (`network.rs`), which only root can create;
//! elsewhere the tests say that they were skipped. The players are in `players.rs`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

#[path = "../counter/mod.rs"]
mod counter;
mod network;
mod players;

use gaggle::link::Path;

use network::Nat;
use players::Match;

#[test]
#[ignore = "full: real routers in network namespaces"]
fn cone_nats_give_direct_path_also_after_move() {
    let Some(game) = Match::begin("cone", [Nat::Cone, Nat::Cone]) else { return };
    game.hear_more("they connect", 60);
    game.connect_by(Path::Direct);
    let seats = game.players.each_ref().map(|player| player.slots());
    // A change of networks: another address, and every old socket is dead.
    game.network.move_home(0);
    game.hear_more("one moved", 120);
    game.connect_by(Path::Direct);
    game.hear_more("direct again", 60);
    assert_eq!(game.players.each_ref().map(|player| player.slots()), seats, "both have the slots they had");
}

#[test]
#[ignore = "full: real routers in network namespaces"]
fn symmetric_nats_use_relay() {
    let Some(game) = Match::begin("symmetric", [Nat::Symmetric, Nat::Symmetric]) else { return };
    game.hear_more("they connect", 60);
    game.connect_by(Path::Relay);
}

#[test]
#[ignore = "full: real routers in network namespaces"]
fn cone_nat_against_symmetric_nat_uses_relay() {
    let Some(game) = Match::begin("mixed", [Nat::Cone, Nat::Symmetric]) else { return };
    game.hear_more("they connect", 60);
    game.connect_by(Path::Relay);
}
