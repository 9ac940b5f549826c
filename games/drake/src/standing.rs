//! The leader's record of a seat: form, load, peas, points.
//!
//! The referee alone writes it: a player that could write it could award itself anything.
//! Absent: position and velocity, which are in `craft`.

use gaggle_kit::State;
use gaggle_replica::{Field, Kind};

/// What flies for a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Form {
    /// Nothing: no player or bot plays the seat.
    #[default]
    Empty,
    /// A drake, which can shoot.
    Drake,
    /// A duckling on its way to its nest.
    Duckling,
    /// Nothing until the next round.
    Out,
}

/// Contents of an egg, carried by the drake that took it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Load {
    /// No load: plain peas.
    #[default]
    None,
    /// Three peas per shot, for three shots.
    Scatter,
    /// A mine that bursts when a craft comes near.
    Puffball,
    /// A wasp that follows the nearest craft.
    Hornet,
    /// A beam across the coop.
    Lantern,
    /// Breaks at the next hit and saves the drake.
    Shell,
    /// Reverses the turning direction of all crafts at once.
    Whirl,
}

impl Load {
    /// All loads an egg may hold.
    pub const ALL: [Load; 6] =
        [Load::Scatter, Load::Puffball, Load::Hornet, Load::Lantern, Load::Shell, Load::Whirl];

    /// Name shown to players.
    pub const fn name(self) -> &'static str {
        match self {
            Load::None => "",
            Load::Scatter => "scatter",
            Load::Puffball => "puffball",
            Load::Hornet => "hornet",
            Load::Lantern => "lantern",
            Load::Shell => "shell",
            Load::Whirl => "whirl",
        }
    }
}

/// Peas a drake holds at most.
pub const PEAS: u8 = 3;
/// Frames until a spent pea is back.
pub const PEA_FRAMES: u8 = 40;
/// Frames between two shots while the button is held.
pub const SHOT_GAP: u8 = 13;

/// Record of one seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 6)]
pub struct Standing {
    /// Number of the slot.
    #[kind(constant)]
    pub seat: u8,
    /// What flies for it.
    pub form: Form,
    /// Number of the present life; each begins at the nest.
    pub life: u8,
    /// Whether a bot plays it.
    pub bot: bool,
    /// Load of its drake.
    pub load: Load,
    /// Uses left of the load.
    #[kind(range = 0..=3)]
    pub uses: u8,
    /// Whether a shell absorbs the next hit.
    pub shell: bool,
    /// Peas ready to fire.
    #[kind(range = 0..=3)]
    pub peas: u8,
    /// Frames the next pea has grown; counted by the leader only.
    #[kind(constant)]
    pub growing: u8,
    /// Frames until the next shot; counted by the leader only.
    #[kind(constant)]
    pub gap: u8,
    /// Frames left in which it cannot be hit.
    #[kind(range = 0..=120, step)]
    pub safe: u8,
    /// Drakes shot down and ducklings caught in this round.
    pub downs: u8,
    /// The same count over the whole match.
    pub score: u16,
    /// Rounds won in this match.
    pub wins: u8,
}

impl Standing {
    /// Whether a player or a bot plays it.
    pub fn present(&self) -> bool {
        self.form != Form::Empty
    }

    /// Whether it is still in the round.
    pub fn alive(&self) -> bool {
        matches!(self.form, Form::Drake | Form::Duckling)
    }

    /// Begins a life at the nest, with `safe` frames in which it cannot be hit.
    pub fn hatch(&mut self, safe: u8) {
        let Standing { seat, life, bot, downs, score, wins, .. } = *self;
        *self = Standing {
            form: Form::Drake,
            life: life.wrapping_add(1),
            peas: PEAS,
            safe,
            seat,
            bot,
            downs,
            score,
            wins,
            ..Standing::default()
        };
    }

    /// Counts its timers by one frame.
    pub fn step(&mut self) {
        self.safe = self.safe.saturating_sub(1);
        self.gap = self.gap.saturating_sub(1);
        if self.peas < PEAS && self.form == Form::Drake {
            self.growing += 1;
            if self.growing >= PEA_FRAMES {
                (self.peas, self.growing) = (self.peas + 1, 0);
            }
        }
    }

    /// Spends a pea. Returns whether there was one.
    pub fn spend_pea(&mut self) -> bool {
        if self.peas == 0 {
            return false;
        }
        self.peas -= 1;
        self.gap = SHOT_GAP;
        true
    }

    /// Spends one use of the load.
    pub fn spend_load(&mut self) {
        self.uses = self.uses.saturating_sub(1);
        self.gap = SHOT_GAP;
        if self.uses == 0 {
            self.load = Load::None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn peas_grow_back_up_to_their_limit() {
        let mut standing = Standing::default();
        standing.hatch(0);
        assert!(standing.spend_pea() && standing.spend_pea() && standing.spend_pea());
        assert!(!standing.spend_pea());
        (0..1_000).for_each(|_| standing.step());
        assert_eq!(standing.peas, PEAS);
    }

    #[test]
    fn new_life_keeps_points_and_drops_load() {
        let mut standing =
            Standing { score: 4, wins: 1, load: Load::Lantern, uses: 1, ..Standing::default() };
        standing.hatch(60);
        assert_eq!((standing.score, standing.wins, standing.load, standing.life), (4, 1, Load::None, 1));
    }
}
