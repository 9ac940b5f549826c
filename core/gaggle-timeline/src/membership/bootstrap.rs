//! Start of a stay: the context a donor sends with its snapshot, its feed, and creation of a match.
//!
//! The session's `Joiner` and `Donor` call it. Absent: the snapshot itself, and which donor is
//! asked.

use gaggle_kit::{ByteReader, DecodeError, Frame, Micros};

use super::codec;
use super::entry_range::EntryRange;
use super::held::Held;
use super::history::{History, Lineage, MatchId, Relation};
use super::messages::Told;
use super::rows::{self, RosterEntry};
use super::{Fault, Membership, Mode};
use crate::entries::Entries;
use crate::roster::{Incarnation, StreamId};

/// Membership state of the donor at the snapshot's frame, sent with the snapshot.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct JoinContext {
    /// View of the donor with its whole lineage.
    pub(crate) told: Told,
    pub(crate) rows: Vec<RosterEntry>,
    /// Frame of the snapshot.
    pub(crate) confirmed: Frame,
    pub(crate) tails: Vec<EntryRange>,
}

/// Frames a donor has confirmed since the last feed.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Feed {
    /// Branch that the frames belong to.
    pub(crate) history: History,
    /// View of the donor, if the observer does not have it yet.
    pub(crate) told: Option<Told>,
    pub(crate) confirmed: Frame,
    pub(crate) tails: Vec<EntryRange>,
}

/// Effect of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Followed {
    Yes,
    /// The feed is of another branch, or too old.
    Ignored,
    /// Frames before the feed are missing: the donor must begin there.
    Gap,
    /// The feed contradicts earlier ones: only a snapshot helps.
    Impossible,
}

impl Membership {
    /// Whether others may use this peer as a donor: a full member that stays, or, for spectators,
    /// another spectator.
    pub(crate) fn may_donate(&self) -> bool {
        match self.mode {
            Mode::Member => self.is_full(),
            Mode::Observer => self.own_stream.players() == 0,
            Mode::Out => false,
        }
    }

    /// Context to send with the snapshot of a recently confirmed frame.
    pub(crate) fn join_context(&self, at: Frame, entries: &dyn Entries) -> Option<JoinContext> {
        let oldest = self.confirmed.saturating_sub(self.settings.lookahead_frames);
        let in_roster = |stream| rows::row_of(&self.known, stream).is_some();
        let can = self.may_donate() && at <= self.confirmed && at >= oldest;
        can.then(|| JoinContext {
            told: Told { tip: self.lineage.whole(), view: self.view.clone() },
            rows: self.rows.clone(),
            confirmed: at,
            tails: self.streams.tails(entries, at.saturating_sub(self.settings.lookahead_frames), in_roster),
        })
    }

    /// Feed for an observer that has confirmed everything before `from` and knows the view `known`
    /// at `depth`. None if that is too old.
    pub(crate) fn feed(
        &self,
        from: Frame,
        known: History,
        depth: u32,
        entries: &dyn Entries,
    ) -> Option<Feed> {
        let oldest = self.confirmed.saturating_sub(2 * self.settings.lookahead_frames);
        let in_roster = |stream| rows::row_of(&self.known, stream).is_some();
        let told = || Told { tip: self.lineage.tip_since(depth), view: self.view.clone() };
        (self.may_donate() && from >= oldest).then(|| Feed {
            history: self.view.history,
            told: (self.view.history != known).then(told),
            confirmed: self.confirmed,
            tails: self.streams.tails_between(entries, from, self.confirmed, in_roster),
        })
    }

    /// Whether a donor's snapshot should be taken now.
    pub(crate) fn wants(&self, join_context: &JoinContext) -> bool {
        let theirs = self.lineage.relate_whole(&join_context.told.tip);
        match self.mode {
            Mode::Out => true,
            Mode::Member => {
                let excluded = theirs == Relation::Descendant && !rows::is_open(&join_context.rows, self.me);
                !self.own_stream.is_leaving() && (excluded || theirs == Relation::Apart { senior: true })
            }
            Mode::Observer => match theirs {
                Relation::Same | Relation::Descendant => join_context.confirmed > self.confirmed,
                Relation::Apart { senior } => senior,
                Relation::Ancestor | Relation::Unknown => false,
            },
        }
    }

