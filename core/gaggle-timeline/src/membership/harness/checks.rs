//! Invariants checked from outside: the frames any peer confirmed in any branch, and the settled
//! ones.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use gaggle_kit::Frame;

use super::{Membership, Mode, Record, Relation, World};
use crate::membership::history::History;
use crate::membership::rows;
use crate::roster::StreamId;

/// Facts all peers together have shown so far.
#[derive(Debug, Clone, Default)]
pub(super) struct Checks {
    /// Record a peer confirmed, by branch and frame.
    confirmed: BTreeMap<(History, Frame), Record>,
    /// Record a peer reported as settled, by branch and frame.
    settled: BTreeMap<(History, Frame), Record>,
    /// With a majority: settled record by match and frame.
    settled_in_match: BTreeMap<(u64, Frame), Record>,
    /// Views made after each view.
    children: BTreeMap<History, BTreeSet<History>>,
    /// Branch each peer was last seen in.
    history_of: BTreeMap<usize, History>,
    /// By peer: its incarnation and the frame it reported as settled.
    settled_of: BTreeMap<usize, (StreamId, Frame)>,
}

impl World {
    /// AGREEMENT: the same branch and frame mean the same streams with the same values.
    pub(super) fn check_confirmed(&mut self, index: usize, frame: Frame) {
        let node = &self.nodes[index];
        let present = node.machine.rows().iter().filter(|row| row.is_present_at(frame));
        let mut record: Vec<_> =
            present.map(|row| (row.slots.bits(), row.stream, node.store.0[&(row.stream, frame)])).collect();
        record.sort_unstable();
        let slots =
            record.iter().try_fold(0u64, |taken, (slots, ..)| (taken & slots == 0).then_some(taken | slots));
        assert_eq!(node.log.len() as u32, frame.number(), "frames are confirmed one by one");
        if slots.is_none() {
            self.fail(format!("SLOT held twice at {frame} for {index}: {record:?}"));
        }
        let record = Rc::new(record);
        self.node_mut(index).log.push(record.clone());
        self.check_record(index, frame, &record);
    }

    fn check_record(&mut self, index: usize, frame: Frame, record: &Record) {
        let lineage = self.nodes[index].machine.lineage();
        let history = lineage.history();
        let path = lineage.whole();
        let known = Rc::make_mut(&mut self.checks)
            .confirmed
            .entry((history, frame))
            .or_insert_with(|| record.clone());
        if known != record {
            let other = known.clone();
            self.fail(format!("AGREEMENT: {index} at {frame}: {record:?} against {other:?}"));
            return;
        }
        for link in &path.links {
            let settled = self.checks.settled.get(&(link.history, frame));
            if settled.is_some_and(|settled| settled != record) {
                let other = settled.cloned();
                self.fail(format!("SETTLED: {index} at {frame}: {record:?} against {other:?}"));
                return;
            }
        }
    }

    /// CONFIRMED-IS-FINAL: a peer that changes its branch keeps all frames it has confirmed.
    pub(super) fn check_history(&mut self, index: usize) {
        let machine = &self.nodes[index].machine;
        let history = machine.lineage().history();
        if machine.mode() == Mode::Out || self.checks.history_of.get(&index) == Some(&history) {
            return;
        }
        Rc::make_mut(&mut self.checks).history_of.insert(index, history);
        self.counts.installs += 1;
        let (parent, ballot) = (machine.view.parent, machine.view.ballot);
        self.note(|| format!("{index} is in {history:?}, made at {ballot:?}"));
        let children = Rc::make_mut(&mut self.checks).children.entry(parent).or_default();
        children.insert(history);
        if self.plan.majority && children.len() > 1 && parent != History::default() {
            self.fail(format!("MAJORITY: two views follow {parent:?}"));
        }
        let (size, depth) =
            (self.nodes[index].machine.view.size, self.nodes[index].machine.lineage().depth());
        if depth > 0 && usize::from(size) < self.plan.quorum_min && self.counts.boots == 0 {
            // No peer ever joined, so no waiting joiner can have been counted.
            self.fail(format!("WAIT: {index} goes on in a circle of {size}"));
        }
        for number in 1..=self.nodes[index].machine.confirmed().number() {
            let record = self.nodes[index].log[number as usize].clone();
            self.check_record(index, Frame::new(number), &record);
        }
    }

