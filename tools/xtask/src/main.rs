//! The project's commands: `cargo xtask test`, `play`, `server`, `js`, `bench`, `chaos`.
//!
//! This file reads the command line; each command has its own file. The crate must build in
//! seconds, so it depends on a JSON reader and the standard library. Absent: what a command does.

mod bench;
mod chaos;
mod charts;
mod console;
mod context;
mod disk;
mod excerpt;
mod imports;
mod js;
mod needs;
mod play;
mod process;
mod ratchet;
mod settings;
mod steps;
mod test;
mod tidy;
mod workspace;

use std::process::{Command, ExitCode};

/// Commands with a description for new contributors.
pub(crate) const COMMANDS: [(&str, &str); 9] = [
    ("test", "Check everything: cargo xtask test [--full | --long] [STEP…]"),
    ("play", "Open the arcade, or the game in a folder: cargo xtask play [FOLDER] [--lan]"),
    ("server", "Build the server with the arcade in it: cargo xtask server [ADDRESS]"),
    ("js", "Build the npm package gaggle-js into target/js"),
    ("bench", "Measure a promise: cargo xtask bench NAME [--json]"),
    ("chaos", "Play whole matches on bad networks, one per seed"),
    ("charts", "Draw results of benches and print their tables"),
    ("lines", "Count the code of core, shell and apps, without comments and tests"),
    ("ratchet", "Record that fewer findings of the style checks are left"),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments.split_first() {
        None | Some((&("help" | "-h" | "--help"), _)) => {
            help();
            ExitCode::SUCCESS
        }
        Some((&"test", rest)) => test::command(rest),
        Some((&"play", rest)) => play::command(rest),
        Some((&"server", rest)) => play::build_server(rest.first().copied()),
        Some((&"js", _)) => js::command(),
        Some((&"bench", rest)) => bench::command(rest),
        Some((&"chaos", rest)) => chaos::command(rest),
        Some((&"charts", _)) => charts::command(),
        Some((&"lines", _)) => lines(),
        Some((&"ratchet", _)) => ratchet::command(),
        Some((unknown, _)) => refuse(&format!("there is no command `{unknown}`; see `cargo xtask`")),
    }
}

fn lines() -> ExitCode {
    match tidy::Tree::load(&workspace::root()) {
        Ok(tree) => {
            print!("{}", tidy::lines_table(&tree));
            ExitCode::SUCCESS
        }
        Err(error) => refuse(&format!("the tree cannot be read: {error}")),
    }
}

/// Prints in one line why nothing was done.
pub(crate) fn refuse(why: &str) -> ExitCode {
    eprintln!("{why}");
    ExitCode::from(2)
}

/// Runs another program in this terminal and ends with its exit code.
pub(crate) fn hand_over(program: &mut Command) -> ExitCode {
    match program.status() {
        // Ended by a signal, so there is no code to pass on.
        Ok(status) => {
            status.code().map_or(ExitCode::FAILURE, |code| ExitCode::from(code.clamp(0, 255) as u8))
        }
        Err(error) => refuse(&format!("{} does not start: {error}", program.get_program().display())),
    }
}

fn help() {
    println!("The commands of this project:\n");
    for (name, about) in COMMANDS {
        println!("  cargo xtask {name:<7} {about}");
    }
    println!("\nSteps of `cargo xtask test`, all of them unless you name some:\n");
    for step in steps::all(&workspace::root()) {
        let only = match step.depth.flag() {
            "" => String::new(),
            flag => format!(" (only with {flag})"),
        };
        println!("  {:<8} {}{only}", step.name, step.about);
    }
}
