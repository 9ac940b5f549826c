//! Settings of a room as JavaScript passes them: texts and numbers by position, so that no
//! reflection is needed in a page.
//!
//! `room.rs` opens a room with them; `js/handle.js` writes them. Absent: which are sensible.

use gaggle::link::sim::Conditions;
use gaggle::{JoinTarget, RawJson, RoomConfig, Slot, StartMode, StateShape, TimelineConfig};

/// Positions of texts.
mod text {
    pub(super) const SERVER: usize = 0;
    pub(super) const GAME: usize = 1;
    pub(super) const VERSION: usize = 2;
    pub(super) const MODE: usize = 3;
    pub(super) const CODE: usize = 4;
    pub(super) const ROOM_SETTINGS: usize = 5;
    pub(super) const GUEST_KEY: usize = 6;
    pub(super) const DEVICE_KEY: usize = 7;
    pub(super) const NAME: usize = 8;
    pub(super) const TOKEN: usize = 9;
    /// Everything else that peers must have in common: codec, input, package.
    pub(super) const SHAPE: usize = 10;
    /// Impairment of the network for tests, as in the address of a page.
    pub(super) const CONDITIONS: usize = 11;
}

/// Positions of numbers.
mod number {
    pub(super) const MAX_PLAYERS: usize = 0;
    pub(super) const JOIN: usize = 1;
    pub(super) const START: usize = 2;
    /// Preferred slot plus 1, or 0.
    pub(super) const SLOT: usize = 3;
    pub(super) const LOCAL_PLAYERS: usize = 4;
    pub(super) const TICK_RATE: usize = 5;
    pub(super) const PREDICTION: usize = 6;
    pub(super) const SEED: usize = 7;
}

/// Settings by position.
#[derive(Debug)]
pub(crate) struct Settings {
    texts: Vec<String>,
    numbers: Vec<u32>,
}

impl Settings {
    pub(crate) fn new(texts: Vec<String>, numbers: Vec<u32>) -> Settings {
        Settings { texts, numbers }
    }

    fn text(&self, nth: usize) -> &str {
        self.texts.get(nth).map_or("", String::as_str)
    }

    fn optional(&self, nth: usize) -> Option<String> {
        Some(self.text(nth)).filter(|text| !text.is_empty()).map(str::to_string)
    }

    fn number(&self, nth: usize) -> u32 {
        self.numbers.get(nth).copied().unwrap_or_default()
    }

    /// Address of the server; empty for that of the page.
    #[cfg_attr(feature = "simulate", expect(dead_code, reason = "a simulation has one server"))]
    pub(crate) fn server(&self) -> &str {
        self.text(text::SERVER)
    }

    #[cfg_attr(feature = "simulate", expect(dead_code, reason = "a simulation has its own"))]
    pub(crate) fn conditions(&self) -> Result<Conditions, String> {
        conditions(self.text(text::CONDITIONS))
    }

    pub(crate) fn shape(&self) -> StateShape {
        StateShape::new(gaggle::kit::fnv1a_64(self.text(text::SHAPE).as_bytes()))
    }

    pub(crate) fn seed(&self) -> u64 {
        u64::from(self.number(number::SEED)) << 32 | u64::from(self.number(number::SEED + 1))
    }

    pub(crate) fn config(&self) -> Result<RoomConfig, String> {
        let max_players = u8::try_from(self.number(number::MAX_PLAYERS)).unwrap_or(u8::MAX);
        let config =
            RoomConfig::new(self.text(text::GAME), max_players).map_err(|error| error.to_string())?;
        let engine = match self.number(number::PREDICTION) {
            0 => TimelineConfig::lockstep(),
            frames => TimelineConfig::rollback(frames),
        };
        let engine = TimelineConfig { tick_rate: self.number(number::TICK_RATE), ..engine };
        let mut config = config.version(self.text(text::VERSION)).with_engine(engine);
        if let Some(mode) = self.optional(text::MODE) {
            config.mode = mode.parse().map_err(|error| format!("mode: {error}"))?;
        }
        config.join = self.join_target(self.number(number::JOIN), self.text(text::CODE))?;
        config.start = match self.number(number::START) {
            0 => StartMode::DropIn,
            kind => StartMode::HostStarts { join_late: kind == 1 },
        };
        if let Some(settings) = self.optional(text::ROOM_SETTINGS) {
            config.room_settings = RawJson::new(&settings).map_err(|error| error.to_string())?;
        }
        config.preferred_slot = self.number(number::SLOT).checked_sub(1).map(|slot| Slot::at(slot as usize));
        config.local_players = self.number(number::LOCAL_PLAYERS) as usize;
        config.lobby.guest_key = self.optional(text::GUEST_KEY);
        config.lobby.device_key = self.optional(text::DEVICE_KEY);
        config.lobby.display_name = self.optional(text::NAME);
        config.lobby.token = self.optional(text::TOKEN);
        Ok(config)
    }

    /// The room of a number and a code.
    pub(crate) fn join_target(&self, kind: u32, code: &str) -> Result<JoinTarget, String> {
        join_target(kind, code)
    }
}

/// The room of a number and a code, as `js/handle.js` numbers them.
pub(crate) fn join_target(kind: u32, code: &str) -> Result<JoinTarget, String> {
    let parsed = || code.parse().map_err(|_| format!("`{code}` is no code of a room; give its six letters"));
    Ok(match kind {
        0 => JoinTarget::Matchmake,
        1 => JoinTarget::CreatePrivate,
        2 => JoinTarget::Code(parsed()?),
        3 => JoinTarget::Spectate(parsed()?),
        4 => JoinTarget::Browse,
        _ => JoinTarget::Offline,
    })
}

/// Conditions of a network, written as in the address of a page.
pub(crate) fn conditions(query: &str) -> Result<Conditions, String> {
    let pairs = query.trim_start_matches('?').split('&').filter_map(|pair| pair.split_once('='));
    Conditions::from_settings(pairs).map_err(|error| error.to_string())
}
