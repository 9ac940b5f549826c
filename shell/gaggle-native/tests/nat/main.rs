//! Peers behind routers that translate addresses, as nearly everybody is: which way they find to
//! each other.
//!
//! The routers are the kernel's own, in network namespaces (`town.rs`), which only root can make;
//! elsewhere it is said that nothing was tried. Who plays behind them is in `players.rs`.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

#[path = "../counter/mod.rs"]
mod counter;
mod players;
mod town;

use gaggle::link::Path;

use players::Match;
use town::Nat;

#[test]
#[ignore = "full: real routers in network namespaces"]
fn behind_cones_the_way_is_direct_and_found_again_after_a_move() {
    let Some(game) = Match::begin("cone", [Nat::Cone, Nat::Cone]) else { return };
    game.hear_more("they meet", 60);
    game.connect_by(Path::Direct);
    let seats = game.players.each_ref().map(|player| player.slots());
    // From Wi-Fi to mobile: another address, and every socket of the old one is dead.
    game.town.move_home(0);
    game.hear_more("one moved", 120);
    game.connect_by(Path::Direct);
    game.hear_more("direct again", 60);
    assert_eq!(
        game.players.each_ref().map(|player| player.slots()),
        seats,
        "everybody has the seat they had"
    );
}

#[test]
#[ignore = "full: real routers in network namespaces"]
fn behind_symmetric_routers_the_way_leads_through_the_relay() {
    let Some(game) = Match::begin("symmetric", [Nat::Symmetric, Nat::Symmetric]) else { return };
    game.hear_more("they meet", 60);
    game.connect_by(Path::Relay);
}

#[test]
#[ignore = "full: real routers in network namespaces"]
fn a_cone_does_not_help_against_a_symmetric_router() {
    let Some(game) = Match::begin("mixed", [Nat::Cone, Nat::Symmetric]) else { return };
    game.hear_more("they meet", 60);
    game.connect_by(Path::Relay);
}
