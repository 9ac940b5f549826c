//! What goes out: when a packet is due, and what is in it.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Input, Micros, PeerId};
use gaggle_link::Channel;

use super::Session;
use crate::clock::clock_of;
use crate::config::PACKET_OVERHEAD_BYTES;
use crate::membership::{Ballot, EntryControl, Mode};
use crate::packet::{AHEAD_NONE, CheckBlock, Packet, RunsWriter, Sayings, TAG_NONE, TimeBlock};
use crate::remote::{Liveness, OwnCheck, Peer, Sent};

/// After a loss packets go out every frame for so long.
pub(super) const LOSS_MEMORY: Micros = Micros::from_secs(5);
/// Clocks are told by time, not by packet: rarer packets must not starve the estimate.
const TIME_INTERVAL: Micros = Micros::from_millis(100);
/// Packets are at most so far apart while the game runs, where the window has room for it. Four
/// would save little more, and stall when the latency jumps.
pub(super) const INTERVAL_TICKS_MAX: u64 = 3;
/// A peer that is gone is still told now and then, in case it comes back.
const GONE_INTERVAL_TICKS: u64 = 15;

/// Where packets get lost hashes are told so often, so many ticks apart: a second without
/// somebody's voice is too long when it is asked whose state is right.
const CHECK_TIMES: u8 = 3;
const CHECK_AGAIN_TICKS: u64 = 10;
/// A stranger is told the time so often.
const STRANGER_INTERVAL_TICKS: u64 = 6;
/// Once the clocks are known, whoever watches and whoever is watched only show each other that they
/// are there: often enough for three to get lost before anybody looks interrupted.
const WATCHER_INTERVAL_TICKS: u64 = 20;
/// Messages waiting to be fetched; whoever never fetches them loses the newest, not its memory.
const LETTERS_MAX: usize = 8_192;

/// Something to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Transmit<'a> {
    /// To whom.
    pub to: PeerId,
    /// How: what may get lost, and what must arrive in the order of its stream.
    pub channel: Channel,
    /// What.
    pub bytes: &'a [u8],
}

impl Transmit<'_> {
    /// Whether it must arrive.
    pub fn is_reliable(&self) -> bool {
        self.channel != Channel::Unreliable
    }
}

/// What a packet tells besides entries.
#[derive(Default)]
struct Blocks {
    time: Option<TimeBlock>,
    check: Option<CheckBlock>,
    observer: bool,
    promised: Option<Ballot>,
}

