//! The client's side of the protocol: the log it holds and its own entries.
//!
//! A session (or a bot) owns one, passes entries and time to it, and simulates what its log
//! contains. Absent: the game, input types, the speed of the clock, sockets.

mod events;
mod messages;
mod own;

use std::collections::VecDeque;

use gaggle_kit::{BitReader, BitWriter, ByteReader, DecodeError, Frame, Micros};

use crate::ablation::{Ablation, Rule};
use crate::clocks::Clocks;
use crate::config::{ConfigError, SealConfig};
use crate::hello::Build;
use crate::lanes;
use crate::lineage::{Epoch, Lineage};
use crate::log::{Cell, Log};
use crate::packet::{ENTRIES_MAX, Merged, Up, complete};
use crate::roster::StreamId;
use crate::shape::{PACKET_BYTES_MAX, Shape, StreamSlots};
use events::Events;
pub use events::{ClientError, ClientEvent, ClientPhase, ClientTransmit};
use messages::States;
pub use own::EntryError;
use own::OwnEntries;

/// Time between two requests to enter.
const ENTER_INTERVAL: Micros = Micros::from_millis(500);

/// One client of a referee.
#[derive(Debug)]
pub struct Client {
    config: SealConfig,
    stream: StreamId,
    /// Empty for a spectator.
    slots: StreamSlots,
    build: Build,
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
    link: LinkState,
    states: States,
    now: Micros,
    out: Outbox,
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

/// What is known of the link to the referee.
#[derive(Debug, Default)]
struct LinkState {
    clocks: Clocks,
    /// How early own entries arrive at the referee, in quarter frames.
    low: Option<i8>,
    entered_at: Option<Micros>,
    /// `None` once the loss of the referee was reported, and before there was a link.
    heard_at: Option<Micros>,
}

impl LinkState {
    const fn heard(&mut self, now: Micros) {
        self.heard_at = Some(now);
    }
}

/// What waits to be sent.
#[derive(Debug)]
struct Outbox {
    messages: VecDeque<(u8, Vec<u8>)>,
    is_packet_due: bool,
    buffer: Vec<u8>,
}

impl Client {
    /// A client of this stream, which plays in these slots once it is ready.
    ///
    /// # Errors
    /// If the settings are out of range.
    pub fn new(config: SealConfig, stream: StreamId, slots: StreamSlots) -> Result<Client, ConfigError> {
        Client::with_ablation(config, stream, slots, Ablation::default())
    }

    /// A client that follows the match without a slot.
    ///
    /// # Errors
    /// If the settings are out of range.
    pub fn spectator(config: SealConfig, stream: StreamId) -> Result<Client, ConfigError> {
        Client::new(config, stream, StreamSlots::default())
    }

    /// Sets the fingerprints that the referee compares with those of its room.
    #[must_use]
    pub const fn with_build(mut self, build: Build) -> Client {
        self.build = build;
        self
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
            build: Build::default(),
            phase: ClientPhase::Entering,
            log: Log::new(shape, config.history_frames, config.lookahead()),
            lineage: None,
            match_id: None,
            promised: Epoch(0),
            own: OwnEntries::new(slots.len(), shape.value_bytes()),
            held: Frame::START,
            says: Says::default(),
            link: LinkState::default(),
            states: States::default(),
            now: Micros::ZERO,
            out: Outbox {
                messages: VecDeque::new(),
                is_packet_due: false,
                buffer: Vec::with_capacity(PACKET_BYTES_MAX),
            },
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
            && !self.slots.is_empty()
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
        self.link.low
    }

    /// Last round trip to the referee.
    pub fn rtt(&self) -> Option<Micros> {
        self.link.clocks.rtt()
    }

    /// Forgets how early entries were, because the caller moved its clock.
    pub const fn forget_slack(&mut self) {
        self.link.low = None;
    }

    /// Whether it follows the match without a slot.
    pub const fn is_spectator(&self) -> bool {
        self.slots.is_empty()
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

    /// Advances time, once per frame.
    pub fn tick(&mut self, now: Micros) {
        self.now = self.now.max(now);
        match self.phase {
            ClientPhase::Entering => self.enter(),
            ClientPhase::Following => self.out.is_packet_due = true,
            ClientPhase::Over(_) => return,
        }
        let is_lost = |heard: &mut Micros| self.now.since(*heard) >= self.config.abandon_timeout;
        if self.link.heard_at.take_if(is_lost).is_some() {
            self.events.push(ClientEvent::RefereeLost);
        }
    }

    /// Next packet or message to send.
    pub fn poll_transmit(&mut self) -> Option<ClientTransmit<'_>> {
        let (mut is_reliable, mut stream) = (true, 0);
        if let Some((number, message)) = self.out.messages.pop_front() {
            stream = number;
            self.out.buffer.clear();
            self.out.buffer.extend_from_slice(&message);
        } else if self.write_piece() {
            stream = 1;
        } else if std::mem::take(&mut self.out.is_packet_due) {
            is_reliable = false;
            self.write_packet();
        } else {
            return None;
        }
        Some(ClientTransmit { is_reliable, stream, bytes: &self.out.buffer })
    }

    fn write_packet(&mut self) {
        let sealed = self.log.sealed();
        let lanes = self.shape().lanes();
        let has_lanes = (0..lanes).any(|lane| self.log.sealed_lane(lane) > sealed);
        let epoch = self.lineage.as_ref().map_or(Epoch(0), Lineage::epoch);
        let mut most = ENTRIES_MAX;
        self.out.buffer.clear();
        let mut up = Up {
            epoch_low: epoch.low(),
            incarnation_low: self.stream.incarnation as u8,
            sealed_low: sealed.number() as u16,
            is_ready: self.says.is_ready && !self.says.is_leaving && !self.is_playing(),
            is_leaving: self.says.is_leaving,
            has_gap: std::mem::take(&mut self.says.has_gap),
            time: self.link.clocks.due(self.now),
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
            up.write(&mut self.out.buffer);
            self.out.buffer.extend_from_slice(w.finish());
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
        self.link.heard(self.now);
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
            self.link.clocks.heard(self.now, time);
            self.link.low = low;
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
}
