//! The session of a star: a referee decides per frame which inputs count, and no player waits for
//! another.
//!
//! This file is its public API and connects the parts beside it. Absent: bytes of the protocol,
//! which `gaggle-seal` has, and rules of any part.

mod config;
mod events;
mod follow;
mod local;
mod pace;
mod settle;
mod states;
mod view;

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot, SlotSet};
use gaggle_link::{Channel, CloseCode};
use gaggle_seal::{Client, ClientError, StreamId, StreamSlots};

use crate::config::{SessionError, TimelineConfig};
use crate::event::{Events, PeerFault, SessionEvent};
use crate::input_log::Past;
use crate::roster::Incarnation;
use crate::scheduler::SimScheduler;
use crate::session::{Tick, Transmit};
use crate::stats::SessionStats;

pub use config::{RefusedInput, SealConfig};
use events::{RefusedShare, RosterWatch};
use local::LocalEntries;
use pace::{Measured, Pace, Plan};
pub(crate) use settle::AHEAD_FRAMES;
use settle::Settled;
use states::States;

/// Age of a refused input up to which its presses may count in the next one.
const MERGE_AGE: Micros = Micros::from_millis(150);
/// Time after which a goodbye that no packet confirms is complete.
const GOODBYE_TIMEOUT: Micros = Micros::from_secs(1);

/// One peer's engine in a match that a referee seals.
///
/// It is driven as a [`Session`](crate::Session) is, with one link: to the referee. A frame counts
/// once the referee has sealed it, with the inputs that arrived in time; a player whose input did
/// not is [missed](crate::Inputs::missed) in that frame, and no other player waits.
#[derive(Debug)]
pub struct Sealed<I: Input> {
    config: TimelineConfig,
    seal: SealConfig,
    referee: PeerId,
    client: Client,
    past: Past<I>,
    settled: Settled<I>,
    local: LocalEntries<I>,
    pace: Pace,
    states: States,
    roster: RosterWatch,
    share: RefusedShare,
    sim: SimScheduler,
    link: Link,
    /// Whether the game has a state of this match.
    is_running: bool,
    /// States before this frame may not be saved.
    unsaved: Frame,
    now: Micros,
    events: Events,
    stats: SessionStats,
}

/// The link to the referee, and how the stay ends.
#[derive(Debug, Default)]
struct Link {
    is_connected: bool,
    heard_at: Micros,
    is_interrupted: bool,
    disconnect: Option<CloseCode>,
    leaving_since: Option<Micros>,
    is_closed: bool,
    percent: u8,
}

impl<I: Input> Sealed<I> {
    /// A session of `local` that plays in these slots, which the lobby gave it, once the referee
    /// has let it in. `incarnation` distinguishes this stay from earlier ones of the same peer and
    /// must be higher than theirs.
    ///
    /// # Errors
    /// If a setting is invalid; the error says which, and what to change.
    pub fn join(
        config: TimelineConfig,
        local: PeerId,
        referee: PeerId,
        slots: SlotSet,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        let list: Vec<Slot> = slots.iter().collect();
        let max = config.slot_count.min(gaggle_seal::STREAM_SLOTS_MAX);
        gaggle_kit::OutOfRange::check("players", list.len() as u64, 1, max as u64)?;
        for slot in &list {
            let last = config.slot_count as u64 - 1;
            gaggle_kit::OutOfRange::check("slot", slot.index() as u64, 0, last)?;
        }
        let slots = StreamSlots::new(&list).unwrap_or_default();
        Sealed::with(config, local, referee, slots, incarnation)
    }

    /// A session of `local` that spectates: it shows sealed frames only and takes no slot.
    ///
    /// # Errors
    /// If a setting is invalid; the error says which, and what to change.
    pub fn spectate(
        config: TimelineConfig,
        local: PeerId,
        referee: PeerId,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        Sealed::with(config, local, referee, StreamSlots::default(), incarnation)
    }

