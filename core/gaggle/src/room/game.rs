//! What only a room of a game on one timeline can do.

use gaggle_kit::Frame;
use gaggle_timeline::{DesyncBundle, Game, Session, SessionError};

use super::Room;
use crate::engine::GameEngine;
use crate::platform::Platform;

/// A [`Room`] whose peers send inputs and simulate the same [`Game`].
pub type GameRoom<G, P> = Room<GameEngine<G>, P>;

impl<G: Game + Clone, P: Platform> Room<GameEngine<G>, P> {
    /// The game to draw.
    pub fn game(&self) -> &G {
        self.engine.game()
    }

    /// The game one frame ago, to interpolate: see [`Room::alpha_permille`].
    pub fn previous_game(&self) -> &G {
        self.engine.previous_game()
    }

    /// The latest game without predicted input, the same on all peers: for results. None if that
    /// frame is not held any more.
    pub fn confirmed(&self) -> Option<(Frame, &G)> {
        self.engine.confirmed()
    }

    /// After a [`RoomEvent::DesyncRecovered`](crate::RoomEvent::DesyncRecovered) of this peer: its
    /// state, the one it took over, and the inputs between. Write [`DesyncBundle::encode`] to a
    /// file, or see at once which fields [differ](DesyncBundle::diff). Returned once; a spectator
    /// has none.
    pub fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.engine.take_desync_bundle()
    }

    /// The input delay from now on, in frames, solo and in matches; `None` lets it adapt to the
    /// network again, and be 0 solo.
    ///
    /// # Errors
    /// If it is outside
    /// [`TimelineConfig::input_delay_range`](gaggle_timeline::TimelineConfig::input_delay_range).
    pub fn set_input_delay(&mut self, frames: Option<u32>) -> Result<(), SessionError> {
        self.engine.set_input_delay(frames)
    }

    /// The match on the screen as a replay file, from where this peer joined to the last frame that
    /// is final. Recording goes on. None unless
    /// [`RoomConfig::record_replay`](crate::RoomConfig::record_replay) is set.
    pub fn replay_bytes(&self) -> Option<Vec<u8>> {
        self.engine.replay_bytes()
    }

    /// Hashes of final states, one a second, the latest last: equal frames of one match have equal
    /// hashes on all peers. Empty unless
    /// [`RoomConfig::record_replay`](crate::RoomConfig::record_replay) is set.
    pub fn checksums(&self) -> Vec<(Frame, u64)> {
        self.engine.checksums()
    }

    /// The session of the match on the screen.
    pub fn session(&self) -> &Session<G::Input> {
        self.engine.session()
    }
}
