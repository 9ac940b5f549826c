//! Helpers for tests of real transports: meshes whose signals stay in one program, and a clock that
//! tolerates stalls.
//!
//! Tests of `gaggle-native` and `gaggle-browser` use them. Absent: rules (`rules.rs`).

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_kit::{Micros, PeerId};

use crate::{Channel, CloseCode, LinkStats, Mesh, Path, SendError, Transport, TransportEvent};

/// Signals in flight: sender, receiver, text.
pub type SignalBoard = Rc<RefCell<Vec<(PeerId, PeerId, String)>>>;

/// A mesh whose signals travel within one program instead of through a lobby, and that may use one
/// path only.
#[derive(Debug)]
pub struct LocalPeer<M> {
    links: M,
    post: SignalBoard,
    others: Vec<PeerId>,
    path: Path,
}

impl<M: Mesh> LocalPeer<M> {
    /// Wraps a mesh that connects to `others`. It is a failure if it ever uses another path.
    pub fn new(links: M, post: &SignalBoard, others: Vec<PeerId>, path: Path) -> LocalPeer<M> {
        LocalPeer { links, post: Rc::clone(post), others, path }
    }

    fn exchange_signals(&mut self, now: Micros) {
        for peer in std::mem::take(&mut self.others) {
            self.links.add_peer(now, peer);
        }
        let me = self.links.local_id();
        let mine: Vec<_> = self.post.borrow_mut().extract_if(.., |(_, to, _)| *to == me).collect();
        for (from, _, text) in mine {
            let handled = self.links.handle_signal(now, from, &text);
            assert!(handled.is_ok(), "{handled:?}: {text}");
        }
        while let Some((to, signal)) = self.links.poll_signal() {
            self.post.borrow_mut().push((me, to, signal));
        }
        while let Some(change) = self.links.poll_path_change() {
            assert!(change.path.is_none_or(|path| path == self.path), "{change:?}");
        }
    }
}

impl<M: Mesh> Transport for LocalPeer<M> {
    fn local_id(&self) -> PeerId {
        self.links.local_id()
    }

    fn peers(&self) -> &[PeerId] {
        self.links.peers()
    }

    fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
        self.links.send(now, to, channel, bytes)
    }

    fn poll(&mut self, now: Micros) -> Option<TransportEvent<'_>> {
        self.exchange_signals(now);
        self.links.poll(now)
    }

    fn poll_timeout(&self) -> Micros {
        self.links.poll_timeout()
    }

    fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: CloseCode) {
        self.links.disconnect(now, peer, goodbye);
    }

    fn stats(&self, peer: PeerId) -> Option<LinkStats> {
        self.links.stats(peer)
    }
}

/// A clock for tests of real transports: it advances little between two reads, even if the program
/// was stalled. Otherwise a busy machine would make peers time each other out.
#[derive(Debug, Clone, Copy, Default)]
pub struct SteppedClock {
    seen: Option<Micros>,
    at: Micros,
}

impl SteppedClock {
    /// Largest advance between two reads.
    const AT_MOST: Micros = Micros::from_millis(100);

    /// Time of this clock, given the real one.
    pub fn look(&mut self, real: Micros) -> Micros {
        let seen = self.seen.replace(real).unwrap_or(real);
        self.at += real.since(seen).min(SteppedClock::AT_MOST);
        self.at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stepped_clock_runs_and_never_leaps() {
        let mut clock = SteppedClock::default();
        let times = [500, 501, 511, 9_000, 9_001].map(|at| clock.look(Micros::from_millis(at)).as_millis());
        assert_eq!(times, [0, 1, 11, 111, 112]);
    }
}
