//! Signals between members of a room, delivered once despite broken connections.
//!
//! Called by `commands.rs` and `replies.rs`. Both directions are numbered. The server keeps recent
//! signals until the client acknowledges them; a client that resumes receives the rest. Absent:
//! content of signals, rooms.

use std::collections::{BTreeMap, VecDeque};

use gaggle_kit::rate_limit::{RateLimit, RateLimiter};
use gaggle_kit::{Micros, PeerId};

use super::connection::Connection;
use super::limits::{ConnectionLimits, LimitedAction};
use super::room_copies::{LocalRoom, RoomCopies};
use super::{ConnectionId, LobbyLimit, too_fast};
use crate::directory::QueuedSignal;
use crate::id::RoomId;
use crate::message::client::Signal;
use crate::message::{Rejection, RejectionCode};
use crate::room::Attachment;
use crate::rules::Rules;
use crate::view::RawJson;

/// Time to keep unacknowledged signals: a broken connection is noticed sooner.
const REMEMBER: Micros = Micros::from_secs(45);
const REMEMBER_MAX: usize = 64;
const REMEMBER_BYTES_MAX: usize = 65_536;
/// Size of a queued signal beyond its data, in bytes.
const SIGNAL_OVERHEAD: usize = 64;
/// Receivers with a limit per sender. More than a room has: some may have left.
const METERS_MAX: usize = 128;

/// Signal state of one connection.
#[derive(Debug, Default)]
pub(super) struct Signals {
    sent: u64,
    got: Option<u64>,
    recent: VecDeque<Recent>,
    recent_bytes: usize,
    /// Recent bytes per receiver.
    to: BTreeMap<PeerId, RateLimiter>,
}

#[derive(Debug)]
struct Recent {
    n: u64,
    at: Micros,
    from: PeerId,
    data: RawJson,
}

impl Signals {
    /// Continues the numbering of an earlier connection.
    pub(super) fn resumed(next: u64, got: Option<u64>) -> Signals {
        Signals { sent: next.saturating_sub(1), got, ..Signals::default() }
    }

    /// Number of the last signal received.
    pub(super) fn got(&self) -> Option<u64> {
        self.got
    }

    /// Number for the next signal sent.
    pub(super) fn number(&mut self) -> u64 {
        self.sent += 1;
        self.sent
    }

    /// Keeps the signal that was numbered last.
    pub(super) fn remember(&mut self, now: Micros, from: PeerId, data: RawJson) {
        self.recent_bytes += data.as_str().len();
        self.recent.push_back(Recent { n: self.sent, at: now, from, data });
        let is_excess = |signals: &Signals| {
            signals.recent.len() > REMEMBER_MAX || signals.recent_bytes > REMEMBER_BYTES_MAX
        };
        while is_excess(self) || self.recent.front().is_some_and(|recent| recent.at + REMEMBER < now) {
            self.forget_oldest();
        }
    }

    /// Drops signals that the client has acknowledged.
    fn forget(&mut self, seen: u64) {
        while self.recent.front().is_some_and(|recent| recent.n <= seen) {
            self.forget_oldest();
        }
    }

    fn forget_oldest(&mut self) {
        if let Some(forgotten) = self.recent.pop_front() {
            self.recent_bytes -= forgotten.data.as_str().len();
        }
    }

    /// Counts bytes to a member, or returns how long to wait.
    fn meter(&mut self, now: Micros, to: PeerId, rate: RateLimit, bytes: u32) -> Result<(), Rejection> {
        if rate == RateLimit::UNLIMITED {
            return Ok(());
        }
        if self.to.len() >= METERS_MAX {
            self.to.retain(|_, limiter| !limiter.is_idle(now, &rate));
        }
        self.to.entry(to).or_default().try_acquire(now, &rate, bytes.into()).map_err(too_fast)
    }

    /// Whether a numbered signal of the client is new.
    fn take(&mut self, n: Option<u64>) -> bool {
        let Some(n) = n else { return true };
        let is_new = self.got.is_none_or(|got| n > got);
        if is_new {
            self.got = Some(n);
        }
        is_new
    }

    /// Signals that a resuming client has not acknowledged.
    pub(super) fn unseen(&self, seen: u64) -> Vec<(u64, PeerId, RawJson)> {
        let unseen = self.recent.iter().filter(|recent| recent.n > seen);
        unseen.map(|recent| (recent.n, recent.from, recent.data.clone())).collect()
    }

    /// Signals that may not have arrived when the connection broke.
    pub(super) fn into_mail(self, now: Micros) -> (u64, Option<u64>, Vec<QueuedSignal>) {
        let recent = self.recent.into_iter().filter(|recent| recent.at + REMEMBER >= now);
        let mail =
            recent.map(|recent| QueuedSignal { from: recent.from, n: Some(recent.n), data: recent.data });
        (self.sent + 1, self.got, mail.collect())
    }
}

