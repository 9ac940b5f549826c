//! `cargo xtask play`: the arcade, or the game in a folder, which may be outside the project.
//!
//! `main` calls it, also for `cargo xtask server`. Absent: how pages are built.

use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use crate::settings;
use crate::workspace::{self, Workspace};

/// What can be shown, best first.
const SHOWS: [Show; 2] = [Show::Arcade("gaggle-web"), Show::Example("two_peers_in_memory")];
/// Port of the arcade unless it is taken.
const PORT: u16 = 8080;
/// Gigabytes that page and server leave in `target/`.
const ARCADE_BUILT: u64 = 3;

/// Something to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Show {
    /// The arcade: a program that builds its page, and the server that serves it and its lobby.
    Arcade(&'static str),
    /// An example of a crate, run in this terminal.
    Example(&'static str),
}

/// Text of `--help`.
const HELP: &str = "\
cargo xtask play [FOLDER] [--lan] [--SETTING VALUE]...

Builds the arcade, or the game in FOLDER, and serves it at http://127.0.0.1:8080.
The server has no Redis, TLS and sign-in built in; `cargo xtask server` builds one that has.

  --lan      Others on the network can come, too
  --SETTING  Goes to the server: the table of settings is in docs/guide/settings.md";

/// Runs `cargo xtask play`; further arguments go to the program it starts.
pub(crate) fn command(arguments: &[&str]) -> ExitCode {
    if arguments.iter().any(|argument| matches!(*argument, "-h" | "--help")) {
        println!("{HELP}");
        return ExitCode::SUCCESS;
    }
    let root = workspace::root();
    let workspace = match Workspace::load(&root) {
        Ok(workspace) => workspace,
        Err(error) => return crate::refuse(&error),
    };
    // A first argument that is no option is the folder of a game.
    if let Some((folder, rest)) = arguments.split_first().filter(|(first, _)| !first.starts_with('-')) {
        return match Path::new(folder).canonicalize() {
            Ok(game) if game.join("Cargo.toml").is_file() => serve(&root, "gaggle-web", Some(&game), rest),
            _ => crate::refuse(&format!("there is no crate in {folder}; `cargo new {folder}` makes one")),
        };
    }
    match best(&workspace) {
        None => crate::refuse("there is nothing to play yet; run `cargo xtask test`"),
        Some((package, Show::Arcade(_))) => serve(&root, package, None, arguments),
        Some((package, Show::Example(example))) => {
            let mut cargo = workspace::cargo();
            cargo.args(["run", "--package", package, "--example", example, "--"]);
            crate::hand_over(cargo.args(arguments).current_dir(root))
        }
    }
}

/// Builds the server with the arcade's page in it, optimized. `address` is the page's future
/// address, which previews of links need.
pub(crate) fn build_server(address: Option<&str>) -> ExitCode {
    let root = workspace::root();
    let target = workspace::target(&root);
    let page = target.join("page/arcade");
    let mut build_page = workspace::cargo();
    build_page
        .args(["run", "--package", "gaggle-web", "--", "arcade"])
        .arg(&page)
        .args(address)
        .current_dir(&root);
    let built = crate::hand_over(&mut build_page);
    if built != ExitCode::SUCCESS {
        return built;
    }
    let mut build = workspace::cargo();
    build
        .args(["build", "--release", "--package", "gaggle-server"])
        .env("GAGGLE_PAGE", &page)
        .current_dir(root);
    let built = crate::hand_over(&mut build);
    if built == ExitCode::SUCCESS {
        println!("{}", target.join("release/gaggle-server").display());
    }
    built
}

/// Builds a page, the arcade's or that of the game in a folder, and starts the server with it. With
/// `--lan` it is open to the network; other arguments go to the server. Unknown settings are
/// rejected before the build, all other errors as soon as there is a server.
fn serve(root: &Path, builder: &str, game: Option<&Path>, arguments: &[&str]) -> ExitCode {
    let is_lan = arguments.contains(&"--lan");
    let settings: Vec<&str> = arguments.iter().copied().filter(|argument| *argument != "--lan").collect();
    if let Err(unknown) = settings::check(root, &settings) {
        return crate::refuse(&unknown);
    }
    if let Err(full) = crate::disk::has_room_for(ARCADE_BUILT, root) {
        return crate::refuse(&full);
    }
    let target = workspace::target(root);
    let name = game.and_then(Path::file_name).unwrap_or("arcade".as_ref());
    let (page, data) = (target.join("local").join(name), target.join("play"));
    // In one command, so that all cores stay busy.
    let mut build_programs = workspace::cargo();
    build_programs
        .args(["build", "--no-default-features", "--package", "gaggle-server", "--package", builder])
        .current_dir(root);
    let mut build = workspace::cargo();
    build.args(["run", "--no-default-features", "--package", builder, "--", "--local"]).current_dir(root);
    match game {
        Some(game) => build.arg("program").arg(game).arg(&page),
        None => build.arg("arcade").arg(&page),
    };
    let mut ask_server = server(root, &[]);
    ask_server.args(&settings).arg("--check").stdout(Stdio::null());
    println!("Building the server and the page: minutes the first time, seconds from then on.");
    for step in [&mut build_programs, &mut ask_server, &mut build] {
        let built = crate::hand_over(step);
        if built != ExitCode::SUCCESS {
            return built;
        }
    }
    let address = IpAddr::from(if is_lan { [0, 0, 0, 0] } else { [127, 0, 0, 1] });
    let port = if TcpListener::bind((address, PORT)).is_ok() { PORT } else { 0 };
    let mut server = server(root, &["--quiet"]);
    // At home all players share a network and trust each other.
    server.args(["--log", "warn", "--results", "claimed", "--files"]).arg(page).arg("--data").arg(data);
    server.arg("--listen").arg(SocketAddr::new(address, port).to_string()).args(settings);
    match is_lan {
        true => println!(
            "\n  Gaggle opens at the first address, for others on your network at the second; Ctrl+C closes it:\n"
        ),
        false => println!("\n  Gaggle opens at this address; Ctrl+C closes it:\n"),
    }
    crate::hand_over(&mut server)
}

/// A command that builds and runs the server; the caller appends the server's flags. Redis, TLS and
/// sign-in are left out, which a game at home needs rarely and a build from nothing waits for.
fn server(root: &Path, cargo_flags: &[&str]) -> Command {
    let mut server = workspace::cargo();
    server.arg("run").args(cargo_flags).args(["--no-default-features", "--package", "gaggle-server", "--"]);
    server.current_dir(root);
    server
}

/// The best show whose parts exist, and the package it is in.
fn best(workspace: &Workspace) -> Option<(&str, Show)> {
    SHOWS.into_iter().find_map(|show| {
        let holds_it = |package: &&workspace::Package| match show {
            Show::Arcade(name) => package.name == name,
            Show::Example(name) => package.targets("example").any(|target| target.name == name),
        };
        workspace.packages.iter().find(holds_it).map(|package| (package.name.as_str(), show))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Package, Target};

    #[test]
    fn example_is_shown_from_crate_that_has_it() {
        let mut workspace = Workspace::default();
        assert_eq!(best(&workspace), None);
        let target = Target { name: "two_peers_in_memory".into(), kind: "example".into() };
        workspace.packages.push(Package { name: "other".into(), ..Package::default() });
        workspace.packages.push(Package { name: "game".into(), targets: vec![target], ..Package::default() });
        assert_eq!(best(&workspace), Some(("game", Show::Example("two_peers_in_memory"))));
        workspace.packages.push(Package { name: "gaggle-web".into(), ..Package::default() });
        assert_eq!(best(&workspace), Some(("gaggle-web", Show::Arcade("gaggle-web"))), "a page comes first");
    }
}
