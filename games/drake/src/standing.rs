//! What the rules say of a seat: what sits in it, what it carries, what it has won. Kept by whoever
//! referees, and by nobody else: a player who could write this could give himself anything.

use gaggle_kit::State;
use gaggle_replica::{Field, Kind};

/// What sits in a seat.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Form {
    /// Nothing: nobody plays it.
    #[default]
    Empty,
    /// Flies as a drake.
    Drake,
    /// A duckling on its way home.
    Duckling,
    /// Nothing until the next round.
    Out,
}

/// What an egg held, and a drake now carries.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Field)]
pub enum Load {
    /// Nothing but feathers.
    #[default]
    None,
    /// Three peas at once, three times.
    Scatter,
    /// A ball that bursts when somebody comes near.
    Puffball,
    /// A wasp that follows the nearest.
    Hornet,
    /// A beam across the coop.
    Lantern,
    /// The next hit breaks the shell instead.
    Shell,
    /// Everybody turns the other way from now on.
    Whirl,
}

impl Load {
    /// All that eggs hold.
    pub const ALL: [Load; 6] =
        [Load::Scatter, Load::Puffball, Load::Hornet, Load::Lantern, Load::Shell, Load::Whirl];

    /// What it is called.
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

/// Peas in a drake's crop.
pub const PEAS: u8 = 3;
/// Frames until one grows back.
pub const PEA_FRAMES: u8 = 40;
/// Frames between two shots while the button is held.
pub const SHOT_GAP: u8 = 13;

/// A seat, as the rules see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, State, Kind)]
#[kind(smoothing = 1.0, priority = 6)]
pub struct Standing {
    /// Number of the slot.
    #[kind(constant)]
    pub seat: u8,
    /// What sits in it.
    pub form: Form,
    /// Which life this is. A new one begins at the nest.
    pub life: u8,
    /// Whether a bot plays it.
    pub bot: bool,
    /// What it carries.
    pub load: Load,
    /// How often that can still be used.
    #[kind(range = 0..=3)]
    pub uses: u8,
    /// Whether a shell takes the next hit.
    pub shell: bool,
    /// Number of peas left.
    #[kind(range = 0..=3)]
    pub peas: u8,
    /// Frames the next pea has grown. Nobody but the referee counts them.
    #[kind(constant)]
    pub growing: u8,
    /// Frames until the next shot. Nobody but the referee counts them.
    #[kind(constant)]
    pub gap: u8,
    /// Frames in which nothing can happen to it.
    #[kind(range = 0..=120, step)]
    pub safe: u8,
    /// Drakes it has brought down and ducklings it has caught, in this round.
    pub downs: u8,
    /// The same in the whole match.
    pub score: u16,
    /// Number of rounds won.
    pub wins: u8,
}

impl Standing {
    /// Whether somebody, a person or a bot, plays it.
    pub fn present(&self) -> bool {
        self.form != Form::Empty
    }

    /// Whether it is still in the round.
    pub fn alive(&self) -> bool {
        matches!(self.form, Form::Drake | Form::Duckling)
    }

    /// A drake at its nest.
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

    /// One frame: peas grow, patience runs out.
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

    /// Spends a pea, if there is one.
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
    fn peas_grow_back_and_never_beyond_what_a_crop_holds() {
        let mut standing = Standing::default();
        standing.hatch(0);
        assert!(standing.spend_pea() && standing.spend_pea() && standing.spend_pea());
        assert!(!standing.spend_pea());
        (0..1_000).for_each(|_| standing.step());
        assert_eq!(standing.peas, PEAS);
    }

    #[test]
    fn a_new_life_keeps_what_was_won_and_loses_what_was_carried() {
        let mut standing =
            Standing { score: 4, wins: 1, load: Load::Lantern, uses: 1, ..Standing::default() };
        standing.hatch(60);
        assert_eq!((standing.score, standing.wins, standing.load, standing.life), (4, 1, Load::None, 1));
    }
}
