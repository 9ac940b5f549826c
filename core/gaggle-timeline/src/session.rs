//! The session: local input, packets and time in; requests, packets and events out.
//!
//! A session has fourteen parts. This file is its public API; the files beside it connect parts:
//! `receive.rs` for packets, `tick.rs` for time, `settle.rs` for consequences, `stay.rs` for
//! joining, `route.rs` for the rest. Absent: rules of any part.

mod cx;
#[cfg(test)]
mod hostile;
#[cfg(debug_assertions)]
mod invariants;
mod outbox;
mod receive;
mod route;
mod settle;
mod stay;
mod tick;
mod transmit;

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet};
use gaggle_link::CloseCode;

use crate::config::{PeerSlots, SessionError, TimelineConfig};
use crate::desync::{DesyncAudit, Recovery};
use crate::event::SessionEvent;
use crate::gossip::Gossip;
use crate::input_log::InputLog;
use crate::join::{Donor, Joiner};
use crate::lifecycle::Lifecycle;
use crate::membership::{Membership, Mode, Settings};
use crate::peers::{LINKS_MAX, PeerTable};
use crate::roster::{Incarnation, RosterEntry, StreamId};
use crate::roster_events::RosterEvents;
use crate::scheduler::SimScheduler;
use crate::stats::SessionStats;
use crate::time_sync::{TickPlan, TimeSync};
use crate::wire::{LOSS_MEMORY, Sender};

pub(crate) use cx::Cx;
pub use transmit::Transmit;

/// Steps of a handshake: each side's announcement, and the measured round trip.
const HANDSHAKE_STEPS: u32 = 2;
/// One peer's engine in a match.
///
/// A pure state machine: give it input, packets and the time, then drain its output.
///
/// 1. [`handle_connected`](Session::handle_connected) / [`handle_packet`](Session::handle_packet) /
///    [`handle_message`](Session::handle_message) /
///    [`handle_disconnected`](Session::handle_disconnected): input from the links;
/// 2. [`set_input`](Session::set_input) for every local player, then [`tick`](Session::tick), once
///    a frame;
/// 3. [`poll_request`](Session::poll_request) until it is empty: save, load, advance;
/// 4. [`poll_transmit`](Session::poll_transmit) until it is empty: packets and messages to send;
/// 5. [`poll_event`](Session::poll_event) until it is empty: events for players.
///
/// [`Timeline`](crate::Timeline) does 2 and 3 for a [`Game`](crate::Game),
/// [`Driver`](crate::Driver) 1 and 4 for a transport.
///
/// The roster may change at any frame: peers [join](Session::join) and [leave](Session::leave)
/// without a pause of the match; only a peer that falls silent makes the others wait until its
/// timeout.
#[derive(Debug)]
pub struct Session<I: Input> {
    cx: Cx,
    life: Lifecycle,
    membership: Membership,
    log: InputLog<I>,
    peers: PeerTable,
    roster_events: RosterEvents,
    time: TimeSync,
    sim: SimScheduler,
    sender: Sender,
    audit: DesyncAudit,
    recovery: Recovery,
    joiner: Joiner,
    donor: Donor,
    gossip: Gossip,
    /// Membership changed in a handler, and its consequences are due at the end of it.
    unsettled: bool,
}

/// Outcome of one tick.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tick {
    /// No frame is simulated: the handshake is not over, no snapshot has arrived yet, or this peer
    /// has left.
    Waiting,
    /// A new frame is simulated.
    Advanced,
    /// The prediction window is used up: no new frame until input of other peers arrives. Local
    /// input is merged meanwhile.
    Stalled,
}

impl<I: Input> Session<I> {
    fn with(
        config: TimelineConfig,
        local: PeerId,
        slot_count: usize,
        players: usize,
        wanted: SlotSet,
        incarnation: Incarnation,
    ) -> Self {
        let me = StreamId { peer: local, incarnation };
        let frames = config.table_frames();
        let settings = Settings::new(&config, slot_count);
        Session {
            life: Lifecycle::default(),
            membership: Membership::out(settings, me, players as u8, wanted),
            log: InputLog::new(me, players, frames, slot_count),
            peers: PeerTable::default(),
            roster_events: RosterEvents::default(),
            time: TimeSync::new(&config),
            sim: SimScheduler::default(),
            sender: Sender::new(config.packet_bytes_max),
            audit: DesyncAudit::new(&config, frames),
            recovery: Recovery::default(),
            joiner: Joiner::default(),
            donor: Donor::default(),
            gossip: Gossip::default(),
            unsettled: false,
            cx: Cx::new::<I>(config, local, slot_count, incarnation),
        }
    }

