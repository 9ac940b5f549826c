//! Timed actions of a referee: sealing, records, merged packets, snapshots.
//!
//! `Referee` is ticked and polled through it. Absent: handling of clients' packets.

use gaggle_kit::{Frame, Micros};

use super::fanout::{Cursor, PACKETS_PER_ROUND_MAX};
use super::links::{Link, LinkId};
use super::{Referee, RefereeEvent, RefereePhase, SEALED_PER_TICK_MAX, Transmit};
use crate::ablation::Rule;
use crate::journal::Journal;
use crate::lineage::Lineage;
use crate::log::Log;
use crate::message::{Message, OverReason};
use crate::packet::Merged;
use crate::roster::{OutReason, RosterChange, StreamId};
use crate::shape::PACKET_BYTES_MAX;

impl Referee {
    /// Advances time, once per frame. The caller then writes [`Referee::records`], if there are
    /// any, and sends what [`Referee::poll_transmit`] returns.
    pub fn tick(&mut self, now: Micros) {
        self.now = self.now.max(now);
        let gone = self.ticked_at.map_or(Micros::ZERO, |ticked| self.now.since(ticked));
        self.ticked_at = Some(self.now);
        self.sealed_before = self.sealer.log().sealed();
        // A referee that was suspended for more than a window has stopped all clients, so their
        // deadlines move, too.
        if gone > self.config.span(self.config.window_frames) {
            self.sealer.postpone(gone - self.config.span(1));
        }
        match self.phase {
            RefereePhase::Asking => self.ask_again(),
            RefereePhase::Running => self.seal(),
            RefereePhase::Draining => self.finish_draining(),
            RefereePhase::Drained => return,
        }
        if self.phase == RefereePhase::Asking {
            return;
        }
        self.tick_states();
        let (told, log) = (self.told(), self.sealer.log());
        self.fanouts.begin(self.now, &self.config, log, told);
    }

    fn seal(&mut self) {
        // Frames that are not in the journal yet must still be kept.
        for _ in 0..SEALED_PER_TICK_MAX.min(self.config.history_frames as usize / 2) {
            if !self.sealer.try_seal(self.now) {
                break;
            }
            self.stats.frames_sealed += 1;
            self.note_roster();
        }
        if let Some(journal) = &mut self.journal {
            journal.append(self.sealer.log());
        }
        if self.sealer.log().sealed().number().is_multiple_of(32) {
            self.drop_silent();
        }
    }

    fn note_roster(&mut self) {
        let frame = self.sealer.log().sealed();
        while let Some(event) = self.sealer.poll_roster_event(frame) {
            let slot = event.slot;
            self.event(match event.change {
                RosterChange::Joined(stream) => RefereeEvent::Joined { stream, slot, frame },
                RosterChange::Left(row, why) => RefereeEvent::Left { row, slot, frame, why },
            });
        }
    }

    /// Removes silent passive slots, which give no entries that could be missed.
    fn drop_silent(&mut self) {
        for (_, link) in self.links.iter() {
            let is_silent = self.now.since(link.arrivals.heard_at) > self.config.silence_timeout;
            if let Some(slots) = link.slots.filter(|_| is_silent) {
                self.sealer.cancel_join(link.stream);
                self.sealer.leave(link.stream, slots, OutReason::Silent);
            }
        }
    }

    fn ask_again(&mut self) {
        let now = self.now;
        if self.recovery.is_ask_due(now) {
            for index in 0..self.links.end() {
                if let Some((id, _)) = self.links.at(index) {
                    self.send(id, &Message::WhoAreYou(self.epoch));
                }
            }
        }
        let is_hasty = !self.ablation.holds(Rule::EveryMemberIsAsked) && self.recovery.answers() > 0;
        if !is_hasty && !self.recovery.is_complete(now) {
            return;
        }
        let answers = self.recovery.answers();
        let best = self.recovery.finish(self.epoch);
        let is_anew = best.is_none();
        let (lineage, log) = best.unwrap_or_else(|| self.anew(Frame::START));
        let base = log.sealed();
        self.phase = RefereePhase::Running;
        self.restart_with(lineage, log);
        self.event(RefereeEvent::Resumed { base, answers, is_anew });
    }

    /// A new match, because no client holds any frame: no earlier log belongs to it.
    pub(super) fn anew(&self, lost: Frame) -> (Lineage, Log) {
        let log = Log::new(self.sealer.log().shape(), self.config.history_frames, self.config.lookahead());
        (self.lineage.anew(self.epoch, lost), log)
    }

    fn finish_draining(&mut self) {
        let sealed = self.sealer.log().sealed();
        let is_done = self.links.iter().all(|(_, link)| link.progress.ack.is_none_or(|ack| ack >= sealed));
        if self.told() == sealed && is_done || self.now >= self.drain_until {
            self.phase = RefereePhase::Drained;
            for index in 0..self.links.end() {
                if let Some((id, _)) = self.links.at(index) {
                    self.send(id, &Message::Over(OverReason::Draining));
                }
            }
        }
    }

    /// Last frame that clients may be told of: the last one in the journal.
    pub(super) fn told(&self) -> Frame {
        match &self.journal {
            Some(journal) if self.ablation.holds(Rule::JournalComesFirst) => journal.written(),
            _ => self.sealer.log().sealed(),
        }
    }

    /// Bytes to append to the journal before their frames are sent to any client.
    pub fn records(&self) -> &[u8] {
        self.journal.as_ref().map_or(&[], Journal::records)
    }

