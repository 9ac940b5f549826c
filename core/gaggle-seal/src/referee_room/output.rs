//! Timed actions and output of a room: its referee's, forwarded messages, links to close.
//!
//! The owner of a `RefereeRoom` ticks and polls it. Absent: handling of messages.

use gaggle_kit::{Micros, PeerId};

use super::{CloseReason, EMPTY_TIMEOUT, HELLO_TIMEOUT, RefereeRoom, RoomEvent, RoomTransmit};
use crate::referee::RefereePhase;

impl RefereeRoom {
    /// Advances time, once per frame. The caller then writes [`RefereeRoom::records`], if there are
    /// any, calls [`RefereeRoom::mark_records_written`], and sends what
    /// [`RefereeRoom::poll_transmit`] returns.
    pub fn tick(&mut self, now: Micros) {
        self.now = self.now.max(now);
        let is_silent = |since: Micros| self.now.since(since) >= HELLO_TIMEOUT;
        let silent = self.members.iter().filter(|(_, member)| member.link.is_none());
        let silent: Vec<PeerId> =
            silent.filter(|(_, member)| is_silent(member.connected_at)).map(|(peer, _)| *peer).collect();
        silent.into_iter().for_each(|peer| self.close(peer, CloseReason::Silent));
        if let Some(referee) = &mut self.referee {
            referee.tick(self.now);
            self.is_closed |= referee.phase() == RefereePhase::Drained;
            while let Some(event) = referee.poll_event() {
                self.events.push_back(RoomEvent::Referee(event));
            }
            while self.events.len() > super::EVENTS_MAX {
                self.events.pop_front();
            }
        }
        self.is_closed |= self.empty_since.is_some_and(|since| self.now.since(since) >= EMPTY_TIMEOUT);
    }

    /// Bytes to append to the journal before anything is sent.
    pub fn records(&self) -> &[u8] {
        self.referee.as_ref().map_or(&[], |referee| referee.records())
    }

    /// Whether the records begin a journal of their own, for which earlier ones do not count.
    pub fn is_journal_new(&self) -> bool {
        self.referee.as_ref().is_some_and(|referee| referee.is_journal_new())
    }

    /// Begins the journal again with what clients may still need, so that earlier records can go.
    pub fn rewrite_journal(&mut self) {
        if let Some(referee) = &mut self.referee {
            referee.rewrite_journal();
        }
    }

    /// Confirms that the records are in the file.
    pub fn mark_records_written(&mut self) {
        if let Some(referee) = &mut self.referee {
            referee.mark_records_written();
        }
    }

    /// Stops sealing, and closes the room when all clients hold all frames, after a second at most.
    pub fn drain(&mut self, now: Micros) {
        match &mut self.referee {
            Some(referee) => referee.drain(now),
            None => self.is_closed = true,
        }
    }

    /// Next packet or message to send.
    pub fn poll_transmit(&mut self) -> Option<RoomTransmit<'_>> {
        if let Some(forward) = self.forwards.pop_front() {
            self.forwarded = forward.bytes;
            let (peer, stream) = (forward.to, Some(forward.stream));
            return Some(RoomTransmit { peer, stream, bytes: &self.forwarded });
        }
        let sent = self.referee.as_mut()?.poll_transmit()?;
        let stream = sent.is_reliable.then_some(sent.stream);
        Some(RoomTransmit { peer: sent.peer, stream, bytes: sent.bytes })
    }

    /// Next link to close, and why.
    pub fn poll_close(&mut self) -> Option<(PeerId, CloseReason)> {
        self.closes.pop_front()
    }

    /// The next event. Poll until there is none.
    pub fn poll_event(&mut self) -> Option<RoomEvent> {
        self.events.pop_front()
    }
}
