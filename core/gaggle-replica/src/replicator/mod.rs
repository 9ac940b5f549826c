//! Sending in ticks: what changed, what each peer gets of it, and in which packets. A tick begins a
//! round, `poll_transmit` drains it. Absent: which peer may write, received packets.

mod delivery;
mod delta_cache;
mod select;
mod write;

use gaggle_kit::{Micros, PeerId};

use crate::config::ReplicaConfig;
use crate::driver::{BLOB_STREAM, MESSAGE_STREAM};
use crate::history::NEVER;
use crate::input_relay::InputRelay;
use crate::interest::{AllRelevant, Interest};
use crate::session::work::Work;
use crate::store::{Changed, ObjectIndex};

use delta_cache::Copies;
use select::Candidate;

pub(crate) use write::record_bits_max;

/// Interval of packets when there is nothing to send.
const KEEP_ALIVE: Micros = Micros::from_secs(1);
/// Ticks after which a packet is assumed lost before the first round trip is measured.
const TIMEOUT_TICKS: u32 = 12;

/// Packet or message to send, from [`Session::poll_transmit`](crate::Session::poll_transmit).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// Peer it goes to.
    pub to: PeerId,
    /// Whether it must arrive in order, on a reliable stream. Everything else may get lost.
    pub reliable: bool,
    /// Number of the reliable stream; 0 for unreliable packets.
    pub stream: u8,
    /// Bytes of the message or packet.
    pub bytes: &'a [u8],
}

/// Progress of sending in the current tick.
#[derive(Debug, Default)]
pub(crate) struct Replicator {
    /// Peers not served yet.
    waiting: Vec<PeerId>,
    /// The peer being served, and whether a packet went to it in this tick.
    serving: Option<(PeerId, bool)>,
    /// Time within the tick at which sending began, in 256ths.
    phase: u8,
    copies: Copies,
    candidates: Vec<Candidate>,
    /// Objects that perhaps no peer knows any more.
    dropped: Vec<ObjectIndex>,
    /// Peers with changed objects that interest excludes.
    unweighed: Vec<(usize, ObjectIndex)>,
    bytes: Vec<u8>,
}

impl Replicator {
    /// Drops the queue of a peer that left.
    pub(crate) fn abandon(&mut self, peer: PeerId) {
        self.waiting.retain(|other| *other != peer);
        if self.serving.is_some_and(|(other, _)| other == peer) {
            self.serving = None;
        }
    }

    /// Begins the next tick if it is due. Returns the time since the last one, if so.
    #[must_use]
    pub(crate) fn begin_tick(&mut self, work: &mut Work<'_>, started: Micros) -> Option<Micros> {
        let cx = &mut *work.cx;
        let ReplicaConfig { send_interval, .. } = cx.config;
        let interval = send_interval.get();
        let due = u32::try_from(cx.now.since(started).get() / interval).unwrap_or(NEVER - 1).max(1);
        // Two ticks are at least half an interval apart, even after a slow frame.
        let apart = cx.tick == 0 || cx.now.since(cx.ticked_at).get() >= interval / 2;
        if due <= cx.tick || !apart {
            return None;
        }
        let elapsed = if cx.tick == 0 { send_interval } else { cx.now.since(cx.ticked_at) };
        let begun = Micros::new(started.get() + u64::from(due) * interval);
        self.phase = (cx.now.since(begun).get() * 256 / interval).min(255) as u8;
        cx.tick = due;
        cx.ticked_at = cx.now;
        Some(elapsed)
    }

    /// Begins sending: changes become due, and every peer's bandwidth budget grows.
    pub(crate) fn begin_round(&mut self, work: &mut Work<'_>, elapsed: Micros) {
        self.capture_changes(work);
        let interval = work.cx.config.send_interval.get() as i64;
        let rate = i64::from(work.cx.config.bytes_per_second);
        // Whatever the rate, the budget can reach a whole packet: some records take nearly that.
        let most = (rate * 2 * interval / 1_000_000).max(work.cx.config.packet_bytes_max as i64);
        let earned = rate * elapsed.get() as i64 / 1_000_000;
        self.serving = None;
        self.waiting.clear();
        for peer in work.peers.iter_mut() {
            peer.inbound.next_tick();
            peer.out.earn(earned, most);
        }
    }