    /// Whether the records begin a journal of their own, for which earlier ones do not count.
    pub fn is_journal_new(&self) -> bool {
        self.journal.as_ref().is_some_and(Journal::is_new)
    }

    /// Begins the journal again with all kept frames, so that earlier records can go.
    pub fn rewrite_journal(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.rewrite(self.sealer.log(), &self.lineage);
        }
    }

    /// Confirms that the records are in the file.
    pub fn mark_records_written(&mut self) {
        if let Some(journal) = &mut self.journal {
            journal.mark_written();
        }
        // The round that has begun may contain them.
        let told = self.told();
        self.fanouts.extend(&self.config, told);
    }

    pub(super) fn send(&mut self, link: LinkId, message: &Message<'_>) {
        self.send_on(0, link, message);
    }

    /// Sends on a stream: 1 is for states and what must not arrive after them.
    pub(super) fn send_on(&mut self, stream: u8, link: LinkId, message: &Message<'_>) {
        let mut bytes = Vec::new();
        message.write(&mut bytes);
        self.outbox.push_back((link, stream, bytes));
    }

    /// Next packet or message to send.
    pub fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
        while let Some((link, stream, bytes)) = self.outbox.pop_front() {
            if let Some(Link { stream: StreamId { peer, .. }, .. }) = self.links.get(link) {
                self.buffer.clear();
                self.buffer.extend_from_slice(&bytes);
                let peer = *peer;
                return Some(Transmit { link, peer, is_reliable: true, stream, bytes: &self.buffer });
            }
        }
        let link = match self.next_merged(false) {
            Some(link) => link,
            None => self.next_merged(true)?,
        };
        let peer = self.links.get(link)?.stream.peer;
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += self.buffer.len() as u64;
        Some(Transmit { link, peer, is_reliable: false, stream: 0, bytes: &self.buffer })
    }

    /// Writes the next packet of the round. `None` at its end.
    fn next_merged(&mut self, is_spectator: bool) -> Option<LinkId> {
        let mut cursor = self.fanouts.of(is_spectator).cursor()?;
        while cursor.link < self.links.end() {
            if let Some(id) = self.write_merged(&mut cursor, is_spectator) {
                self.fanouts.of(is_spectator).set_cursor(Some(cursor));
                return Some(id);
            }
            cursor = Cursor { link: cursor.link + 1, lane: 0, at: Frame::START, packets: 0 };
        }
        self.fanouts.of(is_spectator).set_cursor(None);
        None
    }

    /// Writes the next packet to the link at the cursor. `None` if it has received all frames of
    /// this round.
    fn write_merged(&mut self, cursor: &mut Cursor, is_spectator: bool) -> Option<LinkId> {
        let log = self.sealer.log();
        let fanout = self.fanouts.of(is_spectator);
        let (limit, lanes) = (fanout.limit(), log.shape().lanes());
        let (id, link) = self.links.at(cursor.link)?;
        if link.slots.is_none() != is_spectator {
            return None;
        }
        // A frame without changes means "as before": so a client that has not said which frames it
        // holds in this term is sent nothing.
        let ack = link.progress.ack?;
        if cursor.packets == PACKETS_PER_ROUND_MAX || cursor.packets > 0 && cursor.lane == lanes {
            return None;
        }
        if ack < log.oldest() {
            if cursor.packets == 0 {
                link.snapshot.want();
            }
            return None;
        }
        let repeats = self.ablation.holds(Rule::ChangesAreRepeated);
        let is_resend_due = link.progress.has_gap && self.now >= link.progress.resend_at;
        if cursor.packets == 0 && is_resend_due && repeats {
            link.progress.has_gap = false;
            link.progress.sent = ack;
            let rtt = link.clocks.rtt().unwrap_or(Micros::from_millis(100));
            link.progress.resend_at = self.now + rtt + self.config.send_interval;
        }
        let from = fanout.from(ack, link.progress.sent);
        let from = if repeats { from } else { link.progress.sent };
        let is_present = link.slots.is_some_and(|slots| self.sealer.is_present(link.stream, &slots));
        let first_slot = link.slots.filter(|_| is_present).map(|slots| slots.first());
        let time = if cursor.packets == 0 { link.clocks.due(self.now) } else { None };
        let head = Merged {
            epoch: self.epoch,
            incarnation_low: link.stream.incarnation as u8,
            sealed_low: limit.number() as u16,
            ahead: first_slot.map(|slot| self.sealer.held_ahead(slot, limit)),
            time: time.map(|time| (time, link.arrivals.slack.low())),
        };
        self.buffer.clear();
        head.write(&mut self.buffer);
        while cursor.lane < lanes {
            let at = from.max(link.ack_of(cursor.lane, ack)).max(cursor.at);
            if at >= limit {
                (cursor.lane, cursor.at) = (cursor.lane + 1, Frame::START);
                continue;
            }
            let (body, to) = fanout.body(log, cursor.lane, at);
            if to == at || self.buffer.len() + body.len() > PACKET_BYTES_MAX {
                break;
            }
            self.buffer.extend_from_slice(body);
            cursor.at = to;
        }
        let size = self.buffer.len() as u64;
        if link.progress.rate.try_acquire(self.now, &self.config.client_rate, size).is_err() {
            return None;
        }
        cursor.packets += 1;
        if cursor.lane == lanes {
            link.progress.sent = limit;
        }
        Some(id)
    }
}
