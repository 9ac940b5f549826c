//! Settings that a room is opened with. The caller of [`Room::open`](crate::Room::open) fills them.
//! Absent: what changes while a room is open.

use gaggle_kit::{Input, Micros, Slot, SlotSet};
use gaggle_lobby::client::ClientConfig;
use gaggle_lobby::view::RawJson;
use gaggle_lobby::{Label, ParseLabelError, RoomCode};
use gaggle_replica::AuthorityPolicy;
use gaggle_timeline::TimelineConfig;

/// Letters of a version; a [`Label`] also holds 16 digits and a dash.
const VERSION_MAX: usize = Label::LENGTH_MAX - 17;

/// The room that a peer requests.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JoinTarget {
    /// The fullest open room of this game and mode, or a new one.
    #[default]
    Matchmake,
    /// A new room that is not listed: players join it by its code.
    CreatePrivate,
    /// The room with this code.
    Code(RoomCode),
    /// The room with this code, to spectate its match without a slot.
    Spectate(RoomCode),
    /// No room until [`Room::join`](crate::Room::join): connected to the lobby, and playing solo.
    Browse,
    /// No room, and no connection to any server.
    Offline,
}

/// How the matches of a room that this peer creates begin. Rooms created by matchmaking follow the
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
    /// [`World::on_start`](crate::World::on_start). After the match they are in the lobby again.
    HostStarts {
        /// Whether players may join a match while it runs. If not, the host can only start when all
        /// members are [ready](crate::Room::set_ready), and new players wait until the match is
        /// over.
        join_late: bool,
    },
}

/// Settings that a room is opened with: [`RoomConfig::new`] for a game on one timeline,
/// [`RoomConfig::world`] for a world of replicated objects.
///
/// ```
/// use gaggle::RoomConfig;
/// let config = RoomConfig::new("tug-of-war", 2)?;
/// assert_eq!(config.engine.slot_count, 2);
/// # Ok::<(), gaggle::ParseLabelError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoomConfig<S = TimelineConfig> {
    /// Name of the game at the server.
    pub game: Label,
    /// Version set by [`RoomConfig::version`], as players read it.
    pub version: String,
    /// Mode of the game at the server; matchmaking joins rooms of one mode.
    pub mode: Label,
    /// Most players in the room, this peer's included.
    pub max_players: u8,
    /// The room to join at the start. Default matchmaking.
    pub join: JoinTarget,
    /// How the matches of a new room begin. Default drop-in.
    pub start: StartMode,
    /// The game's settings for a room that this peer creates: a JSON object. Default empty.
    pub room_settings: RawJson,
    /// The slot that this peer asks for, if no other player has it. Solo it has that slot. To many
    /// games a slot is a color.
    pub preferred_slot: Option<Slot>,
    /// Players at this peer, 1 by default. In a world of replicated objects 8 at most, and as many
    /// as have inputs of 32 bytes together.
    pub local_players: usize,
    /// Identity of the player, and how to reconnect.
    pub lobby: ClientConfig,
    /// Rules of the match. [`TimelineConfig::game_fingerprint`] separates versions of a game.
    pub engine: S,
    /// Whether to record the shown match as a [replay](crate::Room::replay_bytes) with
    /// [checksums](crate::Room::checksums): every confirmed frame is simulated once more for it,
    /// and up to 8 MiB are kept. Default no; a [`WorldRoom`](crate::WorldRoom) records nothing.
    pub record_replay: bool,
    /// Longest time without progress while joining a match; then this peer plays on without it.
    /// Default 15 s.
    pub join_timeout: Micros,
}

impl RoomConfig {
    /// A room for this many players of a game. Set its [version](RoomConfig::version), too.
    ///
    /// # Errors
    /// If the name is no [`Label`].
    pub fn new(game: &str, max_players: u8) -> Result<RoomConfig, ParseLabelError> {
        let engine = TimelineConfig { slot_count: max_players.into(), ..TimelineConfig::default() };
        Ok(RoomConfig::with(game.parse()?, max_players, engine))
    }

    /// Sets the version of the game: only peers with equal versions meet. Change it with every rule
    /// of the game, because peers with different rules desync. Most games use their crate's
    /// version. Builds whose states or inputs have different fields never meet.
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

