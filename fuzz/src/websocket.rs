//! Fuzz target of gaggle-websocket: its decoder and tungstenite's on the same bytes.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. Intended differences: tungstenite
//! checks texts piece by piece, so it may reject one earlier; ours rejects a wrong header before it
//! is complete. Absent: the fuzzer and its corpora.

use std::io::{self, Read, Write};

use gaggle_websocket::{Decoder, Message, MessageKind};
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-websocket.
pub const TARGETS: [Target; 1] = [("websocket_frames", frames)];

/// A stream of frames behind a byte with the length of its pieces.
pub fn frames(data: &[u8]) {
    if let [cut, bytes @ ..] = data {
        compare(bytes, usize::from(*cut));
    }
}

/// Longest message that both decoders accept, in bytes.
const MAX: usize = 1_000;

/// One message a decoder made of the bytes.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close,
}

/// Decodes with both and panics where they differ. Ours gets pieces of `cut` bytes. Returns the
/// number of messages.
pub fn compare(bytes: &[u8], cut: usize) -> usize {
    let (ours, ours_failed) = ours(bytes, cut.max(1));
    let (theirs, theirs_failed) = theirs(bytes);
    let common = ours.len().min(theirs.len());
    assert_eq!(ours[..common], theirs[..common], "{bytes:02x?}");
    let counts = format!("{ours:?} {theirs:?} {bytes:02x?}");
    match (ours_failed, theirs_failed) {
        // Ours fails as soon as a header is wrong, tungstenite when it has the whole header.
        (true, false) | (false, false) => assert_eq!(ours.len(), theirs.len(), "{counts}"),
        // Tungstenite fails at a wrong piece of a text, ours at its end, so only ours decodes
        // control frames between them.
        (_, true) => assert!(theirs.len() <= ours.len(), "{counts}"),
    }
    ours.len()
}

fn ours(bytes: &[u8], cut: usize) -> (Vec<Heard>, bool) {
    let (mut decoder, mut heard) = (Decoder::new(MessageKind::Any, MAX as u32), Vec::new());
    for part in bytes.chunks(cut) {
        let decoded = decoder.decode(&mut part.to_vec(), |message| {
            heard.push(match message {
                Message::Text(text) => Heard::Text(text.into()),
                Message::Binary(bytes) => Heard::Binary(bytes.into()),
                Message::Ping(bytes) => Heard::Ping(bytes.into()),
                Message::Pong => Heard::Pong,
                Message::Close(_) => Heard::Close,
            });
            !matches!(heard.last(), Some(Heard::Close))
        });
        match decoded {
            Ok(true) => {}
            Ok(false) => return (heard, false),
            Err(_) => return (heard, true),
        }
    }
    (heard, false)
}

fn theirs(bytes: &[u8]) -> (Vec<Heard>, bool) {
    let config = WebSocketConfig::default().max_message_size(Some(MAX)).max_frame_size(Some(MAX));
    let mut context = WebSocketContext::new(Role::Server, Some(config));
    let (mut pipe, mut heard) = (Pipe(bytes), Vec::new());
    loop {
        match context.read(&mut pipe) {
            Ok(tungstenite::Message::Text(text)) => heard.push(Heard::Text(text.as_str().into())),
            Ok(tungstenite::Message::Binary(bytes)) => heard.push(Heard::Binary(bytes.to_vec())),
            Ok(tungstenite::Message::Ping(bytes)) => heard.push(Heard::Ping(bytes.to_vec())),
            Ok(tungstenite::Message::Pong(_)) => heard.push(Heard::Pong),
            Ok(tungstenite::Message::Close(_)) => {
                heard.push(Heard::Close);
                return (heard, false);
            }
            Ok(tungstenite::Message::Frame(_)) => {}
            Err(tungstenite::Error::Io(error)) if error.kind() == io::ErrorKind::WouldBlock => {
                return (heard, false);
            }
            Err(_) => return (heard, true),
        }
    }
}

/// Bytes to read; writes are discarded.
struct Pipe<'a>(&'a [u8]);

impl Read for Pipe<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer)? {
            0 => Err(io::ErrorKind::WouldBlock.into()),
            count => Ok(count),
        }
    }
}

impl Write for Pipe<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
