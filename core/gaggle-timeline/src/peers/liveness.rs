//! Liveness of peers: whether they are heard, directly or through another, and what players are
//! told.
//!
//! `PeerTable` ticks it. Absent: effects on the roster; changes of reachability are returned.

use gaggle_kit::{Micros, PeerId};

use super::PeerTable;
use crate::event::SessionEvent;
use crate::session::Cx;
use crate::time_sync::{HoldMeter, StallTimer};

/// Whether a peer is heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Liveness {
    Heard,
    Interrupted,
    Gone,
}

/// Liveness of one peer.
#[derive(Debug)]
pub(crate) struct Presence {
    liveness: Liveness,
    /// Liveness last reported to players.
    liveness_told: Liveness,
    /// Reachability last returned.
    reachable: bool,
    heard_at: Micros,
    /// A peer that said it hears this one, and when it said so.
    heard_via: Option<(PeerId, Micros)>,
    /// Time others have waited for this peer's entries.
    stall_timer: StallTimer,
    /// Share of the last seconds in which others waited for this peer.
    hold_meter: HoldMeter,
}

impl Default for Presence {
    fn default() -> Presence {
        Presence {
            liveness: Liveness::Heard,
            liveness_told: Liveness::Heard,
            reachable: false,
            heard_at: Micros::ZERO,
            heard_via: None,
            stall_timer: StallTimer::default(),
            hold_meter: HoldMeter::default(),
        }
    }
}

impl Presence {
    #[inline]
    pub(crate) fn heard_at(&self) -> Micros {
        self.heard_at
    }

    /// A packet or message of the peer came.
    #[inline]
    pub(crate) fn hear(&mut self, now: Micros) {
        self.heard_at = now;
    }

    #[inline]
    pub(crate) fn liveness(&self) -> Liveness {
        self.liveness
    }

    /// Liveness last reported to players.
    #[cfg(debug_assertions)]
    pub(crate) fn liveness_told(&self) -> Liveness {
        self.liveness_told
    }

    /// Reachability last returned.
    pub(crate) fn is_reachable(&self) -> bool {
        self.reachable
    }

    /// A peer that said it hears this one, and when it said so.
    pub(crate) fn heard_via(&self) -> Option<(PeerId, Micros)> {
        self.heard_via
    }

    pub(crate) fn set_heard_via(&mut self, heard_via: Option<(PeerId, Micros)>) {
        self.heard_via = heard_via;
    }

    /// Share of the last seconds in which others waited for this peer.
    pub(crate) fn hold_meter_mut(&mut self) -> &mut HoldMeter {
        &mut self.hold_meter
    }

    /// Time others have waited for this peer's entries.
    pub(crate) fn stall_timer_mut(&mut self) -> &mut StallTimer {
        &mut self.stall_timer
    }

    /// Notes that the peer announced itself. One that had timed out counts as interrupted until its
    /// packets arrive.
    pub(crate) fn greet(&mut self, now: Micros) {
        self.heard_at = now;
        if self.liveness == Liveness::Gone {
            self.liveness = Liveness::Interrupted;
        }
    }

    /// Forgets waiting times, because this peer joined again (another stay).
    pub(crate) fn forget_waiting(&mut self) {
        self.stall_timer = StallTimer::default();
        self.hold_meter = HoldMeter::default();
    }

    #[cfg(test)]
    pub(crate) fn set_liveness(&mut self, liveness: Liveness) {
        self.liveness = liveness;
    }

    /// The peer left the roster: others neither miss it nor wait for it.
    pub(crate) fn leave(&mut self) {
        self.liveness_told = Liveness::Heard;
        self.hold_meter = HoldMeter::default();
    }

    /// Notes that the peer `via` hears it, as of this time.
    pub(crate) fn note_heard_via(&mut self, via: PeerId, at: Micros) {
        if self.heard_via.is_none_or(|(_, known)| at > known) {
            self.heard_via = Some((via, at));
        }
    }
}

/// Facts that decide what players are told.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LivenessView {
    /// A spectator shows new frames: in each of them all members had entries, whatever the local
    /// links are like.
    pub(crate) is_shown: bool,
    /// The match is about to start: all peers count.
    pub(crate) is_gathering: bool,
}

/// A peer that became reachable, or ceased to be.
pub(crate) type ReachChange = Option<(PeerId, bool)>;

impl PeerTable {
    /// Whether a peer that is heard says that it hears this one.
    pub(crate) fn is_heard_via(&self, index: usize, cx: &Cx) -> bool {
        let Some((via, at)) = self.all[index].presence.heard_via else { return false };
        cx.now.since(at) < cx.config.timeout
            && self.all.iter().any(|remote| remote.peer == via && remote.is_trusted())
    }

    /// Reports silence of peers, and finally their timeout.
    #[must_use]
    pub(crate) fn tick_liveness(&mut self, cx: &mut Cx, view: LivenessView) -> Vec<(PeerId, bool)> {
        let mut changes = Vec::new();
        for index in 0..self.all.len() {
            let remote = &mut self.all[index];
            let silent = cx.now.since(remote.presence.heard_at);
            let is_gone = if remote.is_trusted() {
                if remote.presence.liveness == Liveness::Heard && silent >= cx.config.interrupted_after {
                    remote.presence.liveness = Liveness::Interrupted;
                }
                remote.presence.liveness == Liveness::Interrupted && silent >= cx.config.timeout
            } else {
                remote.is_open
            };
            if is_gone && !self.is_heard_via(index, cx) {
                changes.extend(self.set_gone(index, cx, view));
            }
            changes.extend(self.judge_reachable(index, cx));
            self.tell_liveness(index, cx, view);
        }
        changes
    }

