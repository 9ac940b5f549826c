//! Two decoders of WebSocket frames, ours and tungstenite's, on the same bytes.
//!
//! Differences that are meant: tungstenite checks texts piece by piece, so that it may reject one
//! earlier, and ours rejects a wrong header before it is complete.

use std::io::{self, Read, Write};

use gaggle_websocket::{Decoder, Message, MessageKind};
use tungstenite::protocol::{Role, WebSocketConfig, WebSocketContext};

/// A target: its name, which is that of its corpus, and what it does with its bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate.
pub const TARGETS: [Target; 1] = [("websocket_frames", frames)];

/// A stream of frames behind a byte that says how it is cut.
pub fn frames(data: &[u8]) {
    if let [cut, bytes @ ..] = data {
        compare(bytes, usize::from(*cut));
    }
}

/// Bytes of the longest message in both.
const MAX: usize = 1_000;

/// What a decoder made of some bytes.
#[derive(Debug, PartialEq, Eq)]
enum Heard {
    Text(String),
    Binary(Vec<u8>),
    Ping(Vec<u8>),
    Pong,
    Close,
}

/// Decodes with both and panics where they differ. Returns the number of messages. Ours gets the
/// bytes in pieces of `cut`.
pub fn compare(bytes: &[u8], cut: usize) -> usize {
    let (ours, ours_failed) = ours(bytes, cut.max(1));
    let (theirs, theirs_failed) = theirs(bytes);
    let common = ours.len().min(theirs.len());
    assert_eq!(ours[..common], theirs[..common], "{bytes:02x?}");
    let counts = format!("{ours:?} {theirs:?} {bytes:02x?}");
    match (ours_failed, theirs_failed) {
        // Ours fails as soon as a header is wrong, tungstenite when it has the whole header.
        (true, false) | (false, false) => assert_eq!(ours.len(), theirs.len(), "{counts}"),
        // Tungstenite fails at a wrong piece of a text, ours at its end: control frames between
        // them are heard by ours only.
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

/// Bytes to read; what is written is lost.
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
