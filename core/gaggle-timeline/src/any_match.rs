//! A session of either kind behind one type.
//!
//! Rooms hold one, because only their configuration says who decides which inputs count. Absent:
//! how either session works.

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet};
use gaggle_link::CloseCode;

use crate::config::{SessionError, SlowPolicy, TimelineConfig};
use crate::request::{Request, RequestStep, SimId};
use crate::roster::RosterEntry;
#[cfg(feature = "seal")]
use crate::sealed::Sealed;
use crate::session::{Session, Tick, Transmit};
use crate::stats::SessionStats;
use crate::{Inputs, SessionEvent};

/// The session of a match among peers or at a referee. Its methods are those of [`Session`]; what a
/// referee decides or no peer waits for has no effect.
#[derive(Debug)]
pub enum Match<I: Input> {
    /// Peers exchange inputs and wait for each other.
    Mesh(Box<Session<I>>),
    /// A referee seals the inputs.
    #[cfg(feature = "seal")]
    Star(Box<Sealed<I>>),
}

/// Calls the method of either session.
macro_rules! either {
    ($self:ident, $session:ident => $call:expr) => {
        match $self {
            Match::Mesh($session) => $call,
            #[cfg(feature = "seal")]
            Match::Star($session) => $call,
        }
    };
}

/// Calls a method that only a mesh has; the star has another answer.
macro_rules! mesh {
    ($self:ident, $session:ident => $call:expr, $star:pat => $other:expr) => {
        match $self {
            Match::Mesh($session) => $call,
            #[cfg(feature = "seal")]
            Match::Star($star) => $other,
        }
    };
}

impl<I: Input> From<Session<I>> for Match<I> {
    fn from(session: Session<I>) -> Self {
        Match::Mesh(Box::new(session))
    }
}

#[cfg(feature = "seal")]
impl<I: Input> From<Sealed<I>> for Match<I> {
    fn from(session: Sealed<I>) -> Self {
        Match::Star(Box::new(session))
    }
}

#[allow(missing_docs, reason = "each method is documented at the sessions")]
impl<I: Input> Match<I> {
    /// The session among peers, if this is one.
    pub fn mesh(&self) -> Option<&Session<I>> {
        mesh!(self, session => Some(session), _ => None)
    }

    /// The session at a referee, if this is one.
    #[cfg(feature = "seal")]
    pub fn star(&self) -> Option<&Sealed<I>> {
        match self {
            Match::Star(session) => Some(session),
            Match::Mesh(_) => None,
        }
    }

    /// Whether a referee decides which inputs count.
    pub fn is_sealed(&self) -> bool {
        self.mesh().is_none()
    }

    /// As [`Sealed::set_passive`](crate::Sealed::set_passive). No effect among peers.
    pub fn set_passive(&mut self, is_passive: bool) {
        mesh!(self, _session => _ = is_passive, session => session.set_passive(is_passive));
    }

    pub fn set_shape(&mut self, shape: u64) {
        either!(self, session => session.set_shape(shape));
    }

