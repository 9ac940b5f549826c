//! One established link without its carrier: takes packets, returns packets to send.
//!
//! Driven by `link.rs`. Absent: carriers, handshakes, other peers.

mod parts;

use std::ops::Range;

use gaggle_kit::{ByteWriter, Micros};

use self::parts::{Counters, Pacing, Path, What};
pub(crate) use self::parts::{Handled, Outgoing, Silence};
use super::acks::Acks;
use super::handshake::{Remote, label};
use super::heartbeat::Heartbeat;
use super::packet::{
    Ack, Head, Label, Packet, Ping, Streams, UNRELIABLE_HEADER_BYTES, read_unreliable_header,
    unreliable_header, write_ack, write_bye, write_streams_head,
};
use super::received::Received;
use super::sent::{Mark, SentPackets};
use super::streams_in::StreamsIn;
use super::streams_out::StreamsOut;
use super::unreliable_queue::UnreliableQueue;
use crate::{CloseCode, DATAGRAM_BYTES_MAX, LinkConfig, LinkStats, PeerFault};

/// How far a short message may exceed the congestion window, so that it need not wait for a long
/// one.
const HEADROOM_BYTES: u64 = 4 * DATAGRAM_BYTES_MAX as u64;

/// A caller that polls this rarely, like a game once per frame, makes a transfer go out in bursts.
/// Stream data then waits, at most this long, for the unreliable message that is usually sent right
/// after the poll.
const RARE_POLL: Micros = Micros::from_millis(8);
const HOLD: Micros = Micros::from_millis(4);

/// No unreliable message is expected after a pause of this length.
const HOLD_FOR: Micros = Micros::from_millis(50);

/// Delay before a busy carrier is tried again.
const BUSY_RETRY: Micros = Micros::from_millis(1);

/// Longest probe timeout, so that a link recovers soon after an outage.
const PROBE_TIMEOUT_MAX: Micros = Micros::from_millis(500);

#[derive(Debug)]
pub(crate) struct Link {
    nonce: u32,
    remote: Remote,
    label_out: Label,
    label_in: Label,
    next_number: u64,
    received: Received,
    heard_at: Micros,
    sent_at: Micros,
    acks: Acks,
    path: Path,
    pacing: Pacing,
    sent: SentPackets,
    probes: u32,
    streams_out: StreamsOut,
    streams_in: StreamsIn,
    queue: UnreliableQueue,
    heartbeat: Heartbeat,
    loss_out: u8,
    counters: Counters,
}

impl Link {
    pub(crate) fn new(now: Micros, nonce: u32, remote: Remote) -> Link {
        let (label_out, first_out) = label(nonce, remote.nonce);
        let (label_in, first_in) = label(remote.nonce, nonce);
        Link {
            nonce,
            remote,
            label_out,
            label_in,
            next_number: 0x1_0000 + u64::from(first_out),
            received: Received::starting_at(first_in),
            heard_at: now,
            sent_at: now,
            acks: Acks::default(),
            path: Path::new(Micros::ZERO, 0),
            pacing: Pacing::new(now),
            sent: SentPackets::new(),
            probes: 0,
            streams_out: StreamsOut::default(),
            streams_in: StreamsIn::default(),
            queue: UnreliableQueue::default(),
            heartbeat: Heartbeat::new(nonce > remote.nonce),
            loss_out: 0,
            counters: Counters::default(),
        }
    }

    pub(crate) fn nonce(&self) -> u32 {
        self.nonce
    }

    /// An unreliable message could not be sent at once: it waits, and the oldest one that waits may
    /// be dropped for it.
    pub(crate) fn queue_unreliable(&mut self, message: &[u8], config: &LinkConfig) {
        self.queue.push(message, config.unreliable_queue_max);
    }

    pub(crate) fn remote(&self) -> Remote {
        self.remote
    }

    /// Whether a packet other than an unreliable message belongs to this link.
    pub(crate) fn owns(&self, label: Label) -> bool {
        label == self.label_in
    }