    fn with(
        config: TimelineConfig,
        local: PeerId,
        referee: PeerId,
        slots: StreamSlots,
        incarnation: Incarnation,
    ) -> Result<Self, SessionError> {
        config.validate_watcher()?;
        let (seal, rules) = config.seal_rules::<I>(config.slot_count)?;
        let stream = StreamId { peer: local, incarnation: incarnation.0 };
        let check_frames = rules.check_frames;
        let client = Client::new(rules, stream, slots)?.with_build(config.seal_build(0));
        let frames = config.table_frames();
        let slot_count = config.slot_count;
        Ok(Sealed {
            referee,
            client,
            past: Past::new(frames, slot_count),
            settled: Settled::new(frames, slot_count, seal.repeat_frames),
            local: LocalEntries::new(slots.iter().collect(), frames),
            pace: Pace::new(&config, &seal),
            states: States::new(check_frames),
            roster: RosterWatch::new(slot_count),
            share: RefusedShare::default(),
            sim: SimScheduler::default(),
            link: Link::default(),
            is_running: false,
            unsaved: Frame::START,
            now: Micros::ZERO,
            events: Events::default(),
            stats: SessionStats::default(),
            seal,
            config,
        })
    }

    /// Sets the fingerprint of the game's state encoding, before the first link: see
    /// [`shape_of`](crate::shape_of). A [`Timeline`](crate::Timeline) calls it.
    pub fn set_shape(&mut self, shape: u64) {
        let slots: Vec<Slot> = self.local.slots().iter().collect();
        let slots = StreamSlots::new(&slots).unwrap_or_default();
        let rules = self.config.seal_rules::<I>(self.config.slot_count);
        // The settings were checked before.
        if let Ok((_, rules)) = rules
            && let Ok(client) = Client::new(rules, self.client.stream(), slots)
        {
            self.client = client.with_build(self.config.seal_build(shape));
        }
    }

    // Links.

    /// Handles a new link. Only the referee's is used.
    pub fn handle_connected(&mut self, now: Micros, peer: PeerId) {
        if peer != self.referee || self.link.is_connected {
            return;
        }
        self.now = self.now.max(now);
        self.link.is_connected = true;
        self.link.disconnect = None;
        self.link.heard_at = self.now;
        // The referee may have forgotten that it sends this peer another state.
        self.states.report_again();
        self.client.handle_connected(self.now);
    }

