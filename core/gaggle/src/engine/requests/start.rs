//! A match that all its peers start together, or at a referee, from the state the room was opened
//! with.
//!
//! The lobby side says when and with which peers. Absent: which peer may start it, the countdown.

use gaggle_kit::{Input, Micros, PeerId};
use gaggle_timeline::{Incarnation, Session, TimelineConfig};

use super::play::Play;
use super::turn::Notice;
use super::{Joining, Lobby, Requests};
use crate::engine::Engine;
use crate::engine::state::Cause;
use crate::engine::transitions::Transitions;
use crate::event::RoomEvent;
use crate::platform::Platform;

/// How long a match waits for all of its peers to answer, before it starts without the silent ones.
/// These join it when they are back.
const ANSWER_TIMEOUT: Micros = Micros::from_secs(4);

impl<I: Input> Joining<I> {
    pub(super) fn give_up_silent(&mut self, now: Micros) {
        let is_slow = now.since(self.progress_at) >= ANSWER_TIMEOUT;
        let Some(awaited) = self.awaited.as_mut().filter(|_| is_slow) else { return };
        for peer in std::mem::take(awaited) {
            let _ = self.play.session_mut().evict(peer);
        }
    }
}

impl<I: Input> Requests<I> {
    /// Starts the match. It is shown once all other peers have answered.
    pub(super) fn start_together<P: Platform>(&mut self, room: &mut Lobby<P>) {
        let Some((start, me)) = self.take_start(room) else { return };
        let config = TimelineConfig { match_id: start.match_id, ..room.config.engine.clone() };
        let incarnation = Incarnation(room.rng.next_u32());
        let Ok(session) = Session::new(config, me, &start.peers, incarnation) else {
            // The lobby assigned slots that this game does not have.
            room.push(RoomEvent::JoinFailed);
            self.leave(room, false);
            return;
        };
        let others = start.peers.iter().map(|other| other.peer).filter(|peer| *peer != me).collect();
        let mut play = Play::new(room.now, session, self.shape.0);
        self.connect(room, &mut play);
        self.starting = Some(start);
        self.turn.note(Notice::Start);
        self.joining = Some(Joining::new(room.now, play, Some(others)));
        self.change(room, Cause::BeginJoin);
    }

    /// Reports links to a match that were open before it.
    pub(super) fn connect<P: Platform>(&self, room: &mut Lobby<P>, play: &mut Play<I>) {
        let (peers, messages): (Vec<PeerId>, _) = room.take_early();
        for peer in peers {
            play.connect(room.now, peer);
        }
        for (peer, bytes) in messages {
            play.session_mut().handle_message(room.now, peer, &bytes);
        }
    }

    /// Sets whether a local player only looks on.
    pub(crate) fn set_passive(&mut self, player: usize, is_passive: bool) {
        self.star.set_passive(player, self.players.len(), is_passive);
        let is_passive = self.star.is_passive();
        self.shown.session_mut().set_passive(is_passive);
    }

    /// Joins the match at the referee, while the shown one goes on.
    #[cfg(feature = "seal")]
    pub(super) fn join_referee<P: Platform>(&mut self, room: &mut Lobby<P>, peer: PeerId) {
        use gaggle_link::relay::HOST_PEER;
        use gaggle_timeline::Sealed;

        use crate::config::JoinTarget;

        let client = room.lobby_client.as_ref();
        let seconds = client.map_or(0, |client| client.server_unix_seconds(room.now));
        let incarnation = Incarnation(self.star.next_incarnation(seconds));
        let (config, slots) = (room.config.engine.clone(), room.own_reserved_slots());
        let spectates = matches!(room.config.join, JoinTarget::Spectate(_)) || slots.is_empty();
        let session = match spectates {
            true => Sealed::spectate(config, peer, HOST_PEER, incarnation),
            false => Sealed::join(config, peer, HOST_PEER, slots, incarnation),
        };
        let Ok(session) = session else {
            // The input does not fit a sealed match, or a setting is out of its range.
            room.push(RoomEvent::JoinFailed);
            return self.leave(room, false);
        };
        let mut play = Play::new(room.now, session, self.shape.0);
        self.drop_joining();
        self.connect(room, &mut play);
        self.starting = room.referee_start();
        self.turn.note(Notice::Start);
        self.joining = Some(Joining::new(room.now, play, None));
        self.change(room, Cause::BeginJoin);
        room.push(RoomEvent::Joining { percent: 0 });
    }

    #[cfg(not(feature = "seal"))]
    pub(super) fn join_referee<P: Platform>(&mut self, _: &mut Lobby<P>, _: PeerId) {}
}
