//! Whoever gives nothing, or next to nothing, while everybody waits for it cannot stay.

use gaggle_kit::{Input, Micros};

use super::Session;
use crate::input_log::RemoteStream;
use crate::remote::Liveness;

/// No more than this passes between two looks: a machine that slept has not waited.
const LOOK_MAX: Micros = Micros::from_secs(1);
/// Whoever gives a frame where so many are due is slow; less than that nobody can play with.
const SLOWEST: u64 = 8;

impl<I: Input> Session<I> {
    /// Counts for whom we wait, and whom for too long. Others may say that it is there, and an
    /// entry now and then that it lives: neither is playing.
    pub(super) fn watch_standstill(&mut self) {
        let span = self.now.since(self.standstill_looked_at).min(LOOK_MAX);
        self.standstill_looked_at = self.now;
        if self.stalled_ticks == 0 {
            return;
        }
        let Session { config, received_frame: horizon, ledger, remotes, membership, now, .. } = self;
        let due = u64::from(config.tick_rate) * config.evict_stalled_after.get() / 1_000_000;
        let enough_frames = (due / SLOWEST).max(1) as u32;
        let stands = |track: &&RemoteStream| track.row.is_active() && track.have <= *horizon;
        for track in ledger.tracks().iter().filter(stands) {
            let stream = track.row.stream;
            let Some(owner) = remotes.iter_mut().find(|remote| remote.peer == stream.peer) else { continue };
            // While it cannot be reached it cannot give anything: that is another matter.
            if !owner.reachable {
                continue;
            }
            let waited = owner.hold_up.wait(stream, track.have, enough_frames, span);
            // Nobody has to take somebody else's word for ever that a machine it does not hear is
            // there.
            let patience = match owner.liveness {
                Liveness::Heard => config.evict_stalled_after,
                Liveness::Interrupted | Liveness::Gone => config.evict_stalled_after.max(config.timeout),
            };
            if waited >= patience {
                membership.condemn_idle(*now, stream);
            }
        }
    }
}
