//! Fixed minutes of the games, whose results must be equal natively and as WASM in an interpreter.
//!
//! gander always runs as both; skein, gosling, drake and millpond run as WASM with
//! `--include-ignored` or `GAGGLE_LONG=1` only.

#[path = "../../../games/gander/examples/golden.rs"]
#[allow(dead_code)] // Its `main` is used only as a program.
mod gander_golden;

#[path = "../../../games/drake/examples/drake_wire.rs"]
#[allow(dead_code)] // Its `main` is used only as a program.
mod drake_wire;

#[path = "../../../games/gosling/examples/gosling_golden.rs"]
#[allow(dead_code)] // Its `main` is used only as a program.
mod gosling_golden;

#[path = "../../../games/millpond/examples/millpond_wire.rs"]
#[allow(dead_code)] // Its `main` is used only as a program.
mod millpond_wire;

#[path = "../../../games/skein/examples/skein_golden.rs"]
#[allow(dead_code)] // Its `main` is used only as a program.
mod skein_golden;

use std::path::{Path, PathBuf};
use std::process::Command;

use wasmi::{Engine, Linker, Module, Store};

#[test]
fn gander_in_wasm_ends_in_golden_state() {
    let program = build("gander", "golden");
    let [size, hash] = run(&program, gander_golden::MARK);
    assert_eq!((size, hash), gander_golden::GOLDEN);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn skein_in_wasm_ends_in_golden_state() {
    let [size, hash] = run(&build("skein", "skein_golden"), skein_golden::MARK);
    assert_eq!((size, hash), skein_golden::GOLDEN);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn gosling_in_wasm_ends_in_golden_state() {
    let [size, hash] = run(&build("gosling", "gosling_golden"), gosling_golden::MARK);
    assert_eq!((size, hash), gosling_golden::GOLDEN);
}

#[test]
fn drake_sends_golden_bytes() {
    assert_eq!(drake_wire::fixed_match(), drake_wire::GOLDEN);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn drake_in_wasm_sends_golden_bytes() {
    let [bytes, hash] = run(&build("drake", "drake_wire"), drake_wire::MARK);
    assert_eq!((bytes, hash), drake_wire::GOLDEN);
}

#[test]
fn millpond_sends_golden_bytes() {
    assert_eq!(millpond_wire::fixed_match(), millpond_wire::GOLDEN);
}

#[test]
#[ignore = "long: GAGGLE_LONG=1"]
fn millpond_in_wasm_sends_golden_bytes() {
    let [bytes, hash] = run(&build("millpond", "millpond_wire"), millpond_wire::MARK);
    assert_eq!((bytes, hash), millpond_wire::GOLDEN);
}

/// Builds an example of a game for WASM, in a target folder of its own: the usual one may be
/// locked.
fn build(package: &str, example: &str) -> PathBuf {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let status = Command::new(env!("CARGO"))
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")))
        .args(["build", "--quiet", "--release", "--target", "wasm32-unknown-unknown"])
        .args(["--package", package, "--example", example])
        .env("CARGO_TARGET_DIR", target)
        .status()
        .expect("cargo starts");
    assert!(
        status.success(),
        "does not build; is the target there? rustup target add wasm32-unknown-unknown"
    );
    target.join(format!("wasm32-unknown-unknown/release/examples/{example}.wasm"))
}

/// Runs a program without imports, which leaves two words in memory behind a marker.
fn run(program: &Path, mark: [u64; 2]) -> [u64; 2] {
    let engine = Engine::default();
    let module = Module::new(&engine, std::fs::read(program).expect("the program was just built"))
        .expect("it is WASM");
    assert_eq!(module.imports().count(), 0, "a game asks its host for nothing");
    let mut store = Store::new(&engine, ());
    let instance = Linker::new(&engine).instantiate_and_start(&mut store, &module).expect("it starts");
    let main = instance.get_typed_func::<(i32, i32), i32>(&store, "main").expect("it has a main function");
    main.call(&mut store, (0, 0)).expect("it runs to its end");
    let memory = instance.get_memory(&store, "memory").expect("it has a memory");
    let words: Vec<u64> =
        memory.data(&store).as_chunks().0.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect();
    let found = words.windows(4).find(|words| words[..2] == mark).expect("the result is marked");
    [found[2], found[3]]
}
