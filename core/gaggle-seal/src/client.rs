//! The client's side of the protocol: the log it holds, its own entries, its promises.
//!
//! A session (or a bot) owns one, passes entries and time to it, and simulates what its log
//! contains. Absent: the game, input types, the speed of the clock, sockets.

mod events;
mod own;

use std::collections::VecDeque;

use gaggle_kit::{BitReader, BitWriter, ByteReader, DecodeError, Frame, Micros};

use crate::ablation::{Ablation, Rule};
use crate::checkpoint;
use crate::clocks::Clocks;
use crate::config::{ConfigError, SealConfig};
use crate::lanes;
use crate::lineage::{Epoch, Lineage};
use crate::log::{Cell, Log};
use crate::message::Message;
use crate::packet::{ENTRIES_MAX, Merged, Up, complete};
use crate::roster::StreamId;
use crate::shape::{PACKET_BYTES_MAX, Shape, StreamSlots};
use events::Events;
pub use events::{ClientError, ClientEvent, ClientPhase, ClientTransmit};
pub use own::EntryError;
use own::OwnEntries;

/// Time between two requests to enter.
const ENTER_INTERVAL: Micros = Micros::from_millis(500);

/// One client of a referee.
#[derive(Debug)]
pub struct Client {
    config: SealConfig,
    stream: StreamId,
    slots: StreamSlots,
    phase: ClientPhase,
    log: Log,
    lineage: Option<Lineage>,
    /// Match that the own entries belong to.
    match_id: Option<u64>,
    /// Frames of older epochs are not taken.
    promised: Epoch,
    own: OwnEntries,
    /// Last own entry that the referee holds.
    held: Frame,
    /// Flags the client sends beside its entries.
    says: Says,
    clocks: Clocks,
    /// How early own entries arrive at the referee, in quarter frames.
    low: Option<i8>,
    entered_at: Option<Micros>,
    is_packet_due: bool,
    now: Micros,
    buffer: Vec<u8>,
    outbox: VecDeque<Vec<u8>>,
    events: Events,
    ablation: Ablation,
}

/// Flags of a client's packets.
#[derive(Debug, Clone, Copy, Default)]
struct Says {
    is_ready: bool,
    is_leaving: bool,
    has_gap: bool,
}

impl Client {
    /// A client of this stream, which plays in these slots once it is ready.
    ///
    /// # Errors
    /// If the settings are out of range.
    pub fn new(config: SealConfig, stream: StreamId, slots: StreamSlots) -> Result<Client, ConfigError> {
        Client::with_ablation(config, stream, slots, Ablation::default())
    }

    pub(crate) fn with_ablation(
        config: SealConfig,
        stream: StreamId,
        slots: StreamSlots,
        ablation: Ablation,
    ) -> Result<Client, ConfigError> {
        let shape = config.check()?;
        Ok(Client {
            stream,
            slots,
            phase: ClientPhase::Entering,
            log: Log::new(shape, config.history_frames, config.lookahead()),
            lineage: None,
            match_id: None,
            promised: Epoch(0),
            own: OwnEntries::new(slots.len(), shape.value_bytes()),
            held: Frame::START,
            says: Says::default(),
            clocks: Clocks::default(),
            low: None,
            entered_at: None,
            is_packet_due: false,
            now: Micros::ZERO,
            buffer: Vec::with_capacity(PACKET_BYTES_MAX),
            outbox: VecDeque::new(),
            events: Events::default(),
            config,
            ablation,
        })
    }

    /// Sizes of the match.
    pub const fn shape(&self) -> Shape {
        self.log.shape()
    }

    /// The stream of this client's entries.
    pub const fn stream(&self) -> StreamId {
        self.stream
    }

    /// Current phase of the client.
    pub const fn phase(&self) -> ClientPhase {
        self.phase
    }

    /// All held sealed frames. Simulation may run `window_frames` beyond the last one.
    pub const fn log(&self) -> &Log {
        &self.log
    }

