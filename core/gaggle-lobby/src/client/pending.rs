//! Requests the server has not answered yet. They survive a lost connection: what asks for a seat
//! is answered by the seat, the rest is asked again.

use crate::message::{ClientMessage, Envelope};

/// More requests than a game has open at a time; beyond that the oldest is forgotten.
const PENDING_MAX: usize = 64;

/// A request, to recognise its answer by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Requests without an answer.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: u64,
    /// In order: numbers only grow.
    requests: Vec<Request>,
}

#[derive(Debug)]
struct Request {
    id: u64,
    message: ClientMessage,
    is_sent: bool,
}

impl Pending {
    /// Numbers a request and remembers it.
    pub(super) fn add(&mut self, message: ClientMessage, is_sent: bool) -> Envelope<ClientMessage> {
        self.next += 1;
        self.requests.push(Request { id: self.next, message: message.clone(), is_sent });
        if self.requests.len() > PENDING_MAX {
            self.requests.remove(0);
        }
        Envelope { id: Some(self.next), message }
    }

    /// What is still to be sent, in order. It counts as sent from now on.
    pub(super) fn unsent(&mut self) -> Vec<Envelope<ClientMessage>> {
        let unsent = self.requests.iter_mut().filter(|request| !request.is_sent);
        let send = |request: &mut Request| {
            request.is_sent = true;
            Envelope { id: Some(request.id), message: request.message.clone() }
        };
        unsent.map(send).collect()
    }

    /// The connection is lost: nobody knows what arrived.
    pub(super) fn set_unsent(&mut self) {
        self.requests.iter_mut().for_each(|request| request.is_sent = false);
    }

    /// Whether a request has no answer yet.
    pub(super) fn has(&self, id: u64) -> bool {
        self.requests.iter().any(|request| request.id == id)
    }

    /// A request is answered.
    pub(super) fn take(&mut self, id: u64) -> Option<ClientMessage> {
        let nth = self.requests.iter().position(|request| request.id == id)?;
        Some(self.requests.remove(nth).message)
    }

    /// Requests that a seat we turn out to have answers: those that ask for one and do not want
    /// another.
    pub(super) fn take_entering(&mut self) -> Vec<RequestId> {
        let is_entering = |request: &Request| match &request.message {
            ClientMessage::Find(find) => !find.switch,
            ClientMessage::Create(create) => !create.switch,
            ClientMessage::Join(join) => !join.switch,
            ClientMessage::TakeOver(_) => true,
            _ => false,
        };
        self.take_all(is_entering)
    }

    /// Requests that have been answered by the connection itself: there is no room to leave.
    pub(super) fn take_leaving(&mut self) -> Vec<RequestId> {
        self.take_all(|request| matches!(request.message, ClientMessage::Leave(_)))
    }

    /// Another list is wanted, or none: whoever asked again for these after a lost connection would
    /// be shown the wrong one.
    pub(super) fn forget_lists(&mut self) {
        self.take_all(|request| {
            matches!(request.message, ClientMessage::SubscribeRooms(_) | ClientMessage::UnsubscribeRooms(_))
        });
    }

    fn take_all(&mut self, is_meant: fn(&Request) -> bool) -> Vec<RequestId> {
        let mut taken = Vec::new();
        self.requests.retain(|request| {
            let is_meant = is_meant(request);
            taken.extend(is_meant.then_some(RequestId(request.id)));
            !is_meant
        });
        taken
    }
}
