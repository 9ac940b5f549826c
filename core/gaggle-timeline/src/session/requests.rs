//! What the game must do, one thing at a time: go back, save, advance, hash.

use gaggle_kit::{Frame, Input, SlotSet};

use super::Session;
use crate::Inputs;
use crate::request::{Request, Sim};

/// How far the requests of the current tick are.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The state to reach.
    target: Frame,
    /// The state that was saved last in this pass, so that it is not saved twice.
    saved: Option<Frame>,
    /// A hash was asked for and its answer is due.
    asked: Option<Asked>,
    /// Where an answer is put.
    hash: Option<u64>,
}

/// Which hash was asked for.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Live(Frame),
    Inquest(Frame),
}

impl Plan {
    pub(super) fn begin(&mut self, target: Frame) {
        self.target = target;
        self.saved = None;
    }
}

/// The next step, decided before anything is lent out.
enum Step {
    Load(Frame),
    Save(Frame),
    Advance(Frame),
    Hash(Frame),
    Keep(Frame),
    Inquest(super::checks::InquestStep),
}

impl<I: Input> Session<I> {
    /// The next thing the game must do. The one before counts as done.
    pub fn next_request(&mut self) -> Option<Request<'_, I>> {
        self.take_answer();
        match self.next_step()? {
            Step::Load(frame) => Some(Request::Load { sim: Sim::Live, frame }),
            Step::Save(frame) => Some(Request::Save { frame }),
            Step::Advance(frame) => {
                Some(Request::Advance { sim: Sim::Live, inputs: self.live_inputs(frame) })
            }
            Step::Hash(frame) => {
                self.plan.asked = Some(Asked::Live(frame));
                Some(Request::Hash { sim: Sim::Live, frame, hash: &mut self.plan.hash })
            }
            Step::Keep(frame) => Some(Request::Keep { frame, forget_before: self.agreed_by_all() }),
            Step::Inquest(step) => Some(self.inquest_request(step)),
        }
    }

    fn next_step(&mut self) -> Option<Step> {
        if self.changed <= self.current {
            return Some(Step::Load(self.roll_back()));
        }
        self.changed = Frame::NEVER;
        if self.current < self.plan.target {
            let next = self.current.next();
            if self.plan.saved != Some(self.current) && self.must_save(next) {
                self.plan.saved = Some(self.current);
                self.stats.saves += 1;
                return Some(Step::Save(self.current));
            }
            self.current = next;
            return Some(Step::Advance(next));
        }
        if let Some(frame) = self.checks.hash_due(self.current.min(self.confirmed)) {
            // The state may be the present one, which no later frame has made us save.
            if frame == self.current && self.plan.saved != Some(frame) {
                self.plan.saved = Some(frame);
                self.stats.saves += 1;
                return Some(Step::Save(frame));
            }
            return Some(Step::Hash(frame));
        }
        if let Some(frame) = self.checks.keep_due(self.current) {
            return Some(Step::Keep(frame));
        }
        self.inquest_step().map(Step::Inquest)
    }

    /// Only what was simulated on a guess can be returned to; and what will be hashed must be kept.
    fn must_save(&self, next: Frame) -> bool {
        next > self.horizon || self.checks.is_check_frame(self.current)
    }

    fn roll_back(&mut self) -> Frame {
        let depth = self.current.since(self.changed) + 1;
        self.stats.rollbacks += 1;
        self.stats.rollback_frames_last = depth;
        self.stats.rollback_frames_max = self.stats.rollback_frames_max.max(depth);
        self.stats.frames_again += u64::from(depth);
        self.stats.frames -= u64::from(depth);
        let to = self.changed.previous();
        self.plan.target = self.plan.target.max(self.current);
        self.current = to;
        self.changed = Frame::NEVER;
        self.plan.saved = Some(to);
        to
    }

    fn live_inputs(&mut self, frame: Frame) -> Inputs<'_, I> {
        self.stats.frames += 1;
        let mut guessed = SlotSet::EMPTY;
        let mut present = if self.me.counts_at(frame) { self.me.slots } else { SlotSet::EMPTY };
        let mut unsure = SlotSet::EMPTY;
        for remote in &self.remotes {
            let slots = remote.row.slots;
            if !remote.row.counts_at(frame) {
                self.table.row_mut(frame).iter_mut().enumerate().for_each(|(index, cell)| {
                    if slots.bits() >> index & 1 == 1 {
                        *cell = I::default();
                    }
                });
                continue;
            }
            present = present.union(slots);
            if remote.is_open() && frame > self.confirmed {
                unsure = unsure.union(slots);
            }
            if frame > remote.have {
                self.table.guess(frame, remote.have, slots);
                guessed = guessed.union(slots);
            }
        }
        let notebook = self.log.begin(frame, self.confirmed);
        Inputs::noted(frame, self.table.row(frame), present, guessed, unsure, notebook)
    }

    /// What everybody did in a confirmed frame that is not too long ago: for recording, for
    /// spectators, for checking. `None` if it is not confirmed yet or already forgotten.
    pub fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>> {
        let newest = self.confirmed.max(self.current).max(self.local.newest());
        // Others' entries may lie up to two reaches ahead and share the ring.
        let held = self.table.frames() - 2 * self.config.reach_frames();
        let known = frame > Frame::START && frame <= self.confirmed && newest.since(frame) < held;
        known.then(|| Inputs::confirmed(frame, self.table.row(frame), self.present_at(frame)))
    }

    pub(super) fn past_inputs(&self, frame: Frame) -> Inputs<'_, I> {
        Inputs::confirmed(frame, self.table.row(frame), self.present_at(frame))
    }

    fn take_answer(&mut self) {
        let hash = self.plan.hash.take();
        match self.plan.asked.take() {
            Some(Asked::Live(frame)) => self.take_own_hash(frame, hash),
            Some(Asked::Inquest(frame)) => self.take_inquest_hash(frame, hash),
            None => {}
        }
    }

    pub(super) fn ask_inquest_hash(&mut self, frame: Frame) -> Request<'_, I> {
        self.plan.asked = Some(Asked::Inquest(frame));
        Request::Hash { sim: Sim::Inquest, frame, hash: &mut self.plan.hash }
    }
}
