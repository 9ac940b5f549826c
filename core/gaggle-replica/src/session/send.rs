//! What goes out: one round of packets an interval, however slow the frames are.

use gaggle_kit::{BitWriter, BufferFull, Micros, PeerId};

use super::delta_cache::{Base, Copies, Written};
use super::select::Candidate;
use super::{Session, SessionStats};
use crate::codec::Baselines;
use crate::config::{PACKET_BYTES_MIN, ReplicaConfig};
use crate::driver::{BLOB_STREAM, MESSAGE_STREAM};
use crate::history::{NEVER, slot_of};
use crate::input_queue::INPUT_BITS_MAX;
use crate::interest::{AllRelevant, Interest};
use crate::layout::{Layout, RECORD_BITS_MAX};
use crate::link::Phase;
use crate::packet::{HEADER_BYTES_MAX, HELD_NONE, HELD_UNIT_US, Header, RECORDS_MAX, mark};
use crate::playout::Depth;
use crate::record::{Authority, Form, Identity, Origin, write_handle};
use crate::sent::SentRecord;
use crate::sink::{Register, Sink};
use crate::store::{KindStore, ObjectIndex, Store};
use crate::version::Record;

/// With nothing to tell, a packet goes out this often.
const KEEP_ALIVE: Micros = Micros::from_secs(1);
/// Before the first round trip is measured, a packet is taken for lost after so many ticks.
const TIMEOUT_TICKS: u32 = 12;
/// What a handle and the form of a record take at most.
const RECORD_HEAD_BITS: usize = 20 + 13 + 1;
/// What an introduction, a claim and an origin take at most.
const RECORD_ABOUT_BITS: usize = 1 + (8 + 32 + 40 + 9) + (40 + 40 + 2 + 9) + (40 + 32 + 8 + 32);
// Whatever kind can be declared, a packet has room for a record of it.
const _: () = assert!(
    HEADER_BYTES_MAX * 8 + RECORD_HEAD_BITS + RECORD_BITS_MAX as usize + RECORD_ABOUT_BITS
        <= PACKET_BYTES_MIN as usize * 8
);

/// What a record of any of these kinds takes at most.
pub(super) fn record_bits_max(kinds: &[KindStore]) -> usize {
    let value = kinds.iter().map(|kind| kind.layout.bits_max()).max().unwrap_or(0);
    RECORD_HEAD_BITS + value + RECORD_ABOUT_BITS
}

/// Something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// To whom.
    pub to: PeerId,
    /// Whether it must arrive: on the reliable channel, in order. Everything else may get lost.
    pub reliable: bool,
    /// In which stream of the reliable channel; 0 for what may get lost.
    pub stream: u8,
    /// What.
    pub bytes: &'a [u8],
}

/// How far the current round of sending is.
#[derive(Debug, Default)]
pub(super) struct Round {
    /// Links that have not been served yet.
    waiting: Vec<PeerId>,
    /// Whom we are sending to, and whether anything went out in this round.
    serving: Option<(PeerId, bool)>,
    phase: u8,
    copies: Copies,
    pub(super) candidates: Vec<Candidate>,
    /// Objects that nobody may know any more.
    pub(super) dropped: Vec<ObjectIndex>,
    /// Links and objects that changed and do not matter there.
    unweighed: Vec<(usize, ObjectIndex)>,
    bytes: Vec<u8>,
    pub(super) words: Vec<i32>,
}

impl Round {
    /// The link is gone.
    pub(super) fn abandon(&mut self, peer: PeerId) {
        self.waiting.retain(|other| *other != peer);
        if self.serving.is_some_and(|(other, _)| other == peer) {
            self.serving = None;
        }
    }
}

impl Session {
    /// Time passes. Call it once a frame, after the game has changed its objects; then drain
    /// [`poll_transmit`](Session::poll_transmit).
    pub fn tick(&mut self, now: Micros) {
        self.tick_with(now, None);
    }

