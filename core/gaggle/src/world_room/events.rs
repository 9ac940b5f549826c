//! Coming into the world of others while ours goes on, and what the world says about who is in it.

use gaggle_kit::{Micros, PeerId, Slot, SlotSet, VecSet};
use gaggle_link::Transport;
use gaggle_replica::{JoinMode, Player, Session, SessionEvent};

use super::{WorldRoom, new_session};
use crate::event::{LeaveCause, PeerRejection, RoomEvent};
use crate::lobby_room::{LobbyRoom, Member};
use crate::platform::Platform;
use crate::world::World;

/// If nothing more arrives for so long, what is there is all there is for us.
const ALL_THERE_AFTER: Micros = Micros::from_secs(1);

/// For so long somebody in the room who cannot be reached is waited for, before those who can begin without.
const MEET_WITHIN: Micros = Micros::from_secs(8);

/// An attempt to come into the world of others.
pub(super) struct Joining {
    pub(super) session: Session,
    begun: Micros,
    /// Since when players are told of it. None if it failed once: it goes on, but nobody is told before there is a link.
    told_since: Option<Micros>,
    percent: u8,
    /// Those whose links were closed for good.
    rejected: VecSet<PeerId>,
    /// Objects and members that were known when last something came, and when that was.
    arrived: (u32, usize),
    arrived_at: Micros,
}

impl Joining {
    /// Nobody needs to know of it.
    pub(super) fn is_quiet(&self) -> bool {
        self.told_since.is_none()
    }

    pub(super) fn percent(&self) -> u8 {
        self.percent
    }

    /// Notes what has arrived. Whether that is all.
    fn is_complete(&mut self, now: Micros, others_expected: usize) -> bool {
        let arrival = self.session.sync_progress();
        let ourselves = usize::from(self.session.is_member());
        let others = self.session.roster().len().saturating_sub(ourselves);
        if !(self.session.is_member() || self.session.is_spectator()) || others == 0 {
            return false;
        }
        let known = u64::from(arrival.received) * 90 / u64::from(arrival.expected.max(1));
        self.percent = self.percent.max(known as u8 + 9);
        if self.arrived != (arrival.received, others) {
            self.arrived = (arrival.received, others);
            self.arrived_at = now;
        }
        let all = arrival.received >= arrival.expected && others >= others_expected;
        all || now.since(self.arrived_at) >= ALL_THERE_AFTER
    }
}

impl<W: World, P: Platform> WorldRoom<W, P> {
    /// Everybody in the room, as far as we know.
    pub fn members(&self) -> Vec<Member> {
        let session = &self.session;
        let chairs: Vec<(PeerId, Slot)> = self.lounge.reservations().collect();
        let player_of = |peer: PeerId| {
            let chair = chairs.iter().find(|(other, _)| *other == peer)?.1;
            Player::new(chair.index() as u8)
        };
        let present = |player: Player| self.together && session.roster().by_slot(player).is_some();
        let slots_of = |peer: PeerId| {
            let player = player_of(peer).filter(|player| present(*player));
            player.and_then(|player| Slot::new(player.number())).into_iter().collect::<SlotSet>()
        };
        let lead = self.peer_of_lead();
        self.lounge.members(slots_of, lead)
    }

    /// The player at a machine, by its chair.
    pub fn slot_of(&self, peer: PeerId) -> Option<Player> {
        let chair = self.lounge.reservations().find(|(other, _)| *other == peer)?.1;
        Player::new(chair.index() as u8)
    }

    /// Who plays as this player.
    pub(super) fn peer_of(&self, player: Player) -> Option<PeerId> {
        let chair = |slot: Slot| slot.index() == usize::from(player.number());
        self.lounge.reservations().find(|(_, slot)| chair(*slot)).map(|(peer, _)| peer)
    }

    fn peer_of_lead(&self) -> Option<PeerId> {
        self.session.roster().leader().filter(|_| self.together).and_then(|lead| self.peer_of(lead.slot))
    }

    /// The number of the player at this machine, by the chair the lobby gave us.
    fn seat_number(&self) -> Option<Player> {
        let me = self.lounge.me()?;
        let chair = self.lounge.reservations().find(|(peer, _)| *peer == me)?.1;
        Player::new(chair.index() as u8)
    }

    /// We are in the room and have no chair.
    fn looks_on(&self) -> bool {
        self.lounge.me().is_some_and(|me| self.lounge.is_spectator(me))
    }

    /// What is on the screen is the world of the room from now on, into which others come.
    pub(super) fn found(&mut self) {
        let Some(player) = self.seat_number() else { return };
        self.unlink();
        self.joining = None;
        self.lounge.joins = false;
        self.stood_up = false;
        if self.is_watching() {
            self.begin_alone();
        }
        self.session.set_local_slot(player);
        self.set_identities();
        let now = self.lounge.now;
        // Those who came while we waited for somebody to come into whose world we could come.
        for &peer in self.lounge.mesh.as_mut().map_or(&[][..], |links| links.peers()) {
            self.session.handle_connected(now, peer);
        }
        self.be_together();
        self.lounge.push(RoomEvent::MatchJoined);
    }

