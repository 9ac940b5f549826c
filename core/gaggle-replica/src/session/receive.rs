//! What comes in: acknowledgements, and records of objects, which `decode.rs` has read.

use gaggle_kit::{ByteReader, DecodeError, Micros, PeerId};

use super::Session;
use super::decode::{Arrival, Decoded, Unusable, What};
use crate::ablation::Rule;
use crate::event::{PeerFault, SessionEvent};
use crate::history::NEVER;
use crate::link::{Incoming, LinkRecord, NONE, Phase};
use crate::packet::{HELD_NONE, HELD_UNIT_US, Header, mark, widen};
use crate::record::Identity;
use crate::store::ObjectIndex;
use crate::version::{Record, Version};

/// An acknowledgement names 128 packets: if more come between two rounds, some would never be
/// acknowledged, and what was in them would be told again and again. Twice as often as needed,
/// because acknowledgements get lost, too.
const ACKNOWLEDGE_AFTER: u32 = 64;
/// Acknowledgements that wait to be sent; nobody sends so much between two rounds.
const ACKS_MAX: usize = 64;
/// No round trip counts for longer: packets are kept until they are taken for lost, and that
/// depends on it.
const RTT_MAX: Micros = Micros::from_secs(2);
/// Refused deletions kept for a link; honest peers cause a few.
const REFUSED_MAX: usize = 4_096;

