//! Transitions between matches, by one set of rules for both engines.
//!
//! [`Requests`](super::Requests) and [`WorldEngine`](super::WorldEngine) supply the steps that
//! differ. Absent: what a match is made of, the lobby's protocol.

use gaggle_kit::{Micros, PeerId};

use crate::engine::Engine;
use crate::engine::state::{Cause, Others, State, Suspension};
use crate::lobby_room::{HOST_STARTS, LobbyAction, LobbyRoom, Start};
use crate::phase::Phase;
use crate::platform::Platform;

type Lobby<E, P> = LobbyRoom<<E as Engine>::Config, P>;

/// An engine whose [`State`] decides what happens.
pub(crate) trait Transitions: Engine {
    /// How long the others need the packets of a peer that has said goodbye.
    const GOODBYE: Micros;

    fn state(&self) -> State;

    fn state_mut(&mut self) -> &mut State;

    /// Percent of the join attempt that is done; none if there is none, or it is not to be shown.
    fn percent(&self) -> Option<u8>;

    /// Whether the shown match is that of other peers, and this peer has no slot in it.
    fn is_spectating(&self) -> bool;

    /// Whether other peers are in the shown match, and it is the room's.
    fn has_peers(&self) -> bool;

    /// Whether each peer in the match can go on without data from this one.
    fn are_peers_complete(&self) -> bool;

    /// Drops the time until now: no tick of the shown match is run for it.
    fn skip_time(&mut self, now: Micros);

    /// Lets go of all keys of the local players.
    fn release_inputs(&mut self);

    fn drop_attempt(&mut self);

    /// Tells the peers of the shown match that this one leaves.
    fn say_goodbye<P: Platform>(&mut self, room: &mut Lobby<Self, P>);

    /// Makes the shown match the room's, for others to join.
    fn open_match<P: Platform>(&mut self, room: &mut Lobby<Self, P>);

    /// Joins the room's match, while the shown one goes on.
    fn begin_joining<P: Platform>(&mut self, room: &mut Lobby<Self, P>);

    /// Continues without the other peers.
    fn go_solo<P: Platform>(&mut self, room: &mut Lobby<Self, P>);

    /// Starts a match with the other members.
    fn start_match<P: Platform>(&mut self, room: &mut Lobby<Self, P>);

    /// Handles a member that joined the room or left it.
    fn handle_members<P: Platform>(&mut self, room: &mut Lobby<Self, P>);

    /// Changes the state. A peer that has left has no links.
    fn change<P: Platform>(&mut self, room: &mut Lobby<Self, P>, cause: Cause) {
        let state = self.state().next(cause);
        *self.state_mut() = state;
        room.joins = state == State::Joining;
        if state == State::Suspended(Suspension::Left) {
            room.mesh = None;
        }
    }

    fn carry_out<P: Platform>(&mut self, room: &mut Lobby<Self, P>, action: LobbyAction) {
        match action {
            LobbyAction::OpenMatch => self.open_match(room),
            LobbyAction::JoinMatch => self.begin_joining(room),
            LobbyAction::EnterLobby | LobbyAction::GoSolo => self.go_solo(room),
            LobbyAction::PrepareStart if HOST_STARTS => self.prepare_start(room),
            LobbyAction::StartMatch if HOST_STARTS => self.start_match(room),
            LobbyAction::PrepareStart | LobbyAction::StartMatch => {}
            LobbyAction::MembersChanged => self.handle_members(room),
            LobbyAction::Resumed => self.rejoin_others(room),
        }
    }

    /// The page is hidden. A peer with others leaves their match; alone, it keeps the match open
    /// for joiners and [hands it over](Transitions::hand_over).
    fn pause_match<P: Platform>(&mut self, room: &mut Lobby<Self, P>) {
        // No peer waits for a spectator.
        if self.state().is_suspended() || self.is_spectating() {
            return;
        }
        let (now, with_peers) = (room.now, self.has_peers());
        if with_peers || self.state() == State::Joining {
            self.say_goodbye(room);
        }
        self.drop_attempt();
        self.release_inputs();
        self.change(room, Cause::Suspend { now, with_peers });
        self.hand_over(room);
        room.set_resting(true);
    }

    /// While suspended: leaves the match to peers that have joined it, and closes the links once
    /// they need nothing more. Call it in every update.
    fn hand_over<P: Platform>(&mut self, room: &mut Lobby<Self, P>) {
        let is_alone = |state| matches!(state, State::Suspended(Suspension::Alone { .. }));
        for _ in 0..2 {
            let before = self.state();
            if !before.is_suspended() {
                return;
            }
            let others = match self.has_peers() {
                true if self.are_peers_complete() => Others::Complete,
                true => Others::Incomplete,
                false if room.has_others_awake() => Others::Awake,
                false => Others::Absent,
            };
            let cause = Cause::Wait { now: room.now, others, goodbye: Self::GOODBYE };
            if is_alone(before) && !is_alone(before.next(cause)) {
                self.say_goodbye(room);
            }
            self.change(room, cause);
        }
    }

    /// The page is visible again.
    fn resume_match<P: Platform>(&mut self, room: &mut Lobby<Self, P>) {
        if !self.state().is_suspended() {
            return;
        }
        room.set_resting(false);
        self.skip_time(room.now);
        self.change(room, Cause::Resume);
        if self.state() != State::Solo || room.me().is_none() {
            return;
        }
        // Earlier links belong to the match that was left.
        room.renew_links();
        if room.is_waiting() {
            return;
        }
        if room.has_others() || room.is_spectator_here() {
            self.begin_joining(room);
        } else {
            self.open_match(room);
        }
    }

    /// Called when the lobby knows that this peer is back. If other members are awake and none is
    /// in its match, they play in another, which it joins.
    fn rejoin_others<P: Platform>(&mut self, room: &mut Lobby<Self, P>) {
        let is_open = matches!(self.state(), State::Playing | State::Separate);
        if is_open && !self.has_peers() && !self.is_spectating() && room.has_others_awake() {
            room.renew_links();
            self.begin_joining(room);
        }
    }

    /// Leaves the match and the room.
    fn leave_room<P: Platform>(&mut self, room: &mut Lobby<Self, P>, is_reload: bool) {
        self.say_goodbye(room);
        if room.give_up_reservation(is_reload) {
            self.go_solo(room);
        }
        self.change(room, Cause::Leave);
    }

    /// Called when the countdown begins: leaves the last match, so that links to the next can open.
    fn prepare_start<P: Platform>(&mut self, room: &mut Lobby<Self, P>) {
        if self.state().is_in_match() || self.state() == State::Joining {
            self.go_solo(room);
        }
        if !self.state().is_suspended() {
            room.renew_links_for_start();
        }
    }

    /// Called when the countdown ends. Returns the match if this peer is one of those that start
    /// it; another one, as a spectator, begins to join it.
    fn take_start<P: Platform>(&mut self, room: &mut Lobby<Self, P>) -> Option<(Start, PeerId)> {
        self.prepare_start(room);
        let (start, me) = (room.start()?, room.me()?);
        let is_suspended = self.state().is_suspended();
        if !is_suspended && start.peers.iter().any(|other| other.peer == me) {
            return Some((start, me));
        }
        if !is_suspended {
            // Links opened for a start are of no use to a joiner, which needs them anew.
            room.renew_links();
        }
        self.begin_joining(room);
        None
    }

    fn current_phase(&self) -> Phase {
        self.state().phase(self.percent(), self.is_spectating())
    }

    /// Whether the local players take part in the room's match.
    fn takes_part(&self) -> bool {
        self.state().is_in_match() && !self.is_spectating()
    }
}
