//! Reliable messages of a client: entering, terms, answers, states in both directions, hashes.
//!
//! `Client` is given and asked for them through its owner. Absent: packets, own entries.

use gaggle_kit::{ByteReader, DecodeError, Frame, Micros, StateHasher};

use super::events::{ClientError, ClientEvent, ClientPhase};
use super::own::OwnEntries;
use super::{Client, ENTER_INTERVAL};
use crate::ablation::Rule;
use crate::checkpoint;
use crate::hello::Hello;
use crate::lineage::{Epoch, Lineage};
use crate::log::Log;
use crate::message::{Check, Message, OverReason, STATE_BYTES_MAX, StateInfo};
use crate::transfer::{Incoming, Outgoing};

/// Most bytes of an answer; it begins later in the log if it would be larger.
const ANSWER_BYTES_MAX: usize = 2 << 20;

/// States under way, one in each direction.
#[derive(Debug, Default)]
pub(super) struct States {
    incoming: Option<(StateInfo, Frame, Incoming)>,
    outgoing: Option<Outgoing>,
    /// The next snapshot replaces the game's state and not the log.
    is_repair: bool,
}

impl Client {
    /// Handles a new link to a referee, which is told the held frames.
    pub fn handle_connected(&mut self, now: Micros) {
        self.now = now;
        self.link = super::LinkState { heard_at: Some(now), ..super::LinkState::default() };
        self.out.messages.clear();
        // Pieces of a state do not continue on another link.
        if std::mem::take(&mut self.states).incoming.is_some() {
            self.forget_log();
        }
        let hello = Hello {
            incarnation: self.stream.incarnation,
            is_spectator: self.slots.is_empty(),
            build: self.build,
            rules: self.config.clone(),
        };
        self.send(0, &Message::Hello(hello));
        self.enter();
    }

    /// Drops the log and asks for a state of another frame: the game cannot go back as far as it
    /// must, or could not use the state it was given. Own entries stay valid.
    pub fn enter_anew(&mut self) {
        if !matches!(self.phase, ClientPhase::Over(_)) {
            self.forget_log();
            self.enter();
        }
    }

    fn forget_log(&mut self) {
        self.phase = ClientPhase::Entering;
        self.link.entered_at = None;
        self.lineage = None;
        self.states = States::default();
    }

    pub(super) fn enter(&mut self) {
        if self.link.entered_at.is_some_and(|at| self.now.since(at) < ENTER_INTERVAL)
            || matches!(self.phase, ClientPhase::Over(_))
        {
            return;
        }
        self.link.entered_at = Some(self.now);
        let held = self.lineage.clone().filter(|_| self.phase == ClientPhase::Following);
        self.send(0, &Message::Enter(held.map(|lineage| (lineage, self.log.sealed()))));
    }

    fn send(&mut self, stream: u8, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        self.out.messages.push_back((stream, bytes));
    }

    /// Reports the state's checksum of a sealed frame, and the frames simulated beyond the sealed
    /// one. Call it for every frame that is a multiple of `check_frames`.
    pub fn report(&mut self, frame: Frame, state_hash: u64, depth: u32) {
        let log_hash = self.log.hash(frame).filter(|_| self.phase == ClientPhase::Following);
        if let Some(log_hash) = log_hash
            && !self.is_fenced()
        {
            let depth = u8::try_from(depth).unwrap_or(u8::MAX);
            self.send(0, &Message::Check(Check { frame, state_hash, log_hash, depth }));
        }
    }

    /// Offers the state of the frame that [`ClientEvent::StateWanted`] named. States beyond
    /// [`STATE_BYTES_MAX`] are not offered.
    pub fn offer_state(&mut self, number: u32, frame: Frame, state_hash: u64, bytes: &[u8]) {
        if bytes.len() > STATE_BYTES_MAX || !self.log.keeps(frame) {
            return;
        }
        let state = StateInfo { number, state_hash, length: bytes.len() };
        self.send(0, &Message::Offer { state, frame, bytes_hash: StateHasher::of(bytes) });
        self.states.outgoing = Some(Outgoing::offered(number, bytes.into()));
    }

