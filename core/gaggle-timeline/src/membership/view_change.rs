//! View changes: when one is needed, the reports that are collected, and the view made from them.
//!
//! `Membership::tick` and its message handlers call it. Absent: how a view is installed.

use gaggle_kit::{Frame, Micros, PeerId, VecMap, VecSet};

use super::ballot::Ballot;
use super::collection::{Collection, Top, merge_rows};
use super::entry_range::EntryRange;
use super::history::{Relation, Tip};
use super::messages::{Message, PeerStatus, Proposal, Report, Told};
use super::peers::Peer;
use super::rows::{self, RosterEntry};
use super::view::View;
use super::{Fault, Membership, Mode};
use crate::entries::Entries;
use crate::roster::StreamId;

impl Membership {
    /// Decides whether a view change is needed and this peer must lead it. Continues a running one.
    pub(super) fn decide(&mut self, now: Micros, restart: bool, entries: &mut dyn Entries) {
        let unfinished = self.fence.is_up() || self.watch.is_unfinished() || restart;
        if self.is_quiescent(unfinished) {
            return;
        }
        let Some(row) = rows::row_of(&self.known, self.me).copied() else { return };
        if !row.is_active() || !self.is_full() && self.rules.full_before_coordinating {
            return;
        }
        let missing = |row: &&RosterEntry| {
            let through = self.streams.get(row.stream).map_or(Frame::START, |held| held.through());
            row.is_active() || row.last_frame > self.confirmed && through < row.last_frame
        };
        let live: Vec<RosterEntry> = self.known.iter().filter(missing).copied().collect();
        let is_here = |row: &RosterEntry| row.stream == self.me || self.is_reachable(row.stream);
        let suspicion = live.iter().any(|row| !is_here(row));
        let mut here: Vec<RosterEntry> =
            live.into_iter().filter(|row| row.is_active() && is_here(row)).collect();
        let leads = !here.iter().any(|other| other.rank() < row.rank());
        if !suspicion {
            self.watch.trust();
        }
        if !leads {
            // A peer earlier in rank leads it. If that one falls silent, it is suspected in its
            // turn.
            self.collection = None;
            let first = here.iter().min_by_key(|row| row.rank()).map(|row| row.stream);
            let before_us = here.iter().filter(|other| other.rank() < row.rank()).count() as u32;
            self.watch_stall(now, first.filter(|_| suspicion || unfinished), before_us);
            return;
        }
        let enlist = self.voters_are_missing();
        if !(suspicion || unfinished || enlist || self.collection.is_some()) {
            return;
        }
        gaggle_kit::insertion_sort(&mut here, |row| row.stream);
        let circle: Vec<StreamId> = here.iter().map(|row| row.stream).collect();
        if let Some(collection) = &self.collection
            && !restart
            && self.still_good(collection, &circle)
        {
            let unheard = |stream: &&StreamId| !collection.reports.contains_key(stream);
            let silent = collection.circle.iter().find(unheard).copied();
            self.watch_stall(now, silent, 0);
            self.repeat(now, entries);
            return;
        }
        let ripe = unfinished || if suspicion { !self.is_gathering(now) } else { enlist };
        if ripe {
            self.ask(now, circle, entries);
        }
    }

    /// Evicts a peer that must act or answer for a view change, can be heard and does neither.
    ///
    /// Peers further back in rank wait longer, because those before them may be about to act.
    fn watch_stall(&mut self, now: Micros, by: Option<StreamId>, before_us: u32) {
        // With a majority the remaining peers may be too few to decide: then they wait without
        // limit.
        let by = by.filter(|stream| self.decide_without(*stream));
        let since = self.watch.stall(now, by, self.confirmed);
        if let Some(stream) = by
            && now.since(since).get() >= self.settings.stall_timeout.get() * u64::from(before_us + 1)
        {
            self.watch.end_stall();
            self.evict(stream);
        }
    }

    /// Stream that would lead a view change, as far as this peer knows: the first in rank that is
    /// reachable.
    pub(crate) fn first_here(&self) -> Option<StreamId> {
        let open = self.known.iter().filter(|row| row.is_active());
        let here = open.filter(|row| row.stream == self.me || self.is_reachable(row.stream));
        here.min_by_key(|row| row.rank()).map(|row| row.stream)
    }

    /// Whether the last check found nothing to do and nothing has changed since.
    fn is_quiescent(&mut self, unfinished: bool) -> bool {
        if unfinished || self.collection.is_some() {
            return false;
        }
        if self.watch.is_quiescent(self.epoch) {
            return true;
        }
        let away = |row: &RosterEntry| {
            let through = self.streams.get(row.stream).map_or(Frame::START, |held| held.through());
            let awaited = row.is_active() || row.last_frame > self.confirmed && through < row.last_frame;
            awaited && row.stream != self.me && !self.is_reachable(row.stream)
        };
        let is_quiescent = !self.known.iter().any(away) && !self.voters_are_missing();
        self.watch.set_quiescent(is_quiescent.then_some(self.epoch));
        if is_quiescent {
            self.watch.trust();
            self.watch.end_stall();
        }
        is_quiescent
    }

