//! Outgoing packets of the running game: when one is due, and its content.
//!
//! `Session::poll_transmit` calls it for one peer after the other. Absent: decisions; the match's
//! data comes in as [`Tell`].

use gaggle_kit::{Frame, Input, Micros};

use crate::clock::clock_of;
use crate::config::PACKET_OVERHEAD_BYTES;
use crate::desync::OwnCheck;
use crate::input_log::LocalStream;
use crate::membership::{Ballot, EntryControl, Membership, Mode};
use crate::packet::{AHEAD_NONE, CheckBlock, EntryControls, Packet, TAG_NONE, TimeBlock};
use crate::peers::{Liveness, Peer, Sent};
use crate::runs::RunsWriter;
use crate::session::Cx;

/// Time after a loss for which packets are sent every frame.
pub(crate) const LOSS_MEMORY: Micros = Micros::from_secs(5);
/// Clocks are sent by time, not by packet, so that rare packets do not delay the estimate.
const TIME_INTERVAL: Micros = Micros::from_millis(100);
/// Most ticks between two packets while the game runs, if the window has room for it. Four would
/// save little more, and stall when the latency jumps.
const INTERVAL_TICKS_MAX: u64 = 3;
/// Ticks between packets to a peer that is gone, in case it returns.
const GONE_INTERVAL_TICKS: u64 = 15;

/// Where packets are lost, hashes are sent this often, this many ticks apart: when peers vote on a
/// state, waiting a second for a peer's hash is too long.
const CHECK_TIMES: u8 = 3;
const CHECK_AGAIN_TICKS: u64 = 10;
/// Ticks between clocks sent to a peer that does not play.
const STRANGER_INTERVAL_TICKS: u64 = 6;
/// Once the clocks are known, packets between spectators and members only show liveness: often
/// enough for three to be lost before a peer looks interrupted.
const SPECTATOR_INTERVAL_TICKS: u64 = 20;
/// Clocks and hashes of a packet.
struct Blocks {
    time: Option<TimeBlock>,
    check: Option<CheckBlock>,
}

/// Facts that decide whether packets are due.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SendView {
    pub(crate) is_running: bool,
    pub(crate) is_gathering: bool,
    pub(crate) is_stalled: bool,
    /// The newest local entry that differs from its prediction.
    pub(crate) newest_change: Frame,
    pub(crate) input_delay: u32,
}

/// Match data for a packet.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tell<'a> {
    /// Frame up to which the receiver's stream is held.
    pub(crate) have: Frame,
    pub(crate) confirmed: Frame,
    /// The current frame, used instead of the newest entry if there is none.
    pub(crate) current: Frame,
    /// Whether there are entries to send, and the last frame of the stream.
    pub(crate) has_stream: bool,
    pub(crate) own_end: Option<Frame>,
    /// First frame after which the controls of own entries are known. Entries before it are not
    /// sent: a peer that lags so far would take a missing control for an empty one, and gets those
    /// entries from its donor.
    pub(crate) whole_after: Frame,
    /// Controls of own entries.
    pub(crate) said: &'a [(Frame, EntryControl)],
    /// Only entries, clocks and hashes are sent.
    pub(crate) is_at_rest: bool,
    pub(crate) is_learner: bool,
    pub(crate) promised: Option<Ballot>,
    /// The newest local hashes.
    pub(crate) check: Option<OwnCheck>,
}

impl<'a> Tell<'a> {
    /// What `membership` says of the local peer, to a receiver whose stream is held up to `have`.
    pub(crate) fn of(
        membership: &'a Membership,
        have: Frame,
        current: Frame,
        check: Option<OwnCheck>,
    ) -> Tell<'a> {
        let (own, is_at_rest) = (membership.own(), membership.is_at_rest());
        Tell {
            have,
            confirmed: membership.confirmed(),
            current,
            has_stream: is_at_rest || own.is_some_and(|held| !held.is_empty()),
            own_end: membership.own_end(),
            whole_after: own.map_or(Frame::START, |own| own.first().previous()),
            said: own.filter(|_| !is_at_rest).map_or(&[][..], |held| held.entry_controls()),
            is_at_rest,
            is_learner: membership.mode() == Mode::Observer,
            promised: if is_at_rest { None } else { membership.promise_told() },
            check,
        }
    }
}