    /// The same, with a say in what matters to whom.
    ///
    /// ```
    /// # use gaggle_replica::*;
    /// # fn tick(session: &mut Session, now: gaggle_kit::Micros, eyes: &[[f64; 3]]) {
    /// session.tick_with(now, Some(&mut |receiver: &Receiver, object: &ObjectRef<'_>| {
    ///     let (eye, place) = (eyes[usize::from(receiver.player.number())], object.position()?);
    ///     let distance = ((eye[0] - place[0]).powi(2) + (eye[1] - place[1]).powi(2)).sqrt();
    ///     (distance < 500.0).then(|| Relevance::by_distance(distance, 60.0))
    /// }));
    /// # }
    /// ```
    pub fn tick_with(&mut self, now: Micros, interest: Option<&mut dyn Interest>) {
        self.note_now(now);
        self.found_if_nobody_else_does();
        self.watch_over_links();
        self.keep_house();
        self.ask_for_blobs();
        let ReplicaConfig { send_interval: interval, playout_ticks_min, playout_ticks_max, .. } = self.config;
        let depth = Depth { interval, ticks_min: playout_ticks_min, ticks_max: playout_ticks_max };
        for link in &mut self.links {
            let newest = link.clock.time_of(link.their_tick);
            let lateness = link.lateness(self.now);
            link.playhead.advance(self.now, newest, lateness, depth);
        }
        self.let_depart();
        let started = self.started.unwrap_or(now);
        let interval = self.config.send_interval.get();
        let due = u32::try_from(self.now.since(started).get() / interval).unwrap_or(NEVER - 1).max(1);
        // Two rounds are never much closer than an interval, even if a slow frame comes between.
        let apart = self.tick == 0 || self.now.since(self.ticked_at).get() >= interval / 2;
        if due > self.tick && apart {
            let elapsed =
                if self.tick == 0 { self.config.send_interval } else { self.now.since(self.ticked_at) };
            let begun = Micros::new(started.get() + u64::from(due) * interval);
            self.round.phase = (self.now.since(begun).get() * 256 / interval).min(255) as u8;
            self.tick = due;
            self.ticked_at = self.now;
            self.correct_age();
            self.begin_round(elapsed, interest);
        }
    }

    fn begin_round(&mut self, elapsed: Micros, mut interest: Option<&mut dyn Interest>) {
        self.capture_changes();

        let interval = self.config.send_interval.get() as i64;
        let rate = i64::from(self.config.bytes_per_second);
        self.round.waiting.clear();
        self.round.serving = None;
        for index in 0..self.links.len() {
            let link = &mut self.links[index];
            link.next_tick();
            // Whatever the rate, a whole packet can be saved up for: some records take nearly that.
            let most = (rate * 2 * interval / 1_000_000).max(self.config.packet_bytes_max as i64);
            let earned = rate * elapsed.get() as i64 / 1_000_000;
            link.budget = (link.budget + earned).min(most);
            // However fast a player's hands are, half of what can be told is of objects.
            link.input_budget = (link.input_budget + earned / 2).min(most / 2);
            if link.their_epoch != 0 && link.present.is_some() && (self.is_member() || self.spectator) {
                self.round.waiting.push(self.links[index].peer);
                self.send_pieces(index, elapsed);
                self.give_up_lost(index);
                match &mut interest {
                    None => self.select(index, &mut AllRelevant),
                    Some(interest) => {
                        self.ask_interest(index, *interest);
                        self.select(index, *interest);
                    }
                }
            }
        }
        // Served from the end.
        self.round.waiting.reverse();
    }

    /// What changed gets the number of this tick and is due everywhere.
    fn capture_changes(&mut self) {
        let (tick, me) = (self.tick, self.me.id);
        let mut dirty = std::mem::take(&mut self.dirty);
        self.fresh.clear();
        dirty.retain(|&place| {
            let object = &mut self.store[place];
            object.dirty = false;
            let Some(record) = object.record.as_mut().filter(|record| record.version.authority == me) else {
                return false;
            };
            record.version.tick = tick;
            let gone = record.gone;
            if object.captured == NEVER {
                self.fresh.push(place);
            }
            object.captured = tick;
            self.store.capture(place, tick);
            if gone {
                for link in 0..self.links.len() {
                    self.refresh_link(link, place);
                }
            }
            !gone
        });
        for (index, link) in self.links.iter_mut().enumerate().filter(|(_, link)| link.present.is_some()) {
            for &place in &dirty {
                let out = &mut link.out[place as usize];
                if out.matters {
                    out.changed_tick = tick;
                    link.make_due(place);
                } else {
                    self.round.unweighed.push((index, place));
                }
            }
        }
        // What is not this receiver's business may have to be told it all the same.
        while let Some((link, place)) = self.round.unweighed.pop() {
            self.refresh_link(link, place);
        }
        dirty.clear();
        self.dirty = dirty;
    }

