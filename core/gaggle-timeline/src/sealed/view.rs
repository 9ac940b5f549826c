//! What callers of a sealed session may know: frames, rows, phases, counters.
//!
//! Applications read it. Absent: anything that changes.

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet};
use gaggle_seal::OutReason;

use super::Sealed;
use crate::Inputs;
use crate::config::TimelineConfig;
use crate::roster::RosterEntry;
use crate::stats::SessionStats;

impl<I: Input> Sealed<I> {
    /// Inputs of a recently sealed frame, for recordings, spectators and checks.
    pub fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>> {
        let newest = self.past.current().max(self.local.newest()).max(self.settled.frame());
        let is_kept = newest.since(frame) < self.past.frames() / 2;
        let is_known = is_kept && frame > self.sim.origin() && frame <= self.confirmed_frame();
        is_known.then(|| self.settled.settled_inputs(frame, &self.past))
    }

    /// Frame of the simulation.
    pub fn current_frame(&self) -> Frame {
        self.past.current()
    }

    /// Last sealed frame whose inputs are held.
    pub fn confirmed_frame(&self) -> Frame {
        self.settled.frame()
    }

    /// Last frame whose state has no predicted input.
    pub fn confirmed_state_frame(&self) -> Frame {
        let corrected = self.past.first_mispredicted().previous();
        self.settled.frame().min(self.past.current()).min(corrected)
    }

    /// Newest frame with an own entry.
    pub fn local_input_frame(&self) -> Frame {
        self.local.newest()
    }

    /// Frame of the state this stay began with.
    pub fn start_frame(&self) -> Frame {
        self.sim.origin()
    }

    /// The local peer.
    pub fn local_peer(&self) -> PeerId {
        self.client.stream().peer
    }

    /// Identity of the match, 0 before its first frame is known.
    pub fn match_id(&self) -> u64 {
        self.client.lineage().map_or(0, gaggle_seal::Lineage::match_id)
    }

    /// The peer that seals.
    pub fn referee(&self) -> PeerId {
        self.referee
    }

    /// Slots of the local players. Empty until their row is sealed.
    pub fn local_slots(&self) -> SlotSet {
        if self.client.is_playing() { self.local.slots() } else { SlotSet::EMPTY }
    }

    /// Number of slots of the match.
    pub fn slot_count(&self) -> usize {
        self.config.slot_count
    }

    /// Open rows in join order, as of the last sealed frame.
    pub fn roster(&self) -> &[RosterEntry] {
        self.roster.rows()
    }

    /// First frame without the player that was last in a slot, equal on all peers, and why it left.
    /// `None` while a player is in it.
    pub fn left(&self, slot: Slot) -> Option<(Frame, OutReason)> {
        self.roster.left(slot)
    }

    /// Whether the game has a state of this match.
    pub fn is_running(&self) -> bool {
        self.is_running
    }

    /// Whether the local players have their row in the match.
    pub fn is_member(&self) -> bool {
        self.is_running && self.client.is_playing()
    }

    /// Whether this peer spectates.
    pub fn is_spectating(&self) -> bool {
        self.client.is_spectator()
    }

    /// Whether most other peers have another state, which follows.
    pub fn is_recovering(&self) -> bool {
        self.states.is_outvoted() || self.states.incoming().is_some_and(|incoming| incoming.is_repair)
    }

    /// Whether the goodbye is complete or the match is over, so that the link may be closed.
    pub fn is_closed(&self) -> bool {
        self.link.is_closed
    }

    /// Whether the window is used up: the referee is not heard.
    pub fn is_stalled(&self) -> bool {
        self.pace.stalled_ticks() > 0
    }

    /// Time since the referee was last heard.
    pub fn time_since_heard(&self) -> Micros {
        self.now.since(self.link.heard_at)
    }

    /// Speed at which to tick, in millionths of the game's own.
    pub fn speed_ppm(&self) -> u32 {
        self.pace.speed_ppm()
    }

    /// Settings of the match.
    pub fn config(&self) -> &TimelineConfig {
        &self.config
    }

    /// Counters since the session began.
    pub fn stats(&self) -> SessionStats {
        SessionStats {
            input_delay_frames: self.local.input_delay(),
            frame_advantage_permille: self.pace.advantage_permille(),
            events_dropped: self.events.lost(),
            corrections_without_rollback: self.past.harmless(),
            ..self.stats
        }
    }
}
