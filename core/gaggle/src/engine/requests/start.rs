//! A match that all its peers start together, from the state the room was opened with.
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
    fn connect<P: Platform>(&self, room: &mut Lobby<P>, play: &mut Play<I>) {
        let (peers, messages): (Vec<PeerId>, _) = room.take_early();
        for peer in peers {
            play.connect(room.now, peer);
        }
        for (peer, bytes) in messages {
            play.session_mut().handle_message(room.now, peer, &bytes);
        }
    }
}
