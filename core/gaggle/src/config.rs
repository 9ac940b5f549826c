//! What a room is opened with.

use gaggle_kit::{Micros, Slot, SlotSet};
use gaggle_lobby::client::ClientConfig;
use gaggle_lobby::view::RawJson;
use gaggle_lobby::{Label, ParseLabelError, RoomCode};
use gaggle_replica::AuthorityPolicy;
use gaggle_timeline::{Game, TimelineConfig, shape_of};

/// Letters of a version beside the 16 digits and the dash of a [`Label`].
const VERSION_MAX: usize = Label::LENGTH_MAX - 17;

/// Which room to be in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JoinTarget {
    /// The fullest open one of this game and mode, or a new one.
    #[default]
    Matchmake,
    /// A new one, which only those find who have the code.
    CreatePrivate,
    /// The one with this code.
    Code(RoomCode),
    /// The one with this code, without a seat: to look on.
    Spectate(RoomCode),
    /// None for the time being: be connected, look at the list of rooms, play alone.
    Browse,
    /// None, and no word to any server.
    Offline,
}

/// How the matches of a room this peer creates begin. Rooms made by matchmaking follow the
/// server's settings of the mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum StartMode {
    /// A match runs from the beginning; players join it at any time.
    #[default]
    DropIn,
    /// Members gather in [`Phase::Lobby`](crate::Phase::Lobby) until the host
    /// [starts](crate::HostCommand::Start) a match, which all of them begin together from the same
    /// state: see [`Game::on_start`](crate::Game::on_start) and
    /// [`World::on_start`](crate::World::on_start). After it they are in the lobby again.
    HostStarts {
        /// Players may join a match while it runs. Otherwise the host can only start when all
        /// members are [ready](crate::Room::set_ready), and new players wait for no match.
        join_late: bool,
    },
}

/// What a room is opened with: a [`Room`](crate::Room) for a game on one timeline, a
/// [`WorldRoom`](crate::WorldRoom) for a world of shared objects.
///
/// ```
/// use gaggle::RoomConfig;
/// let config = RoomConfig::new("tug-of-war", 2)?;
/// assert_eq!(config.engine.slot_count, 2);
/// # Ok::<(), gaggle::ParseLabelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig<S = TimelineConfig> {
    /// Which game, as the server calls it.
    pub game: Label,
    /// The version that [`RoomConfig::version`] set, for messages to players.
    pub version: String,
    /// Which of its modes.
    pub mode: Label,
    /// How many may play.
    pub max_players: u8,
    /// Which room.
    pub join: JoinTarget,
    /// How the matches of a new room begin. Default drop-in.
    pub start: StartMode,
    /// What the game wants to keep about a room that is made for us: a JSON object.
    pub room_settings: RawJson,
    /// The colours wished for. Alone, and among seats nobody had, the seat of this number is ours:
    /// to many games a seat is a colour.
    pub preferred_slot: Option<u8>,
    /// Players at this peer, 1 by default. In a world of replicated objects 8 at most, and as many
    /// as have inputs of 32 bytes together.
    pub local_players: usize,
    /// Who we are, and how to reconnect.
    pub lobby: ClientConfig,
    /// The rules of the match. [`TimelineConfig::game_fingerprint`] keeps versions of a game apart.
    pub engine: S,
    /// Keep the match on the screen as a [replay](crate::Room::replay_bytes) and note its
    /// [states](crate::Room::checksums): every confirmed frame is played once more for it, and up
    /// to 8 MiB are kept. Default no; a [`WorldRoom`](crate::WorldRoom) records nothing.
    pub record_replay: bool,
    /// Coming into a running match must work within this time, or we go on alone. Default 15 s.
    pub join_timeout: Micros,
}

