//! The decoder against tungstenite's: the fuzzers' corpus with every entry cut at each byte and
//! with each single bit flipped, and random streams of frames, valid and invalid.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use gaggle_kit::Prng;

#[path = "../../../fuzz/src/websocket.rs"]
pub mod websocket;

gaggle_testkit::corpus!(websocket::TARGETS);

/// A random stream of frames, most of them valid.
fn stream(random: &mut Prng) -> Vec<u8> {
    let (mut out, mut is_open) = (Vec::new(), false);
    for _ in 0..1 + random.below(8) {
        let kinds: &[u8] = match () {
            () if random.below(20) == 0 => &[0, 1, 2, 3, 8, 11],
            () if is_open => &[0, 0, 0, 9, 10],
            () => &[1, 1, 2, 2, 9, 10],
        };
        let kind = kinds[random.below(kinds.len() as u32) as usize];
        let is_last = kind >= 8 || random.below(3) > 0;
        is_open = if kind >= 8 { is_open } else { !is_last };
        let reserved = if random.below(40) == 0 { 0x40 } else { 0 };
        out.push(u8::from(is_last) << 7 | reserved | kind);
        let lengths: &[usize] = if kind >= 8 {
            &[0, 1, 2, 5, 125, 125, 125, 126]
        } else {
            &[0, 1, 5, 125, 126, 300, 1_000, 1_001]
        };
        let length = lengths[random.below(8) as usize];
        let masked = if random.below(40) == 0 { 0 } else { 0x80 };
        match length {
            ..126 => out.push(masked | length as u8),
            _ => {
                out.push(masked | 126);
                out.extend_from_slice(&(length as u16).to_be_bytes());
            }
        }
        let mask = [0, 1, 2, 3].map(|_| random.below(256) as u8);
        if masked > 0 {
            out.extend_from_slice(&mask);
        }
        let ascii = random.below(6) > 0;
        for nth in 0..length {
            let byte = if ascii { b'a' + random.below(26) as u8 } else { random.below(256) as u8 };
            out.push(byte ^ mask[nth % 4]);
        }
    }
    out
}

#[test]
fn random_streams_decode_as_tungstenite_does() {
    let (mut random, mut messages) = (Prng::new(7), 0);
    for _ in 0..20_000 {
        let bytes = stream(&mut random);
        let cut = 1 + random.below(64) as usize;
        messages += websocket::compare(&bytes, cut);
    }
    assert!(messages > 20_000, "only {messages} messages were compared");
}
