//! What a room is opened with.

use gaggle_kit::Micros;
use gaggle_lobby::client::ClientConfig;
use gaggle_lobby::view::Json;
use gaggle_lobby::{Label, ParseLabelError, RoomCode};
use gaggle_timeline::SessionConfig;

/// Which room to be in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Wish {
    /// The fullest open one of this game and mode, or a new one.
    #[default]
    Find,
    /// A new one, which only those find who have the code.
    Private,
    /// The one with this code.
    Code(RoomCode),
    /// None for the time being: be connected, look at the list of rooms, play alone.
    Look,
    /// None, and no word to any server.
    Offline,
}

/// What a room is opened with.
///
/// ```
/// use gaggle::RoomConfig;
/// let config = RoomConfig::new("tug-of-war", 2)?;
/// assert_eq!(config.session.slots, 2);
/// # Ok::<(), gaggle::ParseLabelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig {
    /// Which game, as the server calls it.
    pub game: Label,
    /// Which of its modes.
    pub mode: Label,
    /// How many may play.
    pub seats: u8,
    /// Which room.
    pub wish: Wish,
    /// What the game wants to keep about a room that is made for us: a JSON object.
    pub settings: Json,
    /// The colours wished for.
    pub palette: Option<u8>,
    /// Players at this machine. Default 1.
    pub local_players: usize,
    /// Who we are, and how to reconnect.
    pub client: ClientConfig,
    /// The rules of the match. [`SessionConfig::game_fingerprint`] keeps versions of a game apart.
    pub session: SessionConfig,
    /// Coming into a running match must work within this time, or we go on alone. Default 15 s.
    pub join_within: Micros,
}

impl RoomConfig {
    /// A room for so many players of a game.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn new(game: &str, seats: u8) -> Result<RoomConfig, ParseLabelError> {
        Ok(RoomConfig {
            game: game.parse()?,
            mode: Label::default(),
            seats,
            wish: Wish::Find,
            settings: Json::default(),
            palette: None,
            local_players: 1,
            client: ClientConfig::default(),
            session: SessionConfig { slots: seats.into(), ..SessionConfig::default() },
            join_within: Micros::from_secs(15),
        })
    }

    /// Which build peers must have in common, as the lobby calls it.
    pub fn build(&self) -> Label {
        let build = format!("{:016x}", self.session.game_fingerprint);
        build.parse().expect("hex digits make a label")
    }
}
