//! Operator settings of a lobby: times, bounds, rate limits, and the games it offers.
//!
//! Every node and directory gets them. Absent: how settings are written in files (`gaggle-server`).

use std::collections::BTreeMap;

use gaggle_kit::Micros;
pub use gaggle_kit::rate_limit::RateLimit;

use crate::label::Label;
use crate::message::{Rejection, RejectionCode};

/// Most slots of a room.
pub const PLAYERS_MAX: u8 = 64;
/// Fewest slots of a room.
pub const PLAYERS_MIN: u8 = 2;

/// Times, bounds, rate limits and games. The defaults suit one public server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// Games on offer, by name.
    pub games: BTreeMap<Label, GameRules>,
    /// Rules for games that are not listed; none: such games are rejected.
    pub unlisted_games: Option<ModeConfig>,

    /// How long the reservation of a lost connection is kept.
    pub reconnect_grace: Micros,
    /// How long the reservation of a peer that left and may return is kept: about the time of a
    /// page reload.
    pub reload_grace: Micros,
    /// How long a host may be away before another member becomes host.
    pub host_grace: Micros,
    /// A connected member that sends nothing for this long is removed from its room.
    pub idle_timeout: Micros,
    /// How long a room stays open after its match ended.
    pub finished_ttl: Micros,
    /// How long to wait for further reports after the first one before votes are counted.
    pub report_timeout: Micros,
    /// Lifetime of a ticket.
    pub ticket_ttl: Micros,

    /// How long a new connection may take to send `hello`.
    pub hello_timeout: Micros,
    /// A connection that sends nothing for this long is pinged.
    pub ping_interval: Micros,
    /// A pong must arrive within this time.
    pub pong_timeout: Micros,
    /// Time in which the older of two connections with one key must prove that it is alive.
    pub probe_timeout: Micros,
    /// Shortest time between two updates of a room list.
    pub list_interval: Micros,

    /// Spectators per room.
    pub spectators_max: usize,
    /// Rooms on all nodes together.
    pub rooms_max: usize,
    /// Connections per node.
    pub connections_max: usize,
    /// Connections per address (IPv6: per /64).
    pub connections_per_address_max: usize,
    /// Connections per player on all devices. More than rooms: a lost connection is not noticed at
    /// once.
    pub connections_per_player_max: usize,
    /// Rooms one player can be in at the same time, on all devices.
    pub rooms_per_player_max: usize,
    /// Longest settings of a room, in bytes.
    pub settings_bytes_max: usize,
    /// Longest signal, in bytes.
    pub signal_bytes_max: usize,
    /// Signals queued for a member that is away.
    pub queued_signals_max: usize,
    /// Bytes of signals queued for a member that is away.
    pub queued_signal_bytes_max: usize,

    /// Address of the sign-in page with `{return}` and `{state}`, sent to clients.
    pub sign_in: Option<String>,
    /// Rate limits of requests.
    pub limits: Limits,
    /// Parameters of the search for players of similar skill.
    pub search: SearchRules,
}

/// Rate limits of requests.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// New connections per address.
    pub connect: RateLimit,
    /// Messages per connection.
    pub message: RateLimit,
    /// Messages per address, on all its connections.
    pub message_per_address: RateLimit,
    /// Bytes of messages per connection.
    pub message_bytes: RateLimit,
    /// Bytes of messages per address, on all its connections.
    pub message_bytes_per_address: RateLimit,
    /// `find` per player.
    pub find: RateLimit,
    /// `create` per player.
    pub create: RateLimit,
    /// `create` and rooms created by `find`, per address.
    pub create_per_address: RateLimit,
    /// `join` per player. Together with `join_per_address` it makes guessing codes hopeless.
    pub join: RateLimit,
    /// `join` per address.
    pub join_per_address: RateLimit,
    /// `take_over` per player.
    pub take_over: RateLimit,
    /// Changes of the room per player: `ready`, `start`, `settings`, `profile` and similar.
    pub change: RateLimit,
    /// `signal` per player. A joiner in a room of 64 sends an offer and a dozen candidates to each
    /// member.
    pub signal: RateLimit,
    /// Bytes of signals per player.
    pub signal_bytes: RateLimit,
    /// Bytes of signals from one member to another: a member that receives more than it can read
    /// loses its connection.
    pub signal_bytes_to_one: RateLimit,
    /// `list`, `top`, `mine`, `look`, `ticket`, `ice` and `touch` per player.
    pub look: RateLimit,
    /// `report` per player.
    pub report: RateLimit,
    /// `report` per address: reports of a single player are stored without confirmation.
    pub report_per_address: RateLimit,
}