/// Buffers for packets, and the progress of the current round of sending.
#[derive(Debug)]
pub(crate) struct Sender {
    /// The next peer to check in this round; none is left outside a round.
    cursor: usize,
    peers: usize,
    bytes: Vec<u8>,
    /// Encoded entries after an acknowledged frame. Most peers acknowledge the same frame, so the
    /// last body is often reused.
    body: RunsWriter,
    /// Frames of the entries in `body`.
    body_of: Option<(Frame, Frame)>,
    /// Encoded controls of entries.
    entry_controls: Vec<u8>,
}

impl Sender {
    pub(crate) fn new(packet_bytes: usize) -> Self {
        let capacity = packet_bytes + 2 * PACKET_OVERHEAD_BYTES;
        Sender {
            cursor: 0,
            peers: 0,
            bytes: Vec::with_capacity(capacity),
            body: RunsWriter::with_capacity(capacity),
            body_of: None,
            entry_controls: Vec::new(),
        }
    }

    /// Begins a round in which each of `peers` peers is checked once.
    pub(crate) fn open(&mut self, peers: usize) {
        self.cursor = 0;
        self.peers = peers;
        self.body_of = None;
    }

    /// Ends the round: indexes of peers have changed.
    pub(crate) fn close(&mut self) {
        self.peers = 0;
    }

    /// The next peer to check in this round.
    #[inline]
    pub(crate) fn next_index(&mut self) -> Option<usize> {
        let index = self.cursor;
        (index < self.peers).then(|| {
            self.cursor += 1;
            index
        })
    }

    /// The packet written last.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    // Separate from the search for a peer to write to, which usually finds none.
    #[inline(never)]
    pub(crate) fn write<I: Input>(
        &mut self,
        cx: &mut Cx,
        remote: &mut Peer,
        local: &LocalStream<I>,
        tell: &Tell<'_>,
    ) {
        let tag = remote.hello.told().tag();
        // A peer that has not told which local entries it holds gets none yet.
        let acked = remote.stream.acked().filter(|_| tag != TAG_NONE && tell.has_stream);
        let newest = match acked {
            Some(acked) => {
                let after = acked.max(local.oldest()).max(tell.whole_after);
                self.write_body(after, cx.config.packet_bytes_max, local, tell)
            }
            None => {
                self.body.clear();
                self.body_of = None;
                if tell.has_stream { local.newest() } else { tell.current }
            }
        };
        let delay = local.input_delay();
        let untold = untold_check(cx, remote, tell.check, newest);
        let is_plain = acked.is_some()
            && tell.is_at_rest
            && !is_time_due(cx, remote.stream.sent(), delay)
            && untold.is_none();
        let packet = Packet {
            tag,
            missing: remote.stream.is_missing(cx.now),
            newest_low: newest.number() as u16,
            ack_low: tell.have.number() as u16,
            confirmed_age: newest.since(tell.confirmed).min(255) as u8,
            time: None,
            check: None,
            observer: false,
            promised: None,
            entry_controls: EntryControls::default(),
            runs: self.body.finish(local.players() * I::SIZE),
        };
        self.bytes.clear();
        if is_plain {
            // Most packets contain only entries. Written separately, so that no other block is
            // checked.
            packet.encode(&mut self.bytes);
        } else {
            self.entry_controls.clear();
            if let Some(acked) = acked.filter(|_| !tell.is_at_rest) {
                write_controls(tell.said, acked, newest, &mut self.entry_controls);
            }
            let in_match = !tell.is_at_rest && tag != TAG_NONE;
            let Blocks { time, check } = blocks(cx, remote, delay, untold, newest);
            Packet {
                time,
                check,
                observer: in_match && tell.is_learner,
                promised: tell.promised.filter(|_| in_match),
                entry_controls: EntryControls::written(&self.entry_controls),
                ..packet
            }
            .encode(&mut self.bytes);
        }
        cx.stats.packets_sent += 1;
        cx.stats.bytes_sent += self.bytes.len() as u64;
        let sent = remote.stream.sent_mut();
        sent.tick = cx.ticks;
        sent.newest = newest;
    }

