//! Scheduling of acknowledgements.
//!
//! Owned by `session.rs`. Absent: which packets arrived (`received.rs`).

use gaggle_kit::Micros;

use super::packet::Ack;
use super::received::Received;

/// How long a single packet waits for a second one to share an acknowledgement.
const WAIT: Micros = Micros::from_millis(5);

#[derive(Debug, Clone, Default)]
pub(crate) struct Acks {
    /// The newest packet that wants an acknowledgement, and its arrival.
    newest: Option<(u64, Micros)>,
    /// Lowest number worth acknowledging: the sender ignores older packets.
    floor: u64,
    waiting: u32,
    due_at: Option<Micros>,
}

impl Acks {
    /// A packet arrived that wants an acknowledgement; `received` contains it already.
    pub(crate) fn arrived(&mut self, now: Micros, number: u64, floor: u64, received: &Received) {
        let in_order =
            self.newest.is_none_or(|(newest, _)| number > newest) && !received.misses_before(number);
        if self.newest.is_none_or(|(newest, _)| number > newest) {
            self.newest = Some((number, now));
        }
        self.floor = self.floor.max(floor);
        self.waiting += 1;
        // The sender should learn of a gap at once.
        let at = if self.waiting >= 2 || !in_order { now } else { now.saturating_add(WAIT) };
        self.due_at = Some(self.due_at.map_or(at, |due| due.min(at)));
    }

    pub(crate) fn due_at(&self) -> Option<Micros> {
        self.due_at
    }

    /// The acknowledgement to send now, due or not; none if there is nothing new.
    pub(crate) fn ack(&self, now: Micros, received: &Received) -> Option<Ack> {
        self.due_at?;
        let (newest, came_at) = self.newest?;
        let hold = u16::try_from(now.since(came_at).get() / 8).unwrap_or(u16::MAX);
        Ack::new(&received.ranges(self.floor, newest), hold)
    }

    pub(crate) fn sent(&mut self) {
        self.waiting = 0;
        self.due_at = None;
    }
}
