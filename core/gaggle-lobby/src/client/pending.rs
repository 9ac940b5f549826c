//! Requests without an answer, which survive a lost connection.
//!
//! Owned by [`Client`](super::Client). After a reconnect all are sent again, except requests for a
//! room when the reservation still exists. Absent: sockets, timers.

use crate::message::{ClientMessage, Envelope};

/// Most pending requests, more than a game has open at a time; beyond that the oldest is dropped.
const PENDING_MAX: usize = 64;

/// Number of a request, repeated in its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RequestId(pub u64);

/// Requests without an answer.
#[derive(Debug, Default)]
pub(super) struct Pending {
    next: u64,
    /// Sorted by number: numbers only grow.
    requests: Vec<Request>,
}

#[derive(Debug)]
struct Request {
    id: u64,
    message: ClientMessage,
    is_sent: bool,
}

impl Pending {
    /// Numbers a request and stores it.
    pub(super) fn add(&mut self, message: ClientMessage, is_sent: bool) -> Envelope<ClientMessage> {
        self.next += 1;
        self.requests.push(Request { id: self.next, message: message.clone(), is_sent });
        if self.requests.len() > PENDING_MAX {
            self.requests.remove(0);
        }
        Envelope { id: Some(self.next), message }
    }

    /// Requests still to be sent, in order. Marks them as sent.
    pub(super) fn unsent(&mut self) -> Vec<Envelope<ClientMessage>> {
        let unsent = self.requests.iter_mut().filter(|request| !request.is_sent);
        let send = |request: &mut Request| {
            request.is_sent = true;
            Envelope { id: Some(request.id), message: request.message.clone() }
        };
        unsent.map(send).collect()
    }

    /// Marks all as unsent: after a lost connection it is unknown which arrived.
    pub(super) fn set_unsent(&mut self) {
        self.requests.iter_mut().for_each(|request| request.is_sent = false);
    }

    /// Whether this request has no answer yet.
    pub(super) fn has(&self, id: u64) -> bool {
        self.requests.iter().any(|request| request.id == id)
    }

    /// Removes and returns an answered request.
    pub(super) fn take(&mut self, id: u64) -> Option<ClientMessage> {
        let nth = self.requests.iter().position(|request| request.id == id)?;
        Some(self.requests.remove(nth).message)
    }

    /// Removes the requests that an existing reservation answers: those that ask for a room and do
    /// not ask to switch.
    pub(super) fn take_entering(&mut self) -> Vec<RequestId> {
        let is_entering = |request: &Request| match &request.message {
            ClientMessage::Find(find) => !find.leave_current,
            ClientMessage::Create(create) => !create.leave_current,
            ClientMessage::Join(join) => !join.leave_current,
            ClientMessage::TakeOver(_) => true,
            _ => false,
        };
        self.take_all(is_entering)
    }

    /// Removes requests to leave: there is no room to leave.
    pub(super) fn take_leaving(&mut self) -> Vec<RequestId> {
        self.take_all(|request| matches!(request.message, ClientMessage::Leave(_)))
    }

    /// Removes list requests. Sent again after a lost connection, they would subscribe to the wrong
    /// list.
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