    /// Whether to wait for more suspicions: asking at the first one would mean asking again at the
    /// second.
    fn is_gathering(&mut self, now: Micros) -> bool {
        let since = self.watch.suspect(now);
        // An eviction does not wait for suspicions.
        self.watch.evicted().is_empty() && self.watch.is_doubtful() && now.since(since) < self.settings.gather
    }

    /// Whether all asked streams can still answer, and no other stream should be asked.
    fn still_good(&self, collection: &Collection, circle: &[StreamId]) -> bool {
        let answers = |stream: &StreamId| {
            let joiner = self.rules.joiners_are_remembered
                && rows::row_of(&self.known, *stream).is_none()
                && self.is_reachable(*stream);
            circle.contains(stream) || joiner
        };
        let widens = self.settings.majority
            && self.rules.small_circle_widens
            && collection.proposal.is_none()
            && circle.iter().any(|stream| !collection.circle.contains(stream));
        collection.circle.iter().all(answers) && !widens
    }

    fn repeat(&mut self, now: Micros, entries: &mut dyn Entries) {
        let repeat_after = self.settings.repeat_after;
        let Some(collection) = &mut self.collection else { return };
        if now.since(collection.asked_at) < repeat_after {
            return;
        }
        collection.asked_at = now;
        if collection.proposal.is_some() {
            self.ask_for_acceptance();
        } else {
            self.send_collect();
            if !self.settings.majority || self.rules.small_circle_widens {
                // The peers that reported may have been too few, and another peer may have arrived
                // since.
                let _ = self.conclude(now, entries);
            }
        }
    }

    fn send_collect(&mut self) {
        let Some(collection) = &self.collection else { return };
        let (ballot, circle) = (collection.ballot, collection.circle.clone());
        let unheard: Vec<PeerId> = circle
            .iter()
            .filter(|stream| !collection.reports.contains_key(stream))
            .map(|stream| stream.peer)
            .collect();
        let tip = self.lineage.tip();
        for peer in unheard {
            self.send(peer, Message::Collect { tip: tip.clone(), ballot, circle: circle.clone() });
        }
    }

    /// Begins an attempt with a ballot above all known ones.
    fn ask(&mut self, now: Micros, circle: Vec<StreamId>, entries: &mut dyn Entries) {
        let number = self.fence.number_seen().max(self.fence.promised().number).saturating_add(1);
        let ballot = Ballot { number, by: self.me };
        self.fence.see(number);
        self.watch.set_unfinished(false);
        self.fence.promise(ballot, &circle, &self.rules);
        self.epoch.advance();
        let own = self.report(ballot, self.lineage.depth(), entries);
        self.collection = Some(Collection {
            ballot,
            circle,
            reports: VecMap::from_iter([(self.me, own)]),
            proposal: None,
            parent: None,
            accepted_by: VecSet::new(),
            asked_at: now,
        });
        self.send_collect();
        // A peer alone waits for no report. Its own report cannot be a violation.
        let _ = self.conclude(now, entries);
    }

    /// Report of all held entries, for a peer whose view is at `depth`.
    fn report(&self, ballot: Ballot, depth: u32, entries: &dyn Entries) -> Report {
        let from = self.confirmed.saturating_sub(self.settings.lookahead_frames);
        let tells = |stream| self.rules.fence_covers_strangers || rows::row_of(&self.known, stream).is_some();
        let mut accepted = self.accepted.clone();
        if let Some(accepted) = &mut accepted
            && !self.rules.accepted_with_tails
        {
            accepted.tails.clear();
        }
        Report {
            ballot,
            incarnation: self.me.incarnation,
            told: Told { tip: self.lineage.tip_since(depth), view: self.view.clone() },
            rows: self.known.clone(),
            confirmed: self.confirmed,
            tails: self.streams.tails(entries, from, tells),
            accepted,
        }
    }

