//! A simulation beside the live one, over a range of confirmed frames, a few frames in each tick.
//!
//! `SimScheduler` steps it after all live work. Absent: why the range is simulated, the inputs.

use gaggle_kit::Frame;

use crate::request::SimId;

/// Next step of a side simulation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SideStep {
    Load(Frame),
    Advance(Frame),
    Hash(Frame),
}

/// Progress of a side simulation.
#[derive(Debug)]
pub(crate) struct SideSim {
    id: SimId,
    /// Frame of the state to begin with.
    from: Frame,
    to: Frame,
    frames_per_tick: u32,
    /// Frames left in this tick.
    budget: u32,
    /// The last frame that was simulated; none before the state is loaded.
    at: Option<Frame>,
    /// Whether the current frame must be hashed.
    is_hash_due: bool,
}

impl SideSim {
    /// Simulates from state `from` to state `to`, hashing each frame. It begins in the next tick,
    /// or in this one if `budget` allows.
    pub(crate) fn new(id: SimId, from: Frame, to: Frame, frames_per_tick: u32, budget: u32) -> SideSim {
        SideSim { id, from, to, frames_per_tick, budget, at: None, is_hash_due: false }
    }

    pub(crate) fn id(&self) -> SimId {
        self.id
    }

    /// Begins another tick, with a new budget of frames.
    pub(crate) fn begin_tick(&mut self) {
        self.budget = self.frames_per_tick;
    }

    /// Stops, because a state could not be hashed.
    pub(crate) fn stop(&mut self) {
        self.at = Some(self.to);
        self.is_hash_due = false;
    }

    /// Whether all frames are simulated and hashed.
    pub(crate) fn is_done(&self) -> bool {
        self.from >= self.to || self.at == Some(self.to) && !self.is_hash_due
    }

    /// The next step; none if all is done or the budget of this tick is used up.
    pub(crate) fn next_step(&mut self) -> Option<SideStep> {
        if self.is_done() {
            return None;
        }
        let Some(at) = self.at else {
            self.at = Some(self.from);
            return Some(SideStep::Load(self.from));
        };
        if std::mem::take(&mut self.is_hash_due) {
            return Some(SideStep::Hash(at));
        }
        self.budget = self.budget.checked_sub(1)?;
        self.at = Some(at.next());
        self.is_hash_due = true;
        Some(SideStep::Advance(at.next()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sim(from: u32, to: u32, budget: u32) -> SideSim {
        SideSim::new(SimId::Audit, Frame::new(from), Frame::new(to), 2, budget)
    }

    #[test]
    fn side_sim_hashes_every_frame_of_its_range() {
        let (mut sim, frame) = (sim(4, 6, 2), Frame::new);
        let steps: Vec<SideStep> = std::iter::from_fn(|| sim.next_step()).collect();
        let (five, six) = (frame(5), frame(6));
        let advanced = [SideStep::Advance(five), SideStep::Hash(five)];
        assert_eq!(steps[0], SideStep::Load(frame(4)));
        assert_eq!(steps[1..3], advanced);
        assert_eq!(steps[3..], [SideStep::Advance(six), SideStep::Hash(six)]);
        assert!(sim.is_done());
    }

    #[test]
    fn side_sim_without_budget_waits_for_next_tick() {
        let mut sim = sim(0, 9, 1);
        assert_eq!(std::iter::from_fn(|| sim.next_step()).count(), 3);
        assert!(!sim.is_done());
        sim.begin_tick();
        assert_eq!(std::iter::from_fn(|| sim.next_step()).count(), 4, "two frames a tick");
    }

    #[test]
    fn stopped_or_empty_side_sim_is_done() {
        let mut stopped = sim(0, 9, 1);
        assert!(stopped.next_step().is_some());
        stopped.stop();
        assert!(stopped.is_done() && stopped.next_step().is_none());
        assert!(sim(5, 5, 1).is_done());
    }
}
