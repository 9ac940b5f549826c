//! Command line of the lab: pictures, statistics, chaos and loads of the games.
//!
//! All commands are functions of their arguments, equal on every machine, except bots on a real
//! server. Called by `cargo xtask` and by hand. Absent: the commands themselves, one file each.

// Floats are used for pictures and statistics only, never in simulated state.
#![allow(clippy::float_arithmetic)]

mod bot_match;
mod bots;
mod chaos;
mod chart;
mod contact_sheet;
mod desync;
mod difficulty;
mod digest;
mod drake_error;
mod drake_picture;
mod footage;
mod frame_picture;
mod fuzz_seeds;
mod game_chaos;
mod gosling_balance;
mod gosling_picture;
mod millpond_load;
mod millpond_picture;
mod png_file;
mod replica_chaos;
mod runs;
mod shared;
mod skein_balance;
mod skein_picture;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Pictures, statistics, chaos and loads of the games.
#[derive(Parser)]
#[command(name = "gaggle-lab")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Plays a match of bots and writes its replay
    Record(footage::Options),
    /// One frame of a match of bots or of a replay, as a PNG
    Draw(frame_picture::Options),
    /// One frame of drake, as a PNG
    DrawDrake(drake_picture::Options),
    /// How far from its true place another player's drake is drawn, as numbers and an SVG
    DrakeError(drake_error::Options),
    /// One frame of gosling, as a PNG
    DrawGosling(gosling_picture::Options),
    /// One frame of millpond, as a PNG
    DrawMillpond(millpond_picture::Options),
    /// One frame of skein, as a PNG
    DrawSkein(skein_picture::Options),
    /// Load of a pond of four hundred things: bytes, age, and jumps on change of authority
    MillpondLoad(millpond_load::Options),
    /// Plays drake or millpond on bad networks, one group of bots per seed
    GameChaos(game_chaos::Options),
    /// A whole match of bots or replay on one sheet, as a PNG
    Sheet(contact_sheet::Options),
    /// Difficulty of the waves over many matches of bots, as a table and a PNG
    Difficulty(difficulty::Options),
    /// Balance of gosling over many rounds of bots, held against its targets, as a table and a PNG
    BalanceGosling(gosling_balance::Options),
    /// Balance of skein over many flights of bots, held against its targets, as a table and a PNG
    BalanceSkein(skein_balance::Options),
    /// Lets bots join a server's rooms and play, as a load for the server and the network
    Bots(bots::Options),
    /// Plays whole matches on bad networks, one per seed
    Chaos(chaos::Options),
    /// Shows a desync bundle: of gander field by field, of any other game its frames, inputs and
    /// hashes
    Desync(desync::Options),
    /// Writes seeds for the fuzzers of gander
    FuzzSeeds(fuzz_seeds::Options),
    /// Shares objects on bad networks, one group of peers per seed
    ReplicaChaos(replica_chaos::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Record(options) => footage::record(&options),
        Command::Draw(options) => frame_picture::draw(&options),
        Command::DrawDrake(options) => drake_picture::draw(&options),
        Command::DrakeError(options) => drake_error::draw(&options),
        Command::DrawGosling(options) => gosling_picture::draw(&options),
        Command::DrawMillpond(options) => millpond_picture::draw(&options),
        Command::DrawSkein(options) => skein_picture::draw(&options),
        Command::MillpondLoad(options) => millpond_load::report(&options),
        Command::GameChaos(options) => game_chaos::run(&options),
        Command::Sheet(options) => contact_sheet::draw(&options),
        Command::Difficulty(options) => difficulty::draw(&options),
        Command::BalanceGosling(options) => gosling_balance::draw(&options),
        Command::BalanceSkein(options) => skein_balance::draw(&options),
        Command::Bots(options) => bots::run(&options),
        Command::Chaos(options) => chaos::run(&options),
        Command::Desync(options) => desync::show(&options),
        Command::FuzzSeeds(options) => fuzz_seeds::write(&options),
        Command::ReplicaChaos(options) => replica_chaos::run(&options),
    };
    match done {
        Ok(said) => {
            println!("{said}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