    /// Encodes the entries after `acked`, as many as fit. Returns the frame of the last one.
    fn write_body<I: Input>(
        &mut self,
        acked: Frame,
        packet_bytes_max: usize,
        local: &LocalStream<I>,
        tell: &Tell<'_>,
    ) -> Frame {
        if let Some((from, to)) = self.body_of
            && from == acked
        {
            return to;
        }
        let entry_bytes = local.players() * I::SIZE;
        let room = packet_bytes_max - PACKET_OVERHEAD_BYTES;
        let newest = tell.own_end.unwrap_or(local.newest());
        let body = &mut self.body;
        body.clear();
        let mut frame = acked;
        let mut has_said = false;
        while frame < newest && body.carried() < u8::MAX {
            let next = frame.next();
            // There is room for one entry with controls; others wait for its acknowledgement.
            let says = !tell.said.is_empty() && tell.said.iter().any(|(at, _)| *at == next);
            if says && has_said {
                break;
            }
            has_said |= says;
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
        self.body_of = Some((acked, frame));
        frame
    }
}

/// A prediction "unchanged" is right while nothing is sent, so silence costs no rollback: it only
/// confirms later. So news goes out at once, the rest as rarely as the window allows.
#[inline]
pub(crate) fn is_due(cx: &Cx, remote: &Peer, view: &SendView) -> bool {
    if !remote.is_trusted() {
        return false;
    }
    let waited = cx.ticks - remote.stream.sent().tick;
    if !view.is_running
        || cx.spectates
        || remote.watches
        || remote.hello.meaning().is_none() && !remote.is_open
    {
        // Only the clocks matter between the two; a spectator is fed by one member. A peer that
        // waits for a match to start needs to know it soon.
        let is_shown = view.is_running && (cx.spectates || remote.watches);
        let interval = if view.is_gathering {
            1
        } else if is_shown && remote.time.clock().is_known() {
            SPECTATOR_INTERVAL_TICKS
        } else {
            STRANGER_INTERVAL_TICKS
        };
        return waited >= interval;
    }
    if remote.presence.liveness() == Liveness::Gone {
        return waited >= GONE_INTERVAL_TICKS;
    }
    view.newest_change > remote.stream.sent().newest
        || waited >= INTERVAL_TICKS_MAX
        || waited >= 1 && is_long(cx, remote, view, waited)
        || view.input_delay != remote.stream.sent().delay_frames
}

/// Whether this many ticks, at least one, are the most allowed between two packets without news to
/// this peer.
#[inline]
fn is_long(cx: &Cx, remote: &Peer, view: &SendView, ticks: u64) -> bool {
    let is_anxious = cx.config.send_every_frame || view.is_stalled || remote.stream.is_lossy(cx.now);
    if is_anxious || cx.now.since(remote.presence.heard_at()) > cx.silence_max {
        return true;
    }
    // Twice the interval must fit between the one-way latency and what window and delay cover.
    let covered_percent = (cx.config.prediction_frames() + view.input_delay) * 100 + 20;
    let room_percent = covered_percent.saturating_sub(remote.time.one_way_percent());
    match ticks {
        1 => room_percent < 400,
        // While peers synchronize, each needs to know the others' frames.
        2 => room_percent < 600 || !remote.time.advantage().is_together(),
        INTERVAL_TICKS_MAX.. => true,
        0 => false,
    }
}

fn is_time_due(cx: &Cx, sent: &Sent, delay_frames: u32) -> bool {
    sent.time_at.is_none_or(|at| cx.now.since(at) >= TIME_INTERVAL) || sent.delay_frames != delay_frames
}

/// Hashes this peer was not sent, or may have missed. A packet's newest entry may be before the
/// checked frame: then a later packet carries them.
fn untold_check(cx: &Cx, remote: &Peer, own: Option<OwnCheck>, newest: Frame) -> Option<OwnCheck> {
    let Sent { check, check_times, check_tick, .. } = *remote.stream.sent();
    own.filter(|own| {
        let may_be_lost = || remote.stream.is_lossy(cx.now) && check_times < CHECK_TIMES;
        let again = || own.frame == check && cx.ticks >= check_tick + CHECK_AGAIN_TICKS;
        own.frame <= newest && (own.frame > check || may_be_lost() && again())
    })
}

/// Clocks and hashes to send, which are marked as sent.
fn blocks(cx: &Cx, remote: &mut Peer, delay_frames: u32, untold: Option<OwnCheck>, newest: Frame) -> Blocks {
    let sent = remote.stream.sent_mut();
    let time = is_time_due(cx, sent, delay_frames).then(|| {
        sent.time_at = Some(cx.now);
        sent.delay_frames = delay_frames;
        let (echo_ms, hold_ms) = remote.time.clock().echo(cx.now);
        TimeBlock {
            clock_ms: clock_of(cx.now),
            echo_ms,
            hold_ms,
            ahead_quarters: remote.time.advantage().report().unwrap_or(AHEAD_NONE),
            delay_frames: delay_frames.min(255) as u8,
        }
    });
    let check = untold.and_then(|own| {
        let age_frames = u8::try_from(newest - own.frame).ok()?;
        sent.check_times = if own.frame == sent.check { sent.check_times + 1 } else { 1 };
        sent.check_tick = cx.ticks;
        sent.check = own.frame;
        Some(CheckBlock { age_frames, state_hash: own.state_hash, inputs_hash: own.inputs_hash })
    });
    Blocks { time, check }
}

/// Appends the controls of the entries after `acked` up to `newest`, encoded.
fn write_controls(said: &[(Frame, EntryControl)], acked: Frame, newest: Frame, out: &mut Vec<u8>) {
    if said.is_empty() {
        return;
    }
    let told = said.iter().filter(|(frame, _)| *frame > acked && *frame <= newest);
    let told: Vec<(u8, EntryControl)> =
        told.map(|(frame, extras)| (newest.since(*frame).min(254) as u8, *extras)).collect();
    EntryControls::write(&told, out);
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{PeerId, SlotSet};

    use super::*;
    use crate::peers::{Handshake, PeerTable};

    const VIEW: SendView = SendView {
        is_running: true,
        is_gathering: false,
        is_stalled: false,
        newest_change: Frame::START,
        input_delay: 0,
    };

    /// A member that is heard, near and in step.
    fn member() -> (Cx, PeerTable) {
        let mut table = PeerTable::default();
        table.find_or_insert(PeerId::from_u128(2));
        let remote = &mut table[0];
        remote.hello.set_handshake(Handshake::Synchronized);
        remote.is_open = true;
        remote.time.set_one_way_percent(0);
        remote.time.advantage_mut().handle_distance(0);
        remote.time.advantage_mut().handle_report(0, 0);
        (Cx::for_test(), table)
    }

    /// Ticks after which a packet is due.
    fn interval(cx: &mut Cx, remote: &Peer, view: SendView) -> u64 {
        cx.ticks = 0;
        while !is_due(cx, remote, &view) {
            cx.ticks += 1;
        }
        cx.ticks
    }

    #[test]
    fn changes_are_sent_at_once_and_repeats_rarely() {
        let (mut cx, mut table) = member();
        assert_eq!(interval(&mut cx, &table[0], VIEW), INTERVAL_TICKS_MAX);
        let news = SendView { newest_change: Frame::new(1), ..VIEW };
        assert_eq!(interval(&mut cx, &table[0], news), 0);
        assert_eq!(interval(&mut cx, &table[0], SendView { is_stalled: true, ..VIEW }), 1);
        table[0].time.set_one_way_percent(u32::MAX);
        assert_eq!(interval(&mut cx, &table[0], VIEW), 1, "it is far away");
        table[0].presence.set_liveness(Liveness::Gone);
        assert_eq!(interval(&mut cx, &table[0], VIEW), GONE_INTERVAL_TICKS);
    }

    #[test]
    fn non_members_and_spectators_get_time_rarely() {
        let (mut cx, mut table) = member();
        let waiting = SendView { is_running: false, is_gathering: true, ..VIEW };
        assert_eq!(interval(&mut cx, &table[0], waiting), 1);
        table[0].watches = true;
        assert_eq!(interval(&mut cx, &table[0], VIEW), STRANGER_INTERVAL_TICKS, "no clock yet");
        table[0].hello.set_handshake(Handshake::Linked);
        assert!(!is_due(&cx, &table[0], &VIEW), "it has not announced itself");
    }

    #[test]
    fn round_visits_each_peer_once_and_ends_when_closed() {
        let mut sender = Sender::new(500);
        sender.open(3);
        assert_eq!([sender.next_index(), sender.next_index()], [Some(0), Some(1)]);
        sender.close();
        assert_eq!(sender.next_index(), None);
    }

    #[test]
    fn body_holds_entries_after_acknowledged_one() {
        let mut local = LocalStream::<u8>::new(1, 64);
        local.set_slots(SlotSet::first(1));
        local.fill_neutral(9, |_, _| {});
        let tell = Tell {
            have: Frame::START,
            confirmed: Frame::START,
            current: Frame::START,
            has_stream: true,
            own_end: None,
            whole_after: Frame::START,
            said: &[],
            is_at_rest: true,
            is_learner: false,
            promised: None,
            check: None,
        };
        let mut sender = Sender::new(500);
        assert_eq!(sender.write_body(Frame::new(4), 500, &local, &tell), Frame::new(9));
        assert_eq!(sender.body.carried(), 5);
        let ended = Tell { own_end: Some(Frame::new(6)), ..tell };
        assert_eq!(sender.write_body(Frame::new(5), 500, &local, &ended), Frame::new(6));
    }
}
