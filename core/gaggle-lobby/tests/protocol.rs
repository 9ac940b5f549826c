//! docs/protocol/6-lobby.md against the code: every example reads and writes unchanged, every
//! message, event and code is listed. Damaged examples do no harm.

#![allow(clippy::unwrap_used, reason = "test failures are explained by their messages")]

use std::collections::BTreeSet;

use gaggle_kit::Prng;
use gaggle_lobby::view::RoomUpdate;
use gaggle_lobby::{ClientMessage, Envelope, MessageError, RejectionCode, ServerMessage};

const DOCUMENT: &str = include_str!("../../../docs/protocol/6-lobby.md");

#[test]
fn every_client_example_reads_and_writes_unchanged() {
    let mut kinds = BTreeSet::new();
    for example in examples("client") {
        let envelope =
            Envelope::<ClientMessage>::decode(example).unwrap_or_else(|e| panic!("{e}: {example}"));
        assert_eq!(envelope.encode(), example);
        kinds.insert(envelope.message.kind());
    }
    assert_eq!(kinds, ClientMessage::KINDS.iter().copied().collect());
}

#[test]
fn every_server_example_reads_and_writes_unchanged() {
    let (mut kinds, mut events) = (BTreeSet::new(), BTreeSet::new());
    for example in examples("server") {
        let envelope =
            Envelope::<ServerMessage>::decode(example).unwrap_or_else(|e| panic!("{e}: {example}"));
        assert_eq!(envelope.encode(), example);
        kinds.insert(envelope.message.kind());
        if let ServerMessage::Change(change) = &envelope.message {
            events.extend(change.events.iter().map(RoomUpdate::kind));
        }
    }
    assert_eq!(kinds, ServerMessage::KINDS.iter().copied().collect());
    assert_eq!(events, RoomUpdate::KINDS.iter().copied().collect());
}

#[test]
fn every_code_is_explained() {
    for code in RejectionCode::ALL {
        assert!(DOCUMENT.contains(&format!("`{code}`")), "{code} is not in 6-lobby.md");
        assert_eq!(RejectionCode::from_word(code.as_str()), Some(*code));
    }
}

#[test]
fn truncated_text_is_rejected() {
    for example in examples("client").chain(examples("server")) {
        for end in (0..example.len()).filter(|end| example.is_char_boundary(*end)) {
            let cut = &example[..end];
            assert!(Envelope::<ClientMessage>::decode(cut).is_err(), "{cut}");
            assert!(Envelope::<ServerMessage>::decode(cut).is_err(), "{cut}");
        }
    }
}

#[test]
fn damaged_text_is_rejected_or_read_without_harm() {
    let mut prng = Prng::new(5);
    let (mut read, mut refused) = (0, 0);
    for example in examples("client").chain(examples("server")) {
        for _ in 0..300 {
            let mut bytes = example.as_bytes().to_vec();
            for _ in 0..=prng.below(3) {
                let at = prng.below(bytes.len() as u32) as usize;
                match prng.below(3) {
                    0 => bytes[at] = b"\"\\{}[],:0-9.ue \n\x00\xff"[prng.below(17) as usize],
                    1 => drop(bytes.remove(at)),
                    _ => bytes.insert(at, bytes[prng.below(bytes.len() as u32) as usize]),
                }
            }
            let Ok(text) = str::from_utf8(&bytes) else { continue };
            let client = Envelope::<ClientMessage>::decode(text).map(|envelope| envelope.encode());
            let server = Envelope::<ServerMessage>::decode(text).map(|envelope| envelope.encode());
            for again in [client, server] {
                match again {
                    // A text that is read must be written in a form that reads back as the same.
                    Ok(again) => {
                        let both = (
                            Envelope::<ClientMessage>::decode(&again),
                            Envelope::<ServerMessage>::decode(&again),
                        );
                        assert!(
                            both.0.is_ok_and(|e| e.encode() == again)
                                || both.1.is_ok_and(|e| e.encode() == again)
                        );
                        read += 1;
                    }
                    Err(error) => {
                        assert!(!error.to_string().is_empty());
                        refused += 1;
                    }
                }
            }
        }
    }
    assert!(read > 1_000 && refused > 1_000, "{read} read, {refused} refused");
}

#[test]
fn excess_of_anything_is_rejected_before_it_costs() {
    let long = format!(r#"{{"type":"hello","name":"{}"}}"#, "x".repeat(70_000));
    assert!(matches!(
        Envelope::<ClientMessage>::decode(&long),
        Err(MessageError::TooLong { length: 70_026, .. })
    ));
    let many = format!(r#"{{"type":"report","round":1,"scores":[{}]}}"#, vec!["{}"; 300].join(","));
    assert!(Envelope::<ClientMessage>::decode(&many).is_err());
    let score = r#"{"peer":"0f1e2d3c4b5a69788796a5b4c3d2e1f0","slot":0,"score":1}"#;
    let many = format!(r#"{{"type":"report","round":1,"scores":[{}]}}"#, vec![score; 257].join(","));
    let expected = "an array of at most 256 items";
    assert_eq!(
        Envelope::<ClientMessage>::decode(&many),
        Err(MessageError::Invalid { field: "scores", expected })
    );
    let deep = format!(r#"{{"type":"settings","settings":{}}}"#, "[".repeat(60_000));
    assert!(matches!(Envelope::<ClientMessage>::decode(&deep), Err(MessageError::NotJson { .. })));
}

/// Lines of the blocks marked ```json client or ```json server.
/// All example messages of one side, a line each.
fn examples(side: &str) -> impl Iterator<Item = &'static str> {
    let examples = match side {
        "client" => include_str!("../vectors/client.jsonl"),
        _ => include_str!("../vectors/server.jsonl"),
    };
    examples.lines()
}
