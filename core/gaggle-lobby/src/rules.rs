//! What an operator can set: times, bounds, rates, and the games that are played.

use std::collections::BTreeMap;

use gaggle_kit::Micros;
pub use gaggle_kit::rate_limit::RateLimit;

use crate::label::Label;
use crate::message::{Rejection, RejectionCode};

/// Most seats a room can have.
pub const PLAYERS_MAX: u8 = 64;
/// Fewest seats a room can have.
pub const PLAYERS_MIN: u8 = 2;

/// Times, bounds, rates and games. The defaults suit one server for strangers on the open internet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The games that are played, by name.
    pub games: BTreeMap<Label, GameRules>,
    /// The rules for games that are not in the list; none: they are refused.
    pub unlisted_games: Option<ModeConfig>,

    /// How long the seat of somebody whose connection is lost is kept.
    pub reconnect_grace: Micros,
    /// How long the seat of somebody is kept who left and may be back in a moment: about as long as
    /// a page takes to load again.
    pub reload_grace: Micros,
    /// How long a host may be away before another member becomes host.
    pub host_grace: Micros,
    /// A connected member that says nothing for so long is taken out of its room.
    pub idle_timeout: Micros,
    /// A room whose match ended so long ago is closed.
    pub finished_ttl: Micros,
    /// How long the others' reports of a result are waited for, from the first one on, before they
    /// are counted.
    pub report_timeout: Micros,
    /// How long a ticket counts.
    pub ticket_ttl: Micros,

    /// How long a new connection may take to say hello.
    pub hello_timeout: Micros,
    /// A connection that was silent for so long is pinged.
    pub ping_interval: Micros,
    /// A ping must be answered within this time.
    pub pong_timeout: Micros,
    /// How long the older of two connections with one key has to show that it lives.
    pub probe_timeout: Micros,
    /// How often a changed list of rooms is told.
    pub list_interval: Micros,

    /// How many may watch one room.
    pub spectators_max: usize,
    /// Rooms on all nodes together.
    pub rooms_max: usize,
    /// Connections of this node.
    pub connections_max: usize,
    /// Connections from one address (of IPv6, from one /64).
    pub connections_per_address_max: usize,
    /// Connections of one person, in all tabs together. More than there are seats: a lost
    /// connection is not noticed at once.
    pub connections_per_player_max: usize,
    /// Seats one person can have at the same time, in all tabs together.
    pub rooms_per_player_max: usize,
    /// Longest settings of a room, in bytes.
    pub settings_bytes_max: usize,
    /// Longest signal, in bytes.
    pub signal_bytes_max: usize,
    /// Signals kept for a member that is away.
    pub queued_signals_max: usize,
    /// Bytes of signals kept for a member that is away.
    pub queued_signal_bytes_max: usize,

    /// Where players sign in to get a token: an address with `{return}` and `{state}`, told to
    /// clients.
    pub sign_in: Option<String>,
    /// How often things may be said.
    pub limits: Limits,
    /// How the search for people of one's skill widens.
    pub search: SearchRules,
}

/// How often things may be said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// New connections from one address.
    pub connect: RateLimit,
    /// Any message on one connection.
    pub message: RateLimit,
    /// Any message from one address, on all its connections together.
    pub message_per_address: RateLimit,
    /// Bytes of messages on one connection.
    pub message_bytes: RateLimit,
    /// Bytes of messages from one address, on all its connections together.
    pub message_bytes_per_address: RateLimit,
    /// `find`, per person.
    pub find: RateLimit,
    /// `create`, per person.
    pub create: RateLimit,
    /// `create` and rooms made by `find`, per address.
    pub create_per_address: RateLimit,
    /// `join`, per person. Together with `join_per_address` it makes guessing codes hopeless.
    pub join: RateLimit,
    /// `join`, per address.
    pub join_per_address: RateLimit,
    /// `take_over`, per person.
    pub take_over: RateLimit,
    /// What changes the room: `ready`, `start`, `settings`, `profile` and the like, per person.
    pub change: RateLimit,
    /// `signal`, per person. A joiner in a room of 64 sends an offer and a dozen candidates to
    /// each.
    pub signal: RateLimit,
    /// Bytes of signals, per person.
    pub signal_bytes: RateLimit,
    /// Bytes of signals from one member to another: one who is sent more than it takes loses its
    /// connection.
    pub signal_bytes_to_one: RateLimit,
    /// `list`, `top`, `mine`, `look`, `ticket`, `ice`, `touch`, per person.
    pub look: RateLimit,
    /// `report`, per person.
    pub report: RateLimit,
    /// `report`, per address: whoever plays alone has each of them stored.
    pub report_per_address: RateLimit,
}

