//! When to acknowledge what.

use gaggle_kit::Micros;

use super::packet::Ack;
use super::received::Received;

/// How long a single packet waits for a second one to be acknowledged with.
const WAIT: Micros = Micros::from_millis(5);

#[derive(Debug, Clone, Default)]
pub(crate) struct Acks {
    /// The newest packet that asks for acknowledgement, and when it came.
    newest: Option<(u64, Micros)>,
    /// The sender no longer cares about anything older.
    floor: u64,
    waiting: u32,
    due_at: Option<Micros>,
}

impl Acks {
    /// A packet came that wants to be acknowledged; `received` knows it already.
    pub(crate) fn arrived(&mut self, now: Micros, number: u64, floor: u64, received: &Received) {
        let in_order =
            self.newest.is_none_or(|(newest, _)| number > newest) && !received.misses_before(number);
        if self.newest.is_none_or(|(newest, _)| number > newest) {
            self.newest = Some((number, now));
        }
        self.floor = self.floor.max(floor);
        self.waiting += 1;
        // A gap is news the sender waits for.
        let at = if self.waiting >= 2 || !in_order { now } else { now.saturating_add(WAIT) };
        self.due_at = Some(self.due_at.map_or(at, |due| due.min(at)));
    }

    pub(crate) fn due_at(&self) -> Option<Micros> {
        self.due_at
    }

    /// The acknowledgement to send now, due or not; none if there is nothing new to say.
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
