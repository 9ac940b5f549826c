//! Taking a view: its table replaces ours, its tails fill our gaps, its cuts shorten what we hold.

use super::ballot::Ballot;
use super::bootstrap::Tidings;
use super::held::{Entries, Held};
use super::messages::Told;
use super::rows::{self, Row};
use super::tail::Tail;
use super::{Fault, Lost, Membership};

impl Membership {
    /// Installs a view that descends from ours and has us in it, made at ballot `at`.
    pub(super) fn install(
        &mut self,
        told: &Told,
        at: Ballot,
        tails: &[Tail],
        entries: &mut dyn Entries,
    ) -> Result<(), Fault> {
        let rows = self.with_goodbyes(&told.view.rows);
        if self.contradicts(&rows) {
            // A joiner may lag so far behind that a row it still counts is forgotten by all others. For
            // a full member this cannot be; to go on would mean to differ from everybody for good.
            let full = self.is_full();
            self.give_up(if full { Lost::Contradicted } else { Lost::Starved });
            return Ok(());
        }
        self.lineage.follow(&told.tip);
        self.epoch.advance();
        if at.by != self.me {
            // Others have us in their circle: what we do from here on is no sleeper's doing.
            self.slept = false;
        }
        self.view = told.view.clone();
        for row in self.rows.iter().filter(|row| rows::row_of(&rows, row.stream).is_none()) {
            self.peers.note_forgotten(row.stream);
        }
        self.rows = rows;
        self.fence.settle(at, &self.rules);
        self.number_seen = self.number_seen.max(at.number);
        self.collection = None;
        self.accepted = None;
        self.unfinished = false;
        self.suspicious_since = None;
        self.held_up = None;
        for row in &told.view.rows {
            if !row.is_open()
                && let Some(held) = self.streams.get_mut(row.stream)
                && held.through > row.last
            {
                held.cut(row.last);
                entries.cut(row.stream, row.last);
            }
        }
        self.refresh();
        for tail in tails {
            if let Some(row) = rows::row_of(&told.view.rows, tail.stream) {
                // A fence that outlasts the view holds against its tails, too: what was reported is all that may be held.
                let fenced = row.is_open() || self.fence.is_up();
                let forced = !fenced || !self.rules.fence_covers_tails;
                self.absorb(tail, forced, entries)?;
            }
        }
        for row in &told.view.rows {
            if self.streams.get(row.stream).is_none() {
                self.streams.insert(row.stream, Held::from(row.first));
            }
        }
        self.refresh();
        Ok(())
    }

    /// Whether a table says otherwise than what we have confirmed.
    pub(super) fn contradicts(&self, rows: &[Row]) -> bool {
        let after = self.confirmed.saturating_sub(2 * self.settings.reach_frames);
        !rows::agree_between(&self.rows, rows, after, self.confirmed)
    }

    /// Whether a history that goes on from ours has something else in it that we were told was final: whoever told us may
    /// have held more than it could pass on to the others.
    pub(crate) fn takes_back(&self, tidings: &Tidings) -> bool {
        tidings.confirmed < self.confirmed || self.contradicts(&self.with_goodbyes(&tidings.rows))
    }

    /// A goodbye we have confirmed is part of that stream, not of any table.
    pub(super) fn with_goodbyes(&self, rows: &[Row]) -> Vec<Row> {
        let mut rows = rows.to_vec();
        if self.rules.goodbyes_survive {
            for row in &mut rows {
                if let Some(ours) = rows::row_of(&self.rows, row.stream)
                    && self.streams.end(row.stream).is_some()
                {
                    row.last = row.last.min(ours.last);
                }
            }
        }
        rows
    }
}
