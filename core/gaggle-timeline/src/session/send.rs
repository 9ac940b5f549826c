//! What goes out: when a packet is due, and what is in it.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Input, Micros, PeerId};
use gaggle_link::Channel;

use super::Session;
use crate::clock::clock_of;
use crate::config::PACKET_OVERHEAD_BYTES;
use crate::membership::{Extras, Mode};
use crate::packet::{AHEAD_NONE, CheckBlock, Packet, Runs, RunsWriter, Sayings, TAG_NONE, TimeBlock};
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

/// A stranger is told the time so often.
const STRANGER_INTERVAL_TICKS: u64 = 6;
/// Messages waiting to be fetched; whoever never fetches them loses the newest, not its memory.
const LETTERS_MAX: usize = 8_192;

/// Something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Outgoing<'a> {
    /// To whom.
    pub to: PeerId,
    /// How: what may get lost, and what must arrive in the order of its stream.
    pub channel: Channel,
    /// What.
    pub bytes: &'a [u8],
}

impl Outgoing<'_> {
    /// Whether it must arrive.
    pub fn is_reliable(&self) -> bool {
        self.channel != Channel::Unreliable
    }
}

#[derive(Debug)]
struct Letter {
    to: PeerId,
    channel: Channel,
    bytes: Vec<u8>,
}

/// Buffers for packets, and how far the current round of sending is.
#[derive(Debug)]
pub(super) struct Outbox {
    /// The next remote to look at in this round; none is left outside a round.
    cursor: usize,
    remotes: usize,
    bytes: Vec<u8>,
    /// Entries after an acknowledged frame, in wire form. Most peers acknowledge the same frame, so
    /// the last body fits again.
    body: RunsWriter,
    /// What `body` was made from.
    body_of: Option<(Frame, Frame)>,
    /// What entries say besides inputs, in wire form.
    sayings: Vec<u8>,
    letters: VecDeque<Letter>,
    /// The letter being read by whoever sends it, and one that is written for nobody.
    letter: Vec<u8>,
    lost: Vec<u8>,
}

impl Outbox {
    pub(super) fn new(packet_bytes: usize) -> Self {
        let capacity = packet_bytes + 2 * PACKET_OVERHEAD_BYTES;
        Outbox {
            cursor: 0,
            remotes: 0,
            bytes: Vec::with_capacity(capacity),
            body: RunsWriter::with_capacity(capacity),
            body_of: None,
            sayings: Vec::new(),
            letters: VecDeque::new(),
            letter: Vec::new(),
            lost: Vec::new(),
        }
    }

    /// Begins a round: everybody is looked at once.
    pub(super) fn open(&mut self, remotes: usize) {
        self.cursor = 0;
        self.remotes = remotes;
        self.body_of = None;
    }

    /// Ends it: who is where has changed.
    pub(super) fn close(&mut self) {
        self.remotes = 0;
    }

    /// A message that must arrive; the caller writes it.
    pub(super) fn letter(&mut self, to: PeerId, stream: u8) -> &mut Vec<u8> {
        self.post(to, Channel::Reliable(stream))
    }

    /// A packet beside those of the running game; the caller writes it.
    pub(super) fn packet(&mut self, to: PeerId) -> &mut Vec<u8> {
        self.post(to, Channel::Unreliable)
    }

    fn post(&mut self, to: PeerId, channel: Channel) -> &mut Vec<u8> {
        if self.letters.len() >= LETTERS_MAX {
            self.lost.clear();
            return &mut self.lost;
        }
        self.letters.push_back(Letter { to, channel, bytes: Vec::new() });
        let last = self.letters.len() - 1;
        &mut self.letters[last].bytes
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
        if let Some(Letter { to, channel, bytes }) = self.outbox.letters.pop_front() {
            self.outbox.letter = bytes;
            return Some(Outgoing { to, channel, bytes: &self.outbox.letter });
        }
        loop {
            let index = self.outbox.next_index()?;
            if self.is_due(&self.remotes[index]) {
                let to = self.remotes[index].peer;
                self.write_packet(index);
                self.stats.packets_sent += 1;
                self.stats.bytes_sent += self.outbox.bytes.len() as u64;
                return Some(Outgoing { to, channel: Channel::Unreliable, bytes: &self.outbox.bytes });
            }
        }
    }

