//! The referee's side of the protocol: one room's sealer, its links, journal and recovery.
//!
//! A server passes packets, time and tickets to it, writes its records and sends its output.
//! Absent: sockets, files, the game, input types, tickets' signatures.

mod checks;
mod donors;
mod events;
mod fanout;
mod links;
mod output;
mod recovery;
mod states;

use std::collections::VecDeque;

use gaggle_kit::rate_limit::RateLimit;
use gaggle_kit::{BitReader, ByteReader, Frame, Micros, PeerId};

use crate::ablation::{Ablation, Rule};
use crate::checkpoint;
use crate::config::{ConfigError, SealConfig};
use crate::journal::{Journal, Recovered};
use crate::lineage::{Epoch, Lineage};
use crate::log::Log;
use crate::message::{Message, OverReason};
use crate::packet::{EntrySpan, Up, complete};
use crate::roster::{OutReason, StreamId};
use crate::sealer::{Fault, Sealer};
use crate::shape::StreamSlots;
use fanout::Fanouts;
use links::{Link, Links};
use recovery::Recovery;
use states::States;

pub use events::{ConnectError, RefereeEvent, RefereePhase, RefereeStats, Transmit};
pub use links::LinkId;

/// Most frames sealed in one tick, so that a referee that was suspended does not catch up at once.
const SEALED_PER_TICK_MAX: usize = 64;
/// Time between two answers to a client that is in another term or should have left.
const TELL_INTERVAL: Micros = Micros::from_millis(100);
/// Time between two snapshots to one client.
const SNAPSHOT_INTERVAL: Micros = Micros::from_millis(500);
/// Time a draining referee waits for acknowledgements.
const DRAIN_TIMEOUT: Micros = Micros::from_secs(1);
/// Rate of messages of one client, beyond which its link is closed.
pub const MESSAGE_RATE: RateLimit = RateLimit::per_second(8, 16);
/// Rate of pieces of states, and of their confirmations.
pub const PIECE_RATE: RateLimit = RateLimit::per_second(1_000, 4_000);
/// Most events that wait to be polled.
const EVENTS_MAX: usize = 4_096;

/// The sealer of one room.
#[derive(Debug)]
pub struct Referee {
    config: SealConfig,
    epoch: Epoch,
    phase: RefereePhase,
    lineage: Lineage,
    sealer: Sealer,
    links: Links,
    fanouts: Fanouts,
    journal: Option<Journal>,
    recovery: Recovery,
    states: States,
    drain_until: Micros,
    now: Micros,
    ticked_at: Option<Micros>,
    /// Last frame sealed before the last tick.
    sealed_before: Frame,
    stats: RefereeStats,
    events: VecDeque<RefereeEvent>,
    outbox: VecDeque<(LinkId, u8, Vec<u8>)>,
    buffer: Vec<u8>,
    ablation: Ablation,
}

impl Referee {
    /// Founds a match, whose frame 1 is due one frame from now.
    ///
    /// # Errors
    /// If the settings are out of range.
    pub fn found(
        now: Micros,
        config: SealConfig,
        match_id: u64,
        epoch: Epoch,
    ) -> Result<Referee, ConfigError> {
        Referee::start(now, config, Lineage::founded(match_id, epoch), None, RefereePhase::Running)
    }

    /// Continues from the contents of a journal. `epoch` must be higher than that of every earlier
    /// start.
    ///
    /// # Errors
    /// If the settings are out of range.
    pub fn resume(
        now: Micros,
        config: SealConfig,
        epoch: Epoch,
        recovered: Recovered,
    ) -> Result<Referee, ConfigError> {
        let Recovered { log, mut lineage, .. } = recovered;
        lineage.push(epoch, log.sealed());
        Referee::start(now, config, lineage, Some(log), RefereePhase::Running)
    }

    /// Continues without a journal: clients are asked for their logs.
    ///
    /// # Errors
    /// If the settings are out of range.
    pub fn ask(now: Micros, config: SealConfig, match_id: u64, epoch: Epoch) -> Result<Referee, ConfigError> {
        Referee::start(now, config, Lineage::founded(match_id, epoch), None, RefereePhase::Asking)
    }

    fn start(
        now: Micros,
        config: SealConfig,
        lineage: Lineage,
        log: Option<Log>,
        phase: RefereePhase,
    ) -> Result<Referee, ConfigError> {
        let shape = config.check()?;
        let is_resumed = log.is_some();
        let log = log.unwrap_or_else(|| Log::new(shape, config.history_frames, config.lookahead()));
        let begin = if is_resumed { Journal::resume } else { Journal::begin };
        let journal = (config.journal && phase == RefereePhase::Running).then(|| begin(&log, &lineage));
        Ok(Referee {
            epoch: lineage.epoch(),
            phase,
            fanouts: Fanouts::new(&config, log.sealed()),
            sealer: Sealer::new(config.clone(), log, now, Ablation::default()),
            lineage,
            links: Links::default(),
            journal,
            recovery: Recovery::new(now + config.resume_timeout),
            states: States::new(&config),
            drain_until: Micros::MAX,
            now,
            ticked_at: None,
            sealed_before: Frame::NEVER,
            stats: RefereeStats::default(),
            events: VecDeque::new(),
            outbox: VecDeque::new(),
            buffer: Vec::with_capacity(crate::shape::PACKET_BYTES_MAX),
            config,
            ablation: Ablation::default(),
        })
    }