    /// SETTLED: a frame that all confirmed keeps its record in every later view.
    pub(super) fn check_settled(&mut self, index: usize) {
        let machine = &self.nodes[index].machine;
        let (history, game) = (machine.lineage().history(), machine.lineage().game());
        let (me, settled) = (machine.me(), machine.settled());
        // A stay starts at the donor's settled frame, without having settled it.
        let known = Rc::make_mut(&mut self.checks).settled_of.insert(index, (me, settled));
        let from = known.filter(|(name, _)| *name == me).map_or(settled, |(_, frame)| frame);
        for number in from.number() + 1..=settled.number() {
            let frame = Frame::new(number);
            let record = self.nodes[index].log[number as usize].clone();
            let before = Rc::make_mut(&mut self.checks).settled.insert((history, frame), record.clone());
            let in_match = if self.plan.majority {
                Rc::make_mut(&mut self.checks)
                    .settled_in_match
                    .insert((game.started_at, frame), record.clone())
            } else {
                None
            };
            for other in before.into_iter().chain(in_match) {
                if other != record {
                    self.fail(format!("SETTLED twice at {frame}: {record:?} and {other:?}"));
                    return;
                }
            }
            self.check_settled_with_others(index, frame, &record);
        }
    }

    fn check_settled_with_others(&mut self, index: usize, frame: Frame, record: &Record) {
        let lineage = self.nodes[index].machine.lineage();
        let differs = (0..self.nodes.len()).find(|other| {
            let node = &self.nodes[*other];
            let related = || {
                let relation = lineage.relate(&node.machine.lineage().whole());
                matches!(relation, Relation::Same | Relation::Descendant)
            };
            self.member(*other)
                && node.machine.confirmed() >= frame
                && node.log[frame.number() as usize] != *record
                && related()
        });
        if let Some(other) = differs {
            self.fail(format!("SETTLED: {index} settled {frame}, but {other} confirmed otherwise"));
        }
    }

    /// MEMORY: no peer holds more of a stream than it can need. SPREAD: full members of one branch
    /// are never farther apart than the lookahead.
    pub(super) fn check_bounds(&mut self, index: usize) {
        if !self.member(index) {
            return;
        }
        let (lookahead, machine) = (self.plan.lookahead(), &self.nodes[index].machine);
        let (me, confirmed) = (machine.me(), machine.confirmed());
        let counted =
            |row: &&rows::RosterEntry| row.stream != me && row.is_active() && row.first_frame <= confirmed;
        let held = machine.rows().iter().filter(counted).filter_map(|row| machine.held(row.stream));
        let most = held.map(|held| held.len()).max().unwrap_or(0);
        let values = self.nodes[index].store.0.len();
        self.counts.held_most = self.counts.held_most.max(most);
        if most > 4 * lookahead + 3 {
            self.fail(format!("MEMORY: {index} holds {most} entries of one stream"));
        }
        if values > 500 {
            self.fail(format!("MEMORY: {index} holds {values} values"));
        }
        for other in (0..self.nodes.len()).filter(|other| self.member(*other)).collect::<Vec<_>>() {
            for (ahead, behind) in [(index, other), (other, index)] {
                let apart = full_apart(&self.nodes[ahead].machine, &self.nodes[behind].machine);
                self.counts.spread_most = self.counts.spread_most.max(apart);
                if apart > lookahead {
                    self.fail(format!("SPREAD: {ahead} is {apart} frames ahead of {behind}"));
                }
            }
        }
    }
}

/// Frames one full member is ahead of another in the same branch.
fn full_apart(ahead: &Membership, behind: &Membership) -> u32 {
    let counts = |machine: &Membership, by: &Membership| {
        let row = rows::row_of(by.rows(), machine.me());
        row.is_some_and(|row| row.is_active() && row.first_frame <= machine.confirmed().min(by.confirmed()))
    };
    let both = ahead.lineage().history() == behind.lineage().history()
        && counts(ahead, ahead)
        && counts(behind, behind)
        && counts(behind, ahead);
    if both { ahead.confirmed().since(behind.confirmed()) } else { 0 }
}