    /// Comes into the world of the others in the room, while the one on the screen goes on.
    pub(super) fn begin_joining(&mut self) {
        self.unlink();
        self.together = false;
        self.stood_up = false;
        self.lounge.joins = !self.resting;
        if self.resting {
            // Nobody looks: it is begun when somebody does.
            return;
        }
        self.try_to_join(true);
        if self.joining.is_some() {
            self.lounge.push(RoomEvent::Joining { percent: 0 });
        }
    }

    fn try_to_join(&mut self, is_told: bool) {
        let (player, entry) = match self.seat_number() {
            Some(player) => (player, JoinMode::Join),
            None if self.looks_on() => (Player::at(0), JoinMode::Spectate),
            None => return,
        };
        let LobbyRoom { config, rng, now, .. } = &mut self.lounge;
        let session =
            new_session::<W>(config, player, entry, rng).expect("the settings held for the world alone");
        self.joining = Some(Joining {
            session,
            begun: *now,
            told_since: is_told.then_some(*now),
            percent: 0,
            rejected: VecSet::new(),
            arrived: (0, 0),
            arrived_at: *now,
        });
        self.set_identities();
    }

    /// Comes back after a rest.
    pub(super) fn return_to_seat(&mut self) {
        if self.lounge.seat.is_none() {
            return;
        }
        self.lounge.renew_links();
        if self.lounge.has_others() {
            self.begin_joining();
        } else {
            self.found();
        }
    }

    /// We are back, and the lobby knows. Those who came while we rested and are not in our world play in another.
    pub(super) fn rejoin_others(&mut self) {
        let plays_alone = self.together && self.joining.is_none() && !self.has_company();
        if plays_alone && !self.resting && !self.is_watching() && self.lounge.has_others_awake() {
            self.lounge.renew_links();
            self.begin_joining();
        }
    }

    /// Somebody came to the room or left it.
    pub(super) fn regard_others(&mut self) {
        self.set_identities();
        let alone = self.lounge.seat.is_some() && !self.lounge.has_others();
        if self.looks_on() {
            let nobody_left = self.is_watching() && self.session.roster().is_empty();
            if !alone && self.joining.is_none() && (nobody_left || !self.is_watching()) {
                // Somebody to look at.
                self.lounge.renew_links();
                self.begin_joining();
            }
        } else if alone && self.stood_up {
            // Whoever comes next needs somebody to come to.
            self.stood_up = false;
            self.lounge.renew_links();
        } else if alone && self.joining.is_some() {
            self.found();
        }
    }

    /// Nobody in the room can be another player than the lobby says, nor have been here before us who came later.
    fn set_identities(&mut self) {
        let me = self.lounge.me();
        self.vouch_newcomers();
        for (peer, chair) in self.lounge.reservations().filter(|(peer, _)| Some(*peer) != me) {
            let Some(player) = Player::new(chair.index() as u8) else { continue };
            self.session.vouch(peer, player);
            if let Some(joining) = &mut self.joining {
                joining.session.vouch(peer, player);
            }
        }
        for peer in self.lounge.spectators().filter(|peer| Some(*peer) != me) {
            self.session.vouch_onlooker(peer);
            if let Some(joining) = &mut self.joining {
                joining.session.vouch_onlooker(peer);
            }
        }
    }

    /// Whoever was not in the room when the world of the room came on our screen came after us.
    fn vouch_newcomers(&mut self) {
        let Some(me) = self.lounge.me().filter(|_| self.together) else { return };
        let here: Vec<PeerId> = self.lounge.reservations().map(|(peer, _)| peer).collect();
        if !here.contains(&me) {
            return;
        }
        self.predecessors.retain(|peer| here.contains(peer));
        for peer in here.into_iter().filter(|peer| *peer != me) {
            if !self.predecessors.contains(&peer) {
                self.session.vouch_newcomer(peer);
            }
        }
    }

    /// The world on the screen is that of the room from now on.
    fn be_together(&mut self) {
        self.together = true;
        self.predecessors = self.lounge.reservations().map(|(peer, _)| peer).collect();
    }

    /// Hands on what happened.
    pub(super) fn hear(&mut self) {
        while let Some(event) = self.session.poll_event() {
            if self.together {
                self.hear_of_people(&event);
            }
            self.world.on_event(&mut self.session, &event);
        }
        while let Some(signal) = self.session.poll_remote_event() {
            self.world.on_remote_event(&mut self.session, &signal);
        }
        while let Some(petition) = self.session.poll_event_request() {
            if self.world.approve(&mut self.session, &petition) {
                self.session.approve(petition);
            } else {
                self.session.reject(petition);
            }
        }
    }