    /// Handles the end of a link. The session waits for another one.
    pub fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
        if peer != self.referee {
            return;
        }
        self.now = self.now.max(now);
        self.link.is_connected = false;
        self.link.is_closed |= self.link.leaving_since.is_some();
    }

    /// Handles an unreliable packet.
    pub fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        if self.may_hear(now, peer) {
            let result = self.client.handle_packet(self.now, bytes);
            self.handled(result);
        }
    }

    /// Handles a reliable message of the session's streams.
    pub fn handle_message(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        if self.may_hear(now, peer) {
            let result = self.client.handle_message(self.now, bytes);
            self.handled(result);
        }
    }

    fn may_hear(&mut self, now: Micros, peer: PeerId) -> bool {
        self.now = self.now.max(now);
        peer == self.referee && self.link.disconnect.is_none()
    }

    fn handled(&mut self, result: Result<(), ClientError>) {
        if let Err(error) = result {
            // Bytes that no referee sends end the link and nothing else: another one may follow.
            let fault = PeerFault::Sealed(error);
            self.events.push(SessionEvent::PeerFault { peer: self.referee, fault });
            self.link.disconnect = Some(CloseCode::PROTOCOL_ERROR);
            self.link.is_connected = false;
            return;
        }
        self.link.heard_at = self.now;
        if std::mem::take(&mut self.link.is_interrupted) {
            self.events.push(SessionEvent::Resumed { peer: self.referee });
        }
        self.follow();
    }

    /// The link to close, if it must be.
    pub fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)> {
        self.link.disconnect.take().map(|code| (self.referee, code))
    }

    /// Next packet or message to send, if any is left in this tick.
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        if !self.link.is_connected {
            return None;
        }
        let sent = self.client.poll_transmit()?;
        let channel = if sent.is_reliable { Channel::Reliable(sent.stream) } else { Channel::Unreliable };
        if !sent.is_reliable {
            self.stats.packets_sent += 1;
            self.stats.bytes_sent += sent.bytes.len() as u64;
        }
        Some(Transmit { to: self.referee, channel, bytes: sent.bytes })
    }

    /// The next event. Poll until there is none.
    pub fn poll_event(&mut self) -> Option<SessionEvent> {
        self.events.pop()
    }

    // Local players.

    /// Sets the input of a local player for the next tick.
    ///
    /// # Errors
    /// If the slot is not local, or has no row in the match yet.
    pub fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError> {
        match self.client.is_playing() && self.local.sample(slot, input) {
            true => Ok(()),
            false => Err(SessionError::SlotNotLocal { slot, local: self.local_slots() }),
        }
    }

    /// Sets whether the local players only look on: their slots stay theirs, no input of them is
    /// expected or sent, and it is neutral for all. Their next input ends it for all at the same
    /// frame.
    pub fn set_passive(&mut self, is_passive: bool) {
        self.local.set_passive(is_passive);
    }

    /// Whether the local players only look on.
    pub fn is_passive(&self) -> bool {
        self.local.is_passive()
    }

    /// Fixes the input delay; `None` lets it adapt again.
    ///
    /// # Errors
    /// If it is above the upper limit of [`TimelineConfig::input_delay_range`].
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        let max = self.config.input_delay_range.1;
        gaggle_kit::OutOfRange::check("input delay", frames.unwrap_or(0).into(), 0, max.into())?;
        self.pace.fix_delay(frames);
        Ok(())
    }

    /// Leaves the match. Go on ticking and sending until [`is_closed`](Sealed::is_closed).
    pub fn leave(&mut self) {
        self.client.leave();
        self.link.leaving_since.get_or_insert(self.now);
        self.link.is_closed |= !self.link.is_connected;
    }

    // Time.

    /// Advances by one frame's time.
    pub fn tick(&mut self, now: Micros) -> Tick {
        self.now = self.now.max(now);
        if self.link.is_closed || !self.pace.begin_tick(self.now) {
            return Tick::Waiting;
        }
        self.client.tick(self.now);
        self.watch_link();
        self.follow();
        if !self.is_running {
            return Tick::Waiting;
        }
        let measured = self.measured();
        let current = self.past.current();
        if measured.is_playing && !self.local.is_open() {
            self.pace.begin_entries(measured);
        }
        let plan = self.pace.plan(&mut self.events, measured);
        let target = if let Plan::Advance(frame) = plan { frame } else { current };
        self.stats.stalled_ticks += u64::from(plan == Plan::Stall);
        if target > current {
            self.record(target);
        }
        self.states.skip_to(current.saturating_sub(self.config.prediction_frames()));
        self.sim.begin_tick(target);
        self.tell_progress(target);
        self.pace.adjust(Measured { current: target, ..measured });
        if self.pace.is_jumping(self.now) {
            self.client.forget_slack();
        }
        match plan {
            Plan::Advance(_) => Tick::Advanced,
            Plan::Hold => Tick::Waiting,
            Plan::Stall => Tick::Stalled,
        }
    }

    fn measured(&self) -> Measured {
        Measured {
            now: self.now,
            current: self.past.current(),
            sealed: self.client.log().sealed(),
            is_playing: self.client.is_playing() && !self.local.is_passive(),
            is_spectator: self.client.is_spectator(),
            low: self.client.low_slack_quarters(),
            rtt: self.client.rtt(),
        }
    }

    fn record(&mut self, target: Frame) {
        if !self.client.is_playing() || self.link.leaving_since.is_some() {
            self.local.close();
            return;
        }
        let (delay, settled) = (self.pace.delay(), self.settled.frame());
        self.local.record(target, delay, settled, &mut self.client, &mut self.past);
        if !self.local.is_passive() {
            self.share.note_entry(&mut self.events);
        }
    }

    fn watch_link(&mut self) {
        let silence = self.now.since(self.link.heard_at);
        if silence >= self.config.interrupted_after && !self.link.is_interrupted && self.is_running {
            self.link.is_interrupted = true;
            self.events.push(SessionEvent::Interrupted { peer: self.referee });
        }
        if let Some(since) = self.link.leaving_since {
            let is_out = self.is_running && !self.client.is_playing();
            self.link.is_closed |= is_out || self.now.since(since) >= GOODBYE_TIMEOUT;
        }
    }

    /// Says when the game has reached the sealed frame, so that the referee seats the players.
    fn tell_progress(&mut self, target: Frame) {
        let sealed = self.client.log().sealed();
        self.client.set_ready(target >= sealed);
        if self.client.is_playing() || self.client.is_spectator() {
            self.link.percent = 100;
            return;
        }
        let (origin, behind) = (self.sim.origin(), sealed.since(target));
        let percent = 99 - (u64::from(behind) * 99 / u64::from(sealed.since(origin).max(1))).min(99) as u8;
        if percent > self.link.percent {
            self.link.percent = percent;
            self.events.push(SessionEvent::JoinProgress { percent });
        }
    }
}
