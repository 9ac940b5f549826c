//! Acknowledgements in a packet's header: what arrived at the other side, and the effects.
//! `handle_packet` calls it before anything else of a packet. Absent: records.

use gaggle_kit::Micros;

use crate::ablation::Rule;
use crate::event::PeerFault;
use crate::input_relay::InputRelay;
use crate::packet::{HELD_NONE, HELD_UNIT_US, Header, widen};
use crate::session::work::Work;

/// Longest round trip that is used: it decides when packets are assumed lost, and until then they
/// are kept.
const RTT_MAX: Micros = Micros::from_secs(2);

pub(super) fn handle_acks(
    work: &mut Work<'_>,
    relay: &mut InputRelay,
    link: usize,
    header: &Header,
) -> Result<(), PeerFault> {
    let newest = work.peers[link].out.next_seq() - 1;
    let ack = widen(newest, header.ack);
    // A peer that received no packet sends 0, which can be widened to one below a small number.
    if ack == 0 || ack > u32::MAX / 2 {
        return Ok(());
    }
    if ack > newest {
        return Err(PeerFault::AckBeyondSent { seq: ack, newest });
    }
    if let Some(sent_at) = acknowledge(work, relay, link, ack)
        && header.held != HELD_NONE
    {
        let held = Micros::new(u64::from(header.held) * HELD_UNIT_US);
        let sample = work.cx.now.since(sent_at).since(held).min(RTT_MAX);
        work.peers[link].playback.note_rtt(sample);
    }
    let mut before = header.acks;
    while before != 0 {
        let age = before.trailing_zeros();
        before &= before - 1;
        if let Some(seq) = ack.checked_sub(age + 1).filter(|&seq| seq > 0) {
            acknowledge(work, relay, link, seq);
        }
    }
    Ok(())
}

/// A packet arrived at the other side. Returns when it was sent, if the acknowledgement is new.
fn acknowledge(work: &mut Work<'_>, relay: &mut InputRelay, index: usize, seq: u32) -> Option<Micros> {
    let inputs = work.peers[index].out.inputs_in(seq);
    if inputs > 0 {
        relay.note_arrived(&mut work.peers[index], work.members.roster(), inputs);
    }
    let Work { peers, objects, cx, members, .. } = work;
    let forgets = !cx.ablation.holds(Rule::CloseForgetsNothing);
    let any_ack_pays = !cx.ablation.holds(Rule::OnlyTheirAckPays);
    let mut closed = Vec::new();
    let sent_at = peers[index].out.handle_ack(seq, cx.tick, |out, told, tick| {
        let Some(stamp) = told.stamp() else {
            let is_free = out.handle_close_acked(seq, forgets);
            if is_free {
                closed.push(told.object);
            }
            return is_free;
        };
        let object = &mut objects[told.object];
        if !out.handle_acked(seq, told.identity == object.identity) {
            return false;
        }
        if (stamp == object.stamp || any_ack_pays) && out.set_owed(false) {
            object.owed -= 1;
        }
        if stamp != object.stamp {
            return false;
        }
        out.note_record_acked(stamp);
        let Some(record) = object.record else { return false };
        if record.version.authority == members.me().id && !record.gone {
            out.acknowledge(tick);
            if !object.dirty && out.has_value_since(object.captured) {
                out.land();
            }
        } else {
            out.land();
        }
        if record.gone && !out.is_closing() {
            // No more packets mention it: the handle can be used again.
            closed.push(told.object);
        }
        false
    })?;
    for place in closed {
        if work.objects[place].record.is_some_and(|record| record.gone) {
            work.close(index, place);
        } else {
            work.forget_unmentioned(place);
        }
    }
    Some(sent_at)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::sent::SentRecord;
    use crate::session::work::bench::Bench;
    use crate::store::ObjectIndex;

    fn head(ack: u16, held: u8) -> Header {
        Header {
            mark: 0,
            seq: 1,
            tick: 1,
            phase: 0,
            ack,
            held,
            inputs: false,
            records: 0,
            ack_words: 1,
            acks: 0,
        }
    }

    /// An object of the local peer that was sent to the first peer in packet 1.
    fn sent(bench: &mut Bench) -> ObjectIndex {
        let place = bench.object(0, 1);
        bench.objects[place].captured = 1;
        let (identity, stamp) = (bench.objects[place].identity, bench.objects[place].stamp);
        let out = &mut bench.peers[0].out;
        let handle = out.handle_of(place, 1).expect("one is free");
        out[place].note_told(1, 1);
        out.record(SentRecord::new(place, handle, identity, Some(stamp)));
        out.note_packet(1, Micros::from_millis(10), 1, 0, 20);
        place
    }

    #[test]
    fn acknowledged_object_is_known_and_idle() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = sent(&mut bench);
        bench.cx.note_now(Micros::from_millis(60));
        handle_acks(&mut bench.work(), &mut InputRelay::default(), 0, &head(1, 0)).unwrap();
        let out = &bench.peers[0].out[place];
        assert!(out.is_known() && out.has_newest(1) && out.has_record(bench.objects[place].stamp));
        assert_eq!(bench.peers[0].playback.rtt(), Some(Micros::from_millis(50)));
    }

    #[test]
    fn ack_beyond_sent_causes_fault() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        sent(&mut bench);
        let fault = handle_acks(&mut bench.work(), &mut InputRelay::default(), 0, &head(2, 0));
        assert_eq!(fault, Err(PeerFault::AckBeyondSent { seq: 2, newest: 1 }));
    }

    #[test]
    fn ack_without_hold_time_measures_nothing() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        sent(&mut bench);
        handle_acks(&mut bench.work(), &mut InputRelay::default(), 0, &head(1, HELD_NONE)).unwrap();
        assert_eq!(bench.peers[0].playback.rtt(), None);
        handle_acks(&mut bench.work(), &mut InputRelay::default(), 0, &head(1, 0)).unwrap();
        assert_eq!(bench.peers[0].playback.rtt(), None, "it is acknowledged once");
    }
}