    /// Checks that a donor's match can be joined, so that no inconsistency shows after its snapshot
    /// was taken.
    ///
    /// # Errors
    /// The violation that was found.
    pub(crate) fn judge(
        &self,
        join_context: &JoinContext,
        read: impl Fn(&[u8], Option<usize>) -> Result<(), DecodeError>,
    ) -> Result<(), Fault> {
        if !self.has_slots_of(join_context.rows.iter().chain(&join_context.told.view.rows)) {
            return Err(Fault::UnknownSlots);
        }
        for tail in &join_context.tails {
            let players = rows::row_of(&join_context.rows, tail.stream).map(|row| row.slots.len());
            tail.values().try_for_each(|value| read(value, players)).map_err(Fault::Value)?;
        }
        Ok(())
    }

    /// Restarts as an observer of the donor's match, with an unused incarnation.
    pub(crate) fn adopt(
        &mut self,
        now: Micros,
        join_context: &JoinContext,
        incarnation: Incarnation,
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        if !self.has_slots_of(join_context.rows.iter().chain(&join_context.told.view.rows)) {
            return Err(Fault::UnknownSlots);
        }
        self.fence.see(join_context.told.view.ballot.number);
        self.reset(now, incarnation, entries);
        self.mode = Mode::Observer;
        self.epoch.advance();
        self.lineage = Lineage::of_tip(&join_context.told.tip);
        self.view = join_context.told.view.clone();
        self.fence.restart(self.view.ballot);
        self.rows.clone_from(&join_context.rows);
        self.confirmed = join_context.confirmed;
        self.settled = join_context.confirmed;
        self.watch.begin_fed(join_context.confirmed);
        self.refresh();
        for tail in &join_context.tails {
            self.absorb(tail, true, entries)?;
        }
        self.open_runs();
        Ok(())
    }

    /// Takes a feed: the frames a donor has confirmed.
    pub(crate) fn follow(
        &mut self,
        now: Micros,
        feed: &Feed,
        entries: &mut dyn Entries,
    ) -> Result<Followed, Fault> {
        if !self.has_slots_of(feed.told.iter().flat_map(|told| &told.view.rows)) {
            return Err(Fault::UnknownSlots);
        }
        let relation = match &feed.told {
            Some(told) => self.lineage.relate(&told.tip),
            None if feed.history == self.lineage.history() => Relation::Same,
            None => Relation::Unknown,
        };
        let ballot = feed.told.as_ref().map_or(self.view.ballot, |told| told.view.ballot);
        let leaving_it = self.fence.promised() > ballot && self.rules.fence_covers_feeds;
        if self.mode != Mode::Observer || leaving_it || feed.confirmed < self.confirmed {
            return Ok(Followed::Ignored);
        }
        match (relation, &feed.told) {
            (Relation::Same, _) => {}
            (Relation::Descendant, Some(told)) => {
                if self.contradicts(&self.with_goodbyes(&told.view.rows)) {
                    return Ok(Followed::Impossible);
                }
                self.fence.lower();
                self.install(told, told.view.ballot, &[], entries)?;
            }
            _ => return Ok(Followed::Ignored),
        }
        if self.leaves_gap(feed) {
            return Ok(Followed::Gap);
        }
        for tail in &feed.tails {
            self.absorb(tail, true, entries)?;
        }
        self.open_runs();
        self.watch.note_fed(now, feed.confirmed);
        Ok(Followed::Yes)
    }

