//! Who is heard, directly or through somebody else, and what follows when nobody hears a machine any more.

use gaggle_kit::Input;

use super::Session;
use crate::event::Event;
use crate::remote::{Handshake, Liveness};

impl<I: Input> Session<I> {
    /// Silence is told, and in the end taken for absence.
    pub(super) fn watch_liveness(&mut self) {
        let gathering = !self.seats.is_empty();
        for index in 0..self.remotes.len() {
            let remote = &mut self.remotes[index];
            let silent = self.now.since(remote.heard_at);
            if remote.is_trusted() {
                if remote.liveness == Liveness::Heard && silent >= self.config.interrupted_after {
                    remote.liveness = Liveness::Interrupted;
                    if remote.is_open || gathering {
                        self.events.push(Event::Interrupted { peer: remote.peer });
                    }
                }
                let remote = &self.remotes[index];
                if remote.liveness == Liveness::Interrupted
                    && silent >= self.config.dead_after
                    && !self.is_heard_via(index)
                {
                    self.set_gone(index);
                }
            } else if remote.is_open && !self.is_heard_via(index) {
                self.set_gone(index);
            }
            self.judge_reachable(index);
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
        let remote = &mut self.remotes[index];
        if remote.liveness != Liveness::Gone {
            remote.liveness = Liveness::Gone;
            if remote.is_open || !self.seats.is_empty() {
                self.events.push(Event::Gone { peer: remote.peer });
            }
        }
        self.judge_reachable(index);
    }

    /// A machine without a link that nobody needs to know about any more.
    pub(super) fn forget_idle_remote(&mut self, index: usize) {
        let remote = &self.remotes[index];
        let (peer, refused) = (remote.peer, remote.handshake == Handshake::Refused);
        let seated = self.seats.iter().any(|seat| seat.peer == peer);
        if !seated && !refused && !self.membership.known().iter().any(|row| row.stream.peer == peer) {
            self.remotes.remove(index);
            self.outbox.close();
            self.membership.forget_peer(peer);
        }
    }
}