/// Destination of a permitted signal.
pub(super) struct Route {
    pub(super) from: PeerId,
    pub(super) room: RoomId,
    /// Connection of the receiver, if it is here.
    pub(super) local: Option<ConnectionId>,
    /// Attachment of the receiver at another node, if any.
    pub(super) link: Option<Attachment>,
}

/// Checks a signal and returns its destination; none for a repeated one. Signals are the most
/// frequent message, so everything is looked up once.
pub(super) fn route(
    now: Micros,
    connection: &mut Connection,
    rooms: &RoomCopies,
    limits: &mut ConnectionLimits,
    rules: &Rules,
    signal: &Signal,
) -> Result<Option<Route>, Rejection> {
    let Signal { to, n, seen, data } = signal;
    let max = rules.signal_bytes_max;
    if data.as_str().len() > max {
        let text = format!("a signal has at most {max} bytes");
        return Err(Rejection::new(RejectionCode::TooLarge, text));
    }
    let address = connection.address();
    let Some(session) = connection.session_mut() else { return Ok(None) };
    let bytes = (data.as_str().len() + SIGNAL_OVERHEAD) as u32;
    let from = session.peer;
    let copy = session.room.and_then(|room| rooms.get(room));
    let local = copy.and_then(|copy| copy.local(*to));
    let is_member = |copy: &&LocalRoom| local.is_some() || copy.view().member(*to).is_some();
    let to_member = copy.filter(is_member);
    limits.take(now, LimitedAction::Signal, session.player, address)?;
    limits.take_signal(now, session.player, bytes)?;
    if to_member.is_some() {
        let metered = session.signals.meter(now, *to, rules.limits.signal_bytes_to_one, bytes);
        metered.inspect_err(|_| limits.exceed(LobbyLimit::SignalBytesToOne))?;
    }
    let Some(room) = session.room else {
        let text = "signals can only be sent to members of your room";
        return Err(Rejection::new(RejectionCode::NotInRoom, text));
    };
    session.signals.forget(seen.unwrap_or(0));
    if !session.signals.take(*n) {
        return Ok(None);
    }
    let Some(copy) = to_member.filter(|_| *to != from) else {
        let text = "your room has no such other member";
        return Err(Rejection::new(RejectionCode::NoSuchMember, text));
    };
    let link = if local.is_some() { None } else { copy.link_of(*to) };
    Ok(Some(Route { from, room, local, link }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recent_signals_are_kept_within_bounds() {
        let mut signals = Signals::default();
        let from = PeerId::from_u128(1);
        let data = RawJson::new(&format!("\"{}\"", "x".repeat(1_022))).unwrap();
        for n in 1..=100 {
            assert_eq!(signals.number(), n);
            signals.remember(Micros::from_secs(1), from, data.clone());
        }
        assert_eq!(signals.recent.len(), 64);
        assert_eq!(signals.recent_bytes, 65_536);
        assert_eq!(signals.unseen(98).iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [99, 100]);
        signals.number();
        signals.remember(Micros::from_secs(60), from, RawJson::default());
        assert_eq!((signals.recent.len(), signals.recent_bytes), (1, 2));
    }

    #[test]
    fn acknowledged_signals_are_dropped() {
        let mut signals = Signals::default();
        let data = RawJson::new("\"ten bytes\"").unwrap();
        for _ in 0..5 {
            signals.number();
            signals.remember(Micros::ZERO, PeerId::from_u128(1), data.clone());
        }
        signals.forget(0);
        assert_eq!(signals.recent.len(), 5);
        signals.forget(3);
        assert_eq!((signals.recent.len(), signals.recent_bytes), (2, 22));
        assert_eq!(signals.unseen(0).iter().map(|(n, ..)| *n).collect::<Vec<_>>(), [4, 5]);
        // Acknowledging unsent signals has no effect.
        signals.forget(u64::MAX);
        assert_eq!((signals.recent.len(), signals.recent_bytes, signals.number()), (0, 0, 6));
    }

    #[test]
    fn repeated_signal_counts_once() {
        let mut signals = Signals::default();
        assert!(signals.take(Some(1)));
        assert!(!signals.take(Some(1)));
        assert!(signals.take(Some(2)));
        assert!(signals.take(None));
        let (next, got, mail) = signals.into_mail(Micros::ZERO);
        assert_eq!((next, got, mail.len()), (1, Some(2), 0));
        let mut resumed = Signals::resumed(7, Some(2));
        assert!(!resumed.take(Some(2)));
        assert_eq!(resumed.number(), 7);
    }
}