    /// A guess "unchanged" is right while nothing is sent, so silence costs no rollback: it only
    /// confirms later. So news goes out at once, the rest as rarely as the window allows.
    fn is_due(&self, remote: &Remote) -> bool {
        if !remote.is_trusted() || self.over {
            return false;
        }
        let waited = self.ticks - remote.sent.tick;
        if !self.running || self.watches || remote.watches || remote.meaning.is_none() && !remote.is_open {
            // Time is all we have in common; whoever watches is fed by one of us. Who waits for a match to begin wants to know it soon.
            return waited >= if self.seats.is_empty() { STRANGER_INTERVAL_TICKS } else { 1 };
        }
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
        let remote = &self.remotes[index];
        let (tag, have) = (remote.told.tag(), self.have_of(index));
        // Who has not told what it holds of us gets no entries yet, nor does who has not begun a stream.
        let acked = remote.acked.filter(|_| tag != TAG_NONE && self.has_stream());
        let newest = match acked {
            Some(acked) => self.write_body(acked.max(self.ledger.local.oldest())),
            None => {
                self.outbox.body.clear();
                self.outbox.body_of = None;
                self.anchor()
            }
        };
        let entry_bytes = self.ledger.local.players() * I::SIZE;
        let at_rest = self.membership.is_at_rest();
        let sayings = acked.filter(|_| !at_rest).map_or(Sayings::default(), |acked| {
            let said = self.membership.own().map_or(&[][..], |held| held.sayings());
            write_sayings(said, acked, newest, &mut self.outbox.sayings)
        });
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
            tag,
            missing: now < remote.missing_until,
            newest_low: newest.number() as u16,
            ack_low: have.number() as u16,
            confirmed_age: newest.since(self.membership.confirmed()).min(255) as u8,
            time,
            check,
            observer: !at_rest && tag != TAG_NONE && self.membership.mode() == Mode::Observer,
            promised: if at_rest || tag == TAG_NONE { None } else { self.membership.promise_told() },
            sayings,
            runs,
        };
        self.outbox.bytes.clear();
        packet.encode(&mut self.outbox.bytes);
        remote.sent.tick = self.ticks;
        remote.sent.newest = newest;
    }

    /// Whether we have entries to tell.
    fn has_stream(&self) -> bool {
        self.membership.is_at_rest() || self.membership.own().is_some_and(|held| !held.is_empty())
    }

    /// What stands for the newest entry of somebody who has none: the frame it is at.
    fn anchor(&self) -> Frame {
        if self.has_stream() { self.ledger.local.newest() } else { self.ledger.current }
    }

    /// Puts the entries after `acked` into the outbox's body, as many as fit; the last one's frame.
    fn write_body(&mut self, acked: Frame) -> Frame {
        if let Some((from, to)) = self.outbox.body_of
            && from == acked
        {
            return to;
        }
        let entry_bytes = self.ledger.local.players() * I::SIZE;
        let room = self.config.packet_bytes_max - PACKET_OVERHEAD_BYTES;
        let local = &self.ledger.local;
        let newest = self.membership.own_end().unwrap_or(local.newest());
        let said = match self.membership.is_at_rest() {
            true => &[][..],
            false => self.membership.own().map_or(&[][..], |held| held.sayings()),
        };
        let body = &mut self.outbox.body;
        body.clear();
        let mut frame = acked;
        let mut untold_sayings = false;
        while frame < newest && body.carried() < u8::MAX {
            let next = frame.next();
            // There is room for one entry that says something; the others wait for its acknowledgement.
            let says = !said.is_empty() && said.iter().any(|(at, _)| *at == next);
            if says && untold_sayings {
                break;
            }
            untold_sayings |= says;
            if !local.is_change(next) {
                body.repeat();
            } else if body.bytes_max() + entry_bytes > room {
                break;
            } else {
                let entry = local.entry(next);
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

/// What the entries after `acked` up to `newest` say, in wire form.
fn write_sayings<'a>(
    said: &[(Frame, Extras)],
    acked: Frame,
    newest: Frame,
    out: &'a mut Vec<u8>,
) -> Sayings<'a> {
    if said.is_empty() {
        return Sayings::default();
    }
    let told = said.iter().filter(|(frame, _)| *frame > acked && *frame <= newest);
    let told: Vec<(u8, Extras)> =
        told.map(|(frame, extras)| (newest.since(*frame).min(254) as u8, *extras)).collect();
    Sayings::write(&told, out)
}
