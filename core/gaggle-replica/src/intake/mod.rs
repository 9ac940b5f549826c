//! Incoming packets: headers, acknowledgements, records, inputs. The session hands it every packet.
//! Absent: sending, which peer is a member.

mod acks;
mod commit;
mod decode;

use gaggle_kit::{ByteReader, DecodeError, Micros};

use crate::ablation::Rule;
use crate::authority::Authority;
use crate::event::PeerFault;
use crate::input_queue::{Change, InputIn};
use crate::input_relay::{InputRelay, part};
use crate::packet::{Header, mark, widen};
use crate::session::work::Work;

use decode::{Arrival, Decoded, Decoder, Unusable, What};

pub(crate) use commit::close_incoming;

/// Packets after which an acknowledgement is sent at once. One names 128 packets: if more arrived
/// between two ticks, some would never be acknowledged and their records sent again and again. Half
/// of that, because acknowledgements get lost, too.
const ACKNOWLEDGE_AFTER: u32 = 64;
/// Most acknowledgements that wait to be sent; no honest peer sends so much between two ticks.
const ACKS_MAX: usize = 64;

/// Buffers for one packet that is read.
#[derive(Debug, Default)]
pub(crate) struct Intake {
    decoder: Decoder,
}

/// Result for a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub(crate) enum Receipt {
    /// It is ignored: a duplicate, of another epoch, or its baseline is gone.
    Dropped,
    /// It is accepted, and acknowledged with the next tick.
    Taken,
    /// It is accepted, and so many packets arrived that they must be acknowledged at once.
    Acknowledge,
}

impl Intake {
    /// Handles a packet of a peer that arrived at `now`.
    pub(crate) fn handle_packet(
        &mut self,
        work: &mut Work<'_>,
        rules: &mut Authority,
        relay: &mut InputRelay,
        link: usize,
        now: Micros,
        bytes: &[u8],
    ) -> Result<Receipt, PeerFault> {
        let receipt = self.read(work, rules, relay, link, now, bytes)?;
        if receipt == Receipt::Dropped {
            work.cx.stats.packets_dropped += 1;
        }
        Ok(receipt)
    }

    fn read(
        &mut self,
        work: &mut Work<'_>,
        rules: &mut Authority,
        relay: &mut InputRelay,
        link: usize,
        now: Micros,
        bytes: &[u8],
    ) -> Result<Receipt, PeerFault> {
        let mut r = ByteReader::new(bytes);
        let header = Header::read(&mut r)?;
        let peer = &work.peers[link];
        let addressed = header.mark == mark(peer.handshake.their_epoch(), peer.handshake.epoch())
            || !work.cx.ablation.holds(Rule::PacketsAreAddressed);
        let fresh = peer.inbound.fresh(header.seq);
        // A packet can overtake the hello that makes its sender a member: it is ignored, so it is
        // not acknowledged.
        let Some(seq) = fresh.filter(|_| addressed && peer.present().is_some()) else {
            return Ok(Receipt::Dropped);
        };
        if peer.handshake.is_spectator() && (header.records > 0 || header.inputs) {
            return Err(PeerFault::SpectatorWrote);
        }
        let players = peer.present().map_or(1, |present| present.player_count());
        let their_tick = peer.inbound.their_tick();
        let (tick, newest) = (widen(their_tick, header.tick), peer.inbound.newest());
        // Before the first packet the tick is that of a hello, which may have overtaken the packet.
        if newest > 0 && seq > newest && tick < their_tick {
            return Err(PeerFault::TickRegressed { tick, before: their_tick });
        }
        acks::handle_acks(work, relay, link, &header)?;
        let inputs = match (header.inputs, work.schema.kinds().input()) {
            (false, _) => None,
            (true, Some(entry)) => Some(entry.size * players),
            (true, None) => return Err(DecodeError::Unknown { what: "inputs", value: 1 }.into()),
        };
        let arrival = Arrival { seq, tick, records: header.records, inputs };
        match self.decoder.read(work.objects, &work.peers[link], arrival, r.rest()) {
            Ok(()) => {}
            Err(Unusable::Late) => return Ok(Receipt::Dropped),
            Err(Unusable::Malformed(error)) => return Err(PeerFault::Malformed(error)),
        }
        if !self.has_room(work) {
            // Treated as lost: its sender tries again, and is not to blame for objects of other
            // peers.
            return Ok(Receipt::Dropped);
        }
        let peer = &mut work.peers[link];
        peer.inbound.note_arrival(seq, tick, now, header.records > 0 || header.inputs);
        peer.inbound.note_heard(work.cx.now);
        peer.playback.note_packet(now, tick, header.phase);
        work.cx.stats.packets_received += 1;
        if let Some(entry) = work.schema.kinds().input() {
            let inputs = &mut work.peers[link].side.inputs;
            for change in self.decoder.changes() {
                inputs.resize_with(players, InputIn::default);
                for (index, queue) in inputs.iter_mut().enumerate() {
                    let bytes = part(&change.bytes, index, entry.size);
                    (entry.check)(&bytes[..entry.size])?;
                    queue.push(Change { bytes, ..*change });
                }
            }
        }
        self.commit(work, rules, link, arrival)?;
        let is_urgent = work.peers[link].inbound.unacknowledged() >= ACKNOWLEDGE_AFTER;
        Ok(if is_urgent && work.cx.acks.len() < ACKS_MAX { Receipt::Acknowledge } else { Receipt::Taken })
    }