impl RoomConfig {
    /// A room for this many players of a game. Say which [version](RoomConfig::version) of it, too.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn new(game: &str, seats: u8) -> Result<RoomConfig, ParseLabelError> {
        let session = TimelineConfig { slot_count: seats.into(), ..TimelineConfig::default() };
        Ok(RoomConfig::with(game.parse()?, seats, session))
    }

    /// Only those meet whose version is the same. Change it whenever a rule of the game changes:
    /// machines that play by different rules come apart. Most give their crate's version. Builds
    /// whose states or inputs have other fields never meet, whatever their version.
    ///
    /// ```
    /// use gaggle::RoomConfig;
    /// let config = RoomConfig::new("tug-of-war", 2)?.version(env!("CARGO_PKG_VERSION"));
    /// # Ok::<(), gaggle::ParseLabelError>(())
    /// ```
    #[must_use]
    pub fn version(mut self, version: &str) -> RoomConfig {
        self.engine.game_fingerprint = gaggle_kit::fnv1a_64(version.as_bytes());
        self.version = version.to_string();
        self
    }

    /// Plays by these rules instead, with as many slots as there are seats and the version that was
    /// said.
    ///
    /// ```
    /// use gaggle::{RoomConfig, TimelineConfig};
    /// let config = RoomConfig::new("generals", 4)?.version("1").with_engine(TimelineConfig::lockstep());
    /// assert_eq!(config.engine.slot_count, 4);
    /// # Ok::<(), gaggle::ParseLabelError>(())
    /// ```
    #[must_use]
    pub fn with_engine(mut self, session: TimelineConfig) -> RoomConfig {
        let before = std::mem::replace(&mut self.engine, session);
        self.engine.slot_count = self.max_players.into();
        self.engine.game_fingerprint = before.game_fingerprint;
        self
    }

    /// What peers must have in common, as the lobby calls it: the version of the game, the fields
    /// of its state and input, and the settings of the match.
    pub(crate) fn build_id<G: Game>(&self) -> Label {
        let session = &self.engine;
        let settings = session.settings_fingerprint::<G::Input>(session.slot_count);
        let parts = [session.game_fingerprint, settings, shape_of::<G>()];
        let mut bytes = [0; 24];
        for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
            chunk.copy_from_slice(&part.to_le_bytes());
        }
        self.build_label(gaggle_kit::fnv1a_64(&bytes))
    }
}

impl RoomConfig<gaggle_replica::ReplicaConfig> {
    /// A room for this many players of a world of shared objects, and who may hold what in it.
    ///
    /// # Errors
    /// If the name cannot be one.
    pub fn world(game: &str, seats: u8, policy: AuthorityPolicy) -> Result<SharedConfig, ParseLabelError> {
        let session =
            gaggle_replica::ReplicaConfig { authority: policy, ..gaggle_replica::ReplicaConfig::default() };
        Ok(RoomConfig::with(game.parse()?, seats, session))
    }

    /// Only those meet whose version is the same: see [`RoomConfig::version`] of a game on one
    /// timeline.
    #[must_use]
    pub fn version(mut self, version: &str) -> SharedConfig {
        self.engine.game_fingerprint = gaggle_kit::fnv1a_64(version.as_bytes());
        self.version = version.to_string();
        self
    }
}

impl<S> RoomConfig<S> {
    /// Where so many sit who begin a match, as the lobby would seat them in an empty room.
    pub(crate) fn first_slots(&self, players: usize) -> SlotSet {
        let liked = self.preferred_slot.filter(|liked| *liked < self.max_players).map(usize::from);
        let others = (0..=players).filter(|slot| Some(*slot) != liked);
        liked.into_iter().chain(others).take(players).map(Slot::at).collect()
    }

    /// What peers must have in common, as the lobby calls it: the version for players to read, and
    /// a number that differs where anything else does.
    pub(crate) fn build_label(&self, fingerprint: u64) -> Label {
        let is_plain = |letter: &char| matches!(letter, 'a'..='z' | '0'..='9' | '.' | '_');
        let version: String =
            self.version.to_ascii_lowercase().chars().filter(is_plain).take(VERSION_MAX).collect();
        // These letters always make a label; words for the opposite would be in every page.
        format!("{version}-{fingerprint:016x}").parse().unwrap_or_default()
    }

    fn with(game: Label, seats: u8, session: S) -> RoomConfig<S> {
        RoomConfig {
            game,
            version: String::new(),
            mode: Label::default(),
            max_players: seats,
            join: JoinTarget::Matchmake,
            start: StartMode::DropIn,
            room_settings: RawJson::default(),
            preferred_slot: None,
            local_players: 1,
            lobby: ClientConfig::default(),
            engine: session,
            record_replay: false,
            join_timeout: Micros::from_secs(15),
        }
    }
}

/// What a [`WorldRoom`](crate::WorldRoom) is opened with.
pub type SharedConfig = RoomConfig<gaggle_replica::ReplicaConfig>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_label_names_version_within_limits() {
        let label = |version: &str| {
            let config = RoomConfig::new("hop", 2).expect("a label").version(version);
            config.build_label(0xab).to_string()
        };
        assert_eq!(label("1.0"), "1.0-00000000000000ab");
        assert_eq!(label("1.0.0-Beta 2 of the great release"), "1.0.0beta2ofthe-00000000000000ab");
        assert_eq!(label(""), "-00000000000000ab");
    }
}