    /// What was in lost packets is due again, more urgently than before.
    fn give_up_lost(&mut self, index: usize) {
        let interval = self.config.send_interval.get();
        let timeout = self.links[index]
            .rtt
            .map_or(TIMEOUT_TICKS, |rtt| u32::try_from(2 * rtt.get() / interval).unwrap_or(1_000) + 5);
        let me = self.me.id;
        let link = &mut self.links[index];
        while let Some((tick, records)) = link.sent.next_lost(self.tick, timeout) {
            for told in records {
                let out = &mut link.out[told.object as usize];
                if out.handle != Some(told.handle) || out.sent_tick != tick {
                    continue;
                }
                let object = &self.store[told.object];
                let mine = object.record.is_some_and(|record| record.version.authority == me);
                let newer_arrived = mine && out.newest != NEVER && out.newest >= tick;
                if !newer_arrived {
                    out.priority = out.priority.saturating_add(out.paid).saturating_add(128);
                    out.paid = 0;
                }
                if out.phase != Phase::Flying {
                    continue;
                }
                out.phase = Phase::Due;
                if !std::mem::replace(&mut out.listed, true) {
                    link.due.push(told.object);
                }
            }
        }
    }

    /// The next thing to send, if any is left in this round.
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        if let Some((to, bytes)) = self.acks.pop_front() {
            self.round.bytes = bytes;
            return Some(Transmit { to, reliable: false, stream: 0, bytes: &self.round.bytes });
        }
        if let Some((to, bytes)) = self.messages.pop_front() {
            self.round.bytes = bytes;
            return Some(Transmit { to, reliable: true, stream: MESSAGE_STREAM, bytes: &self.round.bytes });
        }
        if let Some((to, bytes)) = self.pieces.pop_front() {
            self.round.bytes = bytes;
            return Some(Transmit { to, reliable: true, stream: BLOB_STREAM, bytes: &self.round.bytes });
        }
        loop {
            let Some((peer, sent)) = self.round.serving else {
                let peer = self.round.waiting.pop()?;
                self.round.serving = Some((peer, false));
                continue;
            };
            let Some(link) = self.link_of(peer) else {
                self.round.serving = None;
                continue;
            };
            let state = &self.links[link];
            let overdue =
                state.owes_ack || self.tells_inputs(link) || self.now.since(state.sent_at) >= KEEP_ALIVE;
            let more = state.selected_next < state.selected.len() && (!sent || state.budget > 0);
            if !more && (sent || !overdue) {
                self.round.serving = None;
                continue;
            }
            self.round.serving = Some((peer, true));
            self.write_packet(link, !sent);
            return Some(Transmit { to: peer, reliable: false, stream: 0, bytes: &self.round.bytes });
        }
    }

    /// The head of the next packet, without anything in it.
    fn header(&self, index: usize) -> Header {
        let link = &self.links[index];
        let (ack, acks) = link.received.acks();
        let held = self.now.since(link.received_at).get() / HELD_UNIT_US;
        Header {
            mark: mark(link.epoch, link.their_epoch),
            seq: link.sent.next_seq() as u16,
            tick: self.tick as u16,
            phase: self.round.phase,
            ack: ack as u16,
            held: if ack == 0 { HELD_NONE } else { u8::try_from(held).unwrap_or(HELD_NONE) },
            inputs: false,
            records: 0,
            ack_words: link.ack_words(),
            acks,
        }
    }

    /// Acknowledges what came without waiting for the next round, after which it could not be named
    /// any more.
    pub(super) fn acknowledge_at_once(&mut self, index: usize) {
        let header = self.header(index);
        let mut bytes = vec![0; header.bytes()];
        header.write(&mut bytes);
        let link = &mut self.links[index];
        link.sent.packet(self.tick, self.now, 0, 0);
        link.sent_at = self.now;
        link.unacknowledged = 0;
        link.budget -= bytes.len() as i64;
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += bytes.len() as u64;
        let peer = link.peer;
        self.acks.push_back((peer, bytes));
    }

    /// Writes one packet with as many of the selected as fit. The first of a round takes the
    /// inputs, so that the others have room for the largest record.
    fn write_packet(&mut self, index: usize, is_first: bool) {
        let mut bytes = std::mem::take(&mut self.round.bytes);
        bytes.clear();
        bytes.resize(self.config.packet_bytes_max, 0);
        let link = &self.links[index];
        let seq = link.sent.next_seq();
        let mut header = self.header(index);
        let head = header.bytes();
        let tells_inputs = is_first && self.tells_inputs(index);
        let input_size = self.kinds.input().map(|entry| entry.size).filter(|_| tells_inputs);
        let least = head
            + match (input_size, self.next_selected(index)) {
                (Some(_), _) => INPUT_BITS_MAX / 8,
                // One record is written whatever it takes; what goes beyond the budget is missing
                // from the next.
                (None, Some((_, place))) => self.bits_max(index, place).div_ceil(8).max(64),
                (None, None) => 64,
            };
        let link = &self.links[index];
        let limit = usize::try_from(link.budget).unwrap_or(0).clamp(least, bytes.len());
        let mut w = BitWriter::new(&mut bytes[head..limit]);
        let mut inputs = 0;
        if let Some(size) = input_size {
            header.inputs = true;
            let bits = usize::try_from(link.input_budget).unwrap_or(0) * 8;
            let written = self.inputs.write(&mut w, link.inputs_acked, size, bits);
            inputs = written.expect("there is room for inputs in every packet");
        }
        let before_records = w.written();
        let mut line = Line { seq, before: -1, base: None, records: 0 };
        loop {
            self.write_updates(&mut w, index, &mut line);
            let Some((handle, place)) = self.next_selected(index) else { break };
            if line.records == RECORDS_MAX || w.remaining() < self.bits_max(index, place) {
                break;
            }
            self.links[index].selected_next += 1;
            self.write_record(&mut w, index, place, handle, &mut line)
                .expect("there was room for the largest record");
        }
        header.records = line.records;
        let record_bytes = w.written() - before_records;
        let body = w.finish().len();
        header.write(&mut bytes);
        bytes.truncate(head + body);
        let link = &mut self.links[index];
        link.sent.packet(self.tick, self.now, usize::from(header.records), inputs);
        link.sent_at = self.now;
        link.owes_ack = false;
        link.unacknowledged = 0;
        link.budget -= bytes.len() as i64;
        if tells_inputs {
            let alone = if header.records == 0 { head } else { 0 };
            link.input_budget -= (alone + before_records.div_ceil(8)) as i64;
        }
        if header.records > 4 {
            let mean = ((record_bytes << 5) / usize::from(header.records)) as u32;
            link.record_size = link.record_size - link.record_size / 8 + mean / 8;
        }
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += bytes.len() as u64;
        self.round.bytes = bytes;
    }

    /// The next object to tell a link about. One that changed since this tick was taken has to wait
    /// for the next.
    fn next_selected(&mut self, index: usize) -> Option<(u16, ObjectIndex)> {
        loop {
            let link = &mut self.links[index];
            let &(handle, place) = link.selected.get(link.selected_next)?;
            if !self.store[place].dirty && link.out[place as usize].handle == Some(handle) {
                return Some((handle, place));
            }
            link.selected_next += 1;
        }
    }

    /// How many bits a record can take.
    fn bits_max(&self, index: usize, place: ObjectIndex) -> usize {
        let out = &self.links[index].out[place as usize];
        let object = &self.store[place];
        let Some(kind) = self.store.kind(place) else { return RECORD_HEAD_BITS };
        let told = out.known && out.acked_stamp == object.stamp;
        RECORD_HEAD_BITS + kind.layout.bits_max() + if told { 0 } else { RECORD_ABOUT_BITS }
    }

    /// Records of objects of which a receiver knows everything but the new value, as nearly always:
    /// as many as follow one another and surely fit.
    fn write_updates(&mut self, w: &mut BitWriter<'_>, index: usize, line: &mut Line) {
        let shared = self.links.len() > 1;
        let Session { links, store, round, stats, tick, me, bits_max_of_all, .. } = self;
        let (link, tick) = (&mut links[index], *tick);
        while let Some(&(handle, place)) = link.selected.get(link.selected_next) {
            let (out, object) = (&mut link.out[place as usize], &store[place]);
            let mine = |record: &Record| record.version.authority == me.id && !record.gone;
            let is_plain = out.changed_tick == tick
                && out.handle == Some(handle)
                && out.known
                && out.acked_stamp == object.stamp
                && out.newest < tick
                && object.captured == tick
                && !object.dirty
                && object.record.as_ref().is_some_and(mine);
            if !is_plain || line.records == RECORDS_MAX || w.remaining() < *bits_max_of_all {
                return;
            }
            link.selected_next += 1;
            let told = Told { tick, newer: out.newest, older: out.older_for(tick - out.newest) };
            let copies = if shared { Some((&mut round.copies, &*out)) } else { None };
            let mut head = Register::default();
            let written = write_handle(&mut head, line.before, handle)
                .and_then(|()| told.write(w, head, (store, place), copies, &mut line.base, stats));
            written.expect("there was room for the largest record");
            stats.updates_sent += 1;
            out.introduced = true;
            out.closing = false;
            out.told_in = line.seq;
            out.note_sent(tick);
            link.sent.record(SentRecord::new(place, handle, object.identity, Some(object.stamp)));
            line.wrote(handle);
        }
    }

    fn write_record(
        &mut self,
        w: &mut BitWriter<'_>,
        index: usize,
        place: ObjectIndex,
        handle: u16,
        line: &mut Line,
    ) -> Result<(), BufferFull> {
        let mut head = Register::default();
        write_handle(&mut head, line.before, handle)?;
        line.wrote(handle);
        let seq = line.seq;
        let (stamp, identity) = (self.store[place].stamp, self.store[place].identity);
        let told = |close| SentRecord::new(place, handle, identity, if close { None } else { Some(stamp) });
        let wanted = self.wants(index, place);
        let Some(record) = self.store[place].record.filter(|_| wanted) else {
            head.write(w)?;
            Form::Close.write(w)?;
            let gone = self.store[place].record.is_none_or(|record| record.gone);
            w.bool(gone)?;
            let out = &mut self.links[index].out[place as usize];
            out.closed_in = seq;
            out.known = false;
            out.note_sent(self.tick);
            self.links[index].sent.record(told(true));
            return Ok(());
        };
        self.stats.updates_sent += 1;
        if record.version.authority == self.me.id {
            self.write_own(w, head, index, place, &record, &mut line.base)?;
        } else {
            head.write(w)?;
            self.write_relay(w, index, place, &record)?;
        }
        let link = &mut self.links[index];
        link.sent.record(told(false));
        let out = &mut link.out[place as usize];
        out.introduced = true;
        out.closing = false;
        out.told_in = seq;
        out.note_sent(self.tick);
        Ok(())
    }

    /// A record of an object of ours, as short as what the receiver has allows. `head` goes before
    /// it.
    fn write_own(
        &mut self,
        w: &mut BitWriter<'_>,
        head: Register,
        index: usize,
        place: ObjectIndex,
        record: &Record,
        base: &mut Option<Base>,
    ) -> Result<(), BufferFull> {
        // Whatever is told in a tick can be built on under that tick.
        if self.store[place].captured != self.tick {
            self.store.capture(place, self.tick);
        }
        let out = &self.links[index].out[place as usize];
        let object = &self.store[place];
        if !out.known || out.acked_stamp != object.stamp || record.gone {
            self.stats.updates_full += 1;
            head.write(w)?;
            if out.known {
                Form::Authority.write(w)?;
            } else {
                Form::Intro.write(w)?;
                identity(object.id, record).write(w)?;
            }
            authority(record).write(w)?;
            if !record.gone {
                self.store.write_whole(w, place, !out.known)?;
            }
            return Ok(());
        }
        let newer = Some(out.newest).filter(|&tick| tick != NEVER && tick < self.tick);
        let older = newer.and_then(|newer| out.older_for(self.tick - newer));
        let told = Told { tick: self.tick, newer: newer.unwrap_or(NEVER), older };
        let copies = if self.links.len() > 1 { Some((&mut self.round.copies, out)) } else { None };
        told.write(w, head, (&self.store, place), copies, base, &mut self.stats)
    }

    /// Somebody else's record.
    fn write_relay(
        &mut self,
        w: &mut BitWriter<'_>,
        index: usize,
        place: ObjectIndex,
        record: &Record,
    ) -> Result<(), BufferFull> {
        self.stats.updates_full += 1;
        let out = self.links[index].out[place as usize];
        Form::Relay.write(w)?;
        w.bool(!out.known)?;
        if !out.known {
            identity(self.store[place].id, record).write(w)?;
        }
        let version = record.version;
        Origin { holder: version.authority, player: record.player, tick: version.tick }.write(w)?;
        authority(record).write(w)?;
        if record.gone { Ok(()) } else { self.store.write_whole(w, place, !out.known) }
    }
}

