//! What the game must do, one thing at a time: go back, save, advance, hash.

use gaggle_kit::{Frame, Input};

use super::Session;
use crate::Inputs;
use crate::event::SessionEvent;
use crate::request::{Request, SimId};

/// How far the requests of the current tick are.
#[derive(Debug, Default)]
pub(super) struct SimScheduler {
    /// The state to reach.
    target: Frame,
    /// The state that was saved last in this pass, so that it is not saved twice.
    saved: Option<Frame>,
    /// What was simulated beyond this frame is void, whatever comes next.
    back_to: Option<Frame>,
    /// Something was lent out, and what became of it is to be looked at.
    answer_due: bool,
    /// A hash was asked for and its answer is due.
    asked: Option<Asked>,
    /// Where an answer is put.
    hash: Option<u64>,
    /// A state was asked for and is due.
    exporting: Option<Frame>,
    state: Vec<u8>,
    /// A state was given, and whether it was taken.
    importing: bool,
    taken: bool,
}

/// Which hash was asked for.
#[derive(Debug, Clone, Copy)]
enum Asked {
    Live(Frame),
    Inquest(Frame),
}

impl SimScheduler {
    pub(super) fn begin(&mut self, target: Frame) {
        self.target = target;
        self.saved = None;
    }

    /// The game must go back to this state first.
    pub(super) fn go_back(&mut self, frame: Frame) {
        self.back_to = Some(frame);
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
    Export(Frame),
}

impl<I: Input> Session<I> {
    /// Our own state cannot be read back.
    pub(crate) fn note_unsound(&mut self, frame: Frame) {
        self.events.push(SessionEvent::StateNotDecodable { frame });
    }

    /// The next thing the game must do. The one before counts as done.
    pub fn poll_request(&mut self) -> Option<Request<'_, I>> {
        if std::mem::take(&mut self.plan.answer_due) {
            self.take_answer();
        }
        if self.import_due() {
            return self.import_request();
        }
        if !self.running {
            return None;
        }
        match self.next_step()? {
            Step::Export(frame) => {
                self.plan.answer_due = true;
                self.plan.exporting = Some(frame);
                self.plan.state.clear();
                Some(Request::Export { frame, state: &mut self.plan.state })
            }
            Step::Load(frame) => Some(Request::Load { sim: SimId::Live, frame }),
            Step::Save(frame) => Some(Request::Save { frame }),
            Step::Advance(frame) => {
                let confirmed = self.membership.confirmed();
                // Nothing about what is confirmed can turn out otherwise, so nothing it asks has to
                // be remembered.
                let inputs = match frame <= confirmed {
                    true => self.past_inputs(frame),
                    false => self.ledger.live_inputs(frame, confirmed),
                };
                Some(Request::Advance { sim: SimId::Live, inputs })
            }
            Step::Hash(frame) => {
                self.plan.answer_due = true;
                self.plan.asked = Some(Asked::Live(frame));
                Some(Request::Hash { sim: SimId::Live, frame, hash: &mut self.plan.hash })
            }
            Step::Keep(frame) => {
                let forget_before = self.checks.look_back(self.agreed_by_all());
                Some(Request::Retain { frame, forget_before })
            }
            Step::Inquest(step) => Some(self.inquest_request(step)),
        }
    }

