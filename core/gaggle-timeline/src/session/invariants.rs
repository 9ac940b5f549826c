//! What holds between two calls of a session, checked in builds with debug assertions.
//!
//! `Session::settle` calls it. Absent: how a session gets there.

use gaggle_kit::{Frame, Input};

use crate::input_log::InputLog;
use crate::peers::{Liveness, PeerTable};

/// Frames of a member: none is confirmed without all entries, own ones up to `own` included, and
/// none is simulated beyond the largest window.
pub(super) fn check_frames<I: Input>(log: &InputLog<I>, own: Frame, confirmed: Frame, window: u32) {
    let (received, current) = (log.received_frame(), log.past().current());
    let held = received.min(own);
    assert!(confirmed <= held, "{confirmed:?} is confirmed, entries are held up to {held:?}");
    let limit = received.max(confirmed).saturating_add(window);
    assert!(current <= limit, "{current:?} is simulated, the window ends at {limit:?}");
}

/// Players are told that a peer is back only after they were told that it is missing: one that is
/// out of the roster is not missed.
pub(super) fn check_liveness(peers: &PeerTable) {
    for remote in peers.iter().filter(|remote| !remote.is_open) {
        let told = remote.presence.liveness_told();
        assert!(told == Liveness::Heard, "{:?} is out of the roster and told of as {told:?}", remote.peer);
    }
}
