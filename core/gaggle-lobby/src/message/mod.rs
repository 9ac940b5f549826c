//! Messages between client and server: JSON texts, specified in docs/protocol/6-lobby.md.
//!
//! Client and node exchange them. A client may put an `id` on a request; the answer repeats it.
//! Absent: connections, rules of rooms.

pub mod client;
mod rejection;
pub mod server;

pub use client::ClientMessage;
pub use rejection::{Rejection, RejectionCode};
pub use server::ServerMessage;

use crate::MessageError;
use crate::json::{Object, ObjectWriter, Record};

/// The version of the lobby protocol.
pub const PROTOCOL_VERSION: u32 = 1;

/// Longest message in either direction, in bytes. A session description with many candidates has
/// about 8,000; a full room of 64 with long names has about 16,000.
pub const MESSAGE_BYTES_MAX: usize = 65_536;

/// A message with the number that links an answer to its request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<M> {
    /// Chosen by the client, repeated in the answer.
    pub id: Option<u64>,
    /// The message itself.
    pub message: M,
}

impl Envelope<ClientMessage> {
    /// Reads a client's text.
    ///
    /// # Errors
    /// If it is too long, not JSON, of an unknown kind, or a field is missing or wrong.
    pub fn decode(text: &str) -> Result<Envelope<ClientMessage>, MessageError> {
        decode(text)
    }

    /// JSON text to send.
    pub fn encode(&self) -> String {
        encode(self.message.kind(), self.id, &self.message)
    }
}

impl Envelope<ServerMessage> {
    /// Reads a server's text.
    ///
    /// # Errors
    /// If it is too long, not JSON, of an unknown kind, or a field is missing or wrong.
    pub fn decode(text: &str) -> Result<Envelope<ServerMessage>, MessageError> {
        decode(text)
    }

    /// JSON text to send.
    pub fn encode(&self) -> String {
        encode(self.message.kind(), self.id, &self.message)
    }

    /// Appends the JSON text to `out`.
    pub(crate) fn encode_into(&self, out: &mut String) {
        write(self.message.kind(), self.id, &self.message, out);
    }
}

/// The `id` of an unreadable message, so that its rejection can carry it.
pub(crate) fn id_of(text: &str) -> Option<u64> {
    let mut object = Object::empty();
    object.fill(text).ok()?;
    object.read("id")
}

fn decode<M: Record>(text: &str) -> Result<Envelope<M>, MessageError> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(MessageError::TooLong { length: text.len(), max: MESSAGE_BYTES_MAX });
    }
    let mut object = Object::empty();
    object.fill(text)?;
    let envelope = Envelope { id: object.read("id"), message: M::read_fields(&object) };
    object.finish(envelope)
}

fn encode<M: Record>(kind: &str, id: Option<u64>, message: &M) -> String {
    let mut out = String::with_capacity(256);
    write(kind, id, message, &mut out);
    out
}

fn write<M: Record>(kind: &str, id: Option<u64>, message: &M, out: &mut String) {
    let mut object = ObjectWriter::new(out);
    object.word("type", kind);
    object.field("id", &id);
    message.write_fields(&mut object);
    object.end();
}
