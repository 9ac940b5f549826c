//! Remote events: their types, options and rate limits. A remote event happens once, such as a
//! sound, a hit or a chat line, and is sent in order and reliably. `RemoteEvents` delivers them.
//! Absent: links, roster, approval.

use std::any::TypeId;
use std::collections::VecDeque;

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
use gaggle_kit::{Micros, Slot, State, decode_state};

use crate::ObjectId;

/// Most objects one remote event can be about.
pub const EVENT_OBJECTS_MAX: usize = 8;
/// Most bytes of one remote event.
pub const EVENT_BYTES_MAX: usize = 1_024;

/// Recipients of a remote event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// All players, the sender included.
    All,
    /// All players but those of the sending peer.
    Others,
    /// The leader only.
    Leader,
    /// One player, which may be the sender.
    Slot(Slot),
}

/// How remote events of a type are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventOptions {
    /// Sends it to the leader first, whose game approves it, and from there to all recipients in
    /// one order.
    pub needs_approval: bool,
    /// Shortest time between two events about the same object. The second is dropped.
    pub min_interval: Micros,
}

impl EventOptions {
    /// Sent directly, without a rate limit.
    pub const DIRECT: EventOptions = EventOptions { needs_approval: false, min_interval: Micros::ZERO };
    /// Sent to the leader for approval.
    pub const APPROVED: EventOptions = EventOptions { needs_approval: true, min_interval: Micros::ZERO };

    /// The same options with this shortest interval.
    #[must_use]
    pub const fn with_min_interval(self, interval: Micros) -> EventOptions {
        EventOptions { min_interval: interval, ..self }
    }
}

/// A remote event that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEvent {
    /// Player whose peer sent it.
    pub from: Slot,
    /// Objects it is about. All of them are known here.
    pub objects: Vec<ObjectId>,
    pub(crate) of: TypeId,
    pub(crate) bytes: Vec<u8>,
}

impl RemoteEvent {
    /// Its value, if it is of this type.
    pub fn get<T: State + 'static>(&self) -> Option<T> {
        if self.of != TypeId::of::<T>() {
            return None;
        }
        // It was decoded once when it arrived.
        decode_state(&self.bytes).ok()
    }
}

/// A remote event waiting for the leader's game: [`approve`](crate::Session::approve) it or
/// [`reject`](crate::Session::reject) it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "the peer that asked waits for an answer: approve or reject it"]
pub struct EventRequest {
    /// The event with its sender.
    pub event: RemoteEvent,
    /// Recipients if it is approved.
    pub to: Target,
    pub(crate) kind: u8,
    pub(crate) tag: u32,
    pub(crate) number: u32,
}

/// Why a remote event was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The type was not registered when the session began.
    #[error("remote events of this type are not registered; call `Kinds::with_event`")]
    UnknownType,
    /// It is about too many objects or has too many bytes.
    #[error("too large; use at most {EVENT_OBJECTS_MAX} objects and {EVENT_BYTES_MAX} bytes")]
    TooLarge,
    /// Too soon after the last one of its type.
    #[error("too soon after the last remote event of its type; retry after `min_interval`")]
    RateLimited,
    /// This peer is not a member yet.
    #[error("not a member yet; wait for `SessionEvent::MembershipGranted`")]
    NotMember,
    /// Too many wait for approval.
    #[error("too many remote events wait for approval; retry later")]
    TooMany,
    /// No player at this peer has the slot it is to come from.
    #[error("no local player has {slot}; send from one of `local_slots`")]
    SlotNotLocal {
        /// Slot of another peer, or of none.
        slot: Slot,
    },
    /// No such slot: a session has 255.
    #[error("{slot} is beyond the 255 of a session; send it to 0 to 254")]
    UnknownSlot {
        /// Slot that no session has.
        slot: Slot,
    },
}

/// Times at which remote events were last sent, by type and first object.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Vec<(u8, Option<ObjectId>, Micros)>,
}

/// Most pairs of type and object remembered; the oldest are dropped for new ones.
const THROTTLED_MAX: usize = 256;

impl Throttle {
    /// Whether an event may be sent now; if so, it counts as sent.
    pub(crate) fn admit(&mut self, now: Micros, kind: u8, about: Option<ObjectId>, interval: Micros) -> bool {
        if interval == Micros::ZERO {
            return true;
        }
        if let Some(known) = self.last.iter_mut().find(|known| (known.0, known.1) == (kind, about)) {
            let admitted = now.since(known.2) >= interval;
            if admitted {
                known.2 = now;
            }
            return admitted;
        }
        if self.last.len() == THROTTLED_MAX {
            let oldest = self.last.iter().enumerate().min_by_key(|(_, known)| known.2);
            if let Some((index, _)) = oldest {
                self.last.swap_remove(index);
            }
        }
        self.last.push((kind, about, now));
        true
    }
}

/// A remote event that arrived and waits: for its objects, or for the roster to show that its
/// sender or the leader is a member.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) petition: EventRequest,
    /// Whether it needs approval here before it is delivered.
    pub(crate) to_judge: bool,
    /// Approved by the leader.
    pub(crate) checked: bool,
    pub(crate) since: Micros,
    /// Tick of the sender when it was sent.
    pub(crate) tick: u32,
}

/// Remote events of one sender, in order.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) waiting: VecDeque<Waiting>,
    pub(crate) limit: RateLimiter,
}

/// Remote events a second from one peer; further ones are dropped.
pub(crate) const EVENTS: RateLimit = RateLimit::per_second(200, 400);
/// Remote events of one peer that may wait for objects.
pub(crate) const WAITING_MAX: usize = 512;

/// Requests without an answer; further ones are refused.
pub(crate) const PETITIONS_MAX: usize = 256;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_about_one_object_keep_minimum_interval() {
        let mut throttle = Throttle::default();
        let (a, b) = (Some(ObjectId::from_bits(1)), Some(ObjectId::from_bits(2)));
        let interval = Micros::from_millis(120);
        let at = Micros::from_millis;
        assert!(throttle.admit(at(1_000), 0, a, interval));
        assert!(!throttle.admit(at(1_119), 0, a, interval));
        assert!(throttle.admit(at(1_119), 0, b, interval));
        assert!(throttle.admit(at(1_119), 1, a, interval));
        assert!(throttle.admit(at(1_120), 0, a, interval));
        for number in 0..2_000 {
            throttle.admit(at(2_000), 0, Some(ObjectId::from_bits(number)), interval);
        }
        assert!(throttle.last.len() <= THROTTLED_MAX);
    }
}
