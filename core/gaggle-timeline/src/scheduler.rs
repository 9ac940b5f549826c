//! Order of a game's requests in a tick: go back, save, advance, hash, and side simulations.
//!
//! `Session::poll_request` drains it step by step. Absent: the network, rosters, why a frame is
//! confirmed.

mod side_sim;

use gaggle_kit::{Frame, Input};

use crate::Inputs;
use crate::input_log::Past;
use crate::request::{Request, SimId};
use crate::stats::SessionStats;

pub(crate) use side_sim::{SideSim, SideStep};

/// Progress of the requests of the current tick.
#[derive(Debug, Default)]
pub(crate) struct SimScheduler {
    /// Frame of the state this stay began with.
    origin: Frame,
    /// Frame to reach in this tick.
    target: Frame,
    /// State saved last in this pass, so that it is not saved twice.
    saved: Option<Frame>,
    /// Frames simulated beyond this one are void and must be resimulated.
    back_to: Option<Frame>,
    /// The simulation beside the live one.
    side: Option<SideSim>,
    /// Frames that a side simulation started now may simulate in this tick.
    side_budget: u32,
    /// Request whose answer is due.
    lent: Option<Lent>,
    /// Buffers for the answers.
    hash: Option<u64>,
    state: Vec<u8>,
    is_accepted: bool,
}

/// Kind of the request whose answer is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lent {
    Hash(SimId, Frame),
    State(Frame),
    Import,
}

/// Answer of the game.
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Answer {
    /// The hash of a state; none if it could not be made.
    Hash { sim: SimId, frame: Frame, hash: Option<u64> },
    /// Bytes of a state; none if it could not be encoded.
    Exported { frame: Frame, state: Vec<u8> },
    /// Whether the game accepted the state.
    Imported { is_accepted: bool },
}

/// The next step, decided before any buffer is lent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    Load(Frame),
    Save(Frame),
    Advance(Frame),
    Hash(Frame),
    Retain(Frame),
    Export(Frame),
    Side(SimId, SideStep),
}

/// Facts of the session that decide the steps.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SimNeeds {
    /// Last frame that cannot change any more.
    pub(crate) sure: Frame,
    pub(crate) confirmed: Frame,
    /// Frame whose state must be encoded for another peer, [`Frame::NEVER`] for the newest that is
    /// final.
    pub(crate) export_at: Option<Frame>,
}

/// States that must be kept or hashed beside those a rollback needs.
pub(crate) trait StateSchedule {
    /// Whether the state of this frame will be hashed.
    fn is_check_frame(&self, frame: Frame) -> bool;
    /// Whether the state of this frame will be retained or encoded.
    fn keeps(&self, frame: Frame) -> bool;
    /// Whether to retain the current state before other saves overwrite it. True once.
    fn keep_base(&mut self, current: Frame) -> bool;
    /// A state to hash, of the frames up to `finished`.
    fn hash_due(&self, finished: Frame) -> Option<Frame>;
    /// A state to retain now, each once.
    fn keep_due(&mut self) -> Option<Frame>;
}

/// Frames a side simulation runs in one tick, few enough to keep the game smooth.
const SIDE_FRAMES_PER_TICK: u32 = 8;

impl SimScheduler {
    /// Frame of the state this stay began with.
    pub(crate) fn origin(&self) -> Frame {
        self.origin
    }

    /// Another stay begins with this state.
    pub(crate) fn begin_stay(&mut self, origin: Frame) {
        self.origin = origin;
    }

    /// Begins a tick that ends at this frame.
    pub(crate) fn begin_tick(&mut self, target: Frame) {
        self.set_target(target);
        self.side_budget = SIDE_FRAMES_PER_TICK;
        if let Some(side) = &mut self.side {
            side.begin_tick();
        }
    }

    /// Changes the frame to reach in this tick.
    pub(crate) fn set_target(&mut self, target: Frame) {
        self.target = target;
        self.saved = None;
    }

    /// Makes the game go back to this frame first.
    pub(crate) fn go_back(&mut self, frame: Frame) {
        self.back_to = Some(frame);
    }

    /// Resimulates from state `from` to state `to` beside the game.
    pub(crate) fn begin_side(&mut self, id: SimId, from: Frame, to: Frame) {
        self.side = Some(SideSim::new(id, from, to, SIDE_FRAMES_PER_TICK, self.side_budget));
    }

    /// Drops a side simulation, whose result is not needed any more.
    pub(crate) fn end_side(&mut self) {
        self.side = None;
    }

    /// Stops a side simulation that cannot go on: its results so far are all.
    pub(crate) fn stop_side(&mut self) {
        if let Some(side) = &mut self.side {
            side.stop();
        }
    }

    /// Removes a side simulation that is complete. True once.
    #[must_use]
    pub(crate) fn take_side_done(&mut self) -> bool {
        self.side.take_if(|side| side.is_done()).is_some()
    }