/// How far a packet is written.
struct Line {
    /// The number of the packet.
    seq: u32,
    /// The handle of the record before, −1 at first.
    before: i32,
    /// What the record before is built on.
    base: Option<Base>,
    records: u16,
}

impl Line {
    #[inline]
    fn wrote(&mut self, handle: u16) {
        self.before = i32::from(handle);
        self.records += 1;
    }
}

/// A value of ours that is told in a tick, and the ticks of the values it is to be built on.
struct Told {
    tick: u32,
    newer: u32,
    older: Option<u32>,
}

impl Told {
    /// Writes the form and the value, as a difference if the values to build on are still there.
    #[inline]
    fn write(
        &self,
        w: &mut BitWriter<'_>,
        mut head: Register,
        (store, place): (&Store, ObjectIndex),
        copies: Option<(&mut Copies, &crate::link::Outgoing)>,
        base: &mut Option<Base>,
        stats: &mut SessionStats,
    ) -> Result<(), BufferFull> {
        let kept = copies.as_ref().and_then(|(copies, out)| copies.usable(place, self.tick, out)).copied();
        let copy = match kept {
            Some(copy) => copy,
            None => {
                let Some(copy) = self.difference(store, place) else {
                    stats.updates_full += 1;
                    head.write(w)?;
                    Form::Absolute.write(w)?;
                    return store.write_whole(w, place, false);
                };
                if let Some((copies, _)) = copies.filter(|_| copy.bits.is_whole()) {
                    copies.put(place, self.tick, copy);
                }
                copy
            }
        };
        let form = match copy.base {
            _ if *base == Some(copy.base) => Form::Plain,
            (newer, NEVER) => Form::Single(slot_of(newer)),
            (newer, older) => Form::Pair(slot_of(newer), slot_of(older)),
        };
        *base = Some(copy.base);
        form.write(&mut head)?;
        if copy.bits.is_whole() {
            return copy.bits.write_after(head, w);
        }
        head.write(w)?;
        let (layout, baselines, _) = self.baselines(store, place).expect("they were there a moment ago");
        write_difference(w, layout, store.value(place), &baselines)
    }

