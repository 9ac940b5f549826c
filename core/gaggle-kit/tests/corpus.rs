//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

use gaggle_testkit::corpus;

#[path = "../../../fuzz/src/kit.rs"]
pub mod kit;

corpus!(kit::TARGETS);

/// Otherwise nothing that is done to decoded states would have been done.
#[test]
fn corpus_has_valid_state() {
    let example = gaggle_kit::encode_state(&kit::Everything::example());
    assert!(gaggle_kit::decode_state::<kit::Everything>(&example).is_ok());
    assert!(corpus::entries("kit_state").contains(&example));
}