    /// Selects what every peer gets in this tick.
    pub(crate) fn select_round(&mut self, work: &mut Work<'_>, mut interest: Option<&mut dyn Interest>) {
        if !work.members.is_member() && !work.members.is_spectator() {
            return;
        }
        for index in 0..work.peers.len() {
            let peer = &work.peers[index];
            if !peer.handshake.is_greeted() || peer.present().is_none() {
                continue;
            }
            self.waiting.push(peer.id);
            Replicator::give_up_lost(work, index);
            match &mut interest {
                None => self.select(work, index, &mut AllRelevant),
                Some(interest) => {
                    Replicator::ask_interest(work, index, *interest);
                    self.select(work, index, *interest);
                }
            }
        }
        // The list is popped from its end.
        self.waiting.reverse();
    }

    /// Stamps changes with this tick and makes them due for every peer.
    fn capture_changes(&mut self, work: &mut Work<'_>) {
        let (tick, me) = (work.cx.tick, work.members.me().id);
        let Changed { mut dirty, mut fresh } = work.objects.take_changed();
        fresh.clear();
        dirty.retain(|&place| {
            let object = &mut work.objects[place];
            object.dirty = false;
            let Some(record) = object.record.as_mut().filter(|record| record.version.authority == me) else {
                return false;
            };
            record.version.tick = tick;
            let gone = record.gone;
            if object.captured == NEVER {
                fresh.push(place);
            }
            object.captured = tick;
            work.objects.capture(place, tick);
            if gone {
                for link in 0..work.peers.len() {
                    work.refresh_link(link, place);
                }
            }
            !gone
        });
        for (index, link) in work.peers.iter_mut().enumerate().filter(|(_, link)| link.present().is_some()) {
            for &place in &dirty {
                if !link.out.note_changed(place, tick) {
                    self.unweighed.push((index, place));
                }
            }
        }
        // Objects that interest excludes may have to be sent all the same.
        while let Some((link, place)) = self.unweighed.pop() {
            work.refresh_link(link, place);
        }
        dirty.clear();
        work.objects.return_changed(Changed { dirty, fresh });
    }

    /// Makes the content of lost packets due again, more urgently than before.
    fn give_up_lost(work: &mut Work<'_>, index: usize) {
        let interval = work.cx.config.send_interval.get();
        let timeout = work.peers[index]
            .playback
            .rtt()
            .map_or(TIMEOUT_TICKS, |rtt| u32::try_from(2 * rtt.get() / interval).unwrap_or(1_000) + 5);
        let me = work.members.me().id;
        let objects = &*work.objects;
        let is_mine =
            |place: ObjectIndex| objects[place].record.is_some_and(|record| record.version.authority == me);
        work.peers[index].out.give_up_lost(work.cx.tick, timeout, is_mine);
    }

    /// Writes the next packet or message into [`bytes`](Replicator::bytes). Returns its receiver,
    /// and its reliable stream, if any.
    pub(crate) fn poll(&mut self, work: &mut Work<'_>, inputs: &InputRelay) -> Option<(PeerId, Option<u8>)> {
        if let Some((to, bytes)) = work.cx.acks.pop_front() {
            self.bytes = bytes;
            return Some((to, None));
        }
        if let Some((to, bytes)) = work.cx.messages.pop_front() {
            self.bytes = bytes;
            return Some((to, Some(MESSAGE_STREAM)));
        }
        if let Some((to, bytes)) = work.cx.pieces.pop_front() {
            self.bytes = bytes;
            return Some((to, Some(BLOB_STREAM)));
        }
        loop {
            let Some((id, sent)) = self.serving else {
                self.serving = Some((self.waiting.pop()?, false));
                continue;
            };
            let Some(link) = work.peers.find(id) else {
                self.serving = None;
                continue;
            };
            let peer = &work.peers[link];
            let overdue = peer.inbound.owes_ack()
                || inputs.is_told(peer, work.members.roster())
                || peer.out.silence(work.cx.now) >= KEEP_ALIVE;
            let more = peer.out.may_send_more(!sent);
            if !more && (sent || !overdue) {
                self.serving = None;
                continue;
            }
            self.serving = Some((id, true));
            self.write_packet(work, inputs, link, !sent);
            return Some((id, None));
        }
    }

