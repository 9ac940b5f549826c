//! Joining the world of other peers while the shown one goes on, identities, and session events.
//! [`WorldEngine`](crate::WorldEngine) calls it. Absent: ticks, drawing.

use gaggle_kit::{Micros, PeerId, SlotSet, VecSet};
use gaggle_link::Transport;
use gaggle_replica::{JoinMode, PeerIdentity, Session, SessionEvent};

use super::{Lobby, WorldEngine, new_session};
use crate::engine::Engine;
use crate::engine::state::{Cause, State, Suspension};
use crate::engine::transitions::Transitions;
use crate::event::{LeaveCause, PeerRejection, RoomEvent};
use crate::lobby_room::LobbyRoom;
use crate::platform::Platform;
use crate::world::World;

/// Time without arrivals after which the received objects count as all there are for this peer.
const COMPLETE_AFTER: Micros = Micros::from_secs(1);

/// How long members without a link are waited for, before those with a link begin.
const MEET_TIMEOUT: Micros = Micros::from_secs(8);

/// An attempt to join the world of others.
pub(super) struct Joining {
    pub(super) session: Session,
    /// Whether all peers start the world together: then the shown one is not part of it.
    is_start: bool,
    began_at: Micros,
    /// Since when events report the attempt. None after a first failure: the attempt goes on, and
    /// is reported again once a link opens.
    reported_since: Option<Micros>,
    percent: u8,
    /// Peers whose links were closed for good.
    rejected: VecSet<PeerId>,
    /// Objects and members known at the last arrival, and when that was.
    arrived: (u32, usize),
    arrived_at: Micros,
}

impl Joining {
    /// Whether events do not report it.
    pub(super) fn is_quiet(&self) -> bool {
        self.reported_since.is_none()
    }

    pub(super) fn percent(&self) -> u8 {
        self.percent
    }

    /// Notes arrivals. Returns whether everything has arrived.
    fn is_complete(&mut self, now: Micros, others_expected: usize) -> bool {
        let progress = self.session.sync_progress();
        let own = usize::from(self.session.is_member());
        let others = self.session.roster().len().saturating_sub(own);
        if !(self.session.is_member() || self.session.is_spectator()) || others == 0 {
            return false;
        }
        let received = u64::from(progress.received) * 90 / u64::from(progress.expected.max(1));
        self.percent = self.percent.max(received as u8 + 9);
        if self.arrived != (progress.received, others) {
            self.arrived = (progress.received, others);
            self.arrived_at = now;
        }
        let all = progress.received >= progress.expected && others >= others_expected;
        all || now.since(self.arrived_at) >= COMPLETE_AFTER
    }
}

