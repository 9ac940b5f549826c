//! Queue between the relay and a server that is itself a member of rooms: datagrams of members, and
//! what it sends to them.
//!
//! The relay fills it, a thread of the server empties it. Absent: rooms, links, what is sent.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;

use crate::machine::{ConnectionId, Outbound};

/// Datagrams of all rooms that wait for the thread; further ones are dropped.
const ARRIVALS_MAX: usize = 65_536;

/// What a member of a room did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InsiderEvent {
    /// The pair with a member has opened.
    Opened(PeerId),
    /// The pair with a member has closed.
    Closed(PeerId),
    /// A member sent a datagram.
    Datagram(PeerId, Vec<u8>),
    /// The relay stops.
    Stopped,
}

/// Arrivals of the rooms that one thread serves.
#[derive(Default)]
pub struct InsiderQueue {
    arrivals: Mutex<Vec<(ConnectionId, InsiderEvent)>>,
    dropped: AtomicU64,
}

impl fmt::Debug for InsiderQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InsiderQueue").field("dropped", &self.dropped()).finish_non_exhaustive()
    }
}

impl InsiderQueue {
    /// Takes all arrivals, in exchange for an empty list.
    pub fn swap(&self, empty: &mut Vec<(ConnectionId, InsiderEvent)>) {
        std::mem::swap(&mut *self.lock(), empty);
    }

    /// Datagrams dropped because the thread did not keep up.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }

    /// Queues what the relay says on a connection. Returns the number of dropped datagrams.
    pub(crate) fn push(&self, connection: ConnectionId, out: Outbound<'_>) -> u64 {
        let event = match out {
            Outbound::Close => InsiderEvent::Stopped,
            Outbound::Data(frame) | Outbound::Control(frame) => match RelayFrame::read(frame) {
                Ok(RelayFrame::Data { peer, datagram }) => InsiderEvent::Datagram(peer, datagram.to_vec()),
                Ok(RelayFrame::Opened { peer }) => InsiderEvent::Opened(peer),
                Ok(RelayFrame::Closed { peer }) => InsiderEvent::Closed(peer),
                _ => return 0,
            },
        };
        let mut arrivals = self.lock();
        if arrivals.len() >= ARRIVALS_MAX && matches!(event, InsiderEvent::Datagram(..)) {
            self.dropped.fetch_add(1, Ordering::Relaxed);
            return 1;
        }
        arrivals.push((connection, event));
        0
    }

    fn lock(&self) -> MutexGuard<'_, Vec<(ConnectionId, InsiderEvent)>> {
        self.arrivals.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What a server sends to members of its rooms, handed over with one lock.
#[derive(Debug, Default)]
pub struct InsiderBatch {
    bytes: Vec<u8>,
    /// Connection, member, and end of its datagram; none if the pair is to be closed.
    items: Vec<(ConnectionId, PeerId, Option<usize>)>,
}

impl InsiderBatch {
    /// Adds a datagram for a member.
    pub fn send(&mut self, connection: ConnectionId, to: PeerId, datagram: &[u8]) {
        self.bytes.extend_from_slice(datagram);
        self.items.push((connection, to, Some(self.bytes.len())));
    }

    /// Ends the pair with a member.
    pub fn close(&mut self, connection: ConnectionId, peer: PeerId) {
        self.items.push((connection, peer, None));
    }

    /// Whether there is nothing to hand over.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Empties the batch; its memory stays.
    pub fn clear(&mut self) {
        self.bytes.clear();
        self.items.clear();
    }

    /// Items in order; a datagram is `None` where the pair is to be closed.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ConnectionId, PeerId, Option<&[u8]>)> {
        let mut start = 0;
        self.items.iter().map(move |(connection, peer, end)| {
            let datagram = end.map(|end| &self.bytes[std::mem::replace(&mut start, end)..end]);
            (*connection, *peer, datagram)
        })
    }
}
