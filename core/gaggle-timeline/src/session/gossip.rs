//! Those who cannot hear each other: asking everybody for entries that do not come, giving what we
//! hold of others, and passing on what they say to each other about membership.

use gaggle_kit::{DecodeError, Frame, Input, Micros, PeerId};

use super::Session;
use crate::budget::RateLimit;
use crate::config::PACKET_OVERHEAD_BYTES;
use crate::driver::MESSAGE_STREAM;
use crate::membership::{self, EntryControl, EntryRange, Relation, row_of};
use crate::relay::{Backfill, HEARD_NEVER, HEARD_UNIT_MS, NEEDS_MAX, Other};
use crate::remote::Peer;
use crate::roster::StreamId;
use crate::transfer::Message;

/// Whoever was not heard directly for so long is asked about.
pub(super) const SILENCE: Micros = Micros::from_millis(300);
/// Ticks between two askings.
const ASK_TICKS: u64 = 2;
/// A stall of so many ticks is worth asking about.
const STALL_TICKS: u32 = 3;

/// Attempts to change the view one machine may bring letters about: many more than happen to honest
/// ones.
const LETTERS: RateLimit = RateLimit { burst: 48, per_second: 2 };
/// Bytes of letters passed on for one machine, and to one. What two say to each other about a
/// change takes a few thousand. Both are well below what a link keeps for a peer that is slow:
/// nobody is cut off for what others have written to it.
const LETTER_BYTES_FROM: RateLimit = RateLimit { burst: 512 << 10, per_second: 64 << 10 };
const LETTER_BYTES_TO: RateLimit = RateLimit { burst: 1 << 20, per_second: 128 << 10 };
/// An answer to a question that old is of no use.
const ASKED_TICKS: u64 = 120;

/// When whose entries were asked for.
#[derive(Debug, Default)]
pub(super) struct Relaying {
    asked_tick: u64,
    asked: Vec<(StreamId, u64)>,
    /// What was given to whom in the tick `given_tick`.
    given: Vec<(PeerId, StreamId)>,
    given_tick: u64,
}

impl Relaying {
    fn note_asked(&mut self, needs: &[(StreamId, Frame)], tick: u64) {
        self.asked.retain(|(stream, at)| {
            tick - at < ASKED_TICKS && !needs.iter().any(|(needed, _)| needed == stream)
        });
        self.asked.extend(needs.iter().map(|(stream, _)| (*stream, tick)));
    }

    fn may_give(&mut self, peer: PeerId, stream: StreamId, tick: u64) -> bool {
        if self.given_tick != tick {
            self.given.clear();
            self.given_tick = tick;
        }
        let first = !self.given.contains(&(peer, stream));
        if first {
            self.given.push((peer, stream));
        }
        first
    }

    /// How many answers of a tick are remembered.
    #[cfg(test)]
    pub(super) fn given_count(&self) -> usize {
        self.given.len()
    }

    fn has_asked(&self, stream: StreamId, tick: u64) -> bool {
        self.asked.iter().any(|(asked, at)| *asked == stream && tick - at < ASKED_TICKS)
    }
}

impl<I: Input> Session<I> {
    /// Asks everybody for what does not come from its owner.
    pub(super) fn tend_relaying(&mut self) {
        let silent = |at: Micros| self.now.since(at) >= SILENCE;
        let missing = self.remotes.iter().any(|r| r.is_open && (!r.is_trusted() || silent(r.heard_at)));
        if !self.running || self.spectates || !missing && self.stalled_ticks < STALL_TICKS {
            return;
        }
        if self.ticks < self.relaying.asked_tick + ASK_TICKS {
            return;
        }
        self.relaying.asked_tick = self.ticks;
        let mut needs: Vec<(StreamId, Frame)> = Vec::new();
        for track in self.ledger.tracks() {
            let owner = self.remotes.iter().find(|remote| remote.peer == track.row.stream.peer);
            let unheard = owner.is_none_or(|owner| !owner.is_trusted() || silent(owner.heard_at));
            let late = self.stalled_ticks >= STALL_TICKS && track.have <= self.received_frame;
            if track.have < track.row.last_frame && (unheard || late) && needs.len() < NEEDS_MAX {
                let needed = track.row.first_frame.max(self.membership.confirmed().next());
                needs.push((track.row.stream, track.have.next().max(needed)));
            }
        }
        if needs.is_empty() {
            return;
        }
        self.relaying.note_asked(&needs, self.ticks);
        for index in 0..self.remotes.len() {
            let remote = &self.remotes[index];
            let others: Vec<_> = needs.iter().copied().filter(|(s, _)| s.peer != remote.peer).collect();
            if remote.is_open && remote.is_trusted() && !others.is_empty() {
                let peer = remote.peer;
                Other::BackfillRequest(others).encode(self.outbox.packet(peer));
            }
        }
    }