#[derive(Debug)]
struct OutboundMessage {
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
    entry_controls: Vec<u8>,
    outbound_messages: VecDeque<OutboundMessage>,
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
            entry_controls: Vec::new(),
            outbound_messages: VecDeque::new(),
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
        if self.outbound_messages.len() >= LETTERS_MAX {
            self.lost.clear();
            return &mut self.lost;
        }
        self.outbound_messages.push_back(OutboundMessage { to, channel, bytes: Vec::new() });
        let last = self.outbound_messages.len() - 1;
        &mut self.outbound_messages[last].bytes
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
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        if !self.outbox.outbound_messages.is_empty() {
            return self.next_letter();
        }
        loop {
            let index = self.outbox.next_index()?;
            if self.is_due(&self.remotes[index]) {
                self.write_packet(index);
                let to = self.remotes[index].peer;
                return Some(Transmit { to, channel: Channel::Unreliable, bytes: &self.outbox.bytes });
            }
        }
    }

    fn next_letter(&mut self) -> Option<Transmit<'_>> {
        let OutboundMessage { to, channel, bytes } = self.outbox.outbound_messages.pop_front()?;
        if self.outbox.outbound_messages.is_empty() {
            self.joining.note_acknowledged();
        }
        self.outbox.letter = bytes;
        Some(Transmit { to, channel, bytes: &self.outbox.letter })
    }

    /// A guess "unchanged" is right while nothing is sent, so silence costs no rollback: it only
    /// confirms later. So news goes out at once, the rest as rarely as the window allows.
    fn is_due(&self, remote: &Peer) -> bool {
        if !remote.is_trusted() || self.over {
            return false;
        }
        let waited = self.ticks - remote.sent.tick;
        if !self.running || self.spectates || remote.watches || remote.meaning.is_none() && !remote.is_open {
            // Time is all we have in common; whoever watches is fed by one of us. Who waits for a
            // match to begin wants to know it soon.
            let is_shown = self.running && (self.spectates || remote.watches);
            let interval = if !self.seats.is_empty() {
                1
            } else if is_shown && remote.clock.is_known() {
                WATCHER_INTERVAL_TICKS
            } else {
                STRANGER_INTERVAL_TICKS
            };
            return waited >= interval;
        }
        if remote.liveness == Liveness::Gone {
            return waited >= GONE_INTERVAL_TICKS;
        }
        self.newest_change > remote.sent.newest
            || waited >= INTERVAL_TICKS_MAX
            || waited >= 1 && self.is_long(remote, waited)
            || self.input_delay != remote.sent.delay_frames
    }

    /// Whether so many ticks, at least one, are as many as may be between two packets to this peer
    /// that say nothing new.
    #[inline]
    fn is_long(&self, remote: &Peer, ticks: u64) -> bool {
        let anxious = self.config.send_every_frame || self.stalled_ticks > 0 || self.now < remote.lossy_until;
        if anxious || self.now.since(remote.heard_at) > self.silence_max {
            return true;
        }
        // Twice the interval must fit between the one-way latency and what window and delay cover.
        let covered_percent = (self.config.prediction_frames() + self.input_delay) * 100 + 20;
        let room_percent = covered_percent.saturating_sub(remote.one_way_percent);
        match ticks {
            1 => room_percent < 400,
            // While we come together, others need to know where we are.
            2 => room_percent < 600 || !remote.advantage.is_together(),
            INTERVAL_TICKS_MAX.. => true,
            0 => false,
        }
    }

    // Apart from the search for somebody to write to, which mostly finds nobody.
    #[inline(never)]
    fn write_packet(&mut self, index: usize) {
        let remote = &self.remotes[index];
        let (tag, have) = (remote.told.tag(), self.have_of(index));
        let missing = self.now < remote.missing_until;
        // Who has not told what it holds of us gets no entries yet, nor does who has not begun a
        // stream.
        let acked = remote.acked.filter(|_| tag != TAG_NONE && self.has_stream());
        let newest = match acked {
            Some(acked) => {
                self.write_body(acked.max(self.ledger.local.oldest()).max(self.told_whole_after()))
            }
            None => {
                self.outbox.body.clear();
                self.outbox.body_of = None;
                self.anchor()
            }
        };
        let plain = acked.is_some() && self.membership.is_at_rest() && !self.has_news(index, newest);
        let blocks = if plain { Blocks::default() } else { self.blocks(index, tag, acked, newest) };
        let confirmed = self.membership.confirmed();
        let Outbox { body, bytes, entry_controls: sayings, .. } = &mut self.outbox;
        let packet = Packet {
            tag,
            missing,
            newest_low: newest.number() as u16,
            ack_low: have.number() as u16,
            confirmed_age: newest.since(confirmed).min(255) as u8,
            time: None,
            check: None,
            observer: false,
            promised: None,
            entry_controls: Sayings::default(),
            runs: body.finish(self.ledger.local.players() * I::SIZE),
        };
        bytes.clear();
        if plain {
            // Most packets are nothing but entries. Written on its own, so that nothing else is
            // even looked for.
            packet.encode(bytes);
        } else {
            let Blocks { time, check, observer, promised } = blocks;
            Packet { time, check, observer, promised, entry_controls: Sayings::written(sayings), ..packet }
                .encode(bytes);
        }
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += bytes.len() as u64;
        let sent = &mut self.remotes[index].sent;
        sent.tick = self.ticks;
        sent.newest = newest;
    }

    fn is_time_due(&self, index: usize) -> bool {
        let sent = &self.remotes[index].sent;
        let waited = sent.time_at.is_none_or(|at| self.now.since(at) >= TIME_INTERVAL);
        waited || sent.delay_frames != self.input_delay
    }

    /// Hashes this peer has not been told, or may have missed. What a packet tells may end before
    /// the checked frame: then a later packet tells them.
    fn untold_check(&self, index: usize, newest: Frame) -> Option<OwnCheck> {
        let remote = &self.remotes[index];
        let is_untold = |own: &OwnCheck| own.frame > remote.sent.check || self.tells_check_again(remote, own);
        self.checks.newest().filter(|own| own.frame <= newest && is_untold(own))
    }

    fn tells_check_again(&self, remote: &Peer, own: &OwnCheck) -> bool {
        let Sent { check, check_times, check_tick, .. } = remote.sent;
        let may_be_lost = self.now < remote.lossy_until && check_times < CHECK_TIMES;
        may_be_lost && own.frame == check && self.ticks >= check_tick + CHECK_AGAIN_TICKS
    }

    /// Whether a packet that ends with this entry has more to tell than entries.
    fn has_news(&self, index: usize, newest: Frame) -> bool {
        self.is_time_due(index) || self.untold_check(index, newest).is_some()
    }

    /// What a packet tells besides entries. What these say themselves is left in the outbox.
    fn blocks(&mut self, index: usize, tag: u8, acked: Option<Frame>, newest: Frame) -> Blocks {
        let (now, delay_frames) = (self.now, self.input_delay);
        let (time_due, untold) = (self.is_time_due(index), self.untold_check(index, newest));
        let at_rest = self.membership.is_at_rest();
        self.outbox.entry_controls.clear();
        if let Some(acked) = acked.filter(|_| !at_rest) {
            let said = self.membership.own().map_or(&[][..], |held| held.entry_controls());
            write_sayings(said, acked, newest, &mut self.outbox.entry_controls);
        }
        let remote = &mut self.remotes[index];
        let time = time_due.then(|| {
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
        let check = untold.and_then(|own| {
            let age_frames = u8::try_from(newest - own.frame).ok()?;
            let times = if own.frame == remote.sent.check { remote.sent.check_times } else { 0 };
            remote.sent.check_times = times + 1;
            remote.sent.check_tick = self.ticks;
            remote.sent.check = own.frame;
            Some(CheckBlock { age_frames, state_hash: own.state_hash, inputs_hash: own.inputs_hash })
        });
        let in_match = !at_rest && tag != TAG_NONE;
        Blocks {
            time,
            check,
            observer: in_match && self.membership.mode() == Mode::Observer,
            promised: if in_match { self.membership.promise_told() } else { None },
        }
    }

    /// Whether we have entries to tell.
    fn has_stream(&self) -> bool {
        self.membership.is_at_rest() || self.membership.own().is_some_and(|held| !held.is_empty())
    }

    /// After this frame it is known what own entries say besides inputs. Before it they are not
    /// told: whoever lags so far would take one for an entry that says nothing, and learns of it
    /// from whoever brings it in.
    fn told_whole_after(&self) -> Frame {
        self.membership.own().map_or(Frame::START, |own| own.first.previous())
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
            false => self.membership.own().map_or(&[][..], |held| held.entry_controls()),
        };
        let body = &mut self.outbox.body;
        body.clear();
        let mut frame = acked;
        let mut untold_sayings = false;
        while frame < newest && body.carried() < u8::MAX {
            let next = frame.next();
            // There is room for one entry that says something; the others wait for its
            // acknowledgement.
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

/// Appends what the entries after `acked` up to `newest` say, in wire form.
fn write_sayings(said: &[(Frame, EntryControl)], acked: Frame, newest: Frame, out: &mut Vec<u8>) {
    if said.is_empty() {
        return;
    }
    let told = said.iter().filter(|(frame, _)| *frame > acked && *frame <= newest);
    let told: Vec<(u8, EntryControl)> =
        told.map(|(frame, extras)| (newest.since(*frame).min(254) as u8, *extras)).collect();
    Sayings::write(&told, out);
}
