//! Requests the server has not answered yet. They survive a lost connection: what asks for a seat is
//! answered by the seat, the rest is asked again.

use std::collections::BTreeMap;

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
    requests: BTreeMap<u64, Request>,
}

#[derive(Debug)]
struct Request {
    message: ClientMessage,
    is_sent: bool,
}

impl Pending {
    /// Numbers a request and remembers it.
    pub(super) fn add(&mut self, message: ClientMessage, is_sent: bool) -> Envelope<ClientMessage> {
        self.next += 1;
        self.requests.insert(self.next, Request { message: message.clone(), is_sent });
        if self.requests.len() > PENDING_MAX {
            self.requests.pop_first();
        }
        Envelope { id: Some(self.next), message }
    }

    /// What is still to be sent, in order. It counts as sent from now on.
    pub(super) fn unsent(&mut self) -> Vec<Envelope<ClientMessage>> {
        let unsent = self.requests.iter_mut().filter(|(_, request)| !request.is_sent);
        let send = |(id, request): (&u64, &mut Request)| {
            request.is_sent = true;
            Envelope { id: Some(*id), message: request.message.clone() }
        };
        unsent.map(send).collect()
    }

    /// The connection is lost: nobody knows what arrived.
    pub(super) fn set_unsent(&mut self) {
        self.requests.values_mut().for_each(|request| request.is_sent = false);
    }

    /// A request is answered.
    pub(super) fn take(&mut self, id: u64) -> Option<ClientMessage> {
        self.requests.remove(&id).map(|request| request.message)
    }

    /// Requests that a seat we turn out to have answers: those that ask for one and do not want another.
    pub(super) fn take_entering(&mut self) -> Vec<RequestId> {
        let is_entering = |request: &Request| match &request.message {
            ClientMessage::Find(find) => !find.switch,
            ClientMessage::Create(create) => !create.switch,
            ClientMessage::Join(join) => !join.switch,
            ClientMessage::TakeOver(_) => true,
            _ => false,
        };
        let ids: Vec<u64> =
            self.requests.iter().filter(|(_, request)| is_entering(request)).map(|(id, _)| *id).collect();
        ids.iter().for_each(|id| drop(self.requests.remove(id)));
        ids.into_iter().map(RequestId).collect()
    }

    /// Requests that have been answered by the connection itself: there is no room to leave.
    pub(super) fn take_leaving(&mut self) -> Vec<RequestId> {
        let leaving = |request: &Request| matches!(request.message, ClientMessage::Leave(_));
        let ids: Vec<u64> =
            self.requests.iter().filter(|(_, request)| leaving(request)).map(|(id, _)| *id).collect();
        ids.iter().for_each(|id| drop(self.requests.remove(id)));
        ids.into_iter().map(RequestId).collect()
    }
}
