//! Replays the fuzzers' corpus through what the fuzz targets do, and much of what is near it: each
//! entry cut short, and with single bits flipped.

use std::fs;
use std::path::{Path, PathBuf};

use gaggle_kit::{DecodeError, decode_state, encode_state};
use gander::{Gander, Setup};

#[path = "../../../fuzz/src/gander.rs"]
pub mod targets;

fn near(target: fn(&[u8]), name: &str, every: usize) {
    let entries = entries(name);
    assert!(entries.len() >= 3, "the corpus of {name} is missing");
    for entry in entries {
        let bytes = fs::read(&entry).expect("the entry can be read");
        target(&bytes);
        (0..bytes.len()).step_by(every).for_each(|cut| target(&bytes[..cut]));
        // Another offset in every byte, so that all bits of some byte are met even with large
        // steps.
        for bit in (0..bytes.len() * 8).step_by(every) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            target(&flipped);
        }
    }
}

#[test]
fn mutated_snapshot_plays_on_or_is_rejected() {
    near(targets::snapshot, "gander_snapshot", 3);
}

#[test]
fn scripts_and_everything_near_them_can_be_played() {
    near(targets::play, "gander_play", 11);
}

#[test]
fn snapshots_and_much_near_them_can_be_drawn() {
    near(targets::picture, "gander_picture", 97);
}

#[test]
fn the_corpus_has_snapshots_that_are_accepted() {
    let entries = entries("gander_snapshot");
    let accepted = entries.iter().filter(|entry| {
        let bytes = fs::read(entry).expect("the entry can be read");
        decode_state::<Gander>(&bytes[1..]).is_ok()
    });
    assert!(accepted.count() >= 3);
}

/// Finds the one byte that `change` changes in the encoding, and decodes with `value` there.
fn refusal(change: impl Fn(&mut Gander), value: u8) -> DecodeError {
    let game = Gander::new(Setup::default(), 3);
    let mut changed = game;
    change(&mut changed);
    let (mut bytes, other) = (encode_state(&game), encode_state(&changed));
    let place = (0..bytes.len()).find(|place| bytes[*place] != other[*place]).expect("the change shows");
    bytes[place] = value;
    decode_state::<Gander>(&bytes).expect_err("a value that could hurt is refused")
}

#[test]
fn what_could_hurt_a_tick_is_refused_by_the_name_of_the_field() {
    let named = |error: DecodeError, name: &str| {
        assert!(error.to_string().contains(name), "{error} does not name {name}");
    };
    named(refusal(|game| game.players[0].mover.speed = 1, 5), "Mover.speed");
    named(refusal(|game| game.players[0].mover.speed = 1, 0x80), "Mover.speed");
    named(refusal(|game| game.bridges.burnt = 1, 121), "Bridges.burnt");
    named(refusal(|game| game.wave.bait_step = 1, 9), "Wave.bait_step");
    named(refusal(|game| game.marks.next = 1, 32), "Marks.next");
    named(refusal(|game| game.riders[0].mind.dir = 1, 2), "Mind.dir");
    named(refusal(|game| game.riders[0].class = gander::Class::Reeve, 3), "Class");
    named(refusal(|game| game.players[0].mover.x = 1 << 24, 0x7f), "Mover.x");
    named(refusal(|game| game.players[0].mover.y = 1 << 24, 0x7f), "Mover.y");
}

fn entries(target: &str) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
    let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    entries.map(|entry| entry.expect("the folder can be read").path()).collect()
}