    /// A session of `local` that starts together with all peers in `seats`, or at once if it is
    /// alone. `incarnation` is a random number: it distinguishes this stay from earlier ones of the
    /// same peer.
    ///
    /// # Errors
    /// If a setting or slot is invalid; the error says which, and what to change.
    pub fn new(
        config: TimelineConfig,
        local: PeerId,
        seats: &[PeerSlots],
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate::<I>(local, seats)?;
        let highest = seats.iter().flat_map(|seat| seat.slots).map(|slot| slot.index() + 1).max();
        let slot_count = highest.unwrap_or(0).max(config.slot_count);
        let own = seats.iter().find(|seat| seat.peer == local).map_or(SlotSet::EMPTY, |seat| seat.slots);
        let mut session = Session::with(config, local, slot_count, own.len(), own, incarnation);
        session.life.gather(seats);
        session.log.local_mut().set_slots(own);
        for seat in seats.iter().filter(|seat| seat.peer != local) {
            session.peers.find_or_insert(seat.peer);
        }
        session.start_when_ready();
        Ok(session)
    }

    /// A session of `local` that creates a match with `players` local players in the first slots.
    /// It runs at once; other peers [join](Session::join) it, up to [`TimelineConfig::slot_count`]
    /// players. Give each match a [`TimelineConfig::match_id`] of its own: when two matches meet,
    /// the one created earlier goes on and the peers of the other join it.
    ///
    /// # Errors
    /// If a setting is invalid; the error says which, and what to change.
    pub fn create(
        config: TimelineConfig,
        local: PeerId,
        players: usize,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_joiner::<I>(players)?;
        let seat = PeerSlots { peer: local, slots: SlotSet::first(players) };
        Session::new(config, local, &[seat], incarnation)
    }

    /// A session of `local` that joins a running match with `players` local players. It takes a
    /// snapshot from a peer chosen at random, catches up, and is admitted without a pause for any
    /// peer. [`TimelineConfig::slot_count`] must be the same as on the other peers.
    ///
    /// # Errors
    /// If a setting is invalid; the error says which, and what to change.
    pub fn join(
        config: TimelineConfig,
        local: PeerId,
        players: usize,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_joiner::<I>(players)?;
        let slot_count = config.slot_count;
        Ok(Session::with(config, local, slot_count, players, SlotSet::EMPTY, incarnation))
    }

    /// As [`join`](Session::join), for players that return: they get their old slots, unless other
    /// players have them by now. The new incarnation ends the former stay if it is still open.
    ///
    /// # Errors
    /// If a setting is invalid; the error says which, and what to change.
    pub fn rejoin(
        config: TimelineConfig,
        local: PeerId,
        slots: SlotSet,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_joiner::<I>(slots.len())?;
        let slot_count = config.slot_count;
        Ok(Session::with(config, local, slot_count, slots.len(), slots, incarnation))
    }

    /// A session of `local` that spectates: it joins as in [`join`](Session::join), shows confirmed
    /// frames only, and never takes a slot. Players do not wait for it.
    ///
    /// # Errors
    /// If a setting is invalid; the error says which, and what to change.
    pub fn spectate(
        config: TimelineConfig,
        local: PeerId,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_watcher()?;
        let slot_count = config.slot_count;
        let mut session = Session::with(config, local, slot_count, 0, SlotSet::EMPTY, incarnation);
        session.cx.spectates = true;
        Ok(session)
    }

    /// Whether this peer spectates.
    pub fn is_spectating(&self) -> bool {
        self.cx.spectates
    }

    /// Sets the fingerprint of the game's state encoding: see [`shape_of`](crate::shape_of). Peers
    /// with another number are rejected. A [`Timeline`](crate::Timeline) calls it; a game driven
    /// without one calls it before there are links, or not at all.
    pub fn set_shape(&mut self, shape: u64) {
        self.cx.shape = shape;
    }

