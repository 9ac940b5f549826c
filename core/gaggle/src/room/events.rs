//! What the match says, and who is who in it.

use gaggle_kit::{Micros, PeerId, SlotSet};
use gaggle_timeline::{Game, RosterEntry, SessionEvent};

use super::{Room, Stall};
use crate::event::{LeaveCause, PeerRejection, RoomEvent};
use crate::lobby_room::Member;
use crate::platform::Platform;

/// So long nobody may play in a room before one of those who wait there begins: who plays tells so with its greeting.
const ALONE_PATIENCE: Micros = Micros::from_secs(1);

/// Machines in a match say something many times as often.
const QUIET_AFTER: Micros = Micros::from_millis(300);

impl<G: Game + Clone, P: Platform> Room<G, P> {
    /// Everybody in the room, as far as we know.
    pub fn members(&self) -> Vec<Member> {
        let session = self.shown.session();
        let slots_of = |peer: PeerId| {
            let rows = session.roster().iter().filter(|row| row.stream.peer == peer && row.is_active());
            rows.fold(SlotSet::EMPTY, |slots, row| slots.union(row.slots))
        };
        self.lounge.members(slots_of, session.leader_at(session.current_frame()))
    }

    /// Whom the game on the screen waits for, while it stands still. For a frame or two that is nothing to speak of; a
    /// picture that stands still for longer should say why.
    pub fn stall(&self) -> Option<Stall> {
        let since = self.still_since.filter(|_| self.together && !self.resting)?;
        let (session, me) = (self.shown.session(), self.lounge.me());
        let others = || session.roster().iter().filter(|row| row.is_active() && Some(row.stream.peer) != me);
        let is_quiet = |row: &&RosterEntry| {
            session.time_since_heard(row.stream.peer).is_none_or(|silence| silence >= QUIET_AFTER)
        };
        let is_late = |row: &&RosterEntry| match session.stalled_on() {
            Some(slots) => !row.slots.intersection(slots).is_empty(),
            // Those who look on wait for whatever is confirmed.
            None => is_quiet(row),
        };
        let hears_nobody = others().all(|row| is_quiet(&row));
        let peers = others().filter(is_late).map(|row| row.stream.peer).collect();
        others().next().map(|_| Stall { since, waiting_for: peers, is_isolated: hears_nobody })
    }

    pub(super) fn hear_session(&mut self) {
        let mut gave_way = false;
        while let Some(event) = self.shown.session_mut().poll_event() {
            if self.together {
                // Of those who were with us and are not there now, nobody has said goodbye.
                gave_way |= matches!(event, SessionEvent::BranchAbandoned { .. });
                if let SessionEvent::Left { peer, .. } = event
                    && gave_way
                {
                    self.silent.insert(peer);
                }
                self.hear_match(&event);
            }
        }
        self.hear_joining();
        self.hear_others();
    }

    /// Whoever the lobby says has left did not fall silent, even if their own words to us were lost.
    fn parting(&mut self, peer: PeerId) -> LeaveCause {
        let was_silent = self.silent.remove(&peer);
        if was_silent && self.lounge.has_reservation(peer) { LeaveCause::TimedOut } else { LeaveCause::Left }
    }