impl<W: World> WorldEngine<W> {
    /// Makes the shown world the room's, for others to join.
    pub(super) fn open_world<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(slots) = room.own_slots() else { return };
        self.drop_links(room.now);
        self.joining = None;
        if self.is_spectating() {
            self.begin_solo(room);
        }
        // Cannot fail: there is no link, and the lobby reserves no more slots than there are local
        // players.
        let _ = self.session.set_local_slots(slots);
        self.set_identities(room);
        // Peers that connected while this one waited for a world to join.
        for &peer in room.mesh.as_ref().map_or(&[][..], |mesh| mesh.peers()) {
            self.session.handle_connected(room.now, peer);
        }
        self.enter_match(room, Cause::OpenMatch);
        room.push(RoomEvent::MatchJoined);
    }

    /// Joins the world of the room's other members, while the shown one goes on.
    pub(super) fn join_world<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.drop_links(room.now);
        if self.state.is_suspended() {
            return self.change(room, Cause::BeginJoin);
        }
        self.joining = None;
        self.change(room, Cause::GoSolo);
        self.try_to_join(room, true, false);
        if self.joining.is_some() {
            room.push(RoomEvent::Joining { percent: 0 });
        }
    }

    fn try_to_join<P: Platform>(&mut self, room: &mut Lobby<P>, is_reported: bool, is_start: bool) {
        let (slots, mode) = match room.own_slots() {
            Some(slots) => (slots, JoinMode::Join),
            None if room.is_spectator_here() => (SlotSet::first(1), JoinMode::Spectate),
            None => return,
        };
        let LobbyRoom { config, rng, now, .. } = room;
        let session =
            new_session::<W>(config, slots, mode, rng).expect("the settings held for the solo world");
        self.joining = Some(Joining {
            session,
            is_start,
            began_at: *now,
            reported_since: is_reported.then_some(*now),
            percent: 0,
            rejected: VecSet::new(),
            arrived: (0, 0),
            arrived_at: *now,
        });
        self.change(room, Cause::BeginJoin);
        self.set_identities(room);
    }

    /// Handles a member that joined the room or left it.
    pub(super) fn follow_members<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.set_identities(room);
        if self.is_beside(room) {
            return;
        }
        let is_alone = room.reservation.is_some() && !room.has_others();
        if room.is_spectator_here() {
            let is_empty = self.is_spectating() && self.session.roster().is_empty();
            if !is_alone && self.joining.is_none() && (is_empty || !self.is_spectating()) {
                // There is a player to spectate.
                room.renew_links();
                self.begin_joining(room);
            }
        } else if is_alone && self.state == State::Suspended(Suspension::Left) {
            // The next joiner needs a peer that admits it.
            room.renew_links();
            self.open_match(room);
        } else if is_alone && let Some(joining) = &self.joining {
            let is_start = joining.is_start;
            self.renew_world(room, is_start);
            self.open_match(room);
        }
    }

    /// Starts a world with the other members. One of them makes it, the others join it at once.
    pub(super) fn start_together<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some((start, me)) = self.take_start(room) else { return };
        self.world.on_start(&start.facts());
        let (peers, messages) = room.take_early();
        if start.first == Some(me) {
            self.renew_world(room, true);
            self.open_match(room);
        } else {
            self.try_to_join(room, true, true);
        }
        let Some(session) = self.joining.as_mut().map(|joining| &mut joining.session) else {
            for (peer, bytes) in messages {
                self.session.handle_message(room.now, peer, &bytes);
            }
            return;
        };
        for peer in peers {
            session.handle_connected(room.now, peer);
        }
        for (peer, bytes) in messages {
            session.handle_message(room.now, peer, &bytes);
        }
    }

    /// Begins a new world of this peer, if the shown one is not part of the start.
    fn renew_world<P: Platform>(&mut self, room: &mut Lobby<P>, is_start: bool) {
        if is_start {
            self.begin_solo(room);
        }
    }

    /// States members' identities from the lobby: none can claim another slot, nor an earlier join
    /// than it had.
    fn set_identities<P: Platform>(&mut self, room: &Lobby<P>) {
        let me = room.me();
        let spectators = room.spectators().map(|peer| (peer, SlotSet::EMPTY));
        let others = room.all_reservations().chain(spectators).filter(|(peer, _)| Some(*peer) != me);
        let mut known: Vec<PeerIdentity> =
            others.map(|(peer, slots)| PeerIdentity::with_slots(peer, slots)).collect();
        if let Some(joining) = &mut self.joining {
            joining.session.set_identities(&known);
        }
        let later = self.later_joiners(room);
        known.iter_mut().for_each(|known| known.joined_later = later.contains(&known.peer));
        self.session.set_identities(&known);
    }

    /// Members that were not in the room when this peer entered its world.
    pub(crate) fn later_joiners<P: Platform>(&mut self, room: &Lobby<P>) -> Vec<PeerId> {
        let Some(me) = room.me().filter(|_| self.state.is_in_match()) else { return Vec::new() };
        let mut present: Vec<PeerId> = room.reservations().map(|(peer, _)| peer).collect();
        if !present.contains(&me) {
            return Vec::new();
        }
        self.predecessors.retain(|peer| present.contains(peer));
        present.retain(|peer| *peer != me && !self.predecessors.contains(peer));
        present
    }

    /// Makes the shown world the room's from now on.
    fn enter_match<P: Platform>(&mut self, room: &mut Lobby<P>, cause: Cause) {
        self.change(room, cause);
        self.predecessors = room.reservations().map(|(peer, _)| peer).collect();
    }

    /// Passes events to the world and the room.
    pub(super) fn handle_events<P: Platform>(&mut self, room: &mut Lobby<P>) {
        while let Some(event) = self.session.poll_event() {
            if self.state.is_in_match() {
                report(room, &event);
            }
            self.world.on_event(&mut self.session, &event);
        }
        while let Some(event) = self.session.poll_remote_event() {
            self.world.on_remote_event(&mut self.session, &event);
        }
        while let Some(request) = self.session.poll_event_request() {
            if self.world.approve(&mut self.session, &request) {
                self.session.approve(request);
            } else {
                self.session.reject(request);
            }
        }
    }

    /// Follows a join attempt until it has succeeded, failed or timed out.
    pub(super) fn follow_joining<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let (now, me, timeout) = (room.now, room.me(), room.join_timeout());
        let is_expected = |peer: &PeerId| Some(*peer) != me && !room.is_shunned(*peer);
        let others: Vec<PeerId> = room.reservations().map(|(peer, _)| peer).filter(is_expected).collect();
        let Some(joining) = &mut self.joining else { return };
        // Other joiners may connect before the peers that have the world.
        let is_connected = |peer: &PeerId| joining.session.connected_peers().any(|linked| linked == *peer);
        let is_waiting = now.since(joining.began_at) < MEET_TIMEOUT && !others.iter().all(is_connected);
        joining.session.set_expecting_peers(is_waiting);
        joining.session.tick(now);
        // Remote events from before the join are dropped: lasting effects are in the objects.
        while joining.session.poll_remote_event().is_some() {}
        while let Some(event) = joining.session.poll_event() {
            if let Some((peer, reason)) = rejection(&event) {
                joining.rejected.insert(peer);
                room.push(RoomEvent::Rejected { peer, name: room.name(peer), reason });
            }
        }
        let is_hopeless = !others.is_empty() && others.iter().all(|peer| joining.rejected.contains(peer));
        if joining.is_quiet() && joining.session.connected_peers().next().is_some() {
            joining.reported_since = Some(now);
            room.push(RoomEvent::Joining { percent: 0 });
        }
        let is_start = joining.is_start;
        let before = joining.percent;
        let is_complete = joining.is_complete(now, others.len());
        let percent = joining.percent;
        let is_late = joining.reported_since.is_some_and(|since| now.since(since) >= timeout);
        // All the others were joiners, too, or have left again.
        let is_first = joining.session.is_member() && joining.session.roster().len() == 1;
        if percent != before {
            room.push(RoomEvent::Joining { percent });
        }
        if is_complete {
            self.finish_join(room);
        } else if is_hopeless {
            room.push(RoomEvent::JoinFailed);
            self.leave(room, false);
        } else if is_first {
            self.renew_world(room, is_start);
            self.open_match(room);
        } else if is_late && !room.is_spectator_here() && !room.has_others_awake() {
            // Suspended members do not answer.
            self.joining = None;
            room.renew_links();
            self.renew_world(room, is_start);
            self.open_match(room);
        } else if is_late {
            room.push(RoomEvent::JoinFailed);
            // The links belong to the attempt that failed.
            room.renew_links();
            self.try_to_join(room, false, is_start);
        }
    }

    /// The others' world has arrived completely: shows it.
    fn finish_join<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some(joining) = self.joining.take() else { return };
        self.session = joining.session;
        while self.session.poll_event().is_some() {}
        self.enter_match(room, Cause::Joined);
        room.end_joining();
        self.world.on_enter(&mut self.session);
        let spectates = self.is_spectating();
        room.push(if spectates { RoomEvent::SpectatingStarted } else { RoomEvent::MatchJoined });
    }
}

