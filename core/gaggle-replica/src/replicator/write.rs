//! Packets: headers, records and their baselines. Sending calls it until a peer's selection or
//! bandwidth is used up. Absent: which objects are selected.

use gaggle_kit::{BitWriter, BufferFull};

use super::Replicator;
use super::delta_cache::{Base, Copies, Written};
use crate::codec::Baselines;
use crate::config::PACKET_BYTES_MIN;
use crate::history::{NEVER, slot_of};
use crate::input_queue::INPUT_BITS_MAX;
use crate::input_relay::InputRelay;
use crate::layout::{Layout, RECORD_BITS_MAX};
use crate::packet::{HEADER_BYTES_MAX, HELD_NONE, HELD_UNIT_US, Header, RECORDS_MAX, mark};
use crate::record::{AuthorityFields, Form, Identity, Origin, write_handle};
use crate::sent::SentRecord;
use crate::session::SessionStats;
use crate::session::work::Work;
use crate::sink::{Register, Sink};
use crate::store::{KindStore, ObjectIndex, ObjectStore};
use crate::version::Record;

/// Most bits of a handle and the form of a record.
const RECORD_HEAD_BITS: usize = 20 + 13 + 1;
/// Most bits of an introduction, a claim and an origin.
const RECORD_ABOUT_BITS: usize = 1 + (8 + 32 + 40 + 9) + (40 + 40 + 2 + 9) + (40 + 32 + 8 + 32);
// A packet has room for a record of any kind that can be declared.
const _: () = assert!(
    HEADER_BYTES_MAX * 8 + RECORD_HEAD_BITS + RECORD_BITS_MAX as usize + RECORD_ABOUT_BITS
        <= PACKET_BYTES_MIN as usize * 8
);

/// Most bits of a record of any of these kinds.
pub(crate) fn record_bits_max(kinds: &[KindStore]) -> usize {
    let value = kinds.iter().map(|kind| kind.layout.bits_max()).max().unwrap_or(0);
    RECORD_HEAD_BITS + value + RECORD_ABOUT_BITS
}

impl Replicator {
    /// Header of the next packet, with no records yet.
    fn header(&self, work: &Work<'_>, index: usize) -> Header {
        let link = &work.peers[index];
        let (ack, acks) = link.inbound.received.acks();
        let held = work.cx.now.since(link.inbound.received_at).get() / HELD_UNIT_US;
        Header {
            mark: mark(link.handshake.epoch, link.handshake.their_epoch),
            seq: link.out.sent.next_seq() as u16,
            tick: work.cx.tick as u16,
            phase: self.phase,
            ack: ack as u16,
            held: if ack == 0 { HELD_NONE } else { u8::try_from(held).unwrap_or(HELD_NONE) },
            inputs: false,
            records: 0,
            ack_words: link.inbound.ack_words(),
            acks,
        }
    }

    /// Sends an acknowledgement at once, because so many packets came that the next tick's could
    /// not name all of them.
    pub(crate) fn acknowledge_at_once(&mut self, work: &mut Work<'_>, index: usize) {
        let header = self.header(work, index);
        let mut bytes = vec![0; header.bytes()];
        header.write(&mut bytes);
        let link = &mut work.peers[index];
        link.out.sent.packet(work.cx.tick, work.cx.now, 0, 0);
        link.out.sent_at = work.cx.now;
        link.inbound.unacknowledged = 0;
        link.out.budget -= bytes.len() as i64;
        work.cx.stats.packets_sent += 1;
        work.cx.stats.bytes_sent += bytes.len() as u64;
        let peer = link.id;
        work.cx.acks.push_back((peer, bytes));
    }