    /// The next step. Its effects on the live simulation are noted in the log.
    #[must_use]
    pub(crate) fn next_step<I: Input>(
        &mut self,
        past: &mut Past<I>,
        schedule: &mut impl StateSchedule,
        stats: &mut SessionStats,
        needs: SimNeeds,
    ) -> Option<Step> {
        let current = past.current();
        if let Some(frame) = self.back_to.take() {
            self.saved = Some(frame);
            return Some(Step::Load(frame));
        }
        if past.first_mispredicted() <= current {
            return Some(Step::Load(self.roll_back(past, stats)));
        }
        past.forget_future_change();
        if current < self.target {
            let next = current.next();
            // Only frames simulated on a prediction are returned to, and states to be hashed must
            // be saved. While a roster change is pending, inputs are known further than states are
            // confirmed: these states are encoded for joiners, and saves of an older pass are
            // outdated.
            let settled = needs.sure.min(needs.confirmed);
            let must_save = next > settled || schedule.is_check_frame(current) || schedule.keeps(current);
            if self.saved != Some(current) && must_save {
                return Some(self.save(current, stats));
            }
            if schedule.keep_base(current) {
                // Before other saves overwrite it: a peer that catches up saves many states in a
                // tick.
                return Some(Step::Retain(current));
            }
            past.advance_to(next);
            stats.frames += 1;
            return Some(Step::Advance(next));
        }
        let finished = current.min(needs.confirmed);
        if let Some(frame) = schedule.hash_due(finished) {
            // The state may be the current one, which no later frame required to save.
            if frame == current && self.saved != Some(frame) {
                return Some(self.save(frame, stats));
            }
            return Some(Step::Hash(frame));
        }
        if let Some(frame) = schedule.keep_due() {
            return Some(Step::Retain(frame));
        }
        if let Some(frame) = needs.export_at
            && (frame <= finished || frame == Frame::NEVER)
        {
            let frame = frame.min(finished);
            if frame == current && self.saved != Some(current) {
                return Some(self.save(current, stats));
            }
            return Some(Step::Export(frame));
        }
        let side = self.side.as_mut()?;
        Some(Step::Side(side.id(), side.next_step()?))
    }

    fn save(&mut self, frame: Frame, stats: &mut SessionStats) -> Step {
        self.saved = Some(frame);
        stats.saves += 1;
        Step::Save(frame)
    }

    fn roll_back<I: Input>(&mut self, past: &mut Past<I>, stats: &mut SessionStats) -> Frame {
        let (current, to) = (past.current(), past.first_mispredicted().previous());
        let depth = current.since(to);
        stats.rollbacks += 1;
        stats.rollback_frames_last = depth;
        stats.rollback_frames_max = stats.rollback_frames_max.max(depth);
        stats.frames_resimulated += u64::from(depth);
        stats.frames = stats.frames.saturating_sub(depth.into());
        self.target = self.target.max(current);
        past.go_back(to);
        self.saved = Some(to);
        to
    }