    /// Handles an unreliable message, the most frequent packet. Returns its position in the packet,
    /// unless it is rejected.
    #[inline]
    pub(crate) fn handle_unreliable(&mut self, now: Micros, bytes: &[u8]) -> Option<Range<usize>> {
        let (tag, number) = read_unreliable_header(bytes)?;
        let number = self.received.whole(number);
        if tag != self.label_in.tag || !self.received.is_new(number, false) {
            self.counters.packets_refused += 1;
            return None;
        }
        self.count_in(now, number, bytes.len());
        Some(UNRELIABLE_HEADER_BYTES..bytes.len())
    }

    /// Handles any other packet.
    pub(crate) fn handle(
        &mut self,
        now: Micros,
        bytes: &[u8],
        config: &LinkConfig,
    ) -> Result<Handled, PeerFault> {
        let packet = Packet::read(bytes);
        let Some(head) =
            packet.as_ref().ok().and_then(Packet::head).filter(|head| head.label == self.label_in)
        else {
            return Ok(self.refuse());
        };
        let number = self.received.whole(head.number);
        if !self.received.is_new(number, true) {
            return Ok(self.refuse());
        }
        if let Ok(Packet::Streams(_, streams)) = &packet
            && !self.streams_in.fits(streams, config.receive_bytes_max as usize)?
        {
            // Not recorded as received, so not acknowledged: it will be sent again.
            return Ok(self.refuse());
        }
        self.count_in(now, number, bytes.len());
        match packet {
            Ok(Packet::Streams(_, streams)) => self.handle_streams(now, number, &streams)?,
            Ok(Packet::Ack(_, ack)) => self.handle_ack(now, &ack)?,
            Ok(Packet::Ping(_, ping)) => self.handle_ping(now, &ping),
            Ok(Packet::Bye(_, goodbye)) => return Ok(Handled::Bye(goodbye)),
            Ok(Packet::Hello(_) | Packet::Unreliable { .. }) | Err(_) => {}
        }
        Ok(Handled::Other)
    }

    /// The other side repeated the handshake within this link: it may not know that it is
    /// established.
    pub(crate) fn handle_greeting(&mut self, now: Micros) {
        self.heard_at = now;
        self.heartbeat.ask_now();
    }

    /// The path to the peer changed.
    pub(crate) fn handle_reroute(&mut self, now: Micros) {
        self.path = Path::new(now, self.next_number);
        self.heartbeat.ask_now();
    }

    /// The local side did not poll for a while: the peer's silence during that time does not count.
    pub(crate) fn handle_absence(&mut self, absence: Micros) {
        self.heard_at = self.heard_at.saturating_add(absence);
    }

    /// The caller polls, after this long.
    pub(crate) fn handle_poll(&mut self, now: Micros, since_last: Micros) {
        let expects_message = self.pacing.unreliable_at.is_some_and(|at| now.since(at) < HOLD_FOR);
        if since_last >= RARE_POLL && expects_message {
            self.pacing.hold_until = now.saturating_add(HOLD);
        }
    }

    /// Detects losses. Returns whether the peer has been silent for too long.
    pub(crate) fn handle_timeout(&mut self, now: Micros, config: &LinkConfig) -> Silence {
        if now.since(self.heard_at) >= config.timeout {
            return Silence::TooLong;
        }
        let (streams, resent) = (&mut self.streams_out, &mut self.counters.packets_resent);
        let (congestion, first_of_path) = (&mut self.path.congestion, self.path.first_of_path);
        self.sent.detect_lost(now, &self.path.rtt, |packet| {
            if packet.number >= first_of_path {
                congestion.lost(packet.bytes);
            }
            streams.lost(&packet.pieces);
            *resent += 1;
        });
        if self.probe_at().is_some_and(|at| at <= now) {
            let (streams, resent) = (&mut self.streams_out, &mut self.counters.packets_resent);
            self.probes += 1;
            // First probes: it may be the lost end of a transfer, with no later packet to reveal
            // that.
            let count = if self.probes < 3 { 2 } else { usize::MAX };
            self.sent.give_up(count, |packet| {
                streams.lost(&packet.pieces);
                *resent += 1;
            });
            if self.probes == 3 {
                self.path.congestion.outage();
            }
        }
        Silence::Fine
    }

