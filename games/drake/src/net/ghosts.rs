//! Predicted peas of a local player, drawn from the button press until the leader's peas arrive.
//!
//! `Coop` steps them, `view` draws them and pairs them with real peas. Absent: hits.

use gaggle_kit::Fixed16;
use gaggle_replica::ObjectId;

use crate::field::{self, Vec2};
use crate::shot::Shot;
use crate::standing::{Form, Load, SHOT_GAP, Standing};
use crate::{Craft, pool};

/// Frames after which a prediction is dropped: the leader did not fire the pea.
const FRAMES_MAX: u8 = 30;
/// Real peas still drawn with an offset toward their prediction.
const EASED_MAX: usize = 16;
/// Share of that offset left after a frame.
const EASE: Fixed16 = Fixed16::lit("0.88");

/// Predictions of one seat.
#[derive(Debug, Clone, Default)]
pub(super) struct Ghosts {
    shots: Vec<(Shot, u8)>,
    eased: Vec<(ObjectId, Vec2)>,
    known: Vec<ObjectId>,
    gap: u8,
    held: bool,
}

impl Ghosts {
    /// Predicts one frame of a player. Returns whether a pea seems to be fired.
    pub(super) fn step(&mut self, fire: bool, craft: &Craft, standing: &Standing) -> bool {
        self.gap = self.gap.saturating_sub(1);
        self.shots.retain_mut(|(shot, age)| {
            *age += 1;
            shot.step() && *age < FRAMES_MAX
        });
        for (_, offset) in &mut self.eased {
            *offset = offset.map(|part| part * EASE);
        }
        self.held = fire;
        let plain = matches!(standing.load, Load::None | Load::Shell | Load::Whirl);
        let peas = usize::from(standing.peas) > self.shots.len();
        if !fire || !plain || !peas || self.gap > 0 || standing.form != Form::Drake {
            return false;
        }
        self.gap = SHOT_GAP;
        self.shots.push((Shot::from(craft, 0), 0));
        true
    }

    /// The position to draw a real pea at: eased from its prediction, if it had one.
    pub(super) fn settle(&mut self, id: ObjectId, mut shot: Shot) -> Shot {
        if !self.known.contains(&id) {
            self.known.push(id);
            if self.known.len() > 64 {
                self.known.remove(0);
            }
            if !self.shots.is_empty() {
                let (ghost, _) = self.shots.remove(0);
                if self.eased.len() == EASED_MAX {
                    self.eased.remove(0);
                }
                self.eased.push((id, field::offset(shot.place, ghost.place)));
            }
        }
        if let Some((_, offset)) = self.eased.iter().find(|(other, _)| *other == id) {
            shot.place = field::add(shot.place, *offset);
        }
        shot
    }

    /// Adds the predictions to the peas to be drawn.
    pub(super) fn show(&self, shots: &mut [Option<Shot>]) {
        for (shot, _) in &self.shots {
            pool::put(shots, *shot);
        }
    }
}