impl Session {
    /// A packet arrived.
    pub fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
        self.note_now(now);
        let Some(link) = self.link_of(peer) else { return };
        let mut r = ByteReader::new(bytes);
        let header = match Header::read(&mut r) {
            Ok(header) => header,
            Err(error) => return self.fault(peer, PeerFault::Malformed(error)),
        };
        let state = &self.links[link];
        let addressed = header.mark == mark(state.their_epoch, state.epoch)
            || !self.ablation.holds(Rule::PacketsAreAddressed);
        let fresh = state.received.fresh(header.seq);
        // A packet can overtake the hello that says its sender is a member: nothing of it counts,
        // so it is not acknowledged.
        let Some(seq) = fresh.filter(|_| addressed && state.present.is_some()) else {
            self.stats.packets_dropped += 1;
            return;
        };
        if state.spectator && (header.records > 0 || header.inputs) {
            return self.fault(peer, PeerFault::SpectatorWrote);
        }
        let tick = widen(state.their_tick, header.tick);
        let newest = state.received.acks().0;
        // Before the first packet the tick is that of a hello, which may have overtaken it.
        if newest > 0 && seq > newest && tick < state.their_tick {
            return self.fault(peer, PeerFault::TickRegressed { tick, before: state.their_tick });
        }
        if let Err(fault) = self.handle_acks(link, &header) {
            return self.fault(peer, fault);
        }
        let inputs = match (header.inputs, self.kinds.input()) {
            (false, _) => None,
            (true, Some(entry)) => Some(entry.size),
            (true, None) => {
                let unknown = DecodeError::Unknown { what: "inputs", value: 1 };
                return self.fault(peer, PeerFault::Malformed(unknown));
            }
        };
        let arrival = Arrival { seq, tick, records: header.records, inputs };
        match self.decoder.read(&self.store, &self.links[link], arrival, r.rest()) {
            Ok(()) => {}
            Err(Unusable::Late) => {
                self.stats.packets_dropped += 1;
                return;
            }
            Err(Unusable::Malformed(error)) => return self.fault(peer, PeerFault::Malformed(error)),
        }
        if !self.has_room() {
            // As if it had not come: whoever sent it tries again, and is not to blame for what
            // others made.
            self.stats.packets_dropped += 1;
            return;
        }
        let state = &mut self.links[link];
        if seq > state.received.acks().0 {
            state.received_at = now;
            state.their_tick = tick;
        }
        state.heard_at = self.now;
        state.received.note(seq);
        state.unacknowledged += 1;
        state.clock.note(now, tick, header.phase);
        state.note_arrival();
        state.owes_ack |= header.records > 0 || header.inputs;
        self.stats.packets_received += 1;
        if let Err(fault) = self.commit_inputs(link).and_then(|()| self.commit(link, arrival)) {
            return self.fault(peer, fault);
        }
        if self.links[link].unacknowledged >= ACKNOWLEDGE_AFTER && self.acks.len() < ACKS_MAX {
            self.acknowledge_at_once(link);
        }
    }

    /// Whether the objects of the packet that was read can be kept: those of one packet beyond the
    /// limit at most.
    fn has_room(&self) -> bool {
        let is_new = |record: &Decoded| match record.what {
            What::Intro(identity, _) | What::Relay(Some(identity), ..) => {
                self.store.find(identity.id).is_none()
            }
            _ => false,
        };
        self.store.len() < self.config.objects_max || !self.decoder.records.iter().any(is_new)
    }

    fn handle_acks(&mut self, link: usize, header: &Header) -> Result<(), PeerFault> {
        let newest = self.links[link].sent.next_seq() - 1;
        let ack = widen(newest, header.ack);
        // Nothing received yet is told as 0, which nearest to a small number can be one below it.
        if ack == 0 || ack > u32::MAX / 2 {
            return Ok(());
        }
        if ack > newest {
            return Err(PeerFault::AckBeyondSent { seq: ack, newest });
        }
        if let Some(sent_at) = self.acknowledge(link, ack)
            && header.held != HELD_NONE
        {
            let held = Micros::new(u64::from(header.held) * HELD_UNIT_US);
            let sample = self.now.since(sent_at).since(held).min(RTT_MAX);
            let link = &mut self.links[link];
            link.rtt = Some(match link.rtt {
                None => sample,
                Some(rtt) => Micros::new((rtt.get() * 7 + sample.get()) / 8),
            });
        }
        let mut before = header.acks;
        while before != 0 {
            let age = before.trailing_zeros();
            before &= before - 1;
            if let Some(seq) = ack.checked_sub(age + 1).filter(|&seq| seq > 0) {
                self.acknowledge(link, seq);
            }
        }
        Ok(())
    }

    /// A packet arrived at the other side: when it was sent, if that is news.
    fn acknowledge(&mut self, index: usize, seq: u32) -> Option<Micros> {
        let inputs = self.links[index].sent.inputs_in(seq);
        if inputs > 0 {
            self.inputs_arrived(index, inputs);
        }
        let link = &mut self.links[index];
        let (tick, sent_at, records) = link.sent.acknowledge(seq)?;
        let mut closed = Vec::new();
        for told in records {
            let out = &mut link.out[told.object as usize];
            if out.handle != Some(told.handle) {
                continue;
            }
            let Some(stamp) = told.stamp() else {
                // Not if it was opened again since.
                if out.closing && out.told_in < seq {
                    out.closing = false;
                    out.handle = None;
                    out.forget_acks();
                    if out.phase == Phase::Flying {
                        out.phase = Phase::Idle;
                    }
                    link.handles.give(told.handle, self.tick);
                    out.introduced &= self.ablation.holds(Rule::CloseForgetsNothing);
                    closed.push(told.object);
                }
                continue;
            };
            if out.closed_in > seq {
                // It may have been told and then closed.
                continue;
            }
            let object = &mut self.store[told.object];
            out.known |= told.identity == object.identity;
            let any_ack_pays = !self.ablation.holds(Rule::OnlyTheirAckPays);
            if stamp != object.stamp {
                if any_ack_pays && out.owed {
                    out.owed = false;
                    object.owed -= 1;
                }
                continue;
            }
            out.acked_stamp = stamp;
            if out.owed {
                out.owed = false;
                object.owed -= 1;
            }
            let Some(record) = object.record else { continue };
            let mine = record.version.authority == self.me.id;
            if mine && !record.gone {
                out.acknowledge(tick);
                let all_told = !object.dirty && object.captured != NEVER && out.newest >= object.captured;
                if out.phase == Phase::Flying && all_told {
                    out.phase = Phase::Idle;
                }
            } else if out.phase == Phase::Flying {
                out.phase = Phase::Idle;
            }
            if record.gone && !out.closing {
                // Nothing more will be said about it: the handle is free for another.
                closed.push(told.object);
            }
        }
        for place in closed {
            if self.store[place].record.is_some_and(|record| record.gone) {
                self.close(index, place);
            } else {
                self.forget_unmentioned(place);
            }
        }
        Some(sent_at)
    }

    /// Believes what was read: every record goes into the link's table, and the newest is judged.
    fn commit(&mut self, link: usize, arrival: Arrival) -> Result<(), PeerFault> {
        let Some(sender) = self.links[link].present else { return Ok(()) };
        for index in 0..self.decoder.records.len() {
            let Decoded { handle, what, kind, value } = self.decoder.records[index];
            let (tick, seq) = (arrival.tick, arrival.seq);
            let (authority, origin) = match what {
                What::Close { gone } => {
                    self.commit_close(link, handle, seq, gone);
                    continue;
                }
                What::Intro(identity, authority) => {
                    if !self.open(link, handle, seq, &identity, value, authority.gone)? {
                        continue;
                    }
                    (Some(authority), None)
                }
                What::Relay(Some(identity), origin, authority) => {
                    if !self.open(link, handle, seq, &identity, value, authority.gone)? {
                        continue;
                    }
                    (Some(authority), Some(origin))
                }
                What::Relay(None, origin, authority) => (Some(authority), Some(origin)),
                What::Authority(authority) => (Some(authority), None),
                What::Value => (None, None),
            };
            self.stats.updates_received += 1;
            let incoming = &mut self.links[link].table[usize::from(handle)];
            if !incoming.is_open() || incoming.kind != kind {
                continue;
            }
            let store = &mut self.store.kinds[usize::from(kind)];
            let words = &self.decoder.words[value..value + store.layout.words];
            if origin.is_none() {
                if authority.is_none_or(|authority| !authority.gone) {
                    store.histories.put(&mut incoming.history, tick, words);
                }
                if let Some(authority) = authority
                    && incoming.authority.is_none_or(|(_, since)| since <= tick)
                {
                    incoming.authority = Some((authority, tick));
                }
                if incoming.newest == NEVER || incoming.newest < tick {
                    incoming.newest = tick;
                }
            }
            let authority = match (authority, incoming.authority) {
                (Some(authority), _) => authority,
                (None, Some((authority, since))) if since <= tick => authority,
                // From before the newest claim: good to build on, no more.
                _ => continue,
            };
            let (holder, player, tick) = match origin.filter(|origin| origin.holder != sender.id) {
                Some(origin) => (origin.holder, origin.player, origin.tick),
                // In its own name nobody says anything under another's player or at another time
                // than its own.
                None => (sender.id, sender.slot, tick),
            };
            let (lock_seq, claim_seq) = (authority.hold, authority.seq);
            let record = Record {
                version: Version { lock_seq, claim_seq, authority: holder, tick },
                player,
                held: authority.held,
                owner_claim: authority.owner_claim,
                home: incoming.home,
                gone: authority.gone,
                kind,
            };
            let overtaken = incoming.record.is_some_and(|(newest, _)| newest > seq);
            if overtaken && self.ablation.holds(Rule::LaterWins) {
                continue;
            }
            incoming.record = Some((seq, record));
            store.values.get_mut(incoming.value)[..words.len()].copy_from_slice(words);
            let place = incoming.object;
            // What a present holder said is taken from nobody else, so it is worth the look only if
            // the holder says it.
            if holder != sender.id || !self.update_as_before(place, &record, value) {
                self.resolve(link, handle);
                self.answer(link, place, &record);
                if !self.ablation.holds(Rule::RefusedAreKept) {
                    self.links[link].table[usize::from(handle)].record = None;
                }
            }
        }
        Ok(())
    }

    /// What nearly every record is: the next value of an object from the holder the world knows.
    #[inline]
    fn update_as_before(&mut self, place: ObjectIndex, record: &Record, value: usize) -> bool {
        let object = &mut self.store[place];
        let Some(world) = object.record else { return false };
        let as_before = world.version.same_claim(&record.version)
            && world.version.tick < record.version.tick
            && record.version.authority != self.me.id
            && (world.held, world.owner_claim, world.home, world.kind)
                == (record.held, record.owner_claim, record.home, record.kind)
            && !world.gone
            && !record.gone
            && !object.orphan
            && object.owed == 0
            && !object.hidden;
        if as_before {
            let shown = self.before_change(place, true);
            let object = &mut self.store[place];
            object.record = Some(*record);
            object.stamp = object.stamp.wrapping_add(1).max(1);
            object.changed_at = self.now;
            let words = self.store.kinds[usize::from(record.kind)].layout.words;
            self.store.value_mut(place)[..words].copy_from_slice(&self.decoder.words[value..value + words]);
            if shown {
                self.after_change(place);
            }
        }
        as_before
    }

    /// A handle stands for an object from now on. Not if the packet is older than its last closing.
    fn open(
        &mut self,
        link: usize,
        handle: u16,
        seq: u32,
        identity: &Identity,
        value: usize,
        gone: bool,
    ) -> Result<bool, PeerFault> {
        let slot = usize::from(handle);
        let table = &mut self.links[link].table;
        if table.len() <= slot {
            table.resize_with(slot + 1, Incoming::unused);
        }
        let incoming = &mut table[slot];
        if incoming.closed_in > seq {
            return Ok(false);
        }
        if incoming.is_open() {
            let same =
                (incoming.id, incoming.kind, incoming.home) == (identity.id, identity.kind, identity.home);
            if same {
                incoming.opened_in = incoming.opened_in.min(seq - 1);
                if !gone {
                    let kind = &mut self.store.kinds[usize::from(identity.kind)];
                    let (words, all) = (kind.layout.words, kind.layout.words_all());
                    kind.values.get_mut(incoming.value)[words..]
                        .copy_from_slice(&self.decoder.words[value + words..value + all]);
                }
                return Ok(true);
            }
            if incoming.opened_in >= seq || incoming.record.is_some_and(|(newest, _)| newest >= seq) {
                return Ok(false);
            }
            self.close_incoming(link, handle);
        }
        let is_new = self.store.find(identity.id).is_none();
        if is_new && self.links[link].brought >= self.config.objects_per_peer_max {
            return Err(PeerFault::TooManyObjects { max: self.config.objects_per_peer_max });
        }
        let place = self.place_of(identity.id);
        let other = self.links[link].table_of[place as usize];
        if other != NONE {
            if self.links[link].table[other as usize].opened_in >= seq {
                return Ok(false);
            }
            self.close_incoming(link, other as u16);
        }
        // Closing may have forgotten the object.
        let place = self.place_of(identity.id);
        self.store[place].mentions += 1;
        if is_new {
            self.store[place].brought_by = Some(self.links[link].peer);
            self.links[link].brought += 1;
        }
        let kind = &mut self.store.kinds[usize::from(identity.kind)];
        let block = kind.values.take();
        let words = kind.layout.words_all();
        kind.values.get_mut(block).copy_from_slice(&self.decoder.words[value..value + words]);
        let link = &mut self.links[link];
        link.table_of[place as usize] = u32::from(handle);
        link.introduced += 1;
        link.table[slot] = Incoming {
            object: place,
            opened_in: seq - 1,
            closed_in: link.table[slot].closed_in,
            id: identity.id,
            kind: identity.kind,
            home: identity.home,
            value: block,
            ..Incoming::unused()
        };
        Ok(true)
    }

    fn keep_refused(&mut self, link: usize, refused: LinkRecord) {
        let kept = &mut self.links[link].refused;
        self.store[refused.object].mentions += 1;
        kept.push_back(refused);
        if kept.len() > REFUSED_MAX
            && let Some(oldest) = kept.pop_front()
        {
            self.store[oldest.object].mentions -= 1;
            self.forget_unmentioned(oldest.object);
        }
    }

    fn commit_close(&mut self, link: usize, handle: u16, seq: u32, gone: bool) {
        let Some(incoming) = self.links[link].table.get_mut(usize::from(handle)) else { return };
        incoming.closed_in = incoming.closed_in.max(seq);
        if !incoming.is_open() || incoming.record.is_some_and(|(newest, _)| newest > seq) {
            return;
        }
        let (place, record) = (incoming.object, incoming.record);
        if gone
            && let Some((_, record)) = record.filter(|(_, record)| record.gone)
            && !self.is_taken(place, &record)
        {
            // Refused, and not to be told again: it stays here to be judged again.
            self.keep_refused(link, LinkRecord { object: place, record });
        }
        self.close_incoming(link, handle);
        if gone {
            return;
        }
        let Some(sender) = self.links[link].present else { return };
        let object = &mut self.store[place];
        let told_by_sender =
            object.record.is_some_and(|world| !world.gone && world.version.authority == sender.id);
        if told_by_sender && !object.hidden {
            object.hidden = true;
            self.events.push(SessionEvent::InterestLost { id: object.id });
        }
    }
}
