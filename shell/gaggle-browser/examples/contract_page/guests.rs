//! Meshes of this page controlled by an external program, so that native peers and pages can run
//! one test.
//!
//! Everything is text, one item per line: `tests/native_in_chromium.rs` is the other side.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Write;

use gaggle_browser::{MeshServers, PageMesh, mesh, now};
use gaggle_kit::PeerId;
use gaggle_link::{
    Channel, CloseCode, DisconnectReason, Mesh, MeshConfig, Path, PathConfig, SendError, Transport,
    TransportEvent,
};
use wasm_bindgen::prelude::*;

thread_local! {
    static GUESTS: RefCell<BTreeMap<u32, PageMesh>> = const { RefCell::new(BTreeMap::new()) };
}

fn with<T>(nth: u32, act: impl FnOnce(&mut PageMesh) -> T) -> T {
    GUESTS.with_borrow_mut(|guests| act(guests.get_mut(&nth).expect("a guest that was opened")))
}

fn peer(text: &str) -> PeerId {
    text.parse().expect("a peer")
}

/// Opens a mesh with a direct path only, to these other peers.
#[wasm_bindgen]
pub fn guest_open(nth: u32, me: &str, others: &str) {
    let config = MeshConfig { paths: PathConfig::only(Path::Direct), ..MeshConfig::default() };
    let mut links = mesh(peer(me), "", &MeshServers::default(), config, now().get() ^ u64::from(nth));
    others.split_whitespace().for_each(|other| links.add_peer(now(), peer(other)));
    GUESTS.with_borrow_mut(|guests| guests.insert(nth, links));
}

/// Drops all guests.
#[wasm_bindgen]
pub fn guests_close() {
    GUESTS.with_borrow_mut(BTreeMap::clear);
}

/// Passes a signal to a guest.
#[wasm_bindgen]
pub fn guest_signal(nth: u32, from: &str, text: &str) {
    with(nth, |links| {
        links.handle_signal(now(), peer(from), text).expect("written by a peer of the same build")
    });
}

/// Passes a text to a guest that may not be a signal.
#[wasm_bindgen]
pub fn guest_doubtful_signal(nth: u32, from: &str, text: &str) {
    let _ = with(nth, |links| links.handle_signal(now(), peer(from), text));
}

/// Malformed signals and unusable descriptions or addresses a guest has received.
#[wasm_bindgen]
pub fn guest_refused(nth: u32) -> u32 {
    with(nth, |links| links.malformed_signals() as u32)
}

/// Sends a message on a stream, or unreliably without one; an empty text if accepted.
#[wasm_bindgen]
pub fn guest_send(nth: u32, to: &str, stream: Option<u8>, bytes: &str) -> String {
    let channel = stream.map_or(Channel::Unreliable, Channel::Reliable);
    match with(nth, |links| links.send(now(), peer(to), channel, &from_hex(bytes))) {
        Ok(()) => String::new(),
        Err(SendError::TooLarge { bytes, max }) => format!("large {bytes} {max}"),
        Err(SendError::Backpressure { queued, max, .. }) => format!("full {queued} {max}"),
        Err(_) => "stranger".to_string(),
    }
}

/// Closes a link.
#[wasm_bindgen]
pub fn guest_disconnect(nth: u32, other: &str, goodbye: u8) {
    with(nth, |links| links.disconnect(now(), peer(other), CloseCode(goodbye)));
}

/// Events of a guest, then signals to send, then its paths.
#[wasm_bindgen]
pub fn guest_poll(nth: u32) -> String {
    let mut said = String::new();
    with(nth, |links| {
        while let Some(event) = links.poll(now()) {
            let _ = match event {
                TransportEvent::Connected { peer } => writeln!(said, "joined {peer}"),
                TransportEvent::Disconnected { peer, reason } => {
                    writeln!(said, "left {peer} {}", reason_text(reason))
                }
                TransportEvent::Message { peer, channel: Channel::Unreliable, bytes } => {
                    writeln!(said, "message {peer} - {}", to_hex(bytes))
                }
                TransportEvent::Message { peer, channel: Channel::Reliable(stream), bytes } => {
                    writeln!(said, "message {peer} {stream} {}", to_hex(bytes))
                }
            };
        }
        while let Some((to, signal)) = links.poll_signal() {
            let _ = writeln!(said, "signal {to} {}", to_hex(signal.as_bytes()));
        }
        while let Some(change) = links.poll_path_change() {
            assert!(change.path.is_none_or(|path| path == Path::Direct), "{change:?}");
        }
        for peer in links.peers().to_vec() {
            let stats = links.stats(peer).unwrap_or_default();
            let rtt = stats.rtt.map_or(0, |rtt| rtt.get().max(1));
            let (out, inward) = ((stats.packets_out, stats.bytes_out), (stats.packets_in, stats.bytes_in));
            let _ = writeln!(said, "peer {peer} {rtt} {} {} {} {}", out.0, out.1, inward.0, inward.1);
        }
    });
    said
}

fn reason_text(reason: DisconnectReason) -> String {
    match reason {
        DisconnectReason::Local(CloseCode(number)) => format!("ours {number}"),
        DisconnectReason::Remote(CloseCode(number)) => format!("theirs {number}"),
        DisconnectReason::Timeout => "silent".to_string(),
        DisconnectReason::Restarted => "restarted".to_string(),
        _ => "closed".to_string(),
    }
}

fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(bytes.len() * 2), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

fn from_hex(text: &str) -> Vec<u8> {
    let pairs = (0..text.len() / 2).map(|nth| &text[nth * 2..nth * 2 + 2]);
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hex digits")).collect()
}