    /// Answers a peer that asks for a report.
    pub(super) fn take_collect(
        &mut self,
        now: Micros,
        from: PeerId,
        tip: &Tip,
        ballot: Ballot,
        circle: &[StreamId],
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let former = circle
            .iter()
            .find(|stream| stream.peer == self.me.peer && (self.mode == Mode::Out || **stream != self.me));
        if let Some(former) = former
            && self.rules.gone_is_told
        {
            self.send(from, Message::Gone { incarnation: former.incarnation });
            return Ok(());
        }
        if self.mode == Mode::Out {
            return Ok(());
        }
        let relation = self.peers.entry(from).relation(&self.lineage, tip);
        match relation {
            _ if self.mode == Mode::Observer && relation != Relation::Same => return Ok(()),
            Relation::Apart { senior } => {
                if senior {
                    self.yield_to(now, from);
                }
                return Ok(());
            }
            Relation::Ancestor if !self.view.is_open(ballot.by) => {
                self.tell_view(now, from, tip.depth, entries);
                return Ok(());
            }
            Relation::Unknown => {
                self.ask_path(now, from);
                return Ok(());
            }
            _ => {}
        }
        // The asking peer has a row, and every peer it may ask knows that row: those peers joined
        // later.
        let seated = relation != Relation::Same || rows::is_open(&self.known, ballot.by);
        if !circle.contains(&self.me) || ballot.by.peer != from || !seated {
            return Ok(());
        }
        self.see_number(ballot.number)?;
        if ballot < self.fence.promised() {
            let (incarnation, promised) = (self.me.incarnation, self.fence.promised());
            self.send(from, Message::Nack { incarnation, promised });
            if relation == Relation::Ancestor {
                self.tell_view(now, from, tip.depth, entries);
            }
            return Ok(());
        }
        if ballot > self.fence.promised() {
            self.collection = None;
            self.fence.promise(ballot, circle, &self.rules);
            self.epoch.advance();
        }
        let report = self.report(ballot, tip.depth, entries);
        self.send(from, Message::Report(Box::new(report)));
        Ok(())
    }

    /// Whether this peer was asked for a report and has not answered.
    pub(crate) fn awaits(&self, stream: StreamId) -> bool {
        self.collection.as_ref().is_some_and(|collection| {
            collection.circle.contains(&stream) && !collection.reports.contains_key(&stream)
        })
    }

    /// A peer has promised a higher ballot than that of this attempt or of the view it was sent:
    /// begin again above that ballot.
    pub(super) fn take_nack(
        &mut self,
        now: Micros,
        by: StreamId,
        promised: Ballot,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        if self.mode != Mode::Member {
            return Ok(());
        }
        self.see_number(promised.number)?;
        let asked = self.collection.as_ref().map_or(Ballot::FOUNDING, |collection| collection.ballot);
        if promised > self.fence.promised().max(asked) && rows::is_open(&self.known, by) {
            self.collection = None;
            self.watch.set_unfinished(true);
            self.epoch.advance();
            self.decide(now, true, entries);
        }
        Ok(())
    }

    pub(super) fn take_report(
        &mut self,
        now: Micros,
        from: PeerId,
        report: Report,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let stream = StreamId { peer: from, incarnation: report.incarnation };
        let possible = self.own().map_or(self.confirmed, |own| own.through().max(self.confirmed));
        let is_false = self.is_false(&report, possible);
        if let Some(collection) = &mut self.collection
            && collection.ballot == report.ballot
            && collection.circle.contains(&stream)
            && collection.proposal.is_none()
        {
            if is_false {
                return Err(Fault::FalseReport);
            }
            collection.reports.insert(stream, report);
            self.conclude(now, entries)?;
        }
        Ok(())
    }

    /// Whether a report cannot be true: it omits a peer that is present here, or confirms frames
    /// without an entry of this peer.
    ///
    /// Rows are dropped three lookaheads after their end, and no peer is more than one lookahead
    /// ahead of this one: a row that is open here cannot be dropped there. The own row has ended
    /// for no peer while it is open. No frame is confirmed without the own entry, so no peer has
    /// confirmed more than `possible`.
    fn is_false(&self, report: &Report, possible: Frame) -> bool {
        let told = |stream: StreamId| rows::row_of(&report.rows, stream);
        if report.told.view.history != self.view.history {
            let seated = report.told.view.is_open(self.me);
            return seated && !told(self.me).is_some_and(RosterEntry::is_active);
        }
        let denied = |row: &RosterEntry| match told(row.stream) {
            Some(told) if row.stream == self.me => !told.is_active(),
            Some(told) => told.last_frame <= self.confirmed,
            None => report.confirmed >= row.first_frame,
        };
        report.confirmed > possible || self.rows.iter().any(|row| row.is_active() && denied(row))
    }