/// How the search for people of one's skill widens with waiting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRules {
    /// How far ratings may be apart at first.
    pub range: u32,
    /// How much further each second.
    pub range_per_second: u32,
    /// How far at most.
    pub range_max: u32,
    /// After this time a match starts with fewer people than there are seats, if there are at least
    /// two.
    pub patience: Micros,
    /// The rating of somebody who has not played yet.
    pub rating_start: i64,
}

/// The rules for one game.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GameRules {
    /// Its modes, by name. The empty name is the mode of a client that names none.
    pub modes: BTreeMap<Label, ModeConfig>,
}

/// The rules for one mode of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeConfig {
    /// Fewest seats a room may be made with.
    pub players_min: u8,
    /// Most seats a room may be made with.
    pub players_max: u8,
    /// Seats, when nobody says how many.
    pub players_default: u8,
    /// Whether rooms made by `find` play at once and take people in while they run.
    pub drop_in: bool,
    /// Whether `find` looks for people of one's skill instead of the fullest room.
    pub skill: bool,
    /// Lowest score a report may name.
    pub score_min: i64,
    /// Highest score a report may name.
    pub score_max: i64,
    /// Most points a second of play can bring; none: no bound but `score_max`.
    pub score_per_second_max: Option<u32>,
    /// Highest level a report may name.
    pub level_max: u32,
}

impl Default for ModeConfig {
    fn default() -> ModeConfig {
        ModeConfig {
            players_min: PLAYERS_MIN,
            players_max: PLAYERS_MAX,
            players_default: 4,
            drop_in: true,
            skill: false,
            // Of a game that says nothing about its points: an hour of play is well within.
            score_min: -10_000,
            score_max: 10_000_000,
            score_per_second_max: Some(1_000),
            level_max: 1_000,
        }
    }
}

