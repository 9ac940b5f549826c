//! What client and server say to each other: JSON texts, one message each. PROTOCOL.md, section 5,
//! shows every one of them.
//!
//! A client may put an `id` on what it sends; the answer carries the same `id`.

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

/// A message and the number that ties an answer to its question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Envelope<M> {
    /// Chosen by the client, repeated in the answer.
    pub id: Option<u64>,
    /// What is said.
    pub message: M,
}

impl Envelope<ClientMessage> {
    /// Reads what a client sent.
    ///
    /// # Errors
    /// If it is too long, not JSON, of an unknown kind, or a field is missing or wrong.
    pub fn decode(text: &str) -> Result<Envelope<ClientMessage>, MessageError> {
        decode(text)
    }

    /// The text to send.
    pub fn encode(&self) -> String {
        encode(self.message.kind(), self.id, &self.message)
    }
}

impl Envelope<ServerMessage> {
    /// Reads what a server sent.
    ///
    /// # Errors
    /// If it is too long, not JSON, of an unknown kind, or a field is missing or wrong.
    pub fn decode(text: &str) -> Result<Envelope<ServerMessage>, MessageError> {
        decode(text)
    }

    /// The text to send.
    pub fn encode(&self) -> String {
        encode(self.message.kind(), self.id, &self.message)
    }

    /// The same, behind what is there already.
    pub(crate) fn encode_into(&self, out: &mut String) {
        write(self.message.kind(), self.id, &self.message, out);
    }
}

/// The `id` of a message that could not be read otherwise, so that even its refusal can be tied to
/// it.
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
