//! Looks at games from outside: pictures of any frame, contact sheets of whole matches, curves over
//! many; and plays whole matches in which everything goes wrong.
//!
//! Everything here is a function of its arguments, the same on every machine; but for bots, who
//! meet on a real server.

// Pictures and statistics are looked at, never simulated.
#![allow(clippy::float_arithmetic)]

mod bot_match;
mod bots;
mod chaos;
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
mod millpond_load;
mod millpond_picture;
mod png_file;
mod replica_chaos;
mod runs;
mod shared;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

/// Looks at games from outside.
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
    /// How far from the truth another player's drake is drawn, as numbers and an SVG
    DrakeError(drake_error::Options),
    /// One frame of millpond, as a PNG
    DrawMillpond(millpond_picture::Options),
    /// What a pond of four hundred things costs: bytes, age, and jumps when something changes hands
    MillpondLoad(millpond_load::Options),
    /// Plays drake or millpond on bad networks, one company of bots per seed
    GameChaos(game_chaos::Options),
    /// A whole match of bots or replay on one sheet, as a PNG
    Sheet(contact_sheet::Options),
    /// How hard the waves are, over many matches of bots, as a table and a PNG
    Difficulty(difficulty::Options),
    /// Lets bots join a server's rooms and play: a load for the server and the network
    Bots(bots::Options),
    /// Plays whole matches on bad networks, one per seed
    Chaos(chaos::Options),
    /// What a desync left: of gander field by field, of any other game its frames, inputs and
    /// hashes
    Desync(desync::Options),
    /// Seeds for the fuzzers
    FuzzSeeds(fuzz_seeds::Options),
    /// Shares objects on bad networks, one group of machines per seed
    ReplicaChaos(replica_chaos::Options),
}

fn main() -> ExitCode {
    let done = match Arguments::parse().command {
        Command::Record(options) => footage::record(&options),
        Command::Draw(options) => frame_picture::draw(&options),
        Command::DrawDrake(options) => drake_picture::draw(&options),
        Command::DrakeError(options) => drake_error::draw(&options),
        Command::DrawMillpond(options) => millpond_picture::draw(&options),
        Command::MillpondLoad(options) => millpond_load::report(&options),
        Command::GameChaos(options) => game_chaos::run(&options),
        Command::Sheet(options) => contact_sheet::draw(&options),
        Command::Difficulty(options) => difficulty::draw(&options),
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
