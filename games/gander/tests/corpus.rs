//! Replay of the fuzz corpora of this crate, with mutations of each entry.

use gaggle_kit::{DecodeError, decode_state, encode_state};
use gaggle_testkit::corpus::{self, Near, Target};
use gander::{Gander, Setup};

#[path = "../../../fuzz/src/gander.rs"]
pub mod targets;

/// The offset differs in every byte, so that large steps still meet all bits of some byte.
fn near(target: Target, step: usize) {
    corpus::replay(target, Near { cut_step: step, bit_step: step, ..Near::ALL });
}

#[test]
fn mutated_snapshot_plays_on_or_is_rejected() {
    near(targets::TARGETS[0], 3);
}

#[test]
fn script_corpus_and_neighbors_can_be_played() {
    near(targets::TARGETS[1], 11);
}

#[test]
fn picture_corpus_and_neighbors_can_be_drawn() {
    near(targets::TARGETS[2], 97);
}

#[test]
fn corpus_has_accepted_snapshots() {
    let entries = corpus::entries("gander_snapshot");
    let accepted = entries.iter().filter(|entry| decode_state::<Gander>(&entry[1..]).is_ok());
    assert!(accepted.count() >= 3);
}

/// Decodes a state with `value` in the one byte that `change` changes. Decoding must fail.
fn refusal(change: impl Fn(&mut Gander), value: u8) -> DecodeError {
    let game = Gander::new(Setup::default(), 3);
    let mut changed = game;
    change(&mut changed);
    let (mut bytes, other) = (encode_state(&game), encode_state(&changed));
    let place =
        (0..bytes.len()).find(|place| bytes[*place] != other[*place]).expect("the encodings are equal");
    bytes[place] = value;
    decode_state::<Gander>(&bytes).expect_err("the value was accepted")
}

#[test]
fn harmful_values_are_rejected_with_field_name() {
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