    /// Whether there is room for the objects of this packet: those of one packet may exceed the
    /// limit.
    fn has_room(&self, work: &Work<'_>) -> bool {
        let is_new = |record: &Decoded| match record.what {
            What::Intro(identity, _) | What::Relay(Some(identity), ..) => {
                work.objects.find(identity.id).is_none()
            }
            _ => false,
        };
        work.objects.len() < work.cx.config.objects_max || !self.decoder.records().iter().any(is_new)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Handshake;
    use crate::session::work::bench::Bench;
    use crate::{AuthorityPolicy, MemberTag};

    fn packet(seq: u16, tick: u16) -> Vec<u8> {
        let header = Header {
            mark: mark(1, 1),
            seq,
            tick,
            phase: 0,
            ack: 0,
            held: 0,
            inputs: false,
            records: 0,
            ack_words: 1,
            acks: 0,
        };
        let mut bytes = vec![0; header.bytes()];
        header.write(&mut bytes);
        bytes
    }

    fn handle(bench: &mut Bench, bytes: &[u8]) -> Result<Receipt, PeerFault> {
        let (rules, relay) = (&mut Authority::default(), &mut InputRelay::default());
        let now = bench.cx.now;
        Intake::default().handle_packet(&mut bench.work(), rules, relay, 0, now, bytes)
    }

    #[test]
    fn packet_counts_once() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        assert_eq!(handle(&mut bench, &packet(1, 1)), Ok(Receipt::Taken));
        assert_eq!(handle(&mut bench, &packet(1, 1)), Ok(Receipt::Dropped));
        assert_eq!((bench.cx.stats.packets_received, bench.cx.stats.packets_dropped), (1, 1));
    }

    #[test]
    fn packet_of_earlier_tick_causes_fault() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        assert_eq!(handle(&mut bench, &packet(1, 9)), Ok(Receipt::Taken));
        let fault = handle(&mut bench, &packet(2, 8));
        assert_eq!(fault, Err(PeerFault::TickRegressed { tick: 8, before: 9 }));
    }

    #[test]
    fn many_packets_are_acknowledged_at_once() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let urgent = |seq: &u16| handle(&mut bench, &packet(*seq, 1)) == Ok(Receipt::Acknowledge);
        assert_eq!((1..=64).find(urgent), Some(64));
    }

    #[test]
    fn packet_of_unknown_peer_is_dropped() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        bench.peers[0].handshake = Handshake::new(1);
        bench.peers[0].handshake.note_hello(1, MemberTag(2), Micros::ZERO);
        assert_eq!(handle(&mut bench, &packet(1, 1)), Ok(Receipt::Dropped));
        assert!(matches!(handle(&mut bench, &[1]), Err(PeerFault::Malformed(_))));
    }
}
