//! Looking on: a session without players that follows what others confirm.

use gaggle_kit::{Input, PeerId, SlotSet};

use super::{CATCH_UP_FRAMES, Session, Tick};
use crate::config::{SessionConfig, SessionError};
use crate::roster::Incarnation;

impl<I: Input> Session<I> {
    /// A session of `local` that only watches a match others play: it comes in like somebody who [joins](Session::join),
    /// shows confirmed frames only, and never takes a seat. Those who play do not wait for it.
    ///
    /// # Errors
    /// Says which setting cannot be and what to change.
    pub fn watch(
        config: SessionConfig,
        local: PeerId,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_watcher()?;
        let slot_count = config.slots;
        let mut session = Session::with(config, local, slot_count, 0, SlotSet::EMPTY, incarnation);
        session.watches = true;
        Ok(session)
    }

    /// Whether this machine only watches.
    pub fn is_watching(&self) -> bool {
        self.watches
    }

    /// Confirmed frames one by one; several at once only to catch up.
    pub(super) fn tick_watching(&mut self) -> Tick {
        let (current, confirmed) = (self.ledger.current, self.membership.confirmed());
        let behind = confirmed.since(current.min(confirmed));
        let frames = if behind > CATCH_UP_FRAMES { CATCH_UP_FRAMES } else { behind.min(1) };
        self.plan.begin(current.saturating_add(frames));
        self.checks.begin_tick();
        if frames > 0 { Tick::Advanced } else { Tick::Stalled }
    }
}