    /// No more packets can be made at the moment.
    pub(crate) fn finish_packets(&mut self) {
        self.pacing.waiting = self.streams_out.shortest().is_some();
    }

    /// When [`Link::handle_timeout`] or [`Link::next_packet`] is due without arrivals.
    pub(crate) fn timeout(&self, config: &LinkConfig) -> Micros {
        let mut at = self.heard_at.saturating_add(config.timeout);
        let send_at = self.next_send_at(config);
        at = at.min(self.pacing.busy_until.map_or(send_at, |busy_until| send_at.max(busy_until)));
        [self.sent.loss_at(&self.path.rtt), self.probe_at()].into_iter().flatten().fold(at, Micros::min)
    }

    fn next_send_at(&self, config: &LinkConfig) -> Micros {
        if self.heartbeat.owes_answer() || self.queue.len() > 0 {
            return Micros::ZERO;
        }
        let mut at = self.ask_at(config).min(self.acks.due_at().unwrap_or(Micros::MAX));
        if self.allowance().is_some() {
            at = at.min(self.pacing.pacer.ready_at().max(self.pacing.hold_until));
        }
        at
    }

    /// Writes the next packet to send into the buffer.
    pub(crate) fn next_packet(
        &mut self,
        now: Micros,
        buffer: &mut [u8],
        config: &LinkConfig,
    ) -> Option<Outgoing> {
        if self.pacing.busy_until.is_some_and(|until| now < until) {
            return None;
        }
        if let Some(message) = self.queue.front() {
            let bytes = write_unreliable(buffer, self.label_out.tag, self.next_number, message);
            return Some(Outgoing { bytes, what: What::Unreliable });
        }
        let head = Head { label: self.label_out, number: self.next_number as u16 };
        let mut w = ByteWriter::new(&mut buffer[..DATAGRAM_BYTES_MAX]);
        if self.heartbeat.owes_answer() || self.ask_at(config) <= now {
            let ping = self.heartbeat.ping(now, config, self.received.loss_permille());
            ping.write(head, &mut w).expect("a ping fits into a packet");
            let what = What::Ping { asks: ping.clock.is_some(), answers: ping.echo.is_some() };
            return Some(Outgoing { bytes: w.written(), what });
        }
        let rate = self.path.congestion.bytes_per_second(&self.path.rtt);
        self.pacing.pacer.refill(now, rate, self.pacing.waiting);
        if now >= self.pacing.hold_until
            && let Some(pending_max) = self.allowance().filter(|_| self.pacing.pacer.may_send())
        {
            let ack = self.acks.ack(now, &self.received);
            let floor = self.sent.floor().map_or(0, |floor| self.next_number - floor);
            let floor = u16::try_from(floor).unwrap_or(u16::MAX);
            write_streams_head(head, floor, ack.as_ref(), &mut w).expect("the head fits into a packet");
            let pieces = self.streams_out.fill(pending_max, &mut w);
            if !pieces.is_empty() {
                let idle = self.streams_out.shortest().is_none();
                let what = What::Streams { pieces, acks: ack.is_some(), idle };
                return Some(Outgoing { bytes: w.written(), what });
            }
            w = ByteWriter::new(&mut buffer[..DATAGRAM_BYTES_MAX]);
        }
        if self.acks.due_at().is_some_and(|at| at <= now) {
            let ack = self.acks.ack(now, &self.received)?;
            write_ack(head, &ack, &mut w).expect("an acknowledgement fits into a packet");
            return Some(Outgoing { bytes: w.written(), what: What::Ack });
        }
        None
    }