    #[cfg(test)]
    pub(crate) fn set_ablation(&mut self, ablation: Ablation) {
        self.ablation = ablation;
        self.sealer.set_ablation(ablation);
    }

    /// The log of all sealed frames.
    pub const fn log(&self) -> &Log {
        self.sealer.log()
    }

    /// Terms of the match; the last one is that of this start.
    pub const fn lineage(&self) -> &Lineage {
        &self.lineage
    }

    /// Current phase of the referee.
    pub const fn phase(&self) -> RefereePhase {
        self.phase
    }

    /// Frames per second of the match.
    pub const fn tick_rate(&self) -> u32 {
        self.config.tick_rate
    }

    /// How late the last frame was sealed that the last tick sealed. `None` if it sealed none.
    pub fn seal_lateness(&self) -> Option<Micros> {
        let sealed = self.sealer.log().sealed();
        (self.sealed_before < sealed).then(|| self.now.since(self.sealer.due(sealed)))
    }

    /// Counters since its start.
    pub const fn stats(&self) -> RefereeStats {
        self.stats
    }

    /// The stream behind a link.
    pub fn stream(&self, link: LinkId) -> Option<StreamId> {
        self.links.get(link).map(|link| link.stream)
    }

    /// Handles the connection of a client whose ticket was checked; `slots` is `None` for a
    /// spectator.
    ///
    /// # Errors
    /// If it cannot be admitted; the caller closes the link with that reason.
    pub fn handle_connected(
        &mut self,
        now: Micros,
        stream: StreamId,
        slots: Option<StreamSlots>,
    ) -> Result<LinkId, ConnectError> {
        self.now = self.now.max(now);
        let beyond = |slots: StreamSlots| slots.iter().find(|slot| slot.index() >= self.config.slot_count);
        if let Some(slot) = slots.and_then(beyond) {
            return Err(ConnectError::NoSuchSlot(slot));
        }
        let older = self.links.iter().find(|(_, link)| link.stream.peer == stream.peer);
        let older = older.map(|(id, link)| (id, link.stream.incarnation));
        match older {
            Some((_, incarnation)) if incarnation > stream.incarnation => {
                return Err(ConnectError::OlderProcess);
            }
            Some((id, _)) => {
                self.states.donors.forget(id);
                self.links.remove(id);
            }
            None if self.links.len() >= self.config.clients_max => {
                return Err(ConnectError::Full(self.links.len()));
            }
            None => {}
        }
        let spectators = || self.links.iter().filter(|(_, link)| link.slots.is_none()).count();
        if slots.is_none() && spectators() >= self.config.spectators_max {
            return Err(ConnectError::Full(self.config.spectators_max));
        }
        let id = self.links.add(self.now, stream, slots);
        if self.phase == RefereePhase::Asking {
            self.send(id, &Message::WhoAreYou(self.epoch));
        }
        Ok(id)
    }

    /// Handles a closed link. A player's rows end with the next frame, for this reason.
    pub fn handle_disconnected(&mut self, now: Micros, link: LinkId, why: OutReason) {
        self.now = self.now.max(now);
        self.states.donors.forget(link);
        if let Some(Link { stream, slots: Some(slots), .. }) = self.links.remove(link) {
            self.sealer.cancel_join(stream);
            self.sealer.leave(stream, slots, why);
        }
    }

    /// Removes a player at the application's request. Its link stays, as that of a spectator.
    pub fn remove(&mut self, link: LinkId) {
        if let Some(link) = self.links.get_mut(link)
            && let Some(slots) = link.slots.take()
        {
            self.sealer.leave(link.stream, slots, OutReason::Removed);
        }
    }

