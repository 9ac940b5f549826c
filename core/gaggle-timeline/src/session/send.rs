//! What goes out: when a packet is due, and what is in it.

use gaggle_kit::{Frame, Input, Micros, PeerId};

use super::Session;
use super::receive::TAG;
use crate::clock::clock_of;
use crate::config::PACKET_OVERHEAD_BYTES;
use crate::packet::{AHEAD_NONE, CheckBlock, Packet, Runs, RunsWriter, TimeBlock};
use crate::remote::{Liveness, Remote};

/// After a loss packets go out every frame for so long.
pub(super) const LOSS_MEMORY: Micros = Micros::from_secs(5);
/// Clocks are told by time, not by packet: rarer packets must not starve the estimate.
const TIME_INTERVAL: Micros = Micros::from_millis(100);
/// Packets are at most so far apart while the game runs. Three or four would save little more, and stall
/// when the latency jumps.
pub(super) const INTERVAL_TICKS_MAX: u64 = 2;
/// A peer that is gone is still told now and then, in case it comes back.
const GONE_INTERVAL_TICKS: u64 = 15;

/// Something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// To whom.
    pub to: PeerId,
    /// Whether it must arrive: on the reliable channel, in order. Everything else may get lost.
    pub reliable: bool,
    /// What.
    pub bytes: &'a [u8],
}

/// Buffers for packets, and how far the current round of sending is.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The next remote to look at in this round; none is left outside a round.
    cursor: usize,
    bytes: Vec<u8>,
    /// Entries after an acknowledged frame, in wire form. Most peers acknowledge the same frame, so
    /// the last body fits again.
    body: RunsWriter,
    /// What `body` was made from.
    body_of: Option<(Frame, Frame)>,
    remotes: usize,
}

impl Outbox {
    pub(super) fn new(packet_bytes: usize, remotes: usize) -> Self {
        let capacity = packet_bytes + 2 * PACKET_OVERHEAD_BYTES;
        Outbox {
            cursor: remotes,
            bytes: Vec::with_capacity(capacity),
            body: RunsWriter::with_capacity(capacity),
            body_of: None,
            remotes,
        }
    }

    /// Begins a round: everybody is looked at once.
    pub(super) fn open(&mut self) {
        self.cursor = 0;
        self.body_of = None;
    }

    fn next_index(&mut self) -> Option<usize> {
        let index = self.cursor;
        (index < self.remotes).then(|| {
            self.cursor += 1;
            index
        })
    }
}

impl<I: Input> Session<I> {
    /// The next thing to send, if any is left in this tick.
    pub fn next_packet(&mut self) -> Option<Outgoing<'_>> {
        if let Some((to, message)) = self.messages.pop_front() {
            self.outbox.bytes.clear();
            message.encode(&mut self.outbox.bytes);
            return Some(Outgoing { to, reliable: true, bytes: &self.outbox.bytes });
        }
        loop {
            let index = self.outbox.next_index()?;
            if self.is_due(&self.remotes[index]) {
                let to = self.remotes[index].peer();
                self.write_packet(index);
                self.stats.packets_sent += 1;
                self.stats.bytes_sent += self.outbox.bytes.len() as u64;
                return Some(Outgoing { to, reliable: false, bytes: &self.outbox.bytes });
            }
        }
    }

    /// A guess "unchanged" is right while nothing is sent, so silence costs no rollback: it only
    /// confirms later. So news goes out at once, the rest as rarely as the window allows.
    fn is_due(&self, remote: &Remote) -> bool {
        if !remote.is_trusted() || !remote.is_open() {
            return false;
        }
        let waited = self.ticks - remote.sent.tick;
        if remote.liveness == Liveness::Gone {
            return waited >= GONE_INTERVAL_TICKS;
        }
        self.newest_change > remote.sent.newest
            || waited >= INTERVAL_TICKS_MAX
            || waited >= 1 && !self.may_wait(remote)
            || self.input_delay != remote.sent.delay_frames
    }

    /// Whether a tick may pass without a packet to this peer.
    fn may_wait(&self, remote: &Remote) -> bool {
        let anxious = self.config.send_every_frame
            || !self.running
            || self.stalled_ticks > 0
            || self.now < remote.lossy_until;
        // Twice two ticks must fit between the one-way latency and what window and delay cover.
        let covered_percent = (self.config.window_frames() + self.input_delay) * 100;
        let needed_percent = remote.one_way_percent.saturating_add(200 * INTERVAL_TICKS_MAX as u32 - 20);
        let frames_silent = self.now.since(remote.heard_at) > self.silence_max;
        !anxious && covered_percent >= needed_percent && !frames_silent
    }

    fn write_packet(&mut self, index: usize) {
        let (now, delay_frames) = (self.now, self.input_delay);
        let newest = self.write_body(self.remotes[index].acked);
        let entry_bytes = self.me.slots.len() * I::SIZE;
        let runs: Runs<'_> = self.outbox.body.finish(entry_bytes);
        let remote = &mut self.remotes[index];

        let time_due = remote.sent.time_at.is_none_or(|at| now.since(at) >= TIME_INTERVAL);
        let time = (time_due || delay_frames != remote.sent.delay_frames).then(|| {
            remote.sent.time_at = Some(now);
            remote.sent.delay_frames = delay_frames;
            let (echo_ms, hold_ms) = remote.clock.echo(now);
            TimeBlock {
                clock_ms: clock_of(now),
                echo_ms,
                hold_ms,
                ahead_quarters: remote.advantage.report().unwrap_or(AHEAD_NONE),
                delay_frames: delay_frames.min(255) as u8,
            }
        });
        // What this packet tells may end before the checked frame: then a later packet tells the hashes.
        let untold = self.checks.newest().filter(|own| own.frame > remote.sent.check && own.frame <= newest);
        let check = untold.and_then(|own| {
            let age_frames = u8::try_from(newest - own.frame).ok()?;
            remote.sent.check = own.frame;
            Some(CheckBlock { age_frames, state_hash: own.state_hash, inputs_hash: own.inputs_hash })
        });
        let packet = Packet {
            tag: TAG,
            missing: now < remote.missing_until,
            newest_low: newest.number() as u16,
            ack_low: remote.have.number() as u16,
            confirmed_age: newest.since(self.confirmed).min(255) as u8,
            time,
            check,
            runs,
        };
        self.outbox.bytes.clear();
        packet.encode(&mut self.outbox.bytes);
        remote.sent.tick = self.ticks;
        remote.sent.newest = newest;
    }

    /// Puts the entries after `acked` into the outbox's body, as many as fit; the last one's frame.
    fn write_body(&mut self, acked: Frame) -> Frame {
        if let Some((from, to)) = self.outbox.body_of
            && from == acked
        {
            return to;
        }
        let entry_bytes = self.me.slots.len() * I::SIZE;
        let room = self.config.packet_bytes_max - PACKET_OVERHEAD_BYTES;
        let body = &mut self.outbox.body;
        body.clear();
        let mut frame = acked;
        while frame < self.local.newest() && body.carried() < u8::MAX {
            let next = frame.next();
            if !self.local.is_change(next) {
                body.repeat();
            } else if body.bytes_max() + entry_bytes > room {
                break;
            } else {
                let entry = self.local.entry(next);
                body.change(entry_bytes, |bytes| {
                    if I::SIZE > 0 {
                        for (out, input) in bytes.chunks_exact_mut(I::SIZE).zip(entry) {
                            input.write(out);
                        }
                    }
                });
            }
            frame = next;
        }
        self.outbox.body_of = Some((acked, frame));
        frame
    }
}
