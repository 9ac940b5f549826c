//! Meeting other branches: how the sender of a packet relates to this peer, whether its entries
//! count, and which branch yields.
//!
//! Packet and message handling call it. Absent: installing a view.

use gaggle_kit::{Frame, Micros, PeerId};

use super::ballot::{BALLOT_LEAP_MAX, Ballot};
use super::entry_range::EntryRange;
use super::history::{Lineage, Relation, Tip};
use super::messages::{Message, Told};
use super::peers::Peer;
use super::rows;
use super::{Fault, Membership, Mode};
use crate::entries::Entries;
use crate::roster::StreamId;

/// Membership fields of a packet about its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SenderStatus {
    /// Tag of the status it refers to.
    pub(crate) tag: u8,
    pub(crate) observer: bool,
    /// Ballot the sender promised, while that promise is open.
    pub(crate) promised: Option<Ballot>,
    pub(crate) confirmed: Frame,
}

/// Entries of a packet that may be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Acceptance {
    Nothing,
    /// Entries of the sender's own stream.
    Own(StreamId),
    /// Forwarded entries, too.
    All(StreamId),
}

impl Membership {
    /// Decides which entries of a packet count.
    ///
    /// # Errors
    /// If the packet is a provable violation.
    pub(crate) fn hear(
        &mut self,
        now: Micros,
        from: PeerId,
        sign: SenderStatus,
        entries: &dyn Entries,
    ) -> Result<Acceptance, Fault> {
        if self.mode == Mode::Out {
            return Ok(Acceptance::Nothing);
        }
        let Some(peer) = self.peers.get(from) else { return Ok(Acceptance::Nothing) };
        let Some(status) = peer.status(sign.tag) else { return Ok(Acceptance::Nothing) };
        let stream = StreamId { peer: from, incarnation: status.incarnation };
        let relation = peer.relation(&self.lineage, &status.tip);
        let depth = status.tip.depth;
        let known = rows::row_of(&self.known, stream).is_some_and(|row| row.last_frame >= self.confirmed);
        let peer = self.peers.entry(from);
        if peer.observes != sign.observer {
            peer.observes = sign.observer;
            self.epoch.advance();
        }
        if let Some(promised) = sign.promised {
            self.see_number(promised.number)?;
            self.note_promise(relation, known, promised);
        }
        if sign.observer {
            return Ok(match relation {
                Relation::Same | Relation::Ancestor => Acceptance::Own(stream),
                Relation::Unknown => self.ask_path(now, from),
                Relation::Descendant | Relation::Apart { .. } => Acceptance::Nothing,
            });
        }
        let hearing = match relation {
            Relation::Same => {
                if known {
                    self.note_confirmed(from, sign.confirmed);
                }
                Acceptance::All(stream)
            }
            Relation::Ancestor => {
                if self.mode == Mode::Member {
                    self.tell_view(now, from, depth, entries);
                }
                if known && self.view.is_open(stream) {
                    self.note_confirmed(from, sign.confirmed);
                }
                if known { Acceptance::Own(stream) } else { Acceptance::Nothing }
            }
            // The sender sees that this peer is behind and sends its view, whether or not that
            // contains this peer.
            Relation::Descendant => Acceptance::Nothing,
            Relation::Apart { senior } => {
                if senior {
                    self.yield_to(now, from);
                }
                Acceptance::Nothing
            }
            Relation::Unknown => self.ask_path(now, from),
        };
        Ok(if self.rules.history_decides { hearing } else { Acceptance::All(stream) })
    }

    /// Notes that a peer has an open promise. Unless this peer has it too, no other may notice that
    /// the view change must be finished.
    fn note_promise(&mut self, relation: Relation, known: bool, promised: Ballot) {
        if self.mode != Mode::Member || !known || !self.rules.finish_what_is_begun {
            return;
        }
        let fenced = relation == Relation::Same && !self.fence.is_up() && self.rules.fence_is_told;
        let higher =
            matches!(relation, Relation::Same | Relation::Ancestor) && promised > self.fence.promised();
        if (fenced || higher) && !self.watch.is_unfinished() {
            self.watch.set_unfinished(true);
            self.epoch.advance();
        }
    }

    /// # Errors
    /// If no honest peer can have reached the number.
    pub(super) fn see_number(&mut self, number: u32) -> Result<(), Fault> {
        if number.saturating_sub(self.fence.number_seen()) > BALLOT_LEAP_MAX {
            return Err(Fault::BallotTooHigh { number });
        }
        self.fence.see(number);
        Ok(())
    }

    /// Sends the own path. A path is long and a request for it short, so it is sent no more often
    /// than an honest peer asks.
    pub(super) fn tell_path(&mut self, now: Micros, to: PeerId) {
        let repeat_after = self.settings.repeat_after;
        let told_at = &mut self.peers.entry(to).path_told_at;
        if self.mode != Mode::Out && told_at.is_none_or(|at| now.since(at) >= repeat_after) {
            *told_at = Some(now);
            self.send(to, Message::Path(self.lineage.whole()));
        }
    }

