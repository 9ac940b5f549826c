//! Events of a match's session, and the end of a join attempt.
//!
//! [`Requests`] calls it after the ticks of an update. Absent: requests, game state.

use gaggle_kit::{Input, Micros, PeerId};
use gaggle_link::relay::HOST_PEER;
use gaggle_timeline::{RosterEntry, SessionEvent};

use super::turn::Notice;
use super::{Lobby, Requests};
use crate::engine::Engine;
use crate::engine::state::Cause;
use crate::engine::transitions::Transitions;
use crate::event::{LeaveCause, PeerRejection, RoomEvent};
use crate::phase::Stall;
use crate::platform::Platform;

/// Time without any playing member after which one of the waiting peers opens the match. A peer
/// that plays says so in its first packet.
const OPEN_AFTER: Micros = Micros::from_secs(1);

/// Silence after which a peer counts as late. Peers in a match send many times as often.
const QUIET_AFTER: Micros = Micros::from_millis(300);

impl<I: Input> Requests<I> {
    pub(super) fn current_stall<P: Platform>(&self, room: &Lobby<P>) -> Option<Stall> {
        let since = self.stalled_since.filter(|_| !self.state.is_suspended())?;
        if self.shown.session().is_sealed() {
            // No player is waited for, only the referee.
            return Some(Stall { since, waiting_for: Vec::new(), is_isolated: true });
        }
        let (session, me) = (self.shown.session(), room.me());
        let others = || session.roster().iter().filter(|row| row.is_active() && Some(row.stream.peer) != me);
        let is_quiet = |row: &&RosterEntry| {
            session.time_since_heard(row.stream.peer).is_none_or(|silence| silence >= QUIET_AFTER)
        };
        let is_late = |row: &&RosterEntry| match session.stalled_on() {
            Some(slots) => !row.slots.intersection(slots).is_empty(),
            // A spectator waits for any peer whose entries are missing.
            None => is_quiet(row),
        };
        let is_isolated = others().all(|row| is_quiet(&row));
        let waiting_for = others().filter(is_late).map(|row| row.stream.peer).collect();
        others().next().map(|_| Stall { since, waiting_for, is_isolated })
    }