    /// Whether the feed lacks an entry of the next frame to confirm.
    fn leaves_gap(&self, feed: &Feed) -> bool {
        let next = self.confirmed.next();
        let told =
            |stream| feed.tails.iter().any(|t| t.stream == stream && t.from <= next && next <= t.through());
        let mut present = self.rows.iter().filter(|row| row.is_present_at(next));
        feed.confirmed >= next
            && present.any(|row| !self.streams.holds(row.stream, next) && !told(row.stream))
    }

    /// Begins another stream with a new incarnation, because no peer can follow the old one any
    /// more.
    pub(crate) fn rename(&mut self, incarnation: Incarnation, entries: &mut dyn Entries) {
        let former = self.me;
        self.streams.retain(entries, |stream| stream != former);
        self.me = StreamId { peer: former.peer, incarnation };
        self.own_stream.restart();
        self.epoch.advance();
    }

    /// Creates a match from the current state, after the last confirmed frame.
    pub(crate) fn found(
        &mut self,
        now: Micros,
        game: MatchId,
        incarnation: Incarnation,
        entries: &mut dyn Entries,
    ) {
        self.reset(now, incarnation, entries);
        let slots = self.own_stream.slots_to_begin_with();
        let row = RosterEntry {
            stream: self.me,
            slots,
            first_frame: self.confirmed.next(),
            last_frame: Frame::NEVER,
        };
        self.epoch.advance();
        self.begin(game, vec![row], self.confirmed);
    }

    fn reset(&mut self, now: Micros, incarnation: Incarnation, entries: &mut dyn Entries) {
        if let Some(row) = rows::row_of(&self.known, self.me) {
            // A peer that joins again prefers its old slots.
            self.own_stream.prefer(row.slots);
        }
        self.me = StreamId { peer: self.me.peer, incarnation };
        self.streams.clear(entries);
        self.rows.clear();
        // The roster may be equal to the one before, but values derived from it must be computed
        // again.
        self.known.clear();
        self.changes.note();
        self.own_stream.restart();
        self.collection = None;
        self.accepted = None;
        self.own_stream.set_leaving(false);
        self.watch.begin_stay(now);
        self.reports.begin_stay();
    }

    /// Begins an empty run at its row's first frame for each stream without held entries.
    fn open_runs(&mut self) {
        for nth in 0..self.known.len() {
            let row = self.known[nth];
            if row.stream != self.me && self.streams.get(row.stream).is_none() {
                self.streams.insert(row.stream, Held::from(row.first_frame));
            }
        }
    }
}

impl Feed {
    /// Approximate memory use in bytes.
    pub(crate) fn weight(&self) -> usize {
        self.tails.iter().map(EntryRange::weight).sum()
    }
}

impl JoinContext {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        codec::put_told(out, &self.told);
        codec::put_rows(out, &self.rows);
        codec::put_frame(out, self.confirmed);
        codec::put_tails(out, &self.tails);
    }

    pub(crate) fn decode(r: &mut ByteReader<'_>) -> Result<JoinContext, DecodeError> {
        let (told, rows) = (codec::told(r)?, codec::rows(r)?);
        let confirmed = codec::frame(r, "confirmed frame")?;
        Ok(JoinContext { told, rows, confirmed, tails: codec::tails(r)? })
    }
}

impl Feed {
    pub(crate) fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.history.0.to_le_bytes());
        out.push(u8::from(self.told.is_some()));
        if let Some(told) = &self.told {
            codec::put_told(out, told);
        }
        codec::put_frame(out, self.confirmed);
        codec::put_tails(out, &self.tails);
    }

    pub(crate) fn decode(r: &mut ByteReader<'_>) -> Result<Feed, DecodeError> {
        let history = History(r.u64("history")?);
        let told = if r.bool("view")? { Some(codec::told(r)?) } else { None };
        if told.as_ref().is_some_and(|told| told.view.history != history) {
            return Err(DecodeError::NotCanonical { what: "history" });
        }
        let confirmed = codec::frame(r, "confirmed frame")?;
        Ok(Feed { history, told, confirmed, tails: codec::tails(r)? })
    }
}