    /// Terms of the log. `None` before the first snapshot.
    pub const fn lineage(&self) -> Option<&Lineage> {
        self.lineage.as_ref()
    }

    /// Whether all own slots have this stream's row in the last sealed frame.
    pub fn is_playing(&self) -> bool {
        self.phase == ClientPhase::Following
            && self.slots.iter().all(|slot| self.log.has_row(slot, self.stream))
    }

    /// Whether the log says that the own slots need no entries.
    pub fn is_passive(&self) -> bool {
        let sealed = self.log.sealed();
        self.is_playing() && self.slots.iter().all(|slot| self.log.cell(sealed, slot) == Cell::Passive)
    }

    /// Whether this client promised a new referee to take no frames of the old one.
    pub fn is_fenced(&self) -> bool {
        self.lineage.as_ref().is_some_and(|lineage| self.promised > lineage.epoch())
    }

    /// Newest frame with an own entry.
    pub fn newest_entry(&self) -> Frame {
        self.own.newest()
    }

    /// 5th percentile of how early own entries were, in quarter frames, as the referee last
    /// reported.
    pub const fn low_slack_quarters(&self) -> Option<i8> {
        self.low
    }

    /// Last round trip to the referee.
    pub fn rtt(&self) -> Option<Micros> {
        self.clocks.rtt()
    }

    /// The clock jumped: earlier measurements are void.
    pub const fn forget_slack(&mut self) {
        self.low = None;
    }

    /// Sets the entry of a frame: for each own slot a value, or `None` to repeat the entry before.
    /// Frames skipped between the newest entry and this one never get an entry.
    ///
    /// # Errors
    /// If the frame cannot have an entry any more, or the values don't fit the match.
    pub fn set_entry(&mut self, frame: Frame, values: &[Option<&[u8]>]) -> Result<(), EntryError> {
        self.own.push(frame, values)
    }

    /// Says in a frame's entry that no further entries follow. Call it for every frame until
    /// [`Client::is_passive`]; the next entry with a value ends it.
    ///
    /// # Errors
    /// If the frame cannot have an entry any more.
    pub fn set_passive(&mut self, frame: Frame) -> Result<(), EntryError> {
        self.own.push_passive(frame)
    }

    /// Sets whether the client has simulated all sealed frames and can play.
    pub const fn set_ready(&mut self, ready: bool) {
        self.says.is_ready = ready;
    }

    /// Leaves: says goodbye until the own rows have ended.
    pub const fn leave(&mut self) {
        self.says.is_leaving = true;
    }

    /// Handles a new link to a referee, which is told the held frames.
    pub fn handle_connected(&mut self, now: Micros) {
        self.now = now;
        self.clocks = Clocks::default();
        self.entered_at = None;
        self.enter();
    }

    /// Advances time, once per frame.
    pub fn tick(&mut self, now: Micros) {
        self.now = self.now.max(now);
        match self.phase {
            ClientPhase::Entering => self.enter(),
            ClientPhase::Following => self.is_packet_due = true,
            ClientPhase::Over(_) => {}
        }
    }

    fn enter(&mut self) {
        if self.entered_at.is_some_and(|at| self.now.since(at) < ENTER_INTERVAL)
            || matches!(self.phase, ClientPhase::Over(_))
        {
            return;
        }
        self.entered_at = Some(self.now);
        let held = self.lineage.clone().filter(|_| self.phase == ClientPhase::Following);
        self.send(&Message::Enter(held.map(|lineage| (lineage, self.log.sealed()))));
    }

    fn send(&mut self, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        self.outbox.push_back(bytes);
    }