    /// The next piece of an offered state, if one may be sent.
    pub(super) fn write_piece(&mut self) -> bool {
        let Some(outgoing) = &mut self.states.outgoing else { return false };
        let Some((index, bytes)) = outgoing.peek() else { return false };
        self.out.buffer.clear();
        Message::Piece { number: outgoing.number(), index, bytes }.write(&mut self.out.buffer);
        outgoing.advance();
        if outgoing.is_sent() {
            self.states.outgoing = None;
        }
        true
    }

    /// Handles a reliable message from the referee.
    ///
    /// # Errors
    /// If no referee writes such bytes.
    pub fn handle_message(&mut self, now: Micros, bytes: &[u8]) -> Result<(), ClientError> {
        self.now = self.now.max(now);
        self.link.heard(self.now);
        match Message::read(bytes)? {
            Message::WhoAreYou(epoch) => self.answer(epoch),
            Message::Terms(lineage) => self.install(lineage),
            Message::Snapshot { lineage, state, piece, checkpoint } => {
                self.boot(lineage, state, piece, checkpoint)?;
            }
            Message::Piece { number, index, bytes } => self.take_piece(number, index, bytes)?,
            Message::Got { number, pieces } => {
                if let Some(outgoing) = self.states.outgoing.as_mut().filter(|out| out.number() == number) {
                    outgoing.confirm(pieces)?;
                }
            }
            Message::Ask { number, frame } if self.is_playing() && frame != Frame::NEVER => {
                self.events.push(ClientEvent::StateWanted { number, frame });
            }
            Message::Verdict { frame, is_of_log } if self.phase == ClientPhase::Following => {
                if is_of_log {
                    self.enter_anew();
                    self.events.push(ClientEvent::Reset);
                } else {
                    self.states.is_repair = true;
                    self.events.push(ClientEvent::Desync { frame });
                }
            }
            Message::Ask { .. } | Message::Verdict { .. } => {}
            // Another start of the referee goes on with the match.
            Message::Over(OverReason::Draining) if !self.says.is_leaving => {}
            Message::Over(reason) => {
                self.phase = ClientPhase::Over(reason);
                self.events.push(ClientEvent::Over { reason });
            }
            Message::Hello(_)
            | Message::Enter(_)
            | Message::Answer { .. }
            | Message::Offer { .. }
            | Message::Check(_) => {
                return Err(DecodeError::Unknown { what: "message of a referee", value: 0 }.into());
            }
        }
        Ok(())
    }

    /// Answers a referee without a journal with the log, and promises to ignore older referees.
    fn answer(&mut self, asked: Epoch) {
        let Some(lineage) = self.lineage.clone().filter(|_| self.phase == ClientPhase::Following) else {
            return;
        };
        if asked < self.promised || asked <= lineage.epoch() {
            return;
        }
        self.promised = asked;
        let mut lineage = lineage;
        if self.ablation.holds(Rule::ShortLogsAreOld) {
            lineage.shorten(self.log.sealed());
        }
        let mut log = Vec::new();
        let (mut from, sealed) = (self.log.oldest(), self.log.sealed());
        loop {
            log.clear();
            checkpoint::write_extract(&self.log, from, &mut log);
            if log.len() <= ANSWER_BYTES_MAX || from == sealed {
                break;
            }
            // Newer frames matter most: clients that hold less take a snapshot.
            from = sealed.saturating_sub(sealed.since(from) / 2);
        }
        self.send(0, &Message::Answer { asked, lineage, log: &log });
    }