    /// A value as a difference to values of these ticks, if they can still be built on and it
    /// surely fits a packet.
    fn difference(&self, store: &Store, place: ObjectIndex) -> Option<Written> {
        let (layout, baselines, base) = self.baselines(store, place)?;
        let mut bits = Register::default();
        // A register takes whatever comes.
        let _ = write_difference(&mut bits, layout, store.value(place), &baselines);
        (bits.written() <= RECORD_BITS_MAX).then_some(Written { base, bits })
    }

    /// The values to build on, as far as they are there.
    #[inline]
    fn baselines<'a>(
        &self,
        store: &'a Store,
        place: ObjectIndex,
    ) -> Option<(&'a Layout, Baselines<'a>, Base)> {
        let (kind, history) = (store.kind(place)?, store[place].history);
        let newer = kind.histories.at(history, Some(self.newer).filter(|&tick| tick != NEVER)?)?;
        let older = self.older.and_then(|tick| Some((tick, kind.histories.at(history, tick)?)));
        let base = (self.newer, older.map_or(NEVER, |(tick, _)| tick));
        let older = older.map(|(tick, value)| (value, self.newer - tick));
        Some((&kind.layout, Baselines::new(newer, self.tick - self.newer, older), base))
    }
}

#[inline]
fn write_difference(
    w: &mut impl Sink,
    layout: &Layout,
    value: &[i32],
    baselines: &Baselines<'_>,
) -> Result<(), BufferFull> {
    let expected = layout.is_expected(value, baselines);
    w.bool(expected)?;
    if expected { Ok(()) } else { layout.write_difference(w, value, baselines) }
}

fn identity(id: crate::ObjectId, record: &Record) -> Identity {
    Identity { kind: record.kind, id, home: record.home }
}

fn authority(record: &Record) -> Authority {
    Authority {
        hold: record.version.lock_seq,
        seq: record.version.claim_seq,
        held: record.held,
        gone: record.gone,
        owner_claim: record.owner_claim,
    }
}
