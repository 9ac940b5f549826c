//! What a room is opened with.

use gaggle_kit::Micros;
use gaggle_lobby::client::ClientConfig;
use gaggle_lobby::view::Json;
use gaggle_lobby::{Label, ParseLabelError, RoomCode};
use gaggle_replica::Policy;
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
    /// The one with this code, without a seat: to look on.
    Watch(RoomCode),
    /// None for the time being: be connected, look at the list of rooms, play alone.
    Look,
    /// None, and no word to any server.
    Offline,
}

/// What a room is opened with: a [`Room`](crate::Room) for a game on one timeline, a [`SharedRoom`](crate::SharedRoom) for
/// a world of shared objects.
///
/// ```
/// use gaggle::RoomConfig;
/// let config = RoomConfig::new("tug-of-war", 2)?;
/// assert_eq!(config.session.slots, 2);
/// # Ok::<(), gaggle::ParseLabelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig<S = SessionConfig> {
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
    /// Players at this machine. Default 1, and always 1 where objects are shared.
    pub local_players: usize,
    /// Who we are, and how to reconnect.
    pub client: ClientConfig,
    /// The rules of the match. [`SessionConfig::game_fingerprint`] keeps versions of a game apart.
    pub session: S,
    /// Coming into a running match must work within this time, or we go on alone. Default 15 s.
    pub join_within: Micros,
}

impl RoomConfig {
    /// A room for so many players of a game.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn new(game: &str, seats: u8) -> Result<RoomConfig, ParseLabelError> {
        let session = SessionConfig { slots: seats.into(), ..SessionConfig::default() };
        Ok(RoomConfig::with(game.parse()?, seats, session))
    }

    /// Which build peers must have in common, as the lobby calls it.
    pub fn build(&self) -> Label {
        build_label(self.session.game_fingerprint)
    }
}

impl RoomConfig<gaggle_replica::SessionConfig> {
    /// A room for so many players of a world of shared objects, and who may hold what in it.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn shared(game: &str, seats: u8, policy: Policy) -> Result<SharedConfig, ParseLabelError> {
        let session = gaggle_replica::SessionConfig { policy, ..gaggle_replica::SessionConfig::default() };
        Ok(RoomConfig::with(game.parse()?, seats, session))
    }
}

impl<S> RoomConfig<S> {
    fn with(game: Label, seats: u8, session: S) -> RoomConfig<S> {
        RoomConfig {
            game,
            mode: Label::default(),
            seats,
            wish: Wish::Find,
            settings: Json::default(),
            palette: None,
            local_players: 1,
            client: ClientConfig::default(),
            session,
            join_within: Micros::from_secs(15),
        }
    }
}

/// What a [`SharedRoom`](crate::SharedRoom) is opened with.
pub type SharedConfig = RoomConfig<gaggle_replica::SessionConfig>;

/// A number by which peers know that they have the same game, as the lobby calls it.
pub(crate) fn build_label(fingerprint: u64) -> Label {
    format!("{fingerprint:016x}").parse().expect("hex digits make a label")
}