    fn install(&mut self, lineage: Lineage) {
        let Some(mine) = self.lineage.as_ref().filter(|_| self.phase == ClientPhase::Following) else {
            return;
        };
        if lineage.epoch() < self.promised || lineage.epoch() <= mine.epoch() {
            return;
        }
        let sealed = self.log.sealed();
        let kept = mine.common(&lineage).map(|common| common.min(sealed));
        self.promised = lineage.epoch();
        let Some(kept) = kept.filter(|kept| *kept >= self.log.oldest()) else {
            self.forget_log();
            self.events.push(ClientEvent::Reset);
            return;
        };
        self.log.truncate(kept);
        self.held = kept;
        self.events.push(ClientEvent::TermChanged { epoch: lineage.epoch(), kept, sealed });
        self.lineage = Some(lineage);
    }

    fn boot(
        &mut self,
        lineage: Lineage,
        state: StateInfo,
        piece: &[u8],
        checkpoint: &[u8],
    ) -> Result<(), ClientError> {
        if lineage.epoch() < self.promised || matches!(self.phase, ClientPhase::Over(_)) {
            return Ok(());
        }
        let mut log = Log::new(self.shape(), self.config.history_frames, self.config.lookahead());
        let mut r = ByteReader::new(checkpoint);
        checkpoint::read(&mut r, &mut log)?;
        r.finish("snapshot")?;
        let frame = log.sealed();
        let mut keeps_log = false;
        if let Some(mine) = self.lineage.as_ref().filter(|_| self.phase == ClientPhase::Following) {
            // Within a term a snapshot can only lead ahead; one of an older term is ignored.
            let is_same = lineage == *mine;
            let is_ahead = is_same && frame > self.log.sealed();
            let is_held = self.log.hash(frame) == log.hash(frame) && self.log.keeps(frame);
            keeps_log = is_same && self.states.is_repair && is_held;
            if !is_ahead && !keeps_log && lineage.epoch() <= mine.epoch() {
                return Ok(());
            }
        }
        let mut incoming = Incoming::new(state.number, state.length);
        if !piece.is_empty() {
            incoming.take(0, piece)?;
        }
        if !keeps_log {
            // Entries of another match do not count in this one.
            if self.match_id != Some(lineage.match_id()) {
                self.own = OwnEntries::new(self.slots.len(), self.shape().value_bytes());
            }
            self.match_id = Some(lineage.match_id());
            self.promised = lineage.epoch();
            self.lineage = Some(lineage);
            self.log = log;
            self.held = self.log.sealed();
            self.phase = ClientPhase::Following;
        }
        self.states.is_repair = false;
        self.states.incoming = Some((state, frame, incoming));
        self.finish_state();
        Ok(())
    }

    fn take_piece(&mut self, number: u32, index: u32, bytes: &[u8]) -> Result<(), ClientError> {
        // Pieces of a state that a newer one replaced may be under way.
        let incoming = self.states.incoming.as_mut().filter(|(_, _, state)| state.number() == number);
        let Some((_, _, incoming)) = incoming else { return Ok(()) };
        incoming.take(index, bytes)?;
        if let Some(pieces) = incoming.confirm() {
            self.send(0, &Message::Got { number, pieces });
        }
        self.finish_state();
        Ok(())
    }

    /// Passes a state on that has arrived whole.
    fn finish_state(&mut self) {
        let is_complete = |(_, _, state): &mut (StateInfo, Frame, Incoming)| state.is_complete();
        let Some((state, frame, incoming)) = self.states.incoming.take_if(is_complete) else { return };
        if !self.log.keeps(frame) {
            // The transfer took longer than the history lasts.
            return self.enter_anew();
        }
        let bytes = incoming.into_bytes();
        let state_hash = state.state_hash;
        self.events.push(ClientEvent::SnapshotReceived { frame, state: bytes, state_hash });
    }

    /// Whether the state of the log's first frame is still arriving.
    pub fn is_receiving(&self) -> bool {
        self.states.incoming.is_some()
    }
}