    /// Handles a packet of a client.
    ///
    /// # Errors
    /// If no honest client sends it: the caller closes the link.
    pub fn handle_packet(&mut self, now: Micros, id: LinkId, bytes: &[u8]) -> Result<(), Fault> {
        self.now = self.now.max(now);
        let Some(link) = self.links.get_mut(id) else { return Ok(()) };
        if link.arrivals.packets.try_acquire(now, &self.config.packet_rate, 1).is_err() {
            self.stats.over_rate += 1;
            return Ok(());
        }
        let mut r = ByteReader::new(bytes);
        let up = Up::read(&mut r)?;
        if up.incarnation_low != link.stream.incarnation as u8 || self.phase == RefereePhase::Asking {
            return Ok(());
        }
        link.arrivals.heard_at = self.now;
        if let Some(time) = up.time {
            link.clocks.heard(self.now, time);
        }
        let is_of_term = up.epoch_low == self.epoch.low();
        if !is_of_term && link.answers.may_send(self.now, TELL_INTERVAL) {
            let terms = self.lineage.clone();
            self.note_told(id);
            self.send(id, &Message::Terms(terms));
        }
        if !is_of_term && self.ablation.holds(Rule::AcksAreOfOneTerm) {
            return Ok(());
        }
        let mut bits = BitReader::new(r.rest());
        let sealed = self.note_ack(id, &up, &mut bits)?;
        self.take_entries(id, &up, sealed, &mut bits)?;
        self.note_wishes(id, &up);
        Ok(())
    }

    /// Notes which frames the client holds in this term.
    fn note_ack(&mut self, id: LinkId, up: &Up, bits: &mut BitReader<'_>) -> Result<Frame, Fault> {
        let own = self.sealer.log().sealed();
        let sealed = complete(up.sealed_low, own).ok_or(Fault::AckBeyondSealed(Frame::NEVER))?;
        if sealed > own && self.ablation.holds(Rule::AcksAreOfOneTerm) {
            return Err(Fault::AckBeyondSealed(sealed));
        }
        let Some(link) = self.links.get_mut(id) else { return Ok(sealed) };
        let progress = &mut link.progress;
        // Acknowledgements rise. A client that entered anew holds less, and says so by a gap: an
        // older acknowledgement only repeats frames.
        let ack = progress.ack.filter(|_| !up.has_gap).map_or(sealed, |ack| ack.max(sealed));
        if progress.ack.is_none() {
            progress.sent = ack;
        }
        progress.ack = Some(ack);
        let lanes = self.sealer.log().shape().lanes();
        if lanes > 1 {
            progress.lanes.resize(lanes, ack);
            for lane in progress.lanes.iter_mut() {
                let ahead = if up.has_lanes { bits.varint("lane")? } else { 0 };
                let held = sealed + u32::try_from(ahead).unwrap_or(u32::MAX);
                if held > own {
                    return Err(Fault::AckBeyondSealed(held));
                }
                *lane = if up.has_gap { held } else { held.max(*lane).max(ack) };
            }
        }
        progress.has_gap |= up.has_gap;
        Ok(sealed)
    }

    fn take_entries(
        &mut self,
        id: LinkId,
        up: &Up,
        sealed: Frame,
        bits: &mut BitReader<'_>,
    ) -> Result<(), Fault> {
        let Some(link) = self.links.get_mut(id) else { return Ok(()) };
        if !up.has_entries {
            return Ok(bits.clone().finish("packet")?);
        }
        let Some(slots) = link.slots else { return Ok(()) };
        // Before the join no entry counts; those still useful are sent again.
        if !self.sealer.is_present(link.stream, &slots) || self.phase != RefereePhase::Running {
            return Ok(());
        }
        let span = EntrySpan::read(bits, sealed, up.has_passive)?;
        let intake = self.sealer.take(&slots, &span, bits)?;
        bits.clone().finish("packet")?;
        self.stats.entries_taken += u64::from(intake.taken);
        self.stats.entries_refused += u64::from(intake.late);
        let newest = span.first + (span.count - 1);
        if newest > link.arrivals.newest {
            link.arrivals.newest = newest;
            let frame = self.config.span(4).get() as i64 / 4;
            let slack = self.sealer.due(newest).get() as i64 - self.now.get() as i64;
            link.arrivals.slack.push(slack * 4 / frame.max(1));
        }
        Ok(())
    }

    /// Notes whether the client is ready to join, or leaving.
    fn note_wishes(&mut self, id: LinkId, up: &Up) {
        let Some(link) = self.links.get_mut(id) else { return };
        let (stream, slots) = (link.stream, link.slots);
        let is_present = slots.is_some_and(|slots| self.sealer.is_present(stream, &slots));
        if up.is_leaving {
            match slots.filter(|_| is_present) {
                Some(slots) => self.sealer.leave(stream, slots, OutReason::Goodbye),
                None if link.answers.may_send(self.now, TELL_INTERVAL) => {
                    self.sealer.cancel_join(stream);
                    self.send(id, &Message::Over(OverReason::Left));
                }
                None => {}
            }
            return;
        }
        let Some(slots) = slots.filter(|_| up.is_ready && !is_present) else { return };
        if self.phase == RefereePhase::Running && !self.sealer.is_joining(stream) {
            self.sealer.replace_older(stream);
            self.sealer.join(stream, slots);
        }
    }

