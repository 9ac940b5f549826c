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
        let (ack, acks, held) = link.inbound.acks(work.cx.now);
        let held = held.get() / HELD_UNIT_US;
        Header {
            mark: mark(link.handshake.epoch(), link.handshake.their_epoch()),
            seq: link.out.next_seq() as u16,
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
        link.out.note_packet(work.cx.tick, work.cx.now, 0, 0, bytes.len());
        link.inbound.note_early_ack();
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
        let seq = link.out.next_seq();
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
        let limit = usize::try_from(link.out.budget()).unwrap_or(0).clamp(least, bytes.len());
        let mut w = BitWriter::new(&mut bytes[head..limit]);
        let mut inputs = 0;
        if let Some(size) = input_size {
            header.inputs = true;
            let bits = usize::try_from(link.out.input_budget()).unwrap_or(0) * 8;
            let written = relay.write(&mut w, link.out.inputs_acked(), size, bits);
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
            work.peers[index].out.skip_selected();
            self.write_record(work, &mut w, index, place, handle, &mut line)
                .expect("there was room for the largest record");
        }
        header.records = line.records;
        let record_bits = w.written() - before_records;
        let body = w.finish().len();
        header.write(&mut bytes);
        bytes.truncate(head + body);
        let link = &mut work.peers[index];
        link.out.note_packet(work.cx.tick, work.cx.now, header.records, inputs, bytes.len());
        link.inbound.note_ack();
        if tells_inputs {
            let alone = if header.records == 0 { head } else { 0 };
            link.out.spend_on_inputs(alone + before_records.div_ceil(8));
        }
        link.out.note_record_bits(header.records, record_bits);
        work.cx.stats.packets_sent += 1;
        work.cx.stats.bytes_sent += bytes.len() as u64;
        self.bytes = bytes;
    }

    /// Next object to send on a link. One that changed after this tick was captured has to wait for
    /// the next.
    fn next_selected(work: &mut Work<'_>, index: usize) -> Option<(u16, ObjectIndex)> {
        loop {
            let link = &mut work.peers[index];
            let (handle, place) = link.out.next_selected()?;
            if !work.objects[place].dirty && link.out[place].handle() == Some(handle) {
                return Some((handle, place));
            }
            link.out.skip_selected();
        }
    }

    /// Most bits a record can take.
    fn bits_max(work: &Work<'_>, index: usize, place: ObjectIndex) -> usize {
        let out = &work.peers[index].out[place];
        let object = &work.objects[place];
        let Some(kind) = work.objects.kind(place) else { return RECORD_HEAD_BITS };
        let told = out.is_known() && out.has_record(object.stamp);
        RECORD_HEAD_BITS + kind.layout.bits_max() + if told { 0 } else { RECORD_ABOUT_BITS }
    }

    /// Writes records that need only the new value, the usual case: as many consecutive ones as
    /// surely fit.
    fn write_updates(&mut self, work: &mut Work<'_>, w: &mut BitWriter<'_>, index: usize, line: &mut Line) {
        let shared = work.peers.len() > 1;
        let Work { peers, objects: store, cx, members, schema, .. } = work;
        let me = members.me();
        let (link, tick, stats) = (&mut peers[index], cx.tick, &mut cx.stats);
        while let Some((handle, place)) = link.out.next_selected() {
            let (out, object) = (&link.out[place], &store[place]);
            let mine = |record: &Record| record.version.authority == me.id && !record.gone;
            let (newer, older) = out.baselines(tick);
            let is_plain = out.plain_handle(tick) == Some(handle)
                && out.has_record(object.stamp)
                && newer != NEVER
                && object.captured == tick
                && !object.dirty
                && object.record.as_ref().is_some_and(mine);
            if !is_plain || line.records == RECORDS_MAX || w.remaining() < schema.bits_max_of_all() {
                return;
            }
            link.out.skip_selected();
            let told = Told { tick, newer, older };
            let copies = if shared { Some((&mut self.copies, &link.out[place])) } else { None };
            let mut head = Register::default();
            let written = write_handle(&mut head, line.before, handle)
                .and_then(|()| told.write(w, head, (store, place), copies, &mut line.base, stats));
            written.expect("there was room for the largest record");
            stats.updates_sent += 1;
            link.out[place].note_told(line.seq, tick);
            link.out.record(SentRecord::new(place, handle, object.identity, Some(object.stamp)));
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
            work.peers[index].out[place].note_close_sent(seq, work.cx.tick);
            work.peers[index].out.record(told(true));
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
        link.out.record(told(false));
        link.out[place].note_told(seq, work.cx.tick);
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
        let out = &work.peers[index].out[place];
        let object = &work.objects[place];
        let Some(record) = &object.record else { return Ok(()) };
        if !out.is_known() || !out.has_record(object.stamp) || record.gone {
            work.cx.stats.updates_full += 1;
            head.write(w)?;
            if out.is_known() {
                Form::Authority.write(w)?;
            } else {
                Form::Intro.write(w)?;
                identity(object.id, record).write(w)?;
            }
            authority(record).write(w)?;
            if !record.gone {
                work.objects.write_whole(w, place, !out.is_known())?;
            }
            return Ok(());
        }
        let (newer, older) = out.baselines(work.cx.tick);
        let told = Told { tick: work.cx.tick, newer, older };
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
        let is_known = work.peers[index].out[place].is_known();
        Form::Relay.write(w)?;
        w.bool(!is_known)?;
        if !is_known {
            identity(work.objects[place].id, record).write(w)?;
        }
        let version = record.version;
        Origin { holder: version.authority, player: record.player, tick: version.tick }.write(w)?;
        authority(record).write(w)?;
        if record.gone { Ok(()) } else { work.objects.write_whole(w, place, !is_known) }
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

#[cfg(test)]
mod tests {
    use gaggle_kit::{ByteReader, Micros};

    use super::*;
    use crate::AuthorityPolicy;
    use crate::session::work::bench::Bench;

    /// A bench with this many objects selected for the peer, which has bandwidth.
    fn bench(count: u32) -> Bench {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        (bench.cx.tick, bench.cx.config.packet_bytes_max) = (5, PACKET_BYTES_MIN as usize);
        bench.cx.note_now(Micros::from_secs(1));
        bench.peers[0].out.earn(100_000, 100_000);
        let selected = (1..=count).map(|counter| {
            let place = bench.object(0, counter);
            (bench.peers[0].out.handle_of(place, 5).expect("one is free"), place)
        });
        let selected = selected.collect();
        bench.peers[0].out.select(selected);
        bench
    }

    fn packet(bench: &mut Bench, replicator: &mut Replicator) -> (Header, usize) {
        replicator.write_packet(&mut bench.work(), &InputRelay::default(), 0, true);
        let header = Header::read(&mut ByteReader::new(&replicator.bytes)).expect("it was just written");
        (header, replicator.bytes.len())
    }

    #[test]
    fn packet_counts_its_records_and_bytes() {
        let mut bench = bench(3);
        let (header, bytes) = packet(&mut bench, &mut Replicator::default());
        assert_eq!((header.seq, header.tick, header.records), (1, 5, 3));
        assert_eq!(bench.peers[0].out.budget(), 100_000 - bytes as i64);
        assert_eq!((bench.cx.stats.packets_sent, bench.cx.stats.updates_full), (1, 3));
        assert!(bench.peers[0].out.next_selected().is_none());
    }

    #[test]
    fn full_packet_leaves_rest_for_next() {
        let mut bench = bench(400);
        let mut replicator = Replicator::default();
        let mut sent = 0;
        while bench.peers[0].out.next_selected().is_some() {
            let (header, bytes) = packet(&mut bench, &mut replicator);
            assert!(header.records > 0 && bytes <= PACKET_BYTES_MIN as usize);
            sent += header.records;
        }
        assert_eq!(sent, 400);
        assert!(bench.cx.stats.packets_sent > 2, "{} packets", bench.cx.stats.packets_sent);
    }

    #[test]
    fn known_object_is_sent_as_difference() {
        let mut bench = bench(1);
        let mut replicator = Replicator::default();
        let (_, whole) = packet(&mut bench, &mut replicator);
        let stamp = bench.objects[0].stamp;
        let out = &mut bench.peers[0].out;
        assert!(out[0].handle_acked(1, true));
        out[0].note_record_acked(stamp);
        out[0].acknowledge(5);
        (bench.cx.tick, bench.objects[0].captured) = (6, 6);
        bench.objects.capture(0, 6);
        assert!(bench.peers[0].out.note_changed(0, 6));
        bench.peers[0].out.select(vec![(0, 0)]);
        let (header, short) = packet(&mut bench, &mut replicator);
        assert!(header.records == 1 && short < whole, "{short} of {whole} bytes");
        assert_eq!((bench.cx.stats.updates_sent, bench.cx.stats.updates_full), (2, 1));
    }

    #[test]
    fn object_changed_after_capture_waits() {
        let mut bench = bench(2);
        bench.objects.mark_dirty(0);
        let (header, _) = packet(&mut bench, &mut Replicator::default());
        assert_eq!(header.records, 1);
        assert!(bench.peers[0].out[1].was_introduced() && !bench.peers[0].out[0].was_introduced());
    }

    #[test]
    fn early_ack_leaves_ack_of_tick_owed() {
        let mut bench = bench(0);
        bench.peers[0].inbound.note_arrival(1, 1, Micros::from_secs(1), true);
        Replicator::default().acknowledge_at_once(&mut bench.work(), 0);
        let (_, bytes) = bench.cx.acks.pop_front().expect("it is sent");
        let header = Header::read(&mut ByteReader::new(&bytes)).expect("it was just written");
        assert_eq!((header.ack, header.records), (1, 0));
        assert!(bench.peers[0].inbound.owes_ack() && bench.peers[0].inbound.unacknowledged() == 0);
    }
}