    /// Bytes [`poll`](Replicator::poll) wrote last.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::AuthorityPolicy;
    use crate::message::Message;
    use crate::session::work::bench::{Bench, peer};

    fn bench() -> (Bench, Replicator, InputRelay) {
        let mut bench = Bench::new(AuthorityPolicy::Anyone, 3);
        bench.cx.note_now(Micros::from_millis(1));
        (bench, Replicator::default(), InputRelay::default())
    }

    /// Runs a round and returns the peers packets went to.
    fn round(bench: &mut Bench, replicator: &mut Replicator, inputs: &InputRelay) -> Vec<PeerId> {
        let now = bench.cx.now + Micros::from_millis(50);
        bench.cx.note_now(now);
        let mut work = bench.work();
        let elapsed = replicator.begin_tick(&mut work, Micros::from_millis(1)).expect("it is due");
        replicator.begin_round(&mut work, elapsed);
        replicator.select_round(&mut work, None);
        std::iter::from_fn(|| replicator.poll(&mut work, inputs).map(|(to, _)| to)).collect()
    }

    #[test]
    fn changed_object_goes_to_every_peer_once() {
        let (mut bench, mut replicator, inputs) = bench();
        let place = bench.object(0, 1);
        bench.objects.mark_dirty(place);
        assert_eq!(round(&mut bench, &mut replicator, &inputs), [peer(1), peer(2)]);
        assert_eq!(bench.cx.stats.updates_sent, 2);
        assert_eq!(round(&mut bench, &mut replicator, &inputs), [], "it is in flight");
    }

    #[test]
    fn messages_go_before_packets() {
        let (mut bench, mut replicator, inputs) = bench();
        bench.cx.tell(peer(2), &Message::Verdict { number: 1, granted: true });
        let mut work = bench.work();
        assert_eq!(replicator.poll(&mut work, &inputs), Some((peer(2), Some(MESSAGE_STREAM))));
        assert_eq!(replicator.poll(&mut work, &inputs), None);
    }

    #[test]
    fn tick_is_due_once_per_interval() {
        let (mut bench, mut replicator, _) = bench();
        let mut work = bench.work();
        let start = Micros::from_millis(1);
        assert_eq!(replicator.begin_tick(&mut work, start), Some(Micros::from_millis(50)));
        assert_eq!(replicator.begin_tick(&mut work, start), None);
        work.cx.note_now(Micros::from_millis(101));
        assert_eq!(replicator.begin_tick(&mut work, start), Some(Micros::from_millis(100)));
        assert_eq!(work.cx.tick, 2);
    }

    #[test]
    fn abandoned_peer_is_not_served() {
        let (mut bench, mut replicator, inputs) = bench();
        let place = bench.object(0, 1);
        bench.objects.mark_dirty(place);
        bench.cx.note_now(Micros::from_millis(60));
        let mut work = bench.work();
        replicator.begin_round(&mut work, Micros::from_millis(50));
        replicator.select_round(&mut work, None);
        replicator.abandon(peer(1));
        assert_eq!(replicator.poll(&mut work, &inputs), Some((peer(2), None)));
        assert_eq!(replicator.poll(&mut work, &inputs), None);
    }
}
