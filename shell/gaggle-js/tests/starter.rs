//! The starter of new games from nothing: created, installed, tested, and played by two pages with
//! its one command.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, reason = "a failed step should stop the test")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use gaggle_web::chromium::Chromium;
use gaggle_web::js::{bundle_js, bundle_starter};

const PATIENCE: Duration = Duration::from_secs(120);

/// Runs a command of the game's folder to its end.
fn run(folder: &Path, program: &str, arguments: &[&str]) -> String {
    let ran = Command::new(program).args(arguments).current_dir(folder).env("CI", "1").output();
    let ran = ran.unwrap_or_else(|error| panic!("{program} does not start: {error}"));
    let said = String::from_utf8_lossy(&ran.stdout).into_owned();
    assert!(
        ran.status.success(),
        "{program} {arguments:?}\n{said}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    said
}

/// A program that is told to end when dropped, so that it ends its own children.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = Command::new("kill").arg(self.0.id().to_string()).status();
        let _ = self.0.wait();
    }
}

/// The server's program, built without what a game at home does not need.
fn server(workspace: &Path) -> PathBuf {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let build = ["build", "--no-default-features", "--package", "gaggle-server"];
    assert!(Command::new(cargo).args(build).current_dir(workspace).status().unwrap().success());
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| workspace.join("target"), PathBuf::from);
    target.join("debug/gaggle-server")
}

fn free_port() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port().to_string()
}

#[test]
#[ignore = "long: installs packages from npm and its registry"]
fn new_game_is_made_tested_and_played() {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("starter");
    let _ = std::fs::remove_dir_all(&folder);
    bundle_js(&workspace, &folder.join("gaggle-js")).unwrap();
    bundle_starter(&workspace, &folder.join("create-gaggle")).unwrap();
    run(&folder, "node", &["create-gaggle/index.js", "my-game", "--gaggle-js", "./gaggle-js"]);
    let game = folder.join("my-game");
    run(&game, "npm", &["install", "--no-audit", "--no-fund"]);
    let said = run(&game, "npm", &["test"]);
    assert!(said.contains("2 passed"), "{said}");
    run(&game, "npm", &["run", "build"]);
    let built = std::fs::read_dir(game.join("dist/assets")).unwrap().map(|entry| entry.unwrap().path());
    assert!(built.into_iter().any(|path| path.extension().is_some_and(|kind| kind == "wasm")));

    // Without a server and cargo one line says what to do.
    let node = String::from_utf8(Command::new("which").arg("node").output().unwrap().stdout).unwrap();
    let lost = Command::new(node.trim()).arg("dev.js").current_dir(&game).env("PATH", "").output().unwrap();
    let said = String::from_utf8_lossy(&lost.stderr).into_owned();
    assert!(
        !lost.status.success() && said.starts_with("There is no gaggle-server: put it on PATH"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");

    let mut dev = Command::new("node");
    dev.args(["dev.js", "--port", &free_port(), "--strictPort", "--host", "127.0.0.1"]).current_dir(&game);
    dev.env("GAME_SERVER", server(&workspace)).env("GAME_SERVER_PORT", free_port()).env("NO_COLOR", "1");
    let mut dev = Ended(dev.stdout(Stdio::piped()).spawn().unwrap());
    let lines = BufReader::new(dev.0.stdout.take().unwrap()).lines();
    let address = lines.map_while(Result::ok).find_map(|line| {
        let (_, address) = line.split_once("Local:")?;
        Some(address.trim().to_string())
    });
    let browser = Chromium::start().unwrap();
    let first = browser.open(&address.expect("Vite prints its address")).unwrap();
    first.wait_for("location.search.includes('room=')", PATIENCE).unwrap();
    let link = first.eval("location.href").unwrap();
    let second = browser.open(link.as_str().unwrap()).unwrap();
    first.wait_for("document.querySelector('#said').textContent.includes('dropped in')", PATIENCE).unwrap();
    second.wait_for("document.querySelector('#said').textContent !== ''", PATIENCE).unwrap();
}