    /// A link to a peer is connected: this peer announces itself. The peer may have no slot: it may
    /// want to join.
    ///
    /// # Errors
    /// If there are too many links.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId) -> Result<(), SessionError> {
        self.cx.advance_to(now);
        if self.peers.index_of(peer).is_none() {
            if self.peers.links() >= LINKS_MAX
                && let Some(index) = self.peers.oldest_rejected(|peer| !self.is_awaited(peer))
            {
                self.forget_remote(index);
            }
            if self.peers.links() >= LINKS_MAX || peer == self.cx.local_peer {
                return Err(SessionError::TooManyLinks { max: LINKS_MAX });
            }
        }
        let index = self.know(peer);
        if !self.peers.link(index, now) {
            return Ok(());
        }
        self.cx.events.push(SessionEvent::Synchronizing { peer, count: 0, total: HANDSHAKE_STEPS });
        self.say_hello(peer);
        self.settle();
        Ok(())
    }

    /// The link to a peer ended. It may be connected again; if the peer is in the roster and no
    /// other peer hears it, the others soon agree on its last frame.
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
        self.cx.advance_to(now);
        let Some(index) = self.peers.index_of(peer) else { return };
        self.peers.unlink(index);
        if !self.peers.is_heard_via(index, &self.cx) {
            self.set_gone(index);
        }
        self.donor.forget(peer);
        self.forget_unlinked(index);
        self.settle();
    }

    /// The link lost packets of this peer: both sides now send more often.
    pub fn handle_packet_loss(&mut self, now: Micros, peer: PeerId) {
        self.cx.advance_to(now);
        if let Some(index) = self.peers.index_of(peer) {
            self.peers[index].stream.note_loss(now, LOSS_MEMORY);
        }
        self.settle();
    }

    /// Sets a local player's input from now on. Presses between two ticks are merged, so none is
    /// lost.
    ///
    /// # Errors
    /// If the slot is not local. While joining no slot is local: see
    /// [`local_slots`](Session::local_slots).
    pub fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError> {
        if self.log.local_mut().sample(slot, input) {
            Ok(())
        } else {
            Err(SessionError::SlotNotLocal { slot, local: self.local_slots() })
        }
    }

    /// Advances by one frame's time: decides whether a frame can be simulated, and what else is
    /// due. Call it [`tick_rate`](TimelineConfig::tick_rate) times per second, adjusted by
    /// [`speed_ppm`](Session::speed_ppm), then drain requests and packets.
    pub fn tick(&mut self, now: Micros) -> Tick {
        let tick = self.route_tick(now);
        self.settle();
        tick
    }

    fn route_tick(&mut self, now: Micros) -> Tick {
        if self.cx.tick(now) {
            // This peer itself was suspended: silence during that time says nothing about the
            // others.
            self.peers.iter_mut().for_each(|remote| remote.presence.hear(now));
            self.joiner.note_brought_on(now);
        }
        if self.is_quiescent() {
            self.tick_membership();
            self.feed_joiners();
        } else {
            self.tick_liveness();
            self.tick_audit();
            self.tick_recovery();
            self.tick_membership();
            self.set_lags();
            self.tick_joiner();
            self.tick_donor();
            self.tick_gossip();
            self.tell_status();
            self.find_quiescence();
        }
        self.sender.open(self.peers.len());
        if !self.cx.spectates && !self.life.is_closed() {
            let all = self.membership.mode() != Mode::Member;
            self.peers.tell_slow_links(&mut self.cx, all);
        }
        if !self.life.is_running() || self.life.is_closed() {
            return Tick::Waiting;
        }
        if self.cx.spectates {
            return self.tick_spectating();
        }
        self.keep_time();
        let next = self.log.past().current().next();
        let limit = self.sure().saturating_add(self.time.prediction_frames());
        let waits = next > limit;
        let goal = self.pace(next, waits);
        let current = self.log.past().current();
        let waiting_for = || self.log.waiting_for();
        let plan = self.time.plan(&mut self.cx.events, current, limit, goal, waiting_for);
        let target = match plan {
            TickPlan::Advance(target) => target,
            TickPlan::Stall => {
                self.note_stalled_tick();
                current
            }
        };
        self.sim.begin_tick(target);
        if target >= next { Tick::Advanced } else { Tick::Stalled }
    }

    /// The local players leave: their next input is the last one, and all peers will know it. Go on
    /// ticking and sending until [`is_closed`](Session::is_closed).
    pub fn leave(&mut self) {
        if self.membership.mode() == Mode::Member {
            self.life.leave(self.cx.now);
            self.membership.leave();
        } else {
            self.life.close();
            self.membership.quit();
        }
    }

    /// Whether the goodbye is complete, so that links may be closed.
    pub fn is_closed(&self) -> bool {
        self.life.is_closed()
    }

    /// Evicts a peer: at once before the match starts, later as soon as the others agree.
    ///
    /// # Errors
    /// If the peer is not part of the session.
    pub fn evict(&mut self, peer: PeerId) -> Result<(), SessionError> {
        if peer != self.cx.local_peer && self.life.remove_seat(peer) {
            self.start_when_ready();
            return Ok(());
        }
        let row = self.membership.known().iter().find(|row| row.stream.peer == peer && row.is_active());
        let stream = row.map(|row| row.stream).ok_or(SessionError::UnknownPeer { peer })?;
        self.membership.evict(stream);
        Ok(())
    }

    /// Returns the next event, oldest first.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.cx.events.pop()
    }

    /// Returns the next peer to disconnect, with the close code: its settings differ, or it
    /// committed a violation.
    pub fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)> {
        self.peers.poll_disconnect()
    }

    /// Frame of the live simulation, after the requests are drained.
    pub fn current_frame(&self) -> Frame {
        self.log.past().current()
    }

    /// Last frame for which all input was known at the last tick.
    pub fn confirmed_frame(&self) -> Frame {
        self.membership.confirmed()
    }

    /// The latest frame whose state is simulated with confirmed inputs alone. Packets confirm
    /// frames between two ticks, too; the states of those are still predicted until the next tick
    /// corrects them.
    pub fn confirmed_state_frame(&self) -> Frame {
        let corrected = self.log.past().first_mispredicted().previous();
        self.membership.confirmed().min(self.log.past().current()).min(corrected)
    }

    /// The newest frame for which the local players' input is fixed: input set now counts after it.
    pub fn local_input_frame(&self) -> Frame {
        self.log.local().newest()
    }

    /// Last frame that all present peers said they confirmed: final for match results.
    pub fn settled_frame(&self) -> Frame {
        self.membership.settled()
    }

    /// Frame whose state this peer began with: 0 from the start of a match, else that of the
    /// snapshot it took last.
    pub fn start_frame(&self) -> Frame {
        self.sim.origin()
    }

    /// Identity of the local peer.
    pub fn local_peer(&self) -> PeerId {
        self.cx.local_peer
    }

    /// Slots of the local players. Empty until they are in the roster.
    pub fn local_slots(&self) -> SlotSet {
        match self.log.own() {
            Some(row) => row.slots,
            None => self.life.seat_of(self.cx.local_peer).unwrap_or_default(),
        }
    }

    /// Number of slots of the game.
    pub fn slot_count(&self) -> usize {
        self.cx.slot_count
    }

    /// Rows of all streams that are, recently were, or will be in the match, as far as is known.
    pub fn roster(&self) -> &[RosterEntry] {
        self.membership.known()
    }

    /// Whether the session has a running match: the handshake is over, or a snapshot arrived.
    pub fn is_running(&self) -> bool {
        self.life.is_running()
    }

    /// Whether the local players are in the roster.
    pub fn is_member(&self) -> bool {
        self.life.is_running() && self.membership.mode() == Mode::Member
    }

    /// Settings of this session.
    pub fn config(&self) -> &TimelineConfig {
        &self.cx.config
    }

    /// Counters since the session began.
    pub fn stats(&self) -> SessionStats {
        SessionStats {
            input_delay_frames: self.log.local().input_delay(),
            frame_advantage_permille: self.time.advantage_permille(),
            events_dropped: self.cx.events.lost(),
            corrections_without_rollback: self.log.past().harmless(),
            entries_buffered_max: self.membership.entries_held_most(),
            ..self.cx.stats
        }
    }
}
