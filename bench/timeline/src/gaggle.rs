//! Gaggle's timeline as a contestant.
//!
//! Called by `rows/` through [`Contestant`], and by `clockwork.rs` and `maze.rs` for sessions.
//! Absent: the network (`link.rs`).

use gaggle_kit::{Micros, Slot, state_hash};
use gaggle_link::Endpoint;
use gaggle_timeline::{
    Driver, Incarnation, LatePolicy, PeerSlots, Request, Session, SimId, Snapshots, Tick, TimelineConfig,
};

use crate::contest::{Contestant, Setup, Stage, Step};
use crate::game::Game;
use crate::link::{Wire, link, peer_id};
use crate::network::Socket;

/// A peer played through Gaggle.
pub struct Gaggle<G: Game> {
    session: Session<G::Input>,
    snapshots: Snapshots<G>,
    stage: Stage<G>,
    exchange: Driver,
    link: Endpoint<Wire>,
    slot: Slot,
    players: usize,
}

/// Default settings of the library, except for the window and a fixed input delay.
pub fn config(setup: &Setup) -> TimelineConfig {
    let delay = setup.delay as u32;
    TimelineConfig {
        late_policy: LatePolicy::Stall { prediction_frames: setup.window as u32 },
        input_delay_frames: delay,
        input_delay_range: (delay, delay),
        // Longer than any blackout: a silent peer returns in these matches.
        interrupted_after: Micros::from_secs(30),
        timeout: Micros::from_secs(60),
        ..TimelineConfig::default()
    }
}

/// A session of peer `me`, in a match in which every peer has one player.
///
/// # Panics
/// If the settings are out of range.
pub fn session<I: gaggle_kit::Input>(config: TimelineConfig, players: usize, me: usize) -> Session<I> {
    let seats: Vec<PeerSlots> =
        (0..players).map(|player| PeerSlots::new(peer_id(player), Slot::at(player))).collect();
    Session::new(config, peer_id(me), &seats, Incarnation(me as u32 + 1)).expect("valid settings")
}

impl<G: Game> Contestant for Gaggle<G> {
    const NAME: &'static str = "gaggle";
    type Game = G;
    type Packet = Vec<u8>;

    fn join(setup: &Setup, me: usize, socket: Socket<Vec<u8>>) -> Gaggle<G> {
        let config = config(setup);
        Gaggle {
            snapshots: Snapshots::new(config.prediction_frames()),
            session: session(config, setup.players, me),
            stage: Stage::new(setup, me),
            exchange: Driver::default(),
            link: link(socket, me, setup.players),
            slot: Slot::at(me),
            players: setup.players,
        }
    }

    fn ready(&mut self) -> bool {
        let now = Micros::new(self.link.carrier().now_us());
        self.exchange.receive(now, &mut self.link, &mut self.session);
        if !self.session.is_running() {
            self.session.tick(now);
            self.exchange.send(now, &mut self.link, &mut self.session);
        }
        self.session.is_running()
    }

    fn step(&mut self, sample: G::Input) -> Step {
        let now = Micros::new(self.link.carrier().now_us());
        self.exchange.receive(now, &mut self.link, &mut self.session);
        self.session.set_input(self.slot, sample).expect("a local slot");
        let tick = self.session.tick(now);
        self.fulfil_requests();
        self.exchange.send(now, &mut self.link, &mut self.session);
        while self.session.poll_event().is_some() {}
        match tick {
            Tick::Advanced => Step::Advanced,
            Tick::Stalled | Tick::Waiting => Step::Stalled,
        }
    }

    fn stage(&self) -> &Stage<G> {
        &self.stage
    }
}

impl<G: Game> Gaggle<G> {
    /// Serves requests as `gaggle_timeline::Timeline` does, and counts every call.
    fn fulfil_requests(&mut self) {
        let players = self.players;
        while let Some(request) = self.session.poll_request() {
            match request {
                Request::Save { frame, .. } => {
                    self.stage.saved(frame.number());
                    self.snapshots.save(frame, &self.stage.game);
                }
                Request::Load { sim: SimId::Live, frame } => {
                    self.stage.loaded(frame.number());
                    let saved = self.snapshots.get(frame).expect("a saved frame");
                    self.stage.game.copy_from(saved);
                }
                Request::Advance { sim: SimId::Live, inputs } => {
                    self.stage.tick((0..players).map(|player| inputs.get(Slot::at(player))));
                }
                Request::Hash { sim: SimId::Live, frame, hash } => {
                    self.stage.hashed(frame.number());
                    *hash = self.snapshots.get(frame).map(state_hash);
                }
                Request::Retain { frame, forget_before, .. } => self.snapshots.retain(frame, forget_before),
                _ => panic!("the session asked for an audit, but no peer can desync here"),
            }
        }
    }
}
