//! Fuzz targets of gaggle-lobby: messages, a client, tickets.
//!
//! Called by `fuzz_targets/` and by the tests of the crate. What decodes has one encoding, and
//! nothing panics. Absent: the fuzzer and its corpora.

use gaggle_kit::Micros;
use gaggle_lobby::client::{Client, ClientConfig};
use gaggle_lobby::{ClientMessage, DisplayName, Envelope, ServerMessage, TicketSigner};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of gaggle-lobby.
pub const TARGETS: [Target; 3] =
    [("lobby_message", message), ("lobby_client", client), ("lobby_ticket", ticket)];

/// A message of a client or of the server: what decodes equals what its encoding decodes to.
pub fn message(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    if let Ok(envelope) = Envelope::<ClientMessage>::decode(text) {
        let again = envelope.encode();
        assert_eq!(Envelope::<ClientMessage>::decode(&again), Ok(envelope));
    }
    if let Ok(envelope) = Envelope::<ServerMessage>::decode(text) {
        let again = envelope.encode();
        assert_eq!(Envelope::<ServerMessage>::decode(&again), Ok(envelope));
    }
    if let Ok(name) = text.parse::<DisplayName>() {
        assert_eq!(name.as_str().parse(), Ok(name));
    }
}

/// A server that sends any text, one message per line, to a client that has just connected.
pub fn client(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let mut client = Client::new(Micros::ZERO, ClientConfig::default(), 1);
    client.handle_open(Micros::ZERO);
    for (at, line) in text.lines().enumerate() {
        let now = Micros::from_millis(at as u64);
        client.handle_text(now, line);
        client.handle_timeout(now);
        while client.poll_output().is_some() {}
        while client.poll_event().is_some() {}
    }
}

/// Rejects any ticket with a wrong signature.
pub fn ticket(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let stranger = TicketSigner::from_secret(&[1; 32]).key();
    assert!(stranger.open(text, 0).is_err());
    // The corpus has a ticket that this key signed.
    let _ = TicketSigner::from_secret(&[7; 32]).key().open(text, 0);
}