    pub(super) fn handle_events<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let mut has_abandoned = false;
        while let Some(event) = self.shown.session_mut().poll_event() {
            if self.state.is_in_match() {
                // Peers that were only in the abandoned branch did not leave by their own decision.
                has_abandoned |= matches!(event, SessionEvent::BranchAbandoned { .. });
                if let SessionEvent::Left { peer, .. } = event
                    && has_abandoned
                {
                    self.silent.insert(peer);
                }
                self.handle_match_event(room, &event);
            }
        }
        self.follow_joining(room);
        self.note_reunion(room);
    }

    /// A peer that has left according to the lobby did not time out, even if its last packets were
    /// lost.
    fn leave_cause<P: Platform>(&mut self, room: &Lobby<P>, peer: PeerId) -> LeaveCause {
        let was_silent = self.silent.remove(&peer);
        if was_silent && room.has_reservation(peer) { LeaveCause::TimedOut } else { LeaveCause::Left }
    }

    fn handle_match_event<P: Platform>(&mut self, room: &mut Lobby<P>, event: &SessionEvent) {
        let cause = match event {
            SessionEvent::Left { peer, .. } => self.leave_cause(room, *peer),
            _ => LeaveCause::Left,
        };
        let (me, name) = (room.me(), |peer: PeerId| room.name(peer));
        let others = |peer: PeerId| Some(peer).filter(|peer| Some(*peer) != me);
        let reported = match *event {
            SessionEvent::Joined { peer, .. } => {
                others(peer).map(|peer| RoomEvent::PlayerJoined { peer, name: name(peer) })
            }
            SessionEvent::Left { peer, .. } => {
                others(peer).map(|peer| RoomEvent::PlayerLeft { peer, name: name(peer), cause })
            }
            SessionEvent::TimedOut { peer } => {
                self.silent.insert(peer);
                None
            }
            SessionEvent::Interrupted { peer } => {
                self.silent.insert(peer);
                Some(RoomEvent::PlayerInterrupted { peer, name: name(peer) })
            }
            SessionEvent::Resumed { peer } => {
                self.silent.remove(&peer);
                Some(RoomEvent::PlayerResumed { peer, name: name(peer) })
            }
            SessionEvent::LeaderChanged { leader } => {
                Some(RoomEvent::LeaderChanged { peer: leader, name: name(leader) })
            }
            SessionEvent::BranchAbandoned { .. } => {
                self.has_abandoned = true;
                Some(RoomEvent::BranchAbandoned)
            }
            // What was recorded of these frames is void.
            SessionEvent::FramesTakenBack { .. } => {
                self.has_abandoned = true;
                None
            }
            SessionEvent::DesyncDetected { peer, frame, .. } => {
                Some(RoomEvent::DesyncDetected { peer, name: name(peer), frame })
            }
            SessionEvent::DesyncLocated { peer, cause } => {
                Some(RoomEvent::DesyncLocated { peer, name: name(peer), cause })
            }
            SessionEvent::DesyncRecovered { peer, frame } => {
                Some(RoomEvent::DesyncRecovered { peer, name: name(peer), frame })
            }
            SessionEvent::InputRefused { frame } => Some(RoomEvent::InputRefused { frame }),
            SessionEvent::LaggingBehind { refused_permille } => {
                Some(RoomEvent::LaggingBehind { refused_permille })
            }
            SessionEvent::StateOutvoted { frame, .. } => {
                Some(RoomEvent::DesyncDetected { peer: HOST_PEER, name: name(HOST_PEER), frame })
            }
            SessionEvent::SlowPeer { peer, share_permille } => {
                let is_local = Some(peer) == me;
                Some(RoomEvent::SlowPlayer { peer, name: name(peer), is_local, share_permille })
            }
            _ => trouble(event, &name),
        };
        if let Some(event) = reported {
            room.push(event);
        }
        if room.has_referee && matches!(event, SessionEvent::Joined { .. }) {
            // The player was not there when the values were sent.
            room.inbox.values.forget_connections();
        }
    }

    /// Suspended members that admitted this peer have left the match to it: their last frames are
    /// not waited for.
    fn remove_suspended<P: Platform>(&mut self, room: &mut Lobby<P>) {
        for peer in room.end_joining() {
            if !self.is_spectating() {
                let _ = self.shown.session_mut().evict(peer);
            }
        }
    }

    /// Follows a join attempt until it has succeeded, failed or timed out.
    fn follow_joining<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(joining) = &mut self.joining else { return };
        joining.give_up_silent(room.now);
        let before = joining.percent;
        while let Some(event) = joining.play.session_mut().poll_event() {
            if let SessionEvent::JoinProgress { percent } = event {
                joining.percent = percent.min(99);
            }
            if let SessionEvent::Rejected { peer, .. } | SessionEvent::PeerFault { peer, .. } = event {
                joining.rejected.insert(peer);
            }
            if let (SessionEvent::Synchronized { peer, .. }, Some(awaited)) = (&event, &mut joining.awaited) {
                awaited.retain(|other| other != peer);
            }
            joining.hopeless |= matches!(event, SessionEvent::StateTooLarge { .. });
            if let Some(reported) = trouble(&event, &|peer| room.name(peer)) {
                room.push(reported);
            }
        }
        if joining.percent > joining.best {
            // A large state may take as long as its pieces keep arriving.
            joining.best = joining.percent;
            joining.progress_at = room.now;
        }
        let me = room.me();
        let others: Vec<PeerId> =
            room.reservations().map(|(peer, _)| peer).filter(|peer| Some(*peer) != me).collect();
        joining.hopeless |= !room.has_referee
            && !others.is_empty()
            && others.iter().all(|peer| joining.rejected.contains(peer));
        let is_hopeless = joining.hopeless;
        let (percent, session) = (joining.percent, joining.play.session());
        let spectates = session.is_spectating();
        let is_in = if spectates { session.is_running() } else { session.is_member() };
        let is_late = room.now.since(joining.progress_at) >= room.join_timeout();
        let is_start = joining.awaited.is_some();
        let is_alone = !spectates && !is_start && session.found_no_match() && room.is_first_of_linked();
        joining.alone_since = joining.alone_since.filter(|_| is_alone).or(is_alone.then_some(room.now));
        let opens = joining.alone_since.is_some_and(|at| room.now.since(at) >= OPEN_AFTER);
        if percent != before {
            room.push(RoomEvent::Joining { percent });
        }
        if is_in {
            if let Some(mut joining) = self.joining.take() {
                // Only once: a peer that leaves and rejoins later has had these slots itself.
                joining.play.inherit(std::mem::take(&mut room.reused_slots));
                self.turn.note(Notice::Show);
                self.show(joining.play);
                self.change(room, Cause::Joined);
                self.remove_suspended(room);
                if room.has_referee {
                    // A referee forwards nothing to or from a peer that it has not let in.
                    room.inbox.values.forget_connections();
                }
                room.push(if spectates { RoomEvent::SpectatingStarted } else { RoomEvent::MatchJoined });
            }
        } else if room.has_referee && is_late && !is_hopeless {
            // The server may be starting again: this peer plays on alone, and tries again.
            room.push(RoomEvent::JoinFailed);
            room.renew_links();
            self.begin_joining(room);
        } else if is_start && is_late {
            // The other peers may have started without this one.
            room.renew_links();
            self.begin_joining(room);
        } else if is_hopeless || is_late && spectates {
            room.push(RoomEvent::JoinFailed);
            self.leave(room, false);
        } else if is_late || opens {
            self.drop_joining();
            if is_late && room.has_others_awake() {
                room.push(RoomEvent::JoinFailed);
                self.open_separate_match(room);
            } else {
                self.open_match(room);
            }
            // The links belong to the attempt that ended.
            room.renew_links();
        }
    }
}

/// Problems that make it hard or impossible to play together, for players and developers.
fn trouble(event: &SessionEvent, name: &dyn Fn(PeerId) -> String) -> Option<RoomEvent> {
    let rejected = |peer, reason| Some(RoomEvent::Rejected { peer, name: name(peer), reason });
    match *event {
        SessionEvent::Rejected { peer, reason } => rejected(peer, PeerRejection::Match(reason)),
        SessionEvent::PeerFault { peer, fault } => rejected(peer, PeerRejection::MatchFault(fault)),
        SessionEvent::InputsDiverged { peer, frame, suspect } => {
            Some(RoomEvent::InputsDiverged { peer, name: name(peer), frame, suspect })
        }
        SessionEvent::StateNotDecodable { frame } => Some(RoomEvent::StateNotDecodable { frame }),
        SessionEvent::StateTooLarge { bytes, max, .. } => Some(RoomEvent::StateTooLarge { bytes, max }),
        SessionEvent::LinkTooSlow { peer, rtt, max } => {
            Some(RoomEvent::LinkTooSlow { peer, name: name(peer), rtt, max })
        }
        _ => None,
    }
}