    /// Result of sending the last packet.
    pub(crate) fn transmitted(&mut self, now: Micros, outgoing: Outgoing, taken: bool) {
        if !taken {
            if let What::Streams { pieces, .. } = &outgoing.what {
                self.streams_out.lost(pieces);
            }
            self.pacing.busy_until = Some(now.saturating_add(BUSY_RETRY));
            return;
        }
        let number = self.next_number;
        self.count_out(now, outgoing.bytes);
        match outgoing.what {
            What::Unreliable => self.queue.pop(),
            What::Ping { asks, answers } => self.heartbeat.sent(now, asks, answers),
            What::Streams { pieces, acks, idle } => {
                if acks {
                    self.acks.sent();
                }
                let mark: Mark = self.path.congestion.mark(now, self.sent.in_flight_bytes(), idle);
                self.sent.push(number, now, outgoing.bytes, pieces, mark);
                self.pacing.pacer.sent(outgoing.bytes);
            }
            What::Ack => self.acks.sent(),
        }
    }

    /// Writes an unreliable message to send at once, unless others wait; call
    /// [`Link::unreliable_sent`] afterwards.
    #[inline]
    pub(crate) fn unreliable(&self, buffer: &mut [u8], message: &[u8]) -> Option<usize> {
        let is_first = self.queue.len() == 0;
        is_first.then(|| write_unreliable(buffer, self.label_out.tag, self.next_number, message))
    }

    /// An unreliable message was sent at once. Returns whether stream data waited for it.
    #[inline]
    pub(crate) fn unreliable_sent(&mut self, now: Micros, bytes: usize) -> bool {
        self.count_out(now, bytes);
        self.pacing.unreliable_at = Some(now);
        let held = self.pacing.hold_until > now;
        self.pacing.hold_until = Micros::ZERO;
        held && self.pacing.waiting
    }

    /// Counts one sent packet.
    #[inline]
    fn count_out(&mut self, now: Micros, bytes: usize) {
        self.next_number += 1;
        self.sent_at = now;
        self.pacing.busy_until = None;
        self.counters.packets_out += 1;
        self.counters.bytes_out += bytes as u64;
    }

    /// Writes the close packet, the last of this link.
    pub(crate) fn bye(&mut self, now: Micros, buffer: &mut [u8], goodbye: CloseCode) -> usize {
        let head = Head { label: self.label_out, number: self.next_number as u16 };
        let mut w = ByteWriter::new(buffer);
        write_bye(head, goodbye, &mut w).expect("a close packet fits into a packet");
        let bytes = w.written();
        self.count_out(now, bytes);
        bytes
    }

    /// Limit of reliable bytes held, and how many are.
    pub(crate) fn reliable_room(&self, config: &LinkConfig) -> (usize, usize) {
        (config.send_bytes_max.min(self.remote.grant) as usize, self.streams_out.held_bytes())
    }

    pub(crate) fn push(&mut self, stream: u8, message: &[u8]) {
        self.streams_out.push(stream, message);
    }

    pub(crate) fn next_message(
        &mut self,
        config: &LinkConfig,
    ) -> Result<Option<(u8, usize, Range<usize>)>, PeerFault> {
        self.streams_in.next_message(config.receive_bytes_max as usize)
    }

    pub(crate) fn message(&self, index: usize, range: Range<usize>) -> &[u8] {
        self.streams_in.message(index, range)
    }

    pub(crate) fn packets_missed(&self) -> u64 {
        self.received.missing()
    }

    pub(crate) fn stats(&self) -> LinkStats {
        LinkStats {
            rtt: self.path.rtt.measured(),
            rtt_min: self.path.rtt.path_min(),
            jitter: self.path.rtt.deviation(),
            loss_in_permille: self.received.loss_permille(),
            loss_out_permille: (u32::from(self.loss_out) * 1_000 / 255) as u16,
            packets_out: self.counters.packets_out,
            packets_in: self.counters.packets_in,
            bytes_out: self.counters.bytes_out,
            bytes_in: self.counters.bytes_in,
            packets_lost: self.packets_missed(),
            unreliable_dropped: self.queue.dropped(),
            packets_resent: self.counters.packets_resent,
            packets_rejected: self.counters.packets_refused,
            carrier_dropped: 0,
            unreliable_queued: self.queue.len(),
            reliable_queued_bytes: self.streams_out.held_bytes(),
            congestion_window_bytes: self.path.congestion.window() as usize,
        }
    }