    pub(super) fn take_other(&mut self, index: usize, other: Other) {
        // Only those who share our history can help us, or be helped.
        if self.membership.relation_of(self.remotes[index].peer) != Some(Relation::Same) {
            return;
        }
        match other {
            Other::BackfillRequest(needs) => {
                let peer = self.remotes[index].peer;
                for (stream, from) in needs {
                    // Each once a tick, however often it is asked for: answers are larger than
                    // questions. What nobody has is not even remembered.
                    let known = row_of(self.membership.known(), stream).is_some();
                    if known && self.relaying.may_give(peer, stream, self.ticks) {
                        self.give(index, stream, from);
                    }
                }
            }
            Other::Backfill(give) => self.take_give(index, &give),
        }
    }

    /// Gives what is held of a stream, and says how its owner is doing.
    fn give(&mut self, index: usize, stream: StreamId, from: Frame) {
        let peer = self.remotes[index].peer;
        let Some(row) = row_of(self.membership.known(), stream) else { return };
        let players = row.slots.len();
        self.sync_held();
        let Some(held) = self.membership.held(stream) else { return };
        let room = self.config.packet_bytes_max.saturating_sub(PACKET_OVERHEAD_BYTES);
        let count = (room / (players * I::SIZE + 2)).clamp(1, 64) as u32;
        let from = from.max(held.first);
        let mut tail = EntryRange::from(stream, from);
        let mut value = Vec::new();
        for number in from.number()..=held.through.min(from.saturating_add(count).previous()).number() {
            let frame = Frame::new(number);
            value.clear();
            membership::Entries::write(&self.ledger, stream, frame, &mut value);
            let extras = held.extras(frame);
            if !tail.push(&value, extras) || extras != EntryControl::NONE {
                break;
            }
        }
        let owner = self.remotes.iter().find(|remote| remote.peer == stream.peer);
        let heard = owner.filter(|owner| owner.is_trusted());
        let heard_age = heard.map_or(HEARD_NEVER, |owner| {
            let age = self.now.since(owner.heard_at).as_millis() / HEARD_UNIT_MS;
            age.min(u64::from(HEARD_NEVER) - 1) as u8
        });
        let confirmed = owner.map_or(Frame::START, |owner| owner.confirmed);
        let remote = &self.remotes[index];
        if remote.told.standing().is_some() {
            let give = Backfill { tag: remote.told.tag(), heard_age, confirmed, tail };
            Other::Backfill(give).encode(self.outbox.packet(peer));
        }
    }

    fn take_give(&mut self, index: usize, give: &Backfill) {
        let giver = self.remotes[index].peer;
        let ours = self.membership.lineage();
        let stands_here = self
            .membership
            .standing_of(giver, give.tag)
            .is_some_and(|standing| ours.relate(&standing.tip) == Relation::Same);
        let stream = give.tail.stream;
        if !stands_here || stream.peer == giver || row_of(self.membership.known(), stream).is_none() {
            return;
        }
        if !self.relaying.has_asked(stream, self.ticks) {
            // Its owner tells us itself: whoever speaks for it unasked may speak falsely.
            self.stats.entries_unsolicited += 1;
            return;
        }
        self.sync_held();
        let taken = self.membership.take_tail(&give.tail, &mut self.ledger);
        self.blame(index, taken);
        let now = self.now;
        // What it said was true when it said it. Else a machine that is gone would live on for as
        // long as the word takes.
        let under_way = self.remotes[index].clock.rtt().map_or(0, |rtt| rtt.get() / 2);
        if let Some(owner) = self.remotes.iter_mut().find(|remote| remote.peer == stream.peer) {
            owner.confirmed = owner.confirmed.max(give.confirmed);
            if give.heard_age != HEARD_NEVER {
                let age = Micros::from_millis((u64::from(give.heard_age) + 1) * HEARD_UNIT_MS);
                let at = Micros::new(now.get().saturating_sub(age.get() + under_way));
                if owner.heard_via.is_none_or(|(_, known)| at > known) {
                    owner.heard_via = Some((giver, at));
                }
            }
        }
        self.follow_membership();
    }

