//! Copies of a game's state: a ring of recent ones to go back to, and a few retained for audits.
//!
//! `Simulation` owns it; other programs may use it for their requests. Absent: sessions.

use gaggle_kit::{Frame, State, state_hash};

/// States kept besides those the window needs: the current one and the one being compared.
pub const SNAPSHOTS_EXTRA: u32 = 2;
/// States retained for audits: the last agreed one and those that may become it.
const KEPT_MAX: usize = 4;

/// A ring of states. Memory is reused: after the first round a save only copies and allocates
/// nothing, if the state's own [`copy_from`](State::copy_from) does not.
#[derive(Debug, Clone)]
pub struct Snapshots<S> {
    recent: Vec<Option<(Frame, S)>>,
    kept: Vec<(Frame, S)>,
}

impl<S> Snapshots<S> {
    /// A ring for a session with this prediction window.
    pub fn new(prediction_frames: u32) -> Self {
        Snapshots {
            recent: (0..prediction_frames + SNAPSHOTS_EXTRA).map(|_| None).collect(),
            kept: Vec::with_capacity(KEPT_MAX),
        }
    }

    /// Drops all saved and retained states.
    pub fn clear(&mut self) {
        self.recent.iter_mut().for_each(|saved| *saved = None);
        self.kept.clear();
    }

    fn place(&self, frame: Frame) -> usize {
        frame.number() as usize % self.recent.len()
    }

    /// Puts a state into the ring that the caller has copied.
    pub fn put(&mut self, frame: Frame, state: S) {
        let place = self.place(frame);
        self.recent[place] = Some((frame, state));
    }

    /// A recent state.
    pub fn get(&self, frame: Frame) -> Option<&S> {
        self.recent[self.place(frame)].as_ref().filter(|(held, _)| *held == frame).map(|(_, state)| state)
    }

    /// A retained state.
    pub fn retained(&self, frame: Frame) -> Option<&S> {
        self.kept.iter().find(|(held, _)| *held == frame).map(|(_, state)| state)
    }
}

impl<S: Clone> Snapshots<S> {
    /// As [`retain`](Snapshots::retain), for types that do not implement [`State`].
    pub fn retain_clone(&mut self, frame: Frame, forget_before: Frame) {
        self.retain_with(frame, forget_before, S::clone_from);
    }

    fn retain_with(&mut self, frame: Frame, forget_before: Frame, copy: impl FnOnce(&mut S, &S)) {
        let Some(state) = self.recent[self.place(frame)].as_ref().filter(|(held, _)| *held == frame) else {
            return;
        };
        let outdated = self.kept.iter().position(|(held, _)| *held < forget_before);
        // The oldest one is the state all peers agreed on: one in the middle is dropped instead.
        let reuse = outdated.or((self.kept.len() == KEPT_MAX).then_some(1));
        match reuse {
            Some(place) => {
                let mut old = self.kept.remove(place);
                old.0 = frame;
                copy(&mut old.1, &state.1);
                self.kept.push(old);
            }
            None => self.kept.push(state.clone()),
        }
    }
}

impl<S: State> Snapshots<S> {
    /// Copies a state into the ring.
    pub fn save(&mut self, frame: Frame, state: &S) {
        let place = self.place(frame);
        match &mut self.recent[place] {
            Some((held, old)) => {
                *held = frame;
                old.copy_from(state);
            }
            empty => *empty = Some((frame, state.clone())),
        }
    }

    /// Retains a recent state, and drops those retained before `forget_before`.
    pub fn retain(&mut self, frame: Frame, forget_before: Frame) {
        self.retain_with(frame, forget_before, S::copy_from);
    }

    /// The hash of a recent state.
    pub fn hash(&self, frame: Frame) -> Option<u64> {
        self.get(frame).map(state_hash)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ring_holds_states_of_whole_window() {
        let mut snapshots = Snapshots::<u32>::new(3);
        for number in 0..20 {
            snapshots.save(Frame::new(number), &(number * 10));
        }
        assert_eq!(snapshots.get(Frame::new(19)), Some(&190));
        assert_eq!(snapshots.get(Frame::new(15)), Some(&150));
        assert_eq!(snapshots.get(Frame::new(14)), None, "overwritten by 19");
    }

    #[test]
    fn what_is_agreed_is_kept_until_something_newer_is() {
        let mut snapshots = Snapshots::<u32>::new(3);
        let mut keep = |number: u32, forget_before: u32| {
            snapshots.save(Frame::new(number), &number);
            snapshots.retain(Frame::new(number), Frame::new(forget_before));
            (0..700)
                .step_by(60)
                .filter(|n| snapshots.retained(Frame::new(*n)).is_some())
                .collect::<Vec<u32>>()
        };
        assert_eq!(keep(0, 0), [0]);
        assert_eq!(keep(60, 0), [0, 60]);
        assert_eq!(keep(120, 0), [0, 60, 120]);
        assert_eq!(keep(180, 0), [0, 60, 120, 180]);
        assert_eq!(keep(240, 0), [0, 120, 180, 240], "the agreed one stays");
        assert_eq!(keep(300, 180), [120, 180, 240, 300]);
    }
}