    /// Handles a new link. False if it is not used.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId) -> bool {
        mesh!(self, session => session.handle_connected(now, peer).is_ok(), session => {
            session.handle_connected(now, peer);
            peer == session.referee()
        })
    }

    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
        either!(self, session => session.handle_disconnected(now, peer));
    }

    pub fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        either!(self, session => session.handle_packet(now, peer, bytes));
    }

    pub fn handle_message(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        either!(self, session => session.handle_message(now, peer, bytes));
    }

    pub fn handle_packet_loss(&mut self, now: Micros, peer: PeerId) {
        mesh!(self, session => session.handle_packet_loss(now, peer), _ => ());
    }

    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        either!(self, session => session.poll_transmit())
    }

    pub fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)> {
        either!(self, session => session.poll_disconnect())
    }

    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        either!(self, session => session.poll_event())
    }

    pub fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError> {
        either!(self, session => session.set_input(slot, input))
    }

    pub fn tick(&mut self, now: Micros) -> Tick {
        either!(self, session => session.tick(now))
    }

    pub fn poll_request(&mut self) -> Option<Request<'_, I>> {
        either!(self, session => session.poll_request())
    }

    pub fn poll_step(&mut self) -> Option<RequestStep> {
        either!(self, session => session.poll_step())
    }

    pub fn request(&mut self, step: RequestStep, sim: SimId) -> Option<Request<'_, I>> {
        either!(self, session => session.request(step, sim))
    }

    pub fn leave(&mut self) {
        either!(self, session => session.leave());
    }

    /// As [`Session::evict`]. At a referee the server does it.
    pub fn evict(&mut self, peer: PeerId) -> Result<(), SessionError> {
        mesh!(self, session => session.evict(peer), _ => Ok(()))
    }

    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        either!(self, session => session.set_input_delay(frames))
    }

    /// As [`Session::set_slow_policy`]. At a referee no peer waits for a slow one.
    pub fn set_slow_policy(&mut self, policy: SlowPolicy) -> Result<(), SessionError> {
        mesh!(self, session => session.set_slow_policy(policy), _ => Ok(()))
    }

    pub fn take_catch_up_ticks(&mut self, limit: u32) -> u32 {
        mesh!(self, session => session.take_catch_up_ticks(limit), _ => 0)
    }

    pub fn speed_ppm(&self) -> u32 {
        either!(self, session => session.speed_ppm())
    }

    pub fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>> {
        either!(self, session => session.confirmed_inputs(frame))
    }

    pub fn current_frame(&self) -> Frame {
        either!(self, session => session.current_frame())
    }

    pub fn confirmed_frame(&self) -> Frame {
        either!(self, session => session.confirmed_frame())
    }

    pub fn confirmed_state_frame(&self) -> Frame {
        either!(self, session => session.confirmed_state_frame())
    }

    /// As [`Session::settled_frame`]. A frame that a referee sealed is settled.
    pub fn settled_frame(&self) -> Frame {
        mesh!(self, session => session.settled_frame(), session => session.confirmed_frame())
    }

    pub fn local_input_frame(&self) -> Frame {
        either!(self, session => session.local_input_frame())
    }

    pub fn start_frame(&self) -> Frame {
        either!(self, session => session.start_frame())
    }

    pub fn local_peer(&self) -> PeerId {
        either!(self, session => session.local_peer())
    }

    pub fn local_slots(&self) -> SlotSet {
        either!(self, session => session.local_slots())
    }

    pub fn slot_count(&self) -> usize {
        either!(self, session => session.slot_count())
    }

    pub fn roster(&self) -> &[RosterEntry] {
        either!(self, session => session.roster())
    }

    pub fn leader_at(&self, frame: Frame) -> Option<PeerId> {
        mesh!(self, session => session.leader_at(frame), session => {
            session.roster().first().map(|row| row.stream.peer)
        })
    }

    /// As [`Session::branch_id`]. A match at a referee has no branches.
    pub fn branch_id(&self) -> u64 {
        mesh!(self, session => session.branch_id(), session => session.match_id())
    }

    /// As [`Session::is_compared`]. A referee compares the states of all players.
    pub fn is_compared(&self) -> bool {
        mesh!(self, session => session.is_compared(), session => session.roster().len() > 1)
    }

    pub fn is_running(&self) -> bool {
        either!(self, session => session.is_running())
    }

    pub fn is_member(&self) -> bool {
        either!(self, session => session.is_member())
    }

    pub fn is_spectating(&self) -> bool {
        either!(self, session => session.is_spectating())
    }

    pub fn is_recovering(&self) -> bool {
        either!(self, session => session.is_recovering())
    }

    pub fn is_closed(&self) -> bool {
        either!(self, session => session.is_closed())
    }

    /// As [`Session::found_no_match`]. A referee has a match for all that it lets in.
    pub fn found_no_match(&self) -> bool {
        mesh!(self, session => session.found_no_match(), _ => false)
    }

    /// As [`Session::stalled_on`]. At a referee no slot is waited for.
    pub fn stalled_on(&self) -> Option<SlotSet> {
        mesh!(self, session => session.stalled_on(), _ => Some(SlotSet::EMPTY))
    }

    /// As [`Session::time_since_heard`]. At a referee only the referee is heard.
    pub fn time_since_heard(&self, peer: PeerId) -> Option<Micros> {
        mesh!(self, session => session.time_since_heard(peer), session => Some(session.time_since_heard()))
    }

    pub fn config(&self) -> &TimelineConfig {
        either!(self, session => session.config())
    }

    pub fn stats(&self) -> SessionStats {
        either!(self, session => session.stats())
    }
}
