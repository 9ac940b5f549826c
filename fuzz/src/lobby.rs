//! Targets for gaggle-lobby: what is read is written in one form, and nothing panics.

use gaggle_kit::Micros;
use gaggle_lobby::client::{Client, ClientConfig};
use gaggle_lobby::{ClientMessage, DisplayName, Envelope, ServerMessage, TicketSigner};

/// A target: its name, which is that of its corpus, and what it does with its bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All targets of this crate.
pub const TARGETS: [Target; 3] =
    [("lobby_message", message), ("lobby_client", client), ("lobby_ticket", ticket)];

/// A text from either side: what is accepted reads back as itself.
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

/// A server that says anything, a message a line, to a client that has just connected.
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

/// An unsigned ticket is rejected, whatever its bytes.
pub fn ticket(data: &[u8]) {
    let Ok(text) = str::from_utf8(data) else { return };
    let stranger = TicketSigner::from_secret(&[1; 32]).key();
    assert!(stranger.open(text, 0).is_err());
    // What the right key opens was signed with it: the corpus has such a one.
    let _ = TicketSigner::from_secret(&[7; 32]).key().open(text, 0);
}