    fn hear_of_people(&mut self, event: &SessionEvent) {
        let told = match *event {
            SessionEvent::Joined { peer, .. } => {
                Some(RoomEvent::PlayerJoined { peer, name: self.lounge.name(peer) })
            }
            SessionEvent::Left { peer, graceful: goodbye, .. } => {
                let is_silent = !goodbye && self.lounge.has_reservation(peer);
                let parting = if is_silent { LeaveCause::TimedOut } else { LeaveCause::Left };
                Some(RoomEvent::PlayerLeft { peer, name: self.lounge.name(peer), cause: parting })
            }
            SessionEvent::Interrupted { peer, .. } => {
                Some(RoomEvent::PlayerInterrupted { peer, name: self.lounge.name(peer) })
            }
            SessionEvent::Resumed { peer, .. } => {
                Some(RoomEvent::PlayerResumed { peer, name: self.lounge.name(peer) })
            }
            SessionEvent::LeaderChanged { player } => self
                .peer_of(player)
                .map(|peer| RoomEvent::LeaderChanged { peer, name: self.lounge.name(peer) }),
            _ => rejection(event).map(|(peer, reason)| RoomEvent::Rejected {
                peer,
                name: self.lounge.name(peer),
                reason,
            }),
        };
        if let Some(event) = told {
            self.lounge.push(event);
        }
    }

    /// Follows an attempt to come in until it worked or has taken too long.
    pub(super) fn follow_joining(&mut self) {
        let now = self.lounge.now;
        let me = self.lounge.me();
        let everybody: Vec<PeerId> =
            self.lounge.reservations().map(|(peer, _)| peer).filter(|peer| Some(*peer) != me).collect();
        let everybody: Vec<PeerId> =
            everybody.into_iter().filter(|peer| !self.lounge.is_shunned(*peer)).collect();
        let within = self.lounge.join_timeout();
        let Some(joining) = &mut self.joining else { return };
        // Others who are new, too, may be met before those whose world it is.
        let is_met = |peer: &PeerId| joining.session.connected_peers().any(|linked| linked == *peer);
        let awaits = now.since(joining.begun) < MEET_WITHIN && !everybody.iter().all(is_met);
        joining.session.set_expecting_peers(awaits);
        joining.session.tick(now);
        // What happens before we are there is nothing to us: all that lasts is in the objects.
        while joining.session.poll_remote_event().is_some() {}
        while let Some(event) = joining.session.poll_event() {
            if let Some((peer, reason)) = rejection(&event) {
                joining.rejected.insert(peer);
                self.lounge.push(RoomEvent::Rejected { peer, name: self.lounge.name(peer), reason });
            }
        }
        let is_hopeless =
            !everybody.is_empty() && everybody.iter().all(|peer| joining.rejected.contains(peer));
        if joining.is_quiet() && joining.session.connected_peers().next().is_some() {
            joining.told_since = Some(now);
            self.lounge.push(RoomEvent::Joining { percent: 0 });
        }
        let before = joining.percent;
        let is_complete = joining.is_complete(now, everybody.len());
        let percent = joining.percent;
        let is_late = joining.told_since.is_some_and(|since| now.since(since) >= within);
        // Everybody else was new, too, or is gone again.
        let is_first = joining.session.is_member() && joining.session.roster().len() == 1;
        if percent != before {
            self.lounge.push(RoomEvent::Joining { percent });
        }
        if is_complete {
            self.enter();
        } else if is_hopeless {
            self.lounge.push(RoomEvent::JoinFailed);
            self.leave();
        } else if is_first {
            self.found();
        } else if is_late && !self.looks_on() && !self.lounge.has_others_awake() {
            // Those who rest do not answer.
            self.joining = None;
            self.lounge.joins = false;
            self.lounge.renew_links();
            self.found();
        } else if is_late {
            self.lounge.push(RoomEvent::JoinFailed);
            // Links know the attempt that failed.
            self.lounge.renew_links();
            self.try_to_join(false);
        }
    }

    /// The world of the others is complete: it is on the screen from now on.
    fn enter(&mut self) {
        let Some(joining) = self.joining.take() else { return };
        self.session = joining.session;
        while self.session.poll_event().is_some() {}
        self.be_together();
        self.lounge.end_joining();
        self.world.on_enter(&mut self.session);
        self.lounge.push(if self.is_watching() {
            RoomEvent::SpectatingStarted
        } else {
            RoomEvent::MatchJoined
        });
    }
}

/// Whose link was closed for good, and why.
fn rejection(event: &SessionEvent) -> Option<(PeerId, PeerRejection)> {
    match *event {
        SessionEvent::Rejected { peer, reason } => Some((peer, PeerRejection::World(reason))),
        SessionEvent::PeerFault { peer, fault } => Some((peer, PeerRejection::WorldFault(fault))),
        _ => None,
    }
}
