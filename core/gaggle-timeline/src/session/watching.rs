//! Looking on: a session without players that follows what others confirm.

use gaggle_kit::{Frame, Input, PeerId, SlotSet};

use super::{CATCH_UP_FRAMES, Session, Tick};
use crate::config::{SessionError, TimelineConfig};
use crate::driver::MESSAGE_STREAM;
use crate::membership::{Mode, Relation};
use crate::packet::CheckBlock;
use crate::remote::{Peer, RemoteCheck};
use crate::roster::Incarnation;
use crate::transfer::Message;

impl<I: Input> Session<I> {
    /// A session of `local` that only watches a match others play: it comes in like somebody who
    /// [joins](Session::join), shows confirmed frames only, and never takes a seat. Those who play
    /// do not wait for it.
    ///
    /// # Errors
    /// Says which setting cannot be and what to change.
    pub fn spectate(
        config: TimelineConfig,
        local: PeerId,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_watcher()?;
        let slot_count = config.slot_count;
        let mut session = Session::with(config, local, slot_count, 0, SlotSet::EMPTY, incarnation);
        session.spectates = true;
        Ok(session)
    }

    /// Whether this machine only watches.
    pub fn is_spectating(&self) -> bool {
        self.spectates
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

    /// Whether what others confirm still reaches us.
    pub(super) fn sees_play_go_on(&self) -> bool {
        self.now.since(self.joining.brought_on_at) < self.config.interrupted_after
    }

    /// Hashes of somebody who does not play. Among those who watch they say who has the right state
    /// to give; whether ours is right they only say where nobody is heard who plays.
    pub(super) fn take_check_watching(&mut self, index: usize, frame: Frame, block: CheckBlock) {
        let Peer { peer, watches, .. } = self.remotes[index];
        if !self.spectates || !watches || self.membership.relation_of(peer) != Some(Relation::Same) {
            return;
        }
        if self.remotes.iter().any(|remote| remote.is_open && remote.reachable) {
            self.remotes[index].note_told_check(RemoteCheck { frame, block });
        } else {
            self.take_check(index, frame, block);
        }
    }

    /// Whoever fed us is not needed: somebody else gives us another state, and feeds us then.
    pub(super) fn leave_feeder(&mut self) {
        if let Some(feeder) = self.joining.donor().filter(|_| self.spectates) {
            Message::Enough.encode(self.outbox.letter(feeder, MESSAGE_STREAM));
            self.joining.seek();
        }
    }

    /// Nobody gave us another state: we go on with ours, fed by whoever would.
    pub(super) fn look_on(&mut self) {
        if self.spectates && self.membership.mode() == Mode::Observer {
            let silent = self.joining.given_up().unwrap_or(self.local_peer);
            self.ask_other_feeder(silent);
        }
    }
}