    /// Writes one packet with as many selected objects as fit. The first of a tick takes the
    /// inputs, so that the others have room for the largest record.
    pub(super) fn write_packet(
        &mut self,
        work: &mut Work<'_>,
        relay: &InputRelay,
        index: usize,
        is_first: bool,
    ) {
        let mut bytes = std::mem::take(&mut self.bytes);
        bytes.clear();
        bytes.resize(work.cx.config.packet_bytes_max, 0);
        let link = &work.peers[index];
        let seq = link.out.sent.next_seq();
        let mut header = self.header(work, index);
        let head = header.bytes();
        let tells_inputs = is_first && relay.is_told(&work.peers[index], work.members.roster());
        let players = work.members.me().player_count();
        let input_size =
            work.schema.kinds().input().map(|entry| entry.size * players).filter(|_| tells_inputs);
        let least = head
            + match (input_size, Replicator::next_selected(work, index)) {
                (Some(_), _) => INPUT_BITS_MAX / 8,
                // One record is written whatever its size; the excess is taken from the next ticks.
                (None, Some((_, place))) => Replicator::bits_max(work, index, place).div_ceil(8).max(64),
                (None, None) => 64,
            };
        let link = &work.peers[index];
        let limit = usize::try_from(link.out.budget).unwrap_or(0).clamp(least, bytes.len());
        let mut w = BitWriter::new(&mut bytes[head..limit]);
        let mut inputs = 0;
        if let Some(size) = input_size {
            header.inputs = true;
            let bits = usize::try_from(link.out.input_budget).unwrap_or(0) * 8;
            let written = relay.write(&mut w, link.out.inputs_acked, size, bits);
            inputs = written.expect("every packet has room for inputs");
        }
        let before_records = w.written();
        let mut line = Line { seq, before: -1, base: None, records: 0 };
        loop {
            self.write_updates(work, &mut w, index, &mut line);
            let Some((handle, place)) = Replicator::next_selected(work, index) else { break };
            if line.records == RECORDS_MAX || w.remaining() < Replicator::bits_max(work, index, place) {
                break;
            }
            work.peers[index].out.selected_next += 1;
            self.write_record(work, &mut w, index, place, handle, &mut line)
                .expect("there was room for the largest record");
        }
        header.records = line.records;
        let record_bytes = w.written() - before_records;
        let body = w.finish().len();
        header.write(&mut bytes);
        bytes.truncate(head + body);
        let link = &mut work.peers[index];
        link.out.sent.packet(work.cx.tick, work.cx.now, usize::from(header.records), inputs);
        link.out.sent_at = work.cx.now;
        link.inbound.owes_ack = false;
        link.inbound.unacknowledged = 0;
        link.out.budget -= bytes.len() as i64;
        if tells_inputs {
            let alone = if header.records == 0 { head } else { 0 };
            link.out.input_budget -= (alone + before_records.div_ceil(8)) as i64;
        }
        if header.records > 4 {
            let mean = ((record_bytes << 5) / usize::from(header.records)) as u32;
            link.out.record_size = link.out.record_size - link.out.record_size / 8 + mean / 8;
        }
        work.cx.stats.packets_sent += 1;
        work.cx.stats.bytes_sent += bytes.len() as u64;
        self.bytes = bytes;
    }

    /// Next object to send on a link. One that changed after this tick was captured has to wait for
    /// the next.
    fn next_selected(work: &mut Work<'_>, index: usize) -> Option<(u16, ObjectIndex)> {
        loop {
            let link = &mut work.peers[index];
            let &(handle, place) = link.out.selected.get(link.out.selected_next)?;
            if !work.objects[place].dirty && link.out.objects[place as usize].handle == Some(handle) {
                return Some((handle, place));
            }
            link.out.selected_next += 1;
        }
    }

    /// Most bits a record can take.
    fn bits_max(work: &Work<'_>, index: usize, place: ObjectIndex) -> usize {
        let out = &work.peers[index].out.objects[place as usize];
        let object = &work.objects[place];
        let Some(kind) = work.objects.kind(place) else { return RECORD_HEAD_BITS };
        let told = out.known && out.acked_stamp == object.stamp;
        RECORD_HEAD_BITS + kind.layout.bits_max() + if told { 0 } else { RECORD_ABOUT_BITS }
    }

    /// Writes records that need only the new value, the usual case: as many consecutive ones as
    /// surely fit.
    fn write_updates(&mut self, work: &mut Work<'_>, w: &mut BitWriter<'_>, index: usize, line: &mut Line) {
        let shared = work.peers.len() > 1;
        let Work { peers, objects: store, cx, members, schema, .. } = work;
        let me = members.me();
        let (link, tick, stats) = (&mut peers[index], cx.tick, &mut cx.stats);
        while let Some(&(handle, place)) = link.out.selected.get(link.out.selected_next) {
            let (out, object) = (&mut link.out.objects[place as usize], &store[place]);
            let mine = |record: &Record| record.version.authority == me.id && !record.gone;
            let is_plain = out.changed_tick == tick
                && out.handle == Some(handle)
                && out.known
                && out.acked_stamp == object.stamp
                && out.newest < tick
                && object.captured == tick
                && !object.dirty
                && object.record.as_ref().is_some_and(mine);
            if !is_plain || line.records == RECORDS_MAX || w.remaining() < schema.bits_max_of_all() {
                return;
            }
            link.out.selected_next += 1;
            let told = Told { tick, newer: out.newest, older: out.older_for(tick - out.newest) };
            let copies = if shared { Some((&mut self.copies, &*out)) } else { None };
            let mut head = Register::default();
            let written = write_handle(&mut head, line.before, handle)
                .and_then(|()| told.write(w, head, (store, place), copies, &mut line.base, stats));
            written.expect("there was room for the largest record");
            stats.updates_sent += 1;
            out.introduced = true;
            out.closing = false;
            out.told_in = line.seq;
            out.note_sent(tick);
            link.out.sent.record(SentRecord::new(place, handle, object.identity, Some(object.stamp)));
            line.wrote(handle);
        }
    }

