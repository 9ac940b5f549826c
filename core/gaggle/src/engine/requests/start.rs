//! A match that all its peers start together, from the state the room was opened with.
//!
//! The lobby side says when and with which peers. Absent: which peer may start it, the countdown.

use gaggle_kit::{Input, Micros, PeerId};
use gaggle_timeline::{Incarnation, Session, TimelineConfig};

use super::play::Play;
use super::turn::Notice;
use super::{Joining, Lobby, Requests};
use crate::engine::Engine;
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
    /// The countdown runs: leaves the match before, so that new links can open in the meantime.
    pub(super) fn prepare_start<P: Platform>(&mut self, room: &mut Lobby<P>) {
        if self.in_match || self.joining.is_some() {
            self.go_solo(room);
        }
        if !self.suspended {
            room.renew_links_for_start();
        }
    }

    /// Starts the match. It is shown once all other peers have answered.
    pub(super) fn start_match<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.prepare_start(room);
        let (Some(start), Some(me)) = (room.start(), room.me()) else { return };
        if self.suspended || !start.peers.iter().any(|seat| seat.peer == me) {
            // This is a spectator, or a peer the others do not wait for. Its links were open before
            // it had a session to join with.
            if !self.suspended {
                room.renew_links();
            }
            self.begin_joining(room);
            return;
        }
        let config = TimelineConfig { match_id: start.match_id, ..room.config.engine.clone() };
        let incarnation = Incarnation(room.rng.next_u32());
        let Ok(session) = Session::new(config, me, &start.peers, incarnation) else {
            // The lobby assigned slots that this game does not have.
            room.push(RoomEvent::JoinFailed);
            self.leave(room, false);
            return;
        };
        let others = start.peers.iter().map(|seat| seat.peer).filter(|peer| *peer != me).collect();
        let mut play = Play::new(room.now, session, self.shape.0);
        self.connect(room, &mut play);
        self.starting = Some(start);
        self.turn.note(Notice::Start);
        self.joining = Some(Joining::new(room.now, play, Some(others)));
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