    /// Next packet or message to send.
    pub fn poll_transmit(&mut self) -> Option<ClientTransmit<'_>> {
        if let Some(message) = self.outbox.pop_front() {
            self.buffer.clear();
            self.buffer.extend_from_slice(&message);
            return Some(ClientTransmit { is_reliable: true, bytes: &self.buffer });
        }
        if !std::mem::take(&mut self.is_packet_due) {
            return None;
        }
        self.write_packet();
        Some(ClientTransmit { is_reliable: false, bytes: &self.buffer })
    }

    fn write_packet(&mut self) {
        let sealed = self.log.sealed();
        let lanes = self.shape().lanes();
        let has_lanes = (0..lanes).any(|lane| self.log.sealed_lane(lane) > sealed);
        let epoch = self.lineage.as_ref().map_or(Epoch(0), Lineage::epoch);
        let mut most = ENTRIES_MAX;
        self.buffer.clear();
        let mut up = Up {
            epoch_low: epoch.low(),
            incarnation_low: self.stream.incarnation as u8,
            sealed_low: sealed.number() as u16,
            is_ready: self.says.is_ready && !self.says.is_leaving && !self.is_playing(),
            is_leaving: self.says.is_leaving,
            has_gap: std::mem::take(&mut self.says.has_gap),
            time: self.clocks.due(self.now),
            has_lanes,
            has_entries: false,
            has_passive: false,
        };
        let mut scratch = [0; PACKET_BYTES_MAX - 16];
        loop {
            let mut w = BitWriter::new(&mut scratch);
            let span = self.own.after(self.held.max(sealed), most);
            // Once the log says passive, further passive entries are not sent.
            let is_news = |span: &crate::packet::EntrySpan| {
                !(self.is_passive() && span.passive.count_ones() == span.count)
            };
            let span = span.filter(is_news);
            let written = (0..if has_lanes { lanes } else { 0 })
                .try_for_each(|lane| w.varint(self.log.sealed_lane(lane).since(sealed).into()))
                .and_then(|()| match &span {
                    Some(span) => span.write(sealed, &mut w).and_then(|()| self.own.write(span, &mut w)),
                    None => Ok(()),
                });
            if written.is_err() && most > 1 {
                most /= 2;
                continue;
            }
            up.has_entries = span.is_some();
            up.has_passive = span.is_some_and(|span| span.passive != 0);
            up.write(&mut self.buffer);
            self.buffer.extend_from_slice(w.finish());
            return;
        }
    }

    /// The next event. Poll until there is none.
    pub fn poll_event(&mut self) -> Option<ClientEvent> {
        self.events.pop()
    }

    /// Events that were dropped because they were not polled in time.
    pub const fn events_dropped(&self) -> u64 {
        self.events.dropped()
    }

    /// Handles a packet from the referee.
    ///
    /// # Errors
    /// If no referee writes such bytes, or they contradict earlier ones.
    pub fn handle_packet(&mut self, now: Micros, bytes: &[u8]) -> Result<(), ClientError> {
        self.now = self.now.max(now);
        let Some(lineage) = self.lineage.as_ref().filter(|_| self.phase == ClientPhase::Following) else {
            return Ok(());
        };
        let mut r = ByteReader::new(bytes);
        let head = Merged::read(&mut r)?;
        let is_of_term = head.epoch.0 == u32::from(lineage.epoch().low());
        let is_for_us = head.incarnation_low == self.stream.incarnation as u8;
        if !is_of_term && self.ablation.holds(Rule::PacketsAreOfOneTerm)
            || !is_for_us && self.ablation.holds(Rule::PacketsAreAddressed)
            || self.is_fenced() && self.ablation.holds(Rule::AnswersArePromises)
        {
            return Ok(());
        }
        let before = self.log.sealed();
        let unknown = DecodeError::Unknown { what: "sealed frame", value: head.sealed_low.into() };
        let sealed = complete(head.sealed_low, before).ok_or(unknown)?;
        if let Some((time, low)) = head.time {
            self.clocks.heard(self.now, time);
            self.low = low;
        }
        let mut bits = BitReader::new(r.rest());
        while bits.remaining() > 0 {
            let taken = lanes::read(&mut bits, sealed, &mut self.log, self.ablation)?;
            self.says.has_gap |= taken.is_gap;
        }
        self.learn(before);
        self.note_held(sealed, head.ahead);
        Ok(())
    }

    /// Entries the referee holds need not be sent again, as long as the row is the same.
    fn note_held(&mut self, sealed: Frame, ahead: Option<u8>) {
        let row = self.slots.iter().next().and_then(|slot| self.log.row(self.log.sealed(), slot));
        if let (Some(ahead), Some(row)) = (ahead, row)
            && row.stream == self.stream
            && row.first <= sealed
        {
            self.held = self.held.max(sealed + u32::from(ahead));
        }
    }

    /// Learns from newly sealed frames which own entries counted and which rows changed.
    fn learn(&mut self, before: Frame) {
        let Some(first_slot) = self.slots.iter().next() else { return };
        for number in before.number() + 1..=self.log.sealed().number() {
            let frame = Frame::new(number);
            let row = self.log.row(frame, first_slot);
            let is_own = row.is_some_and(|row| row.stream == self.stream);
            if !is_own || row.is_some_and(|row| row.first == frame) {
                // Entries held for another row are not held for the next.
                self.held = frame;
            }
            if !is_own || !self.own.has(frame) {
                continue;
            }
            let counted = match self.log.cell(frame, first_slot) {
                Cell::Made { .. } => true,
                Cell::Passive => self.own.is_passive(frame),
                _ => false,
            };
            if !counted && self.ablation.holds(Rule::OwnEntriesAreLearned) {
                self.events.push(ClientEvent::Refused { frame });
            }
        }
    }

    /// Handles a reliable message from the referee.
    ///
    /// # Errors
    /// If no referee writes such bytes.
    pub fn handle_message(&mut self, now: Micros, bytes: &[u8]) -> Result<(), ClientError> {
        self.now = self.now.max(now);
        match Message::read(bytes)? {
            Message::WhoAreYou(epoch) => self.answer(epoch),
            Message::Terms(lineage) => self.install(lineage),
            Message::Snapshot { lineage, checkpoint, state } => self.boot(lineage, checkpoint, state)?,
            Message::Over(reason) => {
                self.phase = ClientPhase::Over(reason);
                self.events.push(ClientEvent::Over { reason });
            }
            Message::Enter(_) | Message::Answer { .. } => {
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
        checkpoint::write_extract(&self.log, self.log.oldest(), &mut log);
        self.send(&Message::Answer { asked, lineage, log: &log });
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
            self.phase = ClientPhase::Entering;
            self.entered_at = None;
            self.lineage = None;
            self.events.push(ClientEvent::Reset);
            return;
        };
        self.log.truncate(kept);
        self.held = kept;
        self.events.push(ClientEvent::TermChanged { epoch: lineage.epoch(), kept, sealed });
        self.lineage = Some(lineage);
    }

    fn boot(&mut self, lineage: Lineage, checkpoint: &[u8], state: &[u8]) -> Result<(), ClientError> {
        if lineage.epoch() < self.promised || matches!(self.phase, ClientPhase::Over(_)) {
            return Ok(());
        }
        let mut log = Log::new(self.shape(), self.config.history_frames, self.config.lookahead());
        let mut r = ByteReader::new(checkpoint);
        checkpoint::read(&mut r, &mut log)?;
        r.finish("snapshot")?;
        if let Some(mine) = self.lineage.as_ref().filter(|_| self.phase == ClientPhase::Following) {
            // Within a term a snapshot can only lead ahead; one of an older term is ignored.
            let is_ahead = lineage == *mine && log.sealed() > self.log.sealed();
            if !is_ahead && lineage.epoch() <= mine.epoch() {
                return Ok(());
            }
        }
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
        let (frame, state) = (self.log.sealed(), state.to_vec());
        self.events.push(ClientEvent::SnapshotReceived { frame, state });
        Ok(())
    }
}
