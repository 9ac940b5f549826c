//! What a match at a referee needs beside its session: numbers of stays, and players who only look
//! on.
//!
//! [`Requests`](super::Requests) has one. Absent: sessions, the lobby.

/// Whether this build can play at a referee: pages that do not need it leave out its code.
pub(super) const HAS_STAR: bool = cfg!(feature = "seal");

/// What a match at a referee needs beside its session.
#[derive(Debug, Default)]
pub(super) struct Star {
    /// Number of the last stay: each is higher than those before.
    #[cfg(feature = "seal")]
    incarnation: u32,
    /// Local players who only look on.
    passive: Vec<bool>,
}

impl Star {
    /// Whether all local players only look on.
    pub(super) fn is_passive(&self) -> bool {
        !self.passive.is_empty() && self.passive.iter().all(|is_passive| *is_passive)
    }

    /// Sets whether one of so many local players only looks on.
    pub(super) fn set_passive(&mut self, player: usize, players: usize, is_passive: bool) {
        self.passive.resize(players, false);
        if let Some(passive) = self.passive.get_mut(player) {
            *passive = is_passive;
        }
    }

    /// The number of another stay: the time of the server, so that a process that starts again has
    /// a higher one, too.
    #[cfg(feature = "seal")]
    pub(super) fn next_incarnation(&mut self, unix_seconds: u64) -> u32 {
        self.incarnation = (unix_seconds as u32).max(self.incarnation + 1);
        self.incarnation
    }
}