    /// Whether somebody who is heard says that it hears this machine.
    pub(super) fn is_heard_via(&self, index: usize) -> bool {
        let Some((via, at)) = self.remotes[index].heard_via else { return false };
        self.now.since(at) < self.config.timeout
            && self.remotes.iter().any(|remote| remote.peer == via && remote.is_trusted())
    }

    /// Says something about membership, if need be through somebody who can reach the receiver.
    pub(super) fn send_letter(&mut self, to: PeerId, bytes: &[u8]) {
        let Some(index) = self.remote_index(to) else { return };
        if self.remotes[index].is_trusted() {
            self.outbox.letter(to, MESSAGE_STREAM).extend_from_slice(bytes);
        } else if let Some((via, _)) = self.remotes[index].heard_via {
            Message::Forward { to, bytes }.encode(self.outbox.letter(via, MESSAGE_STREAM));
        }
    }

    /// Passes something on from one member to another. What is too much is left out: it is said
    /// again.
    pub(super) fn take_letter(&mut self, index: usize, to: PeerId, bytes: &[u8]) {
        let (from, now) = (self.remotes[index].peer, self.now);
        let Some(receiver) = self.remote_index(to).filter(|receiver| *receiver != index) else { return };
        let count = bytes.len() as u32;
        let is_member = |remote: &Peer| remote.is_open && remote.is_trusted();
        let passes = is_member(&self.remotes[index])
            && is_member(&self.remotes[receiver])
            && self.remotes[index].allowed.letter_bytes_from.spend_many(now, count, LETTER_BYTES_FROM)
            && self.remotes[receiver].allowed.letter_bytes_to.spend_many(now, count, LETTER_BYTES_TO);
        if passes {
            Message::ForwardFrom { from, bytes }.encode(self.outbox.letter(to, MESSAGE_STREAM));
        } else {
            self.stats.forwards_rejected += 1;
        }
    }

    /// Somebody we have no link to says something through somebody else. What is wrong with it may
    /// be either's fault, so nobody is blamed.
    pub(super) fn take_letter_from(
        &mut self,
        via: usize,
        from: PeerId,
        bytes: &[u8],
    ) -> Result<(), DecodeError> {
        let direct = self.remote_index(from).map(|index| self.remotes[index].is_trusted());
        let message = membership::Message::decode(bytes)?;
        if direct == Some(false) && self.running {
            if !self.may_be_true(via, from, &message) {
                self.stats.forwards_rejected += 1;
                return Ok(());
            }
            self.sync_held();
            let taken = self.membership.handle_message(self.now, from, message, &mut self.ledger);
            if taken.is_err() {
                self.stats.forwards_rejected += 1;
            }
            self.follow_membership();
        }
        Ok(())
    }

    /// Nothing proves who wrote a letter, so it must not do more than whoever brings it could do in
    /// its own name, or by keeping it back.
    fn may_be_true(&mut self, via: usize, from: PeerId, message: &membership::Message) -> bool {
        use membership::Message;
        let messenger = &self.remotes[via];
        let apart =
            matches!(self.membership.relation_of(messenger.peer), None | Some(Relation::Apart { .. }));
        if !messenger.is_open || apart {
            return false;
        }
        match message {
            // Said on links only: it could end somebody's stay.
            Message::PeerStatus { .. } | Message::AskSnapshot => false,
            // So could this, which is an answer: only whoever is waited for gives it.
            Message::Gone { incarnation } => {
                self.membership.awaits(StreamId { peer: from, incarnation: *incarnation })
            }
            // Each makes everybody begin anew. Whoever brings too many is not listened to, whoever
            // wrote them.
            Message::Collect { ballot, .. } | Message::Nack { promised: ballot, .. } => {
                let allowed = &mut self.remotes[via].allowed;
                let newer = ballot.number > allowed.letter_ballot;
                allowed.letter_ballot = allowed.letter_ballot.max(ballot.number);
                !newer || allowed.letters.spend(self.now, LETTERS)
            }
            _ => true,
        }
    }
}
