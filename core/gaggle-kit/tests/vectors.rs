//! Values of the conventions byte by byte, for other implementations to compare with.

#![allow(clippy::unwrap_used, reason = "tests that cannot go on")]

use std::collections::BTreeMap;

use gaggle_kit::{
    BitWriter, Frame, SlotSet, State, StateHasher, decode_state, encode_state, fnv1a_32, fnv1a_64,
};

#[derive(Debug, Clone, PartialEq, State)]
enum Gait {
    Stands,
    Walks,
    Runs { lean: i8 },
}

#[derive(Debug, Clone, PartialEq, State)]
struct Goose {
    awake: bool,
    position: [i16; 2],
    egg: Option<u8>,
    nest: Option<u8>,
    #[state(max = 64)]
    name: String,
    #[state(max = 64)]
    corn: Vec<u32>,
    #[state(max = 64)]
    doors: BTreeMap<u8, bool>,
    gait: Gait,
    hatched: Frame,
    slots: SlotSet,
    mark: char,
}

fn unhex(text: &str) -> Vec<u8> {
    let digits: String = text.lines().filter_map(|line| line.split('#').next()).collect();
    let digits: Vec<u8> = digits.bytes().filter(u8::is_ascii_hexdigit).collect();
    digits.chunks(2).map(|pair| u8::from_str_radix(str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn hashes_match_their_vector() {
    let hundred: Vec<u8> = (0..100).collect();
    let bytes: Vec<u8> = [&b""[..], b"a", b"foobar", &hundred]
        .into_iter()
        .flat_map(|text| {
            let state = StateHasher::of(text);
            let folded = (state >> 32) as u32 ^ state as u32;
            let (state, large) = (state.to_le_bytes(), fnv1a_64(text).to_le_bytes());
            [&state[..], &folded.to_le_bytes(), &large, &fnv1a_32(text).to_le_bytes()].concat()
        })
        .collect();
    assert_eq!(hex(&unhex(include_str!("../vectors/hashes.hex"))), hex(&bytes));
}

#[test]
fn states_match_their_vector() {
    let goose = Goose {
        awake: true,
        position: [-2, 300],
        egg: Some(5),
        nest: None,
        name: "gänse".to_string(),
        corn: vec![1, 2],
        doors: BTreeMap::from([(1, false), (9, true)]),
        gait: Gait::Runs { lean: -1 },
        hatched: Frame::new(7),
        slots: SlotSet::from_bits(0b1001),
        mark: 'ß',
    };
    let vector = unhex(include_str!("../vectors/state.hex"));
    assert_eq!(hex(&vector), hex(&encode_state(&goose)));
    assert_eq!(decode_state(&vector), Ok(goose));
    assert_eq!(encode_state(&[Gait::Stands, Gait::Walks]), [0, 1]);
}

#[test]
fn bits_match_their_vector() {
    let mut buffer = [0; 16];
    let mut w = BitWriter::new(&mut buffer);
    w.bool(true).unwrap();
    w.ranged(-2, &(-3..=3)).unwrap();
    w.bits(0x1234, 13).unwrap();
    w.varint(300).unwrap();
    w.zigzag(-3).unwrap();
    w.ranged(5, &(5..=5)).unwrap();
    assert_eq!(hex(&unhex(include_str!("../vectors/bits.hex"))), hex(w.finish()));
}