    /// The request of a step, with `sim` as the id of the live simulation. `inputs` gives those of
    /// a frame: for the live simulation, or for one beside it, which only simulates frames that
    /// cannot change. States before `look_back` are no longer needed.
    #[inline]
    pub(crate) fn request<'a, I: Input>(
        &'a mut self,
        step: Step,
        sim: SimId,
        look_back: Frame,
        inputs: impl FnOnce(Frame, SimId) -> Inputs<'a, I>,
    ) -> Request<'a, I> {
        match step {
            Step::Export(frame) => Request::Export { sim, frame, state: self.lend_state(frame) },
            Step::Load(frame) => Request::Load { sim, frame },
            Step::Save(frame) => Request::Save { sim, frame },
            Step::Advance(frame) => Request::Advance { sim, inputs: inputs(frame, SimId::Live) },
            Step::Hash(frame) => Request::Hash { sim, frame, hash: self.lend_hash(SimId::Live, frame) },
            Step::Retain(frame) => Request::Retain { sim, frame, forget_before: look_back },
            Step::Side(sim, SideStep::Load(frame)) => Request::Load { sim, frame },
            Step::Side(sim, SideStep::Advance(frame)) => {
                Request::Advance { sim, inputs: inputs(frame, SimId::Audit) }
            }
            Step::Side(sim, SideStep::Hash(frame)) => {
                Request::Hash { sim, frame, hash: self.lend_hash(sim, frame) }
            }
        }
    }

    /// Lends the buffer for the hash of a state.
    fn lend_hash(&mut self, sim: SimId, frame: Frame) -> &mut Option<u64> {
        self.lent = Some(Lent::Hash(sim, frame));
        &mut self.hash
    }

    /// Lends the buffer for the bytes of a state.
    fn lend_state(&mut self, frame: Frame) -> &mut Vec<u8> {
        self.lent = Some(Lent::State(frame));
        self.state.clear();
        &mut self.state
    }

    /// Lends the flag for whether a state was accepted.
    pub(crate) fn lend_accepted(&mut self) -> &mut bool {
        self.lent = Some(Lent::Import);
        self.is_accepted = false;
        &mut self.is_accepted
    }

    #[inline]
    pub(crate) fn is_answer_due(&self) -> bool {
        self.lent.is_some()
    }

    /// Answer to the request that was lent out.
    pub(crate) fn take_answer(&mut self) -> Option<Answer> {
        Some(match self.lent.take()? {
            Lent::Hash(sim, frame) => Answer::Hash { sim, frame, hash: self.hash.take() },
            Lent::State(frame) => Answer::Exported { frame, state: std::mem::take(&mut self.state) },
            Lent::Import => Answer::Imported { is_accepted: self.is_accepted },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::TimelineConfig;
    use crate::desync::DesyncAudit;

    struct Rig {
        scheduler: SimScheduler,
        past: Past<u8>,
        audit: DesyncAudit,
        stats: SessionStats,
    }

    impl Rig {
        fn new() -> Rig {
            let config = TimelineConfig { checksum_interval_frames: 0, ..TimelineConfig::default() };
            Rig {
                scheduler: SimScheduler::default(),
                past: Past::new(64, 2),
                audit: DesyncAudit::new(&config, 64),
                stats: SessionStats::default(),
            }
        }

        fn steps(&mut self, sure: u32, is_export_due: bool) -> Vec<Step> {
            let sure = Frame::new(sure);
            let export_at = is_export_due.then_some(Frame::NEVER);
            let needs = SimNeeds { sure, confirmed: sure, export_at };
            let Rig { scheduler, past, audit, stats } = self;
            std::iter::from_fn(|| scheduler.next_step(past, audit, stats, needs)).take(9).collect()
        }
    }

    #[test]
    fn predicted_frames_are_saved_and_certain_ones_are_not() {
        let (mut rig, frame) = (Rig::new(), Frame::new);
        rig.scheduler.begin_tick(frame(2));
        assert_eq!(
            rig.steps(1, false),
            [Step::Advance(frame(1)), Step::Save(frame(1)), Step::Advance(frame(2)),]
        );
        assert_eq!((rig.stats.frames, rig.stats.saves), (2, 1));
    }

    #[test]
    fn confirmed_state_is_saved_while_inputs_are_known_further() {
        let (mut rig, frame) = (Rig::new(), Frame::new);
        rig.scheduler.begin_tick(frame(3));
        rig.steps(0, false);
        // Inputs of all frames arrive, but a roster change delays their confirmation.
        rig.past.mispredict(frame(1));
        let needs = SimNeeds { sure: frame(3), confirmed: frame(2), export_at: Some(Frame::NEVER) };
        let Rig { scheduler, past, audit, stats } = &mut rig;
        let steps: Vec<Step> =
            std::iter::from_fn(|| scheduler.next_step(past, audit, stats, needs)).take(6).collect();
        let last = steps.iter().position(|step| *step == Step::Export(frame(2))).expect("a joiner waits");
        assert_eq!(steps[0], Step::Load(frame(0)));
        assert!(steps[..last].contains(&Step::Save(frame(2))), "{steps:?}");
    }

    #[test]
    fn correction_rolls_back_and_simulates_up_to_present() {
        let (mut rig, frame) = (Rig::new(), Frame::new);
        rig.scheduler.begin_tick(frame(3));
        rig.steps(0, false);
        rig.past.mispredict(frame(2));
        let steps = rig.steps(0, false);
        assert_eq!(steps[..2], [Step::Load(frame(1)), Step::Advance(frame(2))]);
        assert_eq!(steps.last(), Some(&Step::Advance(frame(3))));
        assert_eq!((rig.stats.rollbacks, rig.stats.rollback_frames_last), (1, 2));
    }

    #[test]
    fn side_sim_waits_for_live_work() {
        let (mut rig, frame) = (Rig::new(), Frame::new);
        rig.scheduler.begin_tick(frame(1));
        rig.scheduler.begin_side(SimId::Audit, frame(0), frame(1));
        let side = |step| Step::Side(SimId::Audit, step);
        assert_eq!(
            rig.steps(9, false),
            [
                Step::Advance(frame(1)),
                side(SideStep::Load(frame(0))),
                side(SideStep::Advance(frame(1))),
                side(SideStep::Hash(frame(1))),
            ]
        );
        assert!(rig.scheduler.take_side_done());
        assert!(!rig.scheduler.take_side_done(), "once");
    }

    #[test]
    fn answers_come_back_once() {
        let mut scheduler = SimScheduler::default();
        *scheduler.lend_hash(SimId::Live, Frame::new(4)) = Some(7);
        let answer = Answer::Hash { sim: SimId::Live, frame: Frame::new(4), hash: Some(7) };
        assert_eq!(scheduler.take_answer(), Some(answer));
        assert_eq!(scheduler.take_answer(), None);
        *scheduler.lend_accepted() = true;
        assert_eq!(scheduler.take_answer(), Some(Answer::Imported { is_accepted: true }));
        scheduler.lend_state(Frame::new(5)).push(1);
        let exported = Answer::Exported { frame: Frame::new(5), state: vec![1] };
        assert_eq!(scheduler.take_answer(), Some(exported));
    }

    #[test]
    fn export_saves_present_state_first() {
        let mut rig = Rig::new();
        let steps = rig.steps(9, true);
        assert_eq!(steps[..2], [Step::Save(Frame::START), Step::Export(Frame::START)]);
    }
}