impl Default for Rules {
    fn default() -> Rules {
        Rules {
            games: BTreeMap::new(),
            unlisted_games: Some(ModeConfig::default()),
            reconnect_grace: Micros::from_secs(60),
            reload_grace: Micros::from_secs(10),
            host_grace: Micros::from_secs(10),
            idle_timeout: Micros::from_secs(300),
            finished_ttl: Micros::from_secs(300),
            report_timeout: Micros::from_secs(10),
            ticket_ttl: Micros::from_secs(2 * 3_600),
            hello_timeout: Micros::from_secs(10),
            ping_interval: Micros::from_secs(25),
            pong_timeout: Micros::from_secs(15),
            probe_timeout: Micros::from_millis(1_500),
            list_interval: Micros::from_millis(500),
            spectators_max: 32,
            rooms_max: 50_000,
            connections_max: 18_000,
            connections_per_address_max: 200,
            connections_per_player_max: 32,
            rooms_per_player_max: 8,
            settings_bytes_max: 4_096,
            signal_bytes_max: 16_384,
            queued_signals_max: 64,
            queued_signal_bytes_max: 65_536,
            sign_in: None,
            limits: Limits::default(),
            search: SearchRules::default(),
        }
    }
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            connect: RateLimit::every(Micros::from_millis(50), 200),
            message: RateLimit::every(Micros::from_millis(5), 2_000),
            // As much as twenty connections may: more than two hundred people who play need.
            message_per_address: RateLimit::every(Micros::new(250), 40_000),
            // Twice the signals one may send, and whatever else.
            message_bytes: RateLimit::every(Micros::new(8), 1 << 21),
            // As much as twenty connections may, except that a byte takes at least a microsecond.
            message_bytes_per_address: RateLimit::every(Micros::new(1), 40 << 20),
            find: RateLimit::per_secs(5, 10),
            create: RateLimit::per_secs(5, 10),
            create_per_address: RateLimit::every(Micros::from_secs(1), 60),
            join: RateLimit::per_secs(10, 10),
            join_per_address: RateLimit::every(Micros::from_millis(500), 120),
            take_over: RateLimit::per_secs(3, 10),
            change: RateLimit::per_secs(20, 10),
            signal: RateLimit::every(Micros::from_millis(10), 1_500),
            // In a room of 64 as much as an offer and a dozen candidates to each, three times over;
            // then 62 kB a second.
            signal_bytes: RateLimit::every(Micros::new(16), 1 << 20),
            // Several attempts at once, and then one a second. Four who mean it are needed to fill
            // a socket's buffer.
            signal_bytes_to_one: RateLimit::every(Micros::new(64), 1 << 16),
            look: RateLimit::per_secs(20, 20),
            report: RateLimit::per_secs(10, 10),
            // As many as may be connected from there, all at once.
            report_per_address: RateLimit::every(Micros::from_millis(500), 200),
        }
    }
}

impl Limits {
    /// No limits at all: for tests and measurements.
    pub fn unlimited() -> Limits {
        let unlimited = RateLimit::UNLIMITED;
        Limits {
            connect: unlimited,
            message: unlimited,
            message_per_address: unlimited,
            message_bytes: unlimited,
            message_bytes_per_address: unlimited,
            find: unlimited,
            create: unlimited,
            create_per_address: unlimited,
            join: unlimited,
            join_per_address: unlimited,
            take_over: unlimited,
            change: unlimited,
            signal: unlimited,
            signal_bytes: unlimited,
            signal_bytes_to_one: unlimited,
            look: unlimited,
            report: unlimited,
            report_per_address: unlimited,
        }
    }
}

impl Default for SearchRules {
    fn default() -> SearchRules {
        SearchRules {
            range: 100,
            range_per_second: 20,
            range_max: 2_000,
            patience: Micros::from_secs(20),
            rating_start: 1_500,
        }
    }
}

impl Rules {
    /// The rules for a mode of a game.
    ///
    /// # Errors
    /// If it is not played here.
    pub fn mode(&self, game: &Label, mode: &Label) -> Result<&ModeConfig, Rejection> {
        if game.is_empty() {
            return Err(Rejection::new(RejectionCode::BadGame, "field game is missing"));
        }
        let known = match self.games.get(game) {
            Some(rules) => rules.modes.get(mode),
            None => self.unlisted_games.as_ref(),
        };
        known.ok_or_else(|| {
            let text = match mode.as_str() {
                "" => format!("{game} is not played here without naming a mode"),
                mode => format!("{game} in mode {mode} is not played here"),
            };
            Rejection::new(RejectionCode::BadGame, text)
        })
    }
}

impl ModeConfig {
    /// The seats of a new room, if so many were asked for.
    ///
    /// # Errors
    /// If it cannot have so many.
    pub fn players(&self, wanted: Option<u8>) -> Result<u8, Rejection> {
        let seats = wanted.unwrap_or(self.players_default);
        if (self.players_min..=self.players_max).contains(&seats) {
            return Ok(seats);
        }
        let text =
            format!("{seats} seats are not possible: {} to {} are", self.players_min, self.players_max);
        Err(Rejection::new(RejectionCode::BadSettings, text))
    }
}