/// Reports changes of members to the room.
fn report<P: Platform>(room: &mut Lobby<P>, event: &SessionEvent) {
    let name = |peer: PeerId| room.name(peer);
    let reported = match *event {
        SessionEvent::Joined { peer, .. } => Some(RoomEvent::PlayerJoined { peer, name: name(peer) }),
        SessionEvent::Left { peer, graceful, .. } => {
            let timed_out = !graceful && room.has_reservation(peer);
            let cause = if timed_out { LeaveCause::TimedOut } else { LeaveCause::Left };
            Some(RoomEvent::PlayerLeft { peer, name: name(peer), cause })
        }
        SessionEvent::Interrupted { peer, .. } => {
            Some(RoomEvent::PlayerInterrupted { peer, name: name(peer) })
        }
        SessionEvent::Resumed { peer, .. } => Some(RoomEvent::PlayerResumed { peer, name: name(peer) }),
        SessionEvent::LeaderChanged { player } => {
            room.peer_of(player).map(|peer| RoomEvent::LeaderChanged { peer, name: name(peer) })
        }
        _ => rejection(event).map(|(peer, reason)| RoomEvent::Rejected { peer, name: name(peer), reason }),
    };
    if let Some(event) = reported {
        room.push(event);
    }
}

/// The peer whose link was closed for good, and why.
fn rejection(event: &SessionEvent) -> Option<(PeerId, PeerRejection)> {
    match *event {
        SessionEvent::Rejected { peer, reason } => Some((peer, PeerRejection::World(reason))),
        SessionEvent::PeerFault { peer, fault } => Some((peer, PeerRejection::WorldFault(fault))),
        _ => None,
    }
}
