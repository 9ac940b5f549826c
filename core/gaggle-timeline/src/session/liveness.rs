//! Who is heard, directly or through somebody else, and what follows when nobody hears a machine
//! any more.

use gaggle_kit::{Input, Micros, PeerId};

use super::Session;
use super::gossip::SILENCE;
use crate::event::SessionEvent;
use crate::remote::{Handshake, Liveness, Peer};

impl<I: Input> Session<I> {
    /// Whether nobody has to be watched, asked about or told anything in this tick.
    pub(super) fn is_quiescent(&self) -> bool {
        self.now < self.quiescent_until && self.stalled_ticks == 0 && self.membership.is_at_rest()
    }

    /// Everybody was just looked at: until when that need not be done again, if nothing happens but
    /// inputs.
    pub(super) fn find_quiescence(&mut self) {
        let fine = |remote: &Peer| remote.is_trusted() && remote.liveness == Liveness::Heard;
        let calm = self.running
            && self.membership.is_at_rest()
            && !self.joining.is_busy()
            && self.donations.only_feed()
            && !self.recovery.is_open()
            && !self.is_inquest_open()
            && self.remotes.iter().all(fine);
        let heard_at = self.remotes.iter().map(|remote| remote.heard_at).min();
        self.quiescent_until = match heard_at {
            Some(at) if calm => at + SILENCE.min(self.config.interrupted_after),
            _ => Micros::ZERO,
        };
    }

    /// Silence is told, and in the end taken for absence.
    pub(super) fn watch_liveness(&mut self) {
        for index in 0..self.remotes.len() {
            let remote = &mut self.remotes[index];
            let silent = self.now.since(remote.heard_at);
            if remote.is_trusted() {
                if remote.liveness == Liveness::Heard && silent >= self.config.interrupted_after {
                    remote.liveness = Liveness::Interrupted;
                }
                let remote = &self.remotes[index];
                if remote.liveness == Liveness::Interrupted
                    && silent >= self.config.timeout
                    && !self.is_heard_via(index)
                {
                    self.set_gone(index);
                }
            } else if remote.is_open && !self.is_heard_via(index) {
                self.set_gone(index);
            }
            self.judge_reachable(index);
            self.tell_liveness(index);
        }
    }

    /// Whether a machine that plays is heard is told once for every change: of nobody that it is
    /// back who was not said to be away, whenever it came and whenever it fell silent. Whoever does
    /// not play any more is not missed.
    pub(super) fn tell_liveness(&mut self, index: usize) {
        let shown = self.spectates && self.sees_play_go_on();
        let remote = &mut self.remotes[index];
        let counts = remote.is_open || !self.seats.is_empty();
        let news = match () {
            // In every frame that is shown everybody who plays has spoken, whatever our own link to
            // it is like.
            () if !counts || shown => Liveness::Heard,
            // When nothing goes on, whoever watches cannot tell who is missing but by its own
            // links.
            () if self.spectates && !remote.is_trusted() => remote.liveness_told,
            () => remote.liveness,
        };
        // Who was gone is not back because it has a link again.
        let waits = remote.liveness_told == Liveness::Gone && news == Liveness::Interrupted;
        if news == remote.liveness_told || waits {
            return;
        }
        remote.liveness_told = news;
        let peer = remote.peer;
        if counts {
            self.events.push(match news {
                Liveness::Heard => SessionEvent::Resumed { peer },
                Liveness::Interrupted => SessionEvent::Interrupted { peer },
                Liveness::Gone => SessionEvent::TimedOut { peer },
            });
        }
    }

    /// Tells the membership machine who can be talked to.
    pub(super) fn judge_reachable(&mut self, index: usize) {
        let direct = self.remotes[index].is_trusted() && self.remotes[index].liveness != Liveness::Gone;
        let reachable = direct || self.is_heard_via(index);
        let remote = &mut self.remotes[index];
        if remote.reachable != reachable {
            remote.reachable = reachable;
            self.membership.set_reachable(remote.peer, reachable);
        }
    }

    pub(super) fn set_gone(&mut self, index: usize) {
        self.remotes[index].liveness = Liveness::Gone;
        self.tell_liveness(index);
        self.judge_reachable(index);
    }

    /// Links there are, and machines that are remembered because they were refused. Others are
    /// known because somebody names them: they take nobody's place.
    pub(super) fn links(&self) -> usize {
        let counts = |remote: &&Peer| remote.is_up || remote.handshake == Handshake::Refused;
        self.remotes.iter().filter(counts).count()
    }

    /// Whoever has no link, and is in no roster any more, is forgotten: else everybody who ever
    /// fell silent would be known for ever, and those whom a liar made up.
    pub(super) fn forget_absent(&mut self) {
        let is_idle =
            |remote: &Peer| !remote.is_up && !remote.is_open && remote.handshake == Handshake::Unlinked;
        for index in (0..self.remotes.len()).rev() {
            let remote = &self.remotes[index];
            if is_idle(remote) && !self.membership.is_wary_of(self.now, remote.peer) {
                self.forget_remote(index);
            }
        }
    }

    /// A machine without a link that nobody needs to know about any more. Who was refused is
    /// remembered: it must not be taken for somebody new.
    pub(super) fn forget_idle_remote(&mut self, index: usize) {
        if self.remotes[index].handshake != Handshake::Refused {
            self.forget_remote(index);
        }
    }

    /// Makes room for somebody: of those who were refused and have no link, the one that was heard
    /// longest ago is forgotten.
    pub(super) fn forget_refused(&mut self) {
        let idle = |remote: &&Peer| remote.handshake == Handshake::Refused && !remote.is_up;
        let free = |remote: &&Peer| !self.is_awaited(remote.peer);
        let refused = self.remotes.iter().filter(idle).filter(free);
        let Some(peer) = refused.min_by_key(|remote| remote.heard_at).map(|remote| remote.peer) else {
            return;
        };
        if let Some(index) = self.remote_index(peer) {
            self.forget_remote(index);
        }
    }

    /// Whether a machine has a seat, or is in the roster.
    fn is_awaited(&self, peer: PeerId) -> bool {
        let seated = self.seats.iter().any(|seat| seat.peer == peer);
        seated || self.membership.known().iter().any(|row| row.stream.peer == peer)
    }

    fn forget_remote(&mut self, index: usize) {
        let peer = self.remotes[index].peer;
        if !self.is_awaited(peer) {
            self.remotes.remove(index);
            self.outbox.close();
            self.membership.forget_peer(peer);
        }
    }
}