    /// Replaces the rules of the match. The number of slots and the version are kept.
    ///
    /// ```
    /// use gaggle::{RoomConfig, TimelineConfig};
    /// let config = RoomConfig::new("generals", 4)?.version("1");
    /// let config = config.with_engine(TimelineConfig::lockstep());
    /// assert_eq!(config.engine.slot_count, 4);
    /// # Ok::<(), gaggle::ParseLabelError>(())
    /// ```
    #[must_use]
    pub fn with_engine(mut self, engine: TimelineConfig) -> RoomConfig {
        let before = std::mem::replace(&mut self.engine, engine);
        self.engine.slot_count = self.max_players.into();
        self.engine.game_fingerprint = before.game_fingerprint;
        self
    }

    /// Identity by which the lobby matches peers: the version of the game, the fields of its state
    /// and input, and the settings of the match. `shape` is the fingerprint of the state.
    pub(crate) fn build_id<I: Input>(&self, shape: u64) -> Label {
        let engine = &self.engine;
        let settings = engine.settings_fingerprint::<I>(engine.slot_count);
        let parts = [engine.game_fingerprint, settings, shape];
        let mut bytes = [0; 24];
        for (chunk, part) in bytes.chunks_exact_mut(8).zip(parts) {
            chunk.copy_from_slice(&part.to_le_bytes());
        }
        self.build_label(gaggle_kit::fnv1a_64(&bytes))
    }
}

impl RoomConfig<gaggle_replica::ReplicaConfig> {
    /// A room for this many players of a world of replicated objects, and which peer may write
    /// which object.
    ///
    /// # Errors
    /// If the name is no [`Label`].
    pub fn world(
        game: &str,
        max_players: u8,
        authority: AuthorityPolicy,
    ) -> Result<WorldConfig, ParseLabelError> {
        let engine = gaggle_replica::ReplicaConfig { authority, ..gaggle_replica::ReplicaConfig::default() };
        Ok(RoomConfig::with(game.parse()?, max_players, engine))
    }

    /// Sets the version of the game: see [`RoomConfig::version`] of a game on one timeline.
    #[must_use]
    pub fn version(mut self, version: &str) -> WorldConfig {
        self.engine.game_fingerprint = gaggle_kit::fnv1a_64(version.as_bytes());
        self.version = version.to_string();
        self
    }
}

impl<S> RoomConfig<S> {
    /// The slots of `players` players that begin a match, as the lobby assigns them in an empty
    /// room.
    pub(crate) fn first_slots(&self, players: usize) -> SlotSet {
        let slots = usize::from(self.max_players);
        let liked = self.preferred_slot.map(Slot::index).filter(|liked| *liked < slots);
        let others = (0..=players).filter(|slot| Some(*slot) != liked);
        liked.into_iter().chain(others).take(players).map(Slot::at).collect()
    }

    /// Label by which the lobby matches peers: the version for players to read, and a number for
    /// everything else.
    pub(crate) fn build_label(&self, fingerprint: u64) -> Label {
        let is_plain = |letter: &char| matches!(letter, 'a'..='z' | '0'..='9' | '.' | '_');
        let version: String =
            self.version.to_ascii_lowercase().chars().filter(is_plain).take(VERSION_MAX).collect();
        // These characters always make a valid label, so no error text is needed in every page.
        format!("{version}-{fingerprint:016x}").parse().unwrap_or_default()
    }

    fn with(game: Label, max_players: u8, engine: S) -> RoomConfig<S> {
        RoomConfig {
            game,
            version: String::new(),
            mode: Label::default(),
            max_players,
            join: JoinTarget::Matchmake,
            start: StartMode::DropIn,
            room_settings: RawJson::default(),
            preferred_slot: None,
            local_players: 1,
            lobby: ClientConfig::default(),
            engine,
            record_replay: false,
            join_timeout: Micros::from_secs(15),
        }
    }
}

/// Settings of a [`WorldRoom`](crate::WorldRoom).
pub type WorldConfig = RoomConfig<gaggle_replica::ReplicaConfig>;

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
