//! Things that happen once: a sound, a hit, a word. Ordered and reliable beside the objects; the
//! types, and how often.

use std::any::TypeId;
use std::collections::VecDeque;

use gaggle_kit::{Micros, Slot, State, decode_state};

use crate::ObjectId;

/// Most objects one signal can be about.
pub const EVENT_OBJECTS_MAX: usize = 8;
/// Most bytes one signal can have.
pub const EVENT_BYTES_MAX: usize = 1_024;

/// To whom a signal goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// Everybody, the sender included.
    All,
    /// Everybody but the sender.
    Others,
    /// Whoever leads: the host, where there is one.
    Leader,
    /// One player, who may be the sender.
    Slot(Slot),
}

/// How signals of a type are treated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EventOptions {
    /// It goes to the lead first, whose game says whether it is so, and from there to everybody in
    /// one order.
    pub needs_approval: bool,
    /// Two about the same object are not sent closer than this. The second is dropped.
    pub min_interval: Micros,
}

impl EventOptions {
    /// Sent directly, however often.
    pub const DIRECT: EventOptions = EventOptions { needs_approval: false, min_interval: Micros::ZERO };
    /// Sent to the lead to be checked.
    pub const APPROVED: EventOptions = EventOptions { needs_approval: true, min_interval: Micros::ZERO };

    /// The same, at most once in this long.
    #[must_use]
    pub const fn with_min_interval(self, interval: Micros) -> EventOptions {
        EventOptions { min_interval: interval, ..self }
    }
}

/// A signal that arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RemoteEvent {
    /// Who sent it.
    pub from: Slot,
    /// What it is about. All of them are known here.
    pub objects: Vec<ObjectId>,
    pub(crate) of: TypeId,
    pub(crate) bytes: Vec<u8>,
}

impl RemoteEvent {
    /// What it says, if it is of this type.
    pub fn get<T: State + 'static>(&self) -> Option<T> {
        if self.of != TypeId::of::<T>() {
            return None;
        }
        // It was read once when it arrived.
        decode_state(&self.bytes).ok()
    }
}

/// A signal that waits for the lead's game to say whether it is so:
/// [`approve`](crate::Session::approve) it or [`reject`](crate::Session::reject) it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use = "whoever asked waits for a verdict"]
pub struct EventRequest {
    /// What is to be said, by whom.
    pub event: RemoteEvent,
    /// To whom.
    pub to: Target,
    pub(crate) kind: u8,
    pub(crate) tag: u32,
    pub(crate) number: u32,
}

/// Why a signal was not sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EventError {
    /// The type was not named when the session began.
    #[error("signals of this type are not among the session's kinds")]
    UnknownType,
    /// It is about too many objects or has too many bytes.
    #[error("too large: at most {EVENT_OBJECTS_MAX} objects and {EVENT_BYTES_MAX} bytes")]
    TooLarge,
    /// Too soon after the last of its kind.
    #[error("too soon after the last of its kind")]
    RateLimited,
    /// This machine is not a member yet.
    #[error("not admitted to the session yet")]
    NotAdmitted,
    /// Too many wait to be checked.
    #[error("too many wait to be checked")]
    TooMany,
    /// No player at this peer has the slot it is to come from.
    #[error("{slot} is no player's at this peer; send it from one of `local_slots`")]
    SlotNotLocal {
        /// Slot of another peer, or of none.
        slot: Slot,
    },
    /// There is no such player: a session has 255 slots.
    #[error("{slot} is beyond the 255 of a session; send it to 0 to 254")]
    UnknownSlot {
        /// Slot that no session has.
        slot: Slot,
    },
}

/// When signals were last sent, by type and first object.
#[derive(Debug, Default)]
pub(crate) struct Throttle {
    last: Vec<(u8, Option<ObjectId>, Micros)>,
}

/// Pairs that are remembered; the oldest make room.
const THROTTLED_MAX: usize = 256;

impl Throttle {
    /// Whether one may be sent now; if so it counts as sent.
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

/// A bucket of tokens: so many a second, and as many as two seconds' worth at once.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RateLimiter {
    per_second: u64,
    /// In millionths of a token.
    level: u64,
    filled_at: Micros,
}

impl RateLimiter {
    pub(crate) fn new(per_second: u32) -> RateLimiter {
        let per_second = u64::from(per_second);
        RateLimiter { per_second, level: per_second * 2_000_000, filled_at: Micros::ZERO }
    }

    /// Takes a token, if there is one.
    pub(crate) fn take(&mut self, now: Micros) -> bool {
        let passed = now.since(self.filled_at).get().min(2_000_000);
        self.filled_at = self.filled_at.max(now);
        self.level = (self.level + passed * self.per_second).min(self.per_second * 2_000_000);
        let taken = self.level >= 1_000_000;
        if taken {
            self.level -= 1_000_000;
        }
        taken
    }
}

/// What arrived and waits: for objects it is about, or for the roster to show that it came from or
/// to the lead.
#[derive(Debug, Clone)]
pub(crate) struct Waiting {
    pub(crate) petition: EventRequest,
    /// It is to be judged here, not only heard.
    pub(crate) to_judge: bool,
    /// The lead said it.
    pub(crate) checked: bool,
    pub(crate) since: Micros,
    /// The sender's tick when it said so.
    pub(crate) tick: u32,
}

/// Signals of one sender, in order.
#[derive(Debug)]
pub(crate) struct Inbox {
    pub(crate) waiting: VecDeque<Waiting>,
    pub(crate) bucket: RateLimiter,
}

/// Signals a second from one peer; what goes beyond is dropped.
const SIGNALS_PER_SECOND: u32 = 200;
/// Signals of one peer that may wait for objects.
pub(crate) const WAITING_MAX: usize = 512;

impl Default for Inbox {
    fn default() -> Inbox {
        Inbox { waiting: VecDeque::new(), bucket: RateLimiter::new(SIGNALS_PER_SECOND) }
    }
}

/// Petitions without a verdict; more are refused.
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

    #[test]
    fn event_rate_limit_admits_its_rate() {
        let mut bucket = RateLimiter::new(10);
        let burst = (0..100).filter(|_| bucket.take(Micros::from_secs(1))).count();
        assert_eq!(burst, 20);
        let later = (0..1_000).filter(|ms| bucket.take(Micros::from_millis(1_000 + ms))).count();
        assert_eq!(later, 9);
    }
}