    fn hear_match(&mut self, event: &SessionEvent) {
        let parting = match event {
            SessionEvent::Left { peer, .. } => self.parting(*peer),
            _ => LeaveCause::Left,
        };
        let lounge = &mut self.lounge;
        let (me, name) = (lounge.me(), |peer: PeerId| lounge.name(peer));
        let others = |peer: PeerId| Some(peer).filter(|peer| Some(*peer) != me);
        let told = match *event {
            SessionEvent::Joined { peer, .. } => {
                others(peer).map(|peer| RoomEvent::PlayerJoined { peer, name: name(peer) })
            }
            SessionEvent::Left { peer, .. } => {
                others(peer).map(|peer| RoomEvent::PlayerLeft { peer, name: name(peer), cause: parting })
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
            SessionEvent::LeaderChanged { leader: lead } => {
                Some(RoomEvent::LeaderChanged { peer: lead, name: name(lead) })
            }
            SessionEvent::BranchAbandoned { .. } => {
                self.recording = None;
                Some(RoomEvent::BranchAbandoned)
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
            _ => trouble(event, &name),
        };
        if let Some(event) = told {
            lounge.push(event);
        }
    }

    /// Those who let us in and rest have left the match to us: nothing waits for their goodbye.
    fn remove_resting(&mut self) {
        for peer in self.lounge.end_joining() {
            if !self.is_watching() {
                let _ = self.shown.session_mut().evict(peer);
            }
        }
    }

    /// Follows an attempt to come in until it worked or has taken too long.
    fn hear_joining(&mut self) {
        let Some(joining) = &mut self.joining else { return };
        let before = joining.percent;
        while let Some(event) = joining.play.session_mut().poll_event() {
            if let SessionEvent::JoinProgress { percent } = event {
                joining.percent = percent.min(99);
            }
            if let SessionEvent::Rejected { peer, .. } | SessionEvent::PeerFault { peer, .. } = event {
                joining.rejected.insert(peer);
            }
            joining.hopeless |= matches!(event, SessionEvent::StateTooLarge { .. });
            if let Some(told) = trouble(&event, &|peer| self.lounge.name(peer)) {
                self.lounge.push(told);
            }
        }
        if joining.percent > joining.best {
            // A large state may take as long as it comes.
            joining.best = joining.percent;
            joining.progress_at = self.lounge.now;
        }
        let me = self.lounge.me();
        let others: Vec<PeerId> =
            self.lounge.reservations().map(|(peer, _)| peer).filter(|peer| Some(*peer) != me).collect();
        joining.hopeless |= !others.is_empty() && others.iter().all(|peer| joining.rejected.contains(peer));
        let is_hopeless = joining.hopeless;
        let (percent, session) = (joining.percent, joining.play.session());
        let watches = session.is_spectating();
        let is_in = if watches { session.is_running() } else { session.is_member() };
        let is_late = self.lounge.now.since(joining.progress_at) >= self.lounge.join_timeout();
        let is_alone = !watches && session.found_no_match() && self.lounge.is_first_of_linked();
        joining.alone_since =
            joining.alone_since.filter(|_| is_alone).or(is_alone.then_some(self.lounge.now));
        let begins = joining.alone_since.is_some_and(|at| self.lounge.now.since(at) >= ALONE_PATIENCE);
        if percent != before {
            self.lounge.push(RoomEvent::Joining { percent });
        }
        if is_in {
            if let Some(mut joining) = self.joining.take() {
                // Said once: whoever stands up and sits down again later has sat there before.
                self.apart = false;
                joining.play.inherit(std::mem::take(&mut self.lounge.reused_slots));
                self.show(joining.play);
                self.together = true;
                self.remove_resting();
                self.lounge.push(if watches { RoomEvent::SpectatingStarted } else { RoomEvent::MatchJoined });
            }
        } else if is_hopeless || is_late && watches {
            self.lounge.push(RoomEvent::JoinFailed);
            self.leave();
        } else if is_late || begins {
            self.joining = None;
            if is_late && self.lounge.has_others_awake() {
                self.lounge.push(RoomEvent::JoinFailed);
                self.found_apart();
            } else {
                self.found();
            }
            // Links know the attempt that ended: the match that begins now has nothing to do with it.
            self.lounge.renew_links();
        }
    }
}

/// What makes it hard or impossible to play together, for players and developers to know.
fn trouble(event: &SessionEvent, name: &dyn Fn(PeerId) -> String) -> Option<RoomEvent> {
    let rejected = |peer, reason| Some(RoomEvent::Rejected { peer, name: name(peer), reason });
    match *event {
        SessionEvent::Rejected { peer, reason } => rejected(peer, PeerRejection::Match(reason)),
        SessionEvent::PeerFault { peer, fault } => rejected(peer, PeerRejection::MatchFault(fault)),
        SessionEvent::StateTooLarge { bytes, max, .. } => Some(RoomEvent::StateTooLarge { bytes, max }),
        SessionEvent::LineTooSlow { peer, rtt, max } => {
            Some(RoomEvent::LineTooSlow { peer, name: name(peer), rtt, max })
        }
        _ => None,
    }
}
