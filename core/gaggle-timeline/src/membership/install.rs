//! Installing a view: its roster replaces the local one, its entries fill gaps, its cuts shorten
//! held streams.
//!
//! Message handling and votes call it. Absent: how a view is agreed.

use super::ballot::Ballot;
use super::bootstrap::JoinContext;
use super::entry_range::EntryRange;
use super::held::Held;
use super::messages::Told;
use super::rows::{self, RosterEntry};
use super::{Fault, Membership, StayEnd};
use crate::entries::Entries;

impl Membership {
    /// Installs a view that descends from the local one and contains this peer, made at ballot
    /// `at`.
    pub(super) fn install(
        &mut self,
        told: &Told,
        at: Ballot,
        tails: &[EntryRange],
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let rows = self.with_goodbyes(&told.view.rows);
        if self.contradicts(&rows) {
            // A joiner may lag so far behind that a row it still counts is forgotten by all others.
            // For a full member this cannot happen; to go on would mean to differ from all others
            // permanently.
            let full = self.is_full();
            self.give_up(if full { StayEnd::Contradicted } else { StayEnd::Starved });
            return Ok(());
        }
        self.lineage.follow(&told.tip);
        self.epoch.advance();
        if at.by != self.me {
            // Others count this peer in their quorum: from here on it does not act as a suspended
            // peer.
            self.watch.wake();
        }
        self.view = told.view.clone();
        for row in self.rows.iter().filter(|row| rows::row_of(&rows, row.stream).is_none()) {
            self.peers.note_forgotten(row.stream);
        }
        self.rows = rows;
        self.fence.settle(at, &self.rules);
        self.fence.see(at.number);
        self.collection = None;
        self.accepted = None;
        self.watch.settle();
        for row in &told.view.rows {
            if !row.is_active()
                && let Some(held) = self.streams.get_mut(row.stream)
                && held.through() > row.last_frame
            {
                held.cut(row.last_frame);
                entries.cut(row.stream, row.last_frame);
            }
        }
        self.refresh();
        for tail in tails {
            if let Some(row) = rows::row_of(&told.view.rows, tail.stream) {
                // A promise that outlasts the view limits its entries, too: no more may be held
                // than was reported.
                let fenced = row.is_active() || self.fence.is_up();
                let forced = !fenced || !self.rules.fence_covers_tails;
                self.absorb(tail, forced, entries)?;
            }
        }
        for row in &told.view.rows {
            if self.streams.get(row.stream).is_none() {
                self.streams.insert(row.stream, Held::from(row.first_frame));
            }
        }
        self.refresh();
        Ok(())
    }

    /// Whether a roster contradicts frames this peer has confirmed.
    pub(super) fn contradicts(&self, rows: &[RosterEntry]) -> bool {
        let after = self.confirmed.saturating_sub(2 * self.settings.lookahead_frames);
        !rows::agree_between(&self.rows, rows, after, self.confirmed)
    }

    /// Whether a view that descends from the local one differs from the frames a donor said were
    /// final: the donor may have held more than it could feed.
    pub(crate) fn takes_back(&self, join_context: &JoinContext) -> bool {
        join_context.confirmed < self.confirmed || self.contradicts(&self.with_goodbyes(&join_context.rows))
    }

    /// Adds confirmed goodbyes: they are part of their streams, not of any roster.
    pub(super) fn with_goodbyes(&self, rows: &[RosterEntry]) -> Vec<RosterEntry> {
        let mut rows = rows.to_vec();
        if self.rules.goodbyes_survive {
            for row in &mut rows {
                if let Some(ours) = rows::row_of(&self.rows, row.stream)
                    && self.streams.end(row.stream).is_some()
                {
                    row.last_frame = row.last_frame.min(ours.last_frame);
                }
            }
        }
        rows
    }
}