    fn handle_streams(&mut self, now: Micros, number: u64, streams: &Streams<'_>) -> Result<(), PeerFault> {
        if let Some(ack) = &streams.ack {
            self.handle_ack(now, ack)?;
        }
        self.streams_in.insert(streams);
        self.acks.arrived(now, number, number.saturating_sub(u64::from(streams.floor)), &self.received);
        Ok(())
    }

    fn handle_ack(&mut self, now: Micros, ack: &Ack) -> Result<(), PeerFault> {
        // The nearest number to the next one that has these low bits.
        let behind = (self.next_number as u16).wrapping_sub(ack.newest) as i16;
        if behind <= 0 {
            return Err(PeerFault::AckBeyondSent);
        }
        let newest = self.next_number - behind as u64;
        let hold = Micros::new(u64::from(ack.hold) * 8);
        let (streams, congestion, rtt) =
            (&mut self.streams_out, &mut self.path.congestion, &mut self.path.rtt);
        let first_of_path = self.path.first_of_path;
        let mut acked_any = false;
        for range in ack.ranges(newest) {
            let rtt_before = rtt.clone();
            self.sent.acked(now, range, &rtt_before, |packet| {
                acked_any = true;
                streams.acked(&packet.pieces);
                // A packet sent over another path says nothing about this one.
                if packet.number < first_of_path {
                    return;
                }
                if packet.number == newest && ack.hold != u16::MAX {
                    rtt.sample(now, now.since(packet.at).since(hold), false);
                }
                congestion.acked(now, packet.at, packet.bytes, &packet.mark, rtt);
            });
        }
        if acked_any {
            self.probes = 0;
            self.heartbeat.learned(now);
        }
        Ok(())
    }

    fn handle_ping(&mut self, now: Micros, ping: &Ping) {
        self.loss_out = ping.loss;
        let is_of_path = |rtt: &Micros| now >= self.path.rerouted_at.saturating_add(*rtt);
        if let Some(rtt) = self.heartbeat.handle(now, ping).filter(is_of_path) {
            self.path.rtt.sample(now, rtt, self.sent.in_flight_bytes() == 0);
        }
    }

    fn ask_at(&self, config: &LinkConfig) -> Micros {
        self.heartbeat.ask_at(config, self.sent_at, self.heard_at)
    }

    /// Whether the path has capacity for stream data, and for streams of which length.
    fn allowance(&self) -> Option<u64> {
        let shortest = self.streams_out.shortest()?;
        let packet = DATAGRAM_BYTES_MAX as u64;
        let (window, in_flight) = (self.path.congestion.window(), self.sent.in_flight_bytes());
        if self.sent.is_full() {
            return None;
        }
        if in_flight + packet <= window {
            Some(u64::MAX)
        } else if shortest <= packet && in_flight + packet <= window + HEADROOM_BYTES {
            Some(packet)
        } else {
            None
        }
    }

    /// When silence about sent packets counts as loss.
    fn probe_at(&self) -> Option<Micros> {
        let sent_at = self.sent.newest_at()?;
        let wait = self.path.rtt.probe_timeout().get().saturating_mul(1 << self.probes.min(6));
        let wait_max = PROBE_TIMEOUT_MAX.max(self.path.rtt.probe_timeout());
        Some(sent_at.saturating_add(Micros::new(wait).min(wait_max)))
    }

    #[inline]
    fn count_in(&mut self, now: Micros, number: u64, bytes: usize) {
        self.received.insert(number);
        self.heard_at = now;
        self.counters.packets_in += 1;
        self.counters.bytes_in += bytes as u64;
    }

    fn refuse(&mut self) -> Handled {
        self.counters.packets_refused += 1;
        Handled::Refused
    }
}

fn write_unreliable(buffer: &mut [u8], tag: u8, number: u64, message: &[u8]) -> usize {
    let header = unreliable_header(tag, number as u16);
    buffer[..header.len()].copy_from_slice(&header);
    buffer[header.len()..header.len() + message.len()].copy_from_slice(message);
    header.len() + message.len()
}