    fn import_request(&mut self) -> Option<Request<'_, I>> {
        self.plan.answer_due = true;
        self.plan.importing = true;
        self.plan.taken = false;
        let repairs = self.import_repairs();
        let Session { joining, plan, .. } = self;
        let (frame, state) = joining.complete()?;
        Some(Request::Import { frame, state, is_repair: repairs, accepted: &mut plan.taken })
    }

    fn next_step(&mut self) -> Option<Step> {
        let current = self.ledger.current;
        if let Some(frame) = self.plan.back_to.take() {
            self.plan.saved = Some(frame);
            return Some(Step::Load(frame));
        }
        if self.ledger.changed <= current {
            return Some(Step::Load(self.roll_back()));
        }
        self.ledger.changed = Frame::NEVER;
        if current < self.plan.target {
            let next = current.next();
            if self.plan.saved != Some(current) && self.must_save(next) {
                return Some(self.save_step(current));
            }
            if self.checks.keep_base(current) {
                // Before others overwrite it: a peer that catches up saves many in a tick.
                return Some(Step::Keep(current));
            }
            self.ledger.current = next;
            self.stats.frames += 1;
            return Some(Step::Advance(next));
        }
        let finished = current.min(self.membership.confirmed());
        if let Some(frame) = self.checks.hash_due(finished) {
            // The state may be the present one, which no later frame has made us save.
            if frame == current && self.plan.saved != Some(frame) {
                return Some(self.save_step(frame));
            }
            return Some(Step::Hash(frame));
        }
        if let Some(frame) = self.checks.keep_due() {
            return Some(Step::Keep(frame));
        }
        if self.donations.export_due() && self.membership.may_donate() {
            if finished == current && self.plan.saved != Some(current) {
                return Some(self.save_step(current));
            }
            return Some(Step::Export(finished));
        }
        self.inquest_step().map(Step::Inquest)
    }

    fn save_step(&mut self, frame: Frame) -> Step {
        self.plan.saved = Some(frame);
        self.stats.saves += 1;
        Step::Save(frame)
    }

    /// Only what was simulated on a guess can be returned to; and what will be hashed must be kept.
    fn must_save(&self, next: Frame) -> bool {
        let current = self.ledger.current;
        next > self.sure() || self.checks.is_check_frame(current) || self.checks.keeps(current)
    }

    fn roll_back(&mut self) -> Frame {
        let (current, changed) = (self.ledger.current, self.ledger.changed);
        let depth = current.since(changed) + 1;
        self.stats.rollbacks += 1;
        self.stats.rollback_frames_last = depth;
        self.stats.rollback_frames_max = self.stats.rollback_frames_max.max(depth);
        self.stats.frames_resimulated += u64::from(depth);
        self.stats.frames = self.stats.frames.saturating_sub(depth.into());
        let to = changed.previous();
        self.plan.target = self.plan.target.max(current);
        self.ledger.current = to;
        self.ledger.changed = Frame::NEVER;
        self.plan.saved = Some(to);
        to
    }

    /// What everybody did in a confirmed frame that is not too long ago: for recording, for
    /// spectators, for checking. `None` if it is not confirmed yet or already forgotten.
    pub fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>> {
        let known = frame > self.origin && frame <= self.membership.confirmed() && self.is_kept(frame);
        known.then(|| self.past_inputs(frame))
    }

    /// Whether the inputs of a frame that was simulated are still there.
    pub(super) fn is_kept(&self, frame: Frame) -> bool {
        let newest = self.membership.confirmed().max(self.ledger.current).max(self.ledger.local.newest());
        // Others' entries may lie up to two reaches ahead and share the ring.
        let kept = self.ledger.table.frames() - 2 * self.config.reach_frames();
        newest.since(frame) < kept
    }

    #[inline]
    pub(super) fn past_inputs(&self, frame: Frame) -> Inputs<'_, I> {
        Inputs::confirmed(frame, self.ledger.table.row(frame), self.checks.present_at(frame))
    }

    // Rare, and much of it: the steps of every tick should not make room for it.
    #[cold]
    fn take_answer(&mut self) {
        let hash = self.plan.hash.take();
        match self.plan.asked.take() {
            Some(Asked::Live(frame)) => self.take_own_hash(frame, hash),
            Some(Asked::Inquest(frame)) => self.take_inquest_hash(frame, hash),
            None => {}
        }
        if let Some(frame) = self.plan.exporting.take() {
            let state = std::mem::take(&mut self.plan.state);
            self.export_done(frame, &state);
        }
        if std::mem::take(&mut self.plan.importing) {
            let (taken, repairs) = (self.plan.taken, self.import_repairs());
            self.import_done(taken);
            if !(taken && repairs) {
                self.plan.begin(self.ledger.current);
            }
        }
    }

    pub(super) fn ask_inquest_hash(&mut self, frame: Frame) -> Request<'_, I> {
        self.plan.answer_due = true;
        self.plan.asked = Some(Asked::Inquest(frame));
        Request::Hash { sim: SimId::Audit, frame, hash: &mut self.plan.hash }
    }
}
