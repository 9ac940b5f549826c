//! An attempt to join a match, beside the shown one.
//!
//! [`Requests`](super::Requests) has at most one. Absent: game state, consequences of its end.

use gaggle_kit::{Input, Micros, PeerId, VecSet};

use super::play::Play;

/// An attempt to join a running match, while the shown one goes on.
pub(super) struct Joining<I: Input> {
    pub(super) play: Play<I>,
    /// Peers that start it together and have not answered; none if the match is running already.
    pub(super) awaited: Option<Vec<PeerId>>,
    /// When it began, or last made progress.
    pub(super) progress_at: Micros,
    /// Since when no member plays and this peer is the one to open the match.
    pub(super) alone_since: Option<Micros>,
    pub(super) percent: u8,
    /// The most progress so far, in percent.
    pub(super) best: u8,
    /// Peers whose links were closed for good.
    pub(super) rejected: VecSet<PeerId>,
    /// Whether it can never succeed.
    pub(super) hopeless: bool,
}

impl<I: Input> Joining<I> {
    pub(super) fn new(now: Micros, play: Play<I>, awaited: Option<Vec<PeerId>>) -> Joining<I> {
        Joining {
            play,
            awaited,
            progress_at: now,
            alone_since: None,
            percent: 0,
            best: 0,
            rejected: VecSet::new(),
            hopeless: false,
        }
    }
}