    /// Handles a reliable message of a client.
    ///
    /// # Errors
    /// If no honest client sends it: the caller closes the link.
    pub fn handle_message(&mut self, now: Micros, id: LinkId, bytes: &[u8]) -> Result<(), Fault> {
        self.now = self.now.max(now);
        let Some(link) = self.links.get_mut(id) else { return Ok(()) };
        let message = Message::read(bytes)?;
        // Pieces are those that were asked for, and confirmations are of pieces that were sent.
        let is_paced = matches!(message, Message::Piece { .. } | Message::Got { .. });
        let rate = if is_paced { &PIECE_RATE } else { &MESSAGE_RATE };
        let limiter = if is_paced { &mut link.arrivals.pieces } else { &mut link.arrivals.messages };
        if limiter.try_acquire(now, rate, 1).is_err() {
            return Err(Fault::Flood);
        }
        link.arrivals.heard_at = self.now;
        let (peer, incarnation) = (link.stream.peer, link.stream.incarnation);
        match message {
            Message::Hello(hello) if hello.incarnation == incarnation => {}
            Message::Check(check) => self.take_check(id, &check)?,
            Message::Offer { state, frame, bytes_hash } => {
                self.states.donors.offer(self.now, id, frame, state, bytes_hash);
                self.choose_donor();
            }
            Message::Piece { number, index, bytes } => self.take_piece(id, number, index, bytes)?,
            Message::Got { number, pieces } => self.confirm_pieces(id, number, pieces)?,
            Message::Enter(_) if self.phase == RefereePhase::Asking => {
                self.send(id, &Message::WhoAreYou(self.epoch));
            }
            Message::Enter(held) => self.enter(id, held.as_ref()),
            Message::Answer { asked, lineage, log } => {
                let is_asked = asked == self.epoch || !self.ablation.holds(Rule::AnswersAreOfThisEpoch);
                if self.phase == RefereePhase::Asking && is_asked {
                    self.take_answer(peer, lineage, log)?;
                }
            }
            _ => return Err(Fault::BadAnswer),
        }
        Ok(())
    }

    fn enter(&mut self, id: LinkId, held: Option<&(Lineage, Frame)>) {
        let oldest = self.sealer.log().oldest();
        let is_useful = |(lineage, sealed): &(Lineage, Frame)| {
            self.lineage.common(lineage).is_some_and(|common| common.min(*sealed) >= oldest)
        };
        let is_foreign = |(lineage, _): &(Lineage, Frame)| {
            lineage.epoch() == self.epoch && lineage.match_id() != self.lineage.match_id()
        };
        if held.is_some_and(is_useful) {
            let terms = self.lineage.clone();
            self.note_told(id);
            self.send(id, &Message::Terms(terms));
        } else if held.is_some_and(is_foreign) {
            // The match began again in this term while the client was away.
            self.send_on(1, id, &Message::Verdict { frame: Frame::START, is_of_log: true });
        } else if let Some(link) = self.links.get_mut(id) {
            link.snapshot.want();
            if held.is_none() {
                link.progress.ack = None;
            }
        }
    }

    /// The client may hold frames of this match from now on.
    fn note_told(&mut self, id: LinkId) {
        self.links.get_mut(id).into_iter().for_each(|link| link.is_told = true);
    }

    fn take_answer(&mut self, peer: PeerId, lineage: Lineage, bytes: &[u8]) -> Result<(), Fault> {
        if lineage.epoch() >= self.epoch || !lineage.is_of_family(&self.lineage) {
            return Err(Fault::BadAnswer);
        }
        let shape = self.sealer.log().shape();
        let (history, lookahead) = (self.config.history_frames, self.config.lookahead());
        let log = checkpoint::read_extract(&mut ByteReader::new(bytes), shape, history, lookahead);
        self.recovery.take(peer, lineage, log.map_err(|_| Fault::BadAnswer)?);
        Ok(())
    }

    /// Sets the members a referee without a journal waits for: those that held a log and can still
    /// answer.
    pub fn expect_answers(&mut self, peers: impl Iterator<Item = PeerId>) {
        self.recovery.expect(peers);
    }

    /// Stops sealing and waits until all sealed frames have reached all clients, at most a second.
    pub fn drain(&mut self, now: Micros) {
        if self.phase == RefereePhase::Running {
            self.phase = RefereePhase::Draining;
            self.drain_until = now + DRAIN_TIMEOUT;
        }
    }

    /// The next event. Poll until there is none.
    pub fn poll_event(&mut self) -> Option<RefereeEvent> {
        self.events.pop_front()
    }

    fn event(&mut self, event: RefereeEvent) {
        if self.events.len() == EVENTS_MAX {
            self.stats.events_dropped += 1;
            self.events.pop_front();
        }
        self.events.push_back(event);
    }
}