    /// Makes the next view once all asked peers have reported.
    fn conclude(&mut self, now: Micros, entries: &mut dyn Entries) -> Result<(), Fault> {
        let Some(collection) = &self.collection else { return Ok(()) };
        let part = !self.rules.wait_for_all && collection.reports.len() * 2 > collection.circle.len();
        let complete = collection.circle.iter().all(|stream| collection.reports.contains_key(stream));
        if collection.proposal.is_some() || !complete && !part {
            return Ok(());
        }
        let collection = collection.clone();
        let Top { lineage, view: top, by } =
            collection.deepest(&self.lineage, &self.view, self.me, &self.rules);
        let mut circle = collection.circle.clone();
        circle.retain(|stream| {
            let report = collection.reports.get(stream);
            report.is_some_and(|r| matches!(lineage.relate(&r.told.tip), Relation::Same | Relation::Ancestor))
        });
        let newer = top.history != self.view.history;
        if !circle.contains(&self.me) || newer && !top.is_open(self.me) {
            self.collection = None;
            self.yield_to(now, by.peer);
            return Ok(());
        }
        let reports = || collection.reports.values();
        let mut rows = merge_rows(&top, reports());
        let electorate = self.electorate(&top, &rows);
        if self.settings.majority && self.rules.accept_round {
            let builds_on_top = |p: &&Proposal| p.told.view.parent == top.history;
            let best = reports().filter_map(|r| r.accepted.as_ref()).filter(builds_on_top);
            if let Some(best) = best.max_by_key(|proposal| proposal.ballot).cloned() {
                if !self.may_decide(&electorate, &circle) {
                    return Ok(());
                }
                let mut tails = best.tails;
                tails.extend(reports().flat_map(|r| r.tails.iter().cloned()));
                self.set_parent(electorate);
                return self.propose(best.told, EntryRange::merge(tails), &circle, entries);
            }
        }
        circle.retain(|stream| rows::is_open(&rows, *stream));
        if !circle.contains(&self.me) {
            self.collection = None;
            return Ok(());
        }
        let joiners: Vec<StreamId> = rows
            .iter()
            .filter(|row| row.is_active() && !collection.circle.contains(&row.stream))
            .map(|row| row.stream)
            .filter(|stream| self.is_reachable(*stream))
            .collect();
        if !joiners.is_empty() && self.rules.joiners_are_asked {
            let mut circle = collection.circle;
            circle.extend(joiners);
            gaggle_kit::insertion_sort(&mut circle, |stream| *stream);
            self.ask(now, circle, entries);
            return Ok(());
        }
        let here = circle.len() + self.count_waiting(&rows);
        if !self.may_decide(&electorate, &circle) || here < self.settings.quorum_min {
            return Ok(());
        }
        collection.cut(&mut rows, &circle, self.me, (&self.rules, self.settings.lookahead_frames));
        let tails = EntryRange::merge(reports().flat_map(|r| r.tails.iter().cloned()).collect());
        let size = circle.len() as u8;
        let view =
            View::new(lineage.game(), top.history, collection.ballot, rows, size, self.watch.has_slept());
        let mut grown = lineage;
        grown.push(view.link());
        let told = Told { tip: grown.tip(), view };
        self.set_parent(electorate);
        if self.settings.majority && self.rules.accept_round {
            self.propose(told, tails, &circle, entries)
        } else {
            if let Some(collection) = &mut self.collection {
                collection.circle = circle;
            }
            self.make(&told, &tails, entries)
        }
    }

    /// Number of reachable peers without a row. A peer that waits for admission may be the missing
    /// one, restarted; a peer that plays in this branch was admitted by a peer that is gone, and
    /// this peer has not read the join.
    fn count_waiting(&self, rows: &[RosterEntry]) -> usize {
        let plays_with_us = |id: PeerId, status: &PeerStatus| {
            let stream = StreamId { peer: id, incarnation: status.incarnation };
            self.lineage.relate(&status.tip) == Relation::Same && rows::row_of(rows, stream).is_none()
        };
        let plays = |id: PeerId, peer: &Peer| {
            let left = |status: &PeerStatus| peer.sat_as == Some(status.incarnation);
            let latest = || peer.latest().is_some_and(|status| !left(status) && plays_with_us(id, status));
            peer.reachable && !peer.observes && latest()
        };
        let waits = |(id, peer): &(PeerId, &Peer)| peer.ready_since.is_some() || plays(*id, peer);
        self.peers.iter().filter(waits).count()
    }

    fn set_parent(&mut self, parent: View) {
        if let Some(collection) = &mut self.collection {
            collection.parent = Some(parent);
        }
    }

    /// Makes the view: installs it if it contains this peer, and sends it to the quorum members.
    pub(super) fn make(
        &mut self,
        told: &Told,
        tails: &[EntryRange],
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let Some(collection) = self.collection.take() else { return Ok(()) };
        let at = collection.ballot;
        if told.view.is_open(self.me) {
            self.install(told, at, tails, entries)?;
        }
        for stream in collection.circle {
            let (told, tails) = (told.clone(), tails.to_vec());
            self.send(stream.peer, Message::View { told, at, tails });
        }
        Ok(())
    }
}