/// How the search for players of similar skill widens with time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchRules {
    /// Largest rating difference at the start.
    pub range: u32,
    /// Widening per second.
    pub range_per_second: u32,
    /// Largest rating difference in the end.
    pub range_max: u32,
    /// After this time a match with fewer players than slots is accepted, but at least two.
    pub patience: Micros,
    /// Rating of a player without rated matches.
    pub rating_start: i64,
}

/// Settings of one game.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GameRules {
    /// Modes by name. The empty name is the mode of a client that names none.
    pub modes: BTreeMap<Label, ModeConfig>,
}

/// Settings of one mode of a game.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeConfig {
    /// Fewest slots of a new room.
    pub players_min: u8,
    /// Most slots of a new room.
    pub players_max: u8,
    /// Slots of a new room if the request names no number.
    pub players_default: u8,
    /// Whether rooms created by `find` play at once and admit joiners while they run.
    pub drop_in: bool,
    /// Whether `find` searches for players of similar skill instead of the fullest room.
    pub skill: bool,
    /// Lowest valid score.
    pub score_min: i64,
    /// Highest valid score.
    pub score_max: i64,
    /// Most points per second of play; none: bounded by `score_max` only.
    pub score_per_second_max: Option<u32>,
    /// Highest valid level.
    pub level_max: u32,
    /// Whether a referee on the server seals the inputs of this mode's matches.
    pub referee: bool,
}

impl Default for ModeConfig {
    fn default() -> ModeConfig {
        ModeConfig {
            players_min: PLAYERS_MIN,
            players_max: PLAYERS_MAX,
            players_default: 4,
            drop_in: true,
            skill: false,
            // For games without own bounds: covers an hour of ordinary play.
            score_min: -10_000,
            score_max: 10_000_000,
            score_per_second_max: Some(1_000),
            level_max: 1_000,
            referee: false,
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
            // The rate of twenty connections: more than two hundred players need.
            message_per_address: RateLimit::every(Micros::new(250), 40_000),
            // Twice the bytes of permitted signals, with reserve for other messages.
            message_bytes: RateLimit::every(Micros::new(8), 1 << 21),
            // The rate of twenty connections would be one byte per 0.4 µs; a microsecond is the
            // smallest unit.
            message_bytes_per_address: RateLimit::every(Micros::new(1), 40 << 20),
            find: RateLimit::per_secs(5, 10),
            create: RateLimit::per_secs(5, 10),
            create_per_address: RateLimit::every(Micros::from_secs(1), 60),
            join: RateLimit::per_secs(10, 10),
            join_per_address: RateLimit::every(Micros::from_millis(500), 120),
            take_over: RateLimit::per_secs(3, 10),
            change: RateLimit::per_secs(20, 10),
            signal: RateLimit::every(Micros::from_millis(10), 1_500),
            // Burst: an offer and a dozen candidates to each member of a room of 64, three times.
            // Then 62 kB a second.
            signal_bytes: RateLimit::every(Micros::new(16), 1 << 20),
            // A few negotiations at once, then one a second. It takes four such senders to fill a
            // socket's buffer.
            signal_bytes_to_one: RateLimit::every(Micros::new(64), 1 << 16),
            look: RateLimit::per_secs(20, 20),
            report: RateLimit::per_secs(10, 10),
            // As many as the connections permitted per address, all at once.
            report_per_address: RateLimit::every(Micros::from_millis(500), 200),
        }
    }
}

impl Limits {
    /// Without any limits, for tests and measurements.
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
    /// Settings of a mode of a game.
    ///
    /// # Errors
    /// If it is not on offer.
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
                "" => format!("this server does not offer {game} without a mode"),
                mode => format!("this server does not offer {game} in mode {mode}"),
            };
            Rejection::new(RejectionCode::BadGame, text)
        })
    }
}

impl ModeConfig {
    /// Slots of a new room, from the requested number.
    ///
    /// # Errors
    /// If that is out of range.
    pub fn players(&self, wanted: Option<u8>) -> Result<u8, Rejection> {
        let seats = wanted.unwrap_or(self.players_default);
        if (self.players_min..=self.players_max).contains(&seats) {
            return Ok(seats);
        }
        let text =
            format!("a room cannot have {seats} slots; choose {} to {}", self.players_min, self.players_max);
        Err(Rejection::new(RejectionCode::BadSettings, text))
    }
}
