//! fortress-rollback 0.13 as a contestant.
//!
//! Called by `rows/` through [`Contestant`]. Absent: settings of its own beyond what a comparison
//! needs.

use std::marker::PhantomData;
use std::sync::Arc;
use std::time::{Duration, Instant};

use fortress_rollback::network::codec;
use fortress_rollback::{
    Config, FortressError, FortressRequest, Message, NonBlockingSocket, P2PSession, PlayerHandle, PlayerType,
    ProtocolConfig, SessionBuilder, SessionState,
};

use bench_report::uncounted;

use crate::contest::{Contestant, Setup, Stage, Step};
use crate::game::Game;
use crate::network::Socket;

/// A peer played through fortress-rollback.
pub struct Fortress<G: Game> {
    session: P2PSession<Types<G>>,
    stage: Stage<G>,
    me: PlayerHandle,
}

/// What fortress-rollback hands to its socket; see [`crate::ggrs::Packet`].
#[derive(Debug)]
pub enum Packet {
    /// A message as it is handed over.
    Value(Message),
    /// A message as its UDP socket encodes it.
    Bytes(Vec<u8>),
}

struct Types<G>(PhantomData<G>);

impl<G: Game> Config for Types<G> {
    type Input = G::Input;
    type State = G;
    type Address = usize;
}

impl<G: Game> Contestant for Fortress<G> {
    const NAME: &'static str = "fortress";
    type Game = G;
    type Packet = Packet;

    fn join(setup: &Setup, me: usize, socket: Socket<Packet>) -> Fortress<G> {
        let start = Instant::now();
        let protocol = ProtocolConfig {
            clock: Some(Arc::new(move || start + instant::Instant::now().since_start())),
            protocol_rng_seed: Some(setup.seed * 64 + me as u64 + 1),
            ..ProtocolConfig::default()
        };
        let mut builder = SessionBuilder::<Types<G>>::new()
            .with_num_players(setup.players)
            .expect("at least one player")
            .with_max_prediction_window(setup.window)
            .with_input_delay(setup.delay)
            .expect("a small delay")
            .with_protocol_config(protocol)
            // Longer than any blackout: a silent peer returns in these matches.
            .with_disconnect_timeout(Duration::from_secs(60))
            .with_disconnect_notify_delay(Duration::from_secs(30));
        for player in 0..setup.players {
            let seat = if player == me { PlayerType::Local } else { PlayerType::Remote(player) };
            builder = builder.add_player(seat, PlayerHandle::new(player)).expect("each player once");
        }
        let socket = Endpoint { socket, encoded: setup.encoded };
        let session = builder.start_p2p_session(socket).expect("all players were added");
        Fortress { session, stage: Stage::new(setup, me), me: PlayerHandle::new(me) }
    }

    fn ready(&mut self) -> bool {
        self.session.poll_remote_clients();
        self.session.events().for_each(drop);
        self.session.current_state() == SessionState::Running
    }

    fn step(&mut self, sample: G::Input) -> Step {
        let before = self.session.current_frame();
        self.session.add_local_input(self.me, sample).expect("a local player");
        let requests = match self.session.advance_frame() {
            Ok(requests) => requests,
            Err(FortressError::PredictionThreshold) => return Step::Stalled,
            Err(error) => panic!("fortress-rollback: {error}"),
        };
        for request in requests {
            match request {
                FortressRequest::SaveGameState { cell, frame } => {
                    self.stage.saved(frame.as_i32() as u32);
                    cell.save(frame, Some(self.stage.game.clone()), None);
                }
                FortressRequest::LoadGameState { cell, frame } => {
                    self.stage.loaded(frame.as_i32() as u32);
                    self.stage.game = cell.load().expect("a saved frame");
                }
                FortressRequest::AdvanceFrame { inputs } => {
                    self.stage.tick(inputs.iter().map(|(input, _)| *input));
                }
            }
        }
        self.session.events().for_each(drop);
        if self.session.current_frame() > before { Step::Advanced } else { Step::Stalled }
    }

    fn stage(&self) -> &Stage<G> {
        &self.stage
    }

    fn keep(snapshot: &mut G, game: &G) {
        // Its cells take a state by value.
        *snapshot = game.clone();
    }
}

struct Endpoint {
    socket: Socket<Packet>,
    encoded: bool,
}

impl NonBlockingSocket<usize> for Endpoint {
    fn send_to(&mut self, message: &Message, to: &usize) {
        if self.encoded {
            let bytes = codec::encode(message).expect("encode a message");
            self.socket.send(*to, bytes.len(), Packet::Bytes(bytes));
        } else {
            // The copy is the cost of a socket in memory, not the library's.
            let message = uncounted(|| message.clone());
            self.socket.send(*to, 0, Packet::Value(message));
        }
    }

    fn receive_all_messages(&mut self) -> Vec<(usize, Message)> {
        let mut messages = Vec::new();
        while let Some((from, packet)) = self.socket.receive() {
            let message = match packet {
                Packet::Value(message) => message,
                Packet::Bytes(bytes) => codec::decode_message(&bytes).expect("decode an encoded message").0,
            };
            messages.push((from, message));
        }
        messages
    }
}
