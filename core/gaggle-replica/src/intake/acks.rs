//! Acknowledgements in a packet's header: what arrived at the other side, and the effects.
//! `handle_packet` calls it before anything else of a packet. Absent: records.

use gaggle_kit::Micros;

use crate::ablation::Rule;
use crate::event::PeerFault;
use crate::history::NEVER;
use crate::input_relay::InputRelay;
use crate::packet::{HELD_NONE, HELD_UNIT_US, Header, widen};
use crate::peers::Phase;
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
    let newest = work.peers[link].out.sent.next_seq() - 1;
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
    let inputs = work.peers[index].out.sent.inputs_in(seq);
    if inputs > 0 {
        relay.note_arrived(&mut work.peers[index], work.members.roster(), inputs);
    }
    let link = &mut work.peers[index];
    let (tick, sent_at, records) = link.out.sent.acknowledge(seq)?;
    let mut closed = Vec::new();
    for told in records {
        let out = &mut link.out.objects[told.object as usize];
        if out.handle != Some(told.handle) {
            continue;
        }
        let Some(stamp) = told.stamp() else {
            // Unless it was opened again since then.
            if out.closing && out.told_in < seq {
                out.closing = false;
                out.handle = None;
                out.forget_acks();
                if out.phase == Phase::Flying {
                    out.phase = Phase::Idle;
                }
                link.out.handles.give(told.handle, work.cx.tick);
                out.introduced &= work.cx.ablation.holds(Rule::CloseForgetsNothing);
                closed.push(told.object);
            }
            continue;
        };
        if out.closed_in > seq {
            // The object may have been sent and then closed.
            continue;
        }
        let object = &mut work.objects[told.object];
        out.known |= told.identity == object.identity;
        let any_ack_pays = !work.cx.ablation.holds(Rule::OnlyTheirAckPays);
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
        let mine = record.version.authority == work.members.me().id;
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
            // No more packets mention it: the handle can be used again.
            closed.push(told.object);
        }
    }
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
        out.objects[place as usize].note_sent(1);
        out.sent.record(SentRecord::new(place, handle, identity, Some(stamp)));
        out.sent.packet(1, Micros::from_millis(10), 1, 0);
        place
    }

    #[test]
    fn acknowledged_object_is_known_and_idle() {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 2);
        let place = sent(&mut bench);
        bench.cx.note_now(Micros::from_millis(60));
        handle_acks(&mut bench.work(), &mut InputRelay::default(), 0, &head(1, 0)).unwrap();
        let out = &bench.peers[0].out.objects[place as usize];
        assert!(out.known && out.phase == Phase::Idle && out.newest == 1);
        assert_eq!(bench.peers[0].playback.rtt, Some(Micros::from_millis(50)));
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
        assert_eq!(bench.peers[0].playback.rtt, None);
        handle_acks(&mut bench.work(), &mut InputRelay::default(), 0, &head(1, 0)).unwrap();
        assert_eq!(bench.peers[0].playback.rtt, None, "it is acknowledged once");
    }
}
