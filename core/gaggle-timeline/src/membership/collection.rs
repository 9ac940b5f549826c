//! Reports that an attempt to change the view collects, and the table that follows from them.
//!
//! `view_change` asks for them and concludes. Absent: when to ask, who may decide.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use gaggle_kit::{Frame, Micros, VecMap, VecSet};

use super::ballot::Ballot;
use super::history::{Lineage, Relation};
use super::messages::{Proposal, Report};
use super::rows::{self, ROWS_MAX, RosterEntry};
use super::rules::Rules;
use super::view::View;
use crate::roster::StreamId;

/// A running attempt to change the view.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Collection {
    pub(super) ballot: Ballot,
    /// Streams that are asked for reports, in rank order, the local one included.
    pub(super) circle: Vec<StreamId>,
    pub(super) reports: VecMap<StreamId, Report>,
    /// With a majority: the proposal under vote, the voters of the view it builds on, and those
    /// that accepted it.
    pub(super) proposal: Option<Proposal>,
    pub(super) parent: Option<View>,
    pub(super) accepted_by: VecSet<StreamId>,
    pub(super) asked_at: Micros,
}

impl Collection {
    /// The deepest view any peer reported: it was made and must be built upon.
    pub(super) fn deepest(&self, lineage: &Lineage, view: &View, me: StreamId, rules: &Rules) -> Top {
        let mut top = Top { lineage: lineage.clone(), view: view.clone(), by: me };
        if rules.build_on_deepest {
            for (stream, report) in self.reports.iter() {
                if top.lineage.relate(&report.told.tip) == Relation::Descendant {
                    top.lineage.follow(&report.told.tip);
                    top.view = report.told.view.clone();
                    top.by = *stream;
                }
            }
        }
        top
    }

    /// Ends every stream outside the quorum after the last entry that any quorum member holds.
    pub(super) fn cut(
        &self,
        rows: &mut Vec<RosterEntry>,
        circle: &[StreamId],
        me: StreamId,
        (rules, lookahead_frames): (&Rules, u32),
    ) {
        let reports = || self.reports.iter();
        let confirmed = reports().map(|(_, report)| report.confirmed);
        let confirmed_most = confirmed.clone().max().unwrap_or(Frame::START);
        let confirmed_least = confirmed.min().unwrap_or(Frame::START);
        for row in rows.iter_mut().filter(|row| row.is_active() && !circle.contains(&row.stream)) {
            let all = rules.cut_at_longest_copy;
            let counted = reports().filter(|(stream, _)| all || **stream == me);
            row.last_frame = longest_copy(row, counted.map(|(_, report)| report));
            if !rules.cut_after_held {
                row.last_frame = row.last_frame.min(confirmed_most).max(row.first_frame.previous());
            }
        }
        // A stream that was cut before may have ended with an entry that no remaining peer holds:
        // then no peer here has confirmed that entry.
        let awaited =
            |row: &&mut RosterEntry| !row.is_active() && row.last_frame > confirmed_most && rules.cut_again;
        for row in rows.iter_mut().filter(awaited) {
            let held = longest_copy(row, reports().map(|(_, report)| report));
            row.last_frame = row.last_frame.min(held.max(confirmed_most));
        }
        // A dishonest leader may have given one slot twice; the first in join order keeps it.
        let table = rows.clone();
        rows.retain(|row| !table.iter().any(|other| other.rank() < row.rank() && other.collides(row)));
        let keep = 2 * lookahead_frames;
        rows.retain(|row| row.last_frame.max(row.first_frame).saturating_add(keep) >= confirmed_least);
    }
}

/// View that a view change builds on.
pub(super) struct Top {
    pub(super) lineage: Lineage,
    pub(super) view: View,
    /// Stream that reported it.
    pub(super) by: StreamId,
}

/// The table of `top` with all joins and goodbyes in the reports.
pub(super) fn merge_rows<'a>(
    top: &View,
    reports: impl Iterator<Item = &'a Report> + Clone,
) -> Vec<RosterEntry> {
    let reports = reports.filter(|report| report.told.view.history == top.history);
    let mut rows = top.rows.clone();
    for row in reports.clone().flat_map(|report| &report.rows) {
        if let Some(known) = rows.iter_mut().find(|known| known.stream == row.stream) {
            known.last_frame = known.last_frame.min(row.last_frame);
        } else if rows.len() < ROWS_MAX {
            rows.push(*row);
        }
    }
    // A peer that confirmed a row's first frame and has no such row any more has seen it end, so
    // long ago that it dropped the row.
    let forgotten = |row: &RosterEntry, report: &Report| {
        report.confirmed >= row.first_frame && rows::row_of(&report.rows, row.stream).is_none()
    };
    rows.retain(|row| !reports.clone().any(|report| forgotten(row, report)));
    rows
}

/// Last frame up to which all copies together hold a stream without gap.
///
/// A peer that has confirmed frames in which the stream counts holds it at least that far, even if
/// it has dropped the beginning.
fn longest_copy<'a>(row: &RosterEntry, reports: impl Iterator<Item = &'a Report>) -> Frame {
    // A heap sorts as well as the library's sort, with a tenth of its code size in a page.
    let mut copies: BinaryHeap<Reverse<(Frame, Frame)>> = reports
        .flat_map(|report| report.tails.iter().map(move |tail| (report.confirmed, tail)))
        .filter(|(_, tail)| tail.stream == row.stream && tail.count > 0)
        .map(|(confirmed, tail)| {
            let followed = confirmed >= row.first_frame.previous() && tail.from <= confirmed.next();
            Reverse((if followed { row.first_frame } else { tail.from }, tail.through()))
        })
        .collect();
    let mut through = row.first_frame.previous();
    while let Some(Reverse((from, to))) = copies.pop()
        && from <= through.next()
    {
        through = through.max(to);
    }
    through
}