    fn write_record(
        &mut self,
        work: &mut Work<'_>,
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
        let (stamp, identity) = (work.objects[place].stamp, work.objects[place].identity);
        let told = |close| SentRecord::new(place, handle, identity, if close { None } else { Some(stamp) });
        let wanted = work.wants(index, place);
        let Some(record) = work.objects[place].record.filter(|_| wanted) else {
            head.write(w)?;
            Form::Close.write(w)?;
            let gone = work.objects[place].record.is_none_or(|record| record.gone);
            w.bool(gone)?;
            let out = &mut work.peers[index].out.objects[place as usize];
            out.closed_in = seq;
            out.known = false;
            out.note_sent(work.cx.tick);
            work.peers[index].out.sent.record(told(true));
            return Ok(());
        };
        work.cx.stats.updates_sent += 1;
        if record.version.authority == work.members.me().id {
            self.write_own(work, w, head, index, place, &mut line.base)?;
        } else {
            head.write(w)?;
            Replicator::write_relay(work, w, index, place, &record)?;
        }
        let link = &mut work.peers[index];
        link.out.sent.record(told(false));
        let out = &mut link.out.objects[place as usize];
        out.introduced = true;
        out.closing = false;
        out.told_in = seq;
        out.note_sent(work.cx.tick);
        Ok(())
    }

    /// Writes a record under this peer's authority, as short as the receiver's baselines allow.
    /// `head` goes before it.
    fn write_own(
        &mut self,
        work: &mut Work<'_>,
        w: &mut BitWriter<'_>,
        head: Register,
        index: usize,
        place: ObjectIndex,
        base: &mut Option<Base>,
    ) -> Result<(), BufferFull> {
        // A value sent in a tick becomes a baseline under that tick.
        if work.objects[place].captured != work.cx.tick {
            work.objects.capture(place, work.cx.tick);
        }
        let out = &work.peers[index].out.objects[place as usize];
        let object = &work.objects[place];
        let Some(record) = &object.record else { return Ok(()) };
        if !out.known || out.acked_stamp != object.stamp || record.gone {
            work.cx.stats.updates_full += 1;
            head.write(w)?;
            if out.known {
                Form::Authority.write(w)?;
            } else {
                Form::Intro.write(w)?;
                identity(object.id, record).write(w)?;
            }
            authority(record).write(w)?;
            if !record.gone {
                work.objects.write_whole(w, place, !out.known)?;
            }
            return Ok(());
        }
        let newer = Some(out.newest).filter(|&tick| tick != NEVER && tick < work.cx.tick);
        let older = newer.and_then(|newer| out.older_for(work.cx.tick - newer));
        let told = Told { tick: work.cx.tick, newer: newer.unwrap_or(NEVER), older };
        let copies = if work.peers.len() > 1 { Some((&mut self.copies, out)) } else { None };
        told.write(w, head, (work.objects, place), copies, base, &mut work.cx.stats)
    }

    /// Writes a record of another authority, forwarded.
    fn write_relay(
        work: &mut Work<'_>,
        w: &mut BitWriter<'_>,
        index: usize,
        place: ObjectIndex,
        record: &Record,
    ) -> Result<(), BufferFull> {
        work.cx.stats.updates_full += 1;
        let out = work.peers[index].out.objects[place as usize];
        Form::Relay.write(w)?;
        w.bool(!out.known)?;
        if !out.known {
            identity(work.objects[place].id, record).write(w)?;
        }
        let version = record.version;
        Origin { holder: version.authority, player: record.player, tick: version.tick }.write(w)?;
        authority(record).write(w)?;
        if record.gone { Ok(()) } else { work.objects.write_whole(w, place, !out.known) }
    }
}

/// Position in a packet being written.
struct Line {
    /// Number of the packet.
    seq: u32,
    /// Handle of the record before, −1 at first.
    before: i32,
    /// Baselines of the record before.
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

/// A value sent in a tick, and the ticks of its baselines.
struct Told {
    tick: u32,
    newer: u32,
    older: Option<u32>,
}

impl Told {
    /// Writes the form and the value, as a difference if the baselines are still there.
    #[inline]
    fn write(
        &self,
        w: &mut BitWriter<'_>,
        mut head: Register,
        (store, place): (&ObjectStore, ObjectIndex),
        copies: Option<(&mut Copies, &crate::peers::Outgoing)>,
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
        let (layout, baselines, _) = self.baselines(store, place).expect("baselines that exist");
        write_difference(w, layout, store.value(place), &baselines)
    }

    /// A value as a difference to baselines of these ticks, if they still exist and the result
    /// surely fits a packet.
    fn difference(&self, store: &ObjectStore, place: ObjectIndex) -> Option<Written> {
        let (layout, baselines, base) = self.baselines(store, place)?;
        let mut bits = Register::default();
        // Writing to a `Register` never fails: it counts bits beyond its size, too.
        let _ = write_difference(&mut bits, layout, store.value(place), &baselines);
        (bits.written() <= RECORD_BITS_MAX).then_some(Written { base, bits })
    }

    /// Baselines of these ticks, as far as they still exist.
    #[inline]
    fn baselines<'a>(
        &self,
        store: &'a ObjectStore,
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

fn authority(record: &Record) -> AuthorityFields {
    AuthorityFields {
        hold: record.version.lock_seq,
        seq: record.version.claim_seq,
        held: record.held,
        gone: record.gone,
        owner_claim: record.owner_claim,
    }
}
