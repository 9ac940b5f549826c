//! One's own peas before the referee has seen them: drawn from the frame the button goes down, and
//! become the real ones when those arrive. Nothing is ever hit by a ghost.

use gaggle_kit::Fixed16;
use gaggle_replica::ObjectId;

use crate::field::{self, Vec2};
use crate::shot::Shot;
use crate::standing::{Form, Load, SHOT_GAP, Standing};
use crate::{Craft, pool};

/// A ghost whose pea does not come is gone after so many frames: the referee said no.
const FRAMES_MAX: u8 = 30;
/// Peas on their way from where their ghost was to where they are.
const EASED_MAX: usize = 16;
/// What is left of that way after a frame.
const EASE: Fixed16 = Fixed16::lit("0.88");

/// One's own peas that nobody else knows of yet.
#[derive(Debug, Clone, Default)]
pub(super) struct Ghosts {
    shots: Vec<(Shot, u8)>,
    eased: Vec<(ObjectId, Vec2)>,
    known: Vec<ObjectId>,
    gap: u8,
    held: bool,
}

impl Ghosts {
    /// One frame of a player's hands. Says whether a pea seems to leave his bill.
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

    /// One of the player's own peas as the referee tells it: where to draw it.
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

    /// Puts those nobody knows of among the others, to be drawn.
    pub(super) fn show(&self, shots: &mut [Option<Shot>]) {
        for (shot, _) in &self.shots {
            pool::put(shots, *shot);
        }
    }
}