    /// Reports each change of a member's liveness once. A return is reported only for a peer that
    /// was reported missing, whenever it fell silent. Peers that do not play any more are not
    /// reported.
    pub(crate) fn tell_liveness(&mut self, index: usize, cx: &mut Cx, view: LivenessView) {
        let remote = &mut self.all[index];
        let counts = remote.is_open || view.is_gathering;
        let news = match () {
            () if !counts || view.is_shown => Liveness::Heard,
            // While no new frames arrive, a spectator knows missing peers only by its own links.
            () if cx.spectates && !remote.is_trusted() => remote.presence.liveness_told,
            () => remote.presence.liveness,
        };
        let told = &mut remote.presence.liveness_told;
        // A peer that timed out is not back just because it has a link again.
        let waits = *told == Liveness::Gone && news == Liveness::Interrupted;
        if news == *told || waits {
            return;
        }
        *told = news;
        let peer = remote.peer;
        if counts {
            cx.events.push(match news {
                Liveness::Heard => SessionEvent::Resumed { peer },
                Liveness::Interrupted => SessionEvent::Interrupted { peer },
                Liveness::Gone => SessionEvent::TimedOut { peer },
            });
        }
    }

    /// Reachability of a peer, if it has changed.
    #[must_use]
    pub(crate) fn judge_reachable(&mut self, index: usize, cx: &Cx) -> ReachChange {
        let remote = &self.all[index];
        let is_direct = remote.is_trusted() && remote.presence.liveness != Liveness::Gone;
        let reachable = is_direct || self.is_heard_via(index, cx);
        let remote = &mut self.all[index];
        let before = std::mem::replace(&mut remote.presence.reachable, reachable);
        (before != reachable).then_some((remote.peer, reachable))
    }

    #[must_use]
    pub(crate) fn set_gone(&mut self, index: usize, cx: &mut Cx, view: LivenessView) -> ReachChange {
        self.all[index].presence.liveness = Liveness::Gone;
        self.tell_liveness(index, cx, view);
        self.judge_reachable(index, cx)
    }

    /// Takes note of a packet of the peer.
    #[must_use]
    pub(crate) fn set_heard(&mut self, index: usize, cx: &mut Cx, view: LivenessView) -> ReachChange {
        self.all[index].presence.liveness = Liveness::Heard;
        self.tell_liveness(index, cx, view);
        self.judge_reachable(index, cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::peers::Handshake;

    const VIEW: LivenessView = LivenessView { is_shown: false, is_gathering: false };

    /// A table with a member heard at the start, and a peer through which it may be heard.
    fn table() -> (Cx, PeerTable) {
        let mut table = PeerTable::default();
        for number in [2, 3] {
            let (index, _) = table.find_or_insert(PeerId::from_u128(number));
            table[index].hello.set_handshake(Handshake::Synchronized);
        }
        table[0].is_open = true;
        (Cx::for_test(), table)
    }

    fn events(cx: &mut Cx) -> Vec<SessionEvent> {
        std::iter::from_fn(|| cx.events.pop()).collect()
    }

    #[test]
    fn silent_member_is_interrupted_then_gone_then_back() {
        let (mut cx, mut table) = table();
        let peer = table[0].peer;
        assert_eq!(table.tick_liveness(&mut cx, VIEW).first(), Some(&(peer, true)));
        cx.now = cx.config.interrupted_after;
        assert!(table.tick_liveness(&mut cx, VIEW).is_empty());
        cx.now = cx.config.timeout;
        assert!(table.tick_liveness(&mut cx, VIEW).contains(&(peer, false)));
        assert_eq!(table.set_heard(0, &mut cx, VIEW), Some((peer, true)));
        let told = events(&mut cx);
        assert_eq!(
            told,
            [
                SessionEvent::Interrupted { peer },
                SessionEvent::TimedOut { peer },
                SessionEvent::Resumed { peer },
            ]
        );
    }

    #[test]
    fn member_heard_by_another_is_not_gone() {
        let (mut cx, mut table) = table();
        assert_eq!(table.tick_liveness(&mut cx, VIEW).len(), 2);
        cx.now = cx.config.timeout;
        let via = table[1].peer;
        table[1].presence.heard_at = cx.now;
        table[0].presence.note_heard_via(via, cx.now);
        assert!(table.tick_liveness(&mut cx, VIEW).is_empty());
        assert_eq!(table[0].presence.liveness, Liveness::Interrupted);
    }

    #[test]
    fn peer_that_left_roster_is_not_back_when_heard() {
        let (mut cx, mut table) = table();
        cx.now = cx.config.interrupted_after;
        _ = table.tick_liveness(&mut cx, VIEW);
        assert_eq!(events(&mut cx), [SessionEvent::Interrupted { peer: table[0].peer }]);
        table[0].set_open(false, gaggle_kit::Frame::START, false);
        _ = table.set_heard(0, &mut cx, VIEW);
        assert_eq!(events(&mut cx), []);
    }

    #[test]
    fn peer_that_does_not_play_is_not_missed() {
        let (mut cx, mut table) = table();
        table[0].is_open = false;
        cx.now = cx.config.timeout;
        _ = table.tick_liveness(&mut cx, VIEW);
        assert_eq!(events(&mut cx), []);
        let gathering = LivenessView { is_gathering: true, ..VIEW };
        _ = table.tick_liveness(&mut cx, gathering);
        assert_eq!(events(&mut cx).len(), 2, "they have seats");
    }
}