    pub(super) fn ask_path(&mut self, now: Micros, from: PeerId) -> Acceptance {
        let repeat_after = self.settings.repeat_after;
        let asked_at = &mut self.peers.entry(from).path_asked_at;
        if asked_at.is_none_or(|at| now.since(at) >= repeat_after) {
            *asked_at = Some(now);
            self.send(from, Message::AskPath);
        }
        Acceptance::Nothing
    }

    /// Sends the view to a peer whose view is its ancestor at this depth, with all entries needed
    /// to install it.
    pub(super) fn tell_view(&mut self, now: Micros, to: PeerId, depth: u32, entries: &dyn Entries) {
        let (history, repeat_after) = (self.view.history, self.settings.repeat_after);
        let told = &mut self.peers.entry(to).view_told;
        if told.is_some_and(|(which, at)| which == history && now.since(at) < repeat_after) {
            return;
        }
        *told = Some((history, now));
        let from = self.confirmed.saturating_sub(2 * self.settings.lookahead_frames);
        let in_view = |stream| rows::row_of(&self.view.rows, stream).is_some();
        let tails = self.streams.tails(entries, from, in_view);
        let told = Told { tip: self.lineage.tip_since(depth), view: self.view.clone() };
        self.send(to, Message::View { told, at: self.view.ballot, tails });
    }

    /// Requests the snapshot of a branch that wins. This peer plays on until it has it.
    pub(super) fn yield_to(&mut self, now: Micros, to: PeerId) {
        if self.mode != Mode::Member || self.own_stream.is_leaving() {
            return;
        }
        let repeat_after = self.settings.repeat_after;
        let asked_at = &mut self.peers.entry(to).snapshot_asked_at;
        if asked_at.is_none_or(|at| now.since(at) >= repeat_after) {
            *asked_at = Some(now);
            self.send(to, Message::AskSnapshot);
        }
        if !self.rules.yield_after_snapshot {
            self.mode = Mode::Out;
            self.collection = None;
        }
    }

    /// Takes a view that a peer sent.
    pub(super) fn take_view(
        &mut self,
        now: Micros,
        from: PeerId,
        told: &Told,
        at: Ballot,
        tails: &[EntryRange],
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        if self.mode != Mode::Member {
            return Ok(());
        }
        match self.peers.entry(from).relation(&self.lineage, &told.tip) {
            Relation::Descendant if told.view.is_open(self.me) => {
                self.see_number(at.number)?;
                // The maker of a view has asked all peers in it. With a majority another peer may
                // have finished it.
                if at > self.fence.promised() && !self.settings.majority {
                    return Err(Fault::UnsolicitedView { number: at.number });
                }
                let binding = at < self.fence.promised() && self.rules.promise_binds;
                let made = self.settings.majority && self.rules.made_is_made;
                if binding && !made {
                    let promised = self.fence.promised();
                    let incarnation = self.me.incarnation;
                    self.send(from, Message::Nack { incarnation, promised });
                    return Ok(());
                }
                self.install(told, at, tails, entries)?;
            }
            Relation::Descendant if self.is_left_by_fewer(told) => self.part_from(told),
            // This peer was cut, or the other branch wins.
            Relation::Descendant | Relation::Apart { senior: true } => self.yield_to(now, from),
            Relation::Unknown => {
                self.ask_path(now, from);
            }
            Relation::Same | Relation::Ancestor | Relation::Apart { senior: false } => {}
        }
        Ok(())
    }

    /// Whether the peers that went on without this one are fewer than those they left, as far as
    /// these are reachable: then a view of this side wins, and the others must rejoin. With a
    /// majority no second view can exist.
    fn is_left_by_fewer(&self, told: &Told) -> bool {
        let Some(parted) = self.lineage.next_towards(&told.tip) else { return false };
        let (mut left, mut went_on) = (0, 0);
        for row in self.known.iter().filter(|row| row.is_active()) {
            let with_us =
                || matches!(self.relation_of(row.stream.peer), Some(Relation::Same | Relation::Ancestor));
            if told.view.is_open(row.stream) {
                went_on += 1;
            } else if row.stream == self.me || self.is_reachable(row.stream) && with_us() {
                left += 1;
            }
        }
        // A peer that was suspended, or is not full, cannot make such a view.
        let able = self.is_full()
            && !self.watch.has_slept()
            && !self.settings.majority
            && self.rules.fewer_come_back;
        able && left > went_on.max(parted.size)
    }

    /// Peers in a view that excludes this one, or in its descendants, have left this branch.
    fn part_from(&mut self, told: &Told) {
        let next = |ours: &Lineage, tip: &Tip| ours.next_towards(tip).map(|link| link.history);
        for nth in 0..self.known.len() {
            let stream = self.known[nth].stream;
            let latest = self.peers.get(stream.peer).and_then(Peer::latest);
            let followed = latest
                .is_some_and(|latest| next(&self.lineage, &latest.tip) == next(&self.lineage, &told.tip));
            if told.view.is_open(stream) || followed {
                self.evict(stream);
            }
        }
    }
}
