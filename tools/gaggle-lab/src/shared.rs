//! Peers of a replica session over a simulated network, each played by a bot.
//!
//! Called by measurements and chaos of drake and millpond. Absent: the games.

use gaggle_kit::{Micros, Slot};
use gaggle_link::sim::{Conditions, SimCarrier, SimNet};
use gaggle_link::{Endpoint, LinkConfig, Transport};
use gaggle_replica::{Driver, JoinMode, Kinds, RemoteEvent, ReplicaConfig, Session, SessionEvent};

/// Duration of one frame.
pub(crate) const FRAME: Micros = Micros::new(16_667);

/// The game side of one peer.
pub(crate) trait Part {
    fn kinds() -> Kinds;
    fn config() -> ReplicaConfig;
    fn new(me: usize, seed: u64) -> Self;
    /// Runs one frame: the input of the bot, unless `still`, and a step of the game.
    fn step(&mut self, session: &mut Session, still: bool);
    fn hear(&mut self, _: &mut Session, _: &SessionEvent) {}
    fn signal(&mut self, _: &mut Session, _: &RemoteEvent) {}
    /// Ticks the session; a game with interest passes it here.
    fn tick(&mut self, session: &mut Session, now: Micros) {
        session.tick(now);
    }
}

pub(crate) struct Machine<P> {
    pub(crate) session: Session,
    link: Endpoint<SimCarrier>,
    pub(crate) part: P,
}

impl<P> Machine<P> {
    /// Bytes received so far, for any purpose.
    pub(crate) fn bytes_in(&self) -> u64 {
        self.session
            .connected_peers()
            .filter_map(|peer| self.link.stats(peer))
            .map(|stats| stats.bytes_in)
            .sum()
    }
}

/// All peers of a group, and the network between them.
pub(crate) struct Cluster<P> {
    pub(crate) world: SimNet,
    pub(crate) machines: Vec<Option<Machine<P>>>,
    lives: Vec<u64>,
    seed: u64,
    /// Whether all bots release their keys.
    pub(crate) still: bool,
}

impl<P: Part> Cluster<P> {
    pub(crate) fn of(peers: usize, seed: u64, conditions: Conditions) -> Result<Cluster<P>, String> {
        let mut world = SimNet::new(peers, seed);
        // All packets that arrive in a frame are handled in the next one.
        world.set_wake_on_arrival(false);
        world.set_all(conditions);
        let machines = (0..peers).map(|_| None).collect();
        let mut company = Cluster { world, machines, lives: vec![0; peers], seed, still: false };
        for me in 0..peers {
            company.start(me)?;
        }
        Ok(company)
    }

    /// Starts a peer, for the first time or again.
    pub(crate) fn start(&mut self, me: usize) -> Result<(), String> {
        self.lives[me] += 1;
        let first = self.lives[me] == 1;
        let carrier = if first { self.world.carrier(me) } else { self.world.restarted_carrier(me) };
        let seed = self.seed.wrapping_mul(1_000_003) + me as u64 * 1_009 + self.lives[me];
        let entry = if me == 0 && first { JoinMode::Create } else { JoinMode::Join };
        let session = Session::new(P::config(), P::kinds(), Slot::at(me), entry, seed);
        self.machines[me] = Some(Machine {
            session: session.map_err(|error| error.to_string())?,
            link: Endpoint::new(carrier, LinkConfig::default(), seed),
            part: P::new(me, seed),
        });
        Ok(())
    }

    /// Plays one frame on every peer.
    pub(crate) fn frame(&mut self) {
        let (machines, still) = (&mut self.machines, self.still);
        self.world.run_for(FRAME, |me, now| {
            if let Some(Machine { session, link, part }) = &mut machines[me] {
                Driver.receive(now, link, session);
                part.step(session, still);
                part.tick(session, now);
                Driver.send(now, link, session);
                while let Some(event) = session.poll_event() {
                    part.hear(session, &event);
                }
                while let Some(signal) = session.poll_remote_event() {
                    part.signal(session, &signal);
                }
                // Bots send no event requests.
                while let Some(petition) = session.poll_event_request() {
                    session.reject(petition);
                }
            }
            // No wake-up is needed: `run_for` calls every peer once when it begins.
            Micros::MAX
        });
    }
}

/// Value below which `share` of all values lie. Sorts them.
pub(crate) fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    let last = values.len().saturating_sub(1);
    values.get((last as f64 * share).round() as usize).copied().unwrap_or(0.0)
}
